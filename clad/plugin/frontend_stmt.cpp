// Statements: declarations, branches, loops.
#include <algorithm>

#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

void Frontend::block(const clang::Stmt* s, ir::Body& into) {
  ir::Body* saved = out_;
  out_ = &into;
  if (s) stmt(s);
  out_ = saved;
}

/// Whether a statement never ends but with the exception that is being handled, or with the program.
static bool ends_outside(const clang::Stmt* s) {
  if (const auto* block = dyn_cast<CompoundStmt>(s))
    return !block->body_empty() && ends_outside(block->body_back());
  if (const auto* either = dyn_cast<IfStmt>(s))
    return either->getElse() && ends_outside(either->getThen()) && ends_outside(either->getElse());
  const auto* e = dyn_cast<clang::Expr>(s);
  if (!e) return false;
  e = strip(e);
  const auto* call = dyn_cast<CallExpr>(e);
  const auto* thrown = dyn_cast<CXXThrowExpr>(e);
  return (thrown && !thrown->getSubExpr()) ||
         (call && call->getDirectCallee() && call->getDirectCallee()->isNoReturn());
}

void Frontend::stmt(const clang::Stmt* s) {
  tainted_ = false;
  if (const auto* e = dyn_cast<clang::Expr>(s)) {
    at_ = loc(s);
    source_ = source(s->getSourceRange());
    discard(e);
    return;
  }
  switch (s->getStmtClass()) {
    case clang::Stmt::CompoundStmtClass:
      for (const clang::Stmt* child : cast<CompoundStmt>(s)->body()) {
        const bool last = leaves(child);
        if (isa<CompoundStmt>(child)) {
          ir::Stmt* inner = emit(ir::Stmt::Block, loc(child));
          block(child, inner->body);
        } else {
          stmt(child);
        }
        if (last) return;
      }
      return;
    case clang::Stmt::NullStmtClass:
      return;
    case clang::Stmt::AttributedStmtClass:
      return stmt(cast<AttributedStmt>(s)->getSubStmt());
    case clang::Stmt::DeclStmtClass:
      for (const Decl* d : cast<DeclStmt>(s)->decls()) {
        at_ = d->getLocation().getRawEncoding();
        source_ = source(s->getSourceRange());
        const auto* var = dyn_cast<VarDecl>(d);
        if (!var) continue;
        tainted_ = false;
        const auto* bindings = dyn_cast<DecompositionDecl>(var);
        bindings ? declare_bindings(bindings) : declare(var);
        if (!tainted_) continue;
        refused_.insert(var);
        if (bindings) refused_.insert(bindings->bindings().begin(), bindings->bindings().end());
      }
      return;
    case clang::Stmt::IfStmtClass:
      return lower_if(cast<IfStmt>(s));
    case clang::Stmt::ForStmtClass:
      mark_ = marked(s, cast<ForStmt>(s)->getBody());
      return lower_for(cast<ForStmt>(s));
    case clang::Stmt::WhileStmtClass: {
      const auto* w = cast<WhileStmt>(s);
      mark_ = marked(s, w->getBody());
      if (w->getConditionVariable()) return lower_while_declared(w);
      return lower_while(w->getCond(), w->getBody(), /*post_test=*/false, s);
    }
    case clang::Stmt::DoStmtClass:
      mark_ = marked(s, cast<DoStmt>(s)->getBody());
      return lower_while(cast<DoStmt>(s)->getCond(), cast<DoStmt>(s)->getBody(), /*post_test=*/true, s);
    case clang::Stmt::CXXForRangeStmtClass:
      mark_ = marked(s, cast<CXXForRangeStmt>(s)->getBody());
      return lower_range_for(cast<CXXForRangeStmt>(s), [&] { stmt(cast<CXXForRangeStmt>(s)->getBody()); });
    case clang::Stmt::SwitchStmtClass:
      return lower_switch(cast<SwitchStmt>(s));
    case clang::Stmt::ReturnStmtClass:
      return lower_return(cast<ReturnStmt>(s));
    case clang::Stmt::BreakStmtClass:
      emit(ir::Stmt::Break, loc(s));
      return;
    case clang::Stmt::ContinueStmtClass:
      emit(ir::Stmt::Continue, loc(s));
      return;
    case clang::Stmt::LabelStmtClass:
      return stmt(cast<LabelStmt>(s)->getSubStmt());
    case clang::Stmt::GotoStmtClass:
    case clang::Stmt::IndirectGotoStmtClass:
      fail(s->getBeginLoc(), "cannot differentiate 'goto'; use a loop or an early return");
      return;
    case clang::Stmt::CXXTryStmtClass: {  // without its handlers: what they would catch leaves the derivative
      const auto* whole = cast<CXXTryStmt>(s);
      for (unsigned i = 0; i < whole->getNumHandlers(); ++i)
        if (!ends_outside(whole->getHandler(i)->getHandlerBlock())) {
          fail(whole->getHandler(i)->getBeginLoc(),
               "cannot differentiate a function that goes on after this handler: what ran before the "
               "exception is not "
               "known; let the handler throw the exception again, or return a status in place of it");
          return;
        }
      return stmt(whole->getTryBlock());
    }
    default:
      if (const auto* d = dyn_cast<OMPExecutableDirective>(s)) return lower_directive(d);
      fail(s->getBeginLoc(), cannot("statement", s->getStmtClassName()));
  }
}

