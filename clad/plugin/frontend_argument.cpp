// Arguments of calls.
#include <algorithm>

#include "clang/AST/Attr.h"
#include "compat.h"
#include "effects.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// Whether every call of the function is a checkpoint (CLAD_CHECKPOINT).
bool is_checkpointed(const FunctionDecl* f) {
  return llvm::any_of(f->specific_attrs<AnnotateAttr>(),
                      [](const AnnotateAttr* attr) { return attr->getAnnotation() == "clad::checkpoint"; });
}

/// Whether a copy of an object may be of another class than the object.
bool is_polymorphic(const ir::Type* type) {
  const auto* record = static_cast<const CXXRecordDecl*>(type->decl);
  return record && record->hasDefinition() && record->isPolymorphic();
}

/// Arguments in order, the first of which is that of parameter `first`; each is what it was when its turn
/// came.
void Frontend::add_arguments(ir::CallInfo& info, const FunctionDecl* callee,
                             llvm::ArrayRef<const clang::Expr*> args, unsigned first) {
  const bool library = compat::in_std(callee);
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const bool is_virtual = method && method->isVirtual();
  for (unsigned i = first; i < first + args.size(); ++i) {
    const clang::Expr* given = args[i - first];
    const std::size_t position = out_->size(), before = info.args.size();
    if (i >= callee->getNumParams()) {  // variadic
      ir::CallInfo::Arg a;
      a.expr = value(given);
      a.param_type = a.expr->type;
      const QualType type = given->IgnoreParenImpCasts()->getType();
      a.mutable_ =
          a.expr->type->differentiable && type->isPointerType() && !type->getPointeeType().isConstQualified();
      info.args.push_back(a);
    } else if (isa<CXXDefaultArgExpr>(given) && library) {
      continue;
    } else if (library && is_lambda(given->getType()) && !lookup_.given_by_user(callee, forward_)) {
      fail(given->getExprLoc(),
           "cannot differentiate call to '" + callee->getNameAsString() +
               "' with this function: no derivative of the two is known; write the loop, with an index");
    } else if (!library && is_view(callee->getParamDecl(i)->getType())) {
      if (const std::optional<View> view = view_of(given))
        add_view_argument(info, *view, view_pointer(callee->getParamDecl(i)->getType()));
    } else if (!library && add_target(info, given, callee, i)) {
      continue;
    } else if (!library && !is_virtual && add_null(info, given, callee, i)) {
      continue;
    } else {
      // pow(n, 2) of an integer that is a number is that of a number.
      const bool number = library && callee->getReturnType()->isRealFloatingType() && is_number(given);
      add_argument(info, given, number ? context_.DoubleTy : callee->getParamDecl(i)->getType(), library);
      if (info.args.size() > before && info.args.back().mutable_ && !library && !is_virtual &&
          !lookup_.named(callee) && only_reads(callee, i))
        info.args.back().mutable_ = false;
    }
    settle_arguments(info, before, position);
  }
}

/// What was emitted since `position` may change what the first arguments are made of.
void Frontend::settle_arguments(ir::CallInfo& info, std::size_t count, std::size_t position) {
  const std::set<const ir::Var*> changed = changed_since(position);
  for (std::size_t k = 0; k < count && !changed.empty(); ++k) {
    ir::CallInfo::Arg& a = info.args[k];
    const bool names = a.object || (a.reference && !a.copied && ir::names_object(a.expr)) ||
                       a.expr->type->kind == ir::Type::Pointer;
    a.expr = names ? settle_path(a.expr, position, changed) : settle(a.expr, position, changed);
  }
}

