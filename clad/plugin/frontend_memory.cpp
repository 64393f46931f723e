// Objects on the heap: what `new`, std::make_unique and malloc make is a local variable, and the pointer,
// smart or not, points to it.
#include "clang/AST/DeclTemplate.h"
#include "clang/Sema/Initialization.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// T(args...), or T() without arguments.
ExprResult Frontend::construction(QualType type, llvm::ArrayRef<const clang::Expr*> args, SourceLocation at) {
  const InitializedEntity entity = InitializedEntity::InitializeTemporary(type);
  const InitializationKind kind = args.empty() ? InitializationKind::CreateValue(at, at, at)
                                               : InitializationKind::CreateDirect(at, at, at);
  std::vector<clang::Expr*> arguments;
  for (const clang::Expr* a : args) arguments.push_back(const_cast<clang::Expr*>(a));
  InitializationSequence sequence(sema_, entity, kind, arguments);
  return sequence.Perform(sema_, entity, kind, arguments);
}

/// The pointer to a new variable that starts as `init`.
ir::Expr* Frontend::allocate(const ir::Type* type, ir::Expr* init, const ir::Type* pointer, ir::Loc at) {
  ir::Var* v = fn_.make_var(ir::Var::Local, "object", type, region_);
  v->modified = true;
  v->optional = !type->default_constructible;
  unstable_.insert(v);
  allocated_.insert(v);
  ir::Stmt* s = emit(ir::Stmt::Decl, at);
  s->var = v;
  s->expr = init;
  if (type->kind != ir::Type::Vector || pointer->element == type)
    return fn_.make(ir::Expr::AddressOf, pointer, "", {fn_.ref(v)});
  return pointer_at({fn_.ref(v), literal("0", context_.IntTy)}, pointer);
}

ir::Expr* Frontend::allocate_array(QualType element, ir::Expr* count, const ir::Type* pointer, ir::Loc at) {
  const ir::Type* type = types_.vector_of(types_.get(element));
  return allocate(type, fn_.make(ir::Expr::Construct, type, "", {count}), pointer, at);
}

ir::Expr* Frontend::allocate(const CXXNewExpr* e) {
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  const QualType type = e->getAllocatedType();
  const ir::Type* pointer = types_.get(e->getType());
  if (!pointer->differentiable || e->getNumPlacementArgs() > 0)
    return fail(e->getExprLoc(), "cannot differentiate this 'new'; use std::vector");
  if (!e->isArray()) {
    const clang::Expr* init = e->getInitializer();
    if (!init && e->getConstructExpr()) init = e->getConstructExpr();
    if (const auto* list = dyn_cast_or_null<ParenListExpr>(init))
      init = list->getNumExprs() ? list->getExpr(0) : nullptr;
    return allocate(types_.get(type), init ? value(init) : nullptr, pointer, at);
  }
  const auto* list = dyn_cast_or_null<InitListExpr>(e->getInitializer());
  ir::Expr* count = value(*e->getArraySize());
  ir::Expr* array = allocate_array(type, count, pointer, at);
  for (unsigned i = 0; list && i < list->getNumInits(); ++i)
    if (!isa<ImplicitValueInitExpr>(list->getInit(i)))
      assign(element(array, literal(std::to_string(i), context_.IntTy)), "=", value(list->getInit(i)), at);
  return array;
}

/// malloc(n * sizeof(T)) or calloc(n, sizeof(T)), converted to T*; null if `e` is neither.
ir::Expr* Frontend::allocate(const clang::Expr* e, QualType pointer) {
  const auto* call = dyn_cast<CallExpr>(e->IgnoreParenCasts());
  const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !named(callee, {"malloc", "calloc"})) return nullptr;
  const QualType element = pointer->getPointeeType();
  const QualType size_type = context_.getSizeType();
  const auto bytes = context_.getTypeSizeInChars(element).getQuantity();
  const auto is_size = [&](const clang::Expr* x) {
    clang::Expr::EvalResult result;
    return x->EvaluateAsInt(result, context_) && result.Val.getInt() == static_cast<std::uint64_t>(bytes);
  };
  const clang::Expr *number = nullptr, *argument = call->getArg(0);
  if (callee->getName() == "calloc") {
    if (is_size(call->getArg(1))) number = argument;
  } else if (const auto* product = dyn_cast<BinaryOperator>(argument->IgnoreParenImpCasts());
             product && product->getOpcode() == BO_Mul) {
    number = is_size(product->getRHS())   ? product->getLHS()
             : is_size(product->getLHS()) ? product->getRHS()
                                          : nullptr;
  } else if (is_size(argument)) {
    number = argument;
  }
  ir::Expr* count = nullptr;
  if (number == argument && callee->getName() == "malloc")
    count = literal("1", size_type);
  else if (number)
    count = value(number);
  else
    return fail(e->getExprLoc(),
                "cannot differentiate this allocation: the number of elements is not seen; write "
                "malloc(n * sizeof(T)), or use std::vector");
  return allocate_array(element, count, types_.get(pointer), loc(e));
}

