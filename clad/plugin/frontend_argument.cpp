// Arguments of calls, and what a call becomes: a statement whose derivative is taken, or an expression.
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
static bool is_polymorphic(const ir::Type* type) {
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
      info.args.push_back(a);
    } else if (isa<CXXDefaultArgExpr>(given) && library) {
      continue;
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
    arg.moved = arg.mutable_ = true;
    if (!ir::is_path(arg.expr)) arg.expr = hoist(arg.expr, loc(e));
  }
  if (arg.expr->kind == ir::Expr::Construct && arg.expr->args.empty() && !arg.expr->type->is_class() &&
      arg.expr->type->kind != ir::Type::Array) {  // a zero of this type
    arg.expr = fn_.make(ir::Expr::Cast, arg.expr->type, arg.expr->type->name, {arg.expr});
    arg.expr->explicit_cast = true;
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

/// What a call changes, if it is given one object to change: what it returns a reference to is a part of
/// that.
static ir::Expr* changeable(const std::vector<ir::CallInfo::Arg>& args, const ir::Type* result) {
  ir::Expr* found = nullptr;
  for (const ir::CallInfo::Arg& a : args) {
    if (!a.mutable_ || a.moved || (result->is_class() && !a.expr->type->is_class())) continue;
    if (found || !ir::is_path(a.expr)) return nullptr;
    found = a.expr;
  }
  return found;
}

/// Whether an object of the library is a handle on others, or is reached by one.
static bool refers_elsewhere(const ir::Expr* object) {
  const auto* record = static_cast<const CXXRecordDecl*>(object->type->decl);
  const bool handle = record && record->hasDefinition() &&
                      (record->isTriviallyCopyable() || record->getName().ends_with("_ptr") ||
                       record->getName().ends_with("iterator") || record->getName() == "reference");
  return handle || ir::handle_in(object);
}

/// The object that a handle is on which a call returns.
static ir::Expr* made_from(const std::vector<ir::CallInfo::Arg>& args, const ir::Type* result) {
  if (args.empty() || !ir::is_path(args[0].expr)) return nullptr;
  if (result->kind != ir::Type::Pointer && !result->is_class()) return nullptr;
  const ir::Expr* from = args[0].expr;
  if (const ir::Var* r = from->kind == ir::Expr::VarRef ? from->var : nullptr; r && r->origin)
    return r->origin;
  const ir::Type* t = from->type;
  return t->is_class() && !t->differentiable ? args[0].expr : nullptr;
}

/// Whether argument `i` would be referred or pointed to as what may be changed, or, in a template, as
/// whatever it is.
static bool takes_changeable(const FunctionDecl* f, unsigned i) {
  if (f->getNumParams() == 0) return false;
  QualType param = f->getParamDecl(std::min(i, f->getNumParams() - 1))->getType();
  if (const auto* pack = param->getAs<PackExpansionType>())
    param = pack->getPattern();
  else if (i >= f->getNumParams())
    return false;
  if (param->isTemplateTypeParmType()) return true;
  return (param->isReferenceType() || param->isPointerType()) && !param->getPointeeType().isConstQualified();
}
static bool takes_constant(QualType param) {
  return (param->isReferenceType() || param->isPointerType()) && param->getPointeeType().isConstQualified();
}

/// Whether an overload of the function would be chosen for an object, or for argument `i`, if that were not
/// const.
static bool differs_in_const(const FunctionDecl* callee, std::optional<unsigned> i) {
  const auto* instance = callee->getPrimaryTemplate();
  for (const NamedDecl* found : callee->getDeclContext()->lookup(callee->getDeclName())) {
    const NamedDecl* d = found->getUnderlyingDecl();
    const auto* f = dyn_cast_or_null<FunctionDecl>(
        isa<FunctionTemplateDecl>(d) ? cast<FunctionTemplateDecl>(d)->getTemplatedDecl() : d);
    if (!f || f->getCanonicalDecl() == callee->getCanonicalDecl()) continue;
    if (instance && instance->getCanonicalDecl() == d->getCanonicalDecl()) continue;
    const auto* method = dyn_cast<CXXMethodDecl>(f);
    if (!i && method && !method->isStatic() && !method->isConst()) return true;
    if (i && takes_changeable(f, *i)) return true;
  }
  return false;
}

/// An argument as the user's call has it, const or about to end, where overloads of the function are chosen
/// by that: in generated code it is a variable like others.
ir::Expr* Frontend::as_overload(ir::Expr* e, const ir::CallInfo& info, const FunctionDecl* callee,
                                std::size_t k) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const bool object = info.args[k].object;
  const std::size_t i = k - (info.is_method ? 1 : 0);
  QualType param;
  if (!object && i < callee->getNumParams()) param = callee->getParamDecl(i)->getType();
  const bool constant = object ? method->isConst() : !param.isNull() && takes_constant(param);
  if (constant && !info.lifted && !compat::in_std(callee) &&
      differs_in_const(callee, object ? std::nullopt : std::optional<unsigned>(i))) {
    if (!object && param->isPointerType()) {
      e = fn_.make(ir::Expr::Cast, e->type, types_.spell(param), {e});
      e->explicit_cast = true;
    } else if (ir::names_object(e)) {
      e = fn_.make(ir::Expr::Call, e->type, "std::as_const", {e});
    }
  }
  const bool ends = info.args[k].moved || (object && method->getRefQualifier() == RQ_RValue);
  return ends ? fn_.make(ir::Expr::Call, e->type, "std::move", {e}) : e;
}

