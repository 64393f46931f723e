// What is known of the adjoints that a loop adds to: for sums.cpp and parallel.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reverse.h"

namespace clad {

/// The adjoint that a path through adjoints starts from.
const ir::Var* adjoint_root(const ir::Expr* e);
/// Whether it may be the same memory as other adjoints.
bool is_outside(const ir::Var* adjoint);
/// The adjoint that the line adds to, or null.
const ir::Expr* sum_target(const Reverse& r);
bool inside(const ir::Region* r, const ir::Stmt* loop);
template <class F>
void each_line(const std::vector<Reverse>& list, F&& visit) {
  for (const Reverse& r : list) {
    visit(r);
    each_line(r.body, visit);
    each_line(r.other, visit);
  }
}

/// Which of the adjoints that a parallel loop adds to belong to one iteration each.
class Exclusive {
 public:
  Exclusive(ir::Function& fn, const Reverse& loop);
  /// Whether no two iterations add to the same place, if the conditions are true.
  bool holds(const ir::Expr* target) const;
  /// What has to be seen at run time: that arrays behind different pointers are apart.
  const std::vector<const ir::Expr*>& conditions() const { return conditions_; }

 private:
  struct Term {
    const ir::Expr* e;
    bool minus;
  };
  using Terms = std::vector<Term>;  ///< whose sum is an index
  /// A step of a path: a member, or an element.
  struct Step {
    std::string member;
    Terms index;
  };
  struct Place {
    const ir::Var* root = nullptr;
    const ir::Expr* start = nullptr;  ///< its expression
    std::vector<Step> steps;
  };
  /// An index (...(counter * s1 + r1) * s2 + ...) + rn, where 0 <= ri < si, and a shift.
  struct Form {
    std::vector<const ir::Expr*> strides;
    Terms shift;
  };

  bool walk(const ir::Expr* e, Place& to) const;
  bool walk_pointer(const ir::Expr* p, Terms index, Place& to) const;
  void add_terms(const ir::Expr* e, bool minus, Terms& to) const;
  const ir::Expr* value(const ir::Expr* e) const;
  bool mentions(const ir::Expr* e, const ir::Var* v) const;
  bool is_fixed(const ir::Expr* e) const;
  bool is_digit(const Term& digit, const ir::Expr* stride) const;
  std::optional<Form> form(const Terms& terms) const;
  bool tell_apart(const Place& a, const Place& b) const;
  bool is_same_form(const Place& a, const Place& b) const;
  ir::Expr* interval(const ir::Expr* e) const;
  ir::Expr* range(const ir::Var* root) const;
  void find_conditions();

  ir::Function& fn_;
  const ir::Stmt* loop_;
  std::map<const ir::Var*, const ir::Expr*> constants_;  ///< what local integers stand for
  std::map<const ir::Var*, const ir::Stmt*> counters_;   ///< of this loop and those in it
  std::map<const ir::Var*, std::vector<Place>> places_;  ///< of the targets, by root
  std::set<const ir::Var*> unknown_;                     ///< roots with targets that are not understood
  std::set<const ir::Var*> own_;
  std::vector<const ir::Expr*> conditions_;
};

}  // namespace clad
