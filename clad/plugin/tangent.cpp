// Statements and expressions of the forward mode.
#include "tangent.h"

#include <algorithm>

#include "print.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

void TangentTransform::run() {
  region_ = fn_.region;
  declare_constructed();
  body(fn_.body);
  add_parameters();
  const Type* result = fn_.result;
  if (result->differentiable) {
    fn_.result = types_.value_and_pushforward(result, tangent_type(result));
    fn_.seed = fn_.make_var(Var::Param, "d_result", fn_.result, nullptr);
  }
  fn_.return_slot = nullptr;
  fn_.always_forward = true;
  forget();
}

/// A constructor's object is from here on a local variable that is returned.
void TangentTransform::declare_constructed() {
  if (!fn_.constructed) return;
  Stmt* s = fn_.stmt(Stmt::Decl, fn_.loc, "");
  s->var = fn_.constructed;
  fn_.body.insert(fn_.body.begin(), s);
  fn_.constructed->adjoint = fn_.unique("d_" + fn_.constructed->name);
  fn_.constructed = nullptr;
  fn_.is_constructor = false;
}

/// The tangents of active parameters follow the parameters.
void TangentTransform::add_parameters() {
  const std::vector<ir::Parameter> primals = fn_.params;
  for (const ir::Parameter& p : primals) {
    if (!p.active) continue;
    Var* v = shadow(p.var);
    v->kind = Var::Param;
    ir::Parameter tangent;
    tangent.var = v;
    if (v->type != p.var->type) {
      const bool object = v->type->kind != Type::Pointer && (v->reference || v->type->kind != Type::Real);
      tangent.type_text = object ? "std::type_identity_t<" + v->type->name + ">& " + v->name
                                 : clad::declare(v->type, v->name);
      fn_.params.push_back(tangent);
      continue;
    }
    const std::string declarator = p.type_text.substr(0, p.type_text.size() - p.var->name.size());
    tangent.type_text = declarator + v->name;
    fn_.params.push_back(tangent);
  }
}

/// Whoever differentiates the result finds no trace of this derivative: every variable may get another
/// adjoint.
void TangentTransform::forget() {
  for (ir::Parameter& p : fn_.params) p.active = false;
  for (const auto& v : fn_.vars) {
    if (v->shadow) tangents_[v.get()] = v->shadow;
    if (v->shadow) v->adjoint = fn_.unique("d_" + v->name);
    v->shadow = nullptr;
    v->adjoint_path = nullptr;
    v->active = v->unbounded = v->growing = false;
  }
}

Stmt* TangentTransform::emit(Stmt::Kind kind) {
  Stmt* s = fn_.stmt(kind, at_->loc, at_->source);
  out_->push_back(s);
  return s;
}

Var* TangentTransform::declare(const char* name, const Type* type, Expr* init) {
  Var* v = fn_.make_var(Var::Temp, name, type, region_);
  v->optional = !type->default_constructible;
  Stmt* s = emit(Stmt::Decl);
  s->var = v;
  s->expr = init;
  return v;
}

void TangentTransform::body(ir::Body& statements) {
  ir::Body written;
  ir::Body* outer = out_;
  out_ = &written;
  for (Stmt* s : statements) {
    at_ = s;
    statement(s);
  }
  out_ = outer;
  statements = std::move(written);
}

void TangentTransform::statement(Stmt* s) {
  switch (s->kind) {
    case Stmt::Decl:
      return declaration(s);
    case Stmt::AliasDecl:
      return alias(s);
    case Stmt::Assign:
      return assignment(s);
    case Stmt::CallStmt:
      return call(s);
    case Stmt::Return:
      return returning(s);
    case Stmt::If:
    case Stmt::Block:
      body(s->body);
      body(s->other);
      break;
    case Stmt::Loop: {
      body(s->init);  // its variables live in the enclosing record
      ir::Region* outer = region_;
      region_ = s->region;
      body(s->body);
      body(s->other);
      region_ = outer;
      if (s->parallel) share(s);
      if (s->checkpoint) checkpoint(s);
      break;
    }
    default:
      break;
  }
  out_->push_back(s);
}

static bool grows(const ir::Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt* s) {
    const Var* root = s->kind == Stmt::Assign ? ir::root(s->lhs) : nullptr;
    if (root && root->type->name.starts_with("clad::growing")) return true;
    return grows(s->init) || grows(s->body) || grows(s->other);
  });
}

