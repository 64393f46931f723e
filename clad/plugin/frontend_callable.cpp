// What is called through a name: function pointers, std::function, pointers to members. Where the target is
// visible, the variable is another name of it; a parameter is one for the call that passes it.
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// Whether objects of the type are what std::bind and its like make: libstdc++'s names, then libc++'s.
bool Frontend::is_bound(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getIdentifier() && compat::in_std(record) &&
         llvm::is_contained({"_Bind", "_Bind_front", "_Mem_fn", "_Not_fn", "__bind", "__bind_front_t",
                             "__mem_fn", "__not_fn_t"},
                            record->getName());
}

/// Whether a variable of the type stands for a function.
bool Frontend::is_callable(QualType type) {
  type = type.getNonReferenceType();
  if (type->isFunctionType() || type->isFunctionPointerType() || type->isMemberFunctionPointerType())
    return true;
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return is_bound(type) ||
         (record && record->getIdentifier() && record->getName() == "function" && record->isInStdNamespace());
}

/// The function or lambda that a variable is initialized with, as far as its declaration says.
const Decl* Frontend::fixed_target(const VarDecl* var) {
  const clang::Expr* e = isa<ParmVarDecl>(var) ? nullptr : var->getInit();  // not its default argument
  for (int depth = 0; e && depth < 16; ++depth) {
    e = strip(e->IgnoreParenCasts());
    if (const auto* u = dyn_cast<UnaryOperator>(e);
        u && (u->getOpcode() == UO_AddrOf || u->getOpcode() == UO_Plus))
      e = u->getSubExpr();
    else if (const auto* made = dyn_cast<CXXConstructExpr>(e); made && made->getNumArgs() == 1)
      e = made->getArg(0);
    else if (const auto* member = dyn_cast<CXXMemberCallExpr>(e);
             member && isa_and_nonnull<CXXConversionDecl>(member->getMethodDecl()))
      e = member->getImplicitObjectArgument();
    else if (const auto* lambda = dyn_cast<LambdaExpr>(e))
      return lambda->getLambdaClass();
    else if (const auto* ref = dyn_cast<DeclRefExpr>(e))
      return dyn_cast<FunctionDecl>(ref->getDecl());
    else
      return nullptr;
  }
  return nullptr;
}

/// Whether a call of an object may change it.
static bool changes_itself(const CXXRecordDecl* functor) {
  const auto changes = [](const Decl* d) {
    const auto* made = dyn_cast<FunctionTemplateDecl>(d);
    const auto* method = dyn_cast<CXXMethodDecl>(made ? made->getTemplatedDecl() : d);
    return method && method->getOverloadedOperator() == OO_Call && !method->isStatic() && !method->isConst();
  };
  return functor->hasDefinition() && llvm::any_of(functor->decls(), changes);
}

