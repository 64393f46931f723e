// Variables that always hold the same numbers. A derivative of second order in one direction has two tangents
// of everything that the function computes, one of each step, and they are equal: the second is read from the
// first, and is neither computed nor differentiated again.
//
// That two variables are equal is not taken from how they came about but checked in the function: they are
// assumed to be, and each pair is dropped for which an assignment to one is not followed by the same
// assignment to the other, until nothing changes.
#include <algorithm>

#include "effects.h"
#include "passes.h"
#include "walk.h"

namespace clad {
namespace {

using ir::Body;
using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

class Congruence {
 public:
  explicit Congruence(ir::Function& fn) : fn_(fn) { find_bound(); }

  void add(Var* a, Var* b) {
    if (a->type != b->type || bound_.count(a) || bound_.count(b)) return;
    for (const Var* v : {a, b}) {
      const bool number = v->kind == Var::Param && v->type->is_real();
      const bool local = v->kind == Var::Local || v->kind == Var::Temp;
      if ((!number && !local) || v->reference || v->optional || v->maybe || v->raw || v->unset ||
          ir::may_point(v) || !v->global.empty())
        return;
    }
    const auto first = [&](const Var* v) { return writes_[v].empty() ? 0 : writes_[v].front().order; };
    if (first(b) < first(a)) std::swap(a, b);
    kept_[b] = a;
  }

  void run() {
    while (std::erase_if(kept_, [this](const auto& pair) { return !always_equal(pair.second, pair.first); }));
    if (kept_.empty()) return;
    for (const auto& [dropped, kept] : kept_)
      for (const Write& w : writes_[dropped]) removed_.insert(w.stmt);
    remove(fn_.body);
    for (const auto& [dropped, kept] : kept_)
      if (dropped->region) std::erase(dropped->region->vars, dropped);
  }

  /// What stands for the variable now.
  Var* kept(Var* v) const {
    const auto found = kept_.find(v);
    return found == kept_.end() ? v : found->second;
  }

 private:
  struct Write {
    Body* body;
    std::size_t at;
    std::size_t order;  ///< in the function, from 1
    Stmt* stmt;
  };

  /// Notes who writes what, and what is written or named in other ways than by declaration and assignment.
  void find_bound() {
    find_writes(fn_.body);
    for (const auto& v : fn_.vars)
      for (const Expr* e : {v->path, v->names, v->origin}) bind(e);
    ir::each_stmt(fn_.body, [&](Stmt* s) {
      for (const Var* v : {s->kind == Stmt::Decl ? nullptr : s->var, s->cond_var, s->count.counter})
        if (v) bound_.insert(v);
      bound_.insert(s->touched.begin(), s->touched.end());
      if (s->kind == Stmt::Assign && s->text == "swap") bind(s->lhs), bind(s->expr);
      if (s->parallel)
        for (const auto& [sign, v] : s->parallel->reductions) bound_.insert(v);
      if (s->call)
        for (const ir::CallInfo::Arg& a : s->call->args)
          if (a.mutable_ || a.moved) bind(a.expr);
      const bool pointer =
          (s->var && ir::may_point(s->var)) || (s->lhs && s->lhs->type->kind == Type::Pointer);
      ir::each_expr(s, [&](const Expr* e) { pointer ? bind(e) : bind_addressed(e); });
    });
    if (fn_.return_slot) bound_.insert(fn_.return_slot);
  }
  void bind(const Expr* e) {
    ir::each_var(e, [&](const Var* v) { bound_.insert(v); });
  }
  void bind_addressed(const Expr* e) {
    if (e->kind == Expr::AddressOf || e->kind == Expr::Raw) bind(e);
    for (const Expr* a : e->args) bind_addressed(a);
  }
  void find_writes(Body& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      Stmt* s = body[i];
      const Var* v = s->kind == Stmt::Decl ? s->var : s->kind == Stmt::Assign ? ir::root(s->lhs) : nullptr;
      if (v) writes_[v].push_back({&body, i, ++count_, s});
      for (Body* inner : {&s->init, &s->body, &s->other}) find_writes(*inner);
    }
  }

