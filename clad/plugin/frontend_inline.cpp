// Calls whose body is lowered in their place: of functions that only pass their parameters on, and of those
// that return a reference or a pointer, which in the caller must name an object.
#include <algorithm>

#include "ast_visitor.h"
#include "compat.h"
#include "frontend.h"
#include "instead.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {
namespace {

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

/// Whether a returned expression may change what a parameter stands for before it reads the parameter. What
/// it passes to its outermost call is read before; only a reference is read within.
bool changes_before_reading(const clang::Expr* returned) {
  const auto* call = dyn_cast<CallExpr>(strip(returned));
  const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || isa<CXXOperatorCallExpr>(call)) return has_effects(returned);
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  bool writes = method && !method->isConst() && !method->isStatic(), reads = false;
  for (const ParmVarDecl* p : callee->parameters()) {
    const QualType t = p->getType();
    const bool is_const = t->isReferenceType() && t.getNonReferenceType().isConstQualified();
    reads |= is_const;
    writes |= t->isPointerType() || (t->isReferenceType() && !is_const);
  }
  return (writes && reads) || std::any_of(call->arg_begin(), call->arg_end(),
                                          [](const clang::Expr* arg) { return has_effects(arg); });
}

int returns_in(const clang::Stmt* body) {
  struct Counter : AstVisitor {
    int returns = 0;
    bool TraverseLambdaExpr(LambdaExpr*) override { return true; }
    bool VisitReturnStmt(ReturnStmt*) override { return ++returns, true; }
  } counter;
  counter.TraverseStmt(const_cast<clang::Stmt*>(body));
  return counter.returns;
}

/// The statements of a body whose only return is the last, which stands in the body itself or in the branches
/// that `if constexpr` takes there; nothing of any other body.
std::vector<const clang::Stmt*> up_to_last_return(const CompoundStmt* body, const ASTContext& context) {
  std::vector<const clang::Stmt*> statements;
  const clang::Stmt* last = body;
  for (;;) {
    if (const auto* block = dyn_cast<CompoundStmt>(last); block && !block->body_empty()) {
      statements.insert(statements.end(), block->body_begin(), block->body_end() - 1);
      last = block->body_back();
      continue;
    }
    const auto* branch = dyn_cast<IfStmt>(last);
    if (!branch || !branch->isConstexpr() || branch->getInit() || branch->getConditionVariable()) break;
    const auto taken = branch->getNondiscardedCase(context);
    if (!taken || !*taken) break;
    last = *taken;
  }
  const auto returns = [](const clang::Stmt* s) {
    const auto* branch = dyn_cast<IfStmt>(s);
    return returns_in(s) &&
           !(branch && branch->getCond() && is_view_cache(branch->getCond(), "_M_has_value"));
  };
  const bool earlier = llvm::any_of(statements, returns);
  if (earlier || !isa<ReturnStmt>(last)) return {};
  statements.push_back(last);
  return statements;
}

/// "Tensor::data<float>", with the arguments of a template.
std::string full_name(const CXXMethodDecl* method) {
  std::string name;
  llvm::raw_string_ostream out(name);
  out << method->getParent()->getNameAsString() << "::";
  method->getNameForDiagnostic(out, method->getASTContext().getPrintingPolicy(), /*Qualified=*/false);
  return name;
}

}  // namespace

bool has_effects(const clang::Stmt* s) {
  if (const auto* op = dyn_cast<BinaryOperator>(s); op && op->isAssignmentOp()) return true;
  if (const auto* op = dyn_cast<UnaryOperator>(s); op && op->isIncrementDecrementOp()) return true;
  if (isa<LambdaExpr>(s)) return true;
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = call->getDirectCallee();
    const bool subscript = callee && callee->getOverloadedOperator() == OO_Subscript;
    const bool accessor = callee && (subscript || named(callee, {"at", "front", "back", "data", "size", "get",
                                                                 "begin", "end", "cbegin", "cend"}));
    if (!accessor || !compat::in_std(callee)) return true;
  }
  return std::any_of(s->child_begin(), s->child_end(),
                     [](const clang::Stmt* child) { return child && has_effects(child); });
}

bool returns_early(const FunctionDecl* f) { return returns_in(f->getBody()) != 0; }

