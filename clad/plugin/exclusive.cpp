#include "exclusive.h"

#include <algorithm>

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

namespace {

const Expr* without_casts(const Expr* e) {
  while (e->kind == Expr::Cast && e->type && e->type->kind == Type::Scalar) e = e->args[0];
  return e;
}

std::optional<long long> number(const Expr* e) {
  if (e->kind != Expr::Literal || e->text.empty() || e->text.size() > 15) return std::nullopt;
  const auto digits = e->text.find_first_not_of("0123456789");
  if (digits == 0 ||
      (digits != std::string::npos && e->text.find_first_not_of("uUlL", digits) != std::string::npos))
    return std::nullopt;
  return std::stoll(e->text);
}

bool same_terms(const auto& a, const auto& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.minus == y.minus && alike(without_casts(x.e), without_casts(y.e));
         });
}

}  // namespace

Exclusive::Exclusive(ir::Function& fn, const Reverse& loop) : fn_(fn), loop_(loop.loop) {
  counters_[loop_->count.counter] = loop_;
  auto collect = [&](auto& self, const ir::Body& body) -> void {
    for (const Stmt* s : body) {
      if (s->kind == Stmt::Loop && s->count.counter) counters_[s->count.counter] = s;
      const bool integer = s->kind == Stmt::Decl && s->expr && s->var->type->kind == Type::Scalar;
      if (integer && !s->var->modified) constants_[s->var] = s->expr;
      for (const ir::Body* inner : {&s->init, &s->body, &s->other}) self(self, *inner);
    }
  };
  collect(collect, loop_->body);
  auto add = [&](const Expr* target) {
    const Var* root = adjoint_root(target);
    if (!root || root->kind != Var::Adjoint || inside(root->primal->region, loop_)) return;
    Place p;
    auto& all = places_[root];
    walk(target, p) ? all.push_back(std::move(p)) : static_cast<void>(unknown_.insert(root));
  };
  each_line(loop.body, [&](const Reverse& r) {
    if (const Expr* target = sum_target(r)) add(target);
    for (const Expr* e : r.adds) add(e);
    for (const Expr* e : r.hands)
      if (const Var* root = adjoint_root(e)) {
        unknown_.insert(root);
        places_[root];
      }
  });
  for (const auto& [root, all] : places_) {
    bool apart = unknown_.count(root) == 0;
    for (std::size_t i = 0; apart && i < all.size(); ++i)
      for (std::size_t k = 0; apart && k <= i; ++k) apart = tell_apart(all[i], all[k]);
    if (apart) own_.insert(root);
  }
  find_conditions();
}

bool Exclusive::holds(const Expr* target) const { return own_.count(adjoint_root(target)) != 0; }

/// Follows a path to its root; false if it is of a kind that is not understood.
bool Exclusive::walk(const Expr* e, Place& to) const {
  switch (e->kind) {
    case Expr::VarRef:
      if (e->var->kind == Var::Adjoint && e->var->primal->kind == Var::Alias)
        return walk(e->var->primal->adjoint_path, to);
      to.root = e->var;
      to.start = e;
      return e->type->kind != Type::Pointer;
    case Expr::Member:
      if (e->args[0]->type->overlaps || !walk(e->args[0], to)) return false;
      to.steps.push_back({e->text, {}});
      return true;
    case Expr::Index: {
      Terms index;
      add_terms(e->args[1], false, index);
      if (e->args[0]->type->kind == Type::Pointer) return walk_pointer(e->args[0], std::move(index), to);
      if (!walk(e->args[0], to)) return false;
      to.steps.push_back({"", std::move(index)});
      return true;
    }
    case Expr::Deref:
      return walk_pointer(e->args[0], {}, to);
    case Expr::Cast:
      return e->to_reference && walk(e->args[0], to);
    default:
      return false;
  }
}

/// Of the element `index` places behind a pointer. One that lies in an object may point anywhere.
bool Exclusive::walk_pointer(const Expr* p, Terms index, Place& to) const {
  const bool address = p->kind == Expr::AddressOf && p->args[0]->kind == Expr::Index;
  if (p->kind == Expr::VarRef) {
    if (p->var->kind == Var::Adjoint && p->var->primal->kind == Var::Alias)
      return walk_pointer(p->var->primal->adjoint_path, std::move(index), to);
    to.root = p->var;
    to.start = p;
  } else if (p->kind == Expr::Binary && (p->text == "+" || p->text == "-") &&
             p->args[0]->type->kind != Type::Scalar) {
    add_terms(p->args[1], p->text == "-", index);
    return walk_pointer(p->args[0], std::move(index), to);
  } else if (address) {
    add_terms(p->args[0]->args[1], false, index);
    const Expr* array = p->args[0]->args[0];
    if (array->type->kind == Type::Pointer) return walk_pointer(array, std::move(index), to);
    if (!walk(array, to)) return false;
  } else if (p->kind == Expr::Method && p->accessor && p->text == "data") {
    if (!walk(p->args[0], to)) return false;
  } else if (p->type->kind == Type::Array) {
    if (!walk(p, to)) return false;
  } else {
    return false;
  }
  to.steps.push_back({"", std::move(index)});
  return true;
}