  /// Whether the two are equal wherever `dropped` is read, if all other pairs are.
  bool always_equal(Var* kept, Var* dropped) {
    const std::vector<Write>&first = writes_[kept], &second = writes_[dropped];
    if (kept->kind == Var::Param || dropped->kind == Var::Param)
      return kept->kind == dropped->kind && first.empty() && second.empty();
    if (first.empty() || first.size() != second.size() || first.front().stmt->kind != Stmt::Decl)
      return false;
    for (std::size_t k = 0; k < first.size(); ++k)
      if (!same_write(first[k], second[k], dropped)) return false;
    return true;
  }

  /// Whether the two writes store the same, and `dropped` is not read between them.
  bool same_write(const Write& kept, const Write& dropped, Var* v) const {
    const Stmt &a = *kept.stmt, &b = *dropped.stmt;
    if (kept.body != dropped.body || a.kind != b.kind || a.text != b.text) return false;
    if (a.kind == Stmt::Decl && kept.at > dropped.at) return false;
    if (a.kind == Stmt::Assign && !congruent(a.lhs, b.lhs)) return false;
    if (!a.expr != !b.expr || (a.expr && !congruent(a.expr, b.expr))) return false;
    const auto [first, last] = std::minmax(kept.at, dropped.at);
    const Var* const written = first == kept.at ? kept_.at(v) : v;
    if (names((*kept.body)[last], written)) return false;
    ir::Effects reads;
    for (const Expr* e : {(*kept.body)[last]->lhs, (*kept.body)[last]->expr}) ir::add_reads(e, reads);
    for (const auto& [x, y] : kept_)
      if (reads.vars.count(x) || reads.vars.count(y)) reads.vars.insert({x, y});
    if (reads.unknown) return false;
    for (std::size_t i = first; i < last; ++i) {
      ir::Effects writes;
      ir::add_writes((*kept.body)[i], writes);
      if (i == first) writes.vars.erase(written);
      if (ir::conflict(reads, writes) || (i > first && names((*kept.body)[i], v))) return false;
    }
    return true;
  }
  static bool names(Stmt* s, const Var* v) {
    bool found = false;
    ir::each_stmt(Body{s},
                  [&](Stmt* part) { ir::each_expr(part, [&](const Expr* e) { found |= ir::reads(e, v); }); });
    return found;
  }
  /// Whether the expressions are alike but for variables that are equal.
  bool congruent(const Expr* a, const Expr* b) const {
    return a->kind == b->kind && a->text == b->text && a->type == b->type && a->braces == b->braces &&
           a->kind != Expr::Parts && kept(a->var) == kept(b->var) &&
           std::equal(a->args.begin(), a->args.end(), b->args.begin(), b->args.end(),
                      [this](const Expr* x, const Expr* y) { return congruent(x, y); });
  }

  void remove(Body& body) {
    std::erase_if(body, [this](Stmt* s) { return removed_.count(s) != 0; });
    for (Stmt* s : body) {
      ir::each_expr(s, [this](Expr* e) { replace(e); });
      for (Body* inner : {&s->init, &s->body, &s->other}) remove(*inner);
    }
  }
  void replace(Expr* e) const {
    e->var = kept(e->var);
    for (Expr* a : e->args) replace(a);
  }

  ir::Function& fn_;
  std::set<const Var*> bound_;
  std::map<const Var*, std::vector<Write>> writes_;
  std::size_t count_ = 0;
  std::map<Var*, Var*> kept_;  ///< of a pair of equal variables, by the one that is dropped
  std::set<const Stmt*> removed_;
};

}  // namespace

std::map<Var*, Var*> merge_equal(ir::Function& fn, const std::map<Var*, Var*>& first,
                                 std::map<Var*, Var*> second) {
  if (!fn.last.empty()) return second;
  Congruence equal(fn);
  for (const auto& [primal, tangent] : second)
    if (const auto before = first.find(primal); before != first.end()) equal.add(before->second, tangent);
  equal.run();
  for (auto& [primal, tangent] : second) tangent = equal.kept(tangent);
  return second;
}

}  // namespace clad
