// Adjoints that a loop of the reverse sweep only adds to. The sum may be taken in a register and added once,
// and where all are of that kind, the iterations may run in any order: in that of the forward sweep, which
// memory and compilers prefer.
#include <algorithm>

#include "exclusive.h"

namespace clad {

using ir::Expr;
using ir::Type;
using ir::Var;

const Var* adjoint_root(const Expr* e) {
  for (;;) {
    const Var* v = ir::root(e);
    if (!v || v->kind != Var::Adjoint || v->primal->kind != Var::Alias) return v;
    e = v->primal->adjoint_path;
  }
}
bool is_outside(const Var* adjoint) {
  if (!adjoint || adjoint->kind != Var::Adjoint) return true;
  const Var* v = adjoint->primal;
  return v->kind == Var::Param || v->external || v->type->kind == Type::Pointer;
}
namespace {
bool may_be_same(const Var* a, const Var* b) { return a == b || (is_outside(a) && is_outside(b)); }

}  // namespace

const Expr* sum_target(const Reverse& r) {
  if (r.kind != Reverse::Line || r.parts.size() != 4 || r.restores || r.declares || r.starts) return nullptr;
  const auto* op = std::get_if<std::string>(&r.parts[1]);
  const auto* target = std::get_if<const Expr*>(&r.parts[0]);
  if (!op || !target || (*op != " += " && *op != " -= ") || (*target)->type->kind != Type::Real)
    return nullptr;
  const Var* root = adjoint_root(*target);
  return root && root->kind == Var::Adjoint ? *target : nullptr;
}

namespace {

/// Variables and literals in arithmetic: nothing that depends on memory.
bool is_arithmetic(const Expr* e) {
  switch (e->kind) {
    case Expr::Literal:
    case Expr::VarRef:
      return e->kind == Expr::Literal || e->var->type->kind == Type::Scalar;
    case Expr::Binary:
    case Expr::Unary:
    case Expr::Cast:
      return std::all_of(e->args.begin(), e->args.end(), is_arithmetic);
    default:
      return false;
  }
}
bool is_simple(const Expr* path) {
  switch (path->kind) {
    case Expr::VarRef:
      return path->var->kind != Var::Adjoint || path->var->primal->kind != Var::Alias ||
             is_simple(path->var->primal->adjoint_path);
    case Expr::Index:
    case Expr::Binary:
      return is_simple(path->args[0]) && is_arithmetic(path->args[1]);
    case Expr::Member:
    case Expr::Deref:
      return is_simple(path->args[0]);
    default:
      return false;
  }
}

const Expr* bare(const Expr* e) {
  while (e->kind == Expr::Cast && !e->explicit_cast) e = e->args[0];
  return e;
}

/// The counter of `loop` runs up from `v + 1`: it is never `v`.
bool runs_above(const ir::Stmt* loop, const Var* v) {
  const Expr* first = bare(loop->count.first);
  if (!loop->count.up || first->kind != Expr::Binary || first->text != "+") return false;
  const Expr *left = bare(first->args[0]), *right = bare(first->args[1]);
  return left->kind == Expr::VarRef && left->var == v && right->kind == Expr::Literal && right->text == "1";
}

/// Whether two indices differ in this iteration of `loop`: by its counter in place of a smaller variable.
bool differ(const Expr* a, const Expr* b, const ir::Stmt* loop) {
  a = bare(a), b = bare(b);
  if (a->kind == Expr::VarRef && b->kind == Expr::VarRef) {
    if (b->var == loop->count.counter) return runs_above(loop, a->var);
    return a->var == loop->count.counter && runs_above(loop, b->var);
  }
  if (a->kind != Expr::Binary || b->kind != Expr::Binary || a->text != "+" || b->text != "+") return false;
  return (alike(a->args[0], b->args[0]) && differ(a->args[1], b->args[1], loop)) ||
         (alike(a->args[1], b->args[1]) && differ(a->args[0], b->args[0], loop));
}
bool are_apart(const Expr* a, const Expr* b, const ir::Stmt* loop) {
  return a->kind == Expr::Index && b->kind == Expr::Index && alike(a->args[0], b->args[0]) &&
         differ(a->args[1], b->args[1], loop);
}

}  // namespace

bool inside(const ir::Region* r, const ir::Stmt* loop) {
  while (r && r != loop->region) r = r->parent;
  return r != nullptr;
}

namespace {

/// What a loop does to adjoints that live longer than its iterations.
struct Uses {
  std::vector<const Expr*> sums;    ///< only added to
  std::vector<const Expr*> others;  ///< read or overwritten
  std::set<const Var*> changing;    ///< variables that differ between iterations, or within one
};
Uses uses_of(const Reverse& loop) {
  Uses out;
  out.changing.insert(loop.loop->count.counter);
  auto other = [&](const Expr* e) {
    bool any = false;
    ir::each_var(
        e, [&](const Var* v) { any |= v->kind == Var::Adjoint && !inside(v->primal->region, loop.loop); });
    if (any) out.others.push_back(e);
  };
  each_line(loop.body, [&](const Reverse& r) {
    for (const Var* v : {r.starts, static_cast<const Var*>(r.declares), static_cast<const Var*>(r.restores),
                         static_cast<const Var*>(r.also_restores)})
      if (v) out.changing.insert(v);
    if (r.loop && r.loop->count.counter) out.changing.insert(r.loop->count.counter);
    const Expr* target = sum_target(r);
    if (target && !inside(adjoint_root(target)->primal->region, loop.loop)) out.sums.push_back(target);
    for (const Reverse::Part& p : r.parts)
      if (const auto* e = std::get_if<const Expr*>(&p); e && *e != target) other(*e);
  });
  return out;
}

/// Whether the adjoint can be summed up apart from its place.
bool can_sum(const Expr* target, const Uses& uses, const ir::Stmt* loop) {
  const Var* root = adjoint_root(target);
  const bool parallel = loop->parallel != nullptr;
  if (!is_simple(target) || (target->kind == Expr::VarRef && !is_outside(root) && !parallel)) return false;
  bool fixed = true;
  ir::each_var(target, [&](const Var* v) {
    fixed &= uses.changing.count(v) == 0 && !inside(v->region, loop);
    if (v->kind == Var::Adjoint) fixed &= !inside(v->primal->region, loop);
  });
  return fixed && std::all_of(uses.others.begin(), uses.others.end(), [&](const Expr* e) {
           if (are_apart(target, e, loop)) return true;
           bool apart = true;
           ir::each_var(e, [&](const Var* v) {
             // What other iterations write is not what all of them read.
             if (v->kind == Var::Adjoint && parallel)
               apart &= v != root;
             else if (v->kind == Var::Adjoint)
               apart &= !may_be_same(root, v->primal->kind == Var::Alias ? nullptr : v);
           });
           return apart;
         });
}

}  // namespace

/// Takes the sums of `list`'s loops in variables of their own, where every iteration adds to them.
void ReverseTransform::find_sums(List& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    find_sums(list[i].body);
    find_sums(list[i].other);
    const ir::Stmt* loop = list[i].loop;
    if (!loop || !loop->count.counter || (!analyses_.sums && !loop->parallel)) continue;
    const Uses uses = uses_of(list[i]);
    std::vector<std::pair<const Expr*, Expr*>> sums;
    auto sum_up = [&](Reverse& r) {
      const Expr* target = sum_target(r);
      if (!target || inside(adjoint_root(target)->primal->region, loop) || !can_sum(target, uses, loop))
        return;
      auto known =
          std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return alike(s.first, target); });
      if (known == sums.end()) {
        Var* sum = fn_.make_var(Var::Param, "d_sum", target->type, nullptr);
        known = sums.insert(sums.end(), {target, fn_.ref(sum)});
      }
      r.parts[0] = static_cast<const Expr*>(known->second);
    };
    std::function<void(List&)> each = [&](List& lines) {
      for (Reverse& r : lines) {
        sum_up(r);
        if (!loop->parallel) continue;
        each(r.body);
        each(r.other);
      }
    };
    each(list[i].body);
    if (sums.empty()) continue;
    if (loop->parallel)
      for (const auto& [target, sum] : sums) list[i].sums.push_back(sum->var);
    loc_ = loop->loc;
    Reverse add;  // only if there was an iteration: else the place may not exist
    add.kind = Reverse::If;
    add.loc = loc_;
    const ir::Stmt& s = *loop;
    Expr* low = s.count.up ? s.count.first : s.count.end;
    add.parts = {fn_.make(Expr::Binary, low->type, s.count.wraps ? "!=" : "<",
                          {low, s.count.up ? s.count.end : s.count.first})};
    for (const auto& [target, sum] : sums) {
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(i),
                  line({target->type->name + " " + sum->var->name + " = 0;"}));
      ++i;
      add.body.push_back(line({target, " += ", sum, ";"}));
    }
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(++i), std::move(add));
  }
}

