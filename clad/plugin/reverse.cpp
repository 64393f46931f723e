// Statements of the reverse sweep, last to first.
#include "reverse.h"

#include <algorithm>

#include "passes.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

Reverse ReverseTransform::line(std::vector<Reverse::Part> parts) const {
  Reverse r;
  r.parts = std::move(parts);
  r.loc = loc_;
  return r;
}

/// `return f(x)`: the temporary that holds f(x) is the result, and its adjoint the result's cotangent.
void ReverseTransform::find_returned(const ir::Body& statements) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Stmt* s = statements[i];
    find_returned(s->body);
    find_returned(s->other);
    if (s->kind != Stmt::Return || i == 0 || !s->expr || s->expr->kind != Expr::VarRef || !fn_.seed) continue;
    Var* v = s->expr->var;
    const Stmt* before = statements[i - 1];
    if (before->kind != Stmt::CallStmt || before->var != v || v->kind != Var::Temp || v->type != fn_.result ||
        v->optional)
      continue;
    int uses = 0;
    for (const auto& e : fn_.exprs) uses += e->var == v;
    if (uses != 1) continue;
    v->returned = true;
    v->shadow = shadow(fn_.seed);
  }
}

/// What the rounding of a stored number adds to the error of the result, to first order.
void ReverseTransform::add_error(const Expr* adjoint, const Expr* value, List& out) {
  if (!fn_.error || value->type->kind != Type::Real) return;
  out.push_back(line({fn_.error->name + " += clad::rounding_error(", adjoint, ", ", value, ");"}));
}

void ReverseTransform::run() {
  region_ = fn_.region;
  if (analyses_.counters) find_counters(fn_);
  find_returned(fn_.body);
  body(fn_.last, reverse_);
  body(fn_.body, reverse_);
  find_sums(reverse_);
  share(reverse_);
  decide_with_slices();
  report_lost();
  if (analyses_.replay) find_replayed(fn_.body);
}

/// The part of a cotangent, which is a value and its tangents, that is of type `t`.
const Expr* ReverseTransform::component(Expr* cotangent, const Type* t) {
  while (cotangent->type != t && !cotangent->type->fields.empty()) {
    const ir::Field& first = cotangent->type->fields.front();
    cotangent = fn_.make(Expr::Member, first.type, first.name, {cotangent});
  }
  return cotangent;
}

void ReverseTransform::declare_adjoint(Var* v, ir::Loc loc, List& out) {
  if (!v->active || v->returned || v == fn_.constructed || v->type->kind == Type::Pointer) return;
  const Type* t = v->type;
  Reverse r;
  r.loc = loc;
  Var* d = v->shadow;
  if (!d) return;  // never named
  if (const std::string why = ir::no_shadow(t); !why.empty())
    return diagnose_.error(loc, "cannot differentiate through '" + v->name + "': " + why);
  r.declares = d;
  if (t->kind == Type::Real) {
    r.parts = {t->name + " " + d->name + " = 0;"};
  } else if (t->kind == Type::Opaque) {
    r.parts = {t->name + " " + d->name + ";"};
  } else if (v->maybe) {
    d->maybe = true;
    Expr* made = fn_.make(Expr::AddressOf, t, "", {fn_.ref(v)});
    r.parts = {"clad::slot<" + t->name + "> " + d->name + "; clad::make_zero(" + d->name + ", ", made, ");"};
  } else if (t->kind != Type::Array &&
             (t->dynamic_shape || !t->default_constructible || !t->zero_by_value_init)) {
    // Of a result that not every way through the function sets, the cotangent says the shape.
    const Expr* like = v->optional && v->unset && fn_.seed ? component(fn_.ref(fn_.seed), t) : fn_.ref(v);
    r.parts = {t->name + " " + d->name + " = clad::zero_like(", like, ");"};
  } else if (t->own_zero || (t->dynamic_shape && !t->zero_by_value_init)) {
    r.parts = {declare(t, d->name) + "{}; clad::zero_as(" + d->name + ", ", fn_.ref(v), ");"};
  } else if (t->dynamic_shape) {
    r.parts = {declare(t, d->name) + "{}; clad::shape_like(" + d->name + ", ", fn_.ref(v), ");"};
  } else {
    r.parts = {declare_zero(t, d->name)};
  }
  out.push_back(std::move(r));
}

