// Function level of the frontend: parameters, constructors, which variables change.
#include "frontend.h"

#include "ast_visitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "compat.h"

using namespace clang;

namespace clad {
std::string display_name(const FunctionDecl* decl) {
  if (const auto* method = dyn_cast<CXXMethodDecl>(decl)) {
    if (method->getParent()->isLambda()) return "lambda";
    return method->getParent()->getNameAsString() + "::" + decl->getNameAsString();
  }
  return decl->getNameAsString();
}

static bool is_stream(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && compat::in_std(record) && record->getIdentifier() &&
         (record->getName() == "basic_istream" || record->getName() == "basic_ostream");
}

/// Whether this is an operation of the library on a stream, which returns the stream.
static bool returns_stream(const FunctionDecl* f) {
  if (!compat::in_std(f) || !is_stream(f->getReturnType())) return false;
  ASTContext& context = f->getASTContext();
  if (const auto* method = dyn_cast<CXXMethodDecl>(f))
    return !method->isStatic() && context.hasSameType(compat::record_type(context, method->getParent()),
                                                      f->getReturnType().getNonReferenceType());
  return f->getNumParams() > 0 && context.hasSameType(f->getParamDecl(0)->getType(), f->getReturnType());
}

/// The stream at the start of `stream << a << b`.
static const clang::Expr* first_stream(const clang::Expr* e) {
  const auto* call = dyn_cast<CallExpr>(e->IgnoreParenImpCasts());
  const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !returns_stream(callee)) return e->IgnoreParenImpCasts();
  const auto* member = dyn_cast<CXXMemberCallExpr>(call);
  return first_stream(member ? member->getImplicitObjectArgument() : call->getArg(0));
}

std::optional<unsigned> Frontend::returned_parameter(const FunctionDecl* decl) {
  if (decl->getReturnType()->isLValueReferenceType() && returns_stream(decl)) return 0;
  if (!decl->getReturnType()->isReferenceType() || !decl->hasBody()) return std::nullopt;
  const FunctionDecl* definition = nullptr;
  const clang::Stmt* body = decl->getBody(definition);
  struct Returns : AstVisitor {
    const FunctionDecl* decl = nullptr;
    std::optional<unsigned> which;
    bool ok = true, any = false;
    bool TraverseLambdaExpr(LambdaExpr*) override { return true; }
    bool VisitReturnStmt(ReturnStmt* s) override {
      any = true;
      std::optional<unsigned> found;
      const clang::Expr* e = s->getRetValue() ? first_stream(s->getRetValue()) : nullptr;
      const auto* moved =
          decl->getReturnType()->isRValueReferenceType() ? dyn_cast_or_null<CallExpr>(e) : nullptr;
      if (moved && moved->getNumArgs() == 1 && moved->isCallToStdMove())
        e = moved->getArg(0)->IgnoreParenImpCasts();
      if (const auto* op = dyn_cast_or_null<UnaryOperator>(e);
          op && op->getOpcode() == UO_Deref && isa<CXXThisExpr>(op->getSubExpr()->IgnoreParenImpCasts()))
        found = 0;
      else if (const auto* ref = dyn_cast_or_null<DeclRefExpr>(e))
        for (unsigned i = 0; i < decl->getNumParams(); ++i)
          if (ref->getDecl() == decl->getParamDecl(i) &&
              decl->getParamDecl(i)->getType()->isLValueReferenceType())
            found = i + (isa<CXXMethodDecl>(decl) && !cast<CXXMethodDecl>(decl)->isStatic() ? 1 : 0);
      if (!found || (which && *which != *found)) ok = false;
      which = found;
      return true;
    }
  } returns;
  returns.decl = definition;
  returns.TraverseStmt(const_cast<clang::Stmt*>(body));
  return returns.ok && returns.any ? returns.which : std::nullopt;
}

