// What may be null: pointers and functions that a caller leaves out, and conditions that ask for them.
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// Whether this is a null pointer in the function as it is differentiated here.
bool Frontend::is_null_here(const clang::Expr* e) {
  if (const auto* given = dyn_cast<CXXDefaultArgExpr>(e)) return is_null_here(given->getExpr());
  if (e->isNullPointerConstant(context_, Expr::NPC_ValueDependentIsNotNull))
    return e->getType()->isPointerType();
  if (const auto part = part_named(e)) {
    const ir::Expr* pointer = part->first->args[part->second];
    return pointer->kind == ir::Expr::Literal && pointer->text == "nullptr";
  }
  const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  const auto bound = ref ? bindings_.find(ref->getDecl()) : bindings_.end();
  return bound != bindings_.end() && bound->second->kind == ir::Expr::Literal &&
         bound->second->text == "nullptr";
}

/// Whether this is a function pointer that is null, or an empty std::function, in the function as it is
/// differentiated here.
bool Frontend::is_null_function(const clang::Expr* e) {
  if (const auto* given = dyn_cast<CXXDefaultArgExpr>(e)) return is_null_function(given->getExpr());
  if (!is_callable(e->getType())) return false;
  if (is_null_here(e)) return true;
  if (const ir::Expr* part = parts_named(e)) return is_no_function(part);
  const clang::Expr* bare = strip(e->IgnoreParenCasts());
  if (const auto* call = dyn_cast<CallExpr>(bare); call && call->getNumArgs() == 1)
    if (const FunctionDecl* f = call->getDirectCallee();
        f && compat::in_std(f) && named(f, {"move", "forward"}))
      return is_null_function(call->getArg(0));
  if (const auto* made = dyn_cast<CXXConstructExpr>(bare))
    return made->getNumArgs() == 0 || made->getArg(0)->getType()->isNullPtrType() ||
           is_null_function(made->getArg(0));
  return bare != e && is_null_here(bare);
}

/// Whether a part of an object is a function that is null.
bool Frontend::is_no_function(const ir::Expr* part) const {
  return part->kind == ir::Expr::Parts && part->args.empty() && !part_functions_.count(part) &&
         (part->type->kind == ir::Type::Pointer || part->type->kind == ir::Type::Other);
}

/// Whether a part of an object is a function, or one of several, of which some may be null.
bool Frontend::are_functions(const ir::Expr* part) const {
  if (part->kind == ir::Expr::Conditional)
    return are_functions(part->args[1]) && are_functions(part->args[2]);
  return part_functions_.count(part) || is_no_function(part);
}

/// The functions of which an expression names one; null if it names something else.
ir::Expr* Frontend::function_chosen(const clang::Expr* e) {
  const clang::Expr* bare = strip(e->IgnoreParenCasts());
  if (!is_callable(bare->getType()) || bare->HasSideEffects(context_)) return nullptr;
  const auto* member = dyn_cast<MemberExpr>(bare);
  const auto* element = dyn_cast<ArraySubscriptExpr>(bare);
  const auto* op = dyn_cast<CXXOperatorCallExpr>(bare);
  if (!parts_named(bare) &&
      !(member && isa<FieldDecl>(member->getMemberDecl()) && names_parts(member->getBase())) &&
      !(element && table_of(element->getBase())) &&
      !(op && op->getOperator() == OO_Subscript && table_of(op->getArg(0))))
    return nullptr;
  ir::Expr* part = value(bare);
  return are_functions(part) ? part : nullptr;
}