void Frontend::initialize(ir::Var* var, const clang::Expr* init, ir::Loc at) {
  const std::size_t before = out_->size();
  ir::Expr* v = !init ? nullptr : var->type->kind == ir::Type::Real ? as_number(init) : value(init);
  // `T x = f(...)`: let the call write x itself.
  if (v && v->kind == ir::Expr::VarRef && v->var->kind == ir::Var::Temp && out_->size() > before &&
      out_->back()->var == v->var && v->type == var->type && !v->var->by_pointer &&
      (out_->back()->kind == ir::Stmt::CallStmt ||
       (out_->back()->kind == ir::Stmt::Decl && !v->type->copyable))) {
    ir::Var* temp = v->var;
    out_->back()->var = var;
    std::erase(temp->region->vars, temp);
    return;
  }
  if (v && v->kind == ir::Expr::VarRef) var->origin = v->var->origin;
  ir::Stmt* s = emit(ir::Stmt::Decl, at);
  s->var = var;
  s->expr = v;
}

/// Whether a branch that is known to be taken returns.
bool Frontend::leaves(const clang::Stmt* s) {
  const auto* branch = dyn_cast<IfStmt>(s);
  if (!branch || branch->isConstexpr() || branch->isConsteval() || branch->getInit() ||
      branch->getConditionVariable())
    return false;
  const std::optional<bool> known = known_condition(branch->getCond());
  const clang::Stmt* taken = known ? *known ? branch->getThen() : branch->getElse() : nullptr;
  while (const auto* inner = dyn_cast_or_null<CompoundStmt>(taken))
    taken = inner->body_empty() ? nullptr : inner->body_back();
  return taken && isa<ReturnStmt>(taken);
}

/// Declares a variable with what it starts as.
void Frontend::start(ir::Var* v, const clang::Expr* init) {
  if (init) {
    const clang::Expr* bare = strip(init);
    const auto* list = dyn_cast<InitListExpr>(bare);
    if (v->type->kind == ir::Type::Array && (list || isa<clang::StringLiteral>(bare))) {
      ir::Expr* first = elements(bare);
      ir::Stmt* s = emit(ir::Stmt::Decl, at_);
      s->var = v;
      s->expr = first;
      return;
    }
    // Default construction without arguments needs no expression.
    const auto* ctor = dyn_cast<CXXConstructExpr>(bare);
    if (ctor && ctor->getNumArgs() == 0 && !isa<CXXTemporaryObjectExpr>(ctor) &&
        !ctor->requiresZeroInitialization()) {
      ir::Stmt* s = emit(ir::Stmt::Decl, at_);
      s->var = v;
      if (v->optional && ctor->getConstructor()->isDefaultConstructor())  // a member is const
        s->expr = fn_.make(ir::Expr::Construct, v->type);
      return;
    }
  }
  initialize(v, init, at_);
}

/// A name for a pointer that does not move.
ir::Expr* Frontend::name_pointer(const VarDecl* decl, ir::Expr* target) {
  const ir::Type* type = types_.get(decl->getType());
  if (target->kind == ir::Expr::Literal && target->text != "nullptr" && is_cursor_type(type))
    return fail(decl->getLocation(), "cannot differentiate through '" + decl->getNameAsString() +
                                         "': where it points is not known here; use an index");
  if (may_dangle(target) || is_parts(target)) return target;
  ir::Var* v = fn_.make_var(ir::Var::Alias, decl->getNameAsString(), type, region_);
  v->path = target;
  v->is_const = types_.plain(decl->getType())->getPointeeType().isConstQualified();
  emit(ir::Stmt::AliasDecl, at_)->var = v;
  return fn_.ref(v);
}

