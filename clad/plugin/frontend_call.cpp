// Calls, operators on classes, constructors and lambdas.
#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "effects.h"
#include "frontend.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {
namespace {

/// Whether every call of the function is a checkpoint (CLAD_CHECKPOINT).
bool is_checkpointed(const FunctionDecl* f) {
  return llvm::any_of(f->specific_attrs<AnnotateAttr>(),
                      [](const AnnotateAttr* attr) { return attr->getAnnotation() == "clad::checkpoint"; });
}

bool is_plain_path(const clang::Expr* e) {
  e = strip(e);
  if (const auto* m = dyn_cast<MemberExpr>(e))
    return isa<FieldDecl>(m->getMemberDecl()) && is_plain_path(m->getBase());
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return is_plain_path(a->getBase());
  return isa<CXXThisExpr>(e) || isa<DeclRefExpr>(e);
}

/// Whether a body only passes its parameters on: `Tensor operator()(const Tensor& x) const { return
/// forward(x); }`.
bool is_forwarding(const clang::Expr* e, ASTContext& context) {
  const auto* call = dyn_cast<CallExpr>(strip(e));
  if (!call || !call->getDirectCallee() || !context.hasSameUnqualifiedType(call->getType(), e->getType()))
    return false;
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(call))
    if (!is_plain_path(member->getImplicitObjectArgument())) return false;
  for (const clang::Expr* arg : call->arguments())
    if (!is_plain_path(arg)) return false;
  return true;
}

/// std::plus and its like, whose operator() is one operator of the arguments.
bool is_arithmetic_functor(const FunctionDecl* f) {
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  if (!method || method->getOverloadedOperator() != OO_Call || !method->getParent()->isInStdNamespace())
    return false;
  for (llvm::StringRef name : {"plus", "minus", "multiplies", "divides", "negate", "identity"})
    if (method->getParent()->getName() == name) return true;
  return false;
}

/// The operator of std::less and its like.
const char* comparison_of(const CXXMethodDecl* method) {
  if (!method || method->getOverloadedOperator() != OO_Call || !method->getParent()->isInStdNamespace())
    return nullptr;
  static const std::pair<llvm::StringRef, const char*> known[] = {
      {"less", "<"},           {"greater", ">"},   {"less_equal", "<="},
      {"greater_equal", ">="}, {"equal_to", "=="}, {"not_equal_to", "!="}};
  for (const auto& [name, op] : known)
    if (method->getParent()->getName() == name) return op;
  return nullptr;
}

}  // namespace

const clang::Expr* only_return(const FunctionDecl* f) {
  const FunctionDecl* definition = nullptr;
  const auto* body = dyn_cast_or_null<CompoundStmt>(f->getBody(definition));
  if (!body || body->size() != 1) return nullptr;
  const auto* ret = dyn_cast<ReturnStmt>(body->body_front());
  return ret ? ret->getRetValue() : nullptr;
}

/// Arguments in order; each is what it was when its turn came.
void Frontend::add_arguments(ir::CallInfo& info, const FunctionDecl* callee,
                             llvm::ArrayRef<const clang::Expr*> args) {
  const bool library = compat::in_std(callee);
  for (unsigned i = 0; i < args.size(); ++i) {
    std::size_t position = out_->size();
    const std::size_t before = info.args.size();
    if (i >= callee->getNumParams()) {  // variadic
      ir::CallInfo::Arg a;
      a.expr = value(args[i]);
      a.param_type = a.expr->type;
      info.args.push_back(a);
    } else if (isa<CXXDefaultArgExpr>(args[i]) && library) {
      continue;
    } else if (!library && is_view(callee->getParamDecl(i)->getType())) {
      add_view_argument(info, args[i], callee->getParamDecl(i)->getType());
    } else if (!library &&
               add_target(info, args[i], callee->getParamDecl(i)->getType(), i, callee->getNumParams())) {
      continue;
    } else {
      add_argument(info, args[i], callee->getParamDecl(i)->getType(), library);
    }
    if (out_->size() == position) continue;
    std::set<const ir::Var*> changed = changed_since(position);
    if (changed.empty()) continue;
    for (std::size_t k = 0; k < before; ++k)
      if (!info.args[k].reference && !info.args[k].object)
        info.args[k].expr = settle(info.args[k].expr, position, changed);
  }
}