/// The threads of a parallel loop add up the tangents of what they add up. Tangents in several directions are
/// no numbers, and one that grows cannot be written by several threads.
void TangentTransform::share(Stmt* loop) {
  std::vector<std::pair<std::string, Var*>> more;
  bool possible = !grows(loop->body);
  for (const auto& [op, v] : loop->parallel->reductions)
    if (v->shadow) {
      more.emplace_back(op, v->shadow);
      possible &= v->shadow->type == v->type;
    }
  auto& all = loop->parallel->reductions;
  all.insert(all.end(), more.begin(), more.end());
  if (!possible) loop->parallel = nullptr;
}

/// The tangents of memory that a checkpointed loop changes are as many as its numbers.
void TangentTransform::checkpoint(Stmt* loop) {
  const auto given = loop->checkpoint->arrays;
  for (const auto& [pointer, size] : given)
    if (ir::active(pointer)) loop->checkpoint->arrays.emplace_back(shadow_path(pointer), size);
}

void TangentTransform::declaration(Stmt* s) {
  Var* v = s->var;
  if (!v->active) {
    out_->push_back(s);
    return;
  }
  if (const std::string why = ir::no_shadow(v->type); !why.empty())
    return diagnose_.error(s->loc, "cannot differentiate through '" + v->name + "': " + why);
  Expr* d = s->expr ? tangent(s->expr) : nullptr;
  Stmt* made = fn_.stmt(Stmt::Decl, s->loc, s->source);
  made->var = shadow(v);
  made->expr = d;
  if (d) {  // it may read what the initializer reads
    out_->push_back(made);
    out_->push_back(s);
    return;
  }
  out_->push_back(s);
  const bool holder = v->optional || v->raw;
  if (s->expr || (!holder && v->type->kind != Type::Opaque)) made->expr = zero(v->type, fn_.ref(v));
  out_->push_back(made);
}

/// The tangent of a variable that is there already.
void TangentTransform::declare_zero(Var* v) {
  Stmt* s = emit(Stmt::Decl);
  s->var = shadow(v);
  s->expr = zero(v->type, fn_.ref(v));
}

void TangentTransform::alias(Stmt* s) {
  out_->push_back(s);
  Var* v = s->var;
  if (!v->type->differentiable || !ir::active(s->var->path)) return;
  emit(Stmt::AliasDecl)->var = shadow(v);
}

void TangentTransform::assignment(Stmt* s) {
  Expr* lhs = s->lhs;
  if (!ir::active(lhs) || s->text == "++" || s->text == "--") {
    out_->push_back(s);
    const Var* r = ir::root(lhs);
    if (s->text != "init" || !r || !r->raw || !r->active || !lhs->type->has_end || !lhs->type->copyable)
      return;
    Stmt* made = emit(Stmt::Assign);  // the tangent is an object as well, of which every part has to be one
    made->text = "init";
    made->lhs = shadow_path(lhs);
    made->expr = lhs;
    return;
  }
  check_unbounded(s->lhs, s->loc);
  if (s->text == "swap") check_unbounded(s->expr, s->loc);
  Expr* d = tangent(s->expr);
  if (const std::string why = s->text == "init" && !d ? ir::no_shadow(lhs->type) : ""; !why.empty())
    return diagnose_.error(s->loc, "cannot differentiate this initialization: " + why);
  const bool adds = s->text == "+=" || s->text == "-=";
  if (adds && !d) {
    out_->push_back(s);
    return;
  }
  Stmt* made = fn_.stmt(Stmt::Assign, s->loc, s->source);
  made->text = s->text;
  made->lhs = shadow_path(lhs);
  made->expr = d ? d : zero(lhs->type, lhs);
  if (s->text == "swap") made->touched = {ir::root(made->lhs), ir::root(made->expr)};
  // A zero takes its shape from the new value; a tangent is computed from the old ones.
  if (d) out_->push_back(made);
  out_->push_back(s);
  if (!d) out_->push_back(made);
}

void TangentTransform::returning(Stmt* s) {
  if (s->expr && fn_.result->differentiable) {
    const Type* pair = types_.value_and_pushforward(fn_.result, tangent_type(fn_.result));
    Expr* both = fn_.make(Expr::InitList, pair, "", {s->expr, tangent_or_zero(s->expr)});
    s->expr = both;
  }
  out_->push_back(s);
}

