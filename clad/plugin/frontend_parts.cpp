// Objects that hold pointers or references to what has derivatives: views, solvers on somebody's state,
// matrices that own their elements. Such an object is no variable of the generated code, it is taken apart
// into its members: a pointer is what it was given, any other member a variable. Its functions, and those it
// is passed to, are lowered in the place of their calls.
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "compat.h"
#include "frontend.h"
#include "walk.h"

using namespace clang;

namespace clad {
namespace {

/// What stands for a part of an object under the casts to a base class.
const ir::Expr* without_casts(const ir::Expr* e) {
  while (e->kind == ir::Expr::Cast && e->to_reference) e = e->args[0];
  return e;
}

const CXXRecordDecl* class_of(const ir::Type* type) {
  const auto* record = static_cast<const CXXRecordDecl*>(type->decl);
  return record && record->hasDefinition() ? record->getDefinition() : nullptr;
}

/// The bases and named members of a class, in the order of an aggregate's elements.
std::vector<const FieldDecl*> named_fields(const CXXRecordDecl* record) {
  std::vector<const FieldDecl*> out;
  for (const FieldDecl* f : record->fields())
    if (f->getDeclName()) out.push_back(f);
  return out;
}

/// Pointer members that functions of the class other than constructors and destructors assign or step.
struct MovedMembers : RecursiveASTVisitor<MovedMembers> {
  std::set<const FieldDecl*> found;
  bool shouldVisitTemplateInstantiations() const { return true; }
  void mark(const clang::Expr* e) {
    const auto* m = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
    if (const auto* field = m ? dyn_cast<FieldDecl>(m->getMemberDecl()) : nullptr) found.insert(field);
  }
  bool VisitBinaryOperator(BinaryOperator* e) {
    if (e->isAssignmentOp()) mark(e->getLHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* e) {
    if (e->isIncrementDecrementOp()) mark(e->getSubExpr());
    return true;
  }
  bool VisitCallExpr(CallExpr* e) {
    const FunctionDecl* f = e->getDirectCallee();
    if (f && compat::in_std(f) && named(f, {"swap", "advance"}))
      for (const clang::Expr* arg : e->arguments()) mark(arg);
    const auto* op = dyn_cast<CXXOperatorCallExpr>(e);
    if (op &&
        (op->isAssignmentOp() || op->getOperator() == OO_PlusPlus || op->getOperator() == OO_MinusMinus))
      mark(op->getArg(0));
    return true;
  }
  void visit(const CXXRecordDecl* record) {
    for (const CXXMethodDecl* method : record->methods())
      if (const FunctionDecl* definition = nullptr; !isa<CXXConstructorDecl, CXXDestructorDecl>(method) &&
                                                    method->isUserProvided() && method->hasBody(definition))
        TraverseStmt(definition->getBody());
  }
};

/// Whether a destructor's body does nothing but free what members point to.
bool only_frees(const clang::Stmt* s) {
  if (const auto* body = dyn_cast<CompoundStmt>(s)) return llvm::all_of(body->body(), only_frees);
  if (const auto* branch = dyn_cast<IfStmt>(s))
    return only_frees(branch->getThen()) && (!branch->getElse() || only_frees(branch->getElse()));
  if (const auto* e = dyn_cast<clang::Expr>(s)) {
    e = e->IgnoreParenCasts();
    if (const auto* full = dyn_cast<FullExpr>(e)) e = full->getSubExpr();
    if (isa<CXXDeleteExpr>(e)) return true;
    if (const auto* call = dyn_cast<CallExpr>(e))
      return call->getDirectCallee() && named(call->getDirectCallee(), {"free"});
    const auto* assignment = dyn_cast<BinaryOperator>(e);
    return assignment && assignment->getOpcode() == BO_Assign &&
           assignment->getLHS()->getType()->isPointerType();
  }
  return isa<NullStmt>(s);
}

}  // namespace

/// Whether the type stands for functions of numbers that have derivatives.
bool Frontend::computes(QualType type) const {
  if (!is_callable(type)) return false;
  type = type.getNonReferenceType();
  if (const auto* member = type->getAs<MemberPointerType>()) type = member->getPointeeType();
  if (type->isFunctionPointerType()) type = type->getPointeeType();
  if (const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl()))
    type = spec->getTemplateArgs()[0].getAsType();
  const auto* f = type->getAs<FunctionProtoType>();
  return f && (types_.get(f->getReturnType())->differentiable ||
               llvm::any_of(f->param_types(), [&](QualType p) { return types_.get(p)->differentiable; }));
}

/// Whether a member of the type refers or points to numbers: to what has derivatives, or to integers, which
/// the reverse sweep must find as they were. Characters are text, of which an object stays one.
bool Frontend::leads_to_numbers(QualType type) const {
  const ir::Type* t = types_.get(type);
  const auto whole = [&](QualType of) { return of->isIntegerType() && !of->isAnyCharacterType(); };
  if (type->isReferenceType()) return t->differentiable || whole(type->getPointeeType());
  if (t->kind == ir::Type::Pointer && type->isPointerType() && whole(type->getPointeeType())) return true;
  return (t->kind == ir::Type::Pointer && t->differentiable) || t->has_pointer || is_view(type) ||
         is_table(type);
}

bool Frontend::in_parts(QualType type) const {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || record->isLambda() || compat::in_std(record) ||
      compat::in_clad(record))
    return false;
  const auto [known, fresh] = in_parts_.try_emplace(record->getCanonicalDecl(), false);
  if (!fresh) return known->second;
  const ir::Type* t = types_.get(compat::record_type(context_, record));
  if (t->kind != ir::Type::Record) return false;
  bool out = false;
  for (const CXXBaseSpecifier& base : record->getDefinition()->bases()) out |= in_parts(base.getType());
  for (const FieldDecl* f : record->getDefinition()->fields()) {
    if (compat::annotated(f, "clad::constant") || compat::annotated(f, "non_differentiable")) continue;
    out |= is_lambda(f->getType()) || computes(f->getType()) || leads_to_numbers(f->getType()) ||
           in_parts(f->getType());
  }
  return in_parts_[record->getCanonicalDecl()] = out;
}