/// The function or lambda that an expression names; null if that is not visible.
std::shared_ptr<Closure> Frontend::callable(const clang::Expr* e) {
  const clang::Expr* bare = strip(e->IgnoreParenCasts());
  if (const auto* u = dyn_cast<UnaryOperator>(bare);
      u && (u->getOpcode() == UO_AddrOf || u->getOpcode() == UO_Deref || u->getOpcode() == UO_Plus))
    return callable(u->getSubExpr());
  if (const auto* cast = dyn_cast<CastExpr>(bare)) return callable(cast->getSubExpr());
  if (isa<LambdaExpr>(bare)) return closure_of(bare);
  if (const auto* ref = dyn_cast<DeclRefExpr>(bare)) {
    if (auto it = closures_.find(ref->getDecl()); it != closures_.end())
      return it->second->member ? nullptr : it->second;
    if (const ir::Expr* part = parts_named(ref)) return function_in(part);
    if (const auto* var = dyn_cast<VarDecl>(ref->getDecl());
        var && var->hasGlobalStorage() && is_callable(var->getType()))
      return var->getType().isConstant(context_) && var->getAnyInitializer()
                 ? callable(var->getAnyInitializer())
                 : nullptr;
    const auto* function = dyn_cast<FunctionDecl>(ref->getDecl());
    if (!function) return nullptr;
    auto closure = std::make_shared<Closure>();
    if (const auto* method = dyn_cast<CXXMethodDecl>(function); method && method->isLambdaStaticInvoker())
      closure->record = method->getParent();  // a lambda that a template was given as a function pointer
    else
      closure->function = function;
    return closure;
  }
  if (const auto* member = dyn_cast<MemberExpr>(bare)) {
    if (const ir::Expr* part = parts_named(bare)) return function_in(part);
    if (isa<FieldDecl>(member->getMemberDecl()) && names_parts(member->getBase()))
      return function_in(value(bare));
  }
  if (const auto* choice = dyn_cast<ConditionalOperator>(bare)) {
    auto closure = std::make_shared<Closure>();
    closure->choice = hoist(value(choice->getCond()), loc(bare), "choice");
    closure->yes = callable(choice->getTrueExpr());
    closure->no = callable(choice->getFalseExpr());
    return closure->yes && closure->no ? closure : nullptr;
  }
  if (const auto* made = dyn_cast<CXXConstructExpr>(bare)) {
    if (made->getNumArgs() != 1 || !is_callable(made->getType())) return nullptr;
    const clang::Expr* given = made->getArg(0);
    const CXXRecordDecl* functor = given->getType()->getAsCXXRecordDecl();
    const bool other_name = functor && compat::in_std(functor) && functor->getName() == "reference_wrapper";
    if (!functor || functor->isLambda() || other_name || is_callable(given->getType()))
      return callable(given);
    const std::string made_of = changes_itself(functor) ? "function_with_state" : "function";
    const FunctionDecl* plain = lookup_.plain_definition(made_of, {given});
    return plain ? returned_closure(plain, {given}) : nullptr;
  }
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(bare);  // a lambda's conversion to a function pointer
      member && isa_and_nonnull<CXXConversionDecl>(member->getMethodDecl()))
    return callable(member->getImplicitObjectArgument());
  if (const auto* call = dyn_cast<CallExpr>(bare); call && call->getNumArgs() == 1)
    if (const FunctionDecl* f = call->getDirectCallee();
        f && compat::in_std(f) && named(f, {"move", "forward", "ref", "cref", "addressof", "__addressof"})) {
      if (changes_.taken.count(call)) {
        fail(call->getExprLoc(),
             "cannot differentiate this move of a function whose containers may be read again; copy it");
        return nullptr;
      }
      const std::shared_ptr<Closure> named_one = callable(call->getArg(0));
      if (!named_one || named(f, {"move", "forward"})) return named_one;
      auto other_name = std::make_shared<Closure>(*named_one);
      other_name->shared = true;
      return other_name;
    }
  if (const auto* element = dyn_cast<ArraySubscriptExpr>(bare); element && table_of(element->getBase()))
    return function_in(value(element));
  const auto* call = dyn_cast<CallExpr>(bare);
  const auto* op = dyn_cast_or_null<CXXOperatorCallExpr>(call);
  const auto* of = dyn_cast_or_null<CXXMemberCallExpr>(call);
  if ((op && op->getOperator() == OO_Subscript && table_of(op->getArg(0))) ||
      (of && table_of(of->getImplicitObjectArgument())))
    return function_in(value(call));
  if (const FunctionDecl* f = call && is_bound(call->getType()) ? call->getDirectCallee() : nullptr;
      f && compat::in_std(f) && named(f, {"bind", "bind_front", "mem_fn", "not_fn"})) {
    const std::vector<const clang::Expr*> args(call->arg_begin(), call->arg_end());
    const FunctionDecl* plain = lookup_.plain_definition(f->getName().str(), args);
    return plain ? returned_closure(plain, args) : nullptr;
  }
  return call && call->getDirectCallee()
             ? returned_closure(call->getDirectCallee(), {call->arg_begin(), call->arg_end()},
                                of ? of->getImplicitObjectArgument() : nullptr)
             : nullptr;
}

/// What a member or an element stands for that is a function, or one of several.
std::shared_ptr<Closure> Frontend::function_in(const ir::Expr* part) {
  if (part->kind != ir::Expr::Conditional) {
    const auto it = part_functions_.find(part);
    return it == part_functions_.end() ? nullptr : it->second;
  }
  auto closure = std::make_shared<Closure>();
  closure->choice = part->args[0];
  closure->yes = function_in(part->args[1]);
  closure->no = function_in(part->args[2]);
  return closure->yes && closure->no ? closure : nullptr;
}