/// The tangent of an array of unknown length can be written only where nothing follows this derivative.
void TangentTransform::check_unbounded(const Expr* written, ir::Loc loc) {
  const Var* r = ir::root(written);
  if (r->unbounded && !r->growing)
    diagnose_.error(loc, "cannot differentiate an assignment to what '" + r->name +
                             "' points to, whose length is not known, more than once; pass an array or a "
                             "std::vector");
}

const Type* TangentTransform::tangent_type(const Type* type) {
  if (width_ == 0 || !type->differentiable) return type;
  if (const Type* several = types_.directions(type, width_)) return several;
  diagnose_.error(at_ ? at_->loc : fn_.loc, "cannot differentiate '" + type->name +
                                                "' in several directions at once; ask for one derivative "
                                                "after the other");
  return type;
}

Var* TangentTransform::shadow(Var* v) {
  if (v->shadow) return v->shadow;
  auto& s = fn_.vars.emplace_back(std::make_unique<Var>());
  v->shadow = s.get();
  s->kind = v->kind;
  s->name = v->adjoint;
  s->adjoint = fn_.unique("d_" + s->name);
  const Var* root = v->kind == Var::Alias ? ir::root(v->path) : v;
  const bool unbounded = root && root->unbounded && v->type->kind == Type::Pointer;
  if (unbounded && root->growing)
    s->type = types_.growing(tangent_type(v->type->element));
  else
    s->type = unbounded ? types_.one_hot(v->type) : tangent_type(v->type);
  s->reference = v->reference;
  s->is_const = v->is_const;
  s->optional = v->optional;
  s->unset = v->unset;
  s->maybe = v->maybe;
  s->raw = v->raw;
  s->modified = v->modified;
  s->external = v->external;
  s->region = v->region;
  s->loc = v->loc;
  if (v->kind == Var::Alias) s->path = shadow_path(v->path);
  if (s->region && (v->kind == Var::Local || v->kind == Var::Temp)) s->region->vars.push_back(s.get());
  return v->shadow;
}

Expr* TangentTransform::shadow_path(const Expr* e) {
  if (e->kind == Expr::VarRef) return fn_.ref(shadow(e->var));
  if (e->kind == Expr::AddressOf && e->args[0]->kind == Expr::Index) {
    const Var* base = ir::root(e);
    const Expr* inner = e->args[0];
    if (base && base->unbounded && inner->args[0]->type->kind == Type::Pointer)  // &p[i] is p + i
      return fn_.make(Expr::Binary, e->type, "+", {shadow_path(inner->args[0]), inner->args[1]});
  }
  return fn_.mirror(e, [&](const Expr* part) { return shadow_path(part); });
}

Expr* TangentTransform::zero(const Type* type, Expr* primal) {
  const Type* made = tangent_type(type);
  if (type->kind == Type::Real && width_ == 0) return fn_.make(Expr::Literal, type, "0");
  if (type->kind == Type::Array && (type->dynamic_shape || type->own_zero)) return zeros(type, primal);
  const bool plain = type->kind == Type::Array || type->kind == Type::Opaque ||
                     (type->zero_by_value_init && type->default_constructible && !type->dynamic_shape);
  if (plain) return fn_.make(Expr::Construct, made, type->kind == Type::Array ? "zeros" : "");
  if (width_ == 0) return fn_.make(Expr::Call, type, "clad::zero_like", {primal});
  return fn_.make(Expr::Call, made, "clad::zero_directions<" + made->name + ">", {primal});
}

/// The tangent of a constant that is an element of a list: of an array, a list that names each element, where
/// the class of the elements starts its objects with something else than zero.
Expr* TangentTransform::zero_element(const Type* type, Expr* primal) {
  const bool listed = type->kind == Type::Array && (!type->zero_by_value_init || type->dynamic_shape);
  return listed ? zeros(type, primal) : zero(type, primal);
}

/// A zero for each element of the array `primal`; an element that is not listed there is the class's default.
Expr* TangentTransform::zeros(const Type* type, Expr* primal) {
  Expr* list = fn_.make(Expr::InitList, tangent_type(type));
  const bool named = ir::is_path(primal);
  for (std::uint64_t i = 0; i < type->extent; ++i) {
    Expr* at = fn_.make(Expr::Literal, type, std::to_string(i));
    if (named)
      list->args.push_back(
          zero_element(type->element, fn_.make(Expr::Index, type->element, "", {primal, at})));
    else if (i < primal->args.size())
      list->args.push_back(zero_element(type->element, primal->args[i]));
  }
  add_missing(list, type);
  return list;
}