/// Whether the expression reads a variable of the function that it is in.
static bool reads_locals(const clang::Stmt* e) {
  if (isa<CXXThisExpr>(e)) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    if (var && var->isLocalVarDeclOrParm() && !var->isStaticLocal() && !var->isConstexpr()) return true;
  }
  return llvm::any_of(e->children(), [](const clang::Stmt* s) { return s && reads_locals(s); });
}

/// A static variable that holds a constant from the start is named, or folded, where it is used. False of a
/// constant that is computed when it is reached: it may as well be made each time, as tables are.
bool Frontend::declare_static(const VarDecl* decl) {
  QualType type = type_of(decl);
  const bool constant = type.isConstQualified() || type->isReferenceType();
  const clang::Expr* init = decl->getInit();
  const bool from_the_start = !init || decl->hasConstantInitialization();
  if (from_the_start && constant && type->isArrayType()) return false;
  if (from_the_start) return true;
  if (constant && !reads_locals(init)) return false;
  fail(decl->getLocation(),
       "cannot differentiate static variable '" + decl->getNameAsString() +
           "': its first value is computed by the first call, which need not be the derivative's; make it "
           "a global variable");
  return true;
}

/// Whether it is a std::tuple or a std::pair of references through which something may be changed.
static bool holds_references(QualType type) {
  const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  if (!spec || !compat::in_std(spec) || !spec->getIdentifier() ||
      (spec->getName() != "tuple" && spec->getName() != "pair"))
    return false;
  const auto refers = [](const TemplateArgument& a) {
    return a.getKind() == TemplateArgument::Type && a.getAsType()->isReferenceType() &&
           !a.getAsType()->getPointeeType().isConstQualified();
  };
  return llvm::any_of(spec->getTemplateArgs().asArray(), [&](const TemplateArgument& a) {
    return a.getKind() == TemplateArgument::Pack ? llvm::any_of(a.getPackAsArray(), refers) : refers(a);
  });
}

