// Initializer lists and constructor calls: copies, aggregates of the library, functions that make an object,
// and elements made in place.
#include "ast_visitor.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace clad {

/// The string that an array of characters starts as; null for anything else.
static const clang::StringLiteral* string_of(const clang::Expr* e) {
  if (const auto* implied = dyn_cast<CXXDefaultInitExpr>(e)) e = implied->getExpr();
  if (const auto* list = dyn_cast<InitListExpr>(e); list && list->isTransparent()) e = list->getInit(0);
  return dyn_cast<clang::StringLiteral>(e->IgnoreParens());
}

/// What an array starts as: a string stands for its characters.
ir::Expr* Frontend::elements(const clang::Expr* e) {
  const clang::StringLiteral* string = string_of(e);
  if (!string) return value(e);
  ir::Expr* list = fn_.make(ir::Expr::InitList, types_.get(string->getType()));
  const QualType type = context_.getAsArrayType(string->getType())->getElementType();
  for (unsigned i = 0; i < string->getLength(); ++i) {
    llvm::APSInt code(context_.getTypeSize(type), !type->isSignedIntegerType());
    code = string->getCodeUnit(i);
    list->args.push_back(literal(llvm::toString(code, 10), type));
  }
  return list;
}

/// The values of the members of a class, those in unnamed unions and structs among them; whether all are
/// given.
static bool flatten(const InitListExpr* e, std::vector<const clang::Expr*>& into) {
  const auto* record = e->getType()->getAsCXXRecordDecl();
  unsigned k = record->getNumBases();
  if (k > 0 || (record->isUnion() && !names_one_member(record) && !names_numbers(record))) return false;
  if (record->isUnion() &&
      (e->getNumInits() != 1 ||
       (!names_one_member(record) && e->getInitializedFieldInUnion() != *record->field_begin())))
    return false;
  for (const FieldDecl* field : record->fields()) {
    if (field->isUnnamedBitField()) continue;
    if (k >= e->getNumInits()) return false;
    const clang::Expr* init = e->getInit(k++);
    const auto* inner = dyn_cast<InitListExpr>(init->IgnoreImplicit());
    if (!field->isAnonymousStructOrUnion())
      into.push_back(init);
    else if (!is_transparent(field) || !inner || !flatten(inner, into))
      return false;
    if (record->isUnion()) return true;
  }
  return true;
}

ir::Expr* Frontend::init_list(const InitListExpr* e) {
  if (e->isSemanticForm() == false && e->getSemanticForm()) e = e->getSemanticForm();
  if (e->isTransparent() && e->getNumInits() == 1) return elements(e->getInit(0));
  const ir::Type* type = types_.get(e->getType());
  if (e->getNumInits() == 1 && !type->is_class() && type->kind != ir::Type::Array)
    return value(e->getInit(0));
  if (e->getNumInits() == 0 && !type->is_class() && type->kind != ir::Type::Array)
    return fn_.make(ir::Expr::Construct, type);
  std::vector<const clang::Expr*> inits;
  const auto* record = e->getType()->getAsCXXRecordDecl();
  const auto hides = [](const FieldDecl* f) { return f->isAnonymousStructOrUnion(); };
  const bool unnamed = record && !record->isUnion() && llvm::any_of(record->fields(), hides);
  if (unnamed || (record && names_numbers(record))) {
    const InitListExpr* written = e->getSyntacticForm() ? e->getSyntacticForm() : e;
    if (written->getNumInits() == 0 && type->kind == ir::Type::Record && !in_parts(e->getType()))
      return fn_.make(ir::Expr::Construct, type);
    if (!flatten(e, inits))
      return fail(e->getExprLoc(),
                  "cannot differentiate this list of values for a union, or a class with an unnamed union or "
                  "struct; assign its members");
  } else {
    for (const clang::Expr* init : e->inits()) inits.push_back(init);
  }
  if (in_parts(e->getType())) return aggregate_parts(e->getType(), inits);
  ir::Expr* list = aggregate(type, inits);
  // std::array's one member is an array: its elements are the elements.
  if (type->kind == ir::Type::StdArray && list->args.size() == 1 && list->args[0]->kind == ir::Expr::InitList)
    list->args = list->args[0]->args;
  if (type->kind == ir::Type::StdArray && list->args.size() == 1 &&
      list->args[0]->kind == ir::Expr::Construct && list->args[0]->type->kind == ir::Type::Array)
    list->args.clear();
  return list;
}