/// Aliases and adjoints of what a body declares, in order of declaration.
void ReverseTransform::prologue(const ir::Body& statements, List& out) {
  for (const Stmt* s : statements) {
    prologue(s->init, out);
    if (s->kind == Stmt::Block) prologue(s->body, out);
    if (!s->var) continue;
    if (s->kind == Stmt::Decl || s->kind == Stmt::CallStmt) {
      declare_adjoint(s->var, s->loc, out);
      continue;
    }
    if (s->kind != Stmt::AliasDecl) continue;
    Var* v = s->var;
    bool pointer = v->type->kind == Type::Pointer;
    auto declaration = [&](Var* declared, const Expr* target, bool constant) {
      Reverse r;
      r.loc = s->loc;
      r.declares = declared;
      std::string type = pointer ? (constant ? v->type->name : adjoint_pointer_type(v->type))
                                 : (constant ? "const " : "") + v->type->name + "&";
      if (pointer && type.find("(*)") != std::string::npos) type = "auto*";
      if (!pointer && v->type->kind == Type::Array) type = (constant ? "const " : "") + std::string("auto&");
      r.parts = {type + " " + declared->name + " = ", target, ";"};
      out.push_back(std::move(r));
    };
    declaration(v, v->path, v->is_const);
    if (v->shadow) declaration(v->shadow, v->adjoint_path, false);
  }
}

/// The statements in reverse; the first line of each says what it comes from.
void ReverseTransform::sequence(const ir::Body& statements, List& out) {
  std::string last;
  for (auto it = statements.rbegin(); it != statements.rend(); ++it) {
    const Stmt* s = *it;
    loc_ = s->loc;
    std::size_t first = out.size();
    statement(s, out);
    const bool compound = s->kind == Stmt::If || s->kind == Stmt::Loop || s->kind == Stmt::Block;
    if (!compound && out.size() > first && !s->source.empty()) {
      while (first + 1 < out.size() && out[first].restores) ++first;
      if (out[first].comment.empty() && s->source != last) out[first].comment = s->source;
      last = s->source;
    }
    start(s, out);
  }
}

/// Marks where the forward sweep declared a variable: before that it held nothing.
void ReverseTransform::start(const Stmt* s, List& out) {
  if (!s->var || (s->kind != Stmt::Decl && s->kind != Stmt::CallStmt)) return;
  Reverse r;
  r.starts = s->var;
  out.push_back(std::move(r));
}

void ReverseTransform::body(const ir::Body& statements, List& out) {
  List reversed;
  sequence(statements, reversed);
  prologue(statements, out);
  for (Reverse& r : reversed) out.push_back(std::move(r));
}

