#include "acts.h"

#include <set>

#include "ast_visitor.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/Builtins.h"
#include "compat.h"

using namespace clang;

namespace clad {
namespace {

class ActFinder : public AstVisitor {
 public:
  explicit ActFinder(llvm::function_ref<bool(const FunctionDecl*)> derived) : derived_(derived) {}
  bool found = false;

  bool shouldVisitTemplateInstantiations() const override { return true; }
  bool shouldVisitImplicitCode() const override { return true; }
  bool VisitCXXThrowExpr(CXXThrowExpr*) override { return find(); }
  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* callee = call->getDirectCallee();
    return !callee || look_at(callee);
  }
  bool VisitCXXConstructExpr(CXXConstructExpr* e) override { return look_at(e->getConstructor()); }

  bool look_at(const FunctionDecl* f) {
    if (f->isNoReturn()) return find();
    if (const unsigned id = f->getBuiltinID()) {
      const char* header = f->getASTContext().BuiltinInfo.getHeaderName(id);
      return header && StringRef(header) == "stdio.h" ? find() : true;
    }
    if (compat::in_std(f) || compat::in_clad(f) || !seen_.insert(f->getCanonicalDecl()).second || derived_(f))
      return true;
    const FunctionDecl* definition = nullptr;
    if (Stmt* body = f->getBody(definition)) {
      if (const auto* ctor = dyn_cast<CXXConstructorDecl>(definition))
        for (const CXXCtorInitializer* i : ctor->inits())
          if (i->getInit() && !TraverseStmt(i->getInit())) return false;
      return TraverseStmt(body);
    }
    const QualType result = f->getReturnType();
    const bool computes = f->isImplicit() || f->isDefaulted() || f->hasAttr<PureAttr>() ||
                          f->hasAttr<ConstAttr>() ||
                          !(result->isVoidType() || result->isIntegralOrEnumerationType());
    return computes ? true : find();
  }

 private:
  bool find() {
    found = true;
    return false;  // visits no more
  }
  llvm::function_ref<bool(const FunctionDecl*)> derived_;
  std::set<const FunctionDecl*> seen_;
};

}  // namespace

bool acts(const FunctionDecl* f, llvm::function_ref<bool(const FunctionDecl*)> derived) {
  ActFinder finder(derived);
  finder.look_at(f);
  return finder.found;
}

}  // namespace clad
