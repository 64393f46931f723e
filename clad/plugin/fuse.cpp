#include "fuse.h"

#include <algorithm>

#include "effects.h"
#include "inline.h"
#include "match.h"
#include "passes.h"
#include "walk.h"

namespace clad {
namespace {

using ir::Body;
using ir::Expr;
using ir::Stmt;
using ir::Var;

std::size_t count(const Expr* e, const Var* v) {
  if (!e) return 0;
  std::size_t n = e->var == v;
  for (const Expr* a : e->args) n += count(a, v);
  return n;
}

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

class Fuser {
 public:
  Fuser(ir::Function& fn, Rules& rules, std::set<const clang::FunctionDecl*>& callees)
      : fn_(fn), rules_(rules), callees_(callees) {}

  void run() {
    find_activity();
    run(fn_.body, fn_.region);
    if (changed_) drop_unused();
  }

 private:
  void run(Body& body, ir::Region* region) {
    for (Stmt* s : body) {
      run(s->init, region);
      for (Body* inner : {&s->body, &s->other}) run(*inner, s->kind == Stmt::Loop ? s->region : region);
    }
    while (step(body, region)) {
      changed_ = true;
      find_activity();
    }
  }
  void find_activity() {
    for (const auto& v : fn_.vars) v->active = false;
    Diagnose quiet = rules_.quiet();
    find_active(fn_, quiet);
  }
  bool step(Body& body, ir::Region* region);
  bool attempt(const Rule& rule, Stmt* at, const Expr* root);
  bool find_outputs(Match& m, std::size_t next);
  bool acceptable(Match& m);
  void find_removed(Match& m);
  bool place(Match& m);
  std::size_t index(Match::Place p) const;
  std::size_t outside_uses(const Match& m, const Frame* frame, const Var* v) const;
  void see_through(Match& m);
  void rewrite(Match& m);
  void drop_unused();
  void name_outputs(const Match& m, Var* whole, Body& made);
  void forget(Var* v) {
    if (v->region) std::erase(v->region->vars, v);
  }
  std::string describe(const Rule& rule) const;
  void miss(ir::Loc at, const Rule& rule, const std::string& why) {
    if (rules_.diagnose().remarks()) rules_.diagnose().remark(at, "not fused" + describe(rule) + ": " + why);
  }

  ir::Function& fn_;
  Rules& rules_;
  std::set<const clang::FunctionDecl*>& callees_;
  bool changed_ = false;
  ir::Function probes_;                                   ///< holds expressions that only ask
  std::map<const Stmt*, std::set<const Rule*>> made_by_;  ///< the rules that a statement comes from

  // Of one step.
  Body* body_ = nullptr;
  ir::Region* region_ = nullptr;
  Frame root_;
  // Of one attempt.
  Stmt* at_ = nullptr;          ///< the statement that computes the pattern's (last) value
  const Expr* part_ = nullptr;  ///< the expression in it that is the pattern's value, unless it is a call's
  std::set<Match::Place> removed_;
  std::size_t position_ = 0;  ///< of the replacement
};

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
  at_ = at;
  part_ = part;
  if (part) {
    if (part->kind == Expr::VarRef || !m.expression(rule.outputs.back(), {&root_, part})) return false;
  } else {
    const auto known = root_.defined.emplace(at->var, at);  // the last value itself may change later
    const bool found = m.call(rule.call(rule.outputs.back()), {&root_, probes_.ref(at->var)});
    if (known.second) root_.defined.erase(known.first);
    if (!found) return false;
  }
  if (!find_outputs(m, 0) || !acceptable(m)) return false;
  m.seen_through.empty() ? rewrite(m) : see_through(m);
  return true;
}

/// Looks for those of several outputs that the last one is not made from.
bool Fuser::find_outputs(Match& m, std::size_t next) {
  if (next == m.rule.outputs.size()) return true;
  const Stmt* wanted = m.rule.call(m.rule.outputs[next]);
  if (!wanted || m.calls.count(wanted) != 0) return find_outputs(m, next + 1);
  const auto bound = m.bound;
  const auto calls = m.calls;
  const auto matched = m.matched, named = m.named;
  const auto seen_through = m.seen_through;
  for (const Stmt* s : *body_) {
    if (s->kind != Stmt::CallStmt || !s->var || root_.defined.count(s->var) == 0) continue;
    if (m.call(wanted, {&root_, probes_.ref(s->var)}) && find_outputs(m, next + 1)) return true;
    m.bound = bound;
    m.calls = calls;
    m.matched = matched;
    m.named = named;
    m.seen_through = seen_through;
  }
  return false;
}

/// The place in the body of the statement, or of the call that it is seen through.
std::size_t Fuser::index(Match::Place p) const {
  for (; p.first->parent; p = {p.first->parent, p.first->call}) {
  }
  return static_cast<std::size_t>(std::find(body_->begin(), body_->end(), p.second) - body_->begin());
}

/// How often a variable is used by what is not removed.
std::size_t Fuser::outside_uses(const Match& m, const Frame* frame, const Var* v) const {
  std::size_t uses = 0;
  const auto look = [&](Stmt* s) {
    if (removed_.count({frame, s}) != 0) return;
    if (const auto inner = m.seen_through.find({frame, s}); inner != m.seen_through.end()) {
      for (std::size_t i = 0; i < s->call->args.size(); ++i) {
        const Expr* a = s->call->args[i].expr;
        uses += a->var == v ? outside_uses(m, inner->second, inner->second->fn->params[i].var) : count(a, v);
      }
      return;
    }
    if (frame->parent && s->kind == Stmt::Return && s->expr->var == v) {
      if (frame->call->var != at_->var || part_) uses += outside_uses(m, frame->parent, frame->call->var);
      return;
    }
    const Expr* primal = s->call ? s->call->primal : nullptr;
    ir::each_expr(s, [&](Expr* e) { uses += e == primal ? 0 : count(e, v); });
    if (s == at_ && part_) uses -= count(part_, v);
  };
  ir::each_stmt(frame->fn->body, look);
  return uses;
}

/// Finds what goes: the calls that are matched, and the declarations that only they use.
void Fuser::find_removed(Match& m) {
  removed_ = m.matched;
  removed_.insert(m.named.begin(), m.named.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Match::Place& p : m.named)
      if (removed_.count(p) != 0 && outside_uses(m, p.first, p.second->var) != 0) {
        removed_.erase(p);
        changed = true;
      }
  }
}