void Frontend::add_argument(ir::CallInfo& info, const clang::Expr* e, QualType param, bool library) {
  const QualType given = param;
  param = types_.plain(param);
  if (param != given && !library) info.lifted = true;  // of an iterator there is only its pointer
  if (const CXXRecordDecl* record = param.getNonReferenceType()->getAsCXXRecordDecl();
      record && record->isLambda()) {
    auto closure = closure_of(e);
    if (!param->isReferenceType()) closure = copy_closure(closure, loc(e));
    if (closure) add_closure_arguments(info, *closure);
    return;
  }
  ir::CallInfo::Arg arg;
  arg.param_type = types_.get(param);
  arg.reference = param->isLValueReferenceType() || param->isRecordType() || param->isRValueReferenceType();
  arg.copied = param->isRecordType();
  QualType pointee =
      param->isPointerType() || param->isLValueReferenceType() ? param->getPointeeType() : QualType();
  arg.mutable_ = !pointee.isNull() && !pointee.isConstQualified();
  arg.expr = value(e);
  if (param != given) arg.given = types_.spell(given.getNonReferenceType().getUnqualifiedType());
  if (arg.expr->kind == ir::Expr::Conditional && arg.expr->type->kind == ir::Type::Pointer)
    fail(e->getExprLoc(),
         "cannot differentiate through a pointer that is chosen at run time; use if and else");
  // Memory behind a pointer, or behind an iterator, may be written whatever the argument's own type says.
  const ir::Type* held = arg.expr->type;
  arg.mutable_ |= held->has_pointer || (held->is_class() && held->reaches_integers) ||
                  (held->kind == ir::Type::Other && held->differentiable);
  while (arg.expr->kind == ir::Expr::Cast && arg.expr->to_reference &&
         !is_downcast(arg.expr->type, arg.expr->args[0]->type))
    arg.expr = arg.expr->args[0];
  if (param->isRValueReferenceType() && !library) {
    arg.moved = arg.mutable_ = true;
    if (!ir::is_path(arg.expr)) arg.expr = hoist(arg.expr, loc(e));
  }
  if (arg.expr->kind == ir::Expr::Construct && arg.expr->args.empty() && !arg.expr->type->is_class() &&
      arg.expr->type->kind != ir::Type::Array) {  // a zero of this type
    arg.expr = fn_.make(ir::Expr::Cast, arg.expr->type, arg.expr->type->name, {arg.expr});
    arg.expr->explicit_cast = true;
  }
  bool plain_list = arg.expr->kind == ir::Expr::InitList || arg.expr->kind == ir::Expr::Construct;
  if (arg.expr->type->is_class() && arg.expr->type->differentiable && (!ir::is_path(arg.expr) || plain_list))
    arg.expr = hoist(arg.expr, loc(e));
  info.args.push_back(arg);
}

