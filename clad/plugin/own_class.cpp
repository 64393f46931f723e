// What a member function does with its object as one whose class is asked for when the program runs.
#include "own_class.h"

#include <set>
#include <utility>
#include <vector>

#include "ast_visitor.h"
#include "clang/AST/Attr.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// The `this` that an expression is, as a pointer or an object of whatever class.
const CXXThisExpr* own_object(const clang::Expr* e) {
  for (;;) {
    e = strip(e);
    if (const auto* self = dyn_cast<CXXThisExpr>(e)) return self;
    if (const auto* op = dyn_cast<clang::UnaryOperator>(e);
        op && (op->getOpcode() == UO_Deref || op->getOpcode() == UO_AddrOf))
      e = op->getSubExpr();
    else if (const auto* cast = dyn_cast<ExplicitCastExpr>(e); cast && !isa<CXXDynamicCastExpr>(cast))
      e = cast->getSubExpr();
    else
      return nullptr;
  }
}

/// Whether the class of the object decides what a call runs.
bool is_virtual_call(const CallExpr* call) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(call->getCalleeDecl());
  if (!method || !method->isVirtual() || method->hasAttr<FinalAttr>()) return false;
  const auto* access = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParens());
  return !(access && access->hasQualifier());
}

const clang::Expr* object_of(const CallExpr* call) {
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(call)) return member->getImplicitObjectArgument();
  const bool is_operator =
      isa<CXXOperatorCallExpr>(call) && isa_and_nonnull<CXXMethodDecl>(call->getCalleeDecl());
  return is_operator ? call->getArg(0) : nullptr;
}

/// What a function does with `this`: the methods that it calls on it, and where it does anything else with it
/// than naming members.
struct OwnUses : AstVisitor {
  std::vector<const CallExpr*> calls;
  const clang::Expr* handed_on = nullptr;
  std::set<const CXXThisExpr*> named;

  explicit OwnUses(const FunctionDecl* definition) {
    if (const auto* ctor = dyn_cast<CXXConstructorDecl>(definition))
      for (const CXXCtorInitializer* init : ctor->inits()) TraverseStmt(init->getInit());
    TraverseStmt(definition->getBody());
  }
  bool VisitCallExpr(CallExpr* call) override {
    const clang::Expr* object = object_of(call);
    if (const CXXThisExpr* self = object ? own_object(object) : nullptr) {
      named.insert(self);
      calls.push_back(call);
    }
    return true;
  }
  bool VisitMemberExpr(MemberExpr* member) override {
    if (const CXXThisExpr* self = own_object(member->getBase())) named.insert(self);
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr* lambda) override {
    for (const LambdaCapture& capture : lambda->captures())
      if (capture.capturesThis()) handed_on = lambda;
    return true;
  }
  bool VisitCXXDefaultInitExpr(CXXDefaultInitExpr* init) override { return TraverseStmt(init->getExpr()); }
  bool VisitCXXThisExpr(CXXThisExpr* self) override {
    if (!named.count(self)) handed_on = self;
    return true;
  }
};

bool are_related(const CXXRecordDecl* a, const CXXRecordDecl* b) {
  if (!a || !b || !a->hasDefinition() || !b->hasDefinition()) return false;
  return declaresSameEntity(a, b) || a->isDerivedFrom(b) || b->isDerivedFrom(a);
}

/// Whether a function, or what it calls, may ask which class some object is of, if that may be the class.
struct Asks : AstVisitor {
  const CXXRecordDecl* record;
  const CXXConstructorDecl* made_by = nullptr;  ///< which knows the class of its own object
  bool in_constructor = false;
  std::set<const FunctionDecl*> seen;
  bool found = false;