bool Fuser::acceptable(Match& m) {
  find_removed(m);
  std::set<std::size_t> involved;
  for (const auto* places : {&m.matched, &removed_})
    for (const Match::Place& p : *places) involved.insert(index(p));
  if (part_) involved.insert(index({&root_, at_}));
  if (!m.seen_through.empty() && involved.size() < 2) return false;  // all of it lies in one function
  for (std::size_t i = 0; i < m.bound.size(); ++i)
    if (m.rule.constant[i] && m.may_carry(*m.bound[i])) {
      miss(at_->loc, m.rule, "'" + m.rule.body->params[i].var->name + "' must be a constant for derivatives");
      return false;
    }
  std::set<Match::Place> outputs;
  for (const Expr* o : m.rule.outputs)
    if (const Stmt* s = m.rule.call(o)) outputs.insert(m.calls.at(s));
  for (const Match::Place& p : m.matched) {
    if (outputs.count(p) != 0 || outside_uses(m, p.first, p.second->var) == 0) continue;
    miss(p.second->loc, m.rule, "what this computes is used elsewhere too");
    return false;
  }
  // What the replacement is given must not be what goes.
  for (std::size_t i = 0; i < m.bound.size(); ++i)
    for (const Match::Place& p : removed_)
      if (count(m.in_root(*m.bound[i]), p.second->var) != 0) return false;
  return place(m);
}

/// Finds a place where the arguments have their values and nothing has used the outputs yet.
bool Fuser::place(Match& m) {
  std::size_t first = body_->size(), last = 0;
  for (const Match::Place& p : m.matched) {
    first = std::min(first, index(p));
    last = std::max(last, index(p));
  }
  for (const Match::Place& p : m.named) first = std::min(first, index(p));
  if (part_) last = std::max(last, index({&root_, at_}));
  first = std::min(first, last);
  ir::Effects reads;
  for (const auto& b : m.bound) ir::add_reads(m.in_root(*b), reads);
  const auto goes = [&](const Stmt* s) { return removed_.count({&root_, s}) != 0; };
  const auto inside = [&](const Stmt* s) { return m.seen_through.count({&root_, s}) != 0; };
  for (std::size_t i = first; i <= last; ++i) {
    const Stmt* s = (*body_)[i];
    if (goes(s) || inside(s) || (s == at_ && part_)) continue;
    ir::Effects writes;
    ir::add_writes(s, writes);
    if (s->kind == Stmt::Decl || s->kind == Stmt::CallStmt) writes.vars.erase(s->var);
    if (ir::conflict(reads, writes)) {
      miss(at_->loc, m.rule, "a value it needs may change in between");
      return false;
    }
  }
  position_ = last;
  if (!m.rule.several) return true;
  const auto used_before = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      Stmt* s = (*body_)[i];
      if (goes(s) || inside(s)) continue;
      std::size_t uses = 0;
      ir::each_stmt({s}, [&](Stmt* inner) {
        ir::each_expr(inner, [&](const Expr* e) {
          for (const Match::Place& p : m.matched) uses += count(e, p.second->var);
        });
      });
      if (uses != 0) return true;
    }
    return false;
  };
  if (!used_before(first, last)) return true;
  // Else before the first of them, if all arguments are there already.
  position_ = first;
  std::set<const Var*> named;
  for (const auto& b : m.bound) ir::each_var(m.in_root(*b), [&](const Var* v) { named.insert(v); });
  for (std::size_t i = first; i <= last; ++i)
    if (named.count((*body_)[i]->var) != 0) return false;
  return true;
}

/// Puts the bodies that the match goes through in the place of their calls: the next step finds it there.
void Fuser::see_through(Match& m) {
  for (const auto& [place, frame] : m.seen_through) {
    if (place.first != &root_) continue;
    const std::size_t i = index(place);
    const auto* callee = static_cast<const clang::FunctionDecl*>(place.second->call->callee);
    const std::set<const Rule*> by = made_by_[place.second];
    const std::size_t n = inline_call(fn_, *body_, i, *frame->fn);
    for (std::size_t k = i; k < i + n; ++k) made_by_[(*body_)[k]] = by;
    const auto& called = rules_.callees(callee);
    callees_.insert(called.begin(), called.end());
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
  std::set<const Rule*> by{&m.rule};
  for (const Match::Place& p : m.matched) by.insert(made_by_[p.second].begin(), made_by_[p.second].end());
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
  if (const ir::Function* body = rules_.straight_body(replacement)) {
    inline_call(fn_, made, made.size() - 1, *body);
    const auto& called = rules_.callees(replacement);
    callees_.insert(called.begin(), called.end());
  }
  if (m.rule.several) name_outputs(m, call->var, made);
  for (const Stmt* s : made) made_by_[s] = by;
  *body_ = std::move(before);
  body_->insert(body_->end(), made.begin(), made.end());
  body_->insert(body_->end(), after.begin(), after.end());
}

}  // namespace

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