/// Whether it stands for such an object, or for one of several.
bool Frontend::is_parts(const ir::Expr* e) {
  if (!e) return false;
  e = without_casts(e);
  if (e->kind == ir::Expr::AddressOf) return is_parts(e->args[0]);
  if (e->kind == ir::Expr::Conditional) return is_parts(e->args[1]) || is_parts(e->args[2]);
  return e->kind == ir::Expr::Parts;
}

/// The part of class `record` of an object, of which that is the class or a base; it may be the object.
ir::Expr* Frontend::as_class(ir::Expr* object, const CXXRecordDecl* record) {
  ir::Expr* e = const_cast<ir::Expr*>(without_casts(object));
  if (e->kind != ir::Expr::Parts) return object;
  for (;;) {
    const CXXRecordDecl* at = class_of(e->type);
    if (!at || at->getCanonicalDecl() == record->getCanonicalDecl()) return e;
    const auto base = llvm::find_if(at->bases(), [&](const CXXBaseSpecifier& b) {
      const CXXRecordDecl* of = b.getType()->getAsCXXRecordDecl();
      return of && (of->getCanonicalDecl() == record->getCanonicalDecl() || of->isDerivedFrom(record));
    });
    if (base == at->bases_end()) return e;
    e = e->args[static_cast<std::size_t>(base - at->bases_begin())];
    if (e->kind != ir::Expr::Parts) return e;
  }
}

std::size_t Frontend::place_of(const FieldDecl* field) {
  const auto* record = cast<CXXRecordDecl>(field->getDeclContext());
  const std::vector<const FieldDecl*> fields = named_fields(record);
  return record->getNumBases() + static_cast<std::size_t>(llvm::find_if(fields,
                                                                        [&](const FieldDecl* f) {
                                                                          return f->getCanonicalDecl() ==
                                                                                 field->getCanonicalDecl();
                                                                        }) -
                                                          fields.begin());
}

