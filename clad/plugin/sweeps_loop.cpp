// The text of loops: their records and tapes, and iterations that are computed again.
#include <algorithm>

#include "reverse.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

/// Whether the records of a loop lie side by side: their number is known before it, and they are numbers.
bool ReverseTransform::is_flat(const Stmt* loop) const {
  if (!analyses_.flat || !loop->count.counter || (loop->count.step != "1" && !loop->parallel) ||
      !loop->region->members.empty())
    return false;
  for (const Var* v : loop->region->vars) {
    const Type* t = v->type;
    while (t->kind == Type::Array) t = t->element;
    const bool number = t->kind == Type::Real || t->kind == Type::Scalar;
    if (v->needed && (!number || v->optional || v->raw || v->by_pointer)) return false;
  }
  return std::none_of(loops_.begin(), loops_.end(), [&](const Stmt* inner) {
    return inner->region->parent == loop->region && loop_recorded(inner);
  });
}

/// Of the iteration that the counter stands at.
std::string ReverseTransform::flat_record(const Stmt* loop) const {
  const std::string i = loop->count.counter->name, first = print(loop->count.first);
  const bool atomic = ir::is_atomic(loop->count.first);
  const std::string start = atomic ? first : "(" + first + ")";
  std::string index = !loop->count.up ? print_term(loop->count.first) + " - " + i
                      : first == "0"  ? i
                                      : i + " - " + start;
  if (loop->count.wraps) index = "static_cast<" + loop->count.counter->type->name + ">(" + index + ")";
  if (loop->count.step != "1") index = (index == i ? i : "(" + index + ")") + " / " + loop->count.step;
  return loop->region->parent->record + "." + loop->tape + "[" + index + "]";
}

/// Whether the records of the loop, and of those in it, are kept where printing goes on.
void ReverseTransform::set_kept(const Stmt* loop, bool kept) const {
  for (const auto& r : fn_.regions)
    for (const ir::Region* up = r.get(); up; up = up->parent)
      if (up == loop->region) r->kept = kept;
}

void ReverseTransform::forward_loop(const Stmt* s, Text& out) const {
  std::string init, increment;
  bool natural = !s->post_test && s->init.size() <= 1 && s->other.size() <= 1;
  if (natural && !s->init.empty()) natural = !(init = simple(s->init[0])).empty();
  if (natural && !s->other.empty()) natural = !(increment = simple(s->other[0])).empty();
  if (!natural)
    for (const Stmt* start : s->init) forward(start, out);
  if (loop_recorded(s) && s->region->kept && is_indexed(s)) {
    const Expr *low = s->count.up ? s->count.first : s->count.end,
               *high = s->count.up ? s->count.end : s->count.first;
    const std::string range =
        s->count.wraps ? "0, " + print_term(high) + " - " + print_term(low) : print(low) + ", " + print(high);
    out.line(s->region->parent->record + "." + s->tape + ".reserve<" + s->count.counter->type->name + ">(" +
                 range + ");",
             s->loc);
  }
  std::string cond = print(s->expr);
  if (s->parallel && !fn_.error) forward_pragma(s, out);  // errors are of each value on the way
  if (s->post_test)
    out.line("do {", s->loc);
  else if (natural && !(init.empty() && increment.empty()))
    out.line("for (" + init + "; " + (cond == "true" ? "" : cond) + ";" +
                 (increment.empty() ? "" : " " + increment) + ") {",
             s->loc);
  else
    out.line("while (" + cond + ") {", s->loc);
  if (loop_recorded(s) && s->region->kept) {
    std::string tape = s->region->parent->record + "." + s->tape;
    if (region_empty(s->region))
      out.line("++" + tape + ";", s->loc);
    else if (is_indexed(s))
      out.line("auto& " + s->region->record + " = " + flat_record(s) + ";", s->loc);
    else
      out.line("auto& " + s->region->record + " = " + tape + ".push();", s->loc);
  }
  auto* self = const_cast<ReverseTransform*>(this);
  ir::Region* outer = self->region_;
  self->region_ = s->region;
  const bool kept = s->region->kept;
  if (replayed_.count(s) != 0) set_kept(s, false);
  forward(s->body, out);
  if (!natural) forward(s->other, out);
  if (replayed_.count(s) != 0) set_kept(s, kept);
  self->region_ = outer;
  out.line(s->post_test ? "} while (" + cond + ");" : "}", s->loc);
}

