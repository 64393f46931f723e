// What a library says in its marks: of what has no derivative, of lists of members.
#pragma once

#include <string>

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"

namespace clad {

/// The text of the mark `[[clang::annotate(mark, "text")]]`; empty without one.
inline std::string text_of(const clang::Decl* decl, llvm::StringRef mark) {
  for (const clang::AnnotateAttr* attr : decl->specific_attrs<clang::AnnotateAttr>()) {
    if (attr->getAnnotation() != mark || attr->args_size() != 1) continue;
    const clang::Expr* text = *attr->args_begin();
    while (const auto* c = llvm::dyn_cast<clang::ConstantExpr>(text)) text = c->getSubExpr();
    if (const auto* literal = llvm::dyn_cast<clang::StringLiteral>(text->IgnoreParenImpCasts()))
      return literal->getString().str();
  }
  return "";
}

/// The text of CLAD_INSTEAD, which names the way out.
inline std::string instead_of(const clang::Decl* of) { return text_of(of, "clad::instead"); }

}  // namespace clad
