// Calls in the reverse sweep: what they are handed, and where their state lies.
#include <algorithm>

#include "reverse.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

/// Whether a checkpoint leaves something to compute again. An operation with a pullback of its own has a
/// state only if the pullback says so, and one that changes its arguments keeps it.
static bool is_recomputed(const ir::CallInfo& c) {
  if (!c.checkpoint) return false;
  if (c.kind == ir::CallInfo::Generated) return c.generated->has_state || c.generated->recursive;
  return c.kind == ir::CallInfo::Custom && !c.state_type.empty() && !c.forward_takes_adjoints &&
         std::none_of(c.args.begin(), c.args.end(), [](const auto& a) { return a.mutable_; });
}

/// Whether all that matters of the call is its value.
static bool gives_value_only(const Stmt* s) {
  return std::none_of(s->call->args.begin(), s->call->args.end(), [](const auto& a) { return a.mutable_; }) &&
         std::all_of(s->touched.begin(), s->touched.end(), [](const Var* v) { return v->global.empty(); });
}

void ReverseTransform::call(const Stmt* s, List& out) {
  ir::CallInfo& c = *s->call;
  c.recomputed = is_recomputed(c);
  const bool unused = s->var && s->var->active && !s->var->shadow && gives_value_only(s);
  if (unused && c.kind != ir::CallInfo::Inactive) {
    if (c.recomputed) return;
    if (c.kind == ir::CallInfo::Custom && c.forward_name.empty()) return;
    if (c.kind == ir::CallInfo::Generated && !c.generated->has_state && !c.generated->always_forward &&
        !c.generated->recursive)
      return;
  }
  // A function that is differentiated puts back what it changes.
  if (c.kind == ir::CallInfo::Generated) return generated_call(s, out);
  for (Var* v : s->touched)
    if (c.kind == ir::CallInfo::Inactive || !v->global.empty()) save_changed(s, v, out);
  if (c.kind == ir::CallInfo::Custom) custom_call(s, out);
}

/// The adjoint handed to a callee: the argument's own where it is an object, else a temporary that is
/// propagated.
Expr* ReverseTransform::pass_adjoint(const ir::CallInfo::Arg& arg, List& before, List& after) {
  Expr* e = arg.expr;
  const bool apart = e->type->kind == Type::Real && !arg.mutable_ && is_shared(e);
  if (e->type->kind == Type::Pointer || (ir::is_path(e) && !apart)) return adjoint(e);
  const Type* t = arg.param_type->kind == Type::Real ? arg.param_type : e->type;
  Var* v = fn_.make_var(Var::Param, "d_arg", t, nullptr);
  before.push_back(line({declare_zero(t, v->name)}));
  propagate(e, fn_.ref(v), after);
  return fn_.ref(v);
}

/// A conversion that happened by itself where the original parameter's type asked for it is written out.
Expr* ReverseTransform::as_argument(const ir::CallInfo::Arg& a) {
  Expr* e = fn_.passed(a);
  if (e->kind != Expr::Cast || e->explicit_cast || e->text.empty()) return e;
  return fn_.cast(e->type, e->text, e->args[0]);
}

void ReverseTransform::generated_call(const Stmt* s, List& out) {
  ir::CallInfo& c = *s->call;
  const ir::Function& f = *c.generated;
  std::string state;
  if (f.has_state || f.recursive) {
    c.state_type = f.recursive ? "clad::boxed<" + f.name + "_state>" : f.name + "_state";
    if (c.recomputed) keep_arguments(s, out);
    state = (f.recursive ? "*" : "") + place_state(s, f.name, f.name + "_fwd", out);
  }
  if (!f.has_reverse && !f.recursive) return;
  const std::size_t first = out.size();
  std::vector<Reverse::Part> parts{f.name + "_rev("};
  auto add = [&](Reverse::Part p) {
    if (parts.size() > 1) parts.emplace_back(", ");
    parts.push_back(std::move(p));
  };
  for (std::size_t i = 0; i < c.args.size(); ++i)
    if (f.recursive || f.needs_param[i]) add(static_cast<const Expr*>(as_argument(c.args[i])));
  if (!state.empty()) add(state);
  List before, after;
  if (f.seed) {
    if (!s->var) {  // the value is dropped: its cotangent is zero
      const Type* t = f.seed->type;
      add(t->kind == Type::Real   ? std::string("0")
          : t->zero_by_value_init ? "clad::unused<" + t->name + ">()"
                                  : zero_value(t));
    } else if (!s->var->active) {
      add(zero_value(f.seed->type));
    } else {
      const Expr* d = fn_.ref(shadow(s->var));
      if (f.seed->type->is_class()) {
        add(std::string("std::move("));
        parts.emplace_back(d);
        parts.emplace_back(")");
      } else {
        add(d);
      }
    }
  }
  for (std::size_t i = 0; i < c.args.size(); ++i)
    if (c.args[i].active) add(static_cast<const Expr*>(pass_adjoint(c.args[i], before, after)));
  if (f.error) add(fn_.error->name);
  parts.emplace_back(");");
  for (Reverse& r : before) out.push_back(std::move(r));
  out.push_back(line(std::move(parts)));
  out.back().hands = handed_adjoints(c);
  for (Reverse& r : after) out.push_back(std::move(r));
  if (c.recomputed) out.push_back(line({"}"}));
  if (out.size() > first) save_left(s, out);
}