std::string Frontend::source(SourceRange range) const {
  const SourceManager& manager = context_.getSourceManager();
  llvm::StringRef text =
      Lexer::getSourceText(CharSourceRange::getTokenRange(manager.getExpansionRange(range).getAsRange()),
                           manager, context_.getLangOpts());
  std::string line;
  for (char c : text) {
    bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (space && (line.empty() || line.back() == ' ')) continue;
    line += space ? ' ' : c;
  }
  if (line.size() > 90) line = line.substr(0, 87) + "...";
  return line;
}

ir::Stmt* Frontend::emit(ir::Stmt::Kind kind, ir::Loc at) {
  ir::Stmt* s = fn_.stmt(kind, at ? at : at_, source_);
  out_->push_back(s);
  return s;
}

ir::Expr* Frontend::fail(SourceLocation at, const std::string& message) {
  if (!tainted_) diagnose_.error(at, message);
  tainted_ = true;
  return literal("0", context_.IntTy);
}

ir::Var* Frontend::add_parameter(const std::string& name, QualType type, bool force_reference) {
  if (const QualType pointer = types_.plain(type); pointer != type) {  // an iterator
    type = pointer;
    fn_.always_forward = true;  // the primal would be called with what it is not
  }
  QualType value = type.getNonReferenceType();
  ir::Var* v = fn_.make_var(ir::Var::Param, name, types_.get(type), nullptr);
  bool pointer = value->isPointerType();
  bool class_value = value->isRecordType() && !type->isLValueReferenceType();
  v->reference = type->isLValueReferenceType() || force_reference || class_value;
  bool mutable_reference = (type->isLValueReferenceType() || force_reference) && !value.isConstQualified();
  v->is_const = pointer ? value->getPointeeType().isConstQualified() : !mutable_reference;
  v->external = mutable_reference || pointer || v->type->has_pointer || v->type->reaches_state;
  ir::Parameter p;
  p.var = v;
  if (value->isArrayType())
    p.type_text = "std::type_identity_t<" + types_.spell(value) + ">& " + v->name;
  else if (v->reference)
    p.type_text = types_.spell(mutable_reference ? value : value.withConst()) + "& " + v->name;
  else
    p.type_text = types_.declare(value.getUnqualifiedType(), v->name);
  fn_.params.push_back(p);
  return v;
}

std::shared_ptr<Closure> Frontend::add_closure(const CXXRecordDecl* lambda) {
  auto closure = std::make_shared<Closure>();
  closure->record = lambda;
  bool mutable_copies = lambda->getLambdaCallOperator() && !lambda->getLambdaCallOperator()->isConst();
  const Changes inside = changes_of(lambda);
  auto next_field = lambda->field_begin();
  for (const LambdaCapture& c : lambda->captures()) {
    Closure::Capture capture;
    QualType held = next_field++->getType();
    if (c.capturesThis()) {
      capture.by_reference = c.getCaptureKind() != LCK_StarThis;
      QualType object = held;
      if (capture.by_reference)
        object = held->getPointeeType();
      else if (!mutable_copies)
        object.addConst();
      capture.constant = object.isConstQualified();
      capture.path = fn_.ref(add_parameter("self", object, /*force_reference=*/true));
    } else {
      const auto* var = cast<VarDecl>(c.getCapturedVar());
      capture.decl = var;
      capture.by_reference = c.getCaptureKind() == LCK_ByRef;
      capture.constant = is_constant(c, inside);
      QualType type = var->getType().getNonReferenceType();
      if (const CXXRecordDecl* inner = type->getAsCXXRecordDecl(); inner && inner->isLambda()) {
        capture.closure = add_closure(inner);
      } else if (const Decl* function = is_callable(type) ? fixed_target(var) : nullptr) {
        capture.closure = target(function);
      } else if (is_view(type)) {
        const View view = add_view_parameter(var);
        capture.path = view.data;
        capture.size = view.size;
      } else {
        bool by_reference = capture.by_reference || mutable_copies;
        if (!by_reference || capture.constant) type = type.withConst();
        const QualType plain = types_.plain(type);
        const bool pointer = plain->isPointerType() && is_cursor_type(types_.get(plain));
        if (pointer) type = plain.getUnqualifiedType();
        bool reference = !pointer && (by_reference || type->isRecordType() || type->isArrayType());
        ir::Var* v = add_parameter(var->getNameAsString(), type, reference);
        v->external |= by_reference && reference;  // another name may change it
        capture.path = fn_.ref(v);
      }
    }
    closure->captures.push_back(std::move(capture));
  }
  return closure;
}

