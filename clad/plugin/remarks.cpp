// What the reverse sweep costs beside the arithmetic: said at the user's source, on request.
#include "reverse.h"

namespace clad {

using ir::Stmt;
using ir::Var;

namespace {

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
  return text;
}

}  // namespace

/// What a record keeps, in words; empty if nothing.
std::string ReverseTransform::content(const ir::Region* region) const {
  std::vector<std::string> words;
  std::size_t results = 0;
  for (const Var* v : region->vars) {
    if (!v->needed) continue;
    if (v->kind == Var::Local || v->kind == Var::Param)
      words.push_back("'" + v->name + "'");
    else if (v->kind == Var::Temp)
      ++results;
  }
  if (results != 0)
    words.push_back(results == 1 ? "an intermediate result"
                                 : std::to_string(results) + " intermediate results");
  std::size_t calls = 0;
  for (const auto& [s, where] : states_)
    if (where == region && s->kind == Stmt::CallStmt) ++calls;
  if (calls != 0)
    words.push_back(calls == 1 ? "what a call keeps" : "what " + std::to_string(calls) + " calls keep");
  return listed(words);
}

void ReverseTransform::explain_loop(const Stmt* loop) const {
  if (replayed_.count(loop) != 0)
    return diagnose_.remark(loop->loc,
                            "the reverse sweep computes each iteration of this loop again: it keeps nothing");
  if (!loop_recorded(loop))
    return diagnose_.remark(loop->loc,
                            "the reverse sweep runs this loop backwards by its counter: it keeps nothing");
  const std::string what = content(loop->region);
  if (region_empty(loop->region))
    return diagnose_.remark(loop->loc,
                            "the iterations of this loop are counted: how often it runs is not known before");
  std::string text = "each iteration of this loop keeps " + (what.empty() ? "overwritten values" : what);
  if (is_flat(loop))
    text += ", in an array with one entry for each";
  else
    text += loop->count.counter ? ", on a tape" : ", on a tape: how often it runs is not known before";
  diagnose_.remark(loop->loc, text);
}

void ReverseTransform::explain() const {
  if (const std::string what = content(fn_.region); !what.empty())
    diagnose_.remark(fn_.loc, "the reverse sweep of '" + fn_.primal_name +
                                  "' reads what the forward sweep keeps: " + what);
  for (const auto& s : fn_.stmts) {
    if (s->kind == Stmt::Loop && loops_.count(s.get()) != 0) explain_loop(s.get());
    if (s->call && s->call->checkpoint)
      diagnose_.remark(s->loc, "the reverse sweep makes this call again: it keeps its arguments alone");
    auto saves = saves_.find(s.get());
    if (saves == saves_.end()) continue;
    for (const Save& save : saves->second) {
      if (!*save.live) continue;
      const Var* v = save.what->kind == ir::Expr::VarRef ? save.what->var : ir::root(save.what);
      diagnose_.remark(s->loc, "keeps what " + (v ? "'" + v->name + "'" : "is changed") +
                                   " holds before this: the reverse sweep reads it");
    }
  }
}

}  // namespace clad
