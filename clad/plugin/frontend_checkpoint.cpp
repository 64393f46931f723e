// Checkpoints: calls and loops that the user marks to run again in the reverse sweep.
#include "ast_visitor.h"
#include "clang/Basic/SourceManager.h"
#include "frontend.h"
#include "pragma.h"

using namespace clang;

namespace clad {
namespace {

/// The call that marks the loop as its body's first statement, or null.
const CallExpr* find_mark(const clang::Stmt* body) {
  if (const auto* block = dyn_cast<CompoundStmt>(body))
    body = block->body_empty() ? nullptr : block->body_front();
  const auto* e = dyn_cast_or_null<clang::Expr>(body);
  const auto* call = e ? dyn_cast<CallExpr>(strip(e)) : nullptr;
  const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  return callee && is_loop_mark(callee) ? call : nullptr;
}

/// A variable that `e` names and the loop declares.
const VarDecl* named_inside(const clang::Expr* e, SourceRange loop, const SourceManager& manager) {
  struct Finder : AstVisitor {
    SourceRange loop;
    const SourceManager& manager;
    const VarDecl* found = nullptr;
    Finder(SourceRange r, const SourceManager& m) : loop(r), manager(m) {}
    bool VisitDeclRefExpr(DeclRefExpr* ref) override {
      const auto* var = dyn_cast<VarDecl>(ref->getDecl());
      if (var && !manager.isBeforeInTranslationUnit(var->getLocation(), loop.getBegin()) &&
          !manager.isBeforeInTranslationUnit(loop.getEnd(), var->getLocation()))
        found = var;
      return true;
    }
  } finder(loop, manager);
  finder.TraverseStmt(const_cast<clang::Expr*>(e));
  return finder.found;
}

}  // namespace

/// clad::checkpoint(f(x)) is f(x), marked.
ir::Expr* Frontend::checkpoint(const CallExpr* e) {
  const clang::Expr* inner = strip(e->getArg(0));
  if (!isa<CallExpr>(inner))
    return fail(e->getArg(0)->getExprLoc(),
                "clad::checkpoint goes around a call, as in clad::checkpoint(f(x)); this is none");
  checkpoints_.insert(inner);
  ir::Expr* result = value(e->getArg(0));
  checkpoints_.erase(inner);
  return result;
}

/// Such a call does nothing; the loop has looked for it before.
ir::Expr* Frontend::loop_mark(const CallExpr* e) {
  if (marks_.erase(e) == 0)
    fail(e->getExprLoc(), "clad::" + e->getDirectCallee()->getNameAsString() +
                              " marks a loop as the first statement of its body; it means nothing here");
  return literal("0", context_.IntTy);
}

/// `#pragma clad checkpoint loop` before the loop.
bool Frontend::has_pragma(const clang::Stmt* loop) const {
  return marks_loop(context_.getSourceManager(), loop->getBeginLoc());
}

/// What the user says of the checkpoints of a loop; null if nothing. What the budget is computed from is
/// computed before the loop.
std::unique_ptr<ir::Stmt::Checkpoint> Frontend::marked(const clang::Stmt* loop, const clang::Stmt* body) {
  const CallExpr* call = find_mark(body);
  if (!call) return has_pragma(loop) ? std::make_unique<ir::Stmt::Checkpoint>() : nullptr;
  marks_.insert(call);
  auto mark = std::make_unique<ir::Stmt::Checkpoint>();
  at_ = loc(call);
  source_ = "";
  mark->bytes = named(call->getDirectCallee(), {"checkpoint_bytes"});
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const clang::Expr* arg = call->getArg(i);
    if (const VarDecl* var = named_inside(arg, loop->getSourceRange(), context_.getSourceManager())) {
      fail(arg->getExprLoc(), "the checkpoints of a loop are counted before it starts: '" +
                                  var->getNameAsString() + "' does not exist yet there");
      return nullptr;
    }
    if (i == 0) {
      mark->limit = value(arg->IgnoreParenImpCasts());
      if (mark->limit->kind != ir::Expr::Literal) mark->limit = hoist(mark->limit, at_, "limit");
    } else if (!is_view(strip(arg)->getType())) {
      fail(arg->getExprLoc(), "the memory that iterations change is given as a std::span of numbers");
    } else if (const std::optional<View> view = view_of(arg)) {
      mark->arrays.emplace_back(freeze(view->data, at_),
                                ir::is_atomic(view->size) ? view->size : hoist(view->size, at_, "size"));
    }
  }
  return mark;
}

}  // namespace clad
