// What the end of an object changes, and what its copies change elsewhere: nothing of either is reversed.
#include <set>

#include "ast_visitor.h"
#include "changes.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// Whether what a member points to may be read elsewhere: numbers, a container, an object of the user's.
bool points_to_state(QualType type) {
  if (!type->isPointerType()) return false;
  const CXXRecordDecl* record = type->getPointeeType()->getAsCXXRecordDecl();
  if (!record) return type->getPointeeType()->isArithmeticType();
  const SourceManager& manager = record->getASTContext().getSourceManager();
  return compat::in_std(record) || !manager.isInSystemHeader(record->getLocation());
}

/// Finds, in a destructor, a change of what a member refers or points to.
struct EndFinder : AstVisitor {
  bool referred = false, pointed = false, called = false, frees = false;
  std::set<const ValueDecl*> counters;  // members that such a change names
  void change(const clang::Expr* e, bool by_call = false) {
    const ValueDecl* counter = nullptr;
    for (bool reference = false, pointer = false;;) {
      e = e->IgnoreParenCasts();
      if (const auto* member = dyn_cast<MemberExpr>(e)) {
        const QualType type = member->getMemberDecl()->getType();
        reference |= type->isReferenceType();
        pointer = points_to_state(type);
        if (!counter) counter = member->getMemberDecl();
        e = member->getBase();
      } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
        e = element->getBase();
      } else if (const auto* unary = dyn_cast<UnaryOperator>(e)) {
        e = unary->getSubExpr();
      } else if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e)) {
        e = op->getArg(0);
      } else if (const auto* call = dyn_cast<CXXMemberCallExpr>(e)) {
        e = call->getImplicitObjectArgument();
      } else {
        const auto* from = dyn_cast<DeclRefExpr>(e);  // what a copy is made of
        if (!isa<CXXThisExpr>(e) && !(from && isa<ParmVarDecl>(from->getDecl()))) return;
        referred |= reference;
        called |= pointer && by_call;
        if (!pointer || by_call) return;
        pointed = true;
        counters.insert(counter);
        return;
      }
    }
  }
  bool VisitBinaryOperator(BinaryOperator* e) override {
    if (e->isAssignmentOp() && !e->getLHS()->getType()->isPointerType()) change(e->getLHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* e) override {
    if (e->isIncrementDecrementOp() && !e->getType()->isPointerType()) change(e->getSubExpr());
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr* e) override {
    const CXXMethodDecl* method = e->getMethodDecl();
    if (method && !method->isConst()) change(e->getImplicitObjectArgument(), true);
    return true;
  }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr* e) override {
    const FunctionDecl* f = e->getDirectCallee();
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
    const bool element =
        e->getOperator() == OO_Subscript || e->getOperator() == OO_Star || e->getOperator() == OO_Arrow || !f;
    if (element || (method ? method->isConst() : f->getNumParams() == 0)) return true;
    const QualType first = method ? QualType() : f->getParamDecl(0)->getType();
    if (method || (first->isLValueReferenceType() && !first->getPointeeType().isConstQualified()))
      change(e->getArg(0), true);
    return true;
  }
  bool VisitCXXDeleteExpr(CXXDeleteExpr*) override { return frees = true; }
  bool VisitCallExpr(CallExpr* e) override {
    frees |= e->getDirectCallee() && named(e->getDirectCallee(), {"free"});
    return true;
  }
};

/// Whether a function of the class, other than those that make, copy and end its objects, reads such a
/// member.
bool is_asked(const CXXRecordDecl* record, const std::set<const ValueDecl*>& members) {
  struct Finder : AstVisitor {
    const std::set<const ValueDecl*>& members;
    bool found = false;
    explicit Finder(const std::set<const ValueDecl*>& m) : members(m) {}
    bool VisitMemberExpr(MemberExpr* m) override {
      return !(found |= members.count(m->getMemberDecl()) != 0);
    }
  } finder(members);
  for (const CXXMethodDecl* method : record->methods())
    if (!isa<CXXConstructorDecl, CXXDestructorDecl>(method) && !method->isCopyAssignmentOperator() &&
        !method->isMoveAssignmentOperator() && method->hasBody())
      finder.TraverseStmt(method->getBody());
  return finder.found;
}

}  // namespace

