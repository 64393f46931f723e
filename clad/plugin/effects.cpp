#include "effects.h"

#include <algorithm>

namespace clad::ir {
namespace {

bool holds_addresses(const Type* t, std::set<const Type*>& seen) {
  if (!seen.insert(t).second) return false;
  if (t->kind == Type::Pointer || t->kind == Type::Other || t->kind == Type::InitializerList) return true;
  if (t->has_pointer || t->reaches_state) return true;
  if (t->element && holds_addresses(t->element, seen)) return true;
  return std::any_of(t->fields.begin(), t->fields.end(), [&](const Field& f) {
    return f.type->kind == Type::Void || holds_addresses(f.type, seen);  // void: a reference
  });
}
bool holds_addresses(const Type* t) {
  std::set<const Type*> seen;
  return holds_addresses(t, seen);
}

/// Whether more than the named variables decides what the expression is.
bool calls(const Expr* e) {
  switch (e->kind) {
    case Expr::Call:
      return !is_math(e);
    case Expr::Raw:
      return true;
    case Expr::Global:
      return !e->fixed;
    case Expr::Method:
      return !e->accessor && e->text != "size" && e->text != "empty";
    default:
      return false;
  }
}

void add_write(const Expr* path, Effects& to) {
  const Var* r = root(path);
  if (!r) {
    to.unknown = true;
    return;
  }
  to.vars.insert(r);
  to.unknown |= !r->global.empty();
  to.outside |= is_outside(path) || r->external;
  to.everything |= r->kind != Var::Param && may_point(r);
}

}  // namespace

bool is_math(const Expr* e) {
  if (e->kind != Expr::Call) return false;
  for (const Expr* a : e->args)
    if (a->type->kind != Type::Real && a->type->kind != Type::Scalar) return false;
  static const std::set<std::string> names = {
      "abs",  "acos",  "asin", "atan",  "atan2", "cbrt", "ceil", "cos",   "cosh", "erf",   "erfc",  "exp",
      "exp2", "expm1", "fabs", "floor", "fmax",  "fmin", "fmod", "hypot", "log",  "log10", "log1p", "log2",
      "max",  "min",   "pow",  "round", "sin",   "sinh", "sqrt", "tan",   "tanh", "trunc"};
  const std::string& name = e->text;
  const std::size_t colons = name.rfind("::");
  if (colons == std::string::npos || (colons != 0 && name.substr(0, colons) != "std")) return false;
  const std::string word = name.substr(colons + 2);
  return names.count(word) != 0 &&
         (colons != 0 || (word != "max" && word != "min"));  // which C does not have
}

bool may_point(const Var* v) {
  if (v->kind == Var::Alias || v->kind == Var::Adjoint) return false;
  return v->by_pointer || holds_addresses(v->type);
}

void add_reads(const Expr* e, Effects& to) {
  if (!e) return;
  if (calls(e)) to.unknown = true;
  if (e->kind == Expr::VarRef) {
    const Var* v = e->var;
    if (v->kind == Var::Alias) {
      add_reads(v->path, to);
    } else {
      to.vars.insert(v);
      to.unknown |= !v->global.empty();
      to.outside |= v->external || v->type->kind == Type::Pointer;
      to.everything |= v->kind != Var::Param && may_point(v);
    }
  }
  for (const Expr* a : e->args) add_reads(a, to);
}

void add_writes(const Stmt* s, Effects& to) {
  if (s->var) to.vars.insert(s->var);
  if (s->kind == Stmt::Assign) add_write(s->lhs, to);
  if (s->kind == Stmt::Assign && s->text == "swap") add_write(s->expr, to);
  if (s->kind == Stmt::Eval && s->text != "check") to.unknown = true;
  if (s->kind == Stmt::Decl && s->expr) {
    Effects reads;
    add_reads(s->expr, reads);
    to.unknown |= reads.unknown;  // it may be a call
  }
  for (const Var* v : s->touched) {
    to.vars.insert(v);
    to.unknown |= !v->global.empty();
    to.outside |= v->external;
    to.everything |= v->kind != Var::Param && may_point(v);
  }
  if (s->kind == Stmt::CallStmt) {
    const CallInfo& c = *s->call;
    const bool builtin =
        c.kind == CallInfo::Custom && c.reverse_name.rfind("clad::builtin_derivatives::", 0) == 0;
    to.unknown |= !builtin && !(c.kind == CallInfo::Generated && c.generated && c.generated->pure);
    for (const CallInfo::Arg& a : c.args) {
      if (a.mutable_ || a.moved) add_write(a.expr, to);
      const Var* r = root(a.expr);
      if (r && a.expr->type->is_class() && holds_addresses(a.expr->type)) to.outside = to.everything = true;
    }
  }
  for (const Body* inner : {&s->init, &s->body, &s->other}) add_writes(*inner, to);
}

void add_writes(const Body& body, Effects& to) {
  for (const Stmt* s : body) add_writes(s, to);
}

bool is_pure(const Body& body) {
  Effects writes;
  add_writes(body, writes);
  if (writes.unknown || writes.everything) return false;
  return std::all_of(body.begin(), body.end(), [](const Stmt* s) {
    if (s->kind == Stmt::Eval) return false;  // it may throw
    Effects reads;
    for (const Expr* e : {s->expr, s->lhs}) add_reads(e, reads);
    if (s->kind == Stmt::AliasDecl) add_reads(s->var->path, reads);
    if (s->call)
      for (const CallInfo::Arg& a : s->call->args) add_reads(a.expr, reads);
    return !reads.unknown && is_pure(s->init) && is_pure(s->body) && is_pure(s->other);
  });
}

bool conflict(const Effects& reads, const Effects& writes) {
  if (writes.everything || (reads.everything && !writes.vars.empty())) return true;
  if ((reads.outside && (writes.outside || writes.unknown)) || (reads.unknown && writes.unknown)) return true;
  return std::any_of(reads.vars.begin(), reads.vars.end(),
                     [&](const Var* v) { return writes.vars.count(v) != 0; });
}

static bool keeps_numbers(const Type* type, std::set<const Type*>& seen) {
  if (type->kind == Type::Pointer || type->differentiable) return false;
  if (type->kind == Type::Other) return type->element != nullptr;
  if (type->element) return keeps_numbers(type->element, seen);
  if (type->fields.empty() || !seen.insert(type).second) return false;  // it may hold vectors of itself
  return std::any_of(type->fields.begin(), type->fields.end(),
                     [&](const Field& f) { return keeps_numbers(f.type, seen); });
}
bool keeps_numbers(const Type* type) {
  std::set<const Type*> seen;
  return keeps_numbers(type, seen);
}

bool keeps_numbers(const Expr* path) {
  for (int depth = 0; path && depth < 64; ++depth) {
    if (path->type && keeps_numbers(path->type)) return true;
    if (path->kind == Expr::VarRef) {
      const Var* v = path->var;
      path = v->names ? v->names : v->kind == Var::Alias ? v->path : v->origin;
    } else if (path->kind == Expr::Binary) {
      const bool pointer = path->args[0]->type && path->args[0]->type->kind == Type::Pointer;
      path = path->type->kind == Type::Pointer ? path->args[pointer ? 0 : 1] : nullptr;
    } else {
      path = is_path(path) || path->kind == Expr::AddressOf ? path->args.empty() ? nullptr : path->args[0]
                                                            : nullptr;
    }
  }
  return false;
}

const Var* constant_behind(const Expr* path) {
  const Var* handle = handle_in(path);
  if (handle && (!path->type->differentiable || keeps_numbers(path))) return handle;
  return path->type->differentiable && is_path(path) && keeps_numbers(path) ? root(path) : nullptr;
}

Var* changed_by(const Expr* path) {
  Var* r = root(path);
  const Var* handle = constant_behind(path);
  if (!handle || handle->reference_copy || (r && (r != handle || keeps_numbers(r->type)))) return r;
  return handle->origin ? root(handle->origin) : nullptr;
}

bool leads_through_pointer(const Expr* e) {
  for (; e; e = e->args.empty() ? nullptr : e->args[0]) {
    const bool pointer = e->type && e->type->kind == Type::Pointer;
    if (e->kind == Expr::VarRef && e->var->kind == Var::Alias) return leads_through_pointer(e->var->path);
    if (pointer && (e->kind == Expr::VarRef || e->kind == Expr::Member || e->kind == Expr::Index))
      return true;
    if (e->kind == Expr::Binary && e->args[0]->type->kind == Type::Scalar)
      return leads_through_pointer(e->args[1]);
  }
  return false;
}

}  // namespace clad::ir
