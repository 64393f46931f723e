// The text of the generated functions.
#include <algorithm>

#include "reverse.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

namespace {

bool stored(const Var* v) {
  return !v->local_now && v->needed && v->region && v->region->kept && v->kind != Var::Alias &&
         v->kind != Var::Param;
}

std::string argument(const ir::CallInfo::Arg& a) {
  return a.unconst ? "clad::as_mutable(" + print(a.expr) + ")" : print_argument(a.expr);
}

std::string arguments(const std::vector<ir::CallInfo::Arg>& args) {
  std::string out;
  for (const ir::CallInfo::Arg& a : args) out += (out.empty() ? "" : ", ") + argument(a);
  return out;
}

}  // namespace

/// What is handed to f_reverse_forw, in Clad's form, where it expects the adjoint of an argument: a zero,
/// which it may change; the argument itself if it changes nothing.
static std::string stand_in(const ir::CallInfo::Arg& a, bool unchanged) {
  const Type* t = a.expr->type;
  if (unchanged && !ir::is_path(a.expr) && t->kind != Type::Pointer) return print_argument(a.expr);
  if (unchanged) return (a.object ? "&" : "") + ("clad::as_mutable(" + print(a.expr) + ")");
  if (t->kind == Type::Pointer) return "static_cast<" + adjoint_pointer_type(t) + ">(nullptr)";
  const bool like = t->dynamic_shape || !t->default_constructible || !t->zero_by_value_init;
  std::string zero = "std::type_identity_t<" + t->name + ">{}";
  if (like)
    zero = t->kind == Type::Array ? "clad::zeros<" + t->name + ">().value"
                                  : "clad::zero_like(" + print(a.expr) + ")";
  return (a.object ? "&" : "") + ("clad::lend(" + zero + ")");
}

/// The call of f_reverse_forw in Clad's form: with the arguments, then their adjoints.
std::string ReverseTransform::forward_form_text(const ir::CallInfo& c) const {
  std::string args = c.forward_tag.empty() ? "" : c.forward_tag + "{}";
  const auto add = [&](const std::string& text) { args += (args.empty() ? "" : ", ") + text; };
  for (const ir::CallInfo::Arg& a : c.args) add(a.object ? "&" + print(a.expr) : argument(a));
  for (const ir::CallInfo::Arg& a : c.args)
    if (c.forward_takes_all || a.expr->type->differentiable) add(stand_in(a, c.selects));
  const std::string call = c.forward_name + "(" + args + ")";
  if (c.names) return c.primal->text + "(" + call + ")";
  return call + (c.forward_form == ir::CallInfo::Pair ? ".value" : "");
}

std::string ReverseTransform::call_text(const Stmt* s) const {
  const ir::CallInfo& c = *s->call;
  std::string state = c.state_name.empty() ? "" : region_->record + "." + c.state_name;
  if (c.forward_form != ir::CallInfo::Plain && region_->kept && !fn_.is_tangent) return forward_form_text(c);
  if (c.recomputed || !region_->kept || fn_.is_tangent) {
    if (c.kind != ir::CallInfo::Generated || !c.generated->always_forward) return print(c.primal);
    std::string args = arguments(c.args);
    if (!c.generated->has_state && !c.generated->recursive) return c.generated->name + "_fwd(" + args + ")";
    if (!args.empty()) args += ", ";
    return c.generated->name + "_fwd(" + args +
           (c.generated->recursive ? "*clad::boxed<" : "clad::discarded<") + c.generated->name + "_state>())";
  }
  if (c.kind == ir::CallInfo::Generated) {
    const ir::Function& f = *c.generated;
    if (!f.has_state && !f.always_forward && !f.recursive) return print(c.primal);
    std::string args = arguments(c.args);
    if (!state.empty()) args += (args.empty() ? "" : ", ") + (f.recursive ? "*" + state : state);
    return f.name + "_fwd(" + args + ")";
  }
  if (c.kind == ir::CallInfo::Custom && !c.forward_name.empty()) {
    std::string args;
    for (const ir::CallInfo::Arg& a : c.args)
      args += (args.empty() ? "" : ", ") + (a.object ? "&" + print(a.expr) : argument(a));
    if (c.forward_takes_adjoints)
      for (const ir::CallInfo::Arg& a : c.args)
        if (a.expr->type->differentiable || c.adjoints_for_all)
          args += ", static_cast<" + adjoint_pointer_type(a.expr->type) +
                  (a.expr->type->kind == Type::Pointer ? "" : "*") + ">(nullptr)";
    if (!state.empty()) args += (args.empty() ? "" : ", ") + state;
    return c.forward_name + "(" + args + ")";
  }
  return print(c.primal);
}