/// A member of one object.
ir::Expr* Frontend::part_of(ir::Expr* object, const FieldDecl* field) {
  ir::Expr* e = as_class(object, cast<CXXRecordDecl>(field->getDeclContext()));
  if (e->kind == ir::Expr::Parts) return e->args[place_of(field)];
  return held(fn_.make(ir::Expr::Member, types_.get(field->getType()), field->getNameAsString(), {e}),
              field->getType());
}

/// What an expression that needs no evaluation stands for, if that is such an object or a pointer to one;
/// else null.
ir::Expr* Frontend::parts_named(const clang::Expr* e) {
  e = strip(e->IgnoreParenCasts());
  ir::Expr* found = nullptr;
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto it = bindings_.find(ref->getDecl());
    found = it == bindings_.end() ? nullptr : it->second;
  } else if (isa<CXXThisExpr>(e)) {
    found = self_;
  } else if (const auto* m = dyn_cast<MemberExpr>(e)) {
    const auto* field = dyn_cast<FieldDecl>(m->getMemberDecl());
    ir::Expr* object = field ? parts_named(m->getBase()) : nullptr;
    if (object && object->kind == ir::Expr::AddressOf) object = object->args[0];
    if (object) found = through(object, [&](ir::Expr* one) { return part_of(one, field); });
  } else if (const auto* u = dyn_cast<UnaryOperator>(e);
             u && (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf)) {
    found = parts_named(u->getSubExpr());
  } else if (const auto* call = dyn_cast<CallExpr>(e)) {
    const FunctionDecl* f = call->getDirectCallee();
    const auto* member = dyn_cast<CXXMemberCallExpr>(call);
    const auto* op = dyn_cast<CXXOperatorCallExpr>(call);
    if (!f || !compat::in_std(f)) return nullptr;
    if (member && named(f, {"get"}))
      found = parts_named(member->getImplicitObjectArgument());
    else if (call->getNumArgs() == 1 && (op ? op->getOperator() == OO_Star || op->getOperator() == OO_Arrow
                                            : named(f, {"move", "forward", "as_const", "addressof"})))
      found = parts_named(call->getArg(0));
  }
  return is_parts(found) ? found : nullptr;
}

/// Whether an expression will be such an object, or a pointer to one.
bool Frontend::names_parts(const clang::Expr* e) {
  if (parts_named(e)) return true;
  e = strip(e->IgnoreParenCasts());
  QualType type = e->getType();
  if (type->isPointerType()) type = type->getPointeeType();
  if (const auto* chosen = dyn_cast<AbstractConditionalOperator>(e))
    return names_parts(chosen->getTrueExpr()) || names_parts(chosen->getFalseExpr());
  if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) return names_parts(element->getBase());
  if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e);
      op && op->getOperator() == OO_Subscript && table_of(op->getArg(0)))
    return in_parts(type);
  if (!in_parts(type) && !is_table(type)) return false;
  if (const auto* call = dyn_cast<CallExpr>(e); call && (call->isLValue() || e->getType()->isPointerType())) {
    const auto* member = dyn_cast<CXXMemberCallExpr>(call);
    return (member && names_parts(member->getImplicitObjectArgument())) ||
           llvm::any_of(call->arguments(), [&](const clang::Expr* a) { return names_parts(a); });
  }
  return e->isPRValue() && !e->getType()->isPointerType();
}

/// Whether a call is given such an object, or makes one.
bool Frontend::handles_parts(const FunctionDecl* callee, const std::vector<const clang::Expr*>& args,
                             const clang::Expr* object) {
  const QualType result = callee->getReturnType();
  if (!result->isReferenceType() && (in_parts(result) || is_table(result) || types_.owns(result)))
    return true;
  const auto is_object = [&](const clang::Expr* e) {
    QualType type = e->getType();
    if (type->isPointerType()) type = type->getPointeeType();
    return (type->isRecordType() || type->isPointerType()) && names_parts(e);
  };
  return (object && is_object(object)) || llvm::any_of(args, is_object);
}

