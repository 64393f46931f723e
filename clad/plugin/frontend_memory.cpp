// Objects on the heap: what `new`, std::make_unique and malloc make is a local variable, and the pointer,
// smart or not, points to it.
#include "ast_visitor.h"
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
  if (init && is_parts(init)) return fn_.make(ir::Expr::AddressOf, pointer, "", {init});
  ir::Var* v = fn_.make_var(ir::Var::Local, "object", type, region_);
  v->modified = true;
  v->optional = !type->default_constructible;
  unstable_.insert(v);
  allocated_.insert(v);
  const bool may_be_returned = init && places_ && places_->region == region_;
  ir::Stmt* s = fn_.stmt(ir::Stmt::Decl, at, source_);
  s->var = v;
  if (may_be_returned) {  // declared around the body, and made where this way through it makes it
    v->optional = v->maybe = true;
    places_->before->push_back(s);
    start_as(fn_.ref(v), init, at);
  } else {
    s->expr = init;
    out_->push_back(s);
  }
  if ((type->kind != ir::Type::Vector && type->kind != ir::Type::Array) || pointer->element == type)
    return fn_.make(ir::Expr::AddressOf, pointer, "", {fn_.ref(v)});
  return pointer_at({fn_.ref(v), literal("0", context_.IntTy)}, pointer);
}

ir::Expr* Frontend::allocate_array(QualType element, ir::Expr* count, const ir::Type* pointer, ir::Loc at) {
  if (element->isArrayType()) {  // of which there are no vectors
    unsigned rows = 0;
    if (count->kind != ir::Expr::Literal || llvm::StringRef(count->text).rtrim("ul").getAsInteger(10, rows))
      return fail(SourceLocation::getFromRawEncoding(at),
                  "cannot differentiate an allocation of arrays whose number is not a constant; use a vector "
                  "of std::array");
    const ir::Type* type = types_.get(compat::array_type(context_, element, rows));
    return allocate(type, fn_.make(ir::Expr::Construct, type), pointer, at);
  }
  const ir::Type* type = types_.vector_of(types_.get(element));
  return allocate(type, fn_.make(ir::Expr::Construct, type, "", {count}), pointer, at);
}

/// An array of variable length is memory of the heap, and its name points to the first element.
void Frontend::declare_of_variable_length(const VarDecl* decl) {
  // Another type's length has been computed before, where that was named.
  const auto* array = dyn_cast<VariableArrayType>(decl->getType().getTypePtr());
  if (!array || array->getElementType()->isArrayType()) {
    fail(decl->getLocation(), "cannot differentiate array '" + decl->getNameAsString() + "' " +
                                  (array ? "of arrays and of variable length"
                                         : "of a type that was named before, of variable length") +
                                  "; use std::vector");
    bindings_[decl] = literal("0", context_.IntTy);
    return;
  }
  ir::Expr* length = value(array->getSizeExpr());
  if (length->kind != ir::Expr::Literal) length = hoist(length, at_, "length");
  lengths_[array->getSizeExpr()] = length;
  const QualType element = array->getElementType();
  bindings_[decl] = allocate_array(element, length, types_.get(context_.getPointerType(element)), at_);
}

/// The size in bytes of such an array; null of anything else.
ir::Expr* Frontend::variable_size(const UnaryExprOrTypeTraitExpr* e) {
  if (e->getKind() != UETT_SizeOf) return nullptr;
  const VariableArrayType* array = context_.getAsVariableArrayType(e->getTypeOfArgument());
  const auto length = lengths_.find(array ? array->getSizeExpr() : nullptr);
  if (length == lengths_.end()) return nullptr;
  const auto bytes = context_.getTypeSizeInChars(array->getElementType()).getQuantity();
  return fn_.make(ir::Expr::Binary, types_.get(context_.getSizeType()), "*",
                  {length->second, literal(std::to_string(bytes) + "ul", context_.getSizeType())});
}