std::shared_ptr<Closure> Frontend::target(const Decl* decl) {
  if (const auto* lambda = dyn_cast<CXXRecordDecl>(decl)) return add_closure(lambda);
  auto closure = std::make_shared<Closure>();
  closure->member = dyn_cast<FieldDecl>(decl);
  closure->function = dyn_cast<FunctionDecl>(decl);
  return closure;
}

void Frontend::add_parameters(const FunctionDecl* decl) {
  if (const auto* method = dyn_cast<CXXMethodDecl>(decl)) {
    if (method->getParent()->isLambda()) {
      auto closure = add_closure(method->getParent());
      for (const Closure::Capture& c : closure->captures) {
        if (c.closure)
          closures_[c.decl] = c.closure;
        else if (!c.decl)
          self_ = c.path;
        else if (c.size)
          views_[c.decl] = {c.path, c.size};
        else
          bindings_[c.decl] = c.path;
      }
    } else if (!method->isStatic() && !isa<CXXConstructorDecl>(method)) {
      const QualType own = method->getThisType()->getPointeeType();
      const QualType held =
          heir_ ? context_.getQualifiedType(compat::record_type(context_, heir_), own.getQualifiers()) : own;
      self_ = fn_.ref(add_parameter("self", held, /*force_reference=*/true));
      if (heir_) self_ = as_base(own.getUnqualifiedType());
    }
  }
  int unnamed = 0;
  for (const ParmVarDecl* p : decl->parameters()) {
    if (const unsigned i = p->getFunctionScopeIndex(); i < targets_.size() && targets_[i]) {
      fn_.always_forward = true;  // it is called for what is passed here
      if (isa<ParmVarDecl>(targets_[i])) {
        bindings_[p] = literal("nullptr", p->getType());
        continue;
      }
      if (modified(p))
        fail(p->getLocation(), "cannot differentiate through '" + p->getNameAsString() +
                                   "', which is assigned another function");
      closures_[p] = target(targets_[i]);
      continue;
    }
    if (const std::size_t i = fn_.params.size(); i < asked_.size() && asked_[i] && is_whole(p->getType()))
      numbers_.insert(p);
    QualType type = type_of(p);
    if (TypeTable::is_bit(type)) no_bit(p);
    if (const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
        record && record->isLambda()) {
      closures_[p] = add_closure(record);
      fn_.always_forward = true;  // there is no lambda object to call the primal with
      continue;
    }
    if (is_view(p->getType())) {
      views_[p] = add_view_parameter(p);
      continue;
    }
    std::string name = p->getNameAsString();
    if (name.empty()) name = "unnamed" + std::to_string(++unnamed);
    if (type->isRValueReferenceType()) {
      const bool pointer = is_cursor_type(types_.get(type)) && !modified(p);
      type = type.getNonReferenceType();
      if (!pointer) type = context_.getLValueReferenceType(type);
    }
    bindings_[p] = fn_.ref(add_parameter(name, type, /*force_reference=*/false));
    if (numbers_.count(p)) fn_.params.back().user_type = types_.get(p->getType());
  }
  find_numbers(decl);
}

