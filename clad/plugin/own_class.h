// What a member function does with its object as one whose class is asked for when the program runs.
#pragma once

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

namespace clad {

/// Whether a method, itself or by what it calls, runs what the class of its object decides.
bool calls_virtually(const clang::CXXMethodDecl* method);

/// Where a constructor of a class with virtual functions lets others ask for the class of the object that it
/// makes: it calls `method`, or hands the object on.
struct UseOfClass {
  const clang::Expr* at = nullptr;  ///< null if it does not
  const clang::CXXMethodDecl* method = nullptr;
};
UseOfClass use_of_class(const clang::CXXConstructorDecl* ctor);

}  // namespace clad