/// A statement that fits into the head of a for loop, or an empty string.
std::string ReverseTransform::simple(const Stmt* s) const {
  if (s->kind == Stmt::Decl && s->expr && !s->var->optional && !s->var->type->is_class() &&
      s->var->type->kind != Type::Array && s->touched.empty())
    return stored(s->var) ? spell(s->var) + " = " + print(s->expr)
                          : s->var->type->name + " " + s->var->name + " = " + print(s->expr);
  if (s->kind != Stmt::Assign || s->text == "init" || s->text == "swap") return "";
  if (auto it = saves_.find(s); it != saves_.end())
    for (const Save& save : it->second)
      if (*save.live && save.saved->region->kept) return "";
  if (s->text == "++" || s->text == "--") return s->text + print(s->lhs);
  return print(s->lhs) + " " + s->text + " " + print(s->expr);
}

void ReverseTransform::forward_decl(const Stmt* s, Text& out) const {
  const Var* v = s->var;
  const Expr* e = s->expr;
  const ir::Loc loc = s->loc;
  if (v->type->kind == Type::Array) {
    const bool list = e && e->kind == Expr::InitList;
    const bool copy = e && ir::is_path(e);
    if (!stored(v))
      out.line(declare(v->type, v->name) + (list ? " = " + print(e) : e && !copy ? "{}" : "") + ";", loc);
    if (copy) out.line("clad::assign(" + spell(v) + ", " + print(e) + ");", loc);
    const bool zeros = e && e->kind == Expr::Construct && e->text == "zeros";
    if (zeros && (stored(v) || !v->type->zero_by_value_init)) {
      if (stored(v)) out.line("clad::clear(" + spell(v) + ");", loc);
      if (!v->type->zero_by_value_init) out.line("clad::set_zero(" + spell(v) + ");", loc);
      return;
    }
    if (copy || !stored(v)) return;
    // Elements without an initializer are zero.
    struct Complete {
      bool operator()(const Expr* x) const {
        if (x->kind != Expr::InitList || x->type->kind != Type::Array) return x->type->kind != Type::Array;
        if (x->args.size() < x->type->extent) return false;
        for (const Expr* a : x->args)
          if (!(*this)(a)) return false;
        return true;
      }
    };
    if (e && !Complete{}(e)) out.line("clad::clear(" + spell(v) + ");", loc);
    if (!list) return;
    struct Fill {  // arrays cannot be assigned: element by element, nested ones too
      Text& out;
      ir::Loc loc;
      void operator()(const std::string& target, const Expr* list) const {
        for (std::size_t i = 0; i < list->args.size(); ++i) {
          std::string element = target + "[" + std::to_string(i) + "]";
          if (list->args[i]->kind == Expr::InitList && list->args[i]->type->kind == Type::Array)
            (*this)(element, list->args[i]);
          else if (list->args[i]->type->kind != Type::Array)
            out.line(element + " = " + print(list->args[i]) + ";", loc);
        }
      }
    };
    Fill{out, loc}(spell(v), e);
    return;
  }
  if (v->by_pointer) {
    if (stored(v))
      out.line(spell_holder(v) + " = &" + print(e) + ";", loc);
    else
      out.line((v->names ? "" : "const ") + v->type->name + "& " + v->name + " = " + print(e) + ";", loc);
    return;
  }
  if (v->optional || v->raw) {
    if (!stored(v)) out.line(member_type(v) + " " + v->name + ";", loc);
    if (e) out.line(spell_holder(v) + ".emplace(" + print_argument(e) + ");", loc);
    return;
  }
  if (stored(v)) {
    if (e) out.line(become(v->type, spell(v), print(e)), loc);
    return;
  }
  std::string init = e ? " = " + print(e) : "";
  out.line(v->type->name + " " + v->name + init + ";", loc);
}

