// Objects that hold pointers or references to what has derivatives: views, solvers on somebody's state,
// matrices that own their elements. Such an object is no variable of the generated code, it is taken apart
// into its members: a pointer is what it was given, any other member a variable. Its functions, and those it
// is passed to, are lowered in the place of their calls.
#include "clang/AST/DeclTemplate.h"
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

}  // namespace

/// The class of an object.
const CXXRecordDecl* class_of(const ir::Type* type) {
  const auto* record = static_cast<const CXXRecordDecl*>(type->decl);
  return record && record->hasDefinition() ? record->getDefinition() : nullptr;
}

/// The members of a class that have a name, in the order of an aggregate's elements.
std::vector<const FieldDecl*> named_fields(const CXXRecordDecl* record) {
  std::vector<const FieldDecl*> out;
  for (const FieldDecl* f : record->fields())
    if (f->getDeclName()) out.push_back(f);
  return out;
}

/// Whether a class of the library is nothing but its members: std::pair, and what functions of std::ranges
/// return.
static bool is_plain_struct(const CXXRecordDecl* record) {
  return record->getIdentifier() &&
         (record->getName() == "pair" ||
          (record->getName().starts_with("in_") && record->getName().ends_with("_result")) ||
          record->getName() == "min_max_result");
}

/// Whether the type stands for functions of numbers that have derivatives.
bool Frontend::computes(QualType type) const {
  if (type->isPointerType() && is_lambda(type->getPointeeType())) return true;
  if (!is_callable(type)) return false;
  type = type.getNonReferenceType();
  bool changes = false;  // the object
  if (const auto* member = type->getAs<MemberPointerType>()) {
    type = member->getPointeeType();
    changes = !type->castAs<FunctionProtoType>()->isConst() &&
              types_.get(compat::record_type(context_, member->getMostRecentCXXRecordDecl()))->differentiable;
  }
  if (changes) return true;
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
  if (type->isReferenceType())
    return t->differentiable || whole(type->getPointeeType()) ||
           (t->is_class() && !type->getPointeeType().isConstQualified());
  if (t->kind == ir::Type::Pointer && type->isPointerType() &&
      (whole(type->getPointeeType()) || (t->element && t->element->has_closure)))
    return true;
  return (t->kind == ir::Type::Pointer && (t->differentiable || types_.owns(type))) || t->has_pointer ||
         is_view(type) || is_table(type);
}

bool Frontend::in_parts(QualType type) const {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || record->isLambda() || compat::in_clad(record) ||
      (compat::in_std(record) && !is_plain_struct(record)))
    return false;
  const auto [known, fresh] = in_parts_.try_emplace(record->getCanonicalDecl(), false);
  if (!fresh) return known->second;
  const ir::Type* t = types_.get(compat::record_type(context_, record));
  if (t->kind != ir::Type::Record) return false;
  bool out = false;
  for (const CXXBaseSpecifier& base : record->getDefinition()->bases()) out |= in_parts(base.getType());
  for (const FieldDecl* f : record->getDefinition()->fields()) {
    if (compat::is_constant(f)) continue;
    // An object with derivatives is kept for the reverse sweep: what it points to must be there as well.
    const ir::Type* part = types_.get(f->getType());
    const bool state = t->differentiable && f->getType()->isPointerType() && part->is_followed();
    out |= is_lambda(f->getType()) || computes(f->getType()) || leads_to_numbers(f->getType()) || state ||
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
    found = it == bindings_.end() ? constant_table(ref->getDecl()) : it->second;
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
  if (const auto* member = dyn_cast<MemberExpr>(e))
    return isa<FieldDecl>(member->getMemberDecl()) && names_parts(member->getBase());
  if (const auto* call = dyn_cast<CallExpr>(e); call && (call->isLValue() || e->getType()->isPointerType())) {
    const auto* member = dyn_cast<CXXMemberCallExpr>(call);
    return (member && names_parts(member->getImplicitObjectArgument())) ||
           llvm::any_of(call->arguments(), [&](const clang::Expr* a) { return names_parts(a); });
  }
  return e->isPRValue() && !e->getType()->isPointerType();
}

/// Whether a lambda holds such an object, or refers to one, or holds a function that it does not name.
bool Frontend::captures_parts(const Closure& closure) {
  if (closure.choice) return captures_parts(*closure.yes) || captures_parts(*closure.no);
  return llvm::any_of(closure.captures, [](const Closure::Capture& c) {
    return is_parts(c.path) || is_unnamed(c) || (c.closure && captures_parts(*c.closure));
  });
}

