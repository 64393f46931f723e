// Reductions of parallel loops. A sum is one that the threads take, of a variable that nothing but the loop
// sees. The factors of a product, and what a maximum is taken of, are kept, and reduced after the loop in
// turn: that has the ordinary derivative.
#include <algorithm>

#include "frontend_openmp.h"

using namespace clang;

namespace clad {
namespace {

std::string identity(const std::string& op, const ir::Type* type) {
  if (op == "*" || op == "&&") return "1";
  if (op == "&") return "~" + type->name + "{}";
  const bool real = type->kind == ir::Type::Real;
  if (op == "max") return real ? "-__builtin_inf()" : "std::numeric_limits<" + type->name + ">::lowest()";
  if (op == "min") return real ? "__builtin_inf()" : "std::numeric_limits<" + type->name + ">::max()";
  return "0";
}

bool is_sum(const std::string& op) { return op == "+" || op == "-"; }

bool names(const ir::Expr* e, const ir::Var* v) { return e && e->kind == ir::Expr::VarRef && e->var == v; }

/// `s = s + e` is `s += e`.
void write_as_sum(ir::Stmt* s, const ir::Var* v) {
  if (s->text != "=" || !names(s->lhs, v) || s->expr->kind != ir::Expr::Binary) return;
  const ir::Expr* e = s->expr;
  if (e->text != "+" && e->text != "-") return;
  if (names(e->args[0], v)) {
    s->text = e->text + "=";
    s->expr = e->args[1];
  } else if (names(e->args[1], v) && e->text == "+") {
    s->text = "+=";
    s->expr = e->args[0];
  }
}

/// The statement that does anything else with `v` than to add to it, or null.
const ir::Stmt* other_use(const ir::Body& body, const ir::Var* v) {
  for (ir::Stmt* s : body) {
    if (s->kind == ir::Stmt::Assign) write_as_sum(s, v);
    const bool step = s->text == "++" || s->text == "--";
    const bool adds =
        s->kind == ir::Stmt::Assign && names(s->lhs, v) && (step || s->text == "+=" || s->text == "-=");
    if (ir::reads(s->expr, v) || (!adds && ir::reads(s->lhs, v))) return s;
    if (s->kind == ir::Stmt::AliasDecl && ir::reads(s->var->path, v)) return s;
    if (s->call)
      for (const ir::CallInfo::Arg& a : s->call->args)
        if (ir::reads(a.expr, v)) return s;
    for (const ir::Body* inner : {&s->init, &s->body, &s->other})
      if (const ir::Stmt* found = other_use(*inner, v)) return found;
  }
  return nullptr;
}

}  // namespace

/// Before the loop: what its threads reduce into.
void Frontend::begin_reductions(Worksharing& loop) {
  source_ = "";
  for (auto& r : loop.reductions) {
    r.target = bindings_.at(r.decl);
    const ir::Type* type = types_.get(r.decl->getType());
    if (type->kind != ir::Type::Real && type->kind != ir::Type::Scalar) {
      fail(loop.directive->getBeginLoc(), "cannot differentiate a reduction of '" +
                                              r.decl->getNameAsString() + "' of type '" + type->name +
                                              "'; reduce numbers");
      return;
    }
    if (type->kind == ir::Type::Real && !is_sum(r.op)) {
      r.parts =
          fn_.make_var(ir::Var::Local, r.decl->getNameAsString() + "_parts", types_.vector_of(type), region_);
      r.parts->modified = true;
      unstable_.insert(r.parts);
      continue;
    }
    r.part = fn_.make_var(ir::Var::Local, r.decl->getNameAsString() + "_part", type, region_);
    r.part->modified = true;
    unstable_.insert(r.part);
    ir::Stmt* s = emit(ir::Stmt::Decl, at_);
    s->var = r.part;
    s->expr = fn_.make(ir::Expr::Literal, type, identity(r.op, type));
    bindings_[r.decl] = fn_.ref(r.part);
  }
}

/// What an iteration contributes to a product or a maximum is a variable of its own.
void Frontend::begin_iteration(Worksharing& loop) {
  for (auto& r : loop.reductions) {
    if (!r.parts) continue;
    r.part = fn_.make_var(ir::Var::Local, r.decl->getNameAsString(), r.parts->type->element, region_);
    r.part->modified = true;
    unstable_.insert(r.part);
    ir::Stmt* s = emit(ir::Stmt::Decl, at_);
    s->var = r.part;
    s->expr = fn_.make(ir::Expr::Literal, r.part->type, identity(r.op, r.part->type));
    bindings_[r.decl] = fn_.ref(r.part);
  }
}

/// At the end of the body, and what has to stand before the loop.
void Frontend::end_reductions(Worksharing& loop, ir::Body& before) {
  const auto& count = loop.loop->count;
  for (auto& r : loop.reductions) {
    if (!r.parts) {
      if (const ir::Stmt* s = is_sum(r.op) ? other_use(loop.loop->body, r.part) : nullptr)
        diagnose_.error(s->loc, "cannot differentiate this use of the reduction variable '" +
                                    r.decl->getNameAsString() + "': the loop may only add to it");
      continue;
    }
    if (count.step != "1") {
      fail(loop.directive->getBeginLoc(),
           "cannot differentiate a reduction with '" + r.op + "' in a loop whose step is not 1");
      return;
    }
    const ir::Type* size = types_.get(context_.getSizeType());
    ir::Expr* low = count.up ? count.first : count.end;
    ir::Expr* high = count.up ? count.end : count.first;
    auto minus = [&](ir::Expr* a, ir::Expr* b) {
      const bool zero = b->kind == ir::Expr::Literal && b->text == "0";
      return zero ? a : fn_.make(ir::Expr::Binary, a->type, "-", {a, b});
    };
    auto number = [&](ir::Expr* e, const ir::Type* type) {
      ir::Expr* c = fn_.cast(type, type->name, e);
      return c;
    };
    // the distance of counters that may wrap around is one of their type
    auto distance = [&](ir::Expr* e) { return count.wraps ? number(e, count.counter->type) : e; };
    ir::Expr* some =
        fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy), count.wraps ? "!=" : "<", {low, high});
    ir::Expr* length =
        fn_.make(ir::Expr::Conditional, size, "",
                 {some, number(distance(minus(high, low)), size), literal("0", context_.getSizeType())});
    ir::Stmt* d = fn_.stmt(ir::Stmt::Decl, loop.loop->loc, "");
    d->var = r.parts;
    d->expr = fn_.make(ir::Expr::Construct, r.parts->type, "", {length});
    before.push_back(d);
    ir::Expr* i = fn_.ref(count.counter);
    ir::Expr* index = distance(count.up ? minus(i, count.first) : minus(count.first, i));
    ir::Expr* place = fn_.make(ir::Expr::Index, r.part->type, "", {fn_.ref(r.parts), index});
    assign(place, "=", fn_.ref(r.part), loop.loop->loc);
    loop.ours.insert(out_->back());
  }
}