const clang::Expr* only_return(const FunctionDecl* f) {
  const FunctionDecl* definition = nullptr;
  const auto* body = dyn_cast_or_null<CompoundStmt>(f->getBody(definition));
  if (!body || body->size() != 1) return nullptr;
  const auto* ret = dyn_cast<ReturnStmt>(body->body_front());
  return ret ? ret->getRetValue() : nullptr;
}

/// Whether what a function returns names an object of its caller: a reference, a pointer or an iterator.
bool Frontend::names_storage(QualType result) {
  const ir::Type* type = types_.get(result);
  return result->isReferenceType() || result->isPointerType() ||
         (type->kind == ir::Type::Pointer && type->differentiable);
}

/// Whether a call of the function may be replaced by its body; `always`: there is no other way to call it.
bool Frontend::can_inline(const FunctionDecl* callee, const clang::Expr* call, bool always) {
  if (compat::annotated(callee, "non_differentiable")) return false;
  if (const auto* target = callee->getAttr<TargetAttr>(); target && !always) {
    const auto* own = decl_->getAttr<TargetAttr>();
    if (!own || own->getFeaturesStr() != target->getFeaturesStr()) return false;
  }
  const QualType result = callee->getReturnType();
  const bool names = names_storage(result);
  // What a body returns a reference to has a tangent; a pullback says nothing of it.
  if (forward_ && lookup_.has(callee, {"_pushforward"})) return false;
  if (!(forward_ && names) && lookup_.named(callee)) return false;
  if (inlining_.count(callee) || inline_depth_ > 16 || !callee->hasBody()) return false;
  if (compat::in_std(callee) && !is_arithmetic_functor(callee)) return false;
  if (always) return true;
  const bool pointer = result->isPointerType() && result->getPointeeType()->isArithmeticType() &&
                       !result->getPointeeType()->isAnyCharacterType() && only_return(callee);
  if (!types_.get(result)->differentiable && !pointer &&
      (!gives_place(call, result) || (types_.get(result)->kind == ir::Type::Other && !only_return(callee))))
    return false;
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (method && method->isVirtual()) return false;
  return std::none_of(callee->param_begin(), callee->param_end(), [](const ParmVarDecl* p) {
    const CXXRecordDecl* r = p->getType().getNonReferenceType()->getAsCXXRecordDecl();
    return r && r->isLambda();
  });
}

/// Whether a call's result is an object that may be changed through it, and not a number that is read here.
bool Frontend::gives_place(const clang::Expr* call, QualType result) const {
  const QualType pointee = result->isLValueReferenceType() ? result->getPointeeType() : QualType();
  return call != reading_ && !pointee.isNull() &&
         (!pointee.isConstQualified() || pointee->isArithmeticType()) &&
         !types_.get(result)->leads_elsewhere() && types_.get(result)->kind != ir::Type::Opaque;
}