void Frontend::declare(const VarDecl* decl) {
  QualType type = type_of(decl);
  if (decl->hasExternalStorage()) return;  // a variable of the file
  if (decl->isStaticLocal() && declare_static(decl)) return;
  check_object(decl->getType(), decl->getLocation());
  if (TypeTable::is_numeric_array(type) && !type->isReferenceType() &&
      type->getAsCXXRecordDecl()->getName() == "_Expr") {
    fail(decl->getLocation(),
         "cannot differentiate through '" + decl->getNameAsString() +
             "', an expression of valarrays that has not been evaluated; declare it std::valarray");
    return;
  }
  if (TypeTable::is_bit(type)) {
    no_bit(decl);
    return;
  }
  if (decl->getInit() && derivative_of(decl->getInit())) return;  // stands for what it executes
  if (declare_callable(decl) || declare_view(decl) || declare_table(decl)) return;
  if (type->isReferenceType() && !type->getPointeeType()->isPointerType() &&
      types_.get(type)->kind == ir::Type::Pointer && types_.get(type)->differentiable) {
    bindings_[decl] = freeze(value(decl->getInit()), at_);  // another name of a smart pointer
    return;
  }
  if (const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
      record && record->isLambda()) {
    auto closure = decl->getInit() ? closure_of(decl->getInit()) : nullptr;
    const bool fresh = decl->getInit() && isa<LambdaExpr>(strip(decl->getInit()));
    closures_[decl] = fresh || type->isReferenceType() ? closure : copy_closure(closure, at_);
    return;
  }
  if (type->isReferenceType() && type->getPointeeType()->isVariableArrayType()) {
    bindings_[decl] = value(decl->getInit());
    return;
  }
  if (type->isReferenceType()) {
    const clang::Expr* init = strip(decl->getInit());
    if (!type->getPointeeType().isConstQualified() && pointer_part(init)) {
      no_part_reference(init);
      return;
    }
    if (const Cursor* cursor = cursor_of(init)) {  // another name of a pointer that moves
      const Cursor same = *cursor;
      cursors_[decl] = same;
      return;
    }
    bool lvalue = decl->getInit()->isLValue() || init->isLValue();
    ir::Expr* target = value(decl->getInit());
    if (is_parts(target)) {
      bindings_[decl] = target;
      return;
    }
    const bool pointer = target->type->kind == ir::Type::Pointer && !target->type->differentiable;
    if (lvalue && ir::is_path(target) && (pointer || may_dangle(target))) {
      bindings_[decl] = freeze(target, at_);
      return;
    }
    if (lvalue && ir::is_path(target) &&
        !(target->kind == ir::Expr::VarRef && target->var->kind == ir::Var::Temp)) {
      ir::Var* v = fn_.make_var(ir::Var::Alias, decl->getNameAsString(), types_.get(type), region_);
      v->reference = true;
      v->is_const = type.getNonReferenceType().isConstQualified() && !modified(decl);
      v->path = freeze(target, at_);
      emit(ir::Stmt::AliasDecl, at_)->var = v;
      bindings_[decl] = fn_.ref(v);
      return;
    }
    if (lvalue && target->kind == ir::Expr::Conditional) {
      bindings_[decl] =
          through(target, [&](ir::Expr* one) { return freeze(one, at_); });  // each use chooses again
      return;
    }
    bindings_[decl] = ir::is_path(target) ? target : hoist(target, at_, decl->getNameAsString().c_str());
    return;
  }
  if (types_.get(type)->kind == ir::Type::Pointer) return declare_pointer(decl);
  if (in_parts(type) && decl->getInit()) {
    bindings_[decl] = value(decl->getInit());
    if (is_parts(bindings_[decl])) homes_[bindings_[decl]] = out_;
    return;
  }

  if (holds_references(type)) {
    fail(decl->getLocation(), "cannot differentiate through '" + decl->getNameAsString() +
                                  "', which holds references to variables; name the variables themselves");
    bindings_[decl] = literal("0", context_.IntTy);
    return;
  }
  if (is_table(type) && !types_.get(type)->differentiable) {
    fail(decl->getLocation(), "cannot differentiate through '" + decl->getNameAsString() +
                                  "', which holds pointers to integers, where it is passed on or changed; "
                                  "keep the integers themselves in it, or indices");
    bindings_[decl] = literal("0", context_.IntTy);
    return;
  }
  if (type->isVariableArrayType()) return declare_of_variable_length(decl);
  const ir::Type* t = types_.get(type);
  const ir::Type* element = t;
  while (element->kind == ir::Type::Array) element = element->element;
  if (element != t && element->differentiable && !element->default_constructible) {
    fail(decl->getLocation(), "cannot differentiate array '" + decl->getNameAsString() +
                                  "' of a class without default constructor; use std::array");
    bindings_[decl] = literal("0", context_.IntTy);
    return;
  }
  ir::Var* v = fn_.make_var(ir::Var::Local, decl->getNameAsString(), t, region_);
  v->modified = modified(decl) || changes_.counters.count(decl) != 0;
  if (modified(decl)) unstable_.insert(v);
  v->optional = !t->default_constructible && t->copyable;
  bindings_[decl] = fn_.ref(v);
  start(v, decl->getInit());
}

void Frontend::declare_bindings(const DecompositionDecl* decl) {
  ir::Expr* whole = nullptr;
  const clang::Expr* init = decl->getInit();
  if (decl->getType()->isReferenceType()) {
    ir::Expr* target = value(init);
    if (!ir::is_path(target) && !is_parts(target) &&
        !(target->kind == ir::Expr::Conditional && init->isLValue()))
      target = hoist(target, at_, "bound");
    whole = through(target, [&](ir::Expr* one) { return freeze(one, at_); });
  } else if (in_parts(decl->getType())) {
    whole = value(init);
  } else {
    ir::Var* v = fn_.make_var(ir::Var::Local, "bound", types_.get(decl->getType()), region_);
    v->modified = true;
    v->optional = !v->type->default_constructible;
    unstable_.insert(v);
    initialize(v, init, at_);
    whole = fn_.ref(v);
  }
  bind_parts(decl, whole);
}

