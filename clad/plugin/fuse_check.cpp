// Whether a match of a fusion rule may be replaced: nothing else needs what goes, and nothing that it needs
// changes on the way.
#include <algorithm>

#include "effects.h"
#include "fuser.h"
#include "walk.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Var;

std::size_t count(const Expr* e, const Var* v) {
  if (!e) return 0;
  std::size_t n = e->var == v;
  for (const Expr* a : e->args) n += count(a, v);
  return n;
}

/// The place in the body of the statement, or of the call that it is seen through.
std::size_t Fuser::index(Place p) const {
  for (; p.first->parent; p = {p.first->parent, p.first->call}) {
  }
  return static_cast<std::size_t>(std::find(body_->begin(), body_->end(), p.second) - body_->begin());
}

/// How often a variable is used by what is not removed.
std::size_t Fuser::outside_uses(const Match& m, const Frame* frame, const Var* v) const {
  std::size_t uses = 0;
  const auto look = [&](Stmt* s) {
    if (removed_.count({frame, s}) != 0) return;
    if (const auto inner = m.seen_through.find({frame, s}); inner != m.seen_through.end()) {
      for (std::size_t i = 0; i < s->call->args.size(); ++i) {
        const Expr* a = s->call->args[i].expr;
        uses += a->var == v ? outside_uses(m, inner->second, inner->second->fn->params[i].var) : count(a, v);
      }
      return;
    }
    if (frame->parent && s->kind == Stmt::Return && s->expr->var == v) {
      if (frame->call->var != at_->var || part_) uses += outside_uses(m, frame->parent, frame->call->var);
      return;
    }
    const Expr* primal = s->call ? s->call->primal : nullptr;
    ir::each_expr(s, [&](Expr* e) { uses += e == primal ? 0 : count(e, v); });
    if (s == at_ && part_) uses -= count(part_, v);
  };
  ir::each_stmt(frame->fn->body, look);
  return uses;
}

/// Finds what goes: the calls that are matched, and the declarations that only they use.
void Fuser::find_removed(Match& m) {
  removed_ = m.matched;
  removed_.insert(m.named.begin(), m.named.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Place& p : m.named)
      if (removed_.count(p) != 0 && outside_uses(m, p.first, p.second->var) != 0) {
        removed_.erase(p);
        changed = true;
      }
  }
}

bool Fuser::acceptable(Match& m) {
  find_removed(m);
  std::set<std::size_t> involved;
  for (const auto* places : {&m.matched, &removed_})
    for (const Place& p : *places) involved.insert(index(p));
  if (part_) involved.insert(index({&root_, at_}));
  if (!m.seen_through.empty() && involved.size() < 2) return false;  // all of it lies in one function
  for (std::size_t i = 0; i < m.bound.size(); ++i)
    if (m.rule.constant[i] && m.may_carry(*m.bound[i]))
      return miss(at_->loc, "'" + m.rule.body->params[i].var->name + "' must be a constant for derivatives");
  std::set<Place> outputs;
  for (const Expr* o : m.rule.outputs)
    if (const Stmt* s = m.rule.call(o)) outputs.insert(m.calls.at(s));
  for (const Place& p : m.matched) {
    if (outputs.count(p) != 0 || outside_uses(m, p.first, p.second->var) == 0) continue;
    return miss(p.second->loc, "what this computes is used elsewhere too");
  }
  // What the replacement is given must not be what goes.
  for (std::size_t i = 0; i < m.bound.size(); ++i)
    for (const Place& p : removed_)
      if (count(m.in_root(*m.bound[i]), p.second->var) != 0) return false;
  return place(m);
}

/// Finds a place where the arguments have their values and nothing has used the outputs yet.
bool Fuser::place(Match& m) {
  std::size_t first = body_->size(), last = 0;
  for (const Place& p : m.matched) {
    first = std::min(first, index(p));
    last = std::max(last, index(p));
  }
  for (const Place& p : m.named) first = std::min(first, index(p));
  if (part_) last = std::max(last, index({&root_, at_}));
  for (const Stmt* s : m.compared_by) first = std::min(first, index({&root_, s}));
  first = std::min(first, last);
  ir::Effects reads;
  for (const auto& b : m.bound) ir::add_reads(m.in_root(*b), reads);
  for (const Expr* e : m.compared) ir::add_reads(e, reads);
  const auto goes = [&](const Stmt* s) { return removed_.count({&root_, s}) != 0; };
  const auto inside = [&](const Stmt* s) { return m.seen_through.count({&root_, s}) != 0; };
  for (std::size_t i = first; i <= last; ++i) {
    const Stmt* s = (*body_)[i];
    if (goes(s) || inside(s) || (s == at_ && part_)) continue;
    ir::Effects writes;
    ir::add_writes(s, writes);
    if (s->kind == Stmt::Decl || s->kind == Stmt::CallStmt) writes.vars.erase(s->var);
    if (ir::conflict(reads, writes)) return miss(at_->loc, "a value it needs may change in between");
  }
  position_ = last;
  if (!m.rule.several) return true;
  const auto used_before = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      Stmt* s = (*body_)[i];
      if (goes(s) || inside(s)) continue;
      std::size_t uses = 0;
      ir::each_stmt({s}, [&](Stmt* inner) {
        ir::each_expr(inner, [&](const Expr* e) {
          for (const Place& p : m.matched) uses += count(e, p.second->var);
        });
      });
      if (uses != 0) return true;
    }
    return false;
  };
  if (!used_before(first, last)) return true;
  // Else before the first of them, if all arguments are there already.
  position_ = first;
  std::set<const Var*> named;
  for (const auto& b : m.bound) ir::each_var(m.in_root(*b), [&](const Var* v) { named.insert(v); });
  for (std::size_t i = first; i <= last; ++i)
    if (named.count((*body_)[i]->var) != 0) return false;
  return true;
}

}  // namespace clad
