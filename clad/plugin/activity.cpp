// Which variables carry derivatives: a flow-insensitive fixpoint over assignments and calls.
#include <algorithm>
#include <map>
#include <set>

#include "diagnose.h"
#include "effects.h"
#include "passes.h"

namespace clad {
namespace {

using ir::Body;
using ir::Stmt;

class Activity {
 public:
  Activity(ir::Function& fn, Diagnose& diagnose) : fn_(fn), diagnose_(diagnose) {}

  void run() {
    for (const ir::Parameter& p : fn_.params) p.var->active = p.active;
    do {
      changed_ = false;
      visit(fn_.body);
    } while (changed_);
    mark(fn_.body);
    std::set<std::string>
        reported;  // one error a statement, whose temporaries are alike; one for all iterators
    for (const auto& v : fn_.vars) {
      const ir::Loc at = v->loc ? v->loc : fn_.loc;
      const bool list = v->type->kind == ir::Type::InitializerList;
      if (v->active && list && (v->kind == ir::Var::Param || v->kind == ir::Var::Local))
        diagnose_.error(at, "cannot differentiate through '" + v->name + "' of type '" + v->type->name +
                                "', whose elements are constant; use a std::array or a std::vector");
      if (!v->active || !holds_unsupported(v->type)) continue;
      const bool iterator = v->type->name.find("iterator") != std::string::npos;
      const std::string& statement = statements_[v.get()];
      if (!reported.insert(iterator ? "iterator" : statement.empty() ? v->name : statement).second) continue;
      const std::string what = v->kind == ir::Var::Temp ? "a value" : "'" + v->name + "'";
      diagnose_.error(
          at, iterator ? "cannot differentiate through an iterator of a container; use an index or a "
                         "range-for (push_back, emplace_back, pop_back and resize change a vector's "
                         "length)"
                       : "cannot differentiate through " + what + " of type '" + v->type->name +
                             "': derivatives of that type are not supported; use numbers, arrays, "
                             "std::vector, std::array, std::tuple, std::optional, or a class of these");
    }
  }
  /// A library class or union that would carry a derivative.
  static bool holds_unsupported(const ir::Type* t) {
    if (t->kind == ir::Type::Other) return t->differentiable;
    if (t->kind == ir::Type::Pointer) return false;
    if (t->element) return holds_unsupported(t->element);
    return std::any_of(t->fields.begin(), t->fields.end(), [](const ir::Field& f) {
      return f.type->kind == ir::Type::Other && f.type->differentiable && !f.type->fields.empty();
    });
  }

