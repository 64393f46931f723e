#include "match.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "effects.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Var;

namespace {

const clang::FunctionDecl* callee_of(const Stmt* s) {
  return static_cast<const clang::FunctionDecl*>(s->call->callee)->getCanonicalDecl();
}

/// A call that computes its value from its arguments and does no more, as far as they say.
bool is_plain(const ir::CallInfo& call) {
  return call.callee && !call.checkpoint && !call.lifted && call.targets.empty() && call.tangents.empty() &&
         call.problem.empty() && std::none_of(call.args.begin(), call.args.end(), [](const auto& a) {
           return a.mutable_ || a.moved;
         });
}

/// The value of a literal, through conversions that keep it.
std::optional<double> constant(const Expr* e) {
  if (e->kind == Expr::Cast && e->type->kind == ir::Type::Real) return constant(e->args[0]);
  if (e->kind == Expr::Cast && e->args[0]->type->kind == ir::Type::Scalar) return constant(e->args[0]);
  if (e->kind == Expr::Unary && e->text == "-") {
    const std::optional<double> v = constant(e->args[0]);
    return v ? std::optional<double>(-*v) : std::nullopt;
  }
  if (e->kind != Expr::Literal || e->text.empty()) return std::nullopt;
  char* end = nullptr;
  const double v = std::strtod(e->text.c_str(), &end);
  const std::string suffix = end;
  if (end == e->text.c_str() || std::fabs(v) > 0x1p53) return std::nullopt;  // beyond it integers collide
  if (suffix == "f" || suffix == "F") return static_cast<float>(v);
  if (suffix.empty() && e->type->name == "float") return static_cast<float>(v);
  return suffix.empty() || suffix == "L" || suffix == "l" ? std::optional<double>(v) : std::nullopt;
}

bool same_constant(const Expr* a, const Expr* b) {
  const std::optional<double> x = constant(a), y = constant(b);
  return x && y && *x == *y && a->type == b->type;
}

/// Whether two expressions are alike but for their operands.
bool same_operation(const Expr* a, const Expr* b) {
  return a->kind == b->kind && a->text == b->text && a->type == b->type && a->args.size() == b->args.size() &&
         a->to_reference == b->to_reference;
}

/// Whether the operands of an expression may change places: in IEEE arithmetic they give the same number.
bool is_commutative(const Expr* e) {
  const bool number = e->type->kind == ir::Type::Real || e->type->kind == ir::Type::Scalar;
  return e->kind == Expr::Binary && number && (e->text == "+" || e->text == "*");
}

constexpr std::size_t most_swaps = 200;  // in one attempt

}  // namespace

void Frame::define(const ir::Body& body, const std::set<const Var*>& written) {
  for (const Stmt* s : body)
    if (s->var && (s->kind == Stmt::Decl || s->kind == Stmt::CallStmt) && written.count(s->var) == 0 &&
        !s->var->modified)
      defined[s->var] = s;
}

/// Where a parameter of a function that is seen through comes from.
Node Match::resolve(Node n) const {
  while (n.frame->parent && n.e->kind == Expr::VarRef && n.e->var->kind == Var::Param) {
    const auto& params = n.frame->fn->params;
    const auto p =
        std::find_if(params.begin(), params.end(), [&](const auto& x) { return x.var == n.e->var; });
    if (p == params.end()) break;
    n = {n.frame->parent, n.frame->call->call->args[static_cast<std::size_t>(p - params.begin())].expr};
  }
  return n;
}

/// What a variable was declared as.
Node Match::follow(Node n) {
  for (;;) {
    n = resolve(n);
    if (n.e->kind != Expr::VarRef) return n;
    const auto it = n.frame->defined.find(n.e->var);
    if (it == n.frame->defined.end()) return n;
    const Stmt* s = it->second;
    if (s->kind != Stmt::Decl || !s->expr || s->var->by_pointer || s->var->reference_copy) return n;
    if (closed.count(s) != 0) return n;
    named.insert({n.frame, s});
    n.e = s->expr;
  }
}

const Frame* Match::see_through(const Frame* frame, const Stmt* s) {
  if (const auto seen = seen_through.find({frame, s}); seen != seen_through.end()) return seen->second;
  for (const Frame* f = frame; f->parent; f = f->parent)
    if (callee_of(f->call) == callee_of(s)) return nullptr;
  if (rules_.is_part(callee_of(s))) return nullptr;
  const ir::Function* body = rules_.straight_body(callee_of(s));
  if (!body || body->params.size() != s->call->args.size()) return nullptr;
  for (std::size_t i = 0; i < body->params.size(); ++i)
    if (s->call->args[i].param_type != body->params[i].var->type ||
        (body->params[i].var->type->is_class() && s->call->args[i].expr->type != body->params[i].var->type))
      return nullptr;
  Frame& inner = *frames_.emplace_back(std::make_unique<Frame>());
  inner.fn = body;
  inner.call = s;
  inner.parent = frame;
  inner.define(body->body, {});
  return seen_through[{frame, s}] = &inner;
}

bool Match::find(const Goal& goal, const Then& then) {
  const Found before = *this;
  if (reach({goal}, then)) return true;
  static_cast<Found&>(*this) = before;
  return false;
}

/// Depth first, from left to right. Where operands commute, all that is left is tried with them in either
/// order.
bool Match::reach(Goals goals, const Then& then) {
  while (!goals.empty()) {
    const Goal goal = goals.back();
    goals.pop_back();
    Goals parts;
    bool commutes = false;
    if (!take_apart(goal, parts, commutes)) return false;
    if (commutes && swaps_ < most_swaps) {
      ++swaps_;
      const Found before = *this;
      Goals straight = goals;
      straight.insert(straight.end(), parts.rbegin(), parts.rend());
      if (reach(std::move(straight), then)) return true;
      static_cast<Found&>(*this) = before;
      std::swap(parts[0].node, parts[1].node);
    }
    goals.insert(goals.end(), parts.rbegin(), parts.rend());
  }
  return then();
}

