// What a call becomes: a statement whose derivative is taken, or one that is only run, or an expression.
#include <algorithm>

#include "compat.h"
#include "effects.h"
#include "frontend.h"

using namespace clang;

namespace clad {

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
      e = fn_.cast(e->type, types_.spell(param), e);
    } else if (ir::names_object(e) && e->kind != ir::Expr::Literal) {
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

/// Whether a call gives a place that may be written to.
static bool is_object_result(QualType result) {
  return result->isLValueReferenceType() && !result->getPointeeType().isConstQualified();
}

/// Whether a smart pointer is asked how many own its object, or whether any do.
static bool asks_for_owners(const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  return method && compat::in_std(method) && method->getParent()->getName().ends_with("_ptr") &&
         named(method, {"use_count", "unique", "expired", "lock"});
}

/// Whether a number is made of bits, in a program that takes the bits of numbers: it may be one that was
/// changed there.
static bool is_made_of_bits(const FunctionDecl* callee) {
  const FunctionTemplateDecl* all = callee->getPrimaryTemplate();
  if (!all || !compat::in_std(callee) || !named(callee, {"bit_cast"})) return false;
  const auto casts = [](const FunctionDecl* f, bool from_number) {
    if (f->getNumParams() != 1) return false;
    const QualType from = f->getParamDecl(0)->getType().getNonReferenceType();
    return from->isRealFloatingType() == from_number &&
           f->getReturnType()->isRealFloatingType() != from_number;
  };
  return casts(callee, false) && llvm::any_of(const_cast<FunctionTemplateDecl*>(all)->specializations(),
                                              [&](const FunctionDecl* f) { return casts(f, true); });
}

/// Whether a function object of the library only compares the numbers it is given, or a function sequences of
/// them.
static bool only_compares(const FunctionDecl* f) {
  if (!compat::in_std(f)) return false;
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  const bool object = method && method->getOverloadedOperator() == OO_Call &&
                      method->getParent()->isEmpty() &&
                      llvm::all_of(f->parameters(), [](const ParmVarDecl* p) {
                        return p->getType().getNonReferenceType()->isArithmeticType();
                      });
  const bool sequences = named(f, {"lexicographical_compare_three_way"}) && f->getNumParams() == 4;
  if (!object && !sequences) return false;
  const CXXRecordDecl* result = f->getReturnType()->getAsCXXRecordDecl();
  return result
             ? compat::in_std(result) && result->getIdentifier() && result->getName().ends_with("_ordering")
             : f->getReturnType()->isBooleanType();
}

ir::Expr* Frontend::finish_call(std::unique_ptr<ir::CallInfo> info, const FunctionDecl* callee,
                                QualType result, const clang::Expr* at, bool object_mutable) {
  const ir::Type* type = types_.get(result);
  const bool gives_object = is_object_result(result);
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
  if (is_made_of_bits(callee))
    return fail(
        at->getExprLoc(),
        "cannot differentiate this number made of bits, where bits are taken of numbers as well; write "
        "the arithmetic, or give the function a derivative of its own");
  compat::in_std(callee) ? check_elements(callee, at->getExprLoc())
                         : check_elements_of_deques(*info, at->getExprLoc());
  info->callee = callee;
  info->visible = callee->hasBody() && !compat::in_std(callee);
  info->constant = compat::annotated(callee, "non_differentiable") || only_compares(callee);
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
        a.expr = freeze(a.expr, loc(at), !a.reference);
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
    if (!a.given.empty()) passed = fn_.cast(a.expr->type, a.given, a.expr);
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
  if ((input && output) || info->is_constructor)
    for (const ir::CallInfo::Arg& a : info->args) note_handle(a.expr, at->getExprLoc());
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
  return finish_constant_call(std::move(info), callee, result, returned, touched, at);
}

/// A call from which no derivative goes on; it may change what has none.
ir::Expr* Frontend::finish_constant_call(std::unique_ptr<ir::CallInfo> info, const FunctionDecl* callee,
                                         QualType result, std::optional<unsigned> returned,
                                         const std::vector<ir::Var*>& touched, const clang::Expr* at) {
  const ir::Type* type = types_.get(result);
  const bool gives_object = is_object_result(result);
  ir::Expr* primal = info->primal;
  // A pointer, or an object with pointers, to what carries no derivative and the call may change.
  bool changes_behind = false;
  const ir::Var* behind = nullptr;
  for (const ir::CallInfo::Arg& a : info->args) {
    if (a.mutable_ && (behind_handle(a.expr) || ir::handle_in(a.expr))) {
      note_change(a.expr);
      continue;
    }
    if (!a.mutable_ || !a.expr->type->reaches_state) continue;
    const ir::Var* r = ir::root(a.expr);
    if (r && (a.expr->type->is_class() || r->type->kind == ir::Type::Pointer)) behind = r;
    changes_behind |= behind || a.expr->type->is_class();
  }
  for (const ir::Var* v : touched)
    if (!v->global.empty() && v->type->kind == ir::Type::Pointer && v->type->reaches_state) {
      behind = v;
      changes_behind = true;
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