 private:
  void activate(ir::Var* v) {
    if (v && !v->active && v->type->differentiable && v->global.empty()) v->active = changed_ = true;
  }
  /// What a path leads into: of a class without derivatives of its own, where it is cast down to one with
  /// some.
  void activate_path(const ir::Expr* path) {
    ir::Var* v = ir::root(path);
    if (v && v->type->differentiable) return activate(v);
    if (v && !v->active && v->global.empty() && is_cast_down(path)) v->active = changed_ = true;
  }
  static bool is_cast_down(const ir::Expr* e) {
    for (;;) {
      if (e->kind == ir::Expr::VarRef && e->var->kind == ir::Var::Alias) {
        e = e->var->path;
        continue;
      }
      if (e->args.empty()) return false;
      const ir::Expr* inner = e->args[0];
      if (e->kind == ir::Expr::Cast && e->to_reference && e->type->differentiable &&
          !inner->type->differentiable)
        return true;
      e = inner;
    }
  }
  void visit(const Body& body) {
    for (Stmt* s : body) {
      visit(s->init);
      visit(s->body);
      visit(s->other);
      if (s->var) {
        s->var->loc = s->loc;
        statements_[s->var] = s->source;
      }
      if (s->kind == Stmt::Decl && ir::active(s->expr)) activate(s->var);
      if (s->kind == Stmt::Assign && ir::active(s->expr)) activate_path(s->lhs);
      if (s->kind == Stmt::Assign && s->text == "swap" && ir::active(s->lhs)) activate(ir::root(s->expr));
      if (s->kind == Stmt::CallStmt && is_active(*s->call)) {
        activate(s->var);
        for (const ir::CallInfo::Arg& a : s->call->args)
          if (a.mutable_ && a.expr->type->differentiable) activate_path(a.expr);
      }
    }
  }
  /// Whether an object without derivatives that holds numbers may be given one that has a derivative.
  static bool puts_away(const Stmt* s) {
    if (s->kind == Stmt::CallStmt)
      return !s->call->visible && is_active(*s->call) &&
             std::any_of(s->call->args.begin(), s->call->args.end(),
                         [](const auto& a) { return a.mutable_ && holds(a.expr); });
    if (s->kind == Stmt::Assign && s->text == "swap") return false;
    if (s->kind == Stmt::Assign && ir::active(s->expr) && holds(s->lhs)) return true;
    if (s->kind == Stmt::Eval && s->text == "check") return false;
    return puts_away(s->expr, s->kind == Stmt::Eval || !s->touched.empty());
  }
  static bool puts_away(const ir::Expr* e, bool changes) {
    if (!e) return false;
    const bool given =
        std::any_of(e->args.begin(), e->args.end(), [](const ir::Expr* a) { return ir::active(a); });
    const bool made = e->type && ir::keeps_numbers(e->type) && !ir::is_path(e);
    const bool changed = changes && std::any_of(e->args.begin(), e->args.end(), holds);
    return (given && (made || changed)) ||
           std::any_of(e->args.begin(), e->args.end(),
                       [&](const ir::Expr* a) { return puts_away(a, changes); });
  }
  /// Whether an expression is, or names a part of, such an object.
  static bool holds(const ir::Expr* e) { return ir::keeps_numbers(e); }
  /// Whether a path leads through no pointer at all.
  static bool is_null(const ir::Expr* e) {
    while (!e->args.empty() || (e->kind == ir::Expr::VarRef && e->var->kind == ir::Var::Alias))
      e = e->args.empty() ? e->var->path : e->args[0];
    return e->kind == ir::Expr::Literal && e->text == "nullptr";
  }
  static bool is_active(const ir::CallInfo& call) {
    return !call.constant &&
           std::any_of(call.args.begin(), call.args.end(), [](const auto& a) { return ir::active(a.expr); });
  }
  void mark(const Body& body) {
    for (Stmt* s : body) {
      mark(s->init);
      mark(s->body);
      mark(s->other);
      if (s->kind == Stmt::Assign && s->lhs->type->differentiable && ir::active(s->expr) &&
          ir::is_global(s->lhs))
        diagnose_.error(s->loc,
                        is_null(s->lhs)
                            ? "cannot differentiate an assignment behind a null pointer, which the caller "
                              "passes here; test the pointer before it is used"
                            : "cannot differentiate an assignment to a global or static variable; pass it "
                              "as a parameter");
      if (puts_away(s))
        diagnose_.error(s->loc,
                        "cannot differentiate what puts a number that depends on the parameters into a "
                        "container or a random distribution of which no derivative is known; use a "
                        "std::vector or a std::array, or shift and scale the numbers of a standard "
                        "distribution");
      if (s->kind != Stmt::CallStmt) continue;
      const bool carries = is_active(*s->call);
      for (ir::CallInfo::Arg& a : s->call->args) {
        a.active = !s->call->constant && ir::active(a.expr);
        if (carries && a.mutable_ && a.expr->type->differentiable && ir::is_global(a.expr))
          diagnose_.error(
              s->loc,
              "cannot differentiate a call that changes a global or static variable; pass it as a parameter");
      }
    }
  }

  ir::Function& fn_;
  Diagnose& diagnose_;
  bool changed_ = false;
  std::map<const ir::Var*, std::string> statements_;  ///< the text of the one that declares the variable
};

}  // namespace

void find_active(ir::Function& fn, Diagnose& diagnose) { Activity(fn, diagnose).run(); }

}  // namespace clad