/// Whether a default member initializer uses `this` only to read members, which are then initialized already.
static bool reads_only_members(const clang::Expr* e) {
  struct Uses : AstVisitor {
    unsigned objects = 0, members = 0;
    bool VisitCXXThisExpr(CXXThisExpr*) override {
      ++objects;
      return true;
    }
    bool VisitMemberExpr(MemberExpr* m) override {
      members += isa<CXXThisExpr>(m->getBase()->IgnoreParenImpCasts()) && isa<FieldDecl>(m->getMemberDecl());
      return true;
    }
  } uses;
  uses.TraverseStmt(const_cast<clang::Expr*>(e));
  return uses.objects == uses.members;
}

/// Whether the last of an aggregate's elements is a value, or a reference that keeps no record from being
/// read: to a constant that outlives the function.
static bool may_hold_reference(const ir::Type* type, const std::vector<ir::Expr*>& elements) {
  const std::size_t i = elements.size() - 1;
  if (i >= type->fields.size() || type->fields[i].type->kind != ir::Type::Void) return true;
  for (const FieldDecl* f : static_cast<const CXXRecordDecl*>(type->decl)->fields())
    if (f->getNameAsString() == type->fields[i].name && !f->getType()->getPointeeType().isConstQualified())
      return false;
  const ir::Var* r = ir::root(elements[i]);
  return !type->differentiable && (!r || r->kind == ir::Var::Param);
}

/// A list of an aggregate's elements. A default member initializer sees the elements before it.
ir::Expr* Frontend::aggregate(const ir::Type* type, llvm::ArrayRef<const clang::Expr*> inits) {
  ir::Expr* list = fn_.make(ir::Expr::InitList, type);
  for (const clang::Expr* init : inits) {
    if (type->kind == ir::Type::Array && string_of(init)) {
      list->args.push_back(elements(init));
      continue;
    }
    const auto* implied = dyn_cast<CXXDefaultInitExpr>(init);
    if (!implied) {
      append_value(list->args, init);
      list->args.back() = handed_over(init, list->args.back());
      // Of an iterator there is only its pointer.
      if (const QualType given = init->getType(); !type->differentiable && types_.plain(given) != given)
        list->args.back() =
            fn_.cast(list->args.back()->type, types_.spell(given.getUnqualifiedType()), list->args.back());
      note_handle(list->args.back(), init->getExprLoc());
      if (!may_hold_reference(type, list->args))
        return fail(init->getExprLoc(), "cannot differentiate an object with reference member '" +
                                            type->fields[list->args.size() - 1].name +
                                            "'; let it hold a value");
      continue;
    }
    if (!reads_only_members(implied->getExpr()))
      return fail(
          implied->getExpr()->getExprLoc(),
          "cannot differentiate this default member initializer: it uses 'this' for more than to read "
          "a member");
    for (ir::Expr*& before : list->args)
      if (before->type->is_class() ? !ir::is_path(before)
                                   : before->type->kind != ir::Type::Array && !ir::is_atomic(before))
        before = hoist(before, at_);
    ir::Expr* self = std::exchange(self_, list);
    append_value(list->args, init);
    self_ = self;
  }
  return list;
}

/// A vector of what reverse iterators name: generated code knows only the pointers they are counted from.
ir::Expr* Frontend::construct_reversed(const CXXConstructExpr* e,
                                       const std::vector<const clang::Expr*>& args) {
  const ir::Type* type = types_.get(e->getType());
  const FunctionDecl* plain = lookup_.plain_definition("copied", args);
  if (!plain || types_.get(plain->getReturnType()) != type)
    return fail(e->getExprLoc(), "cannot differentiate this constructor of '" + type->name +
                                     "' from reverse iterators of another type; use assign or insert");
  return call_plain(e, plain, args);
}

