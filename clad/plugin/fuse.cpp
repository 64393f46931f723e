#include "fuse.h"

#include <algorithm>

#include "fuser.h"
#include "inline.h"
#include "passes.h"
#include "versions.h"
#include "walk.h"

namespace clad {
namespace {

using ir::Body;
using ir::Expr;
using ir::Stmt;
using ir::Var;

/// `e` with `what` replaced; `e` itself if it is not in there.
Expr* substituted(ir::Function& fn, Expr* e, const Expr* what, Expr* by) {
  if (e == what) return by;
  Expr* made = e;
  for (std::size_t i = 0; i < e->args.size(); ++i) {
    Expr* a = substituted(fn, e->args[i], what, by);
    if (a == e->args[i]) continue;
    if (made == e) made = fn.exprs.emplace_back(std::make_unique<Expr>(*e)).get();
    made->args[i] = a;
  }
  return made;
}

/// The variables that some statement changes after their declaration.
std::set<const Var*> written_in(const ir::Function& fn) {
  std::set<const Var*> written;
  ir::each_stmt(fn.body, [&](const Stmt* s) {
    if (s->kind == Stmt::Assign) written.insert(ir::root(s->lhs));
    if (s->kind == Stmt::Assign && s->text == "swap") written.insert(ir::root(s->expr));
    written.insert(s->touched.begin(), s->touched.end());
    if (!s->call) return;
    for (const ir::CallInfo::Arg& a : s->call->args)
      if (a.mutable_ || a.moved) written.insert(ir::root(a.expr));
  });
  return written;
}

}  // namespace

void Fuser::run() {
  Versions versions(fn_);
  find_activity();
  run(fn_.body, fn_.region);
  if (!changed_) return versions.undo();
  tidy(fn_.body);
  drop_unused();
}

void Fuser::run(Body& body, ir::Region* region) {
  for (Stmt* s : body) {
    run(s->init, region);
    for (Body* inner : {&s->body, &s->other}) run(*inner, s->kind == Stmt::Loop ? s->region : region);
  }
  while (step(body, region)) {
    changed_ = true;
    find_activity();
  }
}

void Fuser::find_activity() {
  for (const auto& v : fn_.vars) v->active = false;
  Diagnose quiet = rules_.quiet();
  find_active(fn_, quiet);
}

bool Fuser::step(Body& body, ir::Region* region) {
  body_ = &body;
  region_ = region;
  root_ = {};
  root_.fn = &fn_;
  root_.define(body, written_in(fn_));
  for (const auto& rule : rules_.all())
    for (Stmt* s : body) {
      if (rule->call(rule->outputs.back())) {
        if (s->kind == Stmt::CallStmt && s->var && attempt(*rule, s, nullptr)) return true;
        continue;
      }
      std::vector<const Expr*> parts;
      const std::function<void(const Expr*)> add = [&](const Expr* e) {
        if (!e) return;
        parts.push_back(e);
        if (e->kind == Expr::Conditional || e->text == "&&" || e->text == "||") return;
        for (const Expr* a : e->args) add(a);
      };
      if (s->kind == Stmt::Decl || s->kind == Stmt::Assign || s->kind == Stmt::Return) add(s->expr);
      if (s->call)
        for (const ir::CallInfo::Arg& a : s->call->args)
          if (!a.mutable_ && !a.reference) add(a.expr);
      for (const Expr* e : parts)
        if (attempt(*rule, s, e)) return true;
    }
  return false;
}

/// Tries one rule where `at`, or the expression `part` in it, computes the pattern's last output.
bool Fuser::attempt(const Rule& rule, Stmt* at, const Expr* part) {
  Match m(rule, rules_, root_);
  for (const auto& [s, by] : made_by_)
    if (by.count(&rule) != 0) m.closed.insert(s);
  if (part && bodies_.count(at) != 0 && m.closed.count(at) != 0) return false;
  at_ = at;
  part_ = part;
  why_not_ = {};
  const auto outputs = [&] { return find_outputs(m, 0); };
  const ir::Expr* last = rule.outputs.back();
  const bool found = part ? part->kind != Expr::VarRef && m.expression(last, {&root_, part}, outputs)
                          : m.call(rule.call(last), at, outputs);
  if (!found) {
    if (!why_not_.second.empty() && rules_.diagnose().remarks())
      rules_.diagnose().remark(why_not_.first, "not fused" + describe(rule) + ": " + why_not_.second);
    return false;
  }
  m.seen_through.empty() ? rewrite(m) : see_through(m);
  return true;
}

/// Looks for those of several outputs that the last one is not made from.
bool Fuser::find_outputs(Match& m, std::size_t next) {
  if (next == m.rule.outputs.size()) return acceptable(m);
  const Stmt* wanted = m.rule.call(m.rule.outputs[next]);
  const auto others = [&] { return find_outputs(m, next + 1); };
  if (!wanted || m.calls.count(wanted) != 0) return others();
  return std::any_of(body_->begin(), body_->end(), [&](const Stmt* s) {
    return s->kind == Stmt::CallStmt && s->var && root_.defined.count(s->var) != 0 &&
           m.call(wanted, s, others);
  });
}

/// Puts the bodies that the match goes through in the place of their calls: the next step finds it there.
void Fuser::see_through(Match& m) {
  for (const auto& [place, frame] : m.seen_through) {
    if (place.first != &root_) continue;
    const std::size_t i = index(place);
    const auto* callee = static_cast<const clang::FunctionDecl*>(place.second->call->callee);
    const std::set<const Rule*> by = made_by_[place.second];
    const std::size_t n = inline_call(fn_, *body_, i, *frame->fn);
    for (std::size_t k = i; k < i + n; ++k) {
      made_by_[(*body_)[k]] = by;
      if (bodies_.count(place.second) != 0) bodies_.insert((*body_)[k]);
    }
    const auto& called = rules_.callees(callee);
    callees_.insert(called.begin(), called.end());
  }
}

/// `t = f(x); y = t;` as `y = f(x)`.
void Fuser::tidy(Body& body) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    for (Body* inner : {&body[i]->init, &body[i]->body, &body[i]->other}) tidy(*inner);
    if (i == 0) continue;
    Stmt *call = body[i - 1], *s = body[i];
    if (s->kind != Stmt::Decl || call->kind != Stmt::CallStmt || !s->expr || s->expr->kind != Expr::VarRef)
      continue;
    Var* t = call->var;
    if (!t || s->expr->var != t || t->kind != Var::Temp || t->type != s->var->type || t->by_pointer ||
        t->reference_copy)
      continue;
    std::size_t uses = 0;
    ir::each_stmt(fn_.body, [&](Stmt* other) {
      const Expr* primal = other->call ? other->call->primal : nullptr;
      ir::each_expr(other, [&](const Expr* e) { uses += e == primal ? 0 : count(e, t); });
    });
    if (uses != 1) continue;
    call->var = s->var;
    forget(t);
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(i--));
  }
}