/// Whether an argument is such a lambda.
bool Frontend::captures_parts(const clang::Expr* e) {
  e = strip(e->IgnoreParenCasts());
  while (const auto* made = dyn_cast<CXXConstructExpr>(e)) {  // a copy, or a std::function
    if (made->getNumArgs() != 1) return false;
    e = strip(made->getArg(0)->IgnoreParenCasts());
  }
  const auto* call = dyn_cast<CallExpr>(e);
  const FunctionDecl* f = call ? call->getDirectCallee() : nullptr;
  if (f && compat::in_std(f) && call->getNumArgs() == 1 && named(f, {"move", "forward", "ref", "cref"}))
    return captures_parts(call->getArg(0));
  if (f && compat::within_clad(f) && named(f, {"projected"}))
    return llvm::any_of(call->arguments(), [&](const clang::Expr* a) {
      return a->getType()->isMemberPointerType() || is_callable(a->getType()) || captures_parts(a);
    });
  if (is_bound(e->getType())) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto it = closures_.find(ref->getDecl());
    return it != closures_.end() && it->second && captures_parts(*it->second);
  }
  const auto* lambda = dyn_cast<LambdaExpr>(e);
  if (!lambda) return false;
  auto init = lambda->capture_init_begin();
  for (const LambdaCapture& c : lambda->captures()) {
    const clang::Expr* initializer = *init++;
    if (c.capturesThis() ? is_parts(self_)
                         : c.capturesVariable() && initializer &&
                               (names_parts(initializer) || captures_parts(initializer)))
      return true;
  }
  return false;
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
    return ((type->isRecordType() || type->isPointerType()) && names_parts(e)) || captures_parts(e);
  };
  return (object && is_object(object)) || llvm::any_of(args, is_object);
}

/// Assigns all members, as a class does that says nothing else.
ir::Expr* Frontend::assign_parts(const clang::Expr* to, ir::Expr* target, ir::Expr* source) {
  const CXXRecordDecl* record = to->getType()->getAsCXXRecordDecl()->getDefinition();
  ir::Expr* object = as_class(target, record);
  if (object->kind != ir::Expr::Parts)
    return fail(to->getExprLoc(),
                "cannot differentiate this assignment of an object that holds pointers and "
                "is chosen at run time; use if and else");
  // Its members are computed from what those of this one were before.
  if (!is_parts(source) && !ir::names_object(source)) source = hoist(source, loc(to));
  if (llvm::any_of(record->bases(),
                   [](const CXXBaseSpecifier& b) { return !b.getType()->getAsCXXRecordDecl()->isEmpty(); }))
    return fail(to->getExprLoc(),
                "cannot differentiate this assignment of an object that holds pointers; "
                "declare another one");
  for (const FieldDecl* f : named_fields(record)) {
    ir::Expr* part = through(source, [&](ir::Expr* one) { return part_of(one, f); });
    const std::size_t i = place_of(f);
    const ir::Type* t = types_.get(f->getType());
    if (is_cursor_type(t))
      repoint(object, i, part, to->getExprLoc());
    else if (computes(f->getType()) && homes_[object] == out_ && are_functions(part))
      object->args[i] = copied_functions(part);
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
  const bool here = homes_[part->first] == out_;
  if (here && (to->getType()->isNullPtrType() || is_null_function(to)))
    return part->first->args[part->second] = fn_.make(ir::Expr::Parts, types_.get(member->getType()));
  std::shared_ptr<Closure> function = here ? callable(to) : nullptr;
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
  const bool moves = it != part_cursors_.end();
  if (moves) part_cursors_.erase(it);
  object->args[i] = through(pointer, [&](ir::Expr* one) { return freeze(one, at_); });
  if (moves) start_part_cursor(object, i, object->args);
  return object->args[i];
}

/// An error for what is left of such objects in statements, which cannot name them. Constants they can name.
void Frontend::check_parts() {
  const std::function<void(ir::Expr*, ir::Expr*)> name = [&](ir::Expr* part, ir::Expr* path) {
    if (part->kind != ir::Expr::Parts) return;
    const CXXRecordDecl* record = class_of(part->type);
    const auto fields = record && part->type->kind == ir::Type::Record ? named_fields(record)
                                                                       : std::vector<const FieldDecl*>();
    for (std::size_t i = 0; i < part->args.size(); ++i)
      name(part->args[i],
           fields.empty()
               ? fn_.make(ir::Expr::Index, part->type->element, "",
                          {path, literal(std::to_string(i), context_.getSizeType())})
               : fn_.make(ir::Expr::Member, part->args[i]->type, fields[i]->getNameAsString(), {path}));
    *part = *path;
  };
  for (const auto& [var, table] : constant_tables_)
    if (table) name(table, global(var));
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
