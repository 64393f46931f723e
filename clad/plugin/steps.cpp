// `weights[next++]` without a copy of the index: what the frontend lowers to `t = next; ++next; ... t ...`
// becomes `++next; ... next - 1 ...` where nothing else changes the variable in between. The reverse sweep
// takes the step back and then knows the index, of which it else would need a record for each time it is
// read.
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

/// Of a type in which one can be added and taken away again.
bool is_integer(const Type* t) {
  if (t->kind != Type::Scalar) return false;
  for (const char* name : {"int", "long", "long long", "unsigned int", "unsigned long", "unsigned long long"})
    if (t->name == name) return true;
  return false;
}

class Steps {
 public:
  explicit Steps(ir::Function& fn) : fn_(fn) {
    ir::each_stmt(fn.body, [&](Stmt* s) {
      if (s->kind == Stmt::AliasDecl) bound_.insert(ir::root(s->var->path));
      ir::each_expr(s, [&](const Expr* e) { find_bound(e); });
      if (s->call)
        for (const ir::CallInfo::Arg& a : s->call->args)
          if (a.mutable_) bound_.insert(ir::root(a.expr));
    });
  }

  void run(Body& body) {
    for (std::size_t i = 0; i + 1 < body.size(); ++i)
      if (Var* v = stepped(body[i], body[i + 1]))
        if (replace(body, i, v, body[i + 1]->text == "++" ? "-" : "+"))
          body.erase(body.begin() + static_cast<std::ptrdiff_t>(i--));
    for (Stmt* s : body)
      for (Body* inner : {&s->init, &s->body, &s->other}) run(*inner);
  }

 private:
  /// Variables that references or pointers lead to.
  void find_bound(const Expr* e) {
    if (e->kind == Expr::AddressOf) bound_.insert(ir::root(e->args[0]));
    for (const Expr* a : e->args) find_bound(a);
  }

  /// The variable v of `t = v; ++v` or `t = v; --v`; null for other statements.
  Var* stepped(const Stmt* copy, const Stmt* step) const {
    if (copy->kind != Stmt::Decl || copy->var->kind != Var::Temp || !copy->expr ||
        copy->expr->kind != Expr::VarRef || !copy->touched.empty())
      return nullptr;
    Var* const v = copy->expr->var;
    const bool local =
        v->kind == Var::Local && !v->reference && v->global.empty() && !v->external && !bound_.count(v);
    if (!local || v->type != copy->var->type || !is_integer(v->type)) return nullptr;
    const bool steps = step->kind == Stmt::Assign && step->lhs->kind == Expr::VarRef && step->lhs->var == v &&
                       (step->text == "++" || step->text == "--");
    return steps ? v : nullptr;
  }

  /// Reads v, one step back, in place of the copy that body[at] makes of it. False where v may change before
  /// the last time the copy is read, or where no index is the copy.
  bool replace(Body& body, std::size_t at, Var* v, const char* back) {
    const Var* const copy = body[at]->var;
    std::size_t end = at + 2;
    bool index = false, place = false;
    for (std::size_t i = end; i < body.size(); ++i)
      if (names(body[i], copy, index, place)) end = i + 1;
    if (!index || place) return false;
    for (std::size_t i = at + 2; i < end; ++i) {
      ir::Effects writes;
      ir::add_writes(body[i], writes);
      if (writes.everything || writes.vars.count(v)) return false;
    }
    const auto change = [&](Stmt* s) { ir::each_expr(s, [&](Expr*& e) { put(e, copy, v, back); }); };
    for (std::size_t i = at + 2; i < end; ++i) {
      const Body one{body[i]};
      ir::each_stmt(one, change);
    }
    std::erase(body[at]->var->region->vars, body[at]->var);
    return true;
  }

  /// Whether a statement names the copy, and sets `index` if that is in an index, and `place` if it says
  /// where something is that later statements name.
  static bool names(Stmt* s, const Var* copy, bool& index, bool& place) {
    bool found = false;
    const Body one{s};
    ir::each_stmt(one, [&](Stmt* part) {
      bool here = false;
      ir::each_expr(part, [&](const Expr* e) {
        here |= ir::reads(e, copy);
        index |= indexes(e, copy);
      });
      found |= here;
      place |= here &&
               (part->kind == Stmt::AliasDecl || (part->var && (part->var->by_pointer || part->var->names)) ||
                (part->call && part->call->names));
    });
    return found;
  }
  static bool indexes(const Expr* e, const Var* copy) {
    if (e->kind == Expr::Index && ir::reads(e->args[1], copy)) return true;
    return std::any_of(e->args.begin(), e->args.end(), [&](const Expr* a) { return indexes(a, copy); });
  }

  void put(Expr*& e, const Var* copy, Var* v, const char* back) {
    if (e->kind == Expr::VarRef && e->var == copy) {
      e = fn_.make(Expr::Binary, v->type, back, {fn_.ref(v), fn_.make(Expr::Literal, v->type, "1")});
      return;
    }
    for (Expr*& a : e->args) put(a, copy, v, back);
  }

  ir::Function& fn_;
  std::set<const Var*> bound_;
};

}  // namespace

void read_after_steps(ir::Function& fn) { Steps(fn).run(fn.body); }

}  // namespace clad
