// A walk over Clang's syntax tree whose visitors are virtual functions.
#pragma once

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/Type.h"

// The kinds of node that some visitor asks for, each as the class Clang has for it.
// clang-format off
#define CLAD_VISITED_STATEMENTS(X)                                                                    \
  X(Stmt) X(ArraySubscriptExpr) X(BinaryOperator) X(CXXBindTemporaryExpr) X(CXXConstructExpr)         \
  X(CXXDefaultArgExpr) X(CXXDefaultInitExpr) X(CXXDeleteExpr) X(CXXForRangeStmt) X(CXXMemberCallExpr) \
  X(CXXNewExpr) X(CXXOperatorCallExpr) X(CXXThisExpr) X(CXXThrowExpr) X(CallExpr) X(CastExpr)         \
  X(CompoundStmt) X(ConditionalOperator) X(DeclRefExpr) X(ExplicitCastExpr) X(ForStmt) X(IfStmt)      \
  X(ImplicitCastExpr) X(LambdaExpr) X(MemberExpr) X(ReturnStmt) X(UnaryOperator) X(WhileStmt)
#define CLAD_VISITED_DECLARATIONS(X) X(CXXRecordDecl) X(FieldDecl) X(FunctionDecl) X(VarDecl)
// clang-format on

namespace clad {

/// clang::RecursiveASTVisitor, instantiated once: each instantiation of that template takes a compiler
/// several seconds. Its functions have the names and the meaning they have there; Clang's own
/// DynamicRecursiveASTVisitor is the same from Clang 20 on.
class AstVisitor {
 public:
  virtual ~AstVisitor() = default;

  virtual bool shouldVisitTemplateInstantiations() const { return false; }
  virtual bool shouldVisitImplicitCode() const { return false; }

  virtual bool TraverseDecl(clang::Decl* decl);
  virtual bool TraverseForStmt(clang::ForStmt* loop);
  virtual bool TraverseLambdaExpr(clang::LambdaExpr* lambda);
  virtual bool TraverseLambdaCapture(clang::LambdaExpr* lambda, const clang::LambdaCapture* capture,
                                     clang::Expr* init);
  bool TraverseStmt(clang::Stmt* statement);
  bool TraverseType(clang::QualType type);

  virtual bool VisitTagType(clang::TagType*) { return true; }
#define CLAD_VISIT(kind) \
  virtual bool Visit##kind(clang::kind*) { return true; }
  CLAD_VISITED_STATEMENTS(CLAD_VISIT)
  CLAD_VISITED_DECLARATIONS(CLAD_VISIT)
#undef CLAD_VISIT
};

}  // namespace clad
