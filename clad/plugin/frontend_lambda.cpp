// Lambdas: a closure is the list of its captures.
#include "clang/AST/ExprCXX.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// Whether the body cannot change what is captured: then it is handed on as what is only read, which it may
/// be to the function around it.
bool Frontend::is_constant(const LambdaCapture& c, const Changes& inside) {
  const ValueDecl* var = c.getCapturedVar();
  const QualType type = var->getType().getNonReferenceType();
  if (type.isConstQualified()) return true;
  return c.getCaptureKind() == LCK_ByRef && !type->isPointerType() && !inside.modified.count(var) &&
         !inside.counters.count(var);
}

bool is_lambda(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->isLambda();
}

/// Whether a lambda captures a function or a member of which its own text does not say which it is.
bool Frontend::is_unnamed(const Closure::Capture& c) {
  const auto* var = dyn_cast_or_null<VarDecl>(c.decl);
  return c.closure && var && (c.closure->member || (is_callable(var->getType()) && !fixed_target(var)));
}

/// Whether the body moves pointers of the function that it stands in.
bool moves_pointers(const Closure& closure) {
  if (closure.choice) return moves_pointers(*closure.yes) || moves_pointers(*closure.no);
  return llvm::any_of(closure.captures, [](const Closure::Capture& c) {
    return c.moves || (c.closure && moves_pointers(*c.closure));
  });
}

std::shared_ptr<Closure> Frontend::make_closure(const LambdaExpr* e) {
  auto closure = std::make_shared<Closure>();
  closure->record = e->getLambdaClass();
  bool mutable_copies = e->getCallOperator() && !e->getCallOperator()->isConst();
  const Changes inside = changes_of(e->getLambdaClass());
  auto init = e->capture_init_begin();
  for (const LambdaCapture& c : e->captures()) {
    const clang::Expr* initializer = *init++;
    Closure::Capture capture;
    if (c.getCaptureKind() == LCK_StarThis) {
      ir::Var* copy = fn_.make_var(ir::Var::Local, "self", types_.get(initializer->getType()), region_);
      copy->modified = mutable_copies;
      copy->optional = !copy->type->default_constructible;
      if (mutable_copies) unstable_.insert(copy);
      initialize(copy, initializer, loc(static_cast<const clang::Expr*>(e)));
      capture.path = fn_.ref(copy);
      capture.constant = !mutable_copies;
    } else if (c.capturesThis()) {
      capture.path = self_ ? self_ : fail(c.getLocation(), "cannot differentiate a capture of 'this' here");
      capture.by_reference = true;
      capture.constant = initializer->getType()->getPointeeType().isConstQualified();
    } else if (!c.capturesVariable()) {
      fail(e->getBeginLoc(),
           "cannot differentiate a lambda that captures an array of variable length; use std::vector");
      return nullptr;
    } else {
      const auto* var = cast<VarDecl>(c.getCapturedVar());
      if (numbers_.count(var)) refuse_integer(e);
      capture.decl = var;
      capture.by_reference = c.getCaptureKind() == LCK_ByRef;
      capture.constant = is_constant(c, inside);
      bool init_capture = var->isInitCapture();
      capture.moves = capture.by_reference && !init_capture && var->getType()->isPointerType() &&
                      (inside.modified.count(var) || inside.counters.count(var));
      if (init_capture && is_lambda(var->getType())) {
        capture.closure = closure_of(initializer);
        if (!capture.by_reference) capture.closure = copy_closure(capture.closure, at_);
        if (!capture.closure) return nullptr;
      } else if (is_callable(var->getType()) && !closures_.count(var) && !bindings_.count(var)) {
        fail(c.getLocation(), "cannot differentiate a lambda that captures '" + var->getNameAsString() +
                                  "', a function that is not known here; pass it as an argument");
        return nullptr;
      } else if (!init_capture && closures_.count(var)) {
        capture.closure = capture.by_reference ? closures_[var] : copy_closure(closures_[var], at_);
      } else if (!init_capture && bindings_.count(var) && is_parts(bindings_[var])) {
        capture.path =
            capture.by_reference
                ? bindings_[var]
                : copy_parts(bindings_[var], var->getType().getNonReferenceType()->getAsCXXRecordDecl());
      } else if (init_capture && in_parts(var->getType())) {
        capture.path = value(initializer);
      } else if (is_view(var->getType())) {
        const std::optional<View> view = fixed_view(initializer);
        if (!view) return nullptr;
        capture.path = view->data;
        capture.size = view->size;
      } else if (capture.by_reference && !init_capture && cursors_.count(var)) {
        capture.path = value(initializer);  // where it points when the lambda is called
      } else if (!init_capture && bindings_.count(var) && !mutable_copies &&
                 (capture.by_reference || is_fixed(var))) {
        capture.path = bindings_[var];
      } else if (capture.by_reference) {
        capture.path = freeze(value(initializer), loc(static_cast<const clang::Expr*>(e)));
      } else if (is_cursor_type(types_.get(var->getType()))) {
        capture.path = captured_pointer(e, var, value(initializer));
      } else {
        ir::Var* copy =
            fn_.make_var(ir::Var::Local, var->getNameAsString(), types_.get(var->getType()), region_);
        copy->modified = mutable_copies;
        copy->optional = !copy->type->default_constructible;
        if (mutable_copies) unstable_.insert(copy);
        initialize(copy, initializer, loc(static_cast<const clang::Expr*>(e)));
        capture.path = fn_.ref(copy);
      }
    }
    closure->captures.push_back(std::move(capture));
  }
  return closure;
}

