// What the records keep: only what a live statement of the reverse sweep reads, to a fixpoint.
#include "reverse.h"

namespace clad {

void ReverseTransform::need(const ir::Expr* e) {
  ir::each_var(e, [&](ir::Var* v) {
    if (v->kind == ir::Var::Adjoint || v->needed) return;
    v->needed = changed_ = true;
    if (!v->region || !v->type->reaches_integers) return;
    for (const auto& x : fn_.exprs) {  // the local variables it may point to must live as long
      const bool pointer = x->type && x->type->kind == ir::Type::Pointer;
      if (pointer && (x->kind == ir::Expr::AddressOf || x->kind == ir::Expr::Cast))
        if (ir::Var* target = ir::root(x.get())) target->needed = true;
    }
  });
}

/// Marks the live statements; true if any of them does more than declare.
bool ReverseTransform::mark(List& list) {
  bool any = false;
  for (Reverse& r : list) {
    bool live = false;
    switch (r.kind) {
      case Reverse::Line:
        if (r.declares)
          live = r.declares->kind == ir::Var::Adjoint ? r.declares->adjoint_used : r.declares->needed;
        else if (r.restores)
          live = r.restores->needed || r.restores_outside;
        else
          live = true;
        break;
      case Reverse::If: {
        bool then = mark(r.body);
        live = mark(r.other) || then;
        break;
      }
      case Reverse::Loop:
        live = mark(r.body);
        break;
    }
    if (live && !r.live) {
      r.live = changed_ = true;
      if (r.restore_live) *r.restore_live = true;
      for (const Reverse::Part& p : r.parts)
        if (const auto* e = std::get_if<const ir::Expr*>(&p)) need(*e);
      if (r.cond && !r.cond->needed) r.cond->needed = true;
      if (r.loop) loops_[r.loop] = true;
    }
    any |= live && !r.declares;
  }
  return any;
}

bool ReverseTransform::region_empty(const ir::Region* region) const {
  for (const ir::Var* v : region->vars)
    if (v->needed) return false;
  for (const ir::Region::Member& m : region->members)
    if (!m.live || *m.live) return false;
  for (const auto& [loop, recorded] : loops_)
    if (recorded && loop->region->parent == region) return false;
  return true;
}

void ReverseTransform::decide() {
  bool any = false;
  do {
    changed_ = false;
    any = mark(reverse_);
  } while (changed_);
  fn_.has_reverse = any;
  fn_.has_state = !region_empty(fn_.region);
  fn_.needs_param.clear();
  for (const ir::Parameter& p : fn_.params) fn_.needs_param.push_back(p.var->needed);
}

}  // namespace clad
