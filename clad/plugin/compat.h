// The differences between the Clang versions the plugin builds against (16 to 22), in one place.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "clang/Basic/Version.h"
#include "clang/Sema/Lookup.h"
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

inline bool is_pure(const clang::CXXMethodDecl* method) {
#if CLANG_VERSION_MAJOR >= 18
  return method->isPureVirtual();
#else
  return method->isPure();
#endif
}

/// Whether a vector type is one of the language's extension, not one of a processor's.
inline bool is_generic(const clang::VectorType* type) {
#if CLANG_VERSION_MAJOR >= 18
  return type->getVectorKind() == clang::VectorKind::Generic;
#else
  return type->getVectorKind() == clang::VectorType::GenericVector;
#endif
}

/// The array type of `count` elements.
inline clang::QualType array_type(clang::ASTContext& context, clang::QualType element, unsigned count) {
  llvm::APInt size(64, count);
#if CLANG_VERSION_MAJOR >= 18
  return context.getConstantArrayType(element, size, nullptr, clang::ArraySizeModifier::Normal, 0);
#else
  return context.getConstantArrayType(element, size, nullptr, clang::ArrayType::Normal, 0);
#endif
}

/// std::vector of `element`, whose header the runtime includes.
inline clang::QualType vector_type(clang::Sema& sema, clang::QualType element) {
  clang::ASTContext& context = sema.Context;
  clang::LookupResult found(sema, &context.Idents.get("vector"), clang::SourceLocation(),
                            clang::Sema::LookupOrdinaryName);
  sema.LookupQualifiedName(found, sema.getStdNamespace());
  clang::TemplateArgumentListInfo args;
  args.addArgument(clang::TemplateArgumentLoc(clang::TemplateArgument(element),
                                              context.getTrivialTypeSourceInfo(element)));
  const clang::QualType type = sema.CheckTemplateIdType(
      clang::TemplateName(found.getAsSingle<clang::ClassTemplateDecl>()), clang::SourceLocation(), args);
  sema.isCompleteType(clang::SourceLocation(), type);
  return type;
}

/// Whether a declaration stands in std::chrono, of which all is plain code on numbers that is visible.
inline bool in_chrono(const clang::Decl* decl) {
  for (const clang::DeclContext* c = decl->getDeclContext(); c; c = c->getParent())
    if (const auto* n = llvm::dyn_cast<clang::NamespaceDecl>(c); n && n->getName() == "chrono")
      return n->getParent()->isStdNamespace();
  return false;
}

/// Whether a declaration is, or is a member of, a class of the library that hands on to the container it has.
inline bool in_adaptor(const clang::Decl* decl) {
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl);
  if (!record) record = llvm::dyn_cast<clang::CXXRecordDecl>(decl->getDeclContext());
  return record && record->isInStdNamespace() && record->getIdentifier() &&
         (record->getName() == "stack" || record->getName() == "queue" ||
          record->getName() == "priority_queue");
}

/// Whether a declaration is part of a view of std::ranges, or of what makes one, of which all is plain code
/// around ranges and functions. The algorithms, and what swaps, are the library's.
inline bool in_views(const clang::Decl* decl) {
  const auto is_view = [](const clang::CXXRecordDecl* record) {
    return record->getIdentifier() && record->isInStdNamespace() &&
           (record->getName() == "view_interface" || record->getName() == "counted_iterator");
  };
  if (const auto* of = llvm::dyn_cast<clang::CXXRecordDecl>(decl->getLexicalDeclContext()); of && is_view(of))
    return true;  // a friend
  const auto is_function = [](const clang::CXXRecordDecl* record) {
    if (!record->getIdentifier()) return false;
    const llvm::StringRef name = record->getName();
    static constexpr llvm::StringRef others[] = {"_Swap",      "_IterSwap",     "less",     "greater",
                                                 "less_equal", "greater_equal", "equal_to", "not_equal_to"};
    return (name.starts_with("__") && name.ends_with("_fn")) || llvm::is_contained(others, name);
  };
  for (const clang::Decl* d = decl; d; d = llvm::dyn_cast_or_null<clang::Decl>(d->getDeclContext())) {
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(d)) {
      if (is_view(record)) return true;
      if (is_function(record)) return false;
    }
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(d))
      if (space->getName() == "ranges" && space->getParent()->isStdNamespace()) return true;
  }
  return false;
}

/// Whether a declaration is the standard library's, its implementation namespaces included; not if the body
/// of what it declares is differentiated like the program's own.
inline bool in_std(const clang::Decl* decl) {
  const clang::NamespaceDecl* outermost = nullptr;
  for (const clang::DeclContext* c = decl->getDeclContext(); c; c = c->getParent())
    if (const auto* n = llvm::dyn_cast<clang::NamespaceDecl>(c); n && !n->isAnonymousNamespace())
      outermost = n;
  if (!outermost || (outermost->getName() != "std" && outermost->getName().substr(0, 2) != "__"))
    return false;
  return !in_chrono(decl) && !in_adaptor(decl) && !in_views(decl);
}

/// Whether a function is the standard library's or C's, and no function of the program that is called like
/// one.
inline bool is_of_library(const clang::FunctionDecl* f) {
  const clang::FunctionDecl* definition = nullptr;
  return in_std(f) || (f->isExternC() &&
                       (!f->hasBody(definition) ||
                        f->getASTContext().getSourceManager().isInSystemHeader(definition->getLocation())));
}

/// Whether a declaration stands directly in the namespace of our runtime.
inline bool in_clad(const clang::Decl* decl) {
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl->getDeclContext());
  return space && space->getName() == "clad" && space->getParent()->isTranslationUnit();
}

/// Whether a declaration stands anywhere in it, be it in a class or in a namespace inside.
inline bool within_clad(const clang::Decl* decl) {
  for (const clang::DeclContext* c = decl->getDeclContext(); c; c = c->getParent())
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(c);
        space && space->getParent()->isTranslationUnit() && space->getName() == "clad")
      return true;
  return false;
}

/// Whether a declaration has the attribute [[clang::annotate(...)]] with this text.
inline bool annotated(const clang::Decl* decl, llvm::StringRef with) {
  for (const clang::AnnotateAttr* attr : decl->specific_attrs<clang::AnnotateAttr>())
    if (attr->getAnnotation() == with) return true;
  return false;
}

/// Whether the user marked a member or a class as one through which no derivative flows.
inline bool is_constant(const clang::Decl* decl) {
  return annotated(decl, "clad::constant") || annotated(decl, "non_differentiable");
}

/// The default of a template's parameter.
inline clang::QualType default_type(const clang::TemplateTypeParmDecl* param) {
#if CLANG_VERSION_MAJOR >= 19
  return param->getDefaultArgument().getArgument().getAsType();
#else
  return param->getDefaultArgument();
#endif
}

/// Overload resolution with candidates that live in a namespace of ours, by qualified name.
inline void add_template_candidate(clang::Sema& sema, clang::FunctionTemplateDecl* decl,
                                   clang::DeclAccessPair found, llvm::ArrayRef<clang::Expr*> args,
                                   clang::OverloadCandidateSet& set, bool partial = false) {
  sema.AddTemplateOverloadCandidate(decl, found, /*ExplicitTemplateArgs=*/nullptr, args, set,
                                    /*SuppressUserConversions=*/false, /*PartialOverloading=*/partial);
}

}  // namespace clad::compat