bool ends_with_changes(const CXXRecordDecl* record) {
  if (!record || !record->hasDefinition() || record->hasTrivialDestructor()) return false;
  const SourceManager& manager = record->getASTContext().getSourceManager();
  if (compat::in_std(record) || manager.isInSystemHeader(record->getLocation())) return false;
  if (compat::annotated(record, "clad::opaque")) return false;  // what it refers to is its own
  const CXXDestructorDecl* destructor = record->getDestructor();
  EndFinder finder;
  if (destructor && destructor->getBody()) finder.TraverseStmt(destructor->getBody());
  const auto of = [](QualType type) {
    return ends_with_changes(type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl());
  };
  // One that frees counts owners: that matters to who asks for the count.
  const bool counts = finder.pointed && (!finder.frees || is_asked(record, finder.counters));
  return finder.referred || counts || (finder.called && !finder.frees) ||
         llvm::any_of(record->fields(), [&](const FieldDecl* f) { return of(f->getType()); }) ||
         llvm::any_of(record->bases(), [&](const CXXBaseSpecifier& b) { return of(b.getType()); });
}

bool does_more_than_free(const FunctionDecl* deleter) {
  struct Finder : AstVisitor {
    std::set<const FunctionDecl*> seen;
    bool found = false;
    void look(const FunctionDecl* f) {
      const FunctionDecl* definition = nullptr;
      if (!compat::in_std(f) && f->hasBody(definition) && seen.insert(definition).second)
        TraverseStmt(definition->getBody());
    }
    /// A variable of the function itself.
    static bool is_local(const clang::Expr* e) {
      const auto* name = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
      const auto* var = name ? dyn_cast<VarDecl>(name->getDecl()) : nullptr;
      return var && var->isLocalVarDeclOrParm() && !var->getType()->isReferenceType() &&
             !name->refersToEnclosingVariableOrCapture();
    }
    bool VisitBinaryOperator(BinaryOperator* e) override {
      found |= e->isAssignmentOp() && !is_local(e->getLHS());
      return true;
    }
    bool VisitUnaryOperator(UnaryOperator* e) override {
      found |= e->isIncrementDecrementOp() && !is_local(e->getSubExpr());
      return true;
    }
    bool VisitCallExpr(CallExpr* e) override {
      const FunctionDecl* f = e->getDirectCallee();
      const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
      found |= method && !method->isStatic() && !method->isConst();
      if (f) look(f);
      return true;
    }
  } finder;
  finder.look(deleter);
  return finder.found;
}

bool copies_with_changes(const CXXRecordDecl* record) {
  const SourceManager& manager = record->getASTContext().getSourceManager();
  if (compat::in_std(record) || manager.isInSystemHeader(record->getLocation()) ||
      compat::annotated(record, "clad::opaque"))
    return false;
  return llvm::any_of(record->methods(), [](const CXXMethodDecl* method) {
    const FunctionDecl* definition = nullptr;
    if (!is_copy(method) || !method->isUserProvided() || !method->hasBody(definition)) return false;
    EndFinder finder;
    finder.TraverseStmt(definition->getBody());
    return finder.called && !finder.frees;
  });
}

bool moves_differ(const CXXRecordDecl* record) {
  return llvm::any_of(record->methods(), [&](const CXXMethodDecl* method) {
    const FunctionDecl* definition = nullptr;
    const auto* made = dyn_cast<CXXConstructorDecl>(method);
    const bool moves = made ? made->isMoveConstructor() : method->isMoveAssignmentOperator();
    if (!is_copy(method) || !method->isUserProvided() || !(moves || !record->hasMoveConstructor()) ||
        !method->hasBody(definition))
      return false;
    EndFinder changes;
    changes.TraverseStmt(definition->getBody());
    return gives_another_value(method) || changes.referred || changes.pointed || changes.called;
  });
}

}  // namespace clad