/// Before a call that will be recomputed: says from where on.
void ReverseTransform::forward_moment(const Stmt* s, Text& out) const {
  if (!s->call->moment.empty() && region_->kept)
    out.line(region_->record + "." + s->call->moment + " = clad::now();", s->loc);
}

void ReverseTransform::forward_call(const Stmt* s, Text& out) const {
  forward_moment(s, out);
  std::string call = call_text(s);
  const Var* v = s->var;
  if (!v)
    out.line(call + ";", s->loc);
  else if (v->optional)
    forward_decl(s, out), out.line(spell_holder(v) + ".emplace(" + call + ");", s->loc);
  else if (stored(v))
    out.line(become(v->type, spell(v), call), s->loc);
  else
    out.line(v->type->name + " " + v->name + " = " + call + ";", s->loc);
}

void ReverseTransform::forward(const Stmt* s, Text& out) const {
  if (auto it = saves_.find(s); it != saves_.end())
    for (const Save& save : it->second)
      if (*save.live && save.saved->region->kept) {
        if (save.saved->optional)
          out.line(spell_holder(save.saved) + ".emplace(" + print(save.what) + ");", s->loc);
        else if (save.saved->type->kind == Type::Array)
          out.line("clad::assign(" + spell(save.saved) + ", " + print(save.what) + ");", s->loc);
        else
          out.line(become(save.saved->type, spell(save.saved), print(save.what)), s->loc);
        if (save.contents) out.line("clad::unshare(" + spell(save.saved) + ");", s->loc);
      }
  switch (s->kind) {
    case Stmt::Decl:
      return forward_decl(s, out);
    case Stmt::AliasDecl:
      out.line(declare_alias(s->var), s->loc);
      return;
    case Stmt::Assign: {
      const Var* r = ir::root(s->lhs);
      if (s->text == "init") {
        bool whole = s->lhs->kind == Expr::VarRef;
        if (whole && (r->optional || r->raw))
          out.line(spell_holder(r) + ".emplace(" + print_argument(s->expr) + ");", s->loc);
        else if (r && r->raw) {
          const bool stays = !s->lhs->type->copyable && s->expr->kind == Expr::Construct;
          out.line((r->type->has_end ? spell_holder(r) + ".construct(" : "clad::construct(") + print(s->lhs) +
                       ", " + (stays ? "[&] { return " + print(s->expr) + "; }" : print_argument(s->expr)) +
                       ");",
                   s->loc);
        } else
          out.line(become(s->lhs->type, print(s->lhs), print(s->expr)), s->loc);
        return;
      }
      if (s->text == "swap")
        out.line("clad::exchange(" + print(s->lhs) + ", " + print(s->expr) + ");", s->loc);
      else if (s->text == "++" || s->text == "--")
        out.line(s->text + print(s->lhs) + ";", s->loc);
      else
        out.line(print(s->lhs) + " " + s->text + " " + print(s->expr) + ";", s->loc);
      return;
    }
    case Stmt::CallStmt:
      return forward_call(s, out);
    case Stmt::Eval:
      out.line(print(s->expr) + ";", s->loc);
      return;
    case Stmt::Block: {
      const bool scope = std::any_of(s->body.begin(), s->body.end(), [&](const Stmt* inner) {
        return inner->kind == Stmt::Decl && inner->var->type->kind == Type::Other &&
               inner->var->type->has_end && !stored(inner->var);
      });
      if (scope) out.line("{", s->loc);
      forward(s->body, out);
      if (scope) out.line("}", s->loc);
      return;
    }
    case Stmt::If: {
      std::string cond = print(s->expr);
      if (stored(s->cond_var)) {
        out.line(spell(s->cond_var) + " = " + cond + ";", s->loc);
        cond = spell(s->cond_var);
      }
      Text then, otherwise;
      forward(s->body, then);
      forward(s->other, otherwise);
      const bool inverted = then.empty() && !otherwise.empty();
      if (inverted) cond = ir::is_atomic(s->expr) || stored(s->cond_var) ? "!" + cond : "!(" + cond + ")";
      out.line("if (" + cond + ") {", s->loc);
      out.append(inverted ? otherwise : then);
      if (!inverted && !otherwise.empty()) {
        out.line("} else {", s->loc);
        out.append(otherwise);
      }
      out.line("}", s->loc);
      return;
    }
    case Stmt::Loop:
      return forward_loop(s, out);
    case Stmt::Return: {
      if (!s->expr) {
        out.line("return;", s->loc);
        return;
      }
      ir::each_var(s->expr, [&](const Var* made) {
        if (made->raw && made->type->has_end) out.line(spell_holder(made) + ".complete();", s->loc);
      });
      const Var* v = s->expr->kind == Expr::VarRef ? s->expr->var : nullptr;
      bool move = v && (v->optional || v->raw) && !stored(v);
      out.line("return " + (move ? "std::move(" + print(s->expr) + ")" : print(s->expr)) + ";", s->loc);
      return;
    }
    default:
      return;
  }
}