void Frontend::lower(const FunctionDecl* decl, const std::vector<const Decl*>& targets,
                     const std::vector<bool>& asked, bool forward, const CXXRecordDecl* heir) {
  decl_ = decl;
  heir_ = heir;
  forward_ = forward;
  targets_ = targets;
  asked_ = asked;
  fn_.loc = decl->getLocation().getRawEncoding();
  out_ = &fn_.body;
  returned_ = returned_parameter(decl);
  QualType result = decl->getReturnType();
  fn_.result = types_.get(returned_ ? context_.VoidTy : result);
  const auto* ctor = dyn_cast<CXXConstructorDecl>(decl);
  if (result->isReferenceType() && !returned_ && types_.get(result)->differentiable) {
    fail(decl->getLocation(),
         "cannot differentiate '" + display_name(decl) +
             "': it returns a reference to differentiable data, and is recursive or virtual; return "
             "by value, or give it a pullback");
    return;
  }

  changes_ = changes_of(decl);
  check_handovers(decl, [&](SourceLocation at, const std::string& message) { fail(at, message); });
  fn_.region = fn_.make_region(nullptr, changes_.names.count("s") ? "state" : "s", fn_.name + "_state");
  record_name_ = changes_.names.count("r") ? "record" : "r";
  region_ = fn_.region;

  add_parameters(decl);
  if (!numbers_.empty() && is_whole(result)) fn_.result = types_.get(context_.DoubleTy);
  source_ = "";
  at_ = fn_.loc;
  for (const ParmVarDecl* p : decl->parameters())
    if (modified(p) && !p->getType()->isReferenceType()) copy_parameter(p);
  const ir::Type* carried = ctor ? types_.get(compat::record_type(context_, ctor->getParent())) : fn_.result;
  if (carried->differentiable) {
    fn_.seed = fn_.make_var(ir::Var::Param, "d_result",
                            ctor ? types_.get(compat::record_type(context_, ctor->getParent())) : fn_.result,
                            nullptr);
  }
  if (ctor) {
    fn_.is_constructor = true;
    fn_.always_forward = true;
    fn_.result = types_.get(compat::record_type(context_, ctor->getParent()));
    fn_.constructed = fn_.make_var(ir::Var::Local, "self", fn_.result, region_);
    fn_.constructed->modified = true;
    fn_.constructed->raw = true;
    if (fn_.seed) fn_.constructed->adjoint = fn_.seed->name;
    unstable_.insert(fn_.constructed);
    self_ = fn_.ref(fn_.constructed);
    if (!check_class_is_not_asked(ctor)) return;
    lower_initializers(ctor);
  }
  if (const auto* method = dyn_cast<CXXMethodDecl>(decl); method && method->getParent()->isLambda())
    fn_.always_forward = true;
  stmt(decl->getBody());
  check_parts();
  check_handles();
}

/// An array member, element by element; without an initializer its elements are value-initialized.
void Frontend::initialize_array(ir::Expr* target, const clang::Expr* init) {
  if (const auto* implied = dyn_cast_or_null<CXXDefaultInitExpr>(init)) init = implied->getExpr();
  if (init) init = init->IgnoreImplicit();
  const auto* made = dyn_cast_or_null<CXXConstructExpr>(init);
  if (made && made->getConstructor()->isTrivial()) return;  // holds nothing yet
  const auto* list = dyn_cast_or_null<InitListExpr>(init);
  const bool string = isa_and_nonnull<clang::StringLiteral>(init) || (list && list->isTransparent());
  const std::vector<ir::Expr*> characters = string ? elements(init)->args : std::vector<ir::Expr*>();
  const ir::Type* type = target->type->element;
  for (std::uint64_t i = 0; i < target->type->extent; ++i) {
    ir::Expr* element =
        fn_.make(ir::Expr::Index, type, "", {target, literal(std::to_string(i), context_.IntTy)});
    const clang::Expr* first = made ? made : list && i < list->getNumInits() ? list->getInit(i) : nullptr;
    if (type->kind == ir::Type::Array) {
      initialize_array(element, first);
      continue;
    }
    if (made) {
      const ExprResult one =
          construction(context_.getBaseElementType(made->getType()), {}, made->getExprLoc());
      first = one.isUsable() ? one.get() : nullptr;
    }
    ir::Expr* v = i < characters.size() ? characters[i]
                  : first && !string    ? value(first)
                                        : fn_.make(ir::Expr::Construct, type);
    start_as(element, v, at_);
  }
}

