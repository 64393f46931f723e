// Loops that several threads share, in reverse. Their iterations are independent: what one of them writes no
// other one reads or writes, since the program would have a race. So is what the reverse sweep puts back, and
// the adjoint of what an iteration wrote. Adjoints of what iterations only read are added to by several of
// them: a sum of numbers is left to a reduction (sums.cpp), elements that belong to one iteration are added
// to as ever, and all others atomically. Of a small object that functions called in the loop add to, each
// thread has an adjoint of its own, which a reduction adds up.
#include <algorithm>
#include <functional>
#include <set>

#include "effects.h"
#include "exclusive.h"
#include "reverse.h"
#include "walk.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

namespace {

/// The clauses that say how, and what the threads add up.
std::string clauses(const ir::Parallel& parallel, const std::string& sums) {
  std::string out;
  for (const ir::Parallel::Clause& c : parallel.clauses) {
    const bool open = c.name.find('(') != std::string::npos;
    const std::string value = c.value ? print(c.value) : "";
    out += " " + c.name + (value.empty() ? "" : (open ? ", " : "(") + value) + (open || c.value ? ")" : "");
  }
  return out + sums;
}

bool is_declared_in(const Stmt* loop, const Var* v) { return inside(v->region, loop); }

/// How many numbers an adjoint has that a thread can hold on its stack; more than `most` for any other.
constexpr std::uint64_t most = 1 << 13;
std::uint64_t count_numbers(const Type* t) {
  switch (t->kind) {
    case Type::Scalar:
    case Type::Real:
      return 1;
    case Type::Array:
    case Type::StdArray:
      return t->extent > most ? most + 1 : t->extent * std::min(count_numbers(t->element), most + 1);
    case Type::Record: {
      std::uint64_t sum = 0;
      for (const ir::Field& f : t->fields) sum += std::min(count_numbers(f.type), most + 1);
      return t->own_zero || t->overlaps || !t->default_constructible || !t->zero_by_value_init ? most + 1
                                                                                               : sum;
    }
    default:
      return most + 1;
  }
}

const Var* object_of(const Expr* path) {
  const Var* root = ir::root(path);
  while (root && root->kind == Var::Alias) root = ir::root(root->path);
  return root;
}

/// Calls visit(e) for every expression of a statement.
template <class F>
void each_part(Stmt* s, const F& visit) {
  const std::function<void(const Expr*)> walk = [&](const Expr* e) {
    visit(e);
    for (const Expr* a : e->args) walk(a);
  };
  ir::each_expr(s, walk);
}

/// The objects that a parallel loop hands to functions which add to their adjoints, and that it only reads.
/// None to whose adjoint something else may lead: a reference or pointer from before the loop, or what else
/// of the caller's the loop adds to.
void find_own(const ir::Function& fn, Stmt* loop) {
  ir::Effects writes;
  ir::add_writes(loop->body, writes);
  if (writes.everything) return;
  std::set<const Var*> named, outside;
  std::set<const Stmt*> inner;
  ir::each_stmt(loop->body, [&](Stmt* s) {
    inner.insert(s);
    each_part(s, [&](const Expr* e) {
      if (e->kind != Expr::VarRef || !e->var->active) return;
      if (e->var->kind == Var::Alias && !is_declared_in(loop, e->var)) named.insert(object_of(e));
      const Var* const v = object_of(e);
      if (v && (v->external || (v->kind == Var::Param && (v->reference || v->type->kind == Type::Pointer))))
        outside.insert(v);
    });
  });
  ir::each_stmt(fn.body, [&](Stmt* s) {
    if (inner.count(s)) return;
    each_part(s, [&](const Expr* e) {
      if (e->kind == Expr::AddressOf) named.insert(object_of(e->args[0]));
    });
  });
  std::vector<const Var*>& own = loop->parallel->own;
  ir::each_stmt(loop->body, [&](const Stmt* s) {
    if (s->kind != Stmt::CallStmt) return;
    for (const ir::CallInfo::Arg& a : s->call->args) {
      const Var* const v = a.active ? object_of(a.expr) : nullptr;
      if (!v || v->kind == Var::Temp || v->optional || !v->global.empty() || is_declared_in(loop, v) ||
          writes.vars.count(v) || named.count(v) || std::find(own.begin(), own.end(), v) != own.end())
        continue;
      const bool of_caller = v->kind == Var::Param || v->external;
      if (of_caller && (writes.outside || fn.concurrent || outside.size() > 1)) continue;
      const bool object = v->type->kind == Type::Record || v->type->kind == Type::StdArray;
      if (object && count_numbers(v->type) <= most) own.push_back(v);
    }
  });
}

bool has_own(const Stmt* loop, const Var* object) {
  const std::vector<const Var*>& own = loop->parallel->own;
  return std::find(own.begin(), own.end(), object) != own.end();
}

}  // namespace

/// Whether other threads may add to the adjoint of this path at the same time.
bool ReverseTransform::is_shared(const Expr* path) const {
  const Var* root = object_of(path);
  if (!root) return false;
  if (parallel_) return !is_declared_in(parallel_, root) && !has_own(parallel_, root);
  return fn_.concurrent && (root->kind == Var::Param || root->external);
}

/// Makes what threads do at the same time safe.
void ReverseTransform::share(List& list) {
  for (Reverse& r : list) {
    if (r.loop && r.loop->parallel) {
      share_loop(r);
      continue;
    }
    if (const Expr* target = fn_.concurrent ? sum_target(r) : nullptr)
      r.atomic = is_outside(adjoint_root(target));
    for (const Expr* e : r.adds)
      if (fn_.concurrent && is_outside(adjoint_root(e)))
        diagnose_.error(
            r.loc,
            "cannot differentiate this in a function that a parallel loop calls: other iterations "
            "may add to the same derivative at the same time");
    share(r.body);
    share(r.other);
  }
}