/// An object whose constructor is given objects that are taken apart: it is lowered in the place of the call.
ir::Expr* Frontend::construct_in_place(const CXXConstructExpr* e) {
  const ir::Type* type = types_.get(e->getType());
  const FunctionDecl* definition = nullptr;
  const auto refuse = [&](const char* why) {
    return fail(e->getExprLoc(), "cannot differentiate this constructor of '" + type->name +
                                     "', which is given an object that holds pointers: " + why);
  };
  if (!e->getConstructor()->hasBody(definition)) return refuse("its definition is not visible here");
  if (returns_early(definition)) return refuse("it returns early");
  const auto* ctor = cast<CXXConstructorDecl>(definition);
  if (!type->copyable) return refuse("objects of the class cannot be copied");
  if (inlining_.count(ctor) || inline_depth_ > 16) return refuse("it calls itself");
  const bool plain = type->default_constructible;
  if (!plain && ctor->getParent()->isPolymorphic())
    return refuse("the class has virtual functions, but no constructor without arguments");
  Frame frame;
  Closures targets;
  const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  if (!bind_parameters(frame, targets, nullptr, ctor, args, /*changes=*/true))
    return literal("0", context_.IntTy);
  ir::Var* made = fn_.make_var(ir::Var::Local, "made", type, region_);
  made->modified = true;
  made->raw = !plain;
  unstable_.insert(made);
  emit(ir::Stmt::Decl, at_)->var = made;
  exchange_targets(targets, ctor);
  const FunctionDecl* decl = std::exchange(decl_, ctor);
  ir::Expr* self = std::exchange(self_, fn_.ref(made));
  std::swap(frame, bindings_);
  const Diagnose::Use use(diagnose_, e->getExprLoc());
  const unsigned errors = diagnose_.errors();
  const ir::Loc at = at_;
  const std::string source = source_;
  copy_changed_parameters(ctor);
  inlining_.insert(ctor);
  ++inline_depth_;
  lower_initializers(ctor);
  inline_body(cast<CompoundStmt>(ctor->getBody()), context_.VoidTy);
  --inline_depth_;
  inlining_.erase(ctor);
  at_ = at;
  source_ = source;
  if (diagnose_.errors() != errors)
    diagnose_.note(e->getExprLoc(), "in the derivative of this constructor of '" + type->name + "'");
  std::swap(frame, bindings_);
  self_ = self;
  decl_ = decl;
  exchange_targets(targets, ctor);
  callees_.insert(ctor->getCanonicalDecl());
  return fn_.ref(made);
}