void ReverseTransform::forward(const ir::Body& statements, Text& out) const {
  std::vector<Var*> locals;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Stmt* s = statements[i];
    if (slice_ && slice_->run.count(s) == 0) continue;
    if (fn_.wants_value && s->var && s->var->returned && !stored(s->var) && saves_.count(s) == 0) {
      forward_moment(s, out);
      out.line("return " + call_text(s) + ";", s->loc);
      ++i;  // the return statement
      continue;
    }
    if (begins_local(s)) {
      locals.push_back(s->var);
      s->var->local_now = true;
    }
    forward(s, out);
  }
  for (Var* v : locals) {
    v->local_now = false;
    out.line(spell(v) + " = " + v->name + ";", v->loc);
  }
}

/// A number that an iteration keeps is a variable of its own until the iteration ends: the compiler then has
/// it in a register, whatever else is written meanwhile.
bool ReverseTransform::begins_local(const Stmt* s) const {
  const Var* v = s->kind == Stmt::Decl || s->kind == Stmt::CallStmt ? s->var : nullptr;
  if (!v || !stored(v) || !v->region->parent || v->optional || v->raw || v->by_pointer) return false;
  return v->type->kind == Type::Real || v->type->kind == Type::Scalar;
}

void ReverseTransform::region_text(const ir::Region* region, Text& out) const {
  for (const Var* v : region->vars)
    if (v->needed) {
      bool plain_array = v->type->kind == Type::Array && !v->optional;
      std::string member = plain_array ? declare(v->type, v->name) : member_type(v) + " " + v->name;
      bool scalar = !v->type->is_class() && !plain_array;
      out.line(member + (scalar && v->by_pointer ? " = nullptr" : "") + ";", fn_.loc);
    }
  for (const ir::Region::Member& m : region->members)
    if (!m.live || *m.live) out.line(m.type + " " + m.name + ";", fn_.loc);
  for (const auto& s : fn_.stmts) {
    if (s->kind != Stmt::Loop || s->region->parent != region || !loop_recorded(s.get())) continue;
    if (region_empty(s->region)) {
      out.line("std::size_t " + s->tape + " = 0;", s->loc);
      continue;
    }
    out.line("struct " + s->region->type + " {", s->loc);
    region_text(s->region, out);
    out.line("};", s->loc);
    const char* tape = is_flat(s.get()) ? "clad::flat_tape<"
                       : s->parallel    ? "clad::indexed_tape<"
                                        : "clad::tape<";
    out.line(tape + s->region->type + "> " + s->tape + ";", s->loc);
  }
}

Text ReverseTransform::state_text() const {
  Text out;
  out.line("struct " + fn_.name + "_state {", fn_.loc);
  region_text(fn_.region, out);
  out.line("};", fn_.loc);
  return out;
}