ir::Expr* Frontend::inline_call(const clang::Expr* call, const FunctionDecl* callee,
                                const std::vector<const clang::Expr*>& args, const clang::Expr* object,
                                const Closure* closure, ir::Expr* self) {
  const bool always = self || is_view(callee->getReturnType()) || handles_parts(callee, args, object) ||
                      passes_context(callee, args) ||
                      (closure && (captures_parts(*closure) || moves_pointers(*closure))) ||
                      manages_memory(callee) ||
                      (!forward_ && !object && checkpoints_.count(call) == 0 && !is_checkpointed(callee) &&
                       hands_on_pointer(callee));
  // A function that calls itself on other objects of a known structure ends where that does.
  const ir::Expr* of = self ? self : object ? parts_named(object) : nullptr;
  for (std::size_t i = 0; i < args.size() && !of; ++i) of = parts_named(args[i]);
  if (of && of->kind == ir::Expr::AddressOf) of = of->args[0];
  const bool again = always && of && inlining_.count(callee) && !entered_.count({callee, of});
  if (again) inlining_.erase(callee);
  const bool can = can_inline(callee, call, always);
  if (again) inlining_.insert(callee);
  if (!can) return nullptr;
  if (const auto* method = dyn_cast<CXXMethodDecl>(callee); method && types_.is_opaque(method->getParent())) {
    const QualType inside = callee->getReturnType()->getPointeeType();
    if (inside.isNull()) return nullptr;
    if (inside->isArithmeticType()) {
      std::string way_out = instead_of(method->getParent());
      if (way_out.empty())
        way_out =
            "it leads into an opaque value, which is never looked into; use functions that have "
            "derivatives, or give the one that this stands in a pullback in clad::custom_derivatives";
      return fail(call->getExprLoc(), "cannot differentiate call to '" + full_name(method) + "': " + way_out);
    }
  }
  const auto names = again ? std::optional(std::tuple(cursors_, views_, closures_)) : std::nullopt;
  const clang::Expr* returned = only_return(callee);
  const QualType result = callee->getReturnType();
  if (!names_storage(result) && !always &&
      (closure || !returned ||
       (!is_arithmetic_functor(callee) && !is_plain_path(returned) && !is_forwarding(returned, context_))))
    return nullptr;
  if (!always && (!returned || !types_.get(result)->differentiable) && returned_parameter(callee))
    return nullptr;  // its value is that argument
  if (object && !self) {
    self = value(object);
    if (object->getType()->isPointerType()) self = deref(self);
    if (self->kind == ir::Expr::InitList) self = hoist(self, at_);
  }
  if (self && self->kind == ir::Expr::Conditional && is_parts(self) &&
      !names_storage(callee->getReturnType()) && holds_table(self))
    return inline_either(call, callee, args, object, self);
  const FunctionDecl* definition = nullptr;
  const clang::Stmt* body = callee->getBody(definition);
  Frame frame;
  Closures targets;
  if (closure) {
    for (const Closure::Capture& c : closure->captures) {
      if (!c.path && !c.closure) return nullptr;
      if (c.closure)
        targets[c.decl] = c.closure;
      else if (!c.decl)
        self = c.path;
      else if (c.size)
        views_[c.decl] = {c.path, c.size};
      else if (c.path && !(c.by_reference && cursors_.count(c.decl)))
        frame[c.decl] = c.path;
    }
  }
  const bool changes = !returned || changes_before_reading(returned);
  if (!bind_parameters(frame, targets, &self, definition, args, changes)) return nullptr;
  exchange_targets(targets, definition);
  std::swap(frame, bindings_);
  std::swap(self, self_);
  inlining_.insert(callee);
  if (of) entered_.insert({callee, of});
  ++inline_depth_;
  const Diagnose::Use use(diagnose_, call->getExprLoc());
  const unsigned errors = diagnose_.errors();
  copy_changed_parameters(definition);
  ir::Expr* place =
      returned ? inline_return(call, callee, returned) : inline_body(cast<CompoundStmt>(body), result);
  if (diagnose_.errors() != errors)
    diagnose_.note(call->getExprLoc(), "in the derivative of this call of '" + display_name(callee) + "'");
  --inline_depth_;
  if (!again) inlining_.erase(callee);
  entered_.erase({callee, of});
  if (names) std::tie(cursors_, views_, closures_) = *names;
  std::swap(self, self_);
  std::swap(frame, bindings_);
  exchange_targets(targets, definition);
  callees_.insert(callee->getCanonicalDecl());
  return place;
}

/// The call of a function of one of several objects whose vectors of pointers differ: a branch for each.
ir::Expr* Frontend::inline_either(const clang::Expr* call, const FunctionDecl* callee,
                                  const std::vector<const clang::Expr*>& args, const clang::Expr* object,
                                  ir::Expr* self) {
  const ir::Type* type = types_.get(callee->getReturnType());
  ir::Var* result = result_of_one(type, at_);
  ir::Stmt* branch = emit(ir::Stmt::If, at_);
  record_condition(branch, self->args[0]);
  ir::Body* outer = out_;
  for (const std::size_t i : {1, 2}) {
    out_ = i == 1 ? &branch->body : &branch->other;
    ir::Expr* one = self->args[i]->kind == ir::Expr::AddressOf ? self->args[i]->args[0] : self->args[i];
    ir::Expr* value = inline_call(call, callee, args, object, nullptr, one);
    if (!value)
      fail(call->getExprLoc(), "cannot differentiate this call of an object that is chosen at run time");
    if (!result || !value) continue;
    start_as(fn_.ref(result), value, at_);
  }
  out_ = outer;
  return result ? fn_.ref(result) : literal("0", context_.IntTy);
}