ir::Expr* Frontend::inline_call(const clang::Expr* call, const FunctionDecl* callee,
                                const std::vector<const clang::Expr*>& args, const clang::Expr* object) {
  const clang::Expr* returned = only_return(callee);
  const bool functor = is_arithmetic_functor(callee);
  if (compat::annotated(callee, "non_differentiable")) return nullptr;
  if (!returned || inlining_.count(callee) || inline_depth_ > 16 || (compat::in_std(callee) && !functor))
    return nullptr;
  QualType result = callee->getReturnType();
  bool names_storage = result->isReferenceType() || result->isPointerType();
  if (!types_.get(result)->differentiable) return nullptr;
  if (!names_storage && !functor && !is_plain_path(returned) && !is_forwarding(returned, context_))
    return nullptr;
  if (lookup_.named(callee)) return nullptr;
  if (const auto* method = dyn_cast<CXXMethodDecl>(callee);
      method && (method->isVirtual() || method->getParent()->isLambda()))
    return nullptr;
  ir::Expr* self = nullptr;
  if (object) {
    self = value(object);
    if (object->getType()->isPointerType()) self = deref(self);
  }
  const FunctionDecl* definition = nullptr;
  callee->getBody(definition);
  Frame frame;
  for (unsigned i = 0; i < definition->getNumParams() && i < args.size(); ++i) {
    const ParmVarDecl* p = definition->getParamDecl(i);
    if (const CXXRecordDecl* r = p->getType().getNonReferenceType()->getAsCXXRecordDecl(); r && r->isLambda())
      return nullptr;
    ir::Expr* arg = value(args[i]);
    if (!ir::is_atomic(arg) && !arg->type->is_class() && arg->type->kind != ir::Type::Pointer)
      arg = hoist(arg, at_);
    frame[p] = arg;
  }
  std::swap(frame, bindings_);
  std::swap(self, self_);
  inlining_.insert(callee);
  ++inline_depth_;
  const clang::Expr* inner = strip(returned);  // a checkpoint of this call is one of the call it passes on to
  const bool again = checkpoints_.count(call) || is_checkpointed(callee);
  if (again) checkpoints_.insert(inner);
  ir::Expr* result_path = value(returned);
  if (again) checkpoints_.erase(inner);
  --inline_depth_;
  inlining_.erase(callee);
  std::swap(self, self_);
  std::swap(frame, bindings_);
  callees_.insert(callee->getCanonicalDecl());
  return result_path;
}