std::string ReverseTransform::forward_signature() const {
  std::string params;
  for (const ir::Parameter& p : fn_.params) params += (params.empty() ? "" : ", ") + p.type_text;
  if (fn_.is_tangent) return fn_.specifiers() + fn_.result->name + " " + fn_.name + "(" + params + ")";
  if (fn_.has_state || fn_.recursive)
    params += (params.empty() ? "" : ", ") + fn_.name + "_state& " + fn_.region->record;
  return fn_.specifiers() + (fn_.wants_value ? fn_.result->name : "void") + " " + fn_.name + "_fwd(" +
         params + ")";
}

std::string ReverseTransform::reverse_signature() const {
  std::string params;
  auto add = [&](const std::string& p) { params += (params.empty() ? "" : ", ") + p; };
  for (std::size_t i = 0; i < fn_.params.size(); ++i)
    if (fn_.recursive || fn_.needs_param[i]) add(fn_.params[i].type_text);
  if (fn_.has_state || fn_.recursive) add(fn_.name + "_state& " + fn_.region->record);
  if (fn_.seed)
    add((fn_.seed->type->is_class() ? "" : "const ") + fn_.seed->type->name + " " + fn_.seed->name);
  for (const ir::Parameter& p : fn_.params) {
    if (!p.active) continue;
    const Type* t = p.var->type;
    if (t->kind == Type::Pointer)
      add(adjoint_pointer_type(t) + " " + p.var->adjoint);
    else
      add(t->kind == Type::Array ? "std::type_identity_t<" + t->name + ">& " + p.var->adjoint
                                 : t->name + "& " + p.var->adjoint);
  }
  if (fn_.error) add("double& " + fn_.error->name);
  return fn_.specifiers() + "void " + fn_.name + "_rev(" + params + ")";
}

Text ReverseTransform::forward_text() const {
  Text out;
  out.line(forward_signature() + " {", fn_.loc);
  if (fn_.constructed && !stored(fn_.constructed)) out.line(member_type(fn_.constructed) + " self;", fn_.loc);
  auto* self = const_cast<ReverseTransform*>(this);
  self->region_ = fn_.region;
  if (!fn_.is_tangent && analyses_.slices) slice_ = &slices_.at(nullptr);
  forward(fn_.body, out);
  forward(fn_.last, out);
  slice_ = nullptr;
  out.line("}", fn_.loc);
  return out;
}

void ReverseTransform::backward(const List& list, Text& out) const {
  for (const Reverse& r : list) {
    if (!r.live) continue;
    auto join = [&] {
      std::string text;
      for (const Reverse::Part& p : r.parts)
        text += std::holds_alternative<std::string>(p) ? std::get<std::string>(p)
                                                       : print(std::get<const Expr*>(p));
      return text;
    };
    auto any = [](const List& l) {
      for (const Reverse& x : l)
        if (x.live && !(x.declares)) return true;
      return false;
    };
    switch (r.kind) {
      case Reverse::Line:
        if (r.atomic) out.line("#pragma omp atomic", r.loc);
        out.line(with_comment(join(), r.comment), r.loc);
        break;
      case Reverse::If: {
        std::string cond = r.cond ? spell(r.cond) : join();
        bool then = any(r.body), otherwise = any(r.other);
        if (!then) cond = r.cond ? "!" + cond : "!(" + cond + ")";
        out.line(with_comment("if (" + cond + ") {", r.comment), r.loc);
        backward(then ? r.body : r.other, out);
        if (then && otherwise) {
          out.line("} else {", r.loc);
          backward(r.other, out);
        }
        out.line("}", r.loc);
        break;
      }
      case Reverse::Loop:
        backward_loop(r, out);
        break;
    }
  }
}

Text ReverseTransform::reverse_text() const {
  Text out;
  out.line(reverse_signature() + " {", fn_.loc);
  backward(reverse_, out);
  out.line("}", fn_.loc);
  return out;
}

}  // namespace clad