/// Makes a variable that holds a function another name of it; false if it is none, or may hold another.
bool Frontend::declare_callable(const VarDecl* decl) {
  if (!is_callable(decl->getType()) || !decl->getInit() || modified(decl)) return false;
  if (!decl->getType()->isReferenceType() && computes(decl->getType()) && is_null_function(decl->getInit())) {
    bindings_[decl] = literal("nullptr", context_.NullPtrTy);
    return true;
  }
  std::shared_ptr<Closure> closure = callable(decl->getInit());
  if (!closure) return tainted_;
  closures_[decl] = decl->getType()->isReferenceType() ? closure : copy_closure(closure, at_);
  return true;
}

/// Whether a function is given, or gives, what may carry derivatives.
bool Frontend::carries_derivatives(const FunctionDecl* f) const {
  const auto carries = [&](QualType type) { return types_.get(type)->differentiable; };
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  if (method && method->getParent()->isLambda()) return true;  // what it captures may
  return carries(f->getReturnType()) ||
         (method && !method->isStatic() && carries(compat::record_type(context_, method->getParent()))) ||
         llvm::any_of(f->parameters(), [&](const ParmVarDecl* p) { return carries(p->getType()); });
}

/// Passes a function, or a pointer to a member, as an argument: the callee is differentiated for this one.
bool Frontend::add_target(ir::CallInfo& info, const clang::Expr* e, const FunctionDecl* callee,
                          unsigned position) {
  const QualType param = callee->getParamDecl(position)->getType();
  const unsigned count = callee->getNumParams();
  // A pointer to member is a value like any other to a function that just runs.
  if (param.getNonReferenceType()->isMemberPointerType() && !carries_derivatives(callee)) return false;
  if (param.getNonReferenceType()->isMemberDataPointerType()) {
    const FieldDecl* member = member_pointed(e);
    if (!member) return false;
    info.targets.resize(count);
    info.targets[position] = member;
    info.lifted = true;
    return true;
  }
  if (!is_callable(param)) return false;
  if (param->isFunctionPointerType() && !callee->hasBody() && !carries_derivatives(callee)) return false;
  std::shared_ptr<Closure> closure = callable(e);
  if (!closure) return tainted_;
  if (closure->choice) {
    fail(e->getExprLoc(),
         "cannot differentiate a call with a function that is chosen at run time; use if and else");
    return true;
  }
  info.targets.resize(count);
  info.lifted = true;
  if (closure->function) {
    info.targets[position] = closure->function->getCanonicalDecl();
    return true;
  }
  if (!param->isReferenceType()) closure = copy_closure(closure, loc(e));
  info.targets[position] = closure->record;
  add_closure_arguments(info, *closure);
  return true;
}

/// The function or member that a parameter stands for in a body that is lowered in place of a call; null if
/// it is none, or may be another later.
std::shared_ptr<Closure> Frontend::passed_target(const FunctionDecl* callee, unsigned position,
                                                 const clang::Expr* e) {
  const ParmVarDecl* p = callee->getParamDecl(position);
  const bool member = p->getType().getNonReferenceType()->isMemberDataPointerType();
  if ((!member && !is_callable(p->getType())) || changes_of(callee).modified.count(p)) return nullptr;
  if (member) {
    const FieldDecl* field = member_pointed(e);
    return field ? target(field) : nullptr;
  }
  const std::shared_ptr<Closure> closure = callable(e);
  return p->getType()->isReferenceType() ? closure : copy_closure(closure, at_);
}

/// The parameter of type `void*` that an expression names, if it stands for a pointer of the caller's.
const ParmVarDecl* Frontend::context_named(const clang::Expr* e) const {
  const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  const auto* p = ref ? dyn_cast<ParmVarDecl>(ref->getDecl()) : nullptr;
  return p && contexts_.count(p) && (bindings_.count(p) || closures_.count(p)) ? p : nullptr;
}

/// The pointer to numbers that a function is passed as `void*`, as it was before; null if it is none. This
/// is how C's callbacks get what they work on.
const clang::Expr* Frontend::context_passed(const FunctionDecl* callee, unsigned position,
                                            const clang::Expr* e) {
  const ParmVarDecl* p = callee->getParamDecl(position);
  if (!p->getType()->isVoidPointerType() || !callee->hasBody() || compat::in_std(callee)) return nullptr;
  if (changes_of(callee).modified.count(p)) return nullptr;
  e = without_void(e);
  const QualType to = e->getType()->getPointeeType();
  const bool followed = context_named(e) || (!to.isNull() && (is_lambda(to) || in_parts(to))) ||
                        types_.get(e->getType())->differentiable;
  return followed ? e : nullptr;
}