/// Whether a function is there, asked of one of several; null of any other expression.
ir::Expr* Frontend::function_test(const clang::Expr* e) {
  if (const std::optional<bool> known = known_condition(e))
    return literal(*known ? "true" : "false", context_.BoolTy);
  e = e->IgnoreParens();
  const clang::Expr *asked = nullptr, *other = nullptr;
  bool wanted = true;
  if (const auto* c = dyn_cast<CastExpr>(e)) {
    asked = c->getSubExpr();
  } else if (const auto* call = dyn_cast<CXXMemberCallExpr>(e)) {
    asked = call->getImplicitObjectArgument();
  } else if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    asked = b->getLHS(), other = b->getRHS(), wanted = b->getOpcode() == BO_NE;
  } else if (const auto* rewritten = dyn_cast<CXXRewrittenBinaryOperator>(e)) {
    asked = rewritten->getLHS(), other = rewritten->getRHS(), wanted = rewritten->getOperator() == BO_NE;
  } else if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e); op && op->getNumArgs() == 2) {
    asked = op->getArg(0), other = op->getArg(1), wanted = op->getOperator() == OO_ExclaimEqual;
  }
  const auto null = [&](const clang::Expr* x) {
    return x->isNullPointerConstant(context_, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull;
  };
  if (other && null(asked)) std::swap(asked, other);
  if (!asked || (other && !null(other))) return nullptr;
  ir::Expr* functions = function_chosen(asked);
  if (!functions) return nullptr;
  const std::function<ir::Expr*(const ir::Expr*)> test = [&](const ir::Expr* one) {
    if (one->kind != ir::Expr::Conditional)
      return literal(is_no_function(one) != wanted ? "true" : "false", context_.BoolTy);
    ir::Expr *yes = test(one->args[1]), *no = test(one->args[2]);
    if (yes->kind == ir::Expr::Literal && no->kind == ir::Expr::Literal && yes->text == no->text) return yes;
    return fn_.make(ir::Expr::Conditional, types_.get(context_.BoolTy), "", {one->args[0], yes, no});
  };
  return test(functions);
}

/// Whether this points to an object of those that are taken apart, or names a function that is known.
bool Frontend::is_object_here(const clang::Expr* e) {
  const auto* ref = dyn_cast<DeclRefExpr>(strip(e->IgnoreParenCasts()));
  if (const auto it = ref ? closures_.find(ref->getDecl()) : closures_.end(); it != closures_.end())
    return it->second && !it->second->member && is_callable(ref->getType());
  const ir::Expr* named = parts_named(e);
  return named && ((is_pointer(e) && named->kind == ir::Expr::AddressOf) || part_functions_.count(named));
}

bool is_view_cache(const clang::Expr* e, llvm::StringRef member) {
  const auto* call = dyn_cast<CXXMemberCallExpr>(e->IgnoreParenImpCasts());
  const CXXMethodDecl* method = call ? call->getMethodDecl() : nullptr;
  return method && method->getIdentifier() && method->getName() == member &&
         method->getParent()->getName() == "_CachedPosition" && compat::in_views(method);
}