/// A pointer captured by value, which must stay what it was.
ir::Expr* Frontend::captured_pointer(const LambdaExpr* lambda, const VarDecl* var, ir::Expr* pointer) {
  const auto refuse = [&](const std::string& why) {
    return fail(lambda->getBeginLoc(), "cannot differentiate a lambda that captures pointer '" +
                                           var->getNameAsString() + "', " + why);
  };
  const Changes changes = changes_of(lambda->getLambdaClass());
  if (changes.modified.count(var) || changes.counters.count(var))
    return refuse("which it moves; capture the pointer by value, and an index that moves");
  ir::Expr* target = freeze(pointer, at_, /*pointer=*/true);
  if (target->kind == ir::Expr::Conditional) return refuse("which is chosen at run time; use if and else");
  return name_pointer(var, target);
}

/// The lambda, or the function, that a call of a function, a lambda or a method that does nothing else
/// returns.
std::shared_ptr<Closure> Frontend::returned_closure(const FunctionDecl* callee,
                                                    std::vector<const clang::Expr*> args,
                                                    const clang::Expr* object) {
  const clang::Expr* returned = only_return(callee);
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (!returned || inlining_.count(callee) || (method && method->isVirtual())) return nullptr;
  if (!is_callable(returned->getType()) && !is_lambda(returned->getType())) return nullptr;
  Frame frame;
  Closures closures = closures_;
  ir::Expr* self = nullptr;
  if (method && !object && !method->isStatic()) {
    object = args.front();
    args.erase(args.begin());
  }
  if (method && !method->isStatic() && !method->getParent()->isLambda()) {
    if (!names_parts(object)) return nullptr;
    self = value(object);
    if (object->getType()->isPointerType()) self = deref(self);
    if (!is_parts(self) || self->kind == ir::Expr::Conditional) return nullptr;
  } else if (method && !method->isStatic()) {
    const std::shared_ptr<Closure> own = closure_of(object);
    if (!own) return nullptr;
    for (const Closure::Capture& c : own->captures) {
      if (c.closure)
        closures[c.decl] = c.closure;
      else if (c.decl)
        frame[c.decl] = c.path;
      else
        self = c.path;
    }
  }
  const FunctionDecl* definition = nullptr;
  callee->getBody(definition);
  for (unsigned i = 0; i < definition->getNumParams() && i < args.size(); ++i) {
    const ParmVarDecl* p = definition->getParamDecl(i);
    if (is_lambda(p->getType())) {
      std::shared_ptr<Closure> closure = callable(args[i]);
      if (!closure) return nullptr;
      closures[p] = p->getType()->isReferenceType() ? closure : copy_closure(closure, at_);
      continue;
    }
    if (std::shared_ptr<Closure> closure = passed_target(definition, i, args[i])) {
      closures[p] = std::move(closure);
      continue;
    }
    if (is_callable(p->getType())) return nullptr;
    frame[p] = bound(args[i], p->getType(), /*changes=*/true);
  }
  std::swap(frame, bindings_);
  std::swap(closures, closures_);
  std::swap(self, self_);
  inlining_.insert(callee);
  std::shared_ptr<Closure> closure = callable(returned);
  inlining_.erase(callee);
  std::swap(self, self_);
  std::swap(closures, closures_);
  std::swap(frame, bindings_);
  return closure;
}

