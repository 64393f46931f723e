// Functions that hand on a pointer parameter to a function with a pullback, which changes what it points to:
// how much that is, only their callers know. So that it can be kept, they are lowered in the place of calls.
#include "ast_visitor.h"
#include "compat.h"
#include "frontend.h"
#include "lookup.h"

using namespace clang;

namespace clad {
namespace {

/// The parameters that point to numbers which the function may change.
bool points_to_changed(QualType type) {
  if (!type->isPointerType()) return false;
  const QualType pointee = type->getPointeeType();
  return pointee->isRealFloatingType() && !pointee.isConstQualified();
}

/// The pointer parameter of `f` that an expression names, moves or takes an element's address of.
const ParmVarDecl* pointer_in(const clang::Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto* p = dyn_cast<ParmVarDecl>(ref->getDecl());
    return p && points_to_changed(p->getType()) ? p : nullptr;
  }
  if (const auto* op = dyn_cast<BinaryOperator>(e); op && op->isAdditiveOp()) {
    const ParmVarDecl* left = pointer_in(op->getLHS());
    return left ? left : pointer_in(op->getRHS());
  }
  if (const auto* op = dyn_cast<UnaryOperator>(e); op && op->getOpcode() == UO_AddrOf)
    if (const auto* at = dyn_cast<ArraySubscriptExpr>(op->getSubExpr()->IgnoreParenImpCasts()))
      return pointer_in(at->getBase());
  return nullptr;
}

}  // namespace

bool Frontend::hands_on_pointer(const FunctionDecl* f) {
  const FunctionDecl* definition = nullptr;
  if (llvm::none_of(f->parameters(), [](const ParmVarDecl* p) { return points_to_changed(p->getType()); }) ||
      !f->getBody(definition) || compat::in_std(f))
    return false;
  const auto [known, fresh] = hands_on_.try_emplace(f->getCanonicalDecl(), false);
  if (!fresh) return known->second;
  struct Finder : AstVisitor {
    Frontend& frontend;
    bool found = false;
    explicit Finder(Frontend& f) : frontend(f) {}
    bool VisitCallExpr(CallExpr* call) override {
      const FunctionDecl* callee = call->getDirectCallee();
      if (!callee || isa<CXXMethodDecl>(callee)) return true;
      for (unsigned i = 0; i < callee->getNumParams() && i < call->getNumArgs(); ++i)
        if (points_to_changed(callee->getParamDecl(i)->getType()) && pointer_in(call->getArg(i)))
          found = frontend.lookup_.derived_by_user(callee) || frontend.hands_on_pointer(callee);
      return !found;
    }
  } finder(*this);
  finder.TraverseStmt(definition->getBody());
  return hands_on_[f->getCanonicalDecl()] = finder.found;
}

}  // namespace clad