ir::Expr* Frontend::finish_call(std::unique_ptr<ir::CallInfo> info, const FunctionDecl* callee,
                                QualType result, const clang::Expr* at, bool object_mutable) {
  const ir::Type* type = types_.get(result);
  const bool names_object = result->isLValueReferenceType() && !result->getPointeeType().isConstQualified();
  if (info->is_method && !info->args.empty() && info->args[0].object)
    info->args[0].mutable_ =
        object_mutable || info->args[0].expr->type->has_pointer || info->args[0].expr->type->reaches_integers;
  info->callee = callee;
  info->constant = compat::annotated(callee, "non_differentiable");
  info->checkpoint = checkpoints_.count(at) || is_checkpointed(callee);
  callees_.insert(callee->getCanonicalDecl());
  bool input = false, output = type->differentiable;
  for (ir::CallInfo::Arg& a : info->args) {
    input |= a.expr->type->differentiable;
    output |= a.mutable_ && a.expr->type->differentiable;
  }
  std::optional<unsigned> returned =
      info->lifted || info->is_constructor ? std::nullopt : returned_parameter(callee);
  if (!returned && result->isLValueReferenceType() && object_mutable && !info->args.empty() &&
      types_.get(result) == info->args[0].expr->type)
    returned = 0;

  // What is passed by reference in place of a copy must not be what the call changes.
  if (std::any_of(info->args.begin(), info->args.end(),
                  [](const ir::CallInfo::Arg& a) { return a.mutable_; }))
    for (ir::CallInfo::Arg& a : info->args)
      if (a.copied && a.expr->type->differentiable && copies(a.expr, false)) a.expr = hoist(a.expr, loc(at));

  // The reverse sweep evaluates the arguments again, after the call has changed what it changes: an argument
  // that depends on that is copied, and indices in paths are fixed. The library's containers may be handed
  // their own elements.
  std::set<const ir::Var*> changed;
  for (const ir::CallInfo::Arg& a : info->args)
    if (a.mutable_)
      if (const ir::Var* r = ir::root(a.expr)) changed.insert(r);
  if (!changed.empty()) {
    std::set<const ir::Var*> unstable = unstable_;
    unstable_.insert(changed.begin(), changed.end());
    for (ir::CallInfo::Arg& a : info->args) {
      bool affected = false;
      ir::each_var(a.expr, [&](const ir::Var* v) { affected |= changed.count(v) != 0; });
      if (!affected) continue;
      bool path = ir::is_path(a.expr) && a.reference;
      if (a.object || a.mutable_ || a.expr->type->kind == ir::Type::Pointer ||
          (path && !compat::in_std(callee)))
        a.expr = freeze(a.expr, loc(at));
      else
        a.expr = hoist(a.expr, loc(at));
    }
    unstable_ = std::move(unstable);
  }
  for (const ir::CallInfo::Arg& a : info->args)
    if (a.mutable_ && a.expr->type->differentiable && !ir::root(a.expr) &&
        a.expr->kind != ir::Expr::Literal && !ir::is_path(a.expr))
      return fail(at->getExprLoc(),
                  "cannot differentiate this call: it changes an object that is chosen at run time");
  if (type->kind == ir::Type::Pointer && type->differentiable && input)
    return fail(at->getExprLoc(),
                "cannot differentiate call to '" + display_name(callee) +
                    (compat::in_std(callee)
                         ? "': no derivative of this library function is known; write the loop, with an index"
                         : "': it returns a pointer to differentiable data and is not a single return "
                           "statement"));

  // The call as it would be written without derivatives.
  ir::Expr* primal = nullptr;
  if (info->is_constructor) {
    primal = fn_.make(ir::Expr::Construct, type);
  } else if (info->is_operator) {
    primal = fn_.make(info->args.size() == 1 ? ir::Expr::Unary : ir::Expr::Binary, type, info->name);
  } else if (info->is_method) {
    primal = fn_.make(ir::Expr::Method, type, info->name);
  } else {
    primal = fn_.make(ir::Expr::Call, type, info->name);
  }
  for (const ir::CallInfo::Arg& a : info->args) {
    ir::Expr* passed = a.moved ? fn_.make(ir::Expr::Call, a.expr->type, "std::move", {a.expr}) : a.expr;
    if (!a.given.empty()) {
      passed = fn_.make(ir::Expr::Cast, a.expr->type, a.given, {a.expr});
      passed->explicit_cast = true;
    }
    primal->args.push_back(passed);
  }
  info->primal = primal;

  if (testing_ && ir::is_math(primal)) return primal;

  std::vector<ir::Var*> touched;
  for (const ir::CallInfo::Arg& a : info->args)
    if (a.mutable_)
      if (ir::Var* r = ir::root(a.expr)) {
        r->modified = true;
        touched.push_back(r);
      }

  if (input && output) {
    ir::Var* temp = nullptr;
    if (type->kind != ir::Type::Void && !returned) {
      temp = fn_.make_var(ir::Var::Temp, "t", type, region_);
      temp->optional = !type->default_constructible;
      temp->reference_copy = names_object;
    }
    ir::Stmt* s = emit(ir::Stmt::CallStmt, loc(at));
    s->var = temp;
    s->touched = touched;
    s->call = std::move(info);
    if (returned) return s->call->args[*returned].expr;
    return temp ? fn_.ref(temp) : literal("0", context_.IntTy);
  }
  const ir::Var* behind =
      nullptr;  // a pointer, or an object with pointers, to integers that the call may change
  for (const ir::CallInfo::Arg& a : info->args)
    if (const ir::Var* r = a.mutable_ && a.expr->type->reaches_integers ? ir::root(a.expr) : nullptr)
      if (a.expr->type->is_class() || r->type->kind == ir::Type::Pointer) behind = r;
  const bool reversible = behind && callee->hasBody() && !compat::in_std(callee) && !info->is_constructor &&
                          info->problem.empty();
  if (behind && !reversible && behind->type->kind == ir::Type::Pointer)
    return fail(at->getExprLoc(), "cannot differentiate this call of '" + display_name(callee) +
                                      "': it may change integers behind pointer '" + behind->name +
                                      "', which could not be put back; use an array or a std::vector");
  info->reversible = reversible;
  if (info->lifted || reversible) {
    // A lambda without derivatives is lifted as well: it has no object to be called on. A function that
    // changes memory behind a pointer is reversed, to put that memory back.
    ir::Stmt* s = emit(ir::Stmt::CallStmt, loc(at));
    if (type->kind != ir::Type::Void) s->var = fn_.make_var(ir::Var::Temp, "t", type, region_);
    s->touched = touched;
    s->call = std::move(info);
    return s->var ? fn_.ref(s->var) : literal("0", context_.IntTy);
  }
  const bool iterator = type->kind == ir::Type::Pointer && !info->lifted && types_.plain(result) != result;
  if (iterator && !info->is_method)
    return fail(at->getExprLoc(),
                "cannot differentiate call to '" + display_name(callee) +
                    "': where the iterator that it returns points is not known; write the loop");
  if (type->kind == ir::Type::Void || returned || iterator) {
    ir::Stmt* s = emit(ir::Stmt::Eval, loc(at));
    s->expr = primal;
    s->touched = touched;
    return returned ? info->args[*returned].expr : literal("0", context_.IntTy);
  }
  bool pure = touched.empty() && compat::in_std(callee) && info->is_method && !type->is_class();
  if (pure) return primal;
  ir::Var* temp = fn_.make_var(ir::Var::Temp, "t", type, region_);
  temp->optional = !type->default_constructible && !result->isReferenceType();
  temp->by_pointer = result->isReferenceType() && type->is_class();
  temp->reference_copy = names_object;
  ir::Stmt* s = emit(ir::Stmt::Decl, loc(at));
  s->var = temp;
  s->expr = primal;
  s->touched = touched;
  return fn_.ref(temp);
}

