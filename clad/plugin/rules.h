// Fusion rules: the functions that are marked CLAD_PATTERN, checked and lowered.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/Decl.h"
#include "diagnose.h"
#include "ir.h"
#include "lookup.h"
#include "types.h"

namespace clad {

/// What is computed by `pattern` may be computed by `replacement`.
struct Rule {
  const clang::FunctionDecl* pattern = nullptr;
  const clang::FunctionDecl* replacement = nullptr;
  std::unique_ptr<ir::Function> body;                 ///< the pattern, lowered
  std::vector<const ir::Expr*> outputs;               ///< what it returns: one value, or the parts of a class
  bool several = false;                               ///< the parts of a class
  std::vector<bool> constant;                         ///< parameters that stand for constants alone
  std::map<const ir::Var*, const ir::Stmt*> defined;  ///< where the variables of `body` get their values
  std::string operations;                             ///< "linear + gelu": what it is made of
  std::size_t size = 0;

  /// What a variable stands for, through declarations that only name it.
  const ir::Expr* value(const ir::Expr* e) const;
  /// The call that computes `e`; null if none does.
  const ir::Stmt* call(const ir::Expr* e) const;
  std::string name() const;
};

/// Whether a function is declared to give the same with its first two arguments exchanged.
bool is_commutative(const clang::FunctionDecl* f);

/// All rules of a translation unit, and the bodies of functions that a match may see through.
class Rules {
 public:
  Rules(clang::Sema& sema, TypeTable& types, Diagnose& diagnose, CustomLookup& lookup)
      : sema_(sema), types_(types), diagnose_(diagnose), lookup_(lookup) {}

  /// Reports what is wrong with a rule.
  void add(const clang::FunctionDecl* pattern);
  /// The largest first.
  const std::vector<std::unique_ptr<Rule>>& all() const { return rules_; }
  /// Whether the function is one side of a rule, which is left as it is.
  bool is_part(const clang::FunctionDecl* f) const { return parts_.count(f->getCanonicalDecl()) != 0; }
  /// Whether some pattern calls the function: a call of it stays, for that rule to find.
  bool in_pattern(const clang::FunctionDecl* f) const {
    return in_patterns_.count(f->getCanonicalDecl()) != 0;
  }
  /// The body of a function without a derivative of its own, if it is straight; else null.
  const ir::Function* straight_body(const clang::FunctionDecl* f);
  /// The functions that such a body calls.
  const std::set<const clang::FunctionDecl*>& callees(const clang::FunctionDecl* f) {
    return bodies_[f->getCanonicalDecl()].callees;
  }
  /// A call of the replacement with these arguments, in the place of `at`.
  ir::Stmt* replace(const Rule& rule, ir::Function& fn, const std::vector<ir::Expr*>& args,
                    const ir::Stmt* at);
  TypeTable& types() { return types_; }
  Diagnose& diagnose() { return diagnose_; }
  /// One that reports nothing.
  Diagnose quiet() { return Diagnose(sema_, /*quiet=*/true); }

 private:
  struct Body {
    std::unique_ptr<ir::Function> fn;
    std::set<const clang::FunctionDecl*> callees;
  };
  bool refuse(const clang::FunctionDecl* pattern, const std::string& why);
  bool find_replacement(Rule& rule);
  bool check_parameters(Rule& rule);
  bool check_body(Rule& rule);
  std::unique_ptr<ir::Function> lower(const clang::FunctionDecl* f, Diagnose& diagnose,
                                      std::set<const clang::FunctionDecl*>& callees);

  clang::Sema& sema_;
  TypeTable& types_;
  Diagnose& diagnose_;
  CustomLookup& lookup_;
  std::vector<std::unique_ptr<Rule>> rules_;
  std::set<const clang::FunctionDecl*> parts_;
  std::set<const clang::FunctionDecl*> in_patterns_;
  std::map<const clang::FunctionDecl*, Body> bodies_;
};

}  // namespace clad