void ReverseTransform::statement(const Stmt* s, List& out) {
  switch (s->kind) {
    case Stmt::Decl:
      // A variable whose adjoint nothing has named yet has cotangent zero: its uses all come later in the
      // program.
      // A store of the user's: a parameter's copy and temporaries are ours.
      if (s->var->active && s->var->shadow && s->expr && s->var->kind == Var::Local && !s->source.empty())
        add_error(fn_.ref(shadow(s->var)), fn_.ref(s->var), out);
      if (s->var->active && s->var->shadow && s->expr && ir::active(s->expr))
        propagate(s->expr, fn_.ref(shadow(s->var)), out);
      for (Var* v : s->touched) save_changed(s, v, out);
      return;
    case Stmt::AliasDecl:
      return;
    case Stmt::Assign:
      return assign(s, out);
    case Stmt::CallStmt:
      return call(s, out);
    case Stmt::Eval:
      for (Var* v : s->touched) save_changed(s, v, out);
      return;
    case Stmt::Block:
      return sequence(s->body, out);  // its declarations stand in the enclosing prologue
    case Stmt::If: {
      Reverse r;
      r.kind = Reverse::If;
      r.loc = s->loc;
      r.cond = s->cond_var;
      r.comment = s->source;
      body(s->body, r.body);
      body(s->other, r.other);
      out.push_back(std::move(r));
      return;
    }
    case Stmt::Loop: {
      Reverse r;
      r.kind = Reverse::Loop;
      r.loc = s->loc;
      r.loop = s;
      r.comment = s->source;
      ir::Region* outer = region_;
      region_ = s->region;
      const Stmt* around = parallel_;
      if (s->parallel && !around) parallel_ = s;
      if (!s->count.counter)
        body(s->other, r.body);  // the increment is undone before anything of the body is looked at
      body(s->body, r.body);
      region_ = outer;
      parallel_ = around;
      out.push_back(std::move(r));
      for (auto it = s->init.rbegin(); it != s->init.rend(); ++it) {
        statement(*it, out);
        start(*it, out);
      }
      return;
    }
    case Stmt::Return:
      if (s->expr && fn_.seed &&
          !(fn_.constructed && s->expr->kind == Expr::VarRef && s->expr->var == fn_.constructed))
        if (s->expr->kind != Expr::VarRef || !s->expr->var->returned) {
          if (s->expr->kind != Expr::VarRef) add_error(fn_.ref(fn_.seed), s->expr, out);
          propagate(s->expr, fn_.ref(fn_.seed), out);
        }
      return;
    default:
      return;
  }
}

/// Whether the type has elements that a reference or pointer may name, in memory that moves with the object.
static bool has_elements(const Type* t) {
  if (t->kind == Type::Pointer) return false;
  return t->kind == Type::Vector || t->kind == Type::Other || (t->element && has_elements(t->element)) ||
         std::any_of(t->fields.begin(), t->fields.end(),
                     [](const ir::Field& f) { return has_elements(f.type); });
}

/// Keeps the value that `s` overwrites, and puts it back; `contents`: what its copies share with it.
void ReverseTransform::save(const Stmt* s, const Expr* what, List& out, bool contents) {
  Var* r = ir::root(what);
  if (!r) return;  // a global: its changes are the program's own
  if (!what->type->copyable && !what->type->differentiable) return;  // an owner: what it is asked is kept
  const Type* bits = what->type->bits;
  Var* kept = fn_.make_var(Var::Saved, r->name + "_old", bits ? bits : what->type, region_);
  kept->optional = !what->type->default_constructible;
  Save entry{kept, what, contents};
  Reverse restore;
  restore.loc = loc_;
  restore.restores = r;
  restore.restores_outside = ir::is_outside(what);
  restore.restore_live = entry.live.get();
  restore.whole = what->kind == Expr::VarRef && what->var->kind != Var::Alias && !contents;
  if (contents)
    restore.parts = {"clad::restore(", what, ", ", fn_.ref(kept), ");"};
  else if (what->type->kind == Type::Array)
    restore.parts = {"clad::assign(", what, ", ", fn_.ref(kept), ");"};
  else if (bits || (what->type->is_class() && has_elements(what->type)))
    restore.parts = {"clad::put_back(", what, ", ", fn_.ref(kept), ");"};
  else if (what->type->own_assignment)
    restore.parts = {"clad::remake(", what, ", ", fn_.ref(kept), ");"};
  else if (what->type->is_class())
    restore.parts = {what, " = std::move(", fn_.ref(kept), ");"};
  else
    restore.parts = {what, " = ", fn_.ref(kept), ";"};
  out.push_back(std::move(restore));
  saves_[s].push_back(std::move(entry));
}