/// Those of arrays and objects that other threads may add to as well.
std::vector<const Expr*> ReverseTransform::handed_adjoints(const ir::CallInfo& c) {
  std::vector<const Expr*> out;
  for (const ir::CallInfo::Arg& a : c.args) {
    const bool whole = a.active && (a.expr->type->kind == Type::Pointer || ir::is_path(a.expr));
    if (whole && a.expr->type->kind != Type::Real && is_shared(a.expr)) out.push_back(adjoint(a.expr));
  }
  return out;
}

/// Makes room for a call's state: in the record, or, where the call is recomputed, in a scope of the reverse
/// sweep that opens here and that the caller closes. Says how the reverse sweep names it.
std::string ReverseTransform::place_state(const Stmt* s, const std::string& name, const std::string& forward,
                                          List& out) {
  ir::CallInfo& c = *s->call;
  if (!c.recomputed) {
    c.state_name = fn_.unique(name);
    region_->members.push_back({c.state_type, c.state_name, nullptr});
    states_[s] = region_;
    return region_->record + "." + c.state_name;
  }
  c.moment = fn_.unique(name + "_moment");
  region_->members.push_back({"clad::moment", c.moment, nullptr});
  const std::string again = fn_.unique("again");
  std::vector<Reverse::Part> parts{"clad::replay(" + region_->record + "." + c.moment + ", [&] { " + forward +
                                   "("};
  for (const ir::CallInfo::Arg& a : c.args) {
    if (c.kind == ir::CallInfo::Custom && a.object)
      parts.emplace_back(fn_.make(Expr::AddressOf, a.expr->type, "", {a.expr}));
    else
      parts.emplace_back(as_argument(a));
    parts.emplace_back(", ");
  }
  const bool boxed = c.kind == ir::CallInfo::Generated && c.generated->recursive;
  parts.emplace_back((boxed ? "*" : "") + again + "); });");
  out.push_back(line({"{"}));
  out.push_back(line({c.state_type + " " + again + ";"}));
  out.push_back(line(std::move(parts)));
  return again;
}

/// A call that is recomputed sees its arguments as they were before it ran for the first time.
void ReverseTransform::keep_arguments(const Stmt* s, List& out) {
  const ir::Function& f = *s->call->generated;
  for (Var* v : s->touched)
    if (!v->global.empty()) save_changed(s, v, out);
  for (std::size_t i = 0; i < s->call->args.size(); ++i) {
    const ir::CallInfo::Arg& a = s->call->args[i];
    if (!a.moved && (!a.mutable_ || !(f.recursive || f.changes[i]))) continue;
    const Type* t = a.expr->type;
    const Var* root = ir::root(a.expr);
    std::string why;
    if (t->kind == Type::Pointer)
      why = "what a pointer refers to; pass an array, a std::vector or a reference";
    else if (t->has_pointer || (t->is_class() && t->reaches_state) ||
             (t->kind == Type::Other && t->differentiable))
      why = "what the pointers of '" + t->name + "' refer to";
    else if (!t->copyable)
      why = "an object of '" + t->name + "', which cannot be copied";
    else if (!root && ir::is_path(a.expr))
      why = "a global variable";
    if (why.empty()) {
      save(s, a.expr, out);
      continue;
    }
    diagnose_.error(s->loc, "cannot compute this call of '" + f.primal_name +
                                "' again in the backward pass: it may change " + why);
    return;
  }
}

