// Constructor calls: copies, aggregates of the library, functions that make an object, and elements made in
// place.
#include "clang/AST/DeclTemplate.h"
#include "clang/Sema/Initialization.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

ir::Expr* Frontend::construct(const CXXConstructExpr* e) {
  const CXXConstructorDecl* ctor = e->getConstructor();
  const ir::Type* type = types_.get(e->getType());
  if (ctor->isCopyOrMoveConstructor() && e->getNumArgs() >= 1 &&
      (type->kind != ir::Type::Record || !ctor->isUserProvided()))
    return value(e->getArg(0));
  std::vector<const clang::Expr*> args;
  for (const clang::Expr* a : e->arguments())
    if (!isa<CXXDefaultArgExpr>(a) || !compat::in_std(ctor)) args.push_back(a);
  bool differentiable = false;
  for (const clang::Expr* a : args) differentiable |= types_.get(strip(a)->getType())->differentiable;
  bool standard = compat::in_std(ctor);
  if (type->kind == ir::Type::Record && standard && type->fields.size() == 2 &&
      args.size() == 2) {  // std::pair
    ir::Expr* list = fn_.make(ir::Expr::InitList, type);
    list->args = values(args);
    return list;
  }
  if (type->kind == ir::Type::Vector || type->kind == ir::Type::StdArray) {
    if (args.size() == 1 && isa<CXXStdInitializerListExpr>(args[0]->IgnoreImplicit())) {
      ir::Expr* list = value(args[0]);
      list->type = type;
      return list;
    }
    if (args.size() == 1 && isa<CXXStdInitializerListExpr>(strip(args[0]))) {
      ir::Expr* list = value(strip(args[0]));
      list->type = type;
      return list;
    }
    ir::Expr* c = fn_.make(ir::Expr::Construct, type);
    c->args = values(args);
    bool known = args.size() <= 2;
    for (ir::Expr* a : c->args)
      known &= !a->type->is_class() || (args.size() == 2 && a->type == type->element);
    if (!known && type->differentiable && differentiable)
      return fail(e->getExprLoc(), "cannot differentiate this constructor of '" + type->name + "'");
    callees_.insert(ctor->getCanonicalDecl());
    return c;
  }
  callees_.insert(ctor->getCanonicalDecl());
  bool changes = false;
  for (const ParmVarDecl* p : ctor->parameters()) {
    QualType t = p->getType();
    changes |= (t->isLValueReferenceType() || t->isPointerType()) && !t->getPointeeType().isConstQualified();
  }
  changes &= !standard && ctor->isUserProvided();
  if ((!type->differentiable || !differentiable) && !changes) {
    ir::Expr* c = fn_.make(ir::Expr::Construct, type);
    c->braces = e->isListInitialization();
    c->args = values(args);
    return type->is_class() && !args.empty() ? hoist(c, loc(static_cast<const clang::Expr*>(e))) : c;
  }
  auto info = std::make_unique<ir::CallInfo>();
  info->is_constructor = true;
  info->name = type->name;
  add_arguments(*info, ctor, args);
  return finish_call(std::move(info), ctor, e->getType(), e, false);
}

/// `v.emplace_back(args...)` as `v.push_back(T(args...))`; it names the new element.
ir::Expr* Frontend::emplace_back(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const auto* vector = cast<ClassTemplateSpecializationDecl>(method->getParent());
  const CXXMethodDecl* push_back = nullptr;
  for (const CXXMethodDecl* m : vector->methods())
    if (named(m, {"push_back"}) && m->getParamDecl(0)->getType()->isLValueReferenceType()) push_back = m;
  const QualType element = vector->getTemplateArgs()[0].getAsType();
  const ir::Type* type = types_.get(element);
  if (!push_back || !type->copyable)
    return fail(e->getExprLoc(),
                "cannot differentiate 'emplace_back' of '" + type->name + "', which cannot be copied");
  const SourceLocation at = e->getExprLoc();
  const InitializedEntity entity = InitializedEntity::InitializeTemporary(element);
  const InitializationKind kind = e->getNumArgs() ? InitializationKind::CreateDirect(at, at, at)
                                                  : InitializationKind::CreateValue(at, at, at);
  std::vector<clang::Expr*> arguments;
  for (const clang::Expr* a : e->arguments()) arguments.push_back(const_cast<clang::Expr*>(a));
  InitializationSequence sequence(sema_, entity, kind, arguments);
  const ExprResult made = sequence.Perform(sema_, entity, kind, arguments);
  if (made.isInvalid()) return fail(at, "cannot differentiate this 'emplace_back'; use push_back");
  auto info = std::make_unique<ir::CallInfo>();
  info->is_method = true;
  info->name = "push_back";
  if (!add_object(*info, e->getImplicitObjectArgument(), push_back)) return literal("0", context_.IntTy);
  ir::Expr* object = info->args[0].expr;
  add_argument(*info, made.get(), push_back->getParamDecl(0)->getType(), /*library=*/true);
  callees_.insert(method->getCanonicalDecl());
  finish_call(std::move(info), push_back, context_.VoidTy, e, /*object_mutable=*/true);
  ir::Expr* back = fn_.make(ir::Expr::Method, type, "back", {object});
  back->accessor = true;
  return back;
}

ir::Expr* Frontend::swap(const clang::Expr* first, const clang::Expr* second, ir::Loc at) {
  ir::Expr* a = freeze(path(first), at);
  ir::Expr* b = freeze(path(second), at);
  if (a->type->kind == ir::Type::Array)
    return fail(first->getExprLoc(), "cannot differentiate 'swap' of arrays; use std::array");
  ir::Expr* kept = hoist(a, at, "swapped");
  assign(a, "=", b, at);
  return assign(b, "=", kept, at);
}

}  // namespace clad
