#include "members.h"

#include <set>
#include <string>

#include "ast_visitor.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "instead.h"

using namespace clang;

namespace clad {
namespace {

/// The classes in a value of the type: its own, those behind pointers, and those that templates of the
/// library hold.
void each_class(QualType type, llvm::function_ref<void(const CXXRecordDecl*)> visit) {
  type = type.getNonReferenceType();
  while (type->isPointerType() || type->isArrayType())
    type = QualType(type->getPointeeOrArrayElementType(), 0);
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) return;
  record = record->getDefinition();
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (!spec || !compat::in_std(record)) return visit(record);
  for (const TemplateArgument& a : spec->getTemplateArgs().asArray())
    if (a.getKind() == TemplateArgument::Type) each_class(a.getAsType(), visit);
}

bool holds_opaque(QualType type, std::set<const CXXRecordDecl*>& seen) {
  bool found = false;
  each_class(type, [&](const CXXRecordDecl* record) {
    if (compat::annotated(record, "clad::opaque")) found = true;
    if (found || compat::is_constant(record) || !seen.insert(record).second) return;
    for (const CXXBaseSpecifier& base : record->bases()) found |= holds_opaque(base.getType(), seen);
    for (const FieldDecl* field : record->fields())
      if (!compat::is_constant(field)) found |= holds_opaque(field->getType(), seen);
  });
  return found;
}

/// The names in the function that lists the members.
struct Names : AstVisitor {
  std::set<std::string> found;
  bool VisitStmt(clang::Stmt* s) override {
    if (const auto* member = dyn_cast<MemberExpr>(s))
      found.insert(member->getMemberDecl()->getNameAsString());
    if (const auto* member = dyn_cast<CXXDependentScopeMemberExpr>(s))
      found.insert(member->getMember().getAsString());
    return true;
  }
};

void check(const CXXRecordDecl* record, std::set<const CXXRecordDecl*>& seen, Diagnose& diagnose) {
  if (!seen.insert(record).second || compat::annotated(record, "clad::opaque") || compat::is_constant(record))
    return;
  const FunctionTemplateDecl* list = nullptr;
  std::string macro;
  for (const Decl* d : record->decls())
    if (const auto* f = dyn_cast<FunctionTemplateDecl>(d); f && !list)
      if (macro = text_of(f->getTemplatedDecl(), "clad::members"); !macro.empty()) list = f;
  Names names;
  while (list && !list->getTemplatedDecl()->hasBody() && list->getInstantiatedFromMemberTemplate())
    list = list->getInstantiatedFromMemberTemplate();
  if (list) names.TraverseStmt(list->getTemplatedDecl()->getBody());
  for (const CXXBaseSpecifier& base : record->bases())
    each_class(base.getType(), [&](const CXXRecordDecl* r) { check(r, seen, diagnose); });
  for (const FieldDecl* field : record->fields()) {
    std::set<const CXXRecordDecl*> inside;
    if (compat::is_constant(field)) continue;
    if (list && !names.found.count(field->getNameAsString()) && holds_opaque(field->getType(), inside)) {
      diagnose.error(field->getLocation(),
                     "cannot differentiate with respect to '" + record->getNameAsString() +
                         "': its member '" + field->getNameAsString() + "' is not named in " + macro +
                         ", so it would not be trained; name it there, or mark it CLAD_CONSTANT");
      continue;
    }
    each_class(field->getType(), [&](const CXXRecordDecl* r) { check(r, seen, diagnose); });
  }
}

}  // namespace

void check_members(const Request& request, Diagnose& diagnose) {
  std::set<const CXXRecordDecl*> seen;
  const auto visit = [&](const CXXRecordDecl* record) { check(record, seen, diagnose); };
  for (const unsigned i : request.parameters) {
    const auto* method = dyn_cast<CXXMethodDecl>(request.function);
    if (i == Request::object && method)
      visit(class_of_object(method, request.heir()));
    else if (i < request.function->getNumParams())
      each_class(request.function->getParamDecl(i)->getType(), visit);
  }
}

}  // namespace clad