/// Without conversions, and with what an integer of the iteration was declared as in its place.
const Expr* Exclusive::value(const Expr* e) const {
  for (;;) {
    e = without_casts(e);
    auto it = e->kind == Expr::VarRef ? constants_.find(e->var) : constants_.end();
    if (it == constants_.end()) return e;
    e = it->second;
  }
}

void Exclusive::add_terms(const Expr* e, bool minus, Terms& to) const {
  e = value(e);
  if (e->kind == Expr::Binary && (e->text == "+" || e->text == "-")) {
    add_terms(e->args[0], minus, to);
    add_terms(e->args[1], minus != (e->text == "-"), to);
    return;
  }
  if (number(e) != 0) to.push_back({e, minus});
}

bool Exclusive::mentions(const Expr* e, const Var* v) const {
  e = value(e);
  return e->var == v ||
         std::any_of(e->args.begin(), e->args.end(), [&](const Expr* a) { return mentions(a, v); });
}

/// Whether it is the same number in all iterations.
bool Exclusive::is_fixed(const Expr* e) const {
  e = value(e);
  switch (e->kind) {
    case Expr::Literal:
      return true;
    case Expr::VarRef:
      return counters_.count(e->var) == 0 && !inside(e->var->region, loop_) && e->var->kind != Var::Adjoint;
    case Expr::Member:
    case Expr::Binary:
    case Expr::Unary:
      break;
    case Expr::Method:
      if (e->text != "size") return false;
      break;
    default:
      return false;
  }
  return std::all_of(e->args.begin(), e->args.end(), [&](const Expr* a) { return is_fixed(a); });
}

/// Whether 0 <= digit < stride.
bool Exclusive::is_digit(const Term& digit, const Expr* stride) const {
  if (digit.minus) return false;
  const Expr* e = value(digit.e);
  if (const auto n = number(e)) return number(stride) && *n < *number(stride);
  auto it = e->kind == Expr::VarRef ? counters_.find(e->var) : counters_.end();
  if (it == counters_.end() || it->second == loop_) return false;
  const auto& count = it->second->count;
  if (!count.up || count.wraps || !number(value(count.first))) return false;
  const Expr* end = value(count.end);
  if (number(end) && number(stride)) return *number(end) <= *number(stride);
  return alike(end, stride);
}

std::optional<Exclusive::Form> Exclusive::form(const Terms& terms) const {
  const Var* counter = loop_->count.counter;
  const Expr* core = nullptr;
  Terms rest;
  for (const Term& t : terms) {
    if (!mentions(t.e, counter)) {
      rest.push_back(t);
      continue;
    }
    if (core || t.minus) return std::nullopt;
    core = t.e;
  }
  if (!core) return std::nullopt;
  Form out;
  const auto all_fixed = [&] {
    return std::all_of(rest.begin(), rest.end(), [&](const Term& t) { return is_fixed(t.e); });
  };
  if (core->kind == Expr::VarRef) {
    if (core->var != counter || !all_fixed()) return std::nullopt;
    out.shift = rest;
    return out;
  }
  if (core->kind != Expr::Binary || core->text != "*") return std::nullopt;
  const bool left = mentions(core->args[0], counter);
  const Expr* stride = value(core->args[left ? 1 : 0]);
  if (!is_fixed(stride)) return std::nullopt;
  const auto digit =
      std::find_if(rest.begin(), rest.end(), [&](const Term& t) { return is_digit(t, stride); });
  if (digit != rest.end())
    rest.erase(digit);
  else if (number(stride).value_or(0) < 1)
    return std::nullopt;
  if (!all_fixed()) return std::nullopt;
  Terms inner;
  add_terms(core->args[left ? 0 : 1], false, inner);
  std::optional<Form> deeper = form(inner);
  if (!deeper || (!deeper->shift.empty() && !rest.empty())) return std::nullopt;
  deeper->strides.push_back(stride);
  deeper->shift.insert(deeper->shift.end(), rest.begin(), rest.end());
  return deeper;
}