/// After the loop.
void Frontend::reduce(Worksharing& loop) {
  for (auto& r : loop.reductions) {
    auto combine = [&](ir::Expr* part) {
      if (r.op == "min" || r.op == "max") {
        ir::Stmt* branch = emit(ir::Stmt::If, at_);
        record_condition(branch, fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy),
                                          r.op == "max" ? "<" : ">", {r.target, part}));
        ir::Body* outer = std::exchange(out_, &branch->body);
        assign(r.target, "=", part, at_);
        out_ = outer;
      } else if (is_sum(r.op)) {
        assign(r.target, "+=", part, at_);
      } else {
        assign(r.target, "=", fn_.make(ir::Expr::Binary, r.target->type, r.op, {r.target, part}), at_);
      }
    };
    if (!r.parts) {
      combine(fn_.ref(r.part));
      continue;
    }
    const QualType size = context_.getSizeType();
    ir::Var* k = fn_.make_var(ir::Var::Local, "k", types_.get(size), region_);
    k->modified = true;
    ir::Stmt* each = fn_.stmt(ir::Stmt::Loop, loop.loop->loc, "");
    ir::Stmt* start = fn_.stmt(ir::Stmt::Decl, loop.loop->loc, "");
    start->var = k;
    start->expr = literal("0", size);
    each->init.push_back(start);
    out_->push_back(each);
    begin_loop(each);
    ir::Body* outer = std::exchange(out_, &each->body);
    ir::Expr* all = fn_.make(ir::Expr::Method, types_.get(size), "size", {fn_.ref(r.parts)});
    each->expr = fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy), "<", {fn_.ref(k), all});
    combine(fn_.make(ir::Expr::Index, r.parts->type->element, "", {fn_.ref(r.parts), fn_.ref(k)}));
    ir::Stmt* next = fn_.stmt(ir::Stmt::Assign, loop.loop->loc, "");
    next->text = "++";
    next->lhs = fn_.ref(k);
    each->other.push_back(next);
    out_ = outer;
    region_ = each->region->parent;
  }
}

}  // namespace clad
