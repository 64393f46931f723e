// How an object that is taken apart begins: constructors, aggregates and copies, member by member.
#include "ast_visitor.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// Pointer members that functions of the class other than constructors and destructors assign or step.
struct MovedMembers : AstVisitor {
  std::set<const FieldDecl*> found;
  bool shouldVisitTemplateInstantiations() const override { return true; }
  void mark(const clang::Expr* e) {
    const auto* m = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
    if (const auto* field = m ? dyn_cast<FieldDecl>(m->getMemberDecl()) : nullptr) found.insert(field);
  }
  bool VisitBinaryOperator(BinaryOperator* e) override {
    if (e->isAssignmentOp()) mark(e->getLHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* e) override {
    if (e->isIncrementDecrementOp()) mark(e->getSubExpr());
    return true;
  }
  bool VisitCallExpr(CallExpr* e) override {
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

/// Whether this is a member of the object, or of one that is a member.
bool is_of_object(const clang::Expr* e) {
  e = e->IgnoreParenImpCasts();
  const auto* member = dyn_cast<MemberExpr>(e);
  return isa<CXXThisExpr>(e) ||
         (member && is_of_object(member->getBase()) &&
          (!member->isArrow() || isa<CXXThisExpr>(member->getBase()->IgnoreImpCasts())));
}

/// Whether an expression changes nothing, or nothing but the object itself.
bool is_quiet(const clang::Stmt* s) {
  const auto changes_object = [](const clang::Expr* to) {
    return is_of_object(to) && !isa<CXXThisExpr>(to->IgnoreParenImpCasts()) &&
           !cast<MemberExpr>(to->IgnoreParenImpCasts())->getMemberDecl()->getType()->isReferenceType();
  };
  if (const auto* op = dyn_cast<BinaryOperator>(s);
      op && op->isAssignmentOp() && !changes_object(op->getLHS()))
    return false;
  if (const auto* op = dyn_cast<UnaryOperator>(s);
      op && op->isIncrementDecrementOp() && !changes_object(op->getSubExpr()))
    return false;
  if (isa<LambdaExpr, CXXNewExpr, CXXDeleteExpr, CXXThrowExpr>(s)) return false;
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = call->getDirectCallee();
    const FunctionDecl* definition = nullptr;
    const bool seen = callee && !compat::in_std(callee) && callee->hasBody(definition);
    if (seen ? has_effects(definition->getBody()) : has_effects(call)) return false;
  }
  return llvm::all_of(s->children(), [](const clang::Stmt* child) { return !child || is_quiet(child); });
}

/// Whether a destructor's body does nothing but free what members point to, and change the object that ends:
/// itself, or by way of functions of the class.
class OnlyFrees {
 public:
  bool holds(const clang::Stmt* s) {
    if (const auto* body = dyn_cast<CompoundStmt>(s))
      return llvm::all_of(body->body(), [&](const clang::Stmt* one) { return holds(one); });
    if (const auto* branch = dyn_cast<IfStmt>(s))
      return !branch->isConsteval() && !branch->getInit() && !branch->getConditionVariable() &&
             is_quiet(branch->getCond()) && holds(branch->getThen()) &&
             (!branch->getElse() || holds(branch->getElse()));
    if (const auto* e = dyn_cast<clang::Expr>(s)) return of_expression(e);
    return isa<NullStmt>(s);
  }

 private:
  bool of_expression(const clang::Expr* e) {
    e = e->IgnoreParenCasts();
    if (const auto* full = dyn_cast<FullExpr>(e)) e = full->getSubExpr();
    if (const auto* freed = dyn_cast<CXXDeleteExpr>(e)) return is_quiet(freed->getArgument());
    if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call && call->getMethodDecl()) {
      const CXXMethodDecl* method = call->getMethodDecl();
      const FunctionDecl* definition = nullptr;
      const bool known = is_of_object(call->getImplicitObjectArgument()) && !method->isVirtual() &&
                         !compat::in_std(method) && method->hasBody(definition) &&
                         llvm::all_of(call->arguments(), [](const clang::Expr* a) { return is_quiet(a); });
      return known && (!seen_.insert(definition).second || holds(definition->getBody()));
    }
    if (const auto* call = dyn_cast<CallExpr>(e))
      return call->getDirectCallee() && named(call->getDirectCallee(), {"free"});
    const auto* assignment = dyn_cast<BinaryOperator>(e);
    if (assignment && assignment->isCommaOp())
      return of_expression(assignment->getLHS()) && of_expression(assignment->getRHS());
    return assignment && assignment->getOpcode() == BO_Assign && is_quiet(assignment);
  }

  std::set<const FunctionDecl*> seen_;
};

}  // namespace