ir::Expr* Frontend::allocate(const CXXNewExpr* e) {
  check_object(e->getAllocatedType(), e->getExprLoc());
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  const QualType type = e->getAllocatedType();
  const ir::Type* pointer = types_.get(e->getType());
  const bool followed = pointer->differentiable || !type->isRecordType() || types_.follows_owners_of(type);
  if (!followed && e->getNumPlacementArgs() == 0)  // an owner that is none here may get it
    return fail(e->getExprLoc(),
                "cannot differentiate this 'new' of an object that holds nothing to differentiate; use "
                "std::make_unique, std::make_shared or a variable");
  if (!pointer->is_followed() || e->getNumPlacementArgs() > 0)
    return fail(e->getExprLoc(), "cannot differentiate this 'new'; use std::vector");
  if (!e->isArray()) {
    const clang::Expr* init = e->getInitializer();
    if (!init && e->getConstructExpr()) init = e->getConstructExpr();
    if (const auto* list = dyn_cast_or_null<ParenListExpr>(init))
      init = list->getNumExprs() ? list->getExpr(0) : nullptr;
    return allocate(types_.get(type), init ? value(init) : nullptr, pointer, at);
  }
  const auto* list = dyn_cast_or_null<InitListExpr>(e->getInitializer());
  const clang::Expr* size = *e->getArraySize();
  ir::Expr* count = type->isArrayType() ? constant(size) : nullptr;
  ir::Expr* array = allocate_array(type, count ? count : value(size), pointer, at);
  if (list && type->isArrayType() && list->getNumInits() > 0)
    return fail(e->getExprLoc(),
                "cannot differentiate this 'new' of arrays with initial values; assign them");
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
  } else if (const auto* product = dyn_cast<BinaryOperator>(argument->IgnoreParenCasts());
             product && product->getOpcode() == BO_Mul) {
    number = is_size(product->getRHS())   ? product->getLHS()
             : is_size(product->getLHS()) ? product->getRHS()
                                          : nullptr;
  } else if (is_size(argument)) {
    number = argument;
  }
  if (bytes == 1 && !number) number = argument;
  ir::Expr* count = nullptr;
  const bool one = callee->getName() == "malloc" && number == argument;
  if (in_parts(element) && (one || (number && constant(number) && constant(number)->text == "1")))
    return allocate(types_.get(element), aggregate_parts(element, {}), types_.get(pointer), loc(e));
  if (bytes > 1 && one)
    count = literal("1", size_type);
  else if (number)
    count = element->isArrayType() && constant(number) ? constant(number) : value(number);
  else
    return fail(e->getExprLoc(),
                "cannot differentiate this allocation: the number of elements is not seen; write "
                "malloc(n * sizeof(T)), or use std::vector");
  return allocate_array(element, count, types_.get(pointer), loc(e));
}

/// Whether the function returns integers that it allocates, or frees what it is given: there is no memory for
/// it to do so in a derivative, only what the caller declares.
bool manages_memory(const FunctionDecl* f) {
  struct Finder : AstVisitor {
    bool makes = false, frees = false;
    bool TraverseLambdaExpr(LambdaExpr*) override { return true; }
    bool VisitCXXNewExpr(CXXNewExpr*) override { return makes = true; }
    bool VisitCXXDeleteExpr(CXXDeleteExpr*) override { return frees = true; }
    bool VisitCallExpr(CallExpr* call) override {
      const FunctionDecl* callee = call->getDirectCallee();
      makes |= callee && named(callee, {"malloc", "calloc"});
      frees |= callee && named(callee, {"free"}) && callee->isExternC();
      return true;
    }
  } finder;
  const auto numbers = [](QualType type) {
    return type->isPointerType() && !type->getPointeeType().isConstQualified() &&
           type->getPointeeType()->isArithmeticType();
  };
  const bool takes =
      llvm::any_of(f->parameters(), [&](const ParmVarDecl* p) { return numbers(p->getType()); });
  if (compat::in_std(f) || !f->hasBody(f) || !(takes || numbers(f->getReturnType()))) return false;
  finder.TraverseStmt(f->getBody());
  return (finder.makes && numbers(f->getReturnType())) || (finder.frees && takes);
}

/// Whether a value that cannot be copied is the result of a call, kept in a variable.
static bool is_single_result(const ir::Expr* value) {
  return value->kind == ir::Expr::VarRef && value->var->kind == ir::Var::Temp &&
         !value->var->reference_copy && !value->var->by_pointer && !value->type->copyable &&
         value->type->kind != ir::Type::Pointer;
}

ir::Expr* Frontend::given_up(ir::Expr* value) {
  return fn_.make(ir::Expr::Raw, value->type, "std::move(\1)", {value});
}

/// The value of `e`, moved from where it is the result of a call, kept in a variable, or what std::move
/// gives, that cannot be copied.
ir::Expr* Frontend::handed_over(const clang::Expr* e, ir::Expr* value) {
  if (e->isLValue()) return value;
  if (is_single_result(value)) return given_up(value);
  const bool given = e->isXValue() && ir::is_path(value);
  return given && !value->type->copyable && value->type->kind != ir::Type::Pointer ? given_up(value) : value;
}

/// Gives what holds nothing yet its first value.
void Frontend::start_as(ir::Expr* target, ir::Expr* value, ir::Loc at) {
  ir::Stmt* s = emit(ir::Stmt::Assign, at);
  s->text = "init";
  s->lhs = target;
  s->expr = is_single_result(value) && !value->type->differentiable ? given_up(value) : value;
}

