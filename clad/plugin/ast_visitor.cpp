#include "ast_visitor.h"

#include "clang/AST/RecursiveASTVisitor.h"

namespace clad {
namespace {

using namespace clang;

/// Hands what Clang's walk meets to the virtual functions.
struct Walk : RecursiveASTVisitor<Walk> {
  using Base = RecursiveASTVisitor<Walk>;
  AstVisitor& visitor;

  explicit Walk(AstVisitor& v) : visitor(v) {}
  bool shouldVisitTemplateInstantiations() const { return visitor.shouldVisitTemplateInstantiations(); }
  bool shouldVisitImplicitCode() const { return visitor.shouldVisitImplicitCode(); }

  bool TraverseDecl(Decl* decl) { return visitor.TraverseDecl(decl); }
  bool TraverseForStmt(ForStmt* loop) { return visitor.TraverseForStmt(loop); }
  bool TraverseLambdaExpr(LambdaExpr* lambda) { return visitor.TraverseLambdaExpr(lambda); }
  bool TraverseLambdaCapture(LambdaExpr* lambda, const LambdaCapture* capture, Expr* init) {
    return visitor.TraverseLambdaCapture(lambda, capture, init);
  }

  bool VisitTagType(TagType* type) { return visitor.VisitTagType(type); }
#define CLAD_VISIT(kind) \
  bool Visit##kind(kind* node) { return visitor.Visit##kind(node); }
  CLAD_VISITED_STATEMENTS(CLAD_VISIT)
  CLAD_VISITED_DECLARATIONS(CLAD_VISIT)
#undef CLAD_VISIT
};

}  // namespace

bool AstVisitor::TraverseDecl(Decl* decl) { return Walk(*this).Base::TraverseDecl(decl); }
bool AstVisitor::TraverseForStmt(ForStmt* loop) { return Walk(*this).Base::TraverseForStmt(loop); }
bool AstVisitor::TraverseLambdaExpr(LambdaExpr* lambda) {
  return Walk(*this).Base::TraverseLambdaExpr(lambda);
}
bool AstVisitor::TraverseLambdaCapture(LambdaExpr* lambda, const LambdaCapture* capture, Expr* init) {
  return Walk(*this).Base::TraverseLambdaCapture(lambda, capture, init);
}
bool AstVisitor::TraverseStmt(Stmt* statement) { return Walk(*this).TraverseStmt(statement); }
bool AstVisitor::TraverseType(QualType type) { return Walk(*this).TraverseType(type); }

}  // namespace clad
