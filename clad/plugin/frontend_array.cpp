// std::valarray: a std::vector where a derivative is taken, with the operations of clad::library on it.
#include "compat.h"
#include "effects.h"
#include "frontend.h"

using namespace clang;

namespace clad {

ir::Expr* Frontend::no_array_operation(const clang::Expr* at) {
  return fail(at->getExprLoc(),
              "cannot differentiate this operation on a std::valarray; write the loop, with an index");
}

/// An operator of which an operand is a valarray; null if it is one that vectors have too.
ir::Expr* Frontend::array_operator(const CXXOperatorCallExpr* e, const FunctionDecl* callee) {
  const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  if (std::none_of(args.begin(), args.end(),
                   [](const clang::Expr* a) { return TypeTable::is_numeric_array(a->getType()); }))
    return nullptr;
  if (e->getOperator() == OO_Subscript)
    return args[1]->getType()->isIntegralOrEnumerationType() ? nullptr : no_array_operation(e);
  if (e->getOperator() == OO_Equal && TypeTable::is_numeric_array(args[1]->getType())) return nullptr;
  const FunctionDecl* plain = lookup_.plain_definition(operator_word(callee), args);
  if (!plain) return no_array_operation(e);
  ir::Expr* result = call_plain(e, plain, args);
  return plain->getReturnType()->isVoidType() ? value(args[0]) : result;
}

/// A member function of a valarray, or of an expression; null if it is one that vectors have too.
ir::Expr* Frontend::array_member(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const clang::Expr* object = e->getImplicitObjectArgument();
  if (!TypeTable::is_numeric_array(object->getType())) return nullptr;
  if (named(method, {"swap"})) return nullptr;
  if (named(method, {"size"}))
    return fn_.make(ir::Expr::Method, types_.get(e->getType()), "size", {this->object(object)});
  std::vector<const clang::Expr*> args{object};
  for (const clang::Expr* a : e->arguments())
    if (!isa<CXXDefaultArgExpr>(a)) args.push_back(a);
  if (!method->getIdentifier()) return no_array_operation(e);
  std::string name = "array_" + method->getNameAsString();
  if (name == "array_sum" && method->getParent()->getName() == "_Expr") name += "_from_end";
  const FunctionDecl* plain = lookup_.plain_definition(name, args);
  return plain ? call_plain(e, plain, args) : no_array_operation(e);
}

ir::Expr* Frontend::no_bit(const ValueDecl* decl) {
  return fail(decl->getLocation(),
              "cannot differentiate through '" + decl->getNameAsString() +
                  "', a reference to an element of a std::vector<bool>; declare it bool, or use the index");
}

/// An element of a std::vector<bool> that is assigned to: what a call returned in its place is a copy here.
ir::Expr* Frontend::bit_place(const clang::Expr* e) {
  ir::Expr* bit = value(strip(e));
  if (bit->kind != ir::Expr::VarRef || bit->var->kind != ir::Var::Temp) return bit;
  return fail(
      e->getExprLoc(),
      "cannot differentiate an assignment to an element of a std::vector<bool> through an iterator, or "
      "a reference that a call returned; use the index");
}

/// A member function of an element of a std::vector<bool>, which is a class of its own; null of anything
/// else.
ir::Expr* Frontend::bit_member(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const clang::Expr* object = e->getImplicitObjectArgument();
  if (!TypeTable::is_bit(object->getType())) return nullptr;
  if (isa<CXXConversionDecl>(method)) {
    ir::Expr* bit = value(strip(object));
    return ir::constant_behind(bit) ? hoist(bit, at_) : bit;
  }
  if (!named(method, {"flip"})) return nullptr;
  ir::Expr* bit = bit_place(object);
  return assign(bit, "=", fn_.make(ir::Expr::Unary, bit->type, "!", {bit}), at_);
}

/// A valarray made of a count, a value and a count, numbers in memory, a list, or of another.
ir::Expr* Frontend::construct_array(const CXXConstructExpr* e, llvm::ArrayRef<const clang::Expr*> args) {
  const ir::Type* type = types_.get(e->getType());
  if (args.size() == 1 && types_.get(args[0]->getType()) == type) return value(args[0]);
  ir::Expr* made = fn_.make(ir::Expr::Construct, type);
  made->args = values(args);
  const bool numbers = std::all_of(made->args.begin(), made->args.end(),
                                   [](const ir::Expr* a) { return !a->type->is_class(); });
  if (!numbers || args.size() > 2) return no_array_operation(e);
  if (args.size() == 2) {
    if (made->args[0]->type->kind == ir::Type::Pointer)
      made->args[1] = moved(made->args[0], false, made->args[1]);
    else
      std::swap(made->args[0], made->args[1]);
  }
  return made;
}

}  // namespace clad
