// Iterators over arrays, vectors and the like: pointers by another name.
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// The object itself, where it is named as its base class.
const clang::Expr* without_base(const clang::Expr* e) {
  while (const auto* c = dyn_cast<ImplicitCastExpr>(e->IgnoreParens())) {
    if (c->getCastKind() != CK_UncheckedDerivedToBase && c->getCastKind() != CK_DerivedToBase &&
        c->getCastKind() != CK_NoOp)
      break;
    e = c->getSubExpr();
  }
  return e;
}

/// An operator on iterators that are pointers in the IR.
ir::Expr* Frontend::iterator_operator(const CXXOperatorCallExpr* e) {
  const clang::Expr* first = without_base(e->getArg(0));
  const bool reverse = TypeTable::is_reverse(first->getType()) ||
                       (e->getNumArgs() > 1 && TypeTable::is_reverse(e->getArg(1)->getType()));
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  const Cursor* cursor = cursor_of(first);
  const auto index = [&](long i) { return literal(std::to_string(i), context_.IntTy); };
  callees_.insert(e->getDirectCallee()->getCanonicalDecl());
  switch (e->getOperator()) {
    case OO_Star:
      if (e->getNumArgs() != 1) break;
      return reverse ? element(value(first), index(-1)) : deref(value(first));
    case OO_Arrow:
      return reverse ? moved(value(first), true, index(1)) : value(first);
    case OO_Subscript: {
      const std::vector<ir::Expr*> operands = values({first, e->getArg(1)});
      if (reverse) return element(moved(operands[0], true, operands[1]), index(-1));
      return element(operands[0], operands[1]);
    }
    case OO_PlusPlus:
    case OO_MinusMinus:
      if (cursor) return increment(*cursor, e->getOperator() == OO_PlusPlus, e->getNumArgs() == 2, true, at);
      break;
    case OO_PlusEqual:
    case OO_MinusEqual:
      if (cursor) return move_cursor(*cursor, getOperatorSpelling(e->getOperator()), value(e->getArg(1)), at);
      break;
    case OO_Equal:
      if (const auto part = pointer_part(first); part || cursor) {
        ir::Expr* to = value(e->getArg(1));
        leave_empty(e->getArg(1));
        return part ? repoint(part->first, part->second, to, e->getExprLoc())
                    : assign_cursor(*cursor, to, e->getExprLoc());
      }
      break;
    case OO_Plus:
    case OO_Minus:
    case OO_EqualEqual:
    case OO_ExclaimEqual:
      if (asks_moved(first) || asks_moved(e->getArg(1))) return literal("false", context_.BoolTy);
      [[fallthrough]];
    case OO_Less:
    case OO_LessEqual:
    case OO_Greater:
    case OO_GreaterEqual:
      return pointer_binary(getOperatorSpelling(e->getOperator()), first, e->getArg(1), e->getType(),
                            reverse);
    default:
      break;
  }
  return fail(e->getExprLoc(), "cannot differentiate this operator on an iterator; use an index");
}

/// begin() or end() of a container, or the same with an `r` or `c` before.
ir::Expr* Frontend::ends(ir::Expr* container, llvm::StringRef which, QualType result) {
  which.consume_front("c");
  const bool reverse = which.consume_front("r");
  const ir::Type* type = types_.get(result);
  if (!ir::names_object(container)) container = hoist(container, at_);
  const QualType size_type = context_.getSizeType();
  return through(container, [&](ir::Expr* one) {
    ir::Expr* index = literal("0", size_type);
    if ((which == "end") != reverse) {
      if (one->type->kind == ir::Type::Vector || one->type->kind == ir::Type::InitializerList)
        index = fn_.make(ir::Expr::Method, types_.get(size_type), "size", {one});
      else
        index = literal(std::to_string(one->type->extent), size_type);
    }
    return pointer_at({one, sum(literal("0", context_.IntTy), false, index)}, type);
  });
}

/// std::begin, std::next and their like, of what is a pointer in the IR; null for any other function.
ir::Expr* Frontend::iterator_function(const CallExpr* e, const FunctionDecl* callee) {
  if (!compat::in_std(callee) || e->getNumArgs() == 0) return nullptr;
  const clang::Expr* first = e->getArg(0);
  if (is_view(first->getType()) && e->getNumArgs() == 1 &&
      named(callee, {"begin", "end", "cbegin", "cend", "rbegin", "rend", "data", "size", "ssize", "empty"}))
    return view_part(first, callee->getName(), nullptr, e);
  const bool ends_of =
      named(callee, {"begin", "end", "cbegin", "cend", "rbegin", "rend", "crbegin", "crend", "data"});
  if (ends_of && is_pointer(e)) {
    const ir::Type::Kind kind = types_.get(first->getType())->kind;
    if (kind != ir::Type::Array && kind != ir::Type::StdArray && kind != ir::Type::Vector) return nullptr;
    callees_.insert(callee->getCanonicalDecl());
    return ends(value(first), callee->getName(), e->getType());
  }
  if (named(callee, {"size", "ssize"}) && !types_.get(e->getType())->differentiable) {
    const ir::Type* type = types_.get(first->getType());
    if (type->kind == ir::Type::Array)
      return length(literal(std::to_string(type->extent), e->getType()), e->getType());
    return nullptr;
  }
  if (!is_pointer(first)) return nullptr;
  const bool reverse = TypeTable::is_reverse(first->getType());
  if (named(callee, {"next", "prev"})) {
    const std::vector<ir::Expr*> operands = values({first, e->getArg(1)});
    return moved(operands[0], (callee->getName() == "prev") != reverse, operands[1]);
  }
  if (named(callee, {"distance"})) return pointer_binary("-", e->getArg(1), first, e->getType(), reverse);
  if (named(callee, {"advance"})) {
    const Cursor* cursor = cursor_of(first);
    if (!cursor)
      return fail(e->getExprLoc(), "cannot differentiate 'advance' of this iterator; use an index");
    return move_cursor(*cursor, "+=", value(e->getArg(1)), loc(static_cast<const clang::Expr*>(e)));
  }
  if (named(callee, {"make_reverse_iterator", "make_move_iterator"}) && is_pointer(e)) return value(first);
  return nullptr;
}

}  // namespace clad
