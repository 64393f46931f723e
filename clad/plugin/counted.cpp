// Loops whose reverse needs no count kept: the counter runs from `first` by a fixed step, nothing else
// changes it, and the value it ends with can be computed again after the loop.
#include <algorithm>

#include "effects.h"
#include "passes.h"

namespace clad {
namespace {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

enum class Integer { None, Signed, Unsigned };
Integer integer(const Type* t) {
  if (t->kind != Type::Scalar) return Integer::None;
  for (const char* name : {"int", "long", "long long"})
    if (t->name == name) return Integer::Signed;
  for (const char* name : {"unsigned int", "unsigned long", "unsigned long long"})
    if (t->name == name) return Integer::Unsigned;
  return Integer::None;
}

bool rank(const Type* t) { return t->name.find("long") != std::string::npos; }

const Expr* bare(const Expr* e) {
  while (e->kind == Expr::Cast && !e->explicit_cast) e = e->args[0];
  return e;
}
Expr* bare(Expr* e) { return const_cast<Expr*>(bare(static_cast<const Expr*>(e))); }

bool is_number(const Expr* e) {
  return e->kind == Expr::Literal && std::all_of(e->text.begin(), e->text.end(), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) || c == 'U' || c == 'L' || c == 'u' || c == 'l';
         });
}

bool is_zero(const Expr* e) {
  e = bare(e);
  return is_number(e) && e->text.find_first_not_of("0ulUL") == std::string::npos;
}

/// The statement is `v += step` or `v -= step`, in one of the ways to write it.
bool steps(const Stmt* s, const Var* v, bool& up, std::string& step) {
  if (s->kind != Stmt::Assign || s->lhs->kind != Expr::VarRef || s->lhs->var != v) return false;
  up = s->text == "++" || s->text == "+=";
  if (s->text == "++" || s->text == "--") {
    step = "1";
    return true;
  }
  if (s->text != "+=" && s->text != "-=") return false;
  const Expr* by = bare(s->expr);
  step = by->text;
  return is_number(by) && std::stoll(by->text) > 0;
}

class Counter {
 public:
  Counter(ir::Function& fn, Stmt* loop) : fn_(fn), loop_(loop) {}

  bool find() {
    if (loop_->post_test || loop_->init.size() != 1 || loop_->other.size() != 1) return false;
    const Stmt* start = loop_->init[0];
    if (start->kind != Stmt::Decl || !start->expr || !start->touched.empty()) return false;
    v_ = start->var;
    sign_ = integer(v_->type);
    if (sign_ == Integer::None || v_->kind != Var::Local || v_->optional) return false;
    if (!steps(loop_->other[0], v_, up_, step_)) return false;
    Expr* end = find_end();
    if (!end) return false;
    Effects reads, writes;
    ir::add_reads(start->expr, reads);
    ir::add_reads(end, reads);
    ir::add_writes(loop_->body, writes);
    if (reads.unknown || reads.everything || writes.vars.count(v_) || writes.everything) return false;
    if (is_bound_elsewhere(loop_->body) || ir::conflict(reads, writes)) return false;
    loop_->count.counter = v_;
    loop_->count.first = start->expr;
    loop_->count.end = end;
    loop_->count.up = up_;
    loop_->count.wraps = wraps_;
    loop_->count.step = step_;
    return true;
  }

 private:
  using Effects = ir::Effects;

  /// A reference or pointer to the counter itself.
  bool is_bound_elsewhere(const ir::Body& body) const {
    return std::any_of(body.begin(), body.end(), [&](const Stmt* s) {
      if (s->kind == Stmt::AliasDecl && ir::root(s->var->path) == v_) return true;
      return is_bound_elsewhere(s->init) || is_bound_elsewhere(s->body) || is_bound_elsewhere(s->other);
    });
  }

  Expr* offset(Expr* e, const char* op, Expr* by) {
    if (e->kind == Expr::Literal && is_number(e) && by->kind == Expr::Literal && *op == '+' &&
        e->text.find_first_not_of("0123456789") == std::string::npos)
      return fn_.make(Expr::Literal, e->type, std::to_string(std::stoll(e->text) + std::stoll(by->text)));
    return fn_.make(Expr::Binary, e->type, op, {e, by});
  }
  Expr* number(const char* text) { return fn_.make(Expr::Literal, v_->type, text); }

  /// What the counter is after the loop, if the body runs at all and the step is 1: from the condition.
  Expr* find_end() {
    const Expr* c = bare(loop_->expr);
    if (c->kind != Expr::Binary) return nullptr;
    Expr* left = bare(c->args[0]);
    Expr* right = bare(c->args[1]);
    std::string op = c->text;
    if (right->kind == Expr::VarRef && right->var == v_) {
      std::swap(left, right);
      if (op[0] == '<' || op[0] == '>') op[0] = op[0] == '<' ? '>' : '<';
    }
    // counter + distance < bound is counter < bound - distance, unless that would wrap around
    Expr* distance = nullptr;
    bool plus = false;
    if (left->kind == Expr::Binary && (left->text == "+" || left->text == "-") && sign_ == Integer::Signed &&
        left->type == v_->type && is_number(bare(left->args[1]))) {
      plus = left->text == "+";
      distance = bare(left->args[1]);
      left = bare(left->args[0]);
    }
    if (left->kind != Expr::VarRef || left->var != v_ || !comparable(right, distance != nullptr))
      return nullptr;
    if (op == "!=" ? step_ != "1" : op != (up_ ? "<" : ">") && op != (up_ ? "<=" : ">=")) return nullptr;
    // Up from 0 or down to it, an unsigned counter does not wrap around.
    wraps_ = op == "!=" && sign_ == Integer::Unsigned && !is_zero(up_ ? loop_->init[0]->expr : right);
    Expr* end = right;
    if (distance) end = offset(end, plus ? "-" : "+", distance);
    if (op == "<=" || op == ">=") end = offset(end, up_ ? "+" : "-", number("1"));
    return end;
  }

  /// Whether comparing the counter with `bound` compares their values.
  bool comparable(const Expr* bound, bool same) const {
    if (bound->type == v_->type) return true;
    const Integer other = integer(bound->type);
    if (same || other == Integer::None || !up_) return false;
    if (is_number(bound) && bound->text.size() < 9) return true;
    const bool wider = rank(bound->type) > rank(v_->type);
    if (other == Integer::Signed) return !wider;  // a negative bound, of a counter that is none, is no bound
    return sign_ == Integer::Unsigned || is_number(bare(loop_->init[0]->expr));
  }

  ir::Function& fn_;
  Stmt* loop_;
  Var* v_ = nullptr;
  Integer sign_ = Integer::None;
  bool up_ = true, wraps_ = false;
  std::string step_;
};

void find_counters(ir::Function& fn, const ir::Body& body) {
  for (Stmt* s : body) {
    for (const ir::Body* inner : {&s->init, &s->body, &s->other}) find_counters(fn, *inner);
    if (s->kind != Stmt::Loop || !(Counter(fn, s).find() || s->parallel)) continue;
    Var* v = s->count.counter;
    if (v->region) std::erase(v->region->vars, v);
    v->region = nullptr;  // never kept
  }
}

}  // namespace

void find_counters(ir::Function& fn) { find_counters(fn, fn.body); }
bool find_counter(ir::Function& fn, Stmt* loop) { return Counter(fn, loop).find(); }

}  // namespace clad