/// delete and free end the life of what has been allocated here; its variable stays.
ir::Expr* Frontend::deallocate(const clang::Expr* pointer, SourceLocation at) {
  ir::Expr* p = value(pointer);
  const auto own = [&](ir::Expr* one) {
    if (is_parts(one)) return true;
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

/// Integers that a function is given as other memory: they are seen to change where it may change them.
ir::Expr* Frontend::argument_value(const clang::Expr* e, QualType param) {
  const clang::Expr* memory = of_memory(e);
  if (memory == e->IgnoreParens() || !param->isPointerType() || !is_pointer(memory)) return value(e);
  if (memory->getType()->isPointerType() && types_.get(memory->getType())->differentiable &&
      !param->isVoidPointerType() &&
      !context_.hasSameUnqualifiedType(param->getPointeeType(), memory->getType()->getPointeeType()))
    return value(e);
  ir::Expr* pointer = value(memory);
  if (param->isVoidPointerType() || pointer->type->differentiable) return pointer;
  for (const QualType type : {QualType(context_.VoidPtrTy), param.getUnqualifiedType()}) {
    pointer = fn_.cast(types_.get(type), types_.spell(type), pointer);
  }
  return pointer;
}

/// A smart pointer that is moved from points to nothing; where it is not known whether it is, it may not be
/// asked.
void Frontend::leave_empty(const clang::Expr* moved) {
  const auto* call = dyn_cast<CallExpr>(strip(moved));
  if (!call || !call->isCallToStdMove() || !types_.owns(call->getType())) return;
  ir::Expr* nothing = literal("nullptr", types_.plain(call->getType()));
  if (const auto part = pointer_part(call->getArg(0)); part && homes_[part->first] == out_)
    part->first->args[part->second] = nothing;
  const auto* ref = dyn_cast<DeclRefExpr>(strip(call->getArg(0)));
  if (!ref) return;
  const auto home = pointer_homes_.find(ref->getDecl());
  if (home != pointer_homes_.end() && home->second == out_)
    bindings_[ref->getDecl()] = nothing;
  else
    maybe_moved_.insert(ref->getDecl());
}

/// Whether a smart pointer may have been moved from; an error then.
bool Frontend::asks_moved(const clang::Expr* pointer) {
  const auto* ref = dyn_cast<DeclRefExpr>(strip(pointer));
  if (!ref || !maybe_moved_.count(ref->getDecl())) return false;
  fail(pointer->getExprLoc(), "cannot differentiate a test of '" + ref->getDecl()->getNameAsString() +
                                  "', a pointer that a branch or a loop has moved from; keep a flag");
  return true;
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
  if (named(callee, {"to_address", "__to_address", "launder", "assume_aligned"}) && e->getNumArgs() == 1 &&
      is_pointer(e) && is_pointer(e->getArg(0)) && !TypeTable::is_reverse(e->getArg(0)->getType()))
    return value(e->getArg(0));
  if (named(callee, {"exchange"}) && e->getNumArgs() == 2)
    if (const auto part = pointer_part(e->getArg(0))) {
      ir::Expr* before = part->first->args[part->second];
      repoint(part->first, part->second, value(e->getArg(1)), e->getExprLoc());
      return before;
    }
  if (named(callee, {"ref", "cref"}) && e->getNumArgs() == 1 && is_pointer(e)) {
    ir::Expr* target = value(e->getArg(0));
    if (target->type->kind == ir::Type::Pointer) return target;
    return fn_.make(ir::Expr::AddressOf, types_.get(e->getType()), "", {target});
  }
  if (named(callee, {"make_unique", "make_shared"}) && is_pointer(e)) {
    const QualType type = callee->getTemplateSpecializationArgs()->get(0).getAsType();
    const ir::Type* pointer = types_.get(e->getType());
    if (const ArrayType* array = context_.getAsArrayType(type)) {
      const bool rows = array->getElementType()->isArrayType();
      ir::Expr* count = e->getNumArgs() && rows ? constant(e->getArg(0)) : nullptr;
      if (!count && e->getNumArgs()) count = value(e->getArg(0));
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
  if (const auto part = pointer_part(owner); part && named(callee, {"reset", "release"})) {
    ir::Expr* before = part->first->args[part->second];
    const bool given = e->getNumArgs() > 0 && !isa<CXXDefaultArgExpr>(e->getArg(0));
    ir::Expr* after = given ? value(e->getArg(0)) : literal("nullptr", types_.plain(owner->getType()));
    repoint(part->first, part->second, after, e->getExprLoc());
    return before;
  }
  if (const auto* conversion = dyn_cast<CXXConversionDecl>(callee)) {
    ir::Expr* p = value(owner);
    if (!conversion->getConversionType()->isBooleanType()) return deref(p);
    if (asks_moved(owner)) return p;
    if (p->kind == ir::Expr::AddressOf) return literal("true", context_.BoolTy);
    return fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy),
                    "!=", {p, literal("nullptr", context_.NullPtrTy)});
  }
  return fail(e->getExprLoc(),
              "cannot differentiate '" + callee->getNameAsString() +
                  "' of a pointer that owns its object; let one pointer own it for its whole life");
}

}  // namespace clad
