// Smart pointers to objects without derivatives: which are followed to the object that they own.
#include <set>

#include "ast_visitor.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "compat.h"
#include "types.h"

using namespace clang;

namespace clad {

/// Whether an object of the class is no part of a list, a tree or the like, and no object of a derived class:
/// a pointer to it says which it is.
static bool is_single(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  record = record ? record->getDefinition() : nullptr;
  if (!record || record->isPolymorphic()) return false;
  std::set<const CXXRecordDecl*> seen;
  const auto leads_back = [&](const auto& self, QualType part) -> bool {
    part = part->getBaseElementTypeUnsafe()->getCanonicalTypeInternal().getNonReferenceType();
    if (part->isPointerType()) return self(self, part->getPointeeType());
    const CXXRecordDecl* inner = part->getAsCXXRecordDecl();
    inner = inner ? inner->getDefinition() : nullptr;
    if (!inner) return false;
    if (inner == record && !seen.empty()) return true;
    if (!seen.insert(inner).second) return false;
    if (const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(inner))
      for (const TemplateArgument& a : spec->getTemplateArgs().asArray())
        if (a.getKind() == TemplateArgument::Type && self(self, a.getAsType())) return true;
    if (compat::in_std(inner)) return false;
    return llvm::any_of(inner->bases(), [&](const auto& base) { return self(self, base.getType()); }) ||
           llvm::any_of(inner->fields(), [&](const FieldDecl* f) { return self(self, f->getType()); });
  };
  return !leads_back(leads_back, type);
}

/// What a std::unique_ptr or std::shared_ptr owns; null of any other type.
static const CXXRecordDecl* owned_by(QualType type) {
  const auto* spec =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!spec || !spec->getIdentifier() || !compat::in_std(spec)) return nullptr;
  if (spec->getName() != "unique_ptr" && spec->getName() != "shared_ptr") return nullptr;
  const CXXRecordDecl* record = spec->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl();
  return record ? record->getCanonicalDecl() : nullptr;
}

namespace {

/// Finds the classes of whose objects some owner gets another one, or may have none: which it owns is known
/// when the program runs.
struct ReseatFinder : AstVisitor {
  std::set<const CXXRecordDecl*>& found;
  explicit ReseatFinder(std::set<const CXXRecordDecl*>& records) : found(records) {}
  bool shouldVisitTemplateInstantiations() const override { return true; }
  /// Templates of the library and of the runtime take anything by reference.
  bool TraverseDecl(Decl* d) override {
    if (!d || compat::within_clad(d)) return true;
    const bool library = d->getASTContext().getSourceManager().isInSystemHeader(d->getLocation());
    return library || AstVisitor::TraverseDecl(d);
  }

  void add(QualType type) {
    if (const CXXRecordDecl* record = owned_by(type)) found.insert(record);
  }
  /// Owners in a container of which an element is not known by an index.
  void add_kept(QualType type) {
    const auto* spec =
        dyn_cast_or_null<ClassTemplateSpecializationDecl>(type.getNonReferenceType()->getAsCXXRecordDecl());
    if (!spec || !compat::in_std(spec) || owned_by(type)) return;
    const bool indexed = spec->getIdentifier() && (spec->getName() == "vector" || spec->getName() == "array");
    for (const TemplateArgument& a : spec->getTemplateArgs().asArray()) {
      if (a.getKind() != TemplateArgument::Type) continue;
      if (!indexed) add(a.getAsType());
      add_kept(a.getAsType());
      if (indexed) return;  // the others are its allocator
    }
  }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr* e) override {
    if (e->getOperator() == OO_Equal) add(e->getArg(0)->getType());
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr* e) override {
    const CXXMethodDecl* method = e->getMethodDecl();
    const bool reseats =
        method && method->getIdentifier() &&
        (method->getName() == "reset" || method->getName() == "release" || method->getName() == "swap");
    if (reseats) add(e->getImplicitObjectArgument()->IgnoreParenImpCasts()->getType());
    return true;
  }
  bool VisitCallExpr(CallExpr* e) override {
    const FunctionDecl* f = e->getDirectCallee();
    if (f && compat::in_std(f) && f->getIdentifier() &&
        (f->getName() == "swap" || f->getName() == "exchange"))
      for (const clang::Expr* a : e->arguments()) add(a->getType());
    return true;
  }
  bool VisitConditionalOperator(ConditionalOperator* e) override {
    add(e->getType());
    return true;
  }
  bool VisitVarDecl(VarDecl* v) override {
    const QualType type = v->getType();
    const bool given = isa<ParmVarDecl>(v) && type->isLValueReferenceType();  // to change which one it owns
    if (given && !type->getPointeeType().isConstQualified()) add(type);
    add_kept(type);
    return true;
  }
  bool VisitFieldDecl(FieldDecl* f) override {
    add_kept(f->getType());
    return true;
  }
};

}  // namespace

bool TypeTable::is_reseated(const CXXRecordDecl* record) {
  record = record->getCanonicalDecl();
  const auto [known, fresh] = are_reseated_.try_emplace(record, false);
  if (!fresh) return known->second;  // whatever code is added for derivatives
  ReseatFinder finder(reseated_);
  each_new_declaration(reseats_searched_, [&](Decl* d) { finder.TraverseDecl(d); });
  return known->second = reseated_.count(record) != 0;
}

bool TypeTable::follows_owners_of(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record && !is_reseated(record) && is_single(type);
}

}  // namespace clad
