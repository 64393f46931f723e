// What a library says of what has no derivative.
#pragma once

#include <string>

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"

namespace clad {

/// The text of CLAD_INSTEAD, which names the way out; empty without one.
inline std::string instead_of(const clang::Decl* of) {
  for (const clang::AnnotateAttr* attr : of->specific_attrs<clang::AnnotateAttr>()) {
    if (attr->getAnnotation() != "clad::instead" || attr->args_size() != 1) continue;
    const clang::Expr* text = *attr->args_begin();
    while (const auto* c = llvm::dyn_cast<clang::ConstantExpr>(text)) text = c->getSubExpr();
    if (const auto* literal = llvm::dyn_cast<clang::StringLiteral>(text->IgnoreParenImpCasts()))
      return literal->getString().str();
  }
  return "";
}

}  // namespace clad