ir::Expr* Frontend::container_member(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const clang::Expr* object = e->getImplicitObjectArgument();
  const ir::Type* type = types_.get(object->getType()->isPointerType() ? object->getType()->getPointeeType()
                                                                       : object->getType());
  if (type->kind != ir::Type::Vector && type->kind != ir::Type::StdArray &&
      type->kind != ir::Type::InitializerList)
    return nullptr;
  if (type->kind == ir::Type::Vector && type->differentiable && named(method, {"emplace_back"}))
    return emplace_back(e, method);
  if (type->kind != ir::Type::InitializerList && named(method, {"swap"}) &&
      !object->getType()->isPointerType())
    return swap(object, e->getArg(0), loc(static_cast<const clang::Expr*>(e)));
  const bool ends_of = is_pointer(e) && named(method, {"begin", "end", "cbegin", "cend", "rbegin", "rend",
                                                       "crbegin", "crend"});
  if (!ends_of && !named(method, {"at", "front", "back", "data"})) return nullptr;
  ir::Expr* base = value(object);
  if (object->getType()->isPointerType()) base = deref(base);
  if (ends_of) return ends(base, method->getName(), e->getType());
  if (!ir::is_path(base)) base = hoist(base, loc(static_cast<const clang::Expr*>(e)));
  callees_.insert(method->getCanonicalDecl());
  ir::Expr* m = fn_.make(ir::Expr::Method, types_.get(e->getType()), method->getNameAsString(), {base});
  m->accessor = true;
  for (const clang::Expr* a : e->arguments()) m->args.push_back(value(a));
  return m;
}

/// The object of a member call, as the first argument.
bool Frontend::add_object(ir::CallInfo& info, const clang::Expr* object, const CXXMethodDecl* method) {
  ir::Expr* self = value(object);
  if (object->getType()->isPointerType()) self = deref(self);
  return add_object(info, self, loc(object), method);
}