/// Elements that a list leaves out are made by default, and their tangents are zero.
void TangentTransform::add_missing(Expr* list, const Type* type) {
  if ((type->kind != Type::Array && type->kind != Type::StdArray) || type->element->zero_by_value_init)
    return;
  while (list->args.size() < type->extent)
    list->args.push_back(zero_element(type->element, fn_.make(Expr::Construct, type->element)));
}

Expr* TangentTransform::tangent_or_zero(Expr* e) {
  Expr* d = tangent(e);
  return d ? d : zero(e->type, e);
}

/// a + b or a - b, where a missing operand is zero.
Expr* TangentTransform::sum(Expr* a, Expr* b, const char* op) {
  if (!b) return a;
  if (a) return fn_.make(Expr::Binary, a->type, op, {a, b});
  return *op == '-' ? fn_.make(Expr::Unary, b->type, "-", {b}) : b;
}

Expr* TangentTransform::times(Expr* a, Expr* b) { return fn_.make(Expr::Binary, a->type, "*", {a, b}); }

Expr* TangentTransform::product(const Expr* e) {
  Expr* a = e->args[0];
  Expr* b = e->args[1];
  Expr *d_a = tangent(a), *d_b = tangent(b);
  return sum(d_a ? times(d_a, b) : nullptr, d_b ? times(a, d_b) : nullptr, "+");
}

Expr* TangentTransform::quotient(const Expr* e) {
  Expr* a = e->args[0];
  Expr* b = e->args[1];
  Expr *d_a = tangent(a), *d_b = tangent(b);
  if (!d_b) return fn_.make(Expr::Binary, e->type, "/", {d_a, b});
  Expr* top = sum(d_a ? times(d_a, b) : nullptr, times(a, d_b), "-");
  return fn_.make(Expr::Binary, e->type, "/", {top, times(b, b)});
}

/// What element `i` of a list or construction becomes, null where it becomes no element (a count).
static const Type* element_type(const Expr* e, std::size_t i) {
  const Type* type = e->type;
  if (e->kind == Expr::InitList && type->kind == Type::Record)
    return i < type->fields.size() ? type->fields[i].type : nullptr;
  if (e->kind == Expr::InitList) return type->element ? type->element : type;
  if (type->kind == Type::Vector) return i == 1 ? type->element : nullptr;
  return type;
}

/// Lists and constructions, element by element; what carries no derivative stays as it is.
Expr* TangentTransform::list(const Expr* e) {
  Expr* copy = fn_.make(e->kind, tangent_type(e->type), e->text);
  copy->braces = e->braces;
  copy->explicit_cast = e->explicit_cast;
  for (std::size_t i = 0; i < e->args.size(); ++i) {
    Expr* a = e->args[i];
    const Type* made = element_type(e, i);
    if (Expr* d = tangent(a))
      copy->args.push_back(d);
    else if (a->type->kind == Type::Pointer || !made || !made->differentiable)
      copy->args.push_back(a);
    else
      copy->args.push_back(zero_element(made, a));
  }
  if (e->kind == Expr::InitList) add_missing(copy, e->type);
  return copy;
}

Expr* TangentTransform::tangent(const Expr* e) {
  if (!e || !ir::active(e)) return nullptr;
  if (ir::is_path(e) || e->type->kind == Type::Pointer) return shadow_path(e);
  switch (e->kind) {
    case Expr::Cast: {
      Expr* inner = tangent(e->args[0]);
      const Type* made = tangent_type(e->type);
      Expr* copy = fn_.make(Expr::Cast, made, width_ > 0 ? made->name : e->text, {inner});
      copy->explicit_cast = e->explicit_cast;
      return copy;
    }
    case Expr::Unary:
      if (e->text == "+") return tangent(e->args[0]);
      if (e->text == "-") return sum(nullptr, tangent(e->args[0]), "-");
      break;
    case Expr::Binary:
      if (e->text == "+" || e->text == "-")
        return sum(tangent(e->args[0]), tangent(e->args[1]), e->text.c_str());
      if (e->text == "*") return product(e);
      if (e->text == "/") return quotient(e);
      break;
    case Expr::Conditional:
      return fn_.make(Expr::Conditional, tangent_type(e->type), e->text,
                      {e->args[0], tangent_or_zero(e->args[1]), tangent_or_zero(e->args[2])});
    case Expr::InitList:
    case Expr::Construct:
      return list(e);
    default:
      break;
  }
  diagnose_.error(e->loc ? e->loc : at_->loc, ir::not_differentiated(e));
  return nullptr;
}

}  // namespace clad