ir::Expr* Frontend::new_parts(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl()->getDefinition();
  const FunctionDecl* definition = nullptr;
  if (const CXXDestructorDecl* end = record->getDestructor();
      end && end->isUserProvided() && (!end->hasBody(definition) || !only_frees(definition->getBody())))
    fail(SourceLocation::getFromRawEncoding(at_),
         "cannot differentiate through an object of '" + record->getNameAsString() +
             "', which holds pointers: its destructor does more than free memory; call a function that does "
             "so instead");
  ir::Expr* parts = fn_.make(ir::Expr::Parts, types_.get(compat::record_type(context_, record)));
  parts->args.resize(record->getNumBases() + named_fields(record).size(), literal("0", context_.IntTy));
  homes_[parts] = out_;
  return parts;
}

/// A member that is a function.
ir::Expr* Frontend::function_part(const ir::Type* type, std::shared_ptr<Closure> function) {
  ir::Expr* part = fn_.make(ir::Expr::Parts, type);
  part_functions_[part] = std::move(function);
  return part;
}

/// A variable for a member that holds no pointer.
ir::Expr* Frontend::part_variable(const FieldDecl* field) {
  ir::Var* v = fn_.make_var(ir::Var::Local, field->getNameAsString(), types_.get(field->getType()), region_);
  v->optional = !v->type->default_constructible && v->type->copyable;
  unstable_.insert(v);
  return fn_.ref(v);
}

/// Gives a member of an object under construction its first value.
void Frontend::start_part(ir::Expr*& part, const FieldDecl* field, const clang::Expr* init) {
  const QualType type = field->getType();
  const ir::Type* t = types_.get(type);
  if (is_lambda(type) || computes(type)) {
    const auto* made = init ? dyn_cast<CXXConstructExpr>(strip(init)) : nullptr;
    if (!type->isReferenceType() && !is_lambda(type) &&
        (!init || (made && made->getNumArgs() == 0) || isa<ImplicitValueInitExpr>(init) ||
         is_null_here(init))) {
      part = literal("nullptr", context_.NullPtrTy);  // until it is given one
      return;
    }
    std::shared_ptr<Closure> function = is_lambda(type) && init ? closure_of(init)
                                        : init                  ? callable(init)
                                                                : nullptr;
    if (function)
      part = function_part(t, type->isReferenceType() ? function : copy_closure(function, at_));
    else
      fail(init ? init->getExprLoc() : field->getLocation(),
           "cannot differentiate an object whose member '" + field->getNameAsString() +
               "' is a function that is not known here; give it a lambda or a function");
    return;
  }
  if (type->isReferenceType()) {
    ir::Expr* target = value(init);
    part = is_parts(target)           ? target
           : ir::names_object(target) ? through(target, [&](ir::Expr* one) { return freeze(one, at_); })
                                      : hoist(target, at_, field->getNameAsString().c_str());
    return;
  }
  if (is_cursor_type(t)) {
    ir::Expr* pointer = init ? value(init) : literal("nullptr", types_.plain(type));
    if (pointer->type->kind == ir::Type::Array) pointer = fn_.make(ir::Expr::Cast, t, "", {pointer});
    if (pointer->kind == ir::Expr::Construct) pointer = literal("nullptr", types_.plain(type));
    part = through(pointer, [&](ir::Expr* one) { return freeze(one, at_); });
    return;
  }
  if (is_view(type)) {
    part = fn_.make(ir::Expr::Parts, t);
    const clang::Expr* from = init ? strip(init) : nullptr;
    const std::optional<View> view =
        from && !isa<ImplicitValueInitExpr>(from)
            ? fixed_view(from)
            : View{literal("nullptr", view_pointer(type)), literal("0", context_.getSizeType())};
    if (view) part->args = {view->data, view->size};
    return;
  }
  if (is_table(type)) {
    const bool none = !init || isa<ImplicitValueInitExpr>(init);
    part = none ? nullptr : table_from(type, init);
    if (none && t->kind == ir::Type::Vector) part = new_table(t);
    if (!part)
      part = fail(init ? init->getExprLoc() : field->getLocation(),
                  "cannot differentiate through member '" + field->getNameAsString() +
                      "', an array of pointers whose elements are not all given here; list them in braces");
    return;
  }
  if (in_parts(type)) {
    part = init ? value(init) : part;
    return;
  }
  part = part_variable(field);
  start(part->var, init);
}