void Frontend::initialize_member(ir::Expr* target, const clang::Expr* init,
                                 const CXXCtorInitializer* source) {
  at_ = source->getSourceLocation().isValid() ? source->getSourceLocation().getRawEncoding() : fn_.loc;
  source_ = source->isWritten() ? this->source(source->getSourceRange()) : "";
  if (target->type->kind == ir::Type::Array) return initialize_array(target, init);
  ir::Expr* v = value(init);
  start_as(target, v, at_);
}

/// The object as one of its base class.
ir::Expr* Frontend::as_base(QualType base) {
  ir::Expr* self = fn_.make(ir::Expr::Cast, types_.get(base), types_.spell(base) + "&", {self_});
  self->to_reference = self->explicit_cast = true;
  return self;
}

/// Runs the constructor of an abstract base class, of which there is no object, on the object itself; false
/// if its body is not seen, or leaves early.
bool Frontend::construct_abstract(const clang::Expr* init, QualType base) {
  const auto* made = dyn_cast<CXXConstructExpr>(init->IgnoreImplicit());
  const FunctionDecl* definition = nullptr;
  if (!made || !made->getConstructor()->hasBody(definition) || returns_early(definition)) return false;
  const auto* ctor = cast<CXXConstructorDecl>(definition);
  if (!check_class_is_not_asked(ctor)) return true;
  Frame frame;
  for (unsigned i = 0; i < ctor->getNumParams() && i < made->getNumArgs(); ++i)
    frame[ctor->getParamDecl(i)] = bound(made->getArg(i), ctor->getParamDecl(i)->getType(), true);
  ir::Expr* self = as_base(base);
  const FunctionDecl* decl = std::exchange(decl_, ctor);
  std::swap(frame, bindings_);
  std::swap(self, self_);
  copy_changed_parameters(ctor);
  lower_initializers(ctor);
  stmt(ctor->getBody());
  std::swap(self, self_);
  std::swap(frame, bindings_);
  decl_ = decl;
  return true;
}

void Frontend::lower_initializers(const CXXConstructorDecl* ctor) {
  for (const CXXCtorInitializer* init : ctor->inits()) {
    if (init->isDelegatingInitializer()) {
      initialize_member(self_, init->getInit(), init);
      continue;
    }
    if (init->isBaseInitializer()) {
      QualType base(init->getBaseClass(), 0);
      if (const CXXRecordDecl* record = base->getAsCXXRecordDecl(); record && record->isAbstract()) {
        if (record->field_empty() && record->getNumBases() == 0) continue;  // nothing but functions
        if (construct_abstract(init->getInit(), base)) continue;
        fail(ctor->getLocation(), "cannot differentiate this constructor: the abstract base class '" +
                                      record->getNameAsString() +
                                      "' holds data; initialize it in a class that is not abstract, or "
                                      "let its constructor not return early");
        return;
      }
      initialize_member(as_base(base), init->getInit(), init);
      continue;
    }
    const FieldDecl* field = first_name(init->getAnyMember());
    if (field->getType()->isReferenceType()) {
      fail(init->getSourceLocation(),
           "cannot differentiate this constructor: member '" + field->getNameAsString() + "' is a reference");
      return;
    }
    ir::Expr* target =
        fn_.make(ir::Expr::Member, types_.get(field->getType()), field->getNameAsString(), {self_});
    initialize_member(target, init->getInit(), init);
  }
}

}  // namespace clad