/// Lets parameters stand for the functions they are given, or for what they did before: an outer call may be
/// of the same function.
void Frontend::exchange_targets(Closures& targets, const FunctionDecl* callee) {
  for (const ParmVarDecl* p : callee->parameters()) targets[p];
  for (auto& [decl, target] : targets) {
    std::swap(target, closures_[decl]);
    if (!closures_[decl]) closures_.erase(decl);
  }
}

/// What the parameters stand for while the body is lowered; false if an argument is refused.
bool Frontend::bind_parameters(Frame& frame, Closures& targets, ir::Expr** self, const FunctionDecl* callee,
                               const std::vector<const clang::Expr*>& args, bool changes) {
  for (unsigned i = 0; i < callee->getNumParams() && i < args.size(); ++i) {
    const ParmVarDecl* p = callee->getParamDecl(i);
    if (std::shared_ptr<Closure> target = passed_target(callee, i, args[i])) {
      targets[p] = std::move(target);
      continue;
    }
    if (computes(p->getType()) && is_null_function(args[i]) && !changes_of(callee).modified.count(p)) {
      frame[p] = literal("nullptr", context_.NullPtrTy);
      continue;
    }
    if (is_lambda(p->getType())) {
      std::shared_ptr<Closure> lambda = closure_of(args[i]);
      if (!lambda) return false;
      targets[p] = p->getType()->isReferenceType() ? lambda : copy_closure(lambda, at_);
      continue;
    }
    if (p->getType()->isPointerType() && is_lambda(p->getType()->getPointeeType()))
      if (std::shared_ptr<Closure> lambda = callable(args[i])) {
        targets[p] = std::move(lambda);
        continue;
      }
    if (is_view(p->getType())) {
      const std::optional<View> view = fixed_view(args[i]);
      if (!view) return false;
      views_[p] = *view;
      continue;
    }
    std::size_t position = out_->size();
    const clang::Expr* context = context_passed(callee, i, args[i]);
    contexts_.erase(p);
    if (context) {
      const ParmVarDecl* from = context_named(context);
      contexts_[p] = from ? contexts_.at(from) : context->getType()->getPointeeType();
      if (globals_) globals_->contexts.insert(p);
      if (is_lambda(contexts_[p])) {
        targets[p] = callable(context);
        if (!targets[p]) return false;
        continue;
      }
    }
    ir::Expr* next = bound(context ? context : args[i], p->getType(), changes);
    if (const std::set<const ir::Var*> changed = changed_since(position); !changed.empty()) {
      if (self && *self) *self = settle_path(*self, position, changed);
      for (unsigned k = 0; k < i; ++k) {
        const auto it = frame.find(callee->getParamDecl(k));
        if (it == frame.end()) continue;
        ir::Expr*& earlier = it->second;
        const bool names =
            callee->getParamDecl(k)->getType()->isReferenceType() || earlier->type->kind == ir::Type::Pointer;
        earlier = names ? settle_path(earlier, position, changed) : settle(earlier, position, changed);
      }
    }
    frame[p] = next;
  }
  return true;
}

/// What a parameter of type `param` stands for while the body is lowered; `changes`: the body may change what
/// the argument is made of.
ir::Expr* Frontend::bound(const clang::Expr* e, QualType param, bool changes) {
  if (param->isLValueReferenceType() && !param->getPointeeType().isConstQualified() && pointer_part(e))
    return no_part_reference(e);
  ir::Expr* arg = value(e);
  const bool by_value = !param->isReferenceType();
  if (is_parts(arg)) return arg;
  changes |= ir::is_global(arg) && !arg->fixed;  // any call may change it
  const bool text = arg->kind == ir::Expr::Raw && arg->type->kind == ir::Type::Array;
  if (arg->type->kind == ir::Type::Pointer || text || (!by_value && ir::names_object(arg)))
    return changes ? through(arg, [&](ir::Expr* one) { return freeze(one, at_, by_value); }) : arg;
  const bool made = arg->kind == ir::Expr::Construct || arg->kind == ir::Expr::InitList;
  if (made && !by_value && arg->type->is_class()) return hoist(arg, at_);
  if (arg->type->is_class()) return by_value && changes && copies(arg, true) ? hoist(arg, at_) : arg;
  const bool literal = arg->kind == ir::Expr::Literal;
  if (literal && param->isRValueReferenceType()) return hoist(arg, at_);  // which may name it
  return literal || (ir::is_atomic(arg) && !(by_value && changes)) ? arg : hoist(arg, at_);
}

