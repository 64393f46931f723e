// Cotangents through expressions: each operand receives the seed times its partial derivative.
#include <algorithm>

#include "print.h"
#include "reverse.h"

namespace clad {

using ir::Expr;
using ir::Type;

ir::Var* ReverseTransform::shadow(ir::Var* v) {
  if (v == fn_.seed) return v;  // the seed is a cotangent itself
  if (!v->shadow) {
    auto& s = fn_.vars.emplace_back(std::make_unique<ir::Var>());
    s->kind = ir::Var::Adjoint;
    s->name = v->adjoint;
    s->type = v->type;
    s->primal = v;
    v->shadow = s.get();
    if (v->kind == ir::Var::Alias) v->adjoint_path = adjoint(v->path);
  }
  v->shadow->adjoint_used = true;
  return v->shadow;
}

/// The adjoint of an lvalue path or pointer expression: the same path through the adjoint of its root.
Expr* ReverseTransform::adjoint(const Expr* e) {
  if (e->kind == Expr::VarRef) return fn_.ref(shadow(e->var));
  return fn_.mirror(e, [&](const Expr* part) { return adjoint(part); });
}

Expr* ReverseTransform::binary(const char* op, Expr* a, Expr* b) {
  return fn_.make(Expr::Binary, a->type, op, {a, b});
}

Expr* ReverseTransform::negate(Expr* e) {
  if (e->kind == Expr::Unary && e->text == "-") return e->args[0];
  return fn_.make(Expr::Unary, e->type, "-", {e});
}

/// Names a seed that is used more than once.
Expr* ReverseTransform::bind(Expr* seed, List& out) {
  const Expr* inner = seed->kind == Expr::Unary && seed->text == "-" ? seed->args[0] : seed;
  if (ir::is_atomic(inner)) return seed;
  ir::Var* v = fn_.make_var(ir::Var::Param, "d", seed->type, nullptr);
  out.push_back(line({"const " + seed->type->name + " " + v->name + " = ", seed, ";"}));
  return fn_.ref(v);
}

/// Whether writing the adjoints of `e`'s operands may write the adjoint of `target`.
bool ReverseTransform::may_alias(const Expr* target, const Expr* e) const {
  const ir::Var* t = ir::root(target);
  bool alias = false;
  ir::each_var(e, [&](const ir::Var* v) {
    if (v == t) alias = true;
    bool outside = v->reference || v->type->kind == Type::Pointer;
    if (t && t->external && outside && v->active) alias = true;
  });
  return alias;
}

void ReverseTransform::propagate_product(const Expr* e, Expr* seed, List& out) {
  Expr* a = e->args[0];
  Expr* b = e->args[1];
  bool left = ir::active(a), right = ir::active(b);
  if (left && e->text == "*" && ir::same(a, b)) {
    const bool minus = seed->kind == Expr::Unary && seed->text == "-";
    Expr* two = fn_.make(Expr::Literal, seed->type, "2");
    Expr* twice = binary("*", binary("*", two, minus ? seed->args[0] : seed), a);
    return propagate(a, minus ? negate(twice) : twice, out);
  }
  if (left && right) seed = bind(seed, out);
  if (e->text == "*") {
    if (left) propagate(a, binary("*", seed, b), out);
    if (right) propagate(b, binary("*", seed, a), out);
    return;
  }
  if (!right) return propagate(a, binary("/", seed, b), out);
  // One division, which need not wait for the seed.
  Expr* inverse =
      bind(fn_.make(Expr::Binary, seed->type, "/", {fn_.make(Expr::Literal, seed->type, "1"), b}), out);
  seed = bind(binary("*", seed, inverse), out);
  if (left) propagate(a, seed, out);
  propagate(b, negate(binary("*", seed, binary("*", a, inverse))), out);
}

void ReverseTransform::propagate_list(const Expr* e, Expr* seed, List& out) {
  const Type* type = e->type;
  if (e->kind == Expr::InitList) {
    if (type->kind == Type::Real) {
      if (!e->args.empty()) propagate(e->args[0], seed, out);
      return;
    }
    for (std::size_t i = 0; i < e->args.size(); ++i) {
      if (!ir::active(e->args[i])) continue;
      Expr* element = nullptr;
      if (type->kind == Type::Record) {
        if (i >= type->fields.size()) break;
        const ir::Field& f = type->fields[i];
        if (f.constant) continue;
        element = f.name.empty() ? fn_.make(Expr::Cast, f.type, f.type->name + "&", {seed})
                                 : fn_.make(Expr::Member, f.type, f.name, {seed});
        if (f.name.empty()) element->explicit_cast = element->to_reference = true;
      } else {
        element = fn_.make(Expr::Index, type->element, "",
                           {seed, fn_.make(Expr::Literal, nullptr, std::to_string(i))});
      }
      propagate(e->args[i], element, out);
    }
    return;
  }
  // Construct: of a vector, (count, value) or (pointer, pointer).
  if (e->args.empty()) return;
  if (type->kind != Type::Vector) {
    if (e->args.size() == 1) propagate(e->args[0], seed, out);
    return;
  }
  if (e->args[0]->type->kind == Type::Pointer && ir::active(e->args[0])) {
    out.push_back(line({"clad::accumulate_range(", adjoint(e->args[0]), ", ", seed, ");"}));
    out.back().adds = {adjoint(e->args[0])};
    return;
  }
  if (e->args.size() == 2 && ir::active(e->args[1])) {
    if (ir::is_path(e->args[1])) {
      out.push_back(line({"clad::accumulate_sum(", adjoint(e->args[1]), ", ", seed, ");"}));
      out.back().adds = {adjoint(e->args[1])};
      return;
    }
    ir::Var* sum = fn_.make_var(ir::Var::Param, "d", type->element, nullptr);
    out.push_back(line({declare_zero(type->element, sum->name)}));
    out.push_back(line({"clad::accumulate_sum(" + sum->name + ", ", seed, ");"}));
    propagate(e->args[1], fn_.ref(sum), out);
  }
}

/// Adds `seed` times the derivative of `e` to the adjoints of what `e` reads.
void ReverseTransform::propagate(const Expr* e, Expr* seed, List& out) {
  if (!e || !ir::active(e)) return;
  if (ir::is_path(e)) {
    Expr* target = adjoint(e);
    if (e->type->kind == Type::Real) {
      bool minus = seed->kind == Expr::Unary && seed->text == "-";
      out.push_back(line({target, minus ? " -= " : " += ", minus ? seed->args[0] : seed, ";"}));
    } else {
      out.push_back(line({"clad::accumulate(", target, ", ", seed, ");"}));
      out.back().adds = {target};
    }
    return;
  }
  switch (e->kind) {
    case Expr::Cast:
      propagate(e->args[0], seed, out);
      return;
    case Expr::Unary:
      if (e->text == "-") propagate(e->args[0], negate(seed), out);
      if (e->text == "+") propagate(e->args[0], seed, out);
      return;
    case Expr::Binary:
      if (e->text == "*" || e->text == "/") return propagate_product(e, seed, out);
      if (e->text == "+" || e->text == "-") {
        if (ir::active(e->args[0]) && ir::active(e->args[1])) seed = bind(seed, out);
        propagate(e->args[0], seed, out);
        propagate(e->args[1], e->text == "-" ? negate(seed) : seed, out);
        return;
      }
      break;
    case Expr::Conditional: {
      if (ir::active(e->args[1]) || ir::active(e->args[2])) seed = bind(seed, out);
      Reverse branch;
      branch.kind = Reverse::If;
      branch.loc = loc_;
      branch.parts = {e->args[0]};
      propagate(e->args[1], seed, branch.body);
      propagate(e->args[2], seed, branch.other);
      out.push_back(std::move(branch));
      return;
    }
    case Expr::InitList:
    case Expr::Construct:
      return propagate_list(e, seed, out);
    default:
      break;
  }
  diagnose_.error(e->loc ? e->loc : loc_, ir::not_differentiated(e));
}

}  // namespace clad