ir::Expr* Frontend::construct(const CXXConstructExpr* e) {
  const CXXConstructorDecl* ctor = e->getConstructor();
  const ir::Type* type = types_.get(e->getType());
  if (compat::in_std(ctor)) {
    check_elements(ctor, e->getExprLoc());
    check_deleter(ctor->getParent(), {e->getArgs(), e->getNumArgs()}, e->getExprLoc());
  } else {
    check_object(e->getType(), e->getExprLoc());
  }
  if (in_parts(e->getType())) return construct_parts(e);
  if (is_table(e->getType()))
    if (ir::Expr* table = table_from(e->getType(), e)) return table;
  if (ctor->isCopyOrMoveConstructor() && e->getNumArgs() >= 1 &&
      (type->kind != ir::Type::Record || !ctor->isUserProvided())) {
    ir::Expr* source = value(e->getArg(0));
    if (e->getArg(0)->isXValue()) leave_empty(e->getArg(0));
    return type->differentiable ? source : handed_over(e->getArg(0), source);
  }
  if (type->kind == ir::Type::Pointer) {  // an iterator or a smart pointer
    const bool other_owner =              // a std::shared_ptr to a part of what another one owns
        e->getNumArgs() == 2 && types_.owns(e->getArg(0)->getType()) &&
        e->getArg(1)->getType()->isPointerType();
    ir::Expr* pointer = e->getNumArgs() ? value(e->getArg(other_owner ? 1 : 0))
                                        : literal("nullptr", types_.plain(e->getType()));
    if (e->getNumArgs() && e->getArg(0)->isXValue()) leave_empty(e->getArg(0));
    if (pointer->kind == ir::Expr::Literal) return literal("nullptr", types_.plain(e->getType()));
    if (pointer->type->kind != ir::Type::Pointer)  // a reference wrapper
      return fn_.make(ir::Expr::AddressOf, type, "", {pointer});
    const ir::Type *from = pointer->type->element, *to = type->element;
    if (from == to || from->kind != ir::Type::Record || to->kind != ir::Type::Record) return pointer;
    ir::Expr* base = fn_.make(ir::Expr::Cast, to, to->name + "&", {deref(pointer)});
    base->to_reference = base->explicit_cast = true;
    return fn_.make(ir::Expr::AddressOf, type, "", {base});
  }
  std::vector<const clang::Expr*> args;
  for (const clang::Expr* a : e->arguments())
    if (!isa<CXXDefaultArgExpr>(a) || !compat::in_std(ctor)) args.push_back(a);
  bool differentiable = false;
  for (const clang::Expr* a : args) differentiable |= types_.get(strip(a)->getType())->differentiable;
  bool standard = compat::in_std(ctor);
  const bool own = type->kind == ir::Type::Record && !standard && ctor->isUserProvided();
  if (own && !lookup_.named(ctor) && handles_parts(ctor, args, nullptr)) return construct_in_place(e);
  if (type->kind == ir::Type::Record && standard)
    if (ir::Expr* made = construct_library(type, args, loc(static_cast<const clang::Expr*>(e)))) return made;
  if (type->kind == ir::Type::Vector || type->kind == ir::Type::StdArray) {
    if (args.size() == 1 && isa<CXXStdInitializerListExpr>(args[0]->IgnoreImplicit())) {
      ir::Expr* list = value(args[0]);
      list->type = type;
      return list;
    }
    if (args.size() == 1 && isa<CXXStdInitializerListExpr>(strip(args[0]))) {
      ir::Expr* list = value(strip(args[0]));
      list->type = type;
      return list;
    }
    if (TypeTable::is_numeric_array(e->getType())) return construct_array(e, args);
    if (args.size() == 2 && is_pointer(args[0]) && TypeTable::is_reverse(args[0]->getType()))
      return construct_reversed(e, args);
    ir::Expr* c = fn_.make(ir::Expr::Construct, type);
    if (args.size() == 1 && is_view(strip(args[0])->getType())) {  // a std::initializer_list
      const std::optional<View> list = view_of(strip(args[0]));
      if (!list) return c;
      c->args = {list->data, fn_.make(ir::Expr::Binary, list->data->type, "+", {list->data, list->size})};
    } else {
      c->args = values(args);
      // Of an object that has no value by default, the adjoint is shaped like the object.
      for (ir::Expr*& a : c->args)
        if (!a->type->default_constructible && a->type->differentiable && !ir::is_path(a)) a = hoist(a, at_);
    }
    bool known = args.size() <= 2;
    for (ir::Expr* a : c->args)
      known &= !a->type->is_class() || (args.size() == 2 && a->type == type->element);
    if (!known && type->differentiable && differentiable)
      return fail(e->getExprLoc(), "cannot differentiate this constructor of '" + type->name + "'");
    callees_.insert(ctor->getCanonicalDecl());
    return c;
  }
  if (is_callable(e->getType()) && differentiable)
    return fail(e->getExprLoc(),
                "cannot differentiate a std::function that holds numbers which are not seen; give it a "
                "lambda or a function");
  callees_.insert(ctor->getCanonicalDecl());
  bool changes = false;
  for (const ParmVarDecl* p : ctor->parameters()) {
    QualType t = p->getType();
    changes |= (t->isLValueReferenceType() || t->isPointerType()) && !t->getPointeeType().isConstQualified();
  }
  changes &= !standard && ctor->isUserProvided();
  // A function that it is given exists in no other form than that of its body.
  for (const ParmVarDecl* p : ctor->parameters())
    changes |= own && ctor->hasBody() && (is_lambda(p->getType()) || computes(p->getType()));
  if ((!type->differentiable || !differentiable) && !changes) {
    ir::Expr* c = fn_.make(ir::Expr::Construct, type);
    c->braces = e->isListInitialization();
    c->args = values(args);
    for (std::size_t i = 0; i < args.size(); ++i) c->args[i] = handed_over(args[i], c->args[i]);
    return type->is_class() && !args.empty() && type->copyable
               ? hoist(c, loc(static_cast<const clang::Expr*>(e)))
               : c;
  }
  auto info = std::make_unique<ir::CallInfo>();
  info->is_constructor = true;
  info->name = type->name;
  add_arguments(*info, ctor, args);
  return finish_call(std::move(info), ctor, e->getType(), e, false);
}

/// The base class in a constructor that is one of the base class (`using Base::Base`): it gets the
/// parameters.
ir::Expr* Frontend::construct_inherited(const CXXInheritedCtorInitExpr* e) {
  std::vector<const clang::Expr*> args;
  for (ParmVarDecl* p : const_cast<FunctionDecl*>(decl_)->parameters())
    args.push_back(DeclRefExpr::Create(context_, {}, {}, p, false, e->getExprLoc(),
                                       p->getType().getNonReferenceType(), VK_LValue));
  auto info = std::make_unique<ir::CallInfo>();
  info->is_constructor = true;
  info->name = types_.get(e->getType())->name;
  add_arguments(*info, e->getConstructor(), args);
  callees_.insert(e->getConstructor()->getCanonicalDecl());
  return finish_call(std::move(info), e->getConstructor(), e->getType(), e, false);
}