/// What a member starts as that nothing is said of, where objects start as zeros.
const clang::Expr* Frontend::zero(const FieldDecl* field) {
  if (field->getType()->isReferenceType()) return nullptr;
  return new (context_) ImplicitValueInitExpr(field->getType());
}

/// Members without an initializer hold nothing yet, or zeros.
void Frontend::start_parts(ir::Expr* parts, const CXXRecordDecl* record,
                           const std::set<const FieldDecl*>& later, bool zeros) {
  std::size_t i = record->getNumBases();
  for (const FieldDecl* f : named_fields(record)) {
    ir::Expr*& part = parts->args[i++];
    if (!later.count(f) && !f->getType()->isReferenceType() &&
        (is_table(f->getType()) || !in_parts(f->getType())))
      start_part(part, f, zeros ? zero(f) : nullptr);
  }
}

/// A pointer that functions of the class move is one of those that the object got, and an index.
void Frontend::finish_parts(ir::Expr* parts) {
  const CXXRecordDecl* record = class_of(parts->type);
  MovedMembers moved;
  moved.visit(record);
  const std::vector<const FieldDecl*> fields = named_fields(record);
  const std::size_t first = record->getNumBases();
  const std::vector<ir::Expr*> given = parts->args;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const ir::Type* type = types_.get(fields[i]->getType());
    if (!moved.found.count(fields[i]) || !is_cursor_type(type)) continue;
    Cursor cursor;
    cursor.type = type;
    cursor.reverse = TypeTable::is_reverse(fields[i]->getType());
    bool known = true;
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (types_.get(fields[k]->getType())->element == type->element &&
          (k == i || moved.found.count(fields[k])))
        known &= add_bases(cursor, given[first + k], /*fixed=*/false);
    if (known && start_cursor(cursor, fields[i]->getNameAsString(), given[first + i])) {
      parts->args[first + i] = cursor_value(cursor, fn_.ref(cursor.index));
      part_cursors_[{parts, first + i}] = cursor;
    }
  }
}

/// A base is taken apart, whatever it holds.
ir::Expr* Frontend::start_base(const CXXRecordDecl* base, const clang::Expr* init) {
  if (const auto* list = dyn_cast<InitListExpr>(strip(init)))
    return aggregate_parts(compat::record_type(context_, base), {list->inits().begin(), list->inits().end()});
  if (const auto* made = dyn_cast<CXXConstructExpr>(init->IgnoreImplicit())) return construct_parts(made);
  ir::Expr* given = value(init);
  return given->kind == ir::Expr::Parts ? given : copy_parts(given, base);
}

