// Finds a fusion rule's pattern in a function.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir.h"
#include "rules.h"

namespace clad {

/// The statements that are looked at together: one body of the function, or that of a function it calls.
struct Frame {
  const ir::Function* fn = nullptr;
  const ir::Stmt* call = nullptr;  ///< the call in `parent` whose body it is
  const Frame* parent = nullptr;
  std::map<const ir::Var*, const ir::Stmt*>
      defined;  ///< where variables that are never changed get their values

  void define(const ir::Body& body, const std::set<const ir::Var*>& written);
};

/// An expression, and where it stands.
struct Node {
  const Frame* frame = nullptr;
  const ir::Expr* e = nullptr;
};
using Place = std::pair<const Frame*, const ir::Stmt*>;

/// What an attempt at a match has found so far.
struct Found {
  std::vector<std::optional<Node>> bound;      ///< what the parameters stand for
  std::map<const ir::Stmt*, Place> calls;      ///< the call for each one of the pattern
  std::set<Place> matched;                     ///< the same, as a set
  std::vector<const ir::Expr*> compared;       ///< what was found equal
  std::set<const ir::Stmt*> compared_by;       ///< the declarations that showed it
  std::set<Place> named;                       ///< declarations between them
  std::map<Place, const Frame*> seen_through;  ///< calls whose bodies it goes through
};

/// A match of one rule, or an attempt at one. It looks through calls of functions without a derivative of
/// their own, as if their bodies stood in the place of the call. Operands that commute are tried both ways.
class Match : public Found {
 public:
  using Then = std::function<bool()>;

  Match(const Rule& rule, Rules& rules, const Frame& root) : rule(rule), rules_(rules), root_(root) {
    bound.resize(rule.body->params.size());
  }

  /// Whether what the pattern computes as `p` is what `n`, or the statement `s` of the function, computes, in
  /// a way that `then` accepts. If not, all is as it was.
  bool expression(const ir::Expr* p, Node n, const Then& then) { return find({p, nullptr, n}, then); }
  bool call(const ir::Stmt* p, const ir::Stmt* s, const Then& then) {
    return find({nullptr, p, {&root_, nullptr}, s}, then);
  }
  /// `n` as an expression of the function itself.
  const ir::Expr* in_root(Node n);
  /// Whether a derivative may flow through `n`.
  bool may_carry(Node n);
  /// Whether both have the same value, if nothing is written meanwhile.
  bool equal(const ir::Expr* a, const ir::Expr* b);

  const Rule& rule;
  std::set<const ir::Stmt*> closed;  ///< statements that this rule has made itself

 private:
  /// The pattern's expression, or the call in it, that is to be what `node`, or the statement, computes.
  struct Goal {
    const ir::Expr* e = nullptr;
    const ir::Stmt* call = nullptr;
    Node node;
    const ir::Stmt* at = nullptr;
  };
  using Goals = std::vector<Goal>;  ///< the next one last

  bool find(const Goal& goal, const Then& then);
  bool reach(Goals goals, const Then& then);
  bool take_apart(const Goal& goal, Goals& parts, bool& commutes);
  bool take_call_apart(const Goal& goal, Goals& parts, bool& commutes);
  Node resolve(Node n) const;
  Node follow(Node n);
  bool bind(std::size_t parameter, Node n);
  const Frame* see_through(const Frame* frame, const ir::Stmt* call);

  Rules& rules_;
  const Frame& root_;
  std::vector<std::unique_ptr<Frame>> frames_;
  ir::Function copies_;    ///< holds what in_root() makes
  std::size_t swaps_ = 0;  ///< tried so far
};

}  // namespace clad