/// False if the goal cannot be reached; else `parts` are what it takes.
bool Match::take_call_apart(const Goal& goal, Goals& parts, bool& commutes) {
  const Stmt *p = goal.call, *s = goal.at;
  Node n = goal.node;
  if (!s) {
    n = follow(n);
    const auto it = n.e->kind == Expr::VarRef ? n.frame->defined.find(n.e->var) : n.frame->defined.end();
    if (it == n.frame->defined.end() || it->second->kind != Stmt::CallStmt) return false;
    s = it->second;
  }
  if (!is_plain(*s->call)) return false;
  if (callee_of(s) != callee_of(p) || closed.count(s) != 0) {
    const Frame* inner = see_through(n.frame, s);
    if (inner) parts.push_back({nullptr, p, {inner, inner->fn->body.back()->expr}});
    return inner;
  }
  const Place place{n.frame, s};
  if (const auto known = calls.find(p); known != calls.end()) return known->second == place;
  if (s->call->args.size() != p->call->args.size()) return false;
  calls[p] = place;
  matched.insert(place);
  for (std::size_t i = 0; i < p->call->args.size(); ++i)
    parts.push_back({p->call->args[i].expr, nullptr, {n.frame, s->call->args[i].expr}});
  commutes = is_commutative(callee_of(p));
  return true;
}

bool Match::take_apart(const Goal& goal, Goals& parts, bool& commutes) {
  if (goal.call) return take_call_apart(goal, parts, commutes);
  const Expr* p = rule.value(goal.e);
  Node n = goal.node;
  if (p->kind == Expr::VarRef) {
    if (const Stmt* s = rule.call(p)) {
      parts.push_back({nullptr, s, n});
      return true;
    }
    const auto& params = rule.body->params;
    const auto it =
        std::find_if(params.begin(), params.end(), [&](const auto& x) { return x.var == p->var; });
    return it != params.end() && bind(static_cast<std::size_t>(it - params.begin()), n);
  }
  n = resolve(n);
  if (n.e->kind == Expr::VarRef) n = follow(n);
  if (same_constant(p, n.e)) return true;
  if (!same_operation(p, n.e)) return false;
  for (std::size_t i = 0; i < p->args.size(); ++i)
    parts.push_back({p->args[i], nullptr, {n.frame, n.e->args[i]}});
  commutes = is_commutative(p);
  return true;
}

bool Match::bind(std::size_t parameter, Node n) {
  n = resolve(n);
  if (n.e->type != rule.body->params[parameter].var->type) return false;
  auto& known = bound[parameter];
  if (known) {
    const Expr *a = in_root(*known), *b = in_root(n);
    compared.insert(compared.end(), {a, b});
    return equal(a, b);
  }
  known = n;
  return true;
}

const Expr* Match::in_root(Node n) {
  n = resolve(n);
  if (n.frame == &root_) return n.e;
  Expr* copy = copies_.exprs.emplace_back(std::make_unique<Expr>(*n.e)).get();
  for (Expr*& a : copy->args) a = const_cast<Expr*>(in_root({n.frame, a}));
  return copy;
}

bool Match::may_carry(Node n) {
  n = resolve(n);
  if (n.frame == &root_) return ir::active(n.e);
  if (n.e->kind == Expr::VarRef) {
    if (!n.e->type->differentiable) return false;
    const auto it = n.frame->defined.find(n.e->var);
    if (it == n.frame->defined.end()) return true;
    const Stmt* s = it->second;
    if (s->expr) return may_carry({n.frame, s->expr});
    return s->call && std::any_of(s->call->args.begin(), s->call->args.end(),
                                  [&](const auto& a) { return may_carry({n.frame, a.expr}); });
  }
  if (const Var* r = ir::root(n.e); r && r->kind == Var::Param && ir::is_path(n.e))
    return ir::active(in_root(n));
  return std::any_of(n.e->args.begin(), n.e->args.end(),
                     [&](const Expr* a) { return may_carry({n.frame, a}); });
}

bool Match::equal(const Expr* a, const Expr* b) {
  if (a->kind == Expr::VarRef && b->kind == Expr::VarRef && a->var == b->var) return true;
  const auto declared = [&](const Expr* e) {
    const auto it = e->kind == Expr::VarRef ? root_.defined.find(e->var) : root_.defined.end();
    if (it == root_.defined.end() || it->second->kind != Stmt::Decl || !it->second->expr) return e;
    compared_by.insert(it->second);
    compared.push_back(it->second->expr);
    return static_cast<const Expr*>(it->second->expr);
  };
  const Expr *x = declared(a), *y = declared(b);
  if (x != a || y != b) return equal(x, y);
  if (same_constant(a, b)) return true;
  if (!same_operation(a, b) || a->kind == Expr::VarRef) return false;
  ir::Effects reads;
  ir::add_reads(a, reads);
  if (reads.unknown) return false;
  const auto operands_equal = [&](bool swapped) {
    const std::size_t n = a->args.size();
    for (std::size_t i = 0; i < n; ++i)
      if (!equal(a->args[i], b->args[swapped ? n - 1 - i : i])) return false;
    return true;
  };
  return operands_equal(false) || (is_commutative(a) && operands_equal(true));
}

}  // namespace clad