/// What later passes count must not hold what is no longer there.
void Fuser::drop_unused() {
  std::set<const Stmt*> stmts;
  std::set<const Expr*> exprs;
  const std::function<void(const Expr*)> keep = [&](const Expr* e) {
    if (e && exprs.insert(e).second)
      for (const Expr* a : e->args) keep(a);
  };
  for (const Body* body : {&fn_.body, &fn_.last})
    ir::each_stmt(*body, [&](Stmt* s) {
      stmts.insert(s);
      ir::each_expr(s, keep);
    });
  for (const auto& v : fn_.vars) keep(v->path);
  std::erase_if(fn_.stmts, [&](const auto& s) { return stmts.count(s.get()) == 0; });
  std::erase_if(fn_.exprs, [&](const auto& e) { return exprs.count(e.get()) == 0; });
}

std::string Fuser::describe(const Rule& rule) const {
  const clang::SourceLocation at = rule.pattern->getLocation();
  return " '" + rule.operations + "' into '" + rule.replacement->getNameAsString() + "' (rule '" +
         rule.name() + "' at " + rules_.diagnose().shown(at) + ")";
}

/// Each of several results is a part of what the replacement returns; a copy of it where it changes later.
void Fuser::name_outputs(const Match& m, Var* whole, Body& made) {
  for (std::size_t k = 0; k < m.rule.outputs.size(); ++k) {
    Var* v = m.calls.at(m.rule.call(m.rule.outputs[k])).second->var;
    const ir::Field& field = whole->type->fields[k];
    if (root_.defined.count(v) == 0) {
      Stmt* s = fn_.stmt(Stmt::Decl, at_->loc, at_->source);
      s->var = v;
      s->expr = fn_.make(Expr::Member, field.type, field.name, {fn_.ref(whole)});
      made.push_back(s);
      continue;
    }
    for (const auto& e : fn_.exprs) {
      if (e->kind != Expr::VarRef || e->var != v) continue;
      e->kind = Expr::Member;
      e->text = field.name;
      e->var = nullptr;
      e->args = {fn_.ref(whole)};
    }
    forget(v);
  }
}