bool Frontend::add_object(ir::CallInfo& info, ir::Expr* object, ir::Loc at, const CXXMethodDecl* method) {
  ir::CallInfo::Arg self;
  self.expr = object;
  const ir::Type* expected = types_.get(compat::record_type(context_, method->getParent()));
  while (self.expr->kind == ir::Expr::Cast && self.expr->to_reference && self.expr->type != expected)
    self.expr = self.expr->args[0];
  while (self.expr->kind == ir::Expr::Cast && self.expr->to_reference &&
         !is_downcast(self.expr->type, self.expr->args[0]->type))
    self.expr = self.expr->args[0];
  if (self.expr->kind == ir::Expr::Conditional && !method->isConst()) {
    fail(SourceLocation::getFromRawEncoding(at),
         "cannot differentiate this call: it changes an object that is chosen at run time");
    return false;
  }
  if (!ir::is_path(self.expr)) self.expr = hoist(self.expr, at);
  self.param_type = expected;
  self.reference = self.object = true;
  info.args.push_back(self);
  return true;
}

/// Whether a class is converted to one that derives from it.
bool Frontend::is_downcast(const ir::Type* to, const ir::Type* from) {
  const auto* derived = static_cast<const CXXRecordDecl*>(to->decl);
  const auto* base = static_cast<const CXXRecordDecl*>(from->decl);
  return derived && base && derived->hasDefinition() && base->hasDefinition() && derived->isDerivedFrom(base);
}

ir::Expr* Frontend::operator_call(const CXXOperatorCallExpr* e, const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const clang::Expr* first = e->getArg(0);
  if (e->getOperator() == OO_Call && method &&
      (method->getParent()->isLambda() || is_callable(first->getType()))) {
    auto closure = method->getParent()->isLambda() ? closure_of(first) : callable(first);
    if (!closure && method->getParent()->isLambda()) return literal("0", context_.IntTy);
    const std::vector<const clang::Expr*> rest(e->arg_begin() + 1, e->arg_end());
    if (!closure) return indirect_call(e);
    return call_closure(e, *closure, rest);
  }
  if (is_view(first->getType()) && e->getOperator() == OO_Subscript)
    return view_part(first, "operator[]", e->getArg(1), e);
  const ir::Type* type = types_.get(first->getType());
  if (ir::Expr* known = library_operator(e)) return known;
  const auto is_iterator = [&](const clang::Expr* x) {
    return is_pointer(without_base(x)) && without_base(x)->getType()->isRecordType();
  };
  if (is_iterator(first) ||
      (e->getNumArgs() == 2 && is_iterator(e->getArg(1)) && !first->getType()->isRecordType()))
    return iterator_operator(e);
  if (e->getOperator() == OO_Subscript &&
      (type->kind == ir::Type::Vector || type->kind == ir::Type::StdArray)) {
    ir::Expr* base = value(first);
    callees_.insert(callee->getCanonicalDecl());
    if (!ir::is_path(base) && base->kind != ir::Expr::Conditional)
      base = hoist(base, loc(static_cast<const clang::Expr*>(e)));
    ir::Expr* index = value(e->getArg(1));
    return through(base, [&](ir::Expr* o) {
      return held(fn_.make(ir::Expr::Index, type->element, "", {o, index}), e->getType());
    });
  }
  if (const char* op = comparison_of(method); op && e->getNumArgs() == 3) {
    const std::vector<ir::Expr*> operands = values({e->getArg(1), e->getArg(2)});
    if (!operands[0]->type->is_class() && !operands[1]->type->is_class())
      return fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy), op, {operands[0], operands[1]});
  }
  if (e->getOperator() == OO_Equal && method) {
    bool primitive = !method->isUserProvided() || type->kind != ir::Type::Record || compat::in_std(method);
    bool same =
        types_.get(strip(e->getArg(1))->getType()) == type || types_.get(e->getArg(1)->getType()) == type;
    if (primitive && (same || type->kind != ir::Type::Opaque)) {
      callees_.insert(callee->getCanonicalDecl());
      ir::Expr* rhs = value(e->getArg(1));
      return assign(value(first), "=", rhs, loc(static_cast<const clang::Expr*>(e)));
    }
  }
  std::vector<const clang::Expr*> rest(e->arg_begin() + (method ? 1 : 0), e->arg_end());
  if (!method)
    if (ir::Expr* known = library_call(e, callee, rest)) return known;
  if (ir::Expr* inlined = inline_call(e, callee, rest, method ? first : nullptr)) return inlined;
  auto info = std::make_unique<ir::CallInfo>();
  info->is_operator = e->getNumArgs() <= 2 && e->getOperator() != OO_Subscript &&
                      e->getOperator() != OO_Call && e->getOperator() != OO_Arrow &&
                      !(callee->getNumParams() == (method ? 1u : 2u) && e->getNumArgs() == 2 &&
                        (e->getOperator() == OO_PlusPlus || e->getOperator() == OO_MinusMinus));
  info->is_method = method != nullptr && !method->isStatic();
  info->name = info->is_operator ? getOperatorSpelling(e->getOperator()) : callee->getNameAsString();
  if (info->is_method) {
    if (!add_object(*info, first, method)) return literal("0", context_.IntTy);
  }
  std::vector<const clang::Expr*> arguments(e->arg_begin() + (info->is_method ? 1 : 0), e->arg_end());
  add_arguments(*info, callee, arguments);
  return finish_call(std::move(info), callee, callee->getReturnType(), e, method && !method->isConst());
}

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