/// Takes over what the body is known to change; its parameters that are passed by value and changed are
/// variables of their own.
void Frontend::copy_changed_parameters(const FunctionDecl* callee) {
  Changes changes = changes_of(callee);
  changes_.modified.merge(changes.modified);
  changes_.counters.merge(changes.counters);
  changes_.assigned.merge(changes.assigned);
  changes_.taken.merge(changes.taken);
  changes_.resizes |= changes.resizes;
  for (const ParmVarDecl* p : callee->parameters())
    if (modified(p) && !p->getType()->isReferenceType()) copy_parameter(p);
}

ir::Expr* Frontend::inline_return(const clang::Expr* call, const FunctionDecl* callee,
                                  const clang::Expr* returned) {
  const clang::Expr* inner = strip(returned);  // a checkpoint of this call is one of the call it passes on to
  const bool again = checkpoints_.count(call) || is_checkpointed(callee);
  if (again) checkpoints_.insert(inner);
  ir::Expr* result = returned_value(returned);
  if (again) checkpoints_.erase(inner);
  return result;
}

/// What the body returns: a reference or pointer as a path in the caller; of several returns, the one that is
/// remembered in a variable. A value of several is one.
ir::Expr* Frontend::inline_body(const CompoundStmt* body, QualType type) {
  const ir::Loc at = at_;
  const std::string source = source_;
  const bool tainted = tainted_;
  ir::Expr* result = literal("0", context_.IntTy);
  Places* outer = places_;
  if (const auto statements = up_to_last_return(body, context_); !statements.empty()) {
    places_ = nullptr;
    for (const clang::Stmt* s : llvm::ArrayRef(statements).drop_back()) stmt(s);
    const auto* last = cast<ReturnStmt>(statements.back());
    at_ = loc(last);
    source_ = this->source(last->getSourceRange());
    if (type->isVoidType() && last->getRetValue())
      discard(last->getRetValue());
    else if (last->getRetValue())
      result = returned_value(last->getRetValue());
  } else if (returns_in(body) == 0) {
    places_ = nullptr;
    for (const clang::Stmt* s : body->body()) stmt(s);
  } else {
    Places places;
    places.before = out_;
    places.region = region_;
    if (!names_storage(type) && !type->isVoidType() && !types_.owns(type)) {
      places.result = fn_.make_var(ir::Var::Local, "result", types_.get(type), region_);
      places.result->modified = true;
      places.result->optional = !places.result->type->default_constructible;
      unstable_.insert(places.result);
      emit(ir::Stmt::Decl, at)->var = places.result;
    }
    places_ = &places;
    ir::Stmt* scope = fn_.stmt(ir::Stmt::Breakable, at, source);
    scope->text = "return";
    block(body, scope->body);
    out_->push_back(scope);
    result = places.result ? fn_.ref(places.result) : chosen(places);
  }
  places_ = outer;
  at_ = at;
  source_ = source;
  tainted_ |= tainted;
  return result;
}

/// A parameter that is passed by value and changed is a variable that starts as the argument.
void Frontend::copy_parameter(const ParmVarDecl* p) {
  auto it = bindings_.find(p);
  if (it == bindings_.end()) return;
  const ir::Type* type = types_.get(type_of(p));
  if (is_parts(it->second)) return;  // a copy already
  if (is_cursor_type(type)) {
    ir::Expr* start = it->second;
    bindings_.erase(it);
    declare_cursor(p, start);
    return;
  }
  ir::Var* local = fn_.make_var(ir::Var::Local, p->getNameAsString(), type, region_);
  local->modified = true;
  local->optional = !type->default_constructible;
  ir::Stmt* s = emit(ir::Stmt::Decl, p->getLocation().getRawEncoding());
  s->var = local;
  s->expr = it->second;
  it->second = fn_.ref(local);
  unstable_.insert(local);
}