void Fuser::rewrite(Match& m) {
  if (rules_.diagnose().remarks()) rules_.diagnose().remark(at_->loc, "fused" + describe(m.rule));
  std::set<const Rule*> before_it = made_by_[at_];
  for (const std::set<Place>* places : {&m.matched, &m.named})
    for (const Place& p : *places) before_it.insert(made_by_[p.second].begin(), made_by_[p.second].end());
  std::set<const Rule*> by = before_it;
  by.insert(&m.rule);
  Body made;
  std::vector<Expr*> args;
  for (const auto& b : m.bound) {
    auto* e = const_cast<Expr*>(b->e);
    if (e->type->is_class() && e->type->differentiable && !ir::is_path(e)) {
      Stmt* s = fn_.stmt(Stmt::Decl, at_->loc, at_->source);
      s->var = fn_.make_var(Var::Temp, "t", e->type, region_);
      s->var->optional = !e->type->default_constructible;
      s->expr = e;
      made.push_back(s);
      e = fn_.ref(s->var);
    }
    args.push_back(e);
  }
  const auto is_argument = [&](const Stmt* s) {
    return s->kind == Stmt::Decl &&
           std::any_of(m.bound.begin(), m.bound.end(), [&](const auto& b) { return s->expr == b->e; });
  };
  Stmt* call = rules_.replace(m.rule, fn_, args, at_);
  if (m.rule.several || part_) {
    call->var = fn_.make_var(Var::Temp, "t", call->call->primal->type, region_);
    call->var->optional = !call->var->type->default_constructible;
  } else {
    call->var = at_->var;
  }
  made.push_back(call);
  const clang::FunctionDecl* replacement = m.rule.replacement;
  callees_.insert(replacement->getCanonicalDecl());
  const auto place = body_->begin() + static_cast<std::ptrdiff_t>(position_);
  Body before(body_->begin(), place), after(place, body_->end());
  const auto drop = [&](Body& body) {
    std::erase_if(body, [&](Stmt* s) {
      const bool gone = removed_.count({&root_, s}) != 0;
      if (gone && s->var != call->var && root_.defined.count(s->var) != 0) forget(s->var);
      return gone;
    });
  };
  drop(before);
  drop(after);
  if (part_) {
    Expr* value = fn_.ref(call->var);
    if (at_->expr) at_->expr = substituted(fn_, at_->expr, part_, value);
    if (at_->call) {
      for (ir::CallInfo::Arg& a : at_->call->args) a.expr = substituted(fn_, a.expr, part_, value);
      at_->call->primal = substituted(fn_, at_->call->primal, part_, value);
    }
  }
  const ir::Function* body = rules_.in_pattern(replacement) ? nullptr : rules_.straight_body(replacement);
  if (body) {
    inline_call(fn_, made, made.size() - 1, *body);
    for (const Stmt* s : made)
      if (!is_argument(s)) bodies_.insert(s);
    const auto& called = rules_.callees(replacement);
    callees_.insert(called.begin(), called.end());
  }
  if (m.rule.several) name_outputs(m, call->var, made);
  for (const Stmt* s : made) made_by_[s] = is_argument(s) ? before_it : by;
  *body_ = std::move(before);
  body_->insert(body_->end(), made.begin(), made.end());
  body_->insert(body_->end(), after.begin(), after.end());
}

void fuse(ir::Function& fn, Rules& rules, const std::vector<bool>& active,
          std::set<const clang::FunctionDecl*>& callees) {
  if (rules.all().empty()) return;
  for (std::size_t i = 0; i < fn.params.size(); ++i) fn.params[i].active = i >= active.size() || active[i];
  Fuser(fn, rules, callees).run();
  for (ir::Parameter& p : fn.params) p.active = false;
  for (const auto& v : fn.vars) v->active = false;
  ir::each_stmt(fn.body, [](Stmt* s) {
    if (!s->call) return;
    for (ir::CallInfo::Arg& a : s->call->args) a.active = false;
  });
}

}  // namespace clad