/// Runs a constructor on the parts.
bool Frontend::run_constructor(ir::Expr* parts, const CXXConstructExpr* e) {
  const CXXConstructorDecl* ctor = e->getConstructor();
  const FunctionDecl* definition = nullptr;
  const bool seen = ctor->hasBody(definition);
  const CXXRecordDecl* record = class_of(parts->type);
  if (!seen && !ctor->isTrivial()) {
    fail(e->getExprLoc(), "cannot differentiate this constructor of '" + record->getNameAsString() +
                              "', which holds pointers: its definition is not visible here");
    return false;
  }
  if (!seen) {
    start_parts(parts, record, {}, e->requiresZeroInitialization());
    return true;
  }
  if (returns_early(definition)) {
    fail(e->getExprLoc(), "cannot differentiate this constructor of '" + record->getNameAsString() +
                              "', which holds pointers: it returns early");
    return false;
  }
  ctor = cast<CXXConstructorDecl>(definition);
  const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  Frame frame;
  Closures targets;
  if (!bind_parameters(frame, targets, nullptr, ctor, args, /*changes=*/true)) return false;
  exchange_targets(targets, ctor);
  const FunctionDecl* decl = std::exchange(decl_, ctor);
  std::swap(frame, bindings_);
  ir::Expr* self = std::exchange(self_, parts);
  copy_changed_parameters(ctor);
  std::set<const FieldDecl*> initialized;
  bool delegates = false;
  for (const CXXCtorInitializer* init : ctor->inits()) {
    delegates |= init->isDelegatingInitializer();
    if (init->isAnyMemberInitializer()) initialized.insert(init->getAnyMember());
  }
  if (!delegates) start_parts(parts, record, initialized, e->requiresZeroInitialization());
  for (const CXXCtorInitializer* init : ctor->inits()) {
    if (init->isDelegatingInitializer() || init->isBaseInitializer()) {
      const auto* made = dyn_cast<CXXConstructExpr>(init->getInit()->IgnoreImplicit());
      if (init->isDelegatingInitializer()) {
        if (made) run_constructor(parts, made);
        continue;
      }
      const CXXRecordDecl* base = QualType(init->getBaseClass(), 0)->getAsCXXRecordDecl();
      const auto place = llvm::find_if(record->bases(), [&](const CXXBaseSpecifier& b) {
        return b.getType()->getAsCXXRecordDecl()->getCanonicalDecl() == base->getCanonicalDecl();
      });
      ir::Expr*& part = parts->args[static_cast<std::size_t>(place - record->bases_begin())];
      part = start_base(base, init->getInit());
      continue;
    }
    const FieldDecl* field = init->getAnyMember();
    if (!field->getDeclName()) continue;
    const auto* implied = dyn_cast<CXXDefaultInitExpr>(init->getInit());
    start_part(parts->args[place_of(field)], field, implied ? implied->getExpr() : init->getInit());
  }
  ++inline_depth_;
  inline_body(cast<CompoundStmt>(ctor->getBody()), context_.VoidTy);
  --inline_depth_;
  self_ = self;
  std::swap(frame, bindings_);
  exchange_targets(targets, ctor);
  decl_ = decl;
  return true;
}

ir::Expr* Frontend::construct_parts(const CXXConstructExpr* e) {
  const CXXConstructorDecl* ctor = e->getConstructor();
  const CXXRecordDecl* record = ctor->getParent();
  if (ctor->isCopyOrMoveConstructor() && !ctor->isUserProvided() && e->getNumArgs() > 0) {
    const clang::Expr* from = e->getArg(0);
    while (const auto* temporary = dyn_cast<MaterializeTemporaryExpr>(from->IgnoreParenImpCasts()))
      from = temporary->getSubExpr();
    ir::Expr* source = value(from);
    return from->isPRValue() && is_parts(source) ? source : copy_parts(source, record);
  }
  ir::Expr* parts = new_parts(compat::record_type(context_, record));
  if (!run_constructor(parts, e)) return literal("0", context_.IntTy);
  finish_parts(parts);
  return parts;
}

/// An aggregate of these elements.
ir::Expr* Frontend::aggregate_parts(QualType type, llvm::ArrayRef<const clang::Expr*> inits) {
  ir::Expr* parts = new_parts(type);
  const CXXRecordDecl* record = class_of(parts->type);
  ir::Expr* self = std::exchange(self_, parts);
  std::size_t i = 0;
  for (const CXXBaseSpecifier& base : record->bases()) {
    if (i >= inits.size()) {
      parts->args[i++] = aggregate_parts(base.getType(), {});
      continue;
    }
    const clang::Expr* init = inits[i];
    self_ = self;
    parts->args[i++] = start_base(base.getType()->getAsCXXRecordDecl(), init);
  }
  for (const FieldDecl* f : named_fields(record)) {
    const clang::Expr* init = i < inits.size() ? inits[i] : zero(f);
    const auto* implied = dyn_cast_or_null<CXXDefaultInitExpr>(init);
    self_ = implied ? parts : self;
    start_part(parts->args[i++], f, implied ? implied->getExpr() : init);
  }
  self_ = self;
  finish_parts(parts);
  return parts;
}

