// Objects whose making, copying or ending changes something else: nothing of that is reversed.
#include <set>

#include "ast_visitor.h"
#include "changes.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

bool is_allocation(const CXXMethodDecl* method) {
  const OverloadedOperatorKind kind = method->getOverloadedOperator();
  return kind == OO_New || kind == OO_Delete || kind == OO_Array_New || kind == OO_Array_Delete;
}

/// Finds which members a function exchanges with the same ones of another object, and whether it does
/// anything else.
struct SwapReader {
  std::set<const FieldDecl*> exchanged;

  /// A member, and the object that it is of: null for this one.
  using Place = std::pair<const FieldDecl*, const Decl*>;
  static Place place_of(const clang::Expr* e) {
    const auto* member = dyn_cast<MemberExpr>(strip(e));
    const clang::Expr* object = member ? strip(member->getBase()) : nullptr;
    const auto* name = dyn_cast_or_null<DeclRefExpr>(object);
    if (!name && !isa_and_nonnull<CXXThisExpr>(object)) return {};
    return {dyn_cast<FieldDecl>(member->getMemberDecl()), name ? name->getDecl() : nullptr};
  }
  bool only_exchanges(const FunctionDecl* f) {
    const FunctionDecl* definition = nullptr;
    const auto* body = f->hasBody(definition) ? dyn_cast<CompoundStmt>(definition->getBody()) : nullptr;
    return body && llvm::all_of(body->body(), [&](const clang::Stmt* s) { return exchanges(s); });
  }
  bool exchanges(const clang::Stmt* s) {
    if (const auto* declared = dyn_cast<DeclStmt>(s))  // using std::swap;
      return llvm::all_of(declared->decls(),
                          [](const Decl* d) { return isa<UsingDecl, UsingDirectiveDecl>(d); });
    const auto* e = dyn_cast<clang::Expr>(s);
    const auto* call = e ? dyn_cast<CallExpr>(strip(e)) : nullptr;
    const FunctionDecl* f = call ? call->getDirectCallee() : nullptr;
    if (!f || !named(f, {"swap"})) return false;
    const auto* method = dyn_cast<CXXMemberCallExpr>(call);
    const clang::Expr* one = method ? method->getImplicitObjectArgument() : call->getArg(0);
    const Place place = place_of(one);
    if (!place.first && method && !compat::in_std(f)) return only_exchanges(f);  // a.swap(b)
    const Place other = place_of(call->getArg(call->getNumArgs() - 1));
    return place.first && other.first == place.first && other.second != place.second &&
           exchanged.insert(place.first).second;
  }
};

/// The function `swap` of two objects of a class that the library finds, if it does anything but exchange all
/// of their members; else null.
const FunctionDecl* own_swap(const CXXRecordDecl* record) {
  ASTContext& context = record->getASTContext();
  const auto of_class = [&](const FunctionDecl* f) {
    return f->getNumParams() == 2 && f->getParamDecl(0)->getType()->isLValueReferenceType() &&
           context.hasSameUnqualifiedType(f->getParamDecl(0)->getType().getNonReferenceType(),
                                          compat::record_type(context, record));
  };
  // One for a class template may be for this class: its body is not known yet, so it counts as another.
  const auto may_be_of_class = [&](const FunctionDecl* f) {
    if (f->getNumParams() != 2 || !f->getParamDecl(0)->getType()->isLValueReferenceType()) return false;
    const QualType type = f->getParamDecl(0)->getType()->getPointeeType();
    const auto* of = type->getAs<TemplateSpecializationType>();
    const auto* special = dyn_cast<ClassTemplateSpecializationDecl>(record);
    return type->isTemplateTypeParmType() ||
           (of && special &&
            declaresSameEntity(of->getTemplateName().getAsTemplateDecl(), special->getSpecializedTemplate()));
  };
  std::vector<const Decl*> found;
  for (const FriendDecl* f : record->friends())
    if (f->getFriendDecl()) found.push_back(f->getFriendDecl());
  for (const Decl* d : record->getDeclContext()->getRedeclContext()->decls()) found.push_back(d);
  for (const Decl* d : found) {
    const auto* made = dyn_cast<FunctionTemplateDecl>(d);
    const auto* f = made ? made->getTemplatedDecl() : dyn_cast<FunctionDecl>(d);
    if (!f || !named(f, {"swap"}) || !(made ? may_be_of_class(f) : of_class(f))) continue;
    SwapReader reader;
    const bool all = reader.only_exchanges(f) && record->getNumBases() == 0 &&
                     llvm::all_of(record->fields(),
                                  [&](const FieldDecl* field) { return reader.exchanged.count(field) != 0; });
    if (!all) return f;
  }
  return nullptr;
}

}  // namespace

/// Generated code makes objects without arguments and ends them where that suits it, and nothing reverses a
/// destructor: an error if what is read elsewhere changes then.
void Frontend::check_object(QualType type, SourceLocation at) {
  const CXXRecordDecl* record =
      type->isReferenceType() ? nullptr : type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) return;
  const auto refuse = [&](const std::string& which, const std::string& what) {
    fail(at, "cannot differentiate through an object of '" + record->getNameAsString() + "': its " + which +
                 " changes " + what + "; call a function that does so instead");
  };
  if (ends_with_changes(record)) return refuse("destructor", "what a member refers or points to");
  if (copies_with_changes(record)) return refuse("copy", "what a member points to");
  const auto changes_global = [&](const FunctionDecl* f) {
    return globals_ && f && !globals_->changed_by(f).empty();
  };
  const std::string global = "a global variable";
  if (!record->hasTrivialDestructor() && changes_global(record->getDestructor()))
    return refuse("destructor", global);
  for (const CXXConstructorDecl* made : record->ctors())
    if (changes_global(made)) return refuse("constructor", global);
  for (const CXXMethodDecl* method : record->methods())  // which generated code does not call
    if (is_allocation(method) && changes_global(method)) return refuse(method->getNameAsString(), global);
}