ir::Expr* Frontend::new_parts(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl()->getDefinition();
  const FunctionDecl* definition = nullptr;
  if (const CXXDestructorDecl* end = record->getDestructor();
      end && end->isUserProvided() &&
      (!end->hasBody(definition) || !OnlyFrees().holds(definition->getBody())))
    fail(SourceLocation::getFromRawEncoding(at_),
         "cannot differentiate through an object of '" + record->getNameAsString() +
             "', which holds pointers: its destructor does more than free memory, member by member; hold a "
             "std::vector where it frees in a loop, and call a function for what else it does");
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
    if (!type->isReferenceType() && !is_lambda(type) &&
        (!init || isa<ImplicitValueInitExpr>(init) || is_null_function(init))) {
      part = fn_.make(ir::Expr::Parts, t);  // until it is given one
      return;
    }
    std::shared_ptr<Closure> function = is_lambda(type) && init ? closure_of(init)
                                        : init                  ? callable(init)
                                                                : nullptr;
    if (function)
      part = function_part(t, type->isReferenceType() || (type->isPointerType() && function->record)
                                  ? function
                                  : copy_closure(function, at_));
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
  const std::vector<ir::Expr*> given = parts->args;
  for (std::size_t i = class_of(parts->type)->getNumBases(); i < given.size(); ++i)
    start_part_cursor(parts, i, given);
}

/// Likewise one member, where `given` are the object's members that it may point into.
void Frontend::start_part_cursor(ir::Expr* parts, std::size_t i, const std::vector<ir::Expr*>& given) {
  const CXXRecordDecl* record = class_of(parts->type);
  MovedMembers moved;
  moved.visit(record);
  const std::vector<const FieldDecl*> fields = named_fields(record);
  const std::size_t first = record->getNumBases();
  const FieldDecl* field = fields[i - first];
  const ir::Type* type = types_.get(field->getType());
  if (!moved.found.count(field) || !is_cursor_type(type) || is_parts(given[i])) return;
  Cursor cursor;
  cursor.type = type;
  cursor.reverse = TypeTable::is_reverse(field->getType());
  for (std::size_t k = 0; k < fields.size(); ++k)
    if (types_.get(fields[k]->getType())->element == type->element &&
        (first + k == i || moved.found.count(fields[k])) &&
        !add_bases(cursor, given[first + k], /*fixed=*/false))
      return;
  if (!start_cursor(cursor, field->getNameAsString(), given[i])) return;
  parts->args[i] = cursor_value(cursor, fn_.ref(cursor.index));
  part_cursors_[{parts, i}] = cursor;
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
  const std::vector<const FieldDecl*> fields = named_fields(record);
  if (compat::in_std(record) && e->getNumArgs() == fields.size())
    return library_parts(compat::record_type(context_, record), {e->getArgs(), e->getNumArgs()});
  ir::Expr* parts = new_parts(compat::record_type(context_, record));
  if (!run_constructor(parts, e)) return literal("0", context_.IntTy);
  finish_parts(parts);
  return parts;
}

/// A std::pair of these two.
ir::Expr* Frontend::library_parts(QualType type, llvm::ArrayRef<const clang::Expr*> members) {
  ir::Expr* parts = new_parts(type);
  const CXXRecordDecl* record = class_of(parts->type);
  std::size_t i = 0;
  for (const CXXBaseSpecifier& base : record->bases()) parts->args[i++] = aggregate_parts(base.getType(), {});
  const std::vector<const FieldDecl*> fields = named_fields(record);
  for (std::size_t k = 0; k < fields.size(); ++k) start_part(parts->args[i++], fields[k], members[k]);
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

/// A copy of a member that is a function, or one of several.
ir::Expr* Frontend::copied_functions(ir::Expr* part) {
  return through(part, [&](ir::Expr* one) {
    if (is_no_function(one)) return one;
    const std::shared_ptr<Closure> function = part_functions_[one], own = copy_closure(function, at_);
    return own == function ? one : function_part(one->type, own);
  });
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
    const bool function = part_functions_.count(part) || are_functions(part);
    if (function && f->getType()->isReferenceType()) {
      own = part;
    } else if (const auto it = part_functions_.find(part); it != part_functions_.end()) {
      own = function_part(t, copy_closure(it->second, at_));
    } else if (function) {  // one of several, or null
      own = copied_functions(part);
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

}  // namespace clad
