#include "versions.h"

#include <algorithm>

#include "walk.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Var;

Versions::Versions(ir::Function& fn) : fn_(fn) {
  const std::size_t exprs = fn.exprs.size(), vars = fn.vars.size();
  undo_.push_back([&fn, exprs, vars] {
    for (std::size_t i = vars; i < fn.vars.size(); ++i) {
      const Var* v = fn.vars[i].get();
      std::erase(v->region->vars, v);
      fn.names.erase(v->name);
      fn.names.erase(v->adjoint);
      fn.numbers.clear();
    }
    fn.vars.erase(fn.vars.begin() + static_cast<std::ptrdiff_t>(vars), fn.vars.end());
    fn.exprs.erase(fn.exprs.begin() + static_cast<std::ptrdiff_t>(exprs), fn.exprs.end());
  });
  find(fn.body);
  for (const auto& v : fn.vars)
    if (v->path) uses_[ir::root(v->path)].plain = false;
  std::erase_if(uses_, [](const auto& u) { return !u.second.plain || u.second.assigned == 0; });
  if (!uses_.empty()) rename(fn.body);
}

void Versions::undo() {
  for (auto u = undo_.rbegin(); u != undo_.rend(); ++u) (*u)();
  undo_.clear();
}

void Versions::find(const ir::Body& body) {
  for (const Stmt* s : body) {
    const bool declares = s->var && (s->kind == Stmt::Decl || s->kind == Stmt::CallStmt);
    if (declares) uses_[s->var].declared_in = &body;
    const auto other = [&](const Var* v) {
      if (v) uses_[v].plain = false;
    };
    if (declares && (s->var->kind != Var::Local || s->var->raw || !s->var->region)) other(s->var);
    if (s->kind == Stmt::Assign) {
      Uses& u = uses_[ir::root(s->lhs)];
      ++u.assigned;
      u.plain &= s->text == "=" && s->lhs->kind == Expr::VarRef && u.declared_in == &body;
      if (s->text == "swap") other(ir::root(s->expr));
    }
    for (const Var* v : s->touched) other(v);
    if (s->kind == Stmt::Loop) other(s->count.counter);
    other(s->cond_var);
    if (s->parallel)
      for (const auto& [op, v] : s->parallel->reductions) other(v);
    if (s->call)
      for (const ir::CallInfo::Arg& a : s->call->args)
        if (a.mutable_ || a.moved) other(ir::root(a.expr));
    for (const ir::Body* inner : {&s->init, &s->body, &s->other}) find(*inner);
  }
}

Var* Versions::version(const Var* v) {
  Var* made = fn_.make_var(v->kind, v->name, v->type, v->region);
  made->is_const = v->is_const;
  made->optional = v->optional;
  made->unset = v->unset;
  made->maybe = v->maybe;
  made->loc = v->loc;
  return made;
}

/// Puts the present versions in the place of the variables that the statement reads.
void Versions::rename(Stmt* s) {
  std::map<Expr*, Expr*> copies;  // the arguments of a call are those of its primal too
  const std::function<Expr*(Expr*)> renamed = [&](Expr* e) {
    if (const auto known = copies.find(e); known != copies.end()) return known->second;
    Expr* made = e;
    const auto change = [&] {
      if (made == e) made = fn_.exprs.emplace_back(std::make_unique<Expr>(*e)).get();
      return made;
    };
    if (e->kind == Expr::VarRef)
      if (const auto now = current_.find(e->var); now != current_.end()) change()->var = now->second;
    for (std::size_t i = 0; i < e->args.size(); ++i)
      if (Expr* a = renamed(e->args[i]); a != e->args[i]) change()->args[i] = a;
    return copies[e] = made;
  };
  ir::each_expr(s, [&](Expr*& e) {
    if (Expr* made = renamed(e); made != e) set(e, made);
  });
}

void Versions::rename(ir::Body& body) {
  for (Stmt* s : body) {
    Var* assigned = s->kind == Stmt::Assign && s->lhs->kind == Expr::VarRef ? s->lhs->var : nullptr;
    if (assigned && uses_.count(assigned) == 0) assigned = nullptr;
    if (assigned) set(s->lhs, static_cast<Expr*>(nullptr));
    rename(s);
    if (assigned) {
      Var* made = version(assigned);
      set(assigned->modified, false);
      set(s->kind, Stmt::Decl);
      set(s->var, made);
      current_[assigned] = made;
    }
    for (ir::Body* inner : {&s->init, &s->body, &s->other}) rename(*inner);
  }
}

}  // namespace clad