/// Nothing reverses what a smart pointer calls at its end: an error if a function or object given to it, or
/// of its type, does more than free.
void Frontend::check_deleter(const CXXRecordDecl* owner, llvm::ArrayRef<const clang::Expr*> args,
                             SourceLocation at) {
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(owner);
  if (!spec || !spec->getIdentifier()) return;
  const bool shared = spec->getName() == "shared_ptr";
  if (!shared && spec->getName() != "unique_ptr") return;
  const clang::Expr* given = args.size() > 1 && args[0]->getType()->isPointerType() ? args[1] : nullptr;
  if (shared && !given) return;
  const QualType type =
      (shared ? given->getType() : spec->getTemplateArgs()[1].getAsType()).getNonReferenceType();
  const FunctionDecl* deleter = nullptr;
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record && !compat::in_std(record) && record->hasDefinition()) {
    for (const CXXMethodDecl* method : record->methods())
      if (method->getOverloadedOperator() == OO_Call) deleter = method;
  } else if (given) {
    struct Finder : AstVisitor {
      const FunctionDecl* found = nullptr;
      bool VisitLambdaExpr(LambdaExpr* e) override {
        found = e->getCallOperator();
        return false;
      }
      bool VisitDeclRefExpr(DeclRefExpr* e) override {
        found = dyn_cast<FunctionDecl>(e->getDecl());
        return !found;
      }
    } finder;
    finder.TraverseStmt(const_cast<clang::Expr*>(given));
    deleter = finder.found;
  }
  if (deleter && (does_more_than_free(deleter) || (globals_ && !globals_->changed_by(deleter).empty())))
    fail(at, "cannot differentiate through a '" + owner->getNameAsString() +
                 "' whose deleter changes what is read elsewhere; call a function that does so instead");
}

/// Our definitions of the library's algorithms exchange objects member by member: an error if the library
/// would call a function that does something else.
bool Frontend::check_swap(llvm::ArrayRef<const clang::Expr*> args, SourceLocation at) {
  for (const clang::Expr* a : args) {
    const ir::Type* type = types_.get(a->getType().getNonReferenceType());
    while (type->kind != ir::Type::Record && type->element) type = type->element;
    const CXXRecordDecl* record = type->kind == ir::Type::Record ? class_of(type) : nullptr;
    if (!record || compat::in_std(record) || !own_swap(record)) continue;
    fail(at, "cannot differentiate this use of the library with objects of '" + record->getNameAsString() +
                 "': their 'swap' does not just exchange all of their members; write the loop");
    return false;
  }
  return true;
}

/// What the library does with objects is not seen: an error if they, or their operators, change what is read
/// elsewhere.
void Frontend::check_elements(const FunctionDecl* of_library, SourceLocation at) {
  std::set<const CXXRecordDecl*> seen;
  bool given = true;  // of a function: what it is given to call is looked into where it is called
  const auto check = [&](const auto& self, const TemplateArgument& a) -> void {
    if (a.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument& one : a.getPackAsArray()) self(self, one);
    if (a.getKind() != TemplateArgument::Type) return;
    QualType type = a.getAsType().getNonReferenceType();
    if (type->isPointerType()) type = type->getPointeeType();
    const CXXRecordDecl* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    record = record ? record->getDefinition() : nullptr;
    if (!record || record->isLambda() || !seen.insert(record).second) return;
    if (compat::in_std(record)) {
      if (const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record))
        for (const TemplateArgument& inner : spec->getTemplateArgs().asArray()) self(self, inner);
      return;
    }
    check_object(type, at);
    if (!globals_ || !globals_->tracks()) return;
    const auto is_called = [](const CXXMethodDecl* method) {  // of a template, which may not have been made
      return method->hasBody() || method->isReferenced() || !method->getTemplateInstantiationPattern();
    };
    for (const CXXMethodDecl* method : record->methods())
      if (method->isOverloadedOperator() && is_called(method) &&
          !(given && method->getOverloadedOperator() == OO_Call) && !globals_->changed_by(method).empty()) {
        fail(at, "cannot differentiate this use of the library with objects of '" +
                     record->getNameAsString() + "': their '" + method->getNameAsString() +
                     "' changes a global variable; write the loop");
        return;
      }
  };
  if (const TemplateArgumentList* args = of_library->getTemplateSpecializationArgs())
    for (const TemplateArgument& a : args->asArray()) check(check, a);
  given = false;
  const auto* method = dyn_cast<CXXMethodDecl>(of_library);
  if (const auto* spec = method ? dyn_cast<ClassTemplateSpecializationDecl>(method->getParent()) : nullptr)
    for (const TemplateArgument& a : spec->getTemplateArgs().asArray()) check(check, a);
}

}  // namespace clad