  explicit Asks(const CXXRecordDecl* of) : record(of) {}
  bool is_of(QualType type) const {
    if (!type->getPointeeType().isNull()) type = type->getPointeeType();
    return are_related(type->getAsCXXRecordDecl(), record);
  }
  void visit(const FunctionDecl* function) {
    const FunctionDecl* definition = nullptr;
    if (!seen.insert(function->getCanonicalDecl()).second) return;
    const auto* method = dyn_cast<CXXMethodDecl>(function);
    if (!function->hasBody(definition) || (method && method->isVirtual())) {  // or its overriders
      for (const ParmVarDecl* p : function->parameters()) found |= is_of(p->getType());
      if (!definition) return;
    }
    const bool before = std::exchange(in_constructor, definition == made_by);
    if (const auto* ctor = dyn_cast<CXXConstructorDecl>(definition))
      for (const CXXCtorInitializer* init : ctor->inits()) TraverseStmt(init->getInit());
    TraverseStmt(definition->getBody());
    in_constructor = before;
  }
  bool TraverseLambdaExpr(LambdaExpr* lambda) override {
    const bool before = std::exchange(in_constructor, false);
    AstVisitor::TraverseLambdaExpr(lambda);
    in_constructor = before;
    return !found;
  }
  bool VisitCallExpr(CallExpr* call) override {
    const clang::Expr* object = object_of(call);
    if (object && is_virtual_call(call) && !(in_constructor && own_object(object)))
      found |= is_of(object->getType());
    if (const FunctionDecl* callee = call->getDirectCallee())
      visit(callee);
    else
      for (const clang::Expr* arg : call->arguments()) found |= is_of(arg->getType());
    return !found;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr* made) override {
    visit(made->getConstructor());
    return !found;
  }
  bool VisitCXXDefaultInitExpr(CXXDefaultInitExpr* init) override { return TraverseStmt(init->getExpr()); }
  bool VisitStmt(clang::Stmt* s) override {
    if (const auto* cast = dyn_cast<CXXDynamicCastExpr>(s)) found |= is_of(cast->getSubExpr()->getType());
    if (const auto* id = dyn_cast<CXXTypeidExpr>(s))
      found |= !id->isTypeOperand() && is_of(id->getExprOperand()->getType());
    return !found;
  }
};

/// What a method does with its object, itself or through other methods of it.
struct OwnClass {
  bool called = false, handed_on = false;
  std::set<const CXXMethodDecl*> seen;

  void visit(const CXXMethodDecl* method) {
    const FunctionDecl* definition = nullptr;
    if (!seen.insert(method->getCanonicalDecl()).second || !method->hasBody(definition)) return;
    const OwnUses uses(definition);
    handed_on |= uses.handed_on != nullptr;
    for (const CallExpr* call : uses.calls) {
      called |= is_virtual_call(call);
      visit(cast<CXXMethodDecl>(call->getCalleeDecl()));
    }
  }
};

}  // namespace

bool calls_virtually(const CXXMethodDecl* method) {
  OwnClass own;
  own.visit(method);
  Asks asks(method->getParent());
  if (own.handed_on && !own.called) asks.visit(method);
  return own.called || asks.found;
}

UseOfClass use_of_class(const CXXConstructorDecl* ctor) {
  const CXXRecordDecl* record = ctor->getParent();
  const OwnUses uses(ctor);
  const clang::Expr* handed_on = uses.handed_on;
  for (const CallExpr* call : uses.calls) {
    const auto* method = cast<CXXMethodDecl>(call->getCalleeDecl());
    const CXXMethodDecl* run =
        is_virtual_call(call) ? method->getCorrespondingMethodInClass(record, /*MayBeBase=*/true) : method;
    if (!run) continue;
    if (calls_virtually(run)) return {call, run};
    OwnClass own;
    own.visit(run);
    if (own.handed_on) handed_on = call;
  }
  if (!handed_on) return {};
  Asks asks(record);
  asks.made_by = ctor;
  asks.visit(ctor);
  return asks.found ? UseOfClass{handed_on, nullptr} : UseOfClass{};
}

}  // namespace clad
