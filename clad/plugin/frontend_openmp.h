// A loop that OpenMP's threads share, while it is lowered.
#pragma once

#include "clang/AST/OpenMPClause.h"
#include "frontend.h"

namespace clad {

struct Frontend::Worksharing {
  struct Reduction {
    const clang::VarDecl* decl;
    std::string op;
    ir::Expr* target = nullptr;
    ir::Var* part = nullptr;   ///< what the loop reduces in place of the variable
    ir::Var* parts = nullptr;  ///< of each iteration, where they are reduced after the loop
  };
  const clang::OMPExecutableDirective* directive = nullptr;
  bool threads = true;  ///< else only `simd`
  std::vector<const clang::VarDecl*> privates, firsts, lasts;
  std::vector<Reduction> reductions;
  std::vector<ir::Parallel::Clause> clauses;

  ir::Stmt* loop = nullptr;
  ir::Var* counter = nullptr;                          ///< where it is declared outside the loop
  std::vector<std::pair<ir::Var*, ir::Expr*>> copies;  ///< of the last iteration, and where they go
  std::set<const ir::Stmt*> ours;                      ///< statements that may write what is shared
};

}  // namespace clad