/// A copy, of the object as one of class `record`, member by member.
ir::Expr* Frontend::copy_parts(ir::Expr* source, const CXXRecordDecl* record) {
  record = record->getDefinition();
  if (!is_parts(source) && !ir::names_object(source)) source = hoist(source, at_);
  ir::Expr* copy = new_parts(compat::record_type(context_, record));
  std::size_t i = 0;
  for (const CXXBaseSpecifier& base : record->bases()) {
    const CXXRecordDecl* of = base.getType()->getAsCXXRecordDecl();
    copy->args[i++] = copy_parts(source, of);
  }
  for (const FieldDecl* f : named_fields(record)) {
    ir::Expr* part = through(source, [&](ir::Expr* one) { return part_of(one, f); });
    ir::Expr*& own = copy->args[i++];
    const ir::Type* t = types_.get(f->getType());
    if (const auto it = part_functions_.find(part); it != part_functions_.end()) {
      own = function_part(t, copy_closure(it->second, at_));
    } else if (f->getType()->isReferenceType() || is_view(f->getType()) || is_cursor_type(t)) {
      own = through(part, [&](ir::Expr* one) { return freeze(one, at_); });
    } else if (is_table(f->getType())) {
      own = copy_table(part, f->getType());
    } else if (in_parts(f->getType())) {
      own = copy_parts(part, f->getType()->getAsCXXRecordDecl());
    } else {
      own = part_variable(f);
      ir::Stmt* s = emit(ir::Stmt::Decl, at_);
      s->var = own->var;
      s->expr = part;
    }
  }
  finish_parts(copy);
  return copy;
}

/// Assigns all members, as a class does that says nothing else.
ir::Expr* Frontend::assign_parts(const clang::Expr* to, ir::Expr* target, ir::Expr* source) {
  const CXXRecordDecl* record = to->getType()->getAsCXXRecordDecl()->getDefinition();
  ir::Expr* object = as_class(target, record);
  if (object->kind != ir::Expr::Parts)
    return fail(to->getExprLoc(),
                "cannot differentiate this assignment of an object that holds pointers and "
                "is chosen at run time; use if and else");
  if (record->getNumBases() > 0)
    return fail(to->getExprLoc(),
                "cannot differentiate this assignment of an object that holds pointers; "
                "declare another one");
  for (const FieldDecl* f : named_fields(record)) {
    ir::Expr* part = through(source, [&](ir::Expr* one) { return part_of(one, f); });
    const std::size_t i = place_of(f);
    const ir::Type* t = types_.get(f->getType());
    if (is_cursor_type(t))
      repoint(object, i, part, to->getExprLoc());
    else if (is_parts(object->args[i]))
      return fail(to->getExprLoc(),
                  "cannot differentiate this assignment of an object that holds pointers; "
                  "declare another one");
    else
      assign(object->args[i], "=", part, loc(to));
  }
  return target;
}

/// Exchanges what two objects hold.
ir::Expr* Frontend::swap_parts(ir::Expr* a, ir::Expr* b, SourceLocation at) {
  if (a->kind != ir::Expr::Parts || b->kind != ir::Expr::Parts || a->type != b->type || homes_[a] != out_ ||
      homes_[b] != out_)
    return fail(
        at,
        "cannot differentiate this exchange of objects that hold pointers: it stands in a branch or a "
        "loop, or they are chosen at run time; exchange what they point to");
  if (a->type->kind != ir::Type::Record) {
    std::swap(a->args, b->args);
    return a;
  }
  for (std::size_t i = 0; i < a->args.size(); ++i) {
    ir::Expr *&one = a->args[i], *&other = b->args[i];
    const ir::Var* v = one->kind == ir::Expr::VarRef ? one->var : nullptr;
    if (v && unstable_.count(v) && v->type->kind != ir::Type::Pointer) {
      exchange(one, other, at.getRawEncoding());
    } else if (one->kind == ir::Expr::Parts && homes_.count(one)) {
      swap_parts(one, other, at);
    } else {
      std::swap(one, other);
      auto moves = part_cursors_.extract({a, i}), moved = part_cursors_.extract({b, i});
      if (moves) part_cursors_[{b, i}] = moves.mapped();
      if (moved) part_cursors_[{a, i}] = moved.mapped();
    }
  }
  return a;
}

