#include "inline.h"

#include <algorithm>
#include <map>

namespace clad {
namespace {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

bool changes_arguments(const ir::CallInfo& call) {
  return std::any_of(call.args.begin(), call.args.end(),
                     [](const ir::CallInfo::Arg& a) { return a.mutable_ || a.moved; });
}

class Inliner {
 public:
  Inliner(ir::Function& fn, Stmt* call, const ir::Function& callee) : fn_(fn), call_(call), callee_(callee) {}

  ir::Body run() {
    for (std::size_t i = 0; i < callee_.params.size(); ++i)
      params_[callee_.params[i].var] = argument(call_->call->args[i]);
    const Expr* result = callee_.body.back()->expr;
    // What the callee returns takes the place of the call's value.
    if (result->kind == Expr::VarRef && result->type == call_->var->type)
      for (const Stmt* s : callee_.body)
        if (s->var == result->var && s->kind != Stmt::AliasDecl && !s->var->by_pointer &&
            !s->var->reference_copy)
          vars_[result->var] = call_->var;
    const bool named = result->kind == Expr::VarRef && vars_.count(result->var) != 0;
    for (const Stmt* s : callee_.body)
      if (s->kind != Stmt::Return) copy(s);
    if (!named) declare(call_->var, copy(result), callee_.body.back());
    return std::move(made_);
  }

 private:
  ir::Region* region() const { return call_->var->region; }

  Stmt* declare(Var* v, Expr* e, const Stmt* like) {
    Stmt* s = fn_.stmt(Stmt::Decl, like->loc, like->source);
    s->var = v;
    s->expr = e;
    made_.push_back(s);
    return s;
  }

  /// What a parameter stands for: an expression that may be written several times.
  Expr* argument(const ir::CallInfo::Arg& a) {
    const bool plain = a.expr->type->is_class() ? ir::is_path(a.expr) : ir::is_atomic(a.expr);
    if (plain) return a.expr;
    if (a.expr->kind == Expr::Cast && a.expr->args[0]->kind == Expr::Literal)
      return fn_.cast(a.expr->type, a.expr->type->name, a.expr->args[0]);
    Var* v = fn_.make_var(Var::Temp, "t", a.param_type, region());
    v->optional = !v->type->default_constructible;
    declare(v, a.expr, call_);
    return fn_.ref(v);
  }

  Var* copy(const Var* v) {
    if (Var* known = vars_[v]) return known;
    Var* made = fn_.make_var(v->kind, v->kind == Var::Temp ? "t" : v->name, v->type, region());
    for (bool Var::* flag : {&Var::reference, &Var::is_const, &Var::optional, &Var::unset, &Var::maybe,
                             &Var::raw, &Var::modified, &Var::reference_copy, &Var::by_pointer,
                             &Var::unbounded, &Var::growing, &Var::external})
      made->*flag = v->*flag;
    made->loc = v->loc;
    made->region = region();
    vars_[v] = made;
    if (v->path) made->path = copy(v->path);
    return made;
  }

  Expr* copy(const Expr* e) {
    if (e->kind == Expr::VarRef)
      if (auto p = params_.find(e->var); p != params_.end()) return p->second;
    auto& made = exprs_[e];
    if (made) return made;
    made = fn_.exprs.emplace_back(std::make_unique<Expr>(*e)).get();
    if (e->var) made->var = copy(e->var);
    for (Expr*& a : made->args) a = copy(a);
    return made;
  }

  void copy(const Stmt* s) {
    Stmt* made = fn_.stmt(s->kind, s->loc, s->source);
    made_.push_back(made);
    if (s->expr) made->expr = copy(s->expr);
    if (s->call) {
      made->call = std::make_unique<ir::CallInfo>(*s->call);
      for (ir::CallInfo::Arg& a : made->call->args) a.expr = copy(a.expr);
      made->call->primal = copy(s->call->primal);
    }
    if (s->var) made->var = copy(s->var);
  }

  ir::Function& fn_;
  Stmt* call_;
  const ir::Function& callee_;
  ir::Body made_;
  std::map<const Var*, Expr*> params_;
  std::map<const Var*, Var*> vars_;
  std::map<const Expr*, Expr*> exprs_;
};

}  // namespace

bool is_straight(const ir::Function& fn) {
  if (fn.always_forward || fn.is_constructor || fn.body.empty()) return false;
  if (std::any_of(fn.vars.begin(), fn.vars.end(), [](const auto& v) { return !v->global.empty(); }))
    return false;
  for (const ir::Parameter& p : fn.params)
    if (p.var->external || p.var->type->kind == Type::Pointer || p.var->type->kind == Type::Closure)
      return false;
  for (const Stmt* s : fn.body) {
    const bool last = s == fn.body.back();
    if (last != (s->kind == Stmt::Return) || !s->touched.empty()) return false;
    if (last && !s->expr) return false;
    if (!last && s->kind != Stmt::Decl && s->kind != Stmt::AliasDecl && s->kind != Stmt::CallStmt)
      return false;
    if (s->var && (s->var->modified || s->var->raw)) return false;
    if (s->call && (changes_arguments(*s->call) || s->call->lifted || !s->call->targets.empty()))
      return false;
  }
  return true;
}

std::size_t inline_call(ir::Function& fn, ir::Body& body, std::size_t at, const ir::Function& callee) {
  const ir::Body made = Inliner(fn, body[at], callee).run();
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(at));
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(at), made.begin(), made.end());
  return made.size();
}

}  // namespace clad
