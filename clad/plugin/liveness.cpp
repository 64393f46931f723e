// What the records keep: only what a live statement of the reverse sweep reads, to a fixpoint. What the
// forward sweep overwrites is put back only where a later statement of the reverse sweep reads it, before an
// earlier value is put back and before the place where the variable was declared.
#include <algorithm>

#include "effects.h"
#include "reverse.h"

namespace clad {

void ReverseTransform::need(const ir::Expr* e) {
  ir::each_var(e, [&](ir::Var* v) { need(v); });
}

/// `v` is read: it must be there, with what it may point to.
void ReverseTransform::need(ir::Var* v) {
  if (!v || v->kind == ir::Var::Adjoint || v->needed) return;
  v->needed = changed_ = true;
  if (v->origin && v->type->kind == ir::Type::Pointer) need(v->origin);  // what owns the object
  if (!v->region || !v->type->reaches_state) return;
  for (const auto& x : fn_.exprs) {
    if (!x->type) continue;
    const bool pointer = x->type->kind == ir::Type::Pointer;
    if (pointer && (x->kind == ir::Expr::AddressOf || x->kind == ir::Expr::Cast)) need(ir::root(x.get()));
    if (!x->type->is_class() || !x->type->reaches_state || ir::is_path(x.get())) continue;
    for (const ir::Expr* a : x->args)  // what makes such an object may be given them by reference
      if (ir::is_path(a)) need(ir::root(a));
  }
}

void ReverseTransform::read(const ir::Expr* e, Live& live) {
  need(e);
  ir::each_var(e, [&](const ir::Var* v) {
    if (v->kind != ir::Var::Adjoint) live.insert(v);
  });
}

/// What the reverse sweep reads to compute an iteration again.
void ReverseTransform::read_again(const ir::Stmt* loop, Live& live) {
  auto slice = slices_.find(loop);
  if (slice == slices_.end()) return;
  auto inside = [&](const ir::Region* r) {
    while (r && r != loop->region) r = r->parent;
    return r != nullptr;
  };
  for (const ir::Var* v : slice->second.used) {
    if (v->region && inside(v->region)) continue;
    live.insert(v);
    need(const_cast<ir::Var*>(v));
  }
}

void ReverseTransform::forget(List& list) {
  for (Reverse& r : list) {
    r.live = false;
    if (r.restore_live) *r.restore_live = false;
    forget(r.body);
    forget(r.other);
  }
}

/// `live`: what is read after the line; becomes what is read from the line on.
bool ReverseTransform::line_is_live(Reverse& r, Live& live) {
  if (r.declares) {
    const bool used = r.declares->kind == ir::Var::Adjoint ? r.declares->adjoint_used : r.declares->needed;
    if (used && r.declares->kind != ir::Var::Adjoint) live.erase(r.declares);
    return used;
  }
  if (!r.restores) return true;
  auto is_read = [&](const ir::Var* v) { return v && (pointers_ ? v->needed : live.contains(v)); };
  const bool wanted = is_read(r.restores) || is_read(r.also_restores);
  if (!wanted && !r.restores_outside && !r.live) return false;
  if (r.whole) live.erase(r.restores);
  return true;
}

bool ReverseTransform::find_live(Reverse& r, Live& live) {
  if (r.starts) {
    live.erase(r.starts);
    return false;
  }
  if (r.loses) {
    if (live.contains(r.loses)) lost_read_[r.loses] = r.loc;
    return false;
  }
  switch (r.kind) {
    case Reverse::Line: {
      if (!line_is_live(r, live)) return false;
      for (const Reverse::Part& p : r.parts)
        if (const auto* e = std::get_if<const ir::Expr*>(&p)) {
          const bool target = r.whole && (*e)->kind == ir::Expr::VarRef && (*e)->var == r.restores;
          target ? need(*e) : read(*e, live);
          if (!r.restores) read_lost(*e, live);
        }
      return true;
    }
    case Reverse::If: {
      Live other = live;
      find_live(r.body, live);
      find_live(r.other, other);
      live.insert(other);
      if (!does_more_than_declare(r.body) && !does_more_than_declare(r.other)) return false;
      need(r.cond);
      for (const Reverse::Part& p : r.parts)
        if (const auto* e = std::get_if<const ir::Expr*>(&p)) {
          read(*e, live);
          read_lost(*e, live);
        }
      return true;
    }
    case Reverse::Loop: {
      const Live after = live;
      for (bool grown = true; grown;) {
        Live start = live;
        find_live(r.body, start);
        read_again(r.loop, start);
        grown = live.insert(start);
      }
      if (!does_more_than_declare(r.body)) {
        live = after;
        return false;
      }
      loops_.insert(r.loop);
      if (r.loop->count.counter) {
        read(r.loop->count.first, live);
        read(r.loop->count.end, live);
        read_lost(r.loop->count.end, live);
      }
      if (r.loop->parallel)
        for (const ir::Parallel::Clause& c : r.loop->parallel->clauses) read(c.value, live);
      for (const ir::Expr* e : r.apart) read(e, live);
      return true;
    }
  }
  return false;
}

/// Marks the live statements, last to first.
void ReverseTransform::find_live(List& list, Live& live) {
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    if (!find_live(*it, live) || it->live) continue;
    it->live = changed_ = true;
    if (it->restore_live) *it->restore_live = true;
  }
}

bool ReverseTransform::does_more_than_declare(const List& list) {
  return std::any_of(list.begin(), list.end(), [](const Reverse& r) { return r.live && !r.declares; });
}

bool ReverseTransform::region_empty(const ir::Region* region) const {
  for (const ir::Var* v : region->vars)
    if (v->needed) return false;
  for (const ir::Region::Member& m : region->members)
    if (!m.live || *m.live) return false;
  return std::none_of(loops_.begin(), loops_.end(), [&](const ir::Stmt* loop) {
    return loop->region->parent == region && loop_recorded(loop);
  });
}

void ReverseTransform::decide() {
  pointers_ = !analyses_.liveness || std::any_of(fn_.vars.begin(), fn_.vars.end(), [](const auto& v) {
    return v->kind != ir::Var::Param && ir::may_point(v.get());
  });
  forget(reverse_);
  loops_.clear();
  for (const auto& v : fn_.vars) v->needed = false;
  do {
    changed_ = false;
    lost_read_.clear();
    Live live(numbers_);
    find_live(reverse_, live);
  } while (changed_);
  fn_.has_reverse = does_more_than_declare(reverse_);
  fn_.has_state = !region_empty(fn_.region);
  fn_.needs_param.clear();
  for (const ir::Parameter& p : fn_.params) fn_.needs_param.push_back(p.var->needed);
}

}  // namespace clad