/// The first index of both that tells the iteration is of the same form.
bool Exclusive::is_same_form(const Place& a, const Place& b) const {
  for (std::size_t i = 0; i < a.steps.size() && i < b.steps.size(); ++i) {
    if (a.steps[i].member != b.steps[i].member) return false;
    if (!a.steps[i].member.empty()) continue;
    const std::optional<Form> x = form(a.steps[i].index), y = form(b.steps[i].index);
    if (!x || !y) continue;
    return same_terms(x->shift, y->shift) && x->strides.size() == y->strides.size() &&
           std::equal(x->strides.begin(), x->strides.end(), y->strides.begin(), ir::alike);
  }
  return false;
}

/// Whether two places of one object, in different iterations, are different.
bool Exclusive::tell_apart(const Place& a, const Place& b) const {
  for (std::size_t i = 0; i < a.steps.size() && i < b.steps.size(); ++i) {
    const std::string &x = a.steps[i].member, &y = b.steps[i].member;
    if (x != y) return !x.empty() && !y.empty();
    if (x.empty() && is_same_form(a, b)) return true;
  }
  return false;
}

/// The index as the interval of the values it takes; null if that is not known.
Expr* Exclusive::interval(const Expr* e) const {
  e = value(e);
  const Type* type = loop_->count.counter->type;
  auto it = e->kind == Expr::VarRef ? counters_.find(e->var) : counters_.end();
  if (it != counters_.end()) {
    const auto& count = it->second->count;
    if (count.wraps) return nullptr;
    Expr *low = interval(count.up ? count.first : count.end),
         *high = interval(count.up ? count.end : count.first);
    return low && high ? fn_.make(Expr::Call, type, "clad::between", {low, high}) : nullptr;
  }
  if (is_fixed(e)) return const_cast<Expr*>(e);
  if (e->kind != Expr::Binary || (e->text != "+" && e->text != "-" && e->text != "*")) return nullptr;
  Expr *left = interval(e->args[0]), *right = interval(e->args[1]);
  return left && right ? fn_.make(Expr::Binary, type, e->text, {left, right}) : nullptr;
}

/// What the loop may add to of this adjoint, as an expression; null if that is not known.
Expr* Exclusive::range(const Var* root) const {
  const Type* t = root->type;
  Expr* object = fn_.ref(const_cast<Var*>(root));
  if (t->kind != Type::Pointer) {
    const bool plain =
        !t->has_pointer && (!t->dynamic_shape || (t->kind == Type::Vector && !t->element->dynamic_shape));
    return plain ? fn_.make(Expr::Call, t, "clad::touched", {object}) : nullptr;
  }
  if (unknown_.count(root) != 0) return nullptr;
  Expr* all = nullptr;
  std::vector<const Terms*> seen;
  for (const Place& p : places_.at(root)) {
    const Terms& terms = p.steps.front().index;
    if (std::any_of(seen.begin(), seen.end(), [&](const Terms* s) { return same_terms(*s, terms); }))
      continue;
    seen.push_back(&terms);
    Expr* sum = nullptr;
    for (const Term& term : terms) {
      Expr* one = interval(term.e);
      if (!one) return nullptr;
      if (sum)
        sum = fn_.make(Expr::Binary, one->type, term.minus ? "-" : "+", {sum, one});
      else
        sum = term.minus ? fn_.make(Expr::Unary, one->type, "-", {one}) : one;
    }
    if (!sum) sum = fn_.make(Expr::Literal, loop_->count.counter->type, "0");
    all = all ? fn_.make(Expr::Call, sum->type, "clad::both", {all, sum}) : sum;
  }
  return fn_.make(Expr::Call, t, "clad::touched", {object, all});
}

/// Arrays of the caller may be the same, or overlap: one that an iteration has an element of may not overlap
/// with others, unless they are the same and the elements too.
void Exclusive::find_conditions() {
  std::vector<const Var*> roots;
  for (const auto& [root, places] : places_) roots.push_back(root);
  // By name: where variables lie in memory differs from run to run.
  std::sort(roots.begin(), roots.end(), [](const Var* a, const Var* b) { return a->name < b->name; });
  bool changed = true;
  while (changed) {
    changed = false;
    conditions_.clear();
    for (auto a = roots.begin(); a != roots.end(); ++a)
      for (auto b = std::next(a); b != roots.end(); ++b) {
        const Var *x = *a, *y = *b;
        const bool both = own_.count(x) && own_.count(y);
        if ((!own_.count(x) && !own_.count(y)) || !is_outside(x) || !is_outside(y)) continue;
        Expr *first = range(x), *second = range(y);
        if (!first || !second) {
          changed |= own_.erase(x) + own_.erase(y) != 0;
          continue;
        }
        bool same = both;
        for (const Place& p : places_.at(x))
          for (const Place& q : places_.at(y)) same = same && is_same_form(p, q);
        conditions_.push_back(fn_.make(Expr::Call, loop_->count.counter->type,
                                       same ? "clad::apart_or_same" : "clad::apart", {first, second}));
      }
  }
}

}  // namespace clad
