#include "changes.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// The variable whose own storage an lvalue expression denotes (not memory reached through a pointer).
const ValueDecl* storage_root(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParenCasts();
    if (const auto* m = dyn_cast<MemberExpr>(e)) {
      if (m->isArrow()) return nullptr;
      e = m->getBase();
    } else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) {
      const clang::Expr* base = a->getBase()->IgnoreParenCasts();
      if (!base->getType()->isArrayType()) return nullptr;
      e = base;
    } else if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e);
               op && op->getOperator() == OO_Subscript && op->getNumArgs()) {
      const auto* method = dyn_cast_or_null<CXXMethodDecl>(op->getDirectCallee());
      if (method && method->isConst()) return nullptr;  // of an iterator or a view
      e = op->getArg(0);
    } else if (const auto* call = dyn_cast<CXXMemberCallExpr>(e)) {
      e = call->getImplicitObjectArgument();
      if (!e || e->getType()->isPointerType()) return nullptr;
    } else if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
      return ref->getDecl();
    } else {
      return nullptr;
    }
  }
}

bool is_move(const FunctionDecl* f) {
  return f && compat::in_std(f) && f->getIdentifier() &&
         (f->getName() == "move" || f->getName() == "forward" || f->getName() == "as_const");
}

struct ChangeFinder : RecursiveASTVisitor<ChangeFinder>, Changes {
  std::vector<const ForStmt*> increments;  // for loops whose increment is being visited
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  void mark(const clang::Expr* e) {
    const ValueDecl* decl = storage_root(e);
    if (!decl) return;
    if (!increments.empty())
      if (const auto* init = dyn_cast_or_null<DeclStmt>(increments.back()->getInit()))
        for (const Decl* d : init->decls())
          if (d == decl) {
            counters.insert(decl);
            return;
          }
    modified.insert(decl);
  }
  /// `e` becomes another address: `to`, or something unknown.
  void assign(const clang::Expr* e, const clang::Expr* to) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts()))
      assigned[ref->getDecl()].push_back(to);
  }
  bool TraverseForStmt(ForStmt* s) {
    for (clang::Stmt* part : {s->getInit(), static_cast<clang::Stmt*>(s->getCond()), s->getBody()})
      if (part) TraverseStmt(part);
    increments.push_back(s);
    if (s->getInc()) TraverseStmt(s->getInc());
    increments.pop_back();
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* e) {
    if (e->isAssignmentOp()) mark(e->getLHS());
    if (e->getOpcode() == BO_Assign) assign(e->getLHS(), e->getRHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* e) {
    if (e->isIncrementDecrementOp()) mark(e->getSubExpr());
    if (e->getOpcode() == UO_AddrOf && !e->getSubExpr()->getType().isConstQualified()) {
      mark(e->getSubExpr());
      assign(e->getSubExpr(), nullptr);
    }
    return true;
  }
  bool VisitCallExpr(CallExpr* e) {
    const FunctionDecl* f = e->getDirectCallee();
    if (!f || is_move(f) || is_checkpoint(f) || is_loop_mark(f)) return true;
    unsigned first =
        isa<CXXOperatorCallExpr>(e) && isa<CXXMethodDecl>(f) && !cast<CXXMethodDecl>(f)->isStatic() ? 1 : 0;
    if (const auto* method = dyn_cast<CXXMethodDecl>(f);
        method && !method->isStatic() && !method->isConst()) {
      bool element = method->getParent()->isInStdNamespace() && method->getReturnType()->isReferenceType() &&
                     !method->isOverloadedOperator() && !named(method, {"emplace_back"});
      bool subscript = method->getOverloadedOperator() == OO_Subscript;
      const bool keeps = method->getParent()->isInStdNamespace() &&
                         named(method, {"begin", "end", "rbegin", "rend", "data"});
      if (!element && !subscript && !keeps &&
          holds_vector(compat::record_type(f->getASTContext(), method->getParent())))
        resizes = true;
      if (!method->getParent()->isLambda() && !element && !subscript) {
        const auto* member = dyn_cast<CXXMemberCallExpr>(e);
        if (member && !member->getImplicitObjectArgument()->getType()->isPointerType())
          mark(member->getImplicitObjectArgument());
        else if (first)
          mark(e->getArg(0));
      }
    }
    for (unsigned i = first; i < e->getNumArgs() && i - first < f->getNumParams(); ++i) {
      QualType param = f->getParamDecl(i - first)->getType();
      if ((!param->isReferenceType() && !param->isPointerType()) ||
          param->getPointeeType().isConstQualified())
        continue;
      resizes |= holds_vector(param->getPointeeType());
      if (!param->isLValueReferenceType()) continue;
      mark(e->getArg(i));
      if (!compat::in_std(f) || !named(f, {"swap", "advance"}))
        assign(e->getArg(i), nullptr);
      else if (f->getName() == "swap")
        assign(e->getArg(i), e->getNumArgs() == 2 ? e->getArg(1 - i) : nullptr);
    }
    if (first && cast<CXXOperatorCallExpr>(e)->getOperator() == OO_Equal) assign(e->getArg(0), e->getArg(1));
    return true;
  }
  /// Through a reference that a lambda returns, what it has captured may be changed.
  bool VisitLambdaExpr(LambdaExpr* e) {
    const CXXMethodDecl* op = e->getCallOperator();
    const QualType result = op->getReturnType();
    if (!op->isTemplated() && ((!result->isReferenceType() && !result->isPointerType()) ||
                               result->getPointeeType().isConstQualified()))
      return true;
    for (const LambdaCapture& c : e->captures())
      if (c.capturesVariable() && c.getCaptureKind() == LCK_ByRef) modified.insert(c.getCapturedVar());
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr* e) {
    const CXXConstructorDecl* f = e->getConstructor();
    for (unsigned i = 0; i < e->getNumArgs() && i < f->getNumParams(); ++i) {
      QualType param = f->getParamDecl(i)->getType();
      if (param->isLValueReferenceType() && !param->getPointeeType().isConstQualified()) mark(e->getArg(i));
    }
    return true;
  }
  bool VisitVarDecl(VarDecl* v) {
    names.insert(v->getNameAsString());
    if (v->getType()->isLValueReferenceType() && !v->getType()->getPointeeType().isConstQualified() &&
        v->getInit() && !v->isCXXForRangeDecl() && !v->isImplicit())
      mark(v->getInit());
    return true;
  }
  bool VisitCXXForRangeStmt(CXXForRangeStmt* s) {
    if (s->getBeginStmt()) modified.insert(cast<VarDecl>(s->getBeginStmt()->getSingleDecl()));
    QualType type = s->getLoopVariable()->getType();
    if (type->isLValueReferenceType() && !type->getPointeeType().isConstQualified()) mark(s->getRangeInit());
    return true;
  }
};

}  // namespace

Changes changes_of(const FunctionDecl* decl) {
  ChangeFinder finder;
  for (const ParmVarDecl* p : decl->parameters()) finder.TraverseDecl(const_cast<ParmVarDecl*>(p));
  if (const clang::Stmt* body = decl->getBody()) finder.TraverseStmt(const_cast<clang::Stmt*>(body));
  return std::move(finder);
}

}  // namespace clad