/// Whether each of what is chosen from is in a variable.
static bool is_of_variables(const ir::Expr* e) {
  if (e->kind == ir::Expr::Conditional) return is_of_variables(e->args[1]) && is_of_variables(e->args[2]);
  return ir::root(e) != nullptr;
}

/// Whether a smart pointer is asked how many own its object, or whether any do.
static bool asks_for_owners(const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  return method && compat::in_std(method) && method->getParent()->getName().ends_with("_ptr") &&
         named(method, {"use_count", "unique", "expired", "lock"});
}

ir::Expr* Frontend::finish_call(std::unique_ptr<ir::CallInfo> info, const FunctionDecl* callee,
                                QualType result, const clang::Expr* at, bool object_mutable) {
  const ir::Type* type = types_.get(result);
  const bool gives_object = result->isLValueReferenceType() && !result->getPointeeType().isConstQualified();
  if (info->is_method && !info->args.empty() && info->args[0].object)
    info->args[0].mutable_ = object_mutable || info->args[0].expr->type->leads_elsewhere();
  std::optional<unsigned> returned =
      info->lifted || info->is_constructor ? std::nullopt : returned_parameter(callee);
  const bool names = !returned && names_argument(*info, callee, result, at->getExprLoc());
  const bool writes = llvm::any_of(
      info->args, [](const ir::CallInfo::Arg& a) { return a.mutable_ && a.expr->type->differentiable; });
  for (ir::CallInfo::Arg& a : info->args) {
    if (a.expr->kind != ir::Expr::Conditional) continue;
    if (!a.expr->type->differentiable) {
      if (a.mutable_ && (a.reference || a.object || a.expr->type->kind == ir::Type::Pointer) &&
          is_of_variables(a.expr))
        return call_either(*info, a.expr->args[0], callee, result, at, object_mutable);
      continue;
    }
    // A reference sees what the call does to other arguments.
    const bool sees = (a.reference || a.object) && (a.mutable_ || (writes && ir::names_object(a.expr)));
    const bool sliced = (a.reference || a.object) &&  // if it were copied
                        (is_polymorphic(a.expr->type) || may_be_sliced(a.expr, a.expr->type));
    if (a.expr->type->kind == ir::Type::Pointer || sees || sliced)
      return call_either(*info, a.expr->args[0], callee, result, at, object_mutable);
    if (a.expr->type->is_class()) a.expr = hoist(a.expr, loc(at));
  }
  if (asks_for_owners(callee))
    return fail(at->getExprLoc(), "cannot differentiate '" + callee->getNameAsString() +
                                      "': derivatives keep objects for longer, so that others own them; keep "
                                      "a flag or a count");
  if (compat::in_std(callee)) check_elements(callee, at->getExprLoc());
  info->callee = callee;
  info->visible = callee->hasBody() && !compat::in_std(callee);
  info->constant = compat::annotated(callee, "non_differentiable");
  info->checkpoint = checkpoints_.count(at) || is_checkpointed(callee);
  callees_.insert(callee->getCanonicalDecl());
  bool input = false, output = type->differentiable;
  for (ir::CallInfo::Arg& a : info->args) {
    input |= a.expr->type->differentiable;
    output |= a.mutable_ && a.expr->type->differentiable;
  }
  if (!returned && !names && result->isLValueReferenceType() && object_mutable && !info->args.empty() &&
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
  llvm::ArrayRef<const clang::Expr*> given;
  if (const auto* call = dyn_cast<CallExpr>(at)) given = {call->getArgs(), call->getNumArgs()};
  if (const auto* made = dyn_cast<CXXConstructExpr>(at)) given = {made->getArgs(), made->getNumArgs()};
  const std::vector<ir::Var*> globals = globals_changed(callee, given);
  std::set<const ir::Var*> changed(globals.begin(), globals.end());
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
  for (const ir::CallInfo::Arg& a : info->args)
    if (const ir::Var* r = a.mutable_ ? ir::root(a.expr) : nullptr; r && r->reference_copy)
      return fail(
          at->getExprLoc(),
          "cannot differentiate this call: it may change what a call returned a reference to, and that "
          "call is recursive, virtual or not visible; return an index");
  if (type->kind == ir::Type::Pointer && type->differentiable && input && !names)
    return fail(at->getExprLoc(),
                "cannot differentiate call to '" + display_name(callee) +
                    (compat::in_std(callee)
                         ? "': no derivative of this library function is known; write the loop, with an index"
                         : "': it returns a pointer to differentiable data, and is recursive, virtual or "
                           "not visible; return an index"));

  // What lies behind a handle may be gone when the reverse sweep passes it again.
  for (ir::CallInfo::Arg& a : info->args)
    if (input && output && !a.mutable_ && a.expr->type->copyable && a.expr->type->kind != ir::Type::Pointer &&
        ir::is_path(a.expr) && ir::constant_behind(a.expr))
      a.expr = hoist(a.expr, loc(at));

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
  for (std::size_t k = 0; k < info->args.size(); ++k) {
    const ir::CallInfo::Arg& a = info->args[k];
    ir::Expr* passed = as_overload(a.moved ? a.expr : fn_.passed(a), *info, callee, k);
    if (!a.given.empty()) {
      passed = fn_.make(ir::Expr::Cast, a.expr->type, a.given, {a.expr});
      passed->explicit_cast = true;
    }
    primal->args.push_back(passed);
  }
  info->primal = primal;

  if (testing_ && ir::is_math(primal)) return primal;

  std::vector<ir::Var*> touched = globals;
  for (const ir::CallInfo::Arg& a : info->args)
    if (a.mutable_)
      if (ir::Var* r = ir::changed_by(a.expr); r && !llvm::is_contained(touched, r)) touched.push_back(r);
  for (ir::Var* v : touched) v->modified = true;

  if (names) return named_argument(std::move(info), callee, result, touched, at);
  if (input && output) {
    ir::Var* temp = nullptr;
    if (type->kind != ir::Type::Void && !returned) {
      temp = fn_.make_var(ir::Var::Temp, "t", type, region_);
      temp->optional = !type->default_constructible;
      temp->reference_copy = gives_object;
    }
    ir::Stmt* s = emit(ir::Stmt::CallStmt, loc(at));
    s->var = temp;
    s->touched = touched;
    s->call = std::move(info);
    if (returned) return s->call->args[*returned].expr;
    return temp ? fn_.ref(temp) : literal("0", context_.IntTy);
  }
  // A pointer, or an object with pointers, to what carries no derivative and the call may change.
  bool changes_behind = false;
  const ir::Var* behind = nullptr;
  for (const ir::CallInfo::Arg& a : info->args) {
    if (!a.mutable_ || !a.expr->type->reaches_state) continue;
    const ir::Var* r = ir::root(a.expr);
    if (r && (a.expr->type->is_class() || r->type->kind == ir::Type::Pointer)) behind = r;
    changes_behind |= behind || a.expr->type->is_class();
  }
  const bool reversible = changes_behind && callee->hasBody() && !compat::in_std(callee) &&
                          !info->is_constructor && info->problem.empty();
  if (behind && !reversible && behind->type->kind == ir::Type::Pointer)
    return fail(at->getExprLoc(), "cannot differentiate this call of '" + display_name(callee) +
                                      "': it may change what is behind pointer '" + behind->name +
                                      "', which could not be put back; use an array or a std::vector");
  info->reversible = reversible;
  if (info->lifted || reversible) {
    // A lambda without derivatives is lifted as well: it has no object to be called on. A function that
    // changes memory behind a pointer is reversed, to put that memory back.
    ir::Stmt* s = emit(ir::Stmt::CallStmt, loc(at));
    if (type->kind != ir::Type::Void && !returned) s->var = fn_.make_var(ir::Var::Temp, "t", type, region_);
    s->touched = touched;
    s->call = std::move(info);
    if (returned) return s->call->args[*returned].expr;
    return s->var ? fn_.ref(s->var) : literal("0", context_.IntTy);
  }
  const bool iterator = type->kind == ir::Type::Pointer && !info->lifted && types_.plain(result) != result;
  if (iterator && (!info->is_method || at != dropped_))
    return fail(at->getExprLoc(),
                "cannot differentiate call to '" + display_name(callee) +
                    "': where the iterator that it returns points is not known; write the loop");
  if (type->kind == ir::Type::Void || returned || iterator) {
    ir::Stmt* s = emit(ir::Stmt::Eval, loc(at));
    s->expr = primal;
    s->touched = touched;
    return returned ? info->args[*returned].expr : literal("0", context_.IntTy);
  }
  // An object that cannot be copied, as a std::atomic, is not kept for the reverse sweep to ask again.
  bool pure = touched.empty() && compat::in_std(callee) && info->is_method && !type->is_class() &&
              info->args[0].expr->type->copyable && !refers_elsewhere(info->args[0].expr);
  if (pure) return primal;
  ir::Var* temp = fn_.make_var(ir::Var::Temp, "t", type, region_);
  temp->optional = !type->default_constructible && !result->isReferenceType();
  temp->origin = made_from(info->args, type);
  temp->names = gives_object && at != reading_ ? changeable(info->args, type) : nullptr;
  temp->by_pointer = result->isReferenceType() && (type->is_class() || temp->names);
  temp->reference_copy = gives_object && !temp->names;
  ir::Stmt* s = emit(ir::Stmt::Decl, loc(at));
  s->var = temp;
  s->expr = primal;
  s->touched = touched;
  return fn_.ref(temp);
}

}  // namespace clad