ir::Expr* Frontend::call(const CallExpr* e) {
  const FunctionDecl* callee = e->getDirectCallee();
  if (!callee) return indirect_call(e);
  if (is_checkpoint(callee)) return checkpoint(e);
  if (ir::Expr* result = call_per_target(e, callee)) return result;
  if (compat::in_std(callee) && e->getNumArgs() == 1 &&
      named(callee, {"move", "forward", "as_const", "move_if_noexcept"}))
    return value(e->getArg(0));
  if (compat::in_std(callee) && e->getNumArgs() == 1 && named(callee, {"addressof", "__addressof"}))
    return fn_.make(ir::Expr::AddressOf, types_.get(e->getType()), "", {value(e->getArg(0))});
  if (ir::Expr* c = constant(e)) return c;  // std::numeric_limits<...>, constexpr integers
  if (compat::in_std(callee) && e->getNumArgs() == 2 && named(callee, {"swap"}))
    return swap(e->getArg(0), e->getArg(1), loc(static_cast<const clang::Expr*>(e)));
  const std::vector<const clang::Expr*> arguments(e->arg_begin(), e->arg_end());
  if (compat::in_std(callee) && named(callee, {"make_pair", "make_tuple", "make_optional"}))
    if (ir::Expr* made =
            construct_library(types_.get(e->getType()), arguments, loc(static_cast<const clang::Expr*>(e))))
      return made;
  if (compat::in_std(callee) && e->getNumArgs() == 1 && named(callee, {"min", "max"}))
    if (ir::Expr* best = extreme(e, callee->getName() == "max")) return best;
  if (compat::in_std(callee) && named(callee, {"get"}) && e->getNumArgs() == 1 &&
      callee->getTemplateSpecializationArgs()) {
    const TemplateArgument& which = callee->getTemplateSpecializationArgs()->get(0);
    ir::Expr* object = this->object(e->getArg(0));
    std::size_t i = object->type->fields.size();
    if (which.getKind() == TemplateArgument::Type && object->type->kind == ir::Type::Record)
      for (i = 0; i < object->type->fields.size(); ++i)
        if (object->type->fields[i].type == types_.get(which.getAsType())) break;
    if (which.getKind() == TemplateArgument::Integral) i = which.getAsIntegral().getZExtValue();
    {
      if (object->type->kind == ir::Type::StdArray)
        return fn_.make(ir::Expr::Index, object->type->element, "",
                        {object, literal(std::to_string(i), context_.IntTy)});
      if (object->type->kind == ir::Type::Record && i < object->type->fields.size()) return part(object, i);
    }
  }
  if (ir::Expr* known = iterator_function(e, callee)) return known;
  if (ir::Expr* known = pointer_function(e, callee)) return known;
  if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e)) return operator_call(op, callee);

  const clang::Expr* object = nullptr;
  if (const auto* m = dyn_cast<CXXMemberCallExpr>(e)) {
    const auto* method = cast<CXXMethodDecl>(callee);
    if (ir::Expr* derived = execute(m)) return derived;
    if (const clang::Expr* of = m->getImplicitObjectArgument();
        is_view(of->getType()) && method->getIdentifier())
      return view_part(of, method->getName(), nullptr, e);
    if (ir::Expr* element = container_member(m, method)) return element;
    if (ir::Expr* known = library_member(m, method)) return known;
    object = m->getImplicitObjectArgument();
    if (method->isVirtual()) {
      const auto* access = dyn_cast<MemberExpr>(m->getCallee()->IgnoreParens());
      const bool qualified = access && access->hasQualifier();
      const CXXMethodDecl* exact =
          qualified ? method : method->getDevirtualizedMethod(object, /*IsAppleKext=*/false);
      if (!exact && !compat::is_pure(method) && types_.derived_from(method->getParent()).size() == 1)
        exact = method;
      if (!exact && !lookup_.named(method))
        if (ir::Expr* result = virtual_call(m, method)) return result;
      if (exact) callee = exact;
      if (!exact) {
        auto info = std::make_unique<ir::CallInfo>();
        info->problem = "it is virtual and the object's class is not known here";
        return finish_method(std::move(info), e, method, arguments, object);
      }
    }
    if (method->getParent()->isLambda()) {
      if (isa<CXXConversionDecl>(method))
        return fail(e->getExprLoc(),
                    "cannot differentiate a lambda as a function pointer that is kept in an object; keep "
                    "it in a variable, or pass it on");
      if (std::shared_ptr<Closure> closure = closure_of(object)) return call_closure(e, *closure, arguments);
      return literal("0", context_.IntTy);
    }
  }
  return call_function(e, callee, arguments, object);
}

