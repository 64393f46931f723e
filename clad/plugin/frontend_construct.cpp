// Constructor calls: copies, aggregates of the library, and functions that make an object.
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

}  // namespace clad