void ReverseTransform::share_loop(Reverse& loop) {
  const Exclusive own(fn_, loop);
  loop.apart = own.conditions();
  std::function<void(List&)> visit = [&](List& list) {
    for (Reverse& r : list) {
      if (const Expr* target = sum_target(r))
        if (const Var* root = adjoint_root(target);
            !inside(root->primal->region, loop.loop) && !has_own(loop.loop, root->primal))
          r.atomic = !own.holds(target) || (fn_.concurrent && is_outside(root));
      for (const Expr* e : r.adds) {
        const Var* root = adjoint_root(e);
        const bool inner = root && root->kind == Var::Adjoint &&
                           (inside(root->primal->region, loop.loop) || has_own(loop.loop, root->primal));
        if (inner || (root && root->kind != Var::Adjoint)) continue;
        if (!own.holds(e) || fn_.concurrent) loop.in_turn = true;
      }
      visit(r.body);
      visit(r.other);
    }
  };
  visit(loop.body);
  const bool objects = loop.in_turn;
  loop.in_turn |= fn_.error != nullptr;
  if (!loop.in_turn) return;
  if (objects)
    diagnose_.warning(
        clang::SourceLocation::getFromRawEncoding(loop.loop->loc),
        "the derivative of this parallel loop runs in turn: its iterations add to the same objects");
  std::function<void(List&)> plain = [&](List& list) {
    for (Reverse& r : list) {
      if (!fn_.concurrent) r.atomic = false;
      plain(r.body);
      plain(r.other);
    }
  };
  plain(loop.body);
}

/// The line before a parallel loop of the reverse sweep.
void ReverseTransform::pragma(const Reverse& r, Text& out) const {
  if (r.in_turn) return;
  std::string sums;
  for (const Var* v : r.sums) sums += (sums.empty() ? "" : ", ") + v->name;
  if (!sums.empty()) sums = " reduction(+ : " + sums + ")";
  for (const Var* v : r.loop->parallel->own) {
    if (!v->shadow) continue;
    const std::string name = v->shadow->name + "_sum_" + r.loop->region->record, type = v->type->name;
    out.line("#pragma omp declare reduction(" + name + " : " + type +
                 " : clad::accumulate(omp_out, omp_in)) initializer(omp_priv = " + type + "{})",
             r.loc);
    sums += " reduction(" + name + " : " + v->shadow->name + ")";
  }
  std::vector<std::string> conditions;
  std::string given;
  ir::Parallel copy;
  for (const ir::Parallel::Clause& c : r.loop->parallel->clauses)
    c.name == "if" ? conditions.push_back(print(c.value)) : copy.clauses.push_back(c);
  for (const Expr* e : r.apart) conditions.push_back(print(e));
  for (const std::string& c : conditions)
    given += (given.empty() ? "" : " && ") + (conditions.size() > 1 ? "(" + c + ")" : c);
  if (!given.empty()) given = " if(" + given + ")";
  out.line("#pragma omp parallel for" + clauses(copy, sums + given), r.loc);
}

/// The line before a parallel loop of the forward sweep: of what it reduces, what it runs.
void ReverseTransform::forward_pragma(const Stmt* loop, Text& out) const {
  std::map<std::string, std::string> by_operator;
  for (const auto& [op, v] : loop->parallel->reductions) {
    const bool runs =
        !slice_ || std::any_of(slice_->run.begin(), slice_->run.end(),
                               [&, v = v](const Stmt* s) { return s->kind == Stmt::Decl && s->var == v; });
    if (!runs) continue;
    std::string& list = by_operator[op];
    list += (list.empty() ? "" : ", ") + v->name;
  }
  std::string sums;
  for (const auto& [op, list] : by_operator) sums += " reduction(" + op + " : " + list + ")";
  out.line("#pragma omp parallel for" + clauses(*loop->parallel, sums), loop->loc);
}

namespace {

/// Calls that are handed adjoints which other threads may add to: not of numbers, which are added to by the
/// caller, and not of what only this iteration knows.
void find_concurrent(ir::Function& fn, const ir::Body& body, const Stmt* loop, Diagnose& diagnose) {
  for (Stmt* s : body) {
    const Stmt* around = loop;
    if (!loop && s->kind == Stmt::Loop && s->parallel) {
      find_own(fn, s);
      around = s;
    }
    for (const ir::Body* inner : {&s->init, &s->body, &s->other})
      find_concurrent(fn, *inner, around, diagnose);
    if (s->checkpoint && (around || fn.concurrent))
      diagnose.error(
          s->loc,
          "cannot checkpoint a loop that runs in a parallel loop: other iterations may add to the same "
          "derivatives at the same time");
    if (s->kind != Stmt::CallStmt || (!loop && !fn.concurrent)) continue;
    for (const ir::CallInfo::Arg& a : s->call->args) {
      if (!a.active || (a.expr->type->kind == Type::Real && !a.mutable_)) continue;
      const Var* root = object_of(a.expr);
      if (!root) continue;
      s->call->concurrent |= (loop && !is_declared_in(loop, root) && !has_own(loop, root)) ||
                             (fn.concurrent && (root->kind == Var::Param || root->external));
    }
  }
}

}  // namespace

void find_concurrent(ir::Function& fn, Diagnose& diagnose) {
  find_concurrent(fn, fn.body, nullptr, diagnose);
}

}  // namespace clad