/// Of a loop of the reverse sweep: what stands in the parentheses after `for`.
std::string ReverseTransform::loop_head(const Reverse& r) const {
  const Stmt* loop = r.loop;
  const bool empty = region_empty(loop->region) || replayed_.count(loop) != 0;
  const std::string tape = loop->region->parent->record + "." + loop->tape;
  const Var* v = loop->count.counter;
  if (!v) return empty ? "; " + tape + " > 0; --" + tape : "; !" + tape + ".empty(); " + tape + ".pop()";
  const std::string first = print_term(loop->count.first);
  std::string end = print_term(loop->count.end);
  if (is_unordered(r)) {
    const std::string& step = loop->count.step;
    const char* sign = loop->count.up ? "+" : "-";
    const char* until = loop->count.wraps ? " != " : loop->count.up ? " < " : " > ";
    return v->type->name + " " + v->name + " = " + first + "; " + v->name + until + end + "; " +
           (step == "1" ? std::string(sign) + sign + v->name : v->name + " " + sign + "= " + step);
  }
  if (loop->count.step != "1")
    end = "clad::count_end<" + v->type->name + ">(" + first + ", " + end + ", " +
          (loop->count.up ? "" : "-") + loop->count.step + ")";
  const char* until = loop->count.wraps ? " != " : loop->count.up ? " > " : " < ";
  return v->type->name + " " + v->name + " = " + end + "; " + v->name + until + first + ";" +
         (empty || is_indexed(loop) ? "" : " " + tape + ".pop()");
}

/// What the reverse sweep reads of an iteration, computed again.
void ReverseTransform::replay(const Stmt* loop, Text& out) const {
  out.line("struct " + loop->region->type + " {", loop->loc);
  region_text(loop->region, out);
  out.line("} " + loop->region->record + ";", loop->loc);
  out.line("{", loop->loc);
  auto* self = const_cast<ReverseTransform*>(this);
  ir::Region* outer = self->region_;
  self->region_ = loop->region;
  slice_ = &slices_.at(loop);
  forward(loop->body, out);
  slice_ = nullptr;
  self->region_ = outer;
  out.line("}", loop->loc);
}

void ReverseTransform::backward_loop(const Reverse& r, Text& out) const {
  const Stmt* loop = r.loop;
  const std::string tape = loop->region->parent->record + "." + loop->tape;
  if (loop->parallel) pragma(r, out);
  out.line(with_comment("for (" + loop_head(r) + ") {", r.comment), r.loc);
  if (loop->count.counter && !is_unordered(r)) {
    const std::string& step = loop->count.step;
    const std::string back = loop->count.up ? "-" : "+";
    out.line((step == "1" ? back + back + loop->count.counter->name
                          : loop->count.counter->name + " " + back + "= " + step) +
                 ";",
             r.loc);
  }
  if (replayed_.count(loop) != 0)
    replay(loop, out);
  else if (!region_empty(loop->region))
    out.line("auto& " + loop->region->record + " = " +
                 (is_indexed(loop) ? flat_record(loop) : tape + ".back()") + ";",
             r.loc);
  backward(r.body, out);
  // By the thread that is likely to have filled it, and to fill it in the next call.
  if (loop->parallel && !is_flat(loop) && replayed_.count(loop) == 0 && !region_empty(loop->region))
    out.line("clad::release(" + loop->region->record + ");", r.loc);
  out.line("}", r.loc);
}

}  // namespace clad