/// A variable that outlives the body that is lowered in place of a call.
ir::Var* Frontend::outer_variable(const char* name, const ir::Type* type) {
  ir::Var* v = fn_.make_var(ir::Var::Local, name, type, places_->region);
  v->modified = true;
  ir::Stmt* s = fn_.stmt(ir::Stmt::Decl, at_, source_);
  s->var = v;
  s->expr = fn_.make(ir::Expr::Literal, type, "0");
  places_->before->push_back(s);
  return v;
}

/// The path or pointer `e` as it will be written after the body: with the indices that it has now.
ir::Expr* Frontend::kept(ir::Expr* e) {
  if (e->kind == ir::Expr::VarRef && e->var->kind == ir::Var::Alias) return kept(e->var->path);
  if (e->kind == ir::Expr::VarRef || e->kind == ir::Expr::Literal) {
    if (e->type->kind != ir::Type::Scalar || e->kind == ir::Expr::Literal) return e;
  }
  if (e->type->kind == ir::Type::Scalar && !ir::is_path(e)) return kept_value(e);
  ir::Expr* copy = fn_.make(e->kind, e->type, e->text);
  copy->var = e->var;
  copy->explicit_cast = e->explicit_cast;
  copy->to_reference = e->to_reference;
  copy->accessor = e->accessor;
  copy->fixed = e->fixed;
  for (std::size_t i = 0; i < e->args.size(); ++i) {
    ir::Expr* part = e->args[i];
    const bool number = part->type->kind == ir::Type::Scalar && part->kind != ir::Expr::Literal;
    copy->args.push_back(number ? kept_value(part) : kept(part));
  }
  return copy;
}

/// A number that is needed after the body.
ir::Expr* Frontend::kept_value(ir::Expr* e) {
  ir::Var* v = outer_variable("at", e->type);
  assign(fn_.ref(v), "=", e, at_);
  return fn_.ref(v);
}

/// A return statement of a body that is lowered in place of a call.
void Frontend::return_place(const ReturnStmt* s) {
  if (!s->getRetValue() || s->getRetValue()->getType()->isVoidType()) {
    if (s->getRetValue()) discard(s->getRetValue());
    emit(ir::Stmt::Return, loc(s));
    return;
  }
  if (is_view(s->getRetValue()->getType())) {
    fail(s->getBeginLoc(),
         "cannot differentiate this return of a view, one of several; return it at the end");
    return;
  }
  ir::Expr* place = value(s->getRetValue());
  if (places_->result) {
    if (is_parts(place)) {
      fail(s->getBeginLoc(),
           "cannot differentiate this return of an object that holds pointers, one of several; return it at "
           "the end");
      return;
    }
    start_as(fn_.ref(places_->result), place, at_);
    emit(ir::Stmt::Return, loc(s));
    return;
  }
  bool ends = false;
  ir::each_var(place, [&](const ir::Var* v) { ends |= allocated_.count(v) && v->region != places_->region; });
  if (ends)
    fail(s->getBeginLoc(),
         "cannot differentiate this return of an object that a loop makes; return its members, or an index");
  if (!tainted_) {
    const bool pointer = place->type->kind == ir::Type::Pointer;
    if (!pointer && !ir::is_path(place) && place->kind != ir::Expr::Conditional)
      fail(s->getBeginLoc(),
           "cannot differentiate this return: what the reference names is not known here; return by value");
    if (!places_->which) places_->which = outer_variable("which", types_.get(context_.IntTy));
    ir::Stmt* number = emit(ir::Stmt::Assign, at_);
    number->text = "=";
    number->lhs = fn_.ref(places_->which);
    number->expr = literal(std::to_string(places_->paths.size()), context_.IntTy);
    places_->paths.push_back(kept(place));
  }
  emit(ir::Stmt::Return, loc(s));
}

/// The place that was returned.
ir::Expr* Frontend::chosen(const Places& places) {
  ir::Expr* all = nullptr;
  for (std::size_t k = places.paths.size(); k-- > 0;) {
    ir::Expr* one = places.paths[k];
    if (!all) {
      all = one;
      continue;
    }
    ir::Expr* test = fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy),
                              "==", {fn_.ref(places.which), literal(std::to_string(k), context_.IntTy)});
    all = fn_.make(ir::Expr::Conditional, one->type, "", {test, one, all});
  }
  return all ? all : literal("0", context_.IntTy);
}

}  // namespace clad