/// The operands of an assignment that a function makes: the right one is evaluated first.
bool Frontend::add_assignment(ir::CallInfo& info, const FunctionDecl* callee, const clang::Expr* left,
                              const clang::Expr* right) {
  add_arguments(info, callee, {right}, info.is_method ? 0 : 1);
  const std::size_t position = out_->size(), count = info.args.size();
  if (!info.is_method)
    add_arguments(info, callee, {left});
  else if (add_object(info, left, cast<CXXMethodDecl>(callee)))
    settle_arguments(info, count, position);
  else
    return false;
  std::rotate(info.args.begin(), info.args.begin() + static_cast<std::ptrdiff_t>(count), info.args.end());
  return true;
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
    if (!library) info.lifted = true;  // of a lambda there are only its captures
    return;
  }
  if (given->isLValueReferenceType() && !given->getPointeeType().isConstQualified() && pointer_part(e)) {
    no_part_reference(e);
    return;
  }
  ir::CallInfo::Arg arg;
  arg.param_type = types_.get(param);
  arg.reference = param->isLValueReferenceType() || param->isRecordType() || param->isRValueReferenceType();
  arg.copied = param->isRecordType();
  QualType pointee =
      param->isPointerType() || param->isLValueReferenceType() ? param->getPointeeType() : QualType();
  arg.mutable_ = !pointee.isNull() && !pointee.isConstQualified();
  arg.unconst = arg.mutable_ && unconst_in(e);
  arg.expr = param->isRealFloatingType() ? as_number(e) : library ? read(e) : argument_value(e, param);
  if (library && param->isRValueReferenceType()) arg.expr = handed_over(e, arg.expr);
  if (param != given && TypeTable::is_reverse(given) && library)
    fail(e->getExprLoc(),
         "cannot differentiate this call with a reverse iterator; take begin() and end(), and "
         "another order");
  if (param != given) arg.given = types_.spell(given.getNonReferenceType().getUnqualifiedType());
  // Memory behind a pointer, or behind an iterator, may be written whatever the argument's own type says.
  const std::string& name = arg.expr->type->name;
  arg.mutable_ |= arg.expr->type->leads_elsewhere() ||
                  (ir::keeps_numbers(arg.expr->type) && name.find("iterator") != std::string::npos &&
                   name.find("const_iterator") == std::string::npos);
  while (arg.expr->kind == ir::Expr::Cast && arg.expr->to_reference &&
         !is_downcast(arg.expr->type, arg.expr->args[0]->type))
    arg.expr = arg.expr->args[0];
  // So it does of a pointer to a base class that has no derivatives.
  if (ir::Expr* object = arg.expr->kind == ir::Expr::AddressOf ? arg.expr->args[0] : nullptr;
      object && object->kind == ir::Expr::Cast && object->to_reference && !arg.expr->type->differentiable) {
    while (object->kind == ir::Expr::Cast && object->to_reference &&
           !is_downcast(object->type, object->args[0]->type))
      object = object->args[0];
    if (object->type->differentiable && ir::is_path(object))
      arg.expr = fn_.make(ir::Expr::AddressOf, types_.pointer_to(object->type), "", {object});
  }
  if (param->isRValueReferenceType() && !library) {
    arg.moved = true;
    const bool cursor = is_cursor_type(arg.expr->type);
    pointee = param.getNonReferenceType()->getPointeeType();
    arg.mutable_ = !cursor || pointee.isNull() || !pointee.isConstQualified();
    if (!cursor && !ir::is_path(arg.expr)) arg.expr = hoist(arg.expr, loc(e));
  }
  if (arg.copied && !arg.expr->type->copyable && !arg.expr->type->differentiable)
    arg.moved = ir::is_path(arg.expr);
  if (arg.expr->kind == ir::Expr::Construct && arg.expr->args.empty() && !arg.expr->type->is_class() &&
      arg.expr->type->kind != ir::Type::Array) {  // a zero of this type
    arg.expr = fn_.cast(arg.expr->type, arg.expr->type->name, arg.expr);
  }
  bool plain_list = arg.expr->kind == ir::Expr::InitList || arg.expr->kind == ir::Expr::Construct;
  const bool chosen = arg.expr->kind == ir::Expr::Conditional && ir::names_object(arg.expr);
  if (arg.expr->type->is_class() && arg.expr->type->differentiable && !(arg.reference && chosen) &&
      (!ir::is_path(arg.expr) || plain_list))
    arg.expr = hoist(arg.expr, loc(e));
  info.args.push_back(arg);
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
  while (self.expr->kind == ir::Expr::Cast && self.expr->to_reference) {
    const ir::Type* inner = self.expr->args[0]->type;
    const bool has_it = inner == expected || is_downcast(inner, expected);
    if (is_downcast(self.expr->type, inner) && (self.expr->type == expected || !has_it)) break;
    self.expr = self.expr->args[0];
  }
  // An object that is chosen is not copied before it is known what the call does to the other arguments.
  const bool chosen = self.expr->kind == ir::Expr::Conditional &&
                      (!method->isConst() || is_polymorphic(self.expr->type) || ir::names_object(self.expr));
  if (!chosen && !ir::is_path(self.expr)) self.expr = hoist(self.expr, at);
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