/// A call of exactly this function; `object` is that of a method.
ir::Expr* Frontend::call_function(const CallExpr* e, const FunctionDecl* callee,
                                  const std::vector<const clang::Expr*>& args, const clang::Expr* object) {
  if (!object)
    if (ir::Expr* known = library_call(e, callee, args)) return known;
  if (ir::Expr* inlined = inline_call(e, callee, args, object)) return inlined;
  auto info = std::make_unique<ir::CallInfo>();
  if (object) return finish_method(std::move(info), e, cast<CXXMethodDecl>(callee), args, object);
  info->name = spell_function(callee, types_);
  add_arguments(*info, callee, args);
  return finish_call(std::move(info), callee, callee->getReturnType(), e, false);
}

ir::Expr* Frontend::finish_method(std::unique_ptr<ir::CallInfo> info, const CallExpr* e,
                                  const CXXMethodDecl* method, const std::vector<const clang::Expr*>& args,
                                  const clang::Expr* object) {
  ir::Expr* self = value(object);
  if (object->getType()->isPointerType()) self = deref(self);
  return call_method(std::move(info), e, method, args, self);
}

ir::Expr* Frontend::call_method(std::unique_ptr<ir::CallInfo> info, const CallExpr* e,
                                const CXXMethodDecl* method, const std::vector<const clang::Expr*>& args,
                                ir::Expr* object) {
  info->is_method = true;
  info->name = method->getNameAsString();
  if (isa<CXXConversionDecl>(method)) info->name = "operator " + types_.spell(method->getReturnType());
  if (!add_object(*info, object, loc(static_cast<const clang::Expr*>(e)), method))
    return literal("0", context_.IntTy);
  // Exactly this function: not an overrider, not one that the object's class hides it behind.
  const ir::CallInfo::Arg& self = info->args[0];
  if (method->isVirtual() || self.expr->type != self.param_type)
    info->name = self.param_type->name + "::" + info->name;
  add_arguments(*info, method, args);
  return finish_call(std::move(info), method, method->getReturnType(), e, !method->isConst());
}

}  // namespace clad