std::shared_ptr<Closure> Frontend::closure_of(const clang::Expr* e) {
  const clang::Expr* bare = strip(e);
  if (const auto* lambda = dyn_cast<LambdaExpr>(bare)) return make_closure(lambda);
  if (const auto* ref = dyn_cast<DeclRefExpr>(bare)) {  // null if it has been refused
    if (auto it = closures_.find(ref->getDecl()); it != closures_.end()) return it->second;
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    const bool lives = var && var->hasGlobalStorage() && var->getInit();
    const auto* lambda = lives ? dyn_cast<LambdaExpr>(strip(var->getInit())) : nullptr;
    if (lambda && lambda->capture_size() == 0) return make_closure(lambda);
  }
  if (std::shared_ptr<Closure> closure = callable(bare); closure && closure->record) return closure;
  const CXXRecordDecl* record = e->getType()->getAsCXXRecordDecl();
  if (record && record->isLambda() && record->capture_size() == 0 && !e->HasSideEffects(context_)) {
    auto closure = std::make_shared<Closure>();  // wherever it comes from, they are all alike
    closure->record = record;
    return closure;
  }
  fail(e->getExprLoc(), "cannot differentiate this use of a lambda: its origin is not visible here");
  return nullptr;
}

void Frontend::add_closure_arguments(ir::CallInfo& info, const Closure& closure) {
  bool mutable_copies =
      closure.record->getLambdaCallOperator() && !closure.record->getLambdaCallOperator()->isConst();
  for (const Closure::Capture& c : closure.captures) {
    if (c.closure) {
      if (is_unnamed(c))
        fail(SourceLocation::getFromRawEncoding(at_),
             "cannot differentiate this call with a lambda that captures '" + c.decl->getNameAsString() +
                 "', a " + (c.closure->member ? "member" : "function") +
                 " that is not known where the lambda stands; pass it as an argument");
      else if (c.closure->record)
        add_closure_arguments(info, *c.closure);
      continue;
    }
    if (c.size) {
      add_view_argument(info, {c.path, c.size}, view_pointer(cast<VarDecl>(c.decl)->getType()));
      continue;
    }
    if (c.moves)
      fail(SourceLocation::getFromRawEncoding(at_),
           "cannot differentiate this call with a lambda that moves pointer '" + c.decl->getNameAsString() +
               "', which it captures; let it move an index");
    ir::CallInfo::Arg arg;
    arg.expr = c.path;
    arg.param_type = c.path->type;
    const bool by_reference = c.by_reference || mutable_copies;
    arg.reference = by_reference || c.path->type->is_class() || c.path->type->kind == ir::Type::Array;
    arg.mutable_ = (by_reference && !c.constant) || c.path->type->leads_elsewhere();
    if (c.decl && is_cursor_type(c.path->type)) {
      arg.reference = false;
      arg.mutable_ =
          !types_.plain(c.decl->getType().getNonReferenceType())->getPointeeType().isConstQualified();
    }
    info.args.push_back(arg);
  }
}

/// A function copied: what it holds by value, and may change, gets storage of its own. The same where there
/// is nothing of that kind.
std::shared_ptr<Closure> Frontend::copy_closure(std::shared_ptr<Closure> closure, ir::Loc at) {
  if (!closure || closure->shared) return closure;
  auto copy = std::make_shared<Closure>(*closure);
  bool differs = false;
  const auto copy_inner = [&](std::shared_ptr<Closure>& inner) {
    const std::shared_ptr<Closure> own = copy_closure(inner, at);
    differs |= own != inner;
    inner = own;
  };
  copy_inner(copy->yes);
  copy_inner(copy->no);
  const CXXMethodDecl* body = closure->record ? closure->record->getLambdaCallOperator() : nullptr;
  for (Closure::Capture& c : copy->captures) {
    if (!body || c.by_reference) continue;
    copy_inner(c.closure);  // which also a constant lambda may call, and so change
    if (c.closure || body->isConst() || is_cursor_type(c.path->type)) continue;
    ir::Var* v =
        fn_.make_var(ir::Var::Local, c.decl ? c.decl->getNameAsString() : "self", c.path->type, region_);
    v->modified = true;
    v->optional = !v->type->default_constructible;
    unstable_.insert(v);
    ir::Stmt* d = emit(ir::Stmt::Decl, at);
    d->var = v;
    d->expr = c.path;
    c.path = fn_.ref(v);
    differs = true;
  }
  return differs ? copy : closure;
}

}  // namespace clad
