// How the rules are applied to one function. fuse.cpp finds matches and rewrites; fuse_check.cpp decides
// whether a match may be replaced.
#pragma once

#include <map>
#include <set>
#include <string>

#include "ir.h"
#include "match.h"
#include "rules.h"

namespace clad {

/// How often `e` names the variable.
std::size_t count(const ir::Expr* e, const ir::Var* v);

class Fuser {
 public:
  Fuser(ir::Function& fn, Rules& rules, std::set<const clang::FunctionDecl*>& callees)
      : fn_(fn), rules_(rules), callees_(callees) {}

  void run();

 private:
  void run(ir::Body& body, ir::Region* region);
  void find_activity();
  bool step(ir::Body& body, ir::Region* region);
  bool attempt(const Rule& rule, ir::Stmt* at, const ir::Expr* root);
  bool find_outputs(Match& m, std::size_t next);
  bool acceptable(Match& m);
  void find_removed(Match& m);
  bool place(Match& m);
  std::size_t index(Place p) const;
  std::size_t outside_uses(const Match& m, const Frame* frame, const ir::Var* v) const;
  void see_through(Match& m);
  void rewrite(Match& m);
  void tidy(ir::Body& body);
  void drop_unused();
  void name_outputs(const Match& m, ir::Var* whole, ir::Body& made);
  void forget(ir::Var* v) {
    if (v->region) std::erase(v->region->vars, v);
  }
  std::string describe(const Rule& rule) const;
  bool miss(ir::Loc at, std::string why) {
    if (why_not_.second.empty()) why_not_ = {at, std::move(why)};
    return false;
  }

  ir::Function& fn_;
  Rules& rules_;
  std::set<const clang::FunctionDecl*>& callees_;
  bool changed_ = false;
  std::map<const ir::Stmt*, std::set<const Rule*>> made_by_;  ///< the rules that a statement comes from
  std::set<const ir::Stmt*> bodies_;  ///< those of replacements that stand in the place of their calls

  // Of one step.
  ir::Body* body_ = nullptr;
  ir::Region* region_ = nullptr;
  Frame root_;
  // Of one attempt.
  ir::Stmt* at_ = nullptr;  ///< the statement that computes the pattern's (last) value
  const ir::Expr* part_ =
      nullptr;  ///< the expression in it that is the pattern's value, unless it is a call's
  std::pair<ir::Loc, std::string> why_not_;  ///< the first reason against a match that was found
  std::set<Place> removed_;
  std::size_t position_ = 0;  ///< of the replacement
};

}  // namespace clad