/// The object and the number of the member that an expression names; nothing of any other.
std::optional<std::pair<ir::Expr*, std::size_t>> Frontend::part_named(const clang::Expr* e) {
  const auto* m = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  const auto* field = m ? dyn_cast<FieldDecl>(m->getMemberDecl()) : nullptr;
  if (!field || field->getType()->isReferenceType()) return std::nullopt;
  ir::Expr* object = parts_named(m->getBase());
  if (!object) return std::nullopt;
  if (object->kind == ir::Expr::AddressOf) object = object->args[0];
  object = as_class(object, cast<CXXRecordDecl>(field->getDeclContext()));
  if (object->kind != ir::Expr::Parts) return std::nullopt;
  return std::pair(object, place_of(field));
}

ir::Expr* Frontend::no_part_reference(const clang::Expr* e) {
  return fail(e->getExprLoc(),
              "cannot differentiate a reference, or a pointer, to a pointer that is a member of an "
              "object; pass the object");
}

/// Likewise of a pointer member.
std::optional<std::pair<ir::Expr*, std::size_t>> Frontend::pointer_part(const clang::Expr* e) {
  return is_pointer(e) ? part_named(e) : std::nullopt;
}

/// A member that is a function becomes another one; null if the expression names no such member.
ir::Expr* Frontend::assign_function(const clang::Expr* member, const clang::Expr* to) {
  const auto part = computes(member->getType()) ? part_named(member) : std::nullopt;
  if (!part) return nullptr;
  std::shared_ptr<Closure> function = homes_[part->first] == out_ ? callable(to) : nullptr;
  if (!function)
    return fail(to->getExprLoc(),
                "cannot differentiate this assignment to a member that is a function: it stands in "
                "a branch or a loop, or the function is not known here");
  return part->first->args[part->second] =
             function_part(types_.get(member->getType()), copy_closure(function, at_));
}

/// A pointer member points elsewhere from now on. In a branch or a loop it must stay in what it is known to
/// point into.
ir::Expr* Frontend::repoint(ir::Expr* object, std::size_t i, ir::Expr* pointer, SourceLocation at) {
  const auto it = part_cursors_.find({object, i});
  if (it != part_cursors_.end() && place(it->second, pointer)) return assign_cursor(it->second, pointer, at);
  if (homes_[object] != out_)
    return fail(at,
                "cannot differentiate this assignment of a pointer that is the member of an object: it "
                "stands in a branch or a loop, and what the member then points into is not known here; "
                "declare another object");
  if (it != part_cursors_.end()) part_cursors_.erase(it);
  return object->args[i] = through(pointer, [&](ir::Expr* one) { return freeze(one, at_); });
}

/// An error for what is left of such objects in statements, which cannot name them.
void Frontend::check_parts() {
  const std::function<const ir::Expr*(const ir::Expr*)> found = [&](const ir::Expr* e) -> const ir::Expr* {
    if (!e || e->kind == ir::Expr::Parts) return e;
    for (const ir::Expr* part : e->args)
      if (const ir::Expr* inner = found(part)) return inner;
    return nullptr;
  };
  for (const ir::Body* body : {&fn_.body, &fn_.last})
    ir::each_stmt(*body, [&](ir::Stmt* s) {
      const ir::Expr* parts = nullptr;
      ir::each_expr(s, [&](const ir::Expr* e) { parts = parts ? parts : found(e); });
      if (!parts) return;
      tainted_ = false;
      fail(SourceLocation::getFromRawEncoding(s->loc),
           "cannot differentiate this use of an object of '" + parts->type->name +
               "', which holds pointers, references or functions: it may be a variable, and be passed to "
               "functions "
               "whose definition is visible and that do not call themselves; pass such an object by "
               "reference from "
               "outside, or keep what it points to");
    });
}

}  // namespace clad
