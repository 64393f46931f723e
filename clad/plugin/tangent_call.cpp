// Calls in forward mode: each becomes a call that computes value and tangent together.
#include <algorithm>

#include "print.h"
#include "tangent.h"

namespace clad {

using ir::CallInfo;
using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

void TangentTransform::call(Stmt* s) {
  CallInfo& c = *s->call;
  switch (c.kind) {
    case CallInfo::Inactive:
      out_->push_back(s);
      if (s->var && s->var->active) declare_zero(s->var);  // it becomes active later
      return;
    case CallInfo::Mirrored:
      return mirrored_call(s);
    case CallInfo::Generated:
      return pushforward_call(s);
    case CallInfo::Custom:
      return c.is_pushforward ? pushforward_call(s) : pullback_call(s);
  }
}

/// The tangent that accompanies an argument.
CallInfo::Arg TangentTransform::tangent_argument(const CallInfo::Arg& arg) {
  CallInfo::Arg d = arg;
  d.object = d.moved = false;
  const Type* t = arg.expr->type;
  if (t->kind == Type::Pointer || ir::is_path(arg.expr)) {
    d.expr = ir::active(arg.expr) ? shadow_path(arg.expr) : zero(t, arg.expr);
  } else {
    d.expr = tangent_or_zero(arg.expr);
  }
  if (!ir::is_path(d.expr) && t->kind != Type::Pointer) {
    if (t->kind != Type::Real) {
      d.expr = fn_.ref(declare("d_arg", tangent_type(t), d.expr));
    } else {  // of the parameter's type, whatever overloads there are
      const Type* wanted = tangent_type(arg.param_type->kind == Type::Real ? arg.param_type : t);
      d.expr = fn_.make(Expr::Cast, wanted, wanted->name, {d.expr});
      // The tangent of a number that a function takes by reference is one that it may change.
      if (width_ > 0 && arg.reference) d.expr = fn_.ref(declare("d_arg", wanted, d.expr));
    }
  }
  return d;
}

/// Puts the call into the place of `s`. Where it returns a pair, the parts become the result and its tangent.
void TangentTransform::finish_call(Stmt* s, std::unique_ptr<CallInfo> info, const Type* result) {
  Expr* primal = fn_.make(Expr::Call, result, info->name);
  for (const CallInfo::Arg& a : info->args) primal->args.push_back(fn_.passed(a));
  if (s->call && s->call->names)  // what matters is where the value is
    primal = fn_.make(Expr::Call, result, s->call->primal->text, {primal});
  info->primal = primal;
  info->checkpoint = s->call && s->call->checkpoint;
  info->visible = s->call && s->call->visible;
  Stmt* made = emit(Stmt::CallStmt);
  for (const CallInfo::Arg& a : info->args)
    if (Var* r = a.mutable_ ? ir::root(a.expr) : nullptr) {
      r->modified = true;
      made->touched.push_back(r);
    }
  for (Var* v : s->touched)
    if (!v->global.empty()) made->touched.push_back(v);
  made->call = std::move(info);
  if (s->call && s->call->tangent_only) {
    made->var = s->var->active ? shadow(s->var) : nullptr;
    s->call->kind = CallInfo::Inactive;
    out_->push_back(s);
    return;
  }
  if (result->kind == Type::Void) return;
  if (result->kind != Type::Record || !s->var || result == s->var->type) {
    made->var = s->var;
    return;
  }
  Var* pair = fn_.make_var(Var::Temp, "both", result, region_);
  pair->optional = !result->default_constructible;
  made->var = pair;
  const auto part = [&](Var* v, const char* name) {
    Stmt* d = emit(Stmt::Decl);
    d->var = v;
    d->expr = fn_.make(Expr::Member, v->type, name, {fn_.ref(pair)});
  };
  part(s->var, "value");
  if (s->var->active) part(shadow(s->var), "pushforward");
}

/// A function differentiated forward, or a pushforward that somebody wrote.
void TangentTransform::pushforward_call(Stmt* s) {
  CallInfo& c = *s->call;
  if (c.tangent_only && !s->var) {  // a value that nobody uses
    c.kind = CallInfo::Inactive;
    out_->push_back(s);
    return;
  }
  const bool custom = c.kind == CallInfo::Custom;
  if (custom && width_ > 0) {
    if (partials_by_pushforward(s)) return;
    diagnose_.error(s->loc, "cannot differentiate in several directions at once: '" + c.reverse_name +
                                "' takes one; ask for one derivative after the other");
    return;
  }
  auto info = std::make_unique<CallInfo>();
  info->callee = custom ? c.derivative : c.callee;
  info->name = custom ? c.reverse_name : c.generated->name;
  if (!custom) info->tangents = c.tangents;
  if (!custom) info->targets = c.targets;
  ir::Tangents mask{{}, width_};
  auto pass = [&](CallInfo::Arg a, bool object) {
    if (custom && object) {  // as the pointer `this`
      a.expr = fn_.make(Expr::AddressOf, types_.pointer_to(a.expr->type), "", {a.expr});
      a.param_type = a.expr->type;
      a.reference = false;
    }
    a.object = a.moved = false;
    info->args.push_back(std::move(a));
  };
  if (custom && !c.tag.empty()) {
    CallInfo::Arg tag;
    tag.expr = fn_.make(Expr::Literal, types_.nothing(), c.tag + "{}");
    tag.param_type = tag.expr->type;
    info->args.push_back(tag);
  }
  for (const CallInfo::Arg& a : c.args) {
    mask.kinds.push_back(ir::tangent_kind(a.expr, a.active));
    pass(a, a.object);
  }
  for (const CallInfo::Arg& a : c.args) {
    if (!(custom ? c.adjoints_for_all || a.expr->type->differentiable : a.active)) continue;
    pass(tangent_argument(a), a.object);
    ir::Expr*& d = info->args.back().expr;
    if (custom && c.mutable_tangents && (d->type->kind == Type::Pointer || ir::is_path(d)))
      d = fn_.as_mutable(d);
  }
  if (!custom) info->tangents.push_back(mask);
  const Type* result = s->var ? s->var->type : types_.nothing();
  if (s->var && result->differentiable && !c.tangent_only)
    result = types_.value_and_pushforward(result, tangent_type(result));
  finish_call(s, std::move(info), result);
}

/// A pushforward that somebody wrote takes one direction. That of a function of numbers says what its partial
/// derivatives are, one by a call; with them there are tangents in any number of directions. False where the
/// function is another one.
bool TangentTransform::partials_by_pushforward(Stmt* s) {
  CallInfo& c = *s->call;
  const auto plain = [](const CallInfo::Arg& a) {
    return !a.mutable_ && !a.object && (a.expr->type->kind == Type::Real || !a.expr->type->differentiable);
  };
  if (!s->var || s->var->type->kind != Type::Real || c.names || !c.tag.empty() ||
      !std::all_of(c.args.begin(), c.args.end(), plain) ||
      std::none_of(c.args.begin(), c.args.end(), [](const CallInfo::Arg& a) { return a.active; }))
    return false;
  const Type* type = s->var->type;
  const bool pair = !c.tangent_only;
  Expr* total = nullptr;
  for (const CallInfo::Arg& along : c.args) {
    if (!along.active) continue;
    auto info = std::make_unique<CallInfo>();
    info->callee = c.derivative;
    info->name = c.reverse_name;
    info->args = c.args;
    for (const CallInfo::Arg& a : c.args) {
      if (!a.expr->type->differentiable && !c.adjoints_for_all) continue;
      CallInfo::Arg unit;
      unit.param_type = a.param_type->kind == Type::Real ? a.param_type : a.expr->type;
      unit.expr = fn_.make(Expr::Literal, unit.param_type, &a == &along ? "1" : "0");
      if (c.mutable_tangents)
        unit.expr = fn_.ref(declare("d_arg", unit.param_type, unit.expr));
      else
        unit.expr = fn_.make(Expr::Cast, unit.param_type, unit.param_type->name, {unit.expr});
      info->args.push_back(std::move(unit));
    }
    const Type* returned = pair ? types_.value_and_pushforward(type, type) : type;
    info->primal = fn_.make(Expr::Call, returned, info->name);
    for (const CallInfo::Arg& a : info->args) info->primal->args.push_back(fn_.passed(a));
    Var* result = fn_.make_var(Var::Temp, pair ? "both" : "partial", returned, region_);
    Stmt* made = emit(Stmt::CallStmt);
    made->var = result;
    made->call = std::move(info);
    const auto part = [&](const char* name) {
      return pair ? fn_.make(Expr::Member, type, name, {fn_.ref(result)}) : fn_.ref(result);
    };
    if (pair && !total) {
      Stmt* value = emit(Stmt::Decl);
      value->var = s->var;
      value->expr = part("value");
    }
    total = sum(total, times(part("pushforward"), tangent(along.expr)), "+");
  }
  if (s->var->active) {
    Stmt* d = emit(Stmt::Decl);
    d->var = shadow(s->var);
    d->expr = total;
  }
  if (!pair) {
    c.kind = CallInfo::Inactive;
    out_->push_back(s);
  }
  return true;
}

/// The pullback of a function of numbers multiplies with its partial derivatives, and so says what they are.
void TangentTransform::pullback_call(Stmt* s) {
  CallInfo& c = *s->call;
  if (!s->var || !s->var->active) {
    c.kind = CallInfo::Inactive;
    out_->push_back(s);
    return;
  }
  const Type* type = s->var->type;
  if (c.args.size() == 1 && c.args[0].active) {
    Expr* moved = tangent(c.args[0].expr);
    if (width_ == 0 && moved->type != type) moved = fn_.make(Expr::Cast, type, type->name, {moved});
    if (Expr* d = ir::by_value(fn_, s, moved)) {
      c.kind = CallInfo::Inactive;
      out_->push_back(s);
      Stmt* follows = emit(Stmt::Decl);
      follows->var = shadow(s->var);
      follows->expr = d;
      return;
    }
  }
  std::vector<Var*> partials;
  auto info = std::make_unique<CallInfo>();
  info->callee = c.derivative;
  info->name = c.reverse_name;
  info->args = c.args;
  const auto differentiable =
      std::count_if(c.args.begin(), c.args.end(), [](const auto& a) { return a.expr->type->differentiable; });
  const bool single = differentiable == 1 && width_ == 0;
  CallInfo::Arg seed;
  for (const CallInfo::Arg& a : c.args)
    if (single && a.active) seed.expr = fn_.make(Expr::Cast, type, type->name, {tangent(a.expr)});
  if (!single) seed.expr = fn_.make(Expr::Cast, type, type->name, {fn_.make(Expr::Literal, type, "1")});
  seed.param_type = type;
  info->args.push_back(seed);
  for (const CallInfo::Arg& a : c.args) {
    const bool carries = a.expr->type->differentiable;
    partials.push_back(nullptr);
    if (!carries && !c.adjoints_for_all) continue;
    const Type* t = a.param_type->kind == Type::Real ? a.param_type : a.expr->type;
    CallInfo::Arg out;
    out.param_type = types_.pointer_to(t);
    if (!c.derivative && !a.active) {  // differences need not move what has no tangent
      out.expr = fn_.make(Expr::Literal, out.param_type, "nullptr");
      info->args.push_back(out);
      continue;
    }
    Var* v = nullptr;
    if (single && carries && t == type) {  // adds to the tangent itself
      v = shadow(s->var);
      Stmt* d = emit(Stmt::Decl);
      d->var = v;
      d->expr = fn_.make(Expr::Literal, type, "0");
    } else {
      v = declare("partial", t, fn_.make(Expr::Literal, t, "0"));
    }
    if (carries) partials.back() = v;
    out.expr = fn_.make(Expr::AddressOf, out.param_type, "", {fn_.ref(v)});
    out.mutable_ = true;
    info->args.push_back(out);
  }
  std::unique_ptr<CallInfo> primal = std::move(s->call);
  s->call = std::make_unique<CallInfo>();
  finish_call(s, std::move(info), types_.nothing());
  s->call = std::move(primal);
  if (!s->var->shadow) {
    Expr* total = nullptr;
    for (std::size_t i = 0; i < partials.size(); ++i) {
      const CallInfo::Arg& a = s->call->args[i];
      if (!a.active || !partials[i]) continue;
      Expr* partial = fn_.ref(partials[i]);
      total = sum(total, single ? partial : times(partial, tangent(a.expr)), "+");
    }
    Stmt* d = emit(Stmt::Decl);
    d->var = shadow(s->var);
    d->expr = total;
  }
  s->call->kind = CallInfo::Inactive;
  out_->push_back(s);
}

/// A member of a library container that adds, removes or sets elements does the same to the tangents.
void TangentTransform::mirrored_call(Stmt* s) {
  const CallInfo& c = *s->call;
  auto info = std::make_unique<CallInfo>();
  info->callee = c.callee;
  info->name = c.name;
  info->is_method = true;
  Expr* primal = fn_.make(Expr::Method, types_.nothing(), c.name);
  for (const CallInfo::Arg& a : c.args) {
    CallInfo::Arg d = a;
    if (a.expr->type->differentiable) {
      d = tangent_argument(a);
      d.object = a.object;
    }
    primal->args.push_back(d.expr);
    info->args.push_back(std::move(d));
  }
  if (c.filling) {
    info->callee = c.filling;
    CallInfo::Arg x;
    x.param_type = c.args[0].expr->type->element;
    x.expr = zero(x.param_type, fn_.make(Expr::Construct, x.param_type));
    x.reference = true;
    primal->args.push_back(x.expr);
    info->args.push_back(x);
  }
  info->primal = primal;
  s->call->kind = CallInfo::Inactive;
  Stmt* made = emit(Stmt::CallStmt);
  made->call = std::move(info);
  for (Var* v : s->touched)
    if (v->shadow) made->touched.push_back(v->shadow);
  out_->push_back(s);
}

}  // namespace clad