/// Whether a condition holds, where that follows from which pointers are null, or from which functions are
/// there.
std::optional<bool> Frontend::known_condition(const clang::Expr* e) {
  e = e->IgnoreParens();
  const auto known = [&](const clang::Expr* pointer) -> std::optional<bool> {
    if (is_null_here(pointer) || is_null_function(pointer)) return false;
    return is_object_here(pointer) ? std::optional(true) : std::nullopt;
  };
  const auto compared = [&](const clang::Expr* a, const clang::Expr* b, bool equal) -> std::optional<bool> {
    if (!is_callable(a->getType())) std::swap(a, b);
    if (!is_callable(a->getType()) || !b->getType()->isNullPtrType()) return std::nullopt;
    const std::optional<bool> there = known(without_base(a));
    return there ? std::optional(*there != equal) : std::nullopt;
  };
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e);  // of a std::function with nullptr
      call && call->getNumArgs() == 2 &&
      (call->getOperator() == OO_EqualEqual || call->getOperator() == OO_ExclaimEqual))
    return compared(call->getArg(0), call->getArg(1), call->getOperator() == OO_EqualEqual);
  if (const auto* rewritten = dyn_cast<CXXRewrittenBinaryOperator>(e);
      rewritten && BinaryOperator::isEqualityOp(rewritten->getOperator()))
    return compared(rewritten->getLHS(), rewritten->getRHS(), rewritten->getOperator() == BO_EQ);
  if (const auto* full = dyn_cast<FullExpr>(e)) return known_condition(full->getSubExpr());
  if (is_view_cache(e, "_M_has_value")) return false;
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(e);  // of a smart pointer
      call && isa_and_nonnull<CXXConversionDecl>(call->getMethodDecl()))
    return known(without_base(call->getImplicitObjectArgument()));
  if (const auto* c = dyn_cast<CastExpr>(e))
    return c->getCastKind() == CK_PointerToBoolean ? known(c->getSubExpr())
                                                   : known_condition(c->getSubExpr());
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->getOpcode() == UO_LNot) {
    const std::optional<bool> inner = known_condition(u->getSubExpr());
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  const auto* b = dyn_cast<BinaryOperator>(e);
  const auto none = [&](const clang::Expr* x) { return is_null_here(x) || is_null_function(x); };
  if (b && b->isEqualityOp() && none(b->getLHS()) && none(b->getRHS())) return b->getOpcode() == BO_EQ;
  if (b && b->isEqualityOp() &&
      ((none(b->getLHS()) && is_object_here(b->getRHS())) ||
       (is_object_here(b->getLHS()) && none(b->getRHS()))))
    return b->getOpcode() == BO_NE;
  if (!b || !b->isLogicalOp()) return std::nullopt;
  const bool decides = b->getOpcode() == BO_LOr;  // whatever the other operand is
  const std::optional<bool> left = known_condition(b->getLHS());
  if (left == decides) return left;
  const std::optional<bool> right = left ? known_condition(b->getRHS()) : std::nullopt;
  return right;
}

/// Passes no pointer where there may be one to numbers, or no function: the callee is differentiated for
/// that.
bool Frontend::add_null(ir::CallInfo& info, const clang::Expr* e, const FunctionDecl* callee,
                        unsigned position) {
  const ParmVarDecl* p = callee->getCanonicalDecl()->getParamDecl(position);
  const QualType type = p->getType();
  const bool function = computes(type) && is_null_function(e);
  const bool numbers = type->isPointerType() && !type->getPointeeType().isConstQualified() &&
                       types_.get(type)->differentiable && is_null_here(e);
  if ((!function && !numbers) || !may_be_null(callee, position)) return false;
  info.targets.resize(callee->getNumParams());
  info.targets[position] = p;
  info.lifted = true;
  return true;
}

/// Whether the function can be differentiated for no pointer in the parameter's place.
bool Frontend::may_be_null(const FunctionDecl* callee, unsigned position) {
  const FunctionDecl* definition = nullptr;
  return callee->hasBody(definition) && !lookup_.named(callee) &&
         !changes_of(definition).modified.count(definition->getParamDecl(position));
}

/// Likewise of a call whose arguments are known to be null only now.
void Frontend::drop_nulls(ir::CallInfo& info, const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const std::size_t first = info.is_method ? 1 : 0;
  if (compat::in_std(callee) || (method && method->isVirtual()) ||
      info.args.size() != first + callee->getNumParams())
    return;
  for (std::size_t i = callee->getNumParams(); i-- > 0;) {
    const ir::Expr* e = info.args[first + i].expr;
    const ParmVarDecl* p = callee->getCanonicalDecl()->getParamDecl(static_cast<unsigned>(i));
    if (e->kind != ir::Expr::Literal || e->text != "nullptr" || !p->getType()->isPointerType() ||
        p->getType()->getPointeeType().isConstQualified() || !types_.get(p->getType())->differentiable ||
        !may_be_null(callee, static_cast<unsigned>(i)))
      continue;
    info.targets.resize(callee->getNumParams());
    info.targets[i] = p;
    info.lifted = true;
    info.args.erase(info.args.begin() + static_cast<std::ptrdiff_t>(first + i));
  }
}

}  // namespace clad