bool Frontend::passes_context(const FunctionDecl* callee, const std::vector<const clang::Expr*>& args) {
  for (unsigned i = 0; i < callee->getNumParams() && i < args.size(); ++i)
    if (context_passed(callee, i, args[i])) return true;
  return false;
}

/// A `void*` that becomes the pointer again that it was; null if the expression is something else.
ir::Expr* Frontend::context_again(const CastExpr* e) {
  const ParmVarDecl* p = e->getCastKind() == CK_BitCast && e->getType()->isPointerType()
                             ? context_named(e->getSubExpr())
                             : nullptr;
  if (!p || !bindings_.count(p)) return nullptr;
  const QualType was = contexts_.at(p), is = e->getType()->getPointeeType();
  if (is->isVoidType() || context_.hasSameUnqualifiedType(was, is)) return bindings_.at(p);
  return fail(e->getExprLoc(), "cannot differentiate this cast: '" + p->getNameAsString() + "' points to '" +
                                   types_.spell(was.getUnqualifiedType()) + "' here");
}

/// The value of a pointer that stands for a function or a member, to compare or to test it; null of others.
ir::Expr* Frontend::address_of_target(const ValueDecl* decl) {
  const auto it = closures_.find(decl);
  const QualType type = decl->getType().getNonReferenceType().getUnqualifiedType();
  if (it == closures_.end() || (!type->isFunctionPointerType() && !type->isMemberPointerType()))
    return nullptr;
  const FunctionDecl* function = it->second->function;
  const FieldDecl* member = it->second->member;
  if (!function && !member) return nullptr;
  if (function) callees_.insert(function->getCanonicalDecl());
  const std::string name =
      function ? spell_function(function, types_)
               : types_.spell(compat::record_type(context_, cast<CXXRecordDecl>(member->getParent()))) +
                     "::" + member->getNameAsString();
  return fn_.make(ir::Expr::Raw, types_.get(type), "static_cast<" + types_.spell(type) + ">(&" + name + ")");
}

/// Whether an argument is an object of the class or points to one: not a smart pointer, nor a
/// std::reference_wrapper.
static bool is_object_of(const clang::Expr* e, const DeclContext* owner) {
  const QualType type = e->getType();
  const CXXRecordDecl* given = (type->isPointerType() ? type->getPointeeType() : type)->getAsCXXRecordDecl();
  const auto* record = cast<CXXRecordDecl>(owner);
  return given && given->hasDefinition() &&
         (declaresSameEntity(given, record) || given->isDerivedFrom(record));
}

/// The function that runs where a lambda is called; null after an error.
const FunctionDecl* Frontend::operator_called(const CallExpr* e, const CXXRecordDecl* lambda,
                                              const std::vector<const clang::Expr*>& args) {
  if (!lambda->isGenericLambda()) return lambda->getLambdaCallOperator();
  const auto* named = isa<CXXOperatorCallExpr>(e) ? cast<CXXMethodDecl>(e->getDirectCallee()) : nullptr;
  const FunctionDecl* callee =
      named && named->getParent()->isLambda() ? named : lookup_.call_operator(lambda, args);
  if (!callee)
    fail(e->getExprLoc(),
         compat::within_clad(lambda)
             ? "cannot differentiate this call: the function changes its own copy of an object, or takes "
               "other "
               "arguments than it is given; use a lambda"
             : "cannot differentiate this call of a generic lambda; give its parameters types");
  return callee;
}

/// An argument as the function takes it: a std::function passes on what it was given by value, through a
/// conversion and a reference that the program does not write.
const clang::Expr* Frontend::converted(const clang::Expr* arg, QualType param) {
  const QualType to = param.getNonReferenceType().getUnqualifiedType(), from = arg->getType();
  const bool same = context_.hasSameUnqualifiedType(to, from);
  if (!same && (!to->isArithmeticType() || !from->isArithmeticType())) return arg;
  ExprResult passed = const_cast<clang::Expr*>(arg);
  if (!same) {
    passed = sema_.DefaultLvalueConversion(passed.get());
    const CastKind kind = sema_.PrepareScalarCast(passed, to);
    passed = sema_.ImpCastExprToType(passed.get(), to, kind);
  }
  if (!param->isReferenceType() || !passed.get()->isPRValue()) return passed.get();
  return sema_.CreateMaterializeTemporaryExpr(to, passed.get(), param->isLValueReferenceType());
}