/// Whether a copy as one of class `as` of what is one of several objects may be less than the object, which
/// whoever is passed the copy may find out: by a virtual call, or by a cast to the class of the object.
bool Frontend::may_be_sliced(ir::Expr* object, const ir::Type* as) {
  if (object->kind == ir::Expr::Conditional)
    return may_be_sliced(object->args[1], as) || may_be_sliced(object->args[2], as);
  const auto* record = static_cast<const CXXRecordDecl*>(as->decl);
  if (as->kind != ir::Type::Record || !record || compat::in_std(record)) return false;
  object = named_object(object);
  if (object->type != as) return true;
  const bool whole = object->kind == ir::Expr::Member ||
                     (object->kind == ir::Expr::Index && object->args[0]->type->kind != ir::Type::Pointer) ||
                     (object->kind == ir::Expr::VarRef && is_local_object(object->var));
  return !whole && types_.is_base(record);
}

/// `e`, where it is known how `test` turned out.
static ir::Expr* decided(ir::Expr* e, const ir::Expr* test, bool outcome) {
  while (e->kind == ir::Expr::Conditional && ir::alike(e->args[0], test)) e = e->args[outcome ? 1 : 2];
  return e;
}

/// A call with an object or a pointer that is chosen at run time: a call for either choice.
ir::Expr* Frontend::call_either(const ir::CallInfo& info, const ir::Expr* test, const FunctionDecl* callee,
                                QualType result, const clang::Expr* at, bool object_mutable) {
  const ir::Type* type = types_.get(result);
  ir::Body* outer = out_;
  ir::Body bodies[2];
  ir::Expr* returned[2];
  for (int i = 0; i < 2; ++i) {
    auto one = std::make_unique<ir::CallInfo>(info);
    for (ir::CallInfo::Arg& a : one->args) a.expr = decided(a.expr, test, /*outcome=*/i == 0);
    drop_nulls(*one, callee);
    out_ = &bodies[i];
    returned[i] = finish_call(std::move(one), callee, result, at, object_mutable);
  }
  out_ = outer;
  bool names_one = result->isLValueReferenceType();
  for (int i = 0; i < 2 && names_one; ++i) {
    returned[i] = brought_out(returned[i], bodies[i]);
    names_one = outlives(returned[i], bodies[i]);
  }
  if (result->isLValueReferenceType() && !names_one &&
      (may_be_sliced(returned[0], type) || may_be_sliced(returned[1], type)))
    return fail(at->getExprLoc(), "cannot differentiate this call of '" + display_name(callee) +
                                      "', which returns a reference and is given an object that is chosen at "
                                      "run time: the reference may be one to a base class; use if and else");
  ir::Var* value = nullptr;
  if (type->kind != ir::Type::Void && type->kind != ir::Type::Pointer && !names_one) {
    value = fn_.make_var(ir::Var::Local, "chosen", type, region_);
    value->modified = true;
    value->optional = !type->default_constructible;
    value->reference_copy = result->isLValueReferenceType();
    emit(ir::Stmt::Decl, loc(at))->var = value;
  }
  ir::Stmt* branch = emit(ir::Stmt::If, loc(at));
  record_condition(branch, const_cast<ir::Expr*>(test));
  branch->body = std::move(bodies[0]);
  branch->other = std::move(bodies[1]);
  for (int i = 0; i < 2 && value; ++i) {
    out_ = i == 0 ? &branch->body : &branch->other;
    start_as(fn_.ref(value), returned[i], loc(at));
  }
  out_ = outer;
  if (value) return fn_.ref(value);
  if (names_one)
    return fn_.make(ir::Expr::Conditional, type, "", {const_cast<ir::Expr*>(test), returned[0], returned[1]});
  if (info.names)
    return fail(
        at->getExprLoc(),
        "cannot differentiate this call of '" + display_name(callee) +
            "': it returns a pointer, and is given one that is chosen at run time; return a reference");
  return literal("0", context_.IntTy);
}

}  // namespace clad
