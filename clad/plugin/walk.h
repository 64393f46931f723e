// Visiting the statements of a body and the expressions of a statement.
#pragma once

#include "ir.h"

namespace clad::ir {

/// Calls `visit` for every statement, also those inside others.
template <class F>
void each_stmt(const Body& body, F&& visit) {
  for (Stmt* s : body) {
    visit(s);
    for (const Body* inner : {&s->init, &s->body, &s->other}) each_stmt(*inner, visit);
  }
}

/// Visits the places where a statement holds its expressions, without those inside it.
template <class F>
void each_expr(Stmt* s, F&& visit) {
  for (Expr** e : {&s->expr, &s->lhs, &s->count.first, &s->count.end})
    if (*e) visit(*e);
  if (s->kind == Stmt::AliasDecl) visit(s->var->path);
  if (s->checkpoint) {
    if (s->checkpoint->limit) visit(s->checkpoint->limit);
    for (auto& [pointer, size] : s->checkpoint->arrays) visit(pointer), visit(size);
  }
  if (s->parallel)
    for (Parallel::Clause& c : s->parallel->clauses)
      if (c.value) visit(c.value);
  if (!s->call) return;
  for (CallInfo::Arg& a : s->call->args)
    if (a.expr) visit(a.expr);
  if (s->call->primal) visit(s->call->primal);
}

}  // namespace clad::ir