/// What a call gives whose function returns a value of type `from`: a std::function of other numbers converts
/// it.
ir::Expr* Frontend::converted(ir::Expr* result, QualType from, const CallExpr* e) {
  from = from.getNonReferenceType();
  const QualType to = e->getType();
  if (to->isVoidType() || context_.hasSameUnqualifiedType(to, from)) return result;
  if (to->isArithmeticType() && from->isArithmeticType())
    return fn_.cast(types_.get(to), types_.spell(to), result);
  if (!to->isRecordType() && !from->isRecordType()) return result;
  return fail(e->getExprLoc(), "cannot differentiate this call: it gives a '" + types_.spell(to) +
                                   "', and the function that it stands for returns a '" + types_.spell(from) +
                                   "'; let the function return what the call gives");
}

/// A call of what a closure stands for.
ir::Expr* Frontend::call_closure(const CallExpr* e, const Closure& closure,
                                 std::vector<const clang::Expr*> args) {
  const FunctionDecl* callee = closure.record ? operator_called(e, closure.record, args) : closure.function;
  if (closure.record && !callee) return literal("0", context_.IntTy);
  if (callee) {
    const auto* method = dyn_cast<CXXMethodDecl>(callee);
    const bool of_object = closure.function && method && !method->isStatic();
    if (of_object && (args.empty() || !is_object_of(args[0], method->getParent())))
      return fail(e->getExprLoc(), "cannot differentiate this call of member function '" +
                                       display_name(method) + "'; give it the object, or a pointer to it");
    for (unsigned i = 0; i + of_object < args.size() && i < callee->getNumParams(); ++i)
      args[i + of_object] = converted(args[i + of_object], callee->getParamDecl(i)->getType());
    const QualType returned = callee->getReturnType();
    if (of_object)
      return converted(call_pointed(e, closure, {args.begin() + 1, args.end()}, args[0]), returned, e);
    if (closure.function) return converted(call_function(e, callee, args, nullptr), returned, e);
    if (ir::Expr* place = inline_call(e, callee, args, nullptr, &closure))
      return converted(place, returned, e);
    auto info = std::make_unique<ir::CallInfo>();
    info->lifted = true;
    info->name = "lambda";
    add_closure_arguments(*info, closure);
    add_arguments(*info, callee, args);
    return converted(finish_call(std::move(info), callee, returned, e, false), returned, e);
  }
  const ir::Type* type = types_.get(e->getType());
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  ir::Var* result = result_of_one(type, at);
  ir::Stmt* branch = emit(ir::Stmt::If, at);
  record_condition(branch, closure.choice);
  ir::Body* outer = out_;
  for (const bool yes : {true, false}) {
    out_ = yes ? &branch->body : &branch->other;
    ir::Expr* value = call_closure(e, yes ? *closure.yes : *closure.no, args);
    if (!result) continue;
    start_as(fn_.ref(result), value, at);
  }
  out_ = outer;
  return result ? fn_.ref(result) : literal("0", context_.IntTy);
}

/// A call of the member function that a pointer to member names.
ir::Expr* Frontend::call_pointed(const CallExpr* e, const Closure& closure,
                                 const std::vector<const clang::Expr*>& args, const clang::Expr* object) {
  const auto* method = cast<CXXMethodDecl>(closure.function);
  return method->isVirtual() ? virtual_call(e, method, args, object) : call_function(e, method, args, object);
}

