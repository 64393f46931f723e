// Integers that a derivative is asked for, as in clad::differentiate(f, "n") of `double f(int n)`. They, and
// the integers computed from them, are numbers like any other as long as they are added, multiplied, compared
// and converted; what needs them to be whole is refused.
#include "ast_visitor.h"
#include "frontend.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace clad {
namespace {

/// What the variables of a body are set to, as far as it stands in initializers and assignments.
struct Settings : AstVisitor {
  std::vector<std::pair<const VarDecl*, const clang::Expr*>> found;
  bool VisitVarDecl(VarDecl* var) override {
    if (var->getInit()) found.emplace_back(var, var->getInit());
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* op) override {
    const auto* ref = dyn_cast<DeclRefExpr>(op->getLHS()->IgnoreParens());
    const auto* var = ref && op->isAssignmentOp() ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    if (var) found.emplace_back(var, op->getRHS());
    return true;
  }
};

}  // namespace

bool is_whole(QualType type) { return type->isIntegerType() && !type->isBooleanType(); }

bool Frontend::is_number(const clang::Expr* e) const {
  if (numbers_.empty()) return false;
  e = e->IgnoreParens();
  if (!is_whole(e->getType())) return false;
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) return numbers_.count(ref->getDecl()) != 0;
  if (const auto* c = dyn_cast<CastExpr>(e); c && c->getCastKind() == CK_FloatingToIntegral) return false;
  return llvm::any_of(e->children(), [&](const clang::Stmt* child) {
    const auto* part = dyn_cast_or_null<clang::Expr>(child);
    return part && is_number(part);
  });
}

/// Finds the integers that the asked ones lead to.
void Frontend::find_numbers(const FunctionDecl* decl) {
  if (numbers_.empty()) return;
  Settings settings;
  settings.TraverseStmt(decl->getBody());
  for (bool more = true; more;) {
    more = false;
    for (const auto& [var, to] : settings.found)
      if (is_whole(var->getType()) && is_number(to)) more |= numbers_.insert(var).second;
  }
}

QualType Frontend::type_of(const VarDecl* var) const {
  return numbers_.count(var) ? context_.DoubleTy : var->getType();
}

/// An integer that is known when the program is compiled; null for any other expression.
ir::Expr* Frontend::constant(const clang::Expr* e) {
  clang::Expr::EvalResult result;
  if (e->isValueDependent() || !e->getType()->isIntegralOrEnumerationType() ||
      !e->EvaluateAsInt(result, context_))
    return nullptr;
  std::string text = llvm::toString(result.Val.getInt(), 10);
  if (e->getType()->isBooleanType()) text = text == "0" ? "false" : "true";
  if (e->getType()->isEnumeralType()) {
    ir::Expr* inner = literal(text, context_.IntTy);
    ir::Expr* c = fn_.cast(types_.get(e->getType()), types_.spell(e->getType()), inner);
    return c;
  }
  const std::uint64_t size = context_.getTypeSize(e->getType());
  const bool is_least = e->getType()->isSignedIntegerType() && result.Val.getInt().isMinSignedValue();
  if (e->getType()->isBooleanType()) return literal(text, e->getType());
  if (size < 32 || size > 64 || is_least)
    return literal(spell_constant(result.Val, e->getType(), types_), e->getType());
  if (e->getType()->isUnsignedIntegerType())
    text += size > 32 ? "ul" : "u";
  else if (size > 32)
    text += "l";
  return literal(text, e->getType());
}

/// The value of an integer expression; that of one which is differentiated is a number.
ir::Expr* Frontend::as_number(const clang::Expr* e) {
  e = e->IgnoreParens();
  if (!is_number(e)) return value(e);
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) return reference_to(ref);
  if (const auto* c = dyn_cast<CastExpr>(e);
      c && (c->getCastKind() == CK_LValueToRValue || c->getCastKind() == CK_NoOp ||
            c->getCastKind() == CK_IntegralCast))
    return as_number(c->getSubExpr());
  const ir::Type* real = types_.get(context_.DoubleTy);
  if (const auto* u = dyn_cast<UnaryOperator>(e)) {
    if (u->isIncrementDecrementOp()) return unary(u, /*used=*/true);
    if (u->getOpcode() == UO_Plus) return as_number(u->getSubExpr());
    if (u->getOpcode() == UO_Minus) return fn_.make(ir::Expr::Unary, real, "-", {as_number(u->getSubExpr())});
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    if (b->isAssignmentOp()) return binary(b, /*used=*/true);
    if (b->isAdditiveOp() || b->getOpcode() == BO_Mul)
      return fn_.make(ir::Expr::Binary, real, b->getOpcodeStr().str(),
                      {as_number(b->getLHS()), as_number(b->getRHS())});
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e); c && !c->HasSideEffects(context_))
    return fn_.make(ir::Expr::Conditional, real, "",
                    {value(c->getCond()), as_number(c->getTrueExpr()), as_number(c->getFalseExpr())});
  return refuse_integer(e);
}

/// The value that is returned. The result of a function that is differentiated with respect to an integer is
/// a number, also where it is a plain integer.
ir::Expr* Frontend::returned_number(const clang::Expr* e) {
  if (!is_whole(e->getType()) || fn_.result->kind != ir::Type::Real || is_number(e)) return as_number(e);
  const clang::Expr* from = e->IgnoreParens();
  while (const auto* c = dyn_cast<CastExpr>(from)) {
    if (c->getCastKind() == CK_FloatingToIntegral) return refuse_integer(c);
    if (c->getCastKind() != CK_IntegralCast) break;
    from = c->getSubExpr()->IgnoreParens();
  }
  return fn_.cast(fn_.result, fn_.result->name, value(e));
}

ir::Expr* Frontend::assign_number(const BinaryOperator* e) {
  const BinaryOperatorKind op = e->getOpcode();
  const bool known = op == BO_Assign || op == BO_AddAssign || op == BO_SubAssign || op == BO_MulAssign;
  if (!known || !is_whole(e->getRHS()->getType()) || !isa<DeclRefExpr>(e->getLHS()->IgnoreParens()))
    return refuse_integer(e);
  ir::Expr* rhs = as_number(e->getRHS());
  return assign(as_number(e->getLHS()), e->getOpcodeStr().str(), rhs, loc(e));
}

ir::Expr* Frontend::refuse_integer(const clang::Expr* e) {
  return fail(
      e->getExprLoc(),
      "cannot differentiate with respect to an integer through this: only sums, products, comparisons "
      "and conversions to floating point are; make it a floating-point number");
}

}  // namespace clad
