// Which statements of the forward sweep are run: those that something reads, keeps or sees from outside. And
// loops whose iterations need no tape: what the reverse sweep reads of an iteration is computed again just
// before it, from what no iteration changes.
#include <algorithm>

#include "effects.h"
#include "reverse.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Var;

namespace {

/// All statements inside `s`, and all expressions a statement evaluates.
template <class F>
void each_stmt(const ir::Body& body, F&& visit) {
  for (const Stmt* s : body) {
    visit(s);
    for (const ir::Body* inner : {&s->init, &s->body, &s->other}) each_stmt(*inner, visit);
  }
}
template <class F>
void each_expr(const Stmt* s, F&& visit) {
  for (const Expr* e : {s->expr, s->lhs})
    if (e) visit(e);
  if (s->kind == Stmt::AliasDecl) visit(s->var->path);
  if (s->parallel)
    for (const ir::Parallel::Clause& c : s->parallel->clauses)
      if (c.value) visit(c.value);
  if (s->call)
    for (const ir::CallInfo::Arg& a : s->call->args) visit(a.expr);
}

bool is_root(const Expr* e) { return e->kind == Expr::Call || e->kind == Expr::Method; }

/// About how many additions it takes.
int cost(const Expr* e) {
  int sum = 0;
  for (const Expr* a : e->args) sum += cost(a);
  if (e->kind == Expr::Binary || e->kind == Expr::Unary) sum += e->text == "/" ? 4 : 1;
  if (e->kind == Expr::Conditional) sum += 2;
  if (is_root(e) && !e->accessor) sum += 4;
  return sum;
}
int cost(const Stmt* s) {
  if (s->kind == Stmt::Loop) return 1000;
  if (s->kind != Stmt::CallStmt) return s->expr ? cost(s->expr) : 0;
  const std::string& name = s->call->name;
  for (const char* cheap : {"sqrt", "fabs", "abs", "max", "min", "fmax", "fmin"})
    if (name.size() > std::string(cheap).size() && name.ends_with(std::string(":") + cheap)) return 4;
  return 40;
}

}  // namespace

/// Whether the statements of the slice write what the region keeps.
bool ReverseTransform::keeps(const Slice& slice, const ir::Region* region) {
  if (!region) return false;
  const ir::Region* outermost = slice.outer ? slice.outer->region : nullptr;
  while (region && region != outermost && !region->replayed) region = region->parent;
  return region == outermost;
}

/// Whether running `s` does something that `slice` wants.
bool ReverseTransform::is_wanted(const Stmt* s, const Slice& slice) const {
  auto kept = [&](const Var* v) {
    if (!v || !v->needed) return false;
    if (v->region) return keeps(slice, v->region);
    return v->kind == Var::Param && v->reference && !slice.outer;  // in the caller's record
  };
  auto writes = [&](const Var* v) { return v && (kept(v) || slice.used.count(v) != 0); };
  if (auto it = saves_.find(s); it != saves_.end())
    for (const Save& save : it->second)
      if (*save.live && keeps(slice, save.saved->region)) return true;
  if (std::any_of(s->touched.begin(), s->touched.end(), writes)) return true;
  if (s->kind == Stmt::AliasDecl) return slice.used.count(s->var) != 0;
  if (s->kind == Stmt::Return) return slice.outer == nullptr && fn_.wants_value;
  if (s->kind == Stmt::If) return kept(s->cond_var);
  if (s->kind == Stmt::Loop) return loop_recorded(s) && keeps(slice, s->region->parent);
  if (s->kind == Stmt::Block) return false;
  if (writes(s->var) || (s->lhs && writes(ir::root(s->lhs)))) return true;
  if (s->kind == Stmt::CallStmt && keeps(slice, state_region(s))) return true;
  if (slice.outer) return false;
  if (s->call && s->call->recomputed) return true;  // says when it ran
  if (s->kind == Stmt::Eval) return true;
  ir::Effects effects;
  ir::add_writes(s, effects);
  return effects.unknown || effects.everything || effects.outside;
}

/// Where the state of a call is kept, or null.
const ir::Region* ReverseTransform::state_region(const Stmt* s) const {
  auto it = states_.find(s);
  return it == states_.end() ? nullptr : it->second;
}

/// Adds to `slice` what of `body` it wants; true if anything is.
bool ReverseTransform::add_to_slice(const ir::Body& body, Slice& slice) const {
  bool any = false;
  for (const Stmt* s : body) {
    bool inner = false;
    for (const ir::Body* b : {&s->init, &s->body, &s->other}) inner |= add_to_slice(*b, slice);
    if (s->kind == Stmt::Loop && (inner || is_wanted(s, slice)))  // its counting goes with it
      for (const ir::Body* b : {&s->init, &s->other})
        for (const Stmt* step : *b) inner |= run(step, slice);
    if (inner || is_wanted(s, slice)) run(s, slice);
    any |= slice.run.count(s) != 0;
  }
  return any;
}