/// Whether the iterations may be reversed in any order: all they do outside is to add to adjoints that none
/// of them reads.
bool ReverseTransform::is_unordered(const Reverse& loop) const {
  const ir::Stmt* s = loop.loop;
  if (s->parallel) return true;
  if (!analyses_.sums || !s->count.counter || s->count.step != "1" || (loop_recorded(s) && !is_flat(s)))
    return false;
  const Uses uses = uses_of(loop);
  bool free = true;
  auto reads = [&](const Expr* e) {
    ir::each_var(e, [&](const Var* v) {
      if (v->kind != Var::Adjoint || v->primal->kind == Var::Alias || inside(v->primal->region, s)) return;
      for (const Expr* target : uses.sums) free &= !may_be_same(adjoint_root(target), v);
    });
  };
  each_line(loop.body, [&](const Reverse& r) {
    if (r.live && r.restores && !inside(r.restores->region, s)) free = false;
    if (r.declares || r.starts || r.restores) return;
    const bool sums = sum_target(r) != nullptr;
    const auto* text = r.parts.empty() ? nullptr : std::get_if<std::string>(&r.parts[0]);
    const bool names = text && text->starts_with("const ") && text->ends_with(" = ");
    for (std::size_t i = sums ? 1 : 0; i < r.parts.size(); ++i) {
      const auto* e = std::get_if<const Expr*>(&r.parts[i]);
      if (!e) continue;
      bool outer = false;
      ir::each_var(*e,
                   [&](const Var* v) { outer |= v->kind == Var::Adjoint && !inside(v->primal->region, s); });
      if (outer && !sums && !names) free = false;
      reads(*e);
    }
  });
  return free;
}

}  // namespace clad