/// Lets the names of a structured binding stand for the parts of an object.
void Frontend::bind_parts(const DecompositionDecl* decl, ir::Expr* whole) {
  unsigned index = 0;
  for (const BindingDecl* b : decl->bindings()) {
    unsigned i = index++;
    if (whole->type->kind == ir::Type::Array || whole->type->kind == ir::Type::StdArray) {
      bindings_[b] = through(whole, [&](ir::Expr* one) {
        return fn_.make(ir::Expr::Index, one->type->element, "",
                        {one, literal(std::to_string(i), context_.IntTy)});
      });
      continue;
    }
    if (whole->type->kind != ir::Type::Record) {
      fail(decl->getLocation(),
           "cannot differentiate structured bindings of type '" + whole->type->name + "'");
      return;
    }
    std::string field = whole->type->fields.size() > i ? whole->type->fields[i].name : "";
    const auto* m = b->getBinding() ? dyn_cast<MemberExpr>(b->getBinding()->IgnoreParenImpCasts()) : nullptr;
    if (!m && !static_cast<const CXXRecordDecl*>(whole->type->decl)->isInStdNamespace()) {
      fail(decl->getLocation(), "cannot differentiate structured bindings through a tuple-like get<>()");
      return;
    }
    if (is_parts(whole)) {
      const FieldDecl* member =
          m ? cast<FieldDecl>(m->getMemberDecl()) : named_fields(class_of(whole->type))[i];
      bindings_[b] = through(whole, [&](ir::Expr* one) { return part_of(one, member); });
      continue;
    }
    if (m) field = m->getMemberDecl()->getNameAsString();
    bindings_[b] = through(whole, [&](ir::Expr* one) {
      return fn_.make(ir::Expr::Member, types_.get(b->getType()), field, {one});
    });
  }
}

/// Numbers, operators and functions of them, without assignments: all it computes is whether.
static bool only_tests(const clang::Stmt* s) {
  if (const auto* op = dyn_cast<BinaryOperator>(s); op && op->isAssignmentOp()) return false;
  if (const auto* op = dyn_cast<UnaryOperator>(s); op && op->isIncrementDecrementOp()) return false;
  if (isa<LambdaExpr>(s) || isa<CXXOperatorCallExpr>(s) || isa<CXXMemberCallExpr>(s)) return false;
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (!callee || !(compat::in_std(callee) || callee->isExternC())) return false;
    for (const clang::Expr* a : call->arguments())
      if (!a->getType().getNonReferenceType()->isArithmeticType()) return false;
  }
  return std::all_of(s->child_begin(), s->child_end(),
                     [](const clang::Stmt* child) { return !child || only_tests(child); });
}

ir::Expr* Frontend::condition(const clang::Expr* e) {
  const bool outer = std::exchange(testing_, only_tests(e));
  ir::Expr* out = value(e);
  testing_ = outer;
  return out;
}

void Frontend::record_condition(ir::Stmt* s, ir::Expr* cond) {
  s->expr = cond;
  s->cond_var = fn_.make_var(ir::Var::Temp, "taken", types_.get(context_.BoolTy), region_);
}

void Frontend::lower_if(const IfStmt* s) {
  at_ = loc(s);
  if (s->isConsteval()) {  // what runs is not the compiler's
    ir::Stmt* scope = emit(ir::Stmt::Block, at_);
    block(s->isNegatedConsteval() ? s->getThen() : s->getElse(), scope->body);
    return;
  }
  ir::Body* outer = out_;
  if (s->getInit() || s->getConditionVariable()) {
    ir::Stmt* scope = emit(ir::Stmt::Block, at_);
    out_ = &scope->body;
    if (s->getInit()) stmt(s->getInit());
    if (const VarDecl* v = s->getConditionVariable()) {
      source_ = source(v->getSourceRange());
      declare(v);
    }
  }
  at_ = loc(s);
  source_ = source(s->getCond()->getSourceRange());
  if (s->isConstexpr()) {
    if (auto taken = s->getNondiscardedCase(context_); taken && *taken) {
      ir::Stmt* scope = emit(ir::Stmt::Block, at_);
      block(*taken, scope->body);
    }
    out_ = outer;
    return;
  }
  if (const std::optional<bool> known = known_condition(s->getCond())) {
    ir::Stmt* scope = emit(ir::Stmt::Block, at_);
    block(*known ? s->getThen() : s->getElse(), scope->body);
    out_ = outer;
    return;
  }
  ir::Expr* cond = condition(s->getCond());
  ir::Stmt* branch = emit(ir::Stmt::If, loc(s));
  branch->source = "if (" + source(s->getCond()->getSourceRange()) + ")";
  record_condition(branch, cond);
  block(s->getThen(), branch->body);
  block(s->getElse(), branch->other);
  out_ = outer;
}

void Frontend::lower_return(const ReturnStmt* s) {
  at_ = loc(s);
  source_ = source(s->getSourceRange());
  if (places_) return return_place(s);
  ir::Expr* v = nullptr;
  if (s->getRetValue() && !returned_ && !decl_->getReturnType()->isVoidType()) {
    v = returned_number(s->getRetValue());
  } else if (s->getRetValue() && (!returned_ || s->getRetValue()->HasSideEffects(context_))) {
    discard(s->getRetValue());
  }
  emit(ir::Stmt::Return, loc(s))->expr = v;
}

}  // namespace clad
