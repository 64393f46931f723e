// The differences between the Clang versions the plugin builds against (16 to 22), in one place.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "clang/Basic/Version.h"
#include "clang/Sema/Overload.h"
#include "clang/Sema/Sema.h"

namespace clad::compat {

inline clang::QualType record_type(clang::ASTContext& context, const clang::CXXRecordDecl* record) {
#if CLANG_VERSION_MAJOR >= 22
  return context.getCanonicalTagType(record);
#else
  return context.getRecordType(record);
#endif
}

/// Whether a function, or the class it is a member of, is the standard library's.
inline bool in_std(const clang::FunctionDecl* f) {
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(f))
    return method->getParent()->isInStdNamespace();
  return f->isInStdNamespace();
}

/// Overload resolution with candidates that live in a namespace of ours, by qualified name.
inline void add_template_candidate(clang::Sema& sema, clang::FunctionTemplateDecl* decl,
                                   clang::DeclAccessPair found, llvm::ArrayRef<clang::Expr*> args,
                                   clang::OverloadCandidateSet& set, bool partial = false) {
  sema.AddTemplateOverloadCandidate(decl, found, /*ExplicitTemplateArgs=*/nullptr, args, set,
                                    /*SuppressUserConversions=*/false, /*PartialOverloading=*/partial);
}

}  // namespace clad::compat