/// delete and free end the life of what has been allocated here; its variable stays.
ir::Expr* Frontend::deallocate(const clang::Expr* pointer, SourceLocation at) {
  ir::Expr* p = value(pointer);
  const auto own = [&](ir::Expr* one) {
    const ir::Var* root = ir::root(position(one, true).base);
    return allocated_.count(root) != 0 || (one->kind == ir::Expr::Literal);
  };
  bool all = true;
  through(p, [&](ir::Expr* one) {
    all &= own(one);
    return one;
  });
  if (!all)
    return fail(at, "cannot differentiate the release of memory that this function has not allocated");
  return literal("0", context_.IntTy);
}

/// What a smart pointer in memory points to, as a pointer.
ir::Expr* Frontend::held(ir::Expr* path, QualType type) {
  if (path->type->kind != ir::Type::Pointer || !path->type->differentiable ||
      !type.getNonReferenceType()->isRecordType())
    return path;
  ir::Expr* pointer = fn_.make(ir::Expr::Method, path->type, "get", {path});
  pointer->accessor = true;
  return pointer;
}

/// std::make_unique, std::make_shared, std::ref and the members of what they make; null for any other call.
ir::Expr* Frontend::pointer_function(const CallExpr* e, const FunctionDecl* callee) {
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  if (named(callee, {"free"}) && callee->isExternC() && is_pointer(e->getArg(0)->IgnoreParenCasts()))
    return deallocate(e->getArg(0)->IgnoreParenCasts(), e->getExprLoc());
  if (!compat::in_std(callee)) return nullptr;
  if (named(callee, {"ref", "cref"}) && e->getNumArgs() == 1 && is_pointer(e)) {
    ir::Expr* target = value(e->getArg(0));
    if (target->type->kind == ir::Type::Pointer) return target;
    return fn_.make(ir::Expr::AddressOf, types_.get(e->getType()), "", {target});
  }
  if (named(callee, {"make_unique", "make_shared"}) && is_pointer(e)) {
    const QualType type = callee->getTemplateSpecializationArgs()->get(0).getAsType();
    const ir::Type* pointer = types_.get(e->getType());
    if (const ArrayType* array = context_.getAsArrayType(type)) {
      ir::Expr* count = e->getNumArgs() ? value(e->getArg(0)) : nullptr;
      if (!count || e->getNumArgs() > 1)
        return fail(e->getExprLoc(), "cannot differentiate this allocation; use std::vector");
      return allocate_array(array->getElementType(), count, pointer, at);
    }
    const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
    const ExprResult made = construction(type.getUnqualifiedType(), args, e->getExprLoc());
    if (made.isInvalid()) return fail(e->getExprLoc(), "cannot differentiate this allocation");
    return allocate(types_.get(type), value(made.get()), pointer, at);
  }
  const auto* member = dyn_cast<CXXMemberCallExpr>(e);
  const clang::Expr* owner = member ? without_base(member->getImplicitObjectArgument()) : nullptr;
  if (!owner || owner->getType()->isPointerType() || !is_pointer(owner)) return nullptr;
  if (named(callee, {"base"})) return value(owner);
  if (named(callee, {"get"})) return e->isLValue() ? deref(value(owner)) : value(owner);
  if (const auto* conversion = dyn_cast<CXXConversionDecl>(callee)) {
    ir::Expr* p = value(owner);
    if (!conversion->getConversionType()->isBooleanType()) return deref(p);
    if (p->kind == ir::Expr::AddressOf) return literal("true", context_.BoolTy);
    return fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy),
                    "!=", {p, literal("nullptr", context_.NullPtrTy)});
  }
  return fail(e->getExprLoc(),
              "cannot differentiate '" + callee->getNameAsString() +
                  "' of a pointer that owns its object; let one pointer own it for its whole life");
}

}  // namespace clad