/// A call of what no name says directly: through a function pointer, or a pointer to a member function.
ir::Expr* Frontend::indirect_call(const CallExpr* e) {
  const clang::Expr* callee = e->getCallee()->IgnoreParens();
  const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  const auto* member = dyn_cast<BinaryOperator>(callee);
  const bool by_operator = isa<CXXOperatorCallExpr>(e);  // of a std::function
  if (member && member->isPtrMemOp()) {
    const std::shared_ptr<Closure> closure = callable(member->getRHS());
    if (closure && closure->function) return call_pointed(e, *closure, args, member->getLHS());
    if (closure && closure->choice) {
      std::vector<const clang::Expr*> all{member->getLHS()};
      all.insert(all.end(), args.begin(), args.end());
      return call_closure(e, *closure, all);
    }
  } else if (std::shared_ptr<Closure> closure = by_operator ? nullptr : callable(callee)) {
    return call_closure(e, *closure, args);
  }
  // One of several, some of which are null: it is none of those.
  const std::function<ir::Expr*(ir::Expr*)> there = [&](ir::Expr* part) {
    if (part->kind != ir::Expr::Conditional) return is_no_function(part) ? nullptr : part;
    ir::Expr *yes = there(part->args[1]), *no = there(part->args[2]);
    if (!yes || !no) return yes ? yes : no;
    return fn_.make(ir::Expr::Conditional, part->type, "", {part->args[0], yes, no});
  };
  ir::Expr* functions = member ? nullptr : function_chosen(by_operator ? e->getArg(0) : callee);
  if (ir::Expr* some = functions ? there(functions) : nullptr)
    return call_closure(e, *function_in(some), {args.begin() + (by_operator ? 1 : 0), args.end()});
  if (std::shared_ptr<Closure> closure = by_operator ? callable(callee) : nullptr)
    return call_closure(e, *closure, args);
  if (!types_.get(e->getType())->differentiable) {
    bool any = member && types_.get(member->getLHS()->getType())->differentiable;  // which it may change
    for (const clang::Expr* a : e->arguments()) any |= types_.get(a->getType())->differentiable;
    if (!any) return hoist(raw(e), loc(static_cast<const clang::Expr*>(e)));
  }
  return fail(e->getExprLoc(),
              "cannot differentiate a call through a function pointer, std::function or pointer to member "
              "whose target "
              "is not visible here; call the function by its name, or initialize the variable with it");
}

/// std::invoke of a pointer to member, which is (s.*m)(...) or s.*m; null if it is another.
ir::Expr* Frontend::invoke_member(const CallExpr* e) {
  const FunctionDecl* invoke = e->getDirectCallee();
  if (!compat::in_std(invoke) || !named(invoke, {"invoke", "__invoke"}) || e->getNumArgs() < 2)
    return nullptr;
  const clang::Expr *pointer = e->getArg(0), *object = e->getArg(1);
  const auto* type = pointer->getType()->getAs<MemberPointerType>();
  if (!type) return nullptr;
  if (const FieldDecl* field = type->isMemberDataPointer() ? member_pointed(pointer) : nullptr)
    return is_object_of(object, field->getDeclContext())
               ? member_of(field, object, object->getType()->isPointerType())
               : nullptr;
  const std::shared_ptr<Closure> closure = type->isMemberFunctionPointer() ? callable(pointer) : nullptr;
  if (closure && closure->choice) return call_closure(e, *closure, {e->arg_begin() + 1, e->arg_end()});
  if (!closure || !closure->function || !is_object_of(object, closure->function->getDeclContext()))
    return nullptr;
  return call_pointed(e, *closure, {e->arg_begin() + 2, e->arg_end()}, object);
}

/// The member that a pointer to member names; null if that is not visible.
const FieldDecl* Frontend::member_pointed(const clang::Expr* e) const {
  const clang::Expr* pointer = strip(e);
  for (int depth = 0; depth < 8; ++depth) {
    const auto* ref = dyn_cast<DeclRefExpr>(pointer);
    if (const auto it = ref ? closures_.find(ref->getDecl()) : closures_.end(); it != closures_.end())
      return it->second->member;
    const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    if (!var || isa<ParmVarDecl>(var) || !var->getInit() || modified(var)) break;
    pointer = strip(var->getInit());
  }
  const auto* address = dyn_cast<UnaryOperator>(pointer);
  const auto* ref = address ? dyn_cast<DeclRefExpr>(address->getSubExpr()->IgnoreParens()) : nullptr;
  return ref ? dyn_cast<FieldDecl>(ref->getDecl()) : nullptr;
}

/// A member of an object, or of what a pointer points to.
ir::Expr* Frontend::member_of(const FieldDecl* field, const clang::Expr* of, bool pointer) {
  ir::Expr* object = value(of);
  if (pointer) object = deref(object);
  if (!ir::names_object(object)) object = hoist(object, loc(of));
  return through(object, [&](ir::Expr* o) {
    return fn_.make(ir::Expr::Member, types_.get(field->getType()), field->getNameAsString(), {o});
  });
}

/// s.*m and p->*m, where m is initialized with a member's address and stays so.
ir::Expr* Frontend::pointed_member(const BinaryOperator* e) {
  if (const FieldDecl* field = member_pointed(e->getRHS()))
    return member_of(field, e->getLHS(), e->getOpcode() == BO_PtrMemI);
  return fail(e->getExprLoc(), "cannot differentiate a pointer to member whose target is not visible here");
}

}  // namespace clad