void ReverseTransform::assign(const Stmt* s, List& out) {
  const Expr* lhs = s->lhs;
  Var* r = ir::root(lhs);
  const Type* t = lhs->type;
  const bool carries = ir::active(lhs);
  if (s->text == "init") {
    if (carries) add_error(adjoint(lhs), lhs, out);
    if (carries && ir::active(s->expr)) propagate(s->expr, adjoint(lhs), out);
    return;
  }
  if (s->text == "swap") {
    Reverse back = line({"clad::exchange(", lhs, ", ", static_cast<const Expr*>(s->expr), ");"});
    back.restores = r;
    back.also_restores = ir::root(s->expr);
    back.restores_outside = ir::is_outside(lhs) || ir::is_outside(s->expr);
    out.push_back(std::move(back));
    if (carries) out.push_back(line({"clad::exchange(", adjoint(lhs), ", ", adjoint(s->expr), ");"}));
    return;
  }
  bool inverse = s->text == "++" || s->text == "--" ||
                 ((s->text == "+=" || s->text == "-=") && t->kind == Type::Scalar &&
                  s->expr->kind == Expr::Literal && s->expr->type->kind == Type::Scalar);
  if (inverse) {
    Reverse undo;
    undo.loc = loc_;
    undo.restores = r;
    undo.restores_outside = ir::is_outside(lhs);
    if (s->text == "++" || s->text == "--")
      undo.parts = {s->text == "++" ? "--" : "++", lhs, ";"};
    else
      undo.parts = {lhs, s->text == "+=" ? " -= " : " += ", s->expr, ";"};
    if (r) out.push_back(std::move(undo));
    return;
  }
  if (carries) add_error(adjoint(lhs), lhs, out);
  save(s, lhs, out);
  if (!carries) return;
  Expr* d = adjoint(lhs);
  bool rhs_active = ir::active(s->expr);
  bool aliased = rhs_active && may_alias(lhs, s->expr);
  if (s->text == "+=" || s->text == "-=") {
    if (!rhs_active) return;
    Expr* seed = d;
    if (aliased) {
      Var* v = fn_.make_var(Var::Param, "d", t, nullptr);
      out.push_back(line({"const " + t->name + " " + v->name + " = ", d, ";"}));
      seed = fn_.ref(v);
    }
    propagate(s->expr, s->text == "+=" ? seed : negate(seed), out);
    return;
  }
  if (t->kind == Type::Real) {
    if (aliased) {
      Var* v = fn_.make_var(Var::Param, "d", t, nullptr);
      out.push_back(line({"const " + t->name + " " + v->name + " = ", d, ";"}));
      out.push_back(line({d, " = 0;"}));
      propagate(s->expr, fn_.ref(v), out);
    } else {
      if (rhs_active) propagate(s->expr, d, out);
      out.push_back(line({d, " = 0;"}));
    }
    return;
  }
  if (!rhs_active) {
    out.push_back(line({"clad::set_zero(", d, ");"}));
  } else if (!aliased && ir::is_path(s->expr)) {
    out.push_back(line({"clad::transfer(", adjoint(s->expr), ", ", d, ");"}));
    out.back().adds = {adjoint(s->expr)};
  } else {
    Var* v = fn_.make_var(Var::Param, "d", t, nullptr);
    if (t->lanes) {
      out.push_back(line({"const " + t->name + " " + v->name + " = ", d, ";"}));
      out.push_back(line({"clad::set_zero(", d, ");"}));
    } else {
      out.push_back(line({"auto " + v->name + " = clad::take(", d, ");"}));
    }
    if (t->dynamic_shape) out.push_back(line({d, " = clad::zero_like(", lhs, ");"}));
    propagate(s->expr, fn_.ref(v), out);
    return;
  }
  if (t->dynamic_shape) out.push_back(line({d, " = clad::zero_like(", lhs, ");"}));
}

}  // namespace clad