void ReverseTransform::custom_call(const Stmt* s, List& out) {
  ir::CallInfo& c = *s->call;
  if (s->var && s->var->active && !s->var->returned)
    if (Expr* d = ir::by_value(fn_, s, fn_.ref(shadow(s->var)))) return propagate(c.args[0].expr, d, out);
  std::string state;
  if (!c.forward_name.empty() && c.forward_form == ir::CallInfo::Plain) {
    if (!c.state_type.empty()) {
      // "clad::custom_derivatives::f_pullback" keeps its state in a member named after f.
      std::string base = c.reverse_name.substr(c.reverse_name.rfind(':') + 1);
      base.resize(base.size() - std::string("_pullback").size());
      state = place_state(s, base, c.forward_name, out);
    }
  } else {
    // Without a forward function that keeps a state the pullback sees the objects that it is given as they
    // were before the call.
    for (std::size_t i = 0; i < c.args.size(); ++i) save_argument(s, i, /*pointers=*/false, out);
  }
  std::vector<Reverse::Part> parts{c.reverse_name + "("};
  auto add = [&](Reverse::Part p) {
    if (parts.size() > 1) parts.emplace_back(", ");
    parts.push_back(std::move(p));
  };
  for (std::size_t i = 0; i < c.args.size(); ++i) {
    const ir::CallInfo::Arg& a = c.args[i];
    if (i < c.unused.size() && c.unused[i] && a.expr->type->is_value() &&
        a.expr->type->default_constructible) {
      add((a.object ? "&" : "") + ("clad::unused<" + a.expr->type->name + ">()"));
    } else if (is_ignored_pointer(c, i)) {
      add("static_cast<" + a.expr->type->name + ">(nullptr)");
    } else if (a.object) {
      add(static_cast<const Expr*>(fn_.make(Expr::AddressOf, a.expr->type, "", {a.expr})));
    } else {
      add(static_cast<const Expr*>(as_argument(a)));
    }
  }
  List before, after;
  if (c.value_cotangent) {
    if (s->var && s->var->active && c.is_constructor) {
      add(static_cast<const Expr*>(fn_.make(Expr::AddressOf, s->var->type, "", {fn_.ref(shadow(s->var))})));
    } else if (s->var && s->var->active) {
      const Expr* d = fn_.ref(shadow(s->var));
      bool move = s->var->type->is_class();
      if (move) {
        add(std::string("std::move("));
        parts.emplace_back(d);
        parts.emplace_back(")");
      } else {
        add(d);
      }
    } else {
      add(c.is_constructor ? std::string("{}") : zero_value(c.primal->type));
    }
  }
  // The pullbacks of operations on opaque types take null for what is not wanted; those on numbers, as they
  // are written for Clad, add to all that they get.
  const bool takes_null = std::any_of(c.args.begin(), c.args.end(),
                                      [](const auto& a) { return a.expr->type->kind == Type::Opaque; });
  for (const ir::CallInfo::Arg& a : c.args) {
    const Type* t = a.expr->type;
    if (!t->differentiable && !c.adjoints_for_all) continue;
    if (a.active) {
      Expr* d = pass_adjoint(a, before, after);
      add(static_cast<const Expr*>(
          t->kind == Type::Pointer || t->kind == Type::Array ? d : fn_.make(Expr::AddressOf, t, "", {d})));
    } else if (!c.derivative) {  // differences need not move what has none
      add(std::string("nullptr"));
    } else if (takes_null || t->kind == Type::Pointer) {
      add("static_cast<" + (t->kind == Type::Pointer ? adjoint_pointer_type(t) : t->name + "*") +
          ">(nullptr)");
    } else {
      Var* ignored = fn_.make_var(Var::Param, "ignored", t, nullptr);
      bool shaped = t->dynamic_shape || !t->default_constructible || t->own_zero;
      if (shaped)
        before.push_back(line({"auto " + ignored->name + " = clad::zero_like(", a.expr, ");"}));
      else
        before.push_back(line({declare_zero(t, ignored->name)}));
      add(static_cast<const Expr*>(fn_.make(Expr::AddressOf, t, "", {fn_.ref(ignored)})));
    }
  }
  if (!state.empty()) add(state);
  parts.emplace_back(");");
  for (Reverse& r : before) out.push_back(std::move(r));
  out.push_back(line(std::move(parts)));
  out.back().adds = handed_adjoints(c);
  for (Reverse& r : after) out.push_back(std::move(r));
  if (c.recomputed) out.push_back(line({"}"}));
  // What pointers lead into it sees as the call left it: outputs, as a rule.
  for (std::size_t i = 0; i < c.args.size(); ++i) save_argument(s, i, /*pointers=*/true, out);
}

}  // namespace clad