/// `v.emplace_back(args...)` as `v.push_back(T(args...))`; it names the new element.
ir::Expr* Frontend::emplace_back(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const auto* vector = cast<ClassTemplateSpecializationDecl>(method->getParent());
  const CXXMethodDecl* push_back = nullptr;
  for (const CXXMethodDecl* m : vector->methods())
    if (named(m, {"push_back"}) && m->getParamDecl(0)->getType()->isLValueReferenceType()) push_back = m;
  const QualType element = vector->getTemplateArgs()[0].getAsType();
  const ir::Type* type = types_.get(element);
  if (!push_back || !type->copyable)
    return fail(e->getExprLoc(),
                "cannot differentiate 'emplace_back' of '" + type->name + "', which cannot be copied");
  const std::vector<const clang::Expr*> arguments(e->arg_begin(), e->arg_end());
  auto info = std::make_unique<ir::CallInfo>();
  info->is_method = true;
  info->name = "push_back";
  if (!add_object(*info, e->getImplicitObjectArgument(), push_back)) return literal("0", context_.IntTy);
  ir::Expr* object = info->args[0].expr;
  const ExprResult made = construction(element, arguments, e->getExprLoc());
  if (made.isInvalid())
    return fail(e->getExprLoc(), "cannot differentiate this 'emplace_back'; use push_back");
  add_argument(*info, made.get(), push_back->getParamDecl(0)->getType(), /*library=*/true);
  callees_.insert(method->getCanonicalDecl());
  finish_call(std::move(info), push_back, context_.VoidTy, e, /*object_mutable=*/true);
  ir::Expr* back = fn_.make(ir::Expr::Method, type, "back", {object});
  back->accessor = true;
  return back;
}

ir::Expr* Frontend::swap(const clang::Expr* first, const clang::Expr* second, ir::Loc at) {
  if (ir::Expr* one = parts_named(first), *other = parts_named(second); one && other) {
    const CXXRecordDecl* record = first->getType()->getAsCXXRecordDecl();
    if (record && !compat::in_std(record) && moves_differ(record))
      return fail(first->getExprLoc(),
                  "cannot differentiate this exchange of objects of '" + record->getNameAsString() +
                      "', which hold pointers: their own constructor or assignment does more than move the "
                      "members; exchange the members");
    return swap_parts(one, other, first->getExprLoc());
  }
  if (const Cursor *one = cursor_of(first), *other = cursor_of(second); one && other) {
    Cursor kept = *one;
    kept.index = hoist(fn_.ref(one->index), at, "swapped")->var;
    if (one->which) kept.which = hoist(fn_.ref(one->which), at, "swapped")->var;
    assign_cursor(*one, value(second), first->getExprLoc());
    return assign_cursor(*other, cursor_value(kept, fn_.ref(kept.index)), second->getExprLoc());
  }
  if (const auto one = pointer_part(first), other = pointer_part(second); one && other) {
    ir::Expr* kept = one->first->args[one->second];
    repoint(one->first, one->second, other->first->args[other->second], first->getExprLoc());
    return repoint(other->first, other->second, kept, first->getExprLoc());
  }
  ir::Expr* a = freeze(value(first), at);
  ir::Expr* b = freeze(value(second), at);
  if (a->type->kind == ir::Type::Array)
    return fail(first->getExprLoc(), "cannot differentiate 'swap' of arrays; use std::array");
  return exchange(a, b, at);
}

ir::Expr* Frontend::exchange(ir::Expr* a, ir::Expr* b, ir::Loc at) {
  ir::Var *r = ir::root(a), *q = ir::root(b);
  const bool objects =
      a->type->is_class() && a->type == b->type && ir::is_path(a) && ir::is_path(b) && r && q;
  if (objects && !r->reference_copy && !q->reference_copy && r->type->kind != ir::Type::Pointer &&
      q->type->kind != ir::Type::Pointer) {
    r->modified = q->modified = true;
    ir::Stmt* s = emit(ir::Stmt::Assign, at);
    s->text = "swap";
    s->lhs = a;
    s->expr = b;
    s->touched = {r, q};
    return a;
  }
  ir::Expr* kept = hoist(a, at, "swapped");
  assign(a, "=", b, at);
  return assign(b, "=", kept, at);
}

}  // namespace clad