bool ReverseTransform::run(const Stmt* s, Slice& slice) const {
  if (!slice.run.insert(s).second) return true;
  slice.grown = true;
  for (const Var* v : s->touched) slice.used.insert(v);
  each_expr(s, [&](const Expr* e) {
    ir::each_var(e, [&](const Var* v) { slice.used.insert(v); });
    if (const Var* r = ir::root(e)) slice.used.insert(r);
  });
  return true;
}

/// Of the forward sweep, or, with `loop`, of the part of its iterations that the reverse sweep runs again.
ReverseTransform::Slice ReverseTransform::find_slice(const Stmt* loop) const {
  Slice slice;
  slice.outer = loop;
  const ir::Body& body = loop ? loop->body : fn_.body;
  do {
    slice.grown = false;
    add_to_slice(body, slice);
    if (!loop) add_to_slice(fn_.last, slice);
  } while (slice.grown);
  return slice;
}

/// Computes the slices until no more is needed of what they read.
void ReverseTransform::decide_with_slices() {
  std::size_t before = 0, after = 0;
  slices_.clear();
  do {
    before = after;
    decide();
    after = 0;
    for (const Stmt* loop : replayed_) {
      slices_[loop] = find_slice(loop);
      after += slices_[loop].run.size() + slices_[loop].used.size();
    }
  } while (before != after);
  slices_[nullptr] = find_slice(nullptr);
}

/// Whether an iteration can be computed again from what it does not change, and changes nothing that would
/// have to be kept.
bool ReverseTransform::can_replay(const Stmt* loop) const {
  ir::Effects writes, reads;
  ir::add_writes(loop->body, writes);
  if (!loop->count.counter || writes.unknown || writes.everything) return false;
  std::set<const Var*> inner{loop->count.counter};
  each_stmt(loop->body, [&](const Stmt* s) {
    if (s->var) inner.insert(s->var);
  });
  bool possible = true;
  each_stmt(loop->body, [&](const Stmt* s) {
    if (s->var && (s->var->by_pointer || s->var->raw)) possible = false;
    if (s->kind == Stmt::Return || (s->call && (s->call->recomputed || s->call->checkpoint)))
      possible = false;
    if (auto it = saves_.find(s); it != saves_.end())
      for (const Save& save : it->second)
        if (*save.live && inner.count(ir::root(save.what)) == 0) possible = false;
    if (slices_.at(loop).run.count(s) != 0) each_expr(s, [&](const Expr* e) { ir::add_reads(e, reads); });
  });
  if (!possible || reads.unknown || reads.everything) return false;
  for (const Var* v : inner) {
    reads.vars.erase(v);
    writes.vars.erase(v);
  }
  return !ir::conflict(reads, writes);
}

/// Whether that is worth it: where nothing else reads what the loop computes, or it is computed quickly.
bool ReverseTransform::should_replay(const Stmt* loop) const {
  const Stmt* around = nullptr;
  for (const Stmt* other : replayed_)
    for (const ir::Region* r = loop->region->parent; r; r = r->parent)
      if (other->region == r && (!around || around->region->parent != r)) around = other;
  if (slices_.at(around).run.count(loop) == 0) return true;
  int sum = 0;
  for (const Stmt* s : slices_.at(loop).run) sum += cost(s);
  return sum <= 24;
}

/// What a loop that is run again reads is kept in addition: that it cannot be is known before all is decided
/// anew, which takes time in a function of many loops.
bool ReverseTransform::may_replay(const Stmt* loop) {
  if (loops_.count(loop) == 0 || !loop->count.counter || region_empty(loop->region)) return false;
  slices_[loop] = find_slice(loop);
  const bool possible = can_replay(loop);
  slices_.erase(loop);
  return possible;
}

/// Takes the loops that can do without a tape, outer ones first.
void ReverseTransform::find_replayed(const ir::Body& body) {
  for (const Stmt* s : body) {
    if (s->kind == Stmt::Loop && may_replay(s)) {
      replayed_.insert(s);
      s->region->replayed = true;
      decide_with_slices();
      const bool all =
          std::all_of(replayed_.begin(), replayed_.end(), [&](const Stmt* l) { return can_replay(l); });
      if (!all || !should_replay(s)) {
        replayed_.erase(s);
        s->region->replayed = false;
        decide_with_slices();
      }
    }
    for (const ir::Body* inner : {&s->init, &s->body, &s->other}) find_replayed(*inner);
  }
}

}  // namespace clad
