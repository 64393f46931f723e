// Virtual calls: one branch for each class of the translation unit that the object may be of.
#include "ast_visitor.h"
#include "clang/AST/Attr.h"
#include "compat.h"
#include "frontend.h"
#include "own_class.h"

using namespace clang;

namespace clad {

/// Whether this is the object that the function, a constructor, makes.
bool Frontend::is_constructed(const ir::Expr* object) const {
  while (object->kind == ir::Expr::Cast && object->to_reference) object = object->args[0];
  return fn_.constructed && object->kind == ir::Expr::VarRef && object->var == fn_.constructed;
}

/// Whether nobody asks the object under construction for its class: generated code makes it in bare memory,
/// and it is of its class only when it is returned. Else an error.
bool Frontend::check_class_is_not_asked(const CXXConstructorDecl* ctor) {
  if (!ctor->getParent()->isPolymorphic()) return true;
  // The sanitizer would find no class there either.
  const_cast<LangOptions&>(context_.getLangOpts()).Sanitize.set(SanitizerKind::Vptr, false);
  const UseOfClass use = use_of_class(ctor);
  if (!use.at) return true;
  fail(use.at->getExprLoc(),
       use.method
           ? "cannot differentiate '" + display_name(use.method) +
                 "' in a constructor: it calls virtual functions of the object that is under "
                 "construction; call it afterwards"
           : "cannot differentiate this use of 'this' in a constructor: virtual functions of the object "
             "that is under construction are called where it is handed on; hand it on afterwards");
  return false;
}

/// The function that a virtual call of `method` runs, where there can be only one.
const CXXMethodDecl* Frontend::only_overrider(const CXXMethodDecl* method, const clang::Expr* object) const {
  if (const CXXMethodDecl* exact = method->getDevirtualizedMethod(object, /*IsAppleKext=*/false))
    return exact;
  if (isa<CXXThisExpr>(strip(object)) && self_ &&
      is_constructed(self_))  // of the constructor's class, whatever derives from it
    return method->getCorrespondingMethodInClass(cast<CXXMethodDecl>(decl_)->getParent(), true);
  return nullptr;
}

ir::Expr* named_object(ir::Expr* e);

/// Whether the class of `object` can be asked for when it runs; an error if not.
bool Frontend::can_ask_class(const clang::Expr* object) {
  if (context_.getLangOpts().RTTI) return true;
  fail(object->getExprLoc(),
       "cannot differentiate this virtual call without -frtti: which class the object is of is not known "
       "here; make the function or the class final");
  return false;
}

/// The virtual call of a function that no class seen here overrides. One that is not seen may.
ir::Expr* Frontend::call_checked(const CallExpr* e, const CXXMethodDecl* method,
                                 const std::vector<const clang::Expr*>& args, const clang::Expr* object,
                                 ir::Expr* self) {
  const ir::Expr* named = named_object(self);
  const bool whole = named->kind == ir::Expr::Member ||  // no base of another object
                     (named->kind == ir::Expr::Index && named->args[0]->type->element &&
                      named->args[0]->type->kind != ir::Type::Pointer);
  if (!whole && !is_parts(self)) {
    if (!can_ask_class(object)) return literal("0", context_.IntTy);
    const std::string name = types_.get(compat::record_type(context_, method->getParent()))->name;
    fn_.always_forward = true;  // the primal would run whatever overrides it
    ir::Stmt* check = emit(ir::Stmt::Eval, loc(static_cast<const clang::Expr*>(e)));
    check->text = "check";
    check->expr = fn_.make(ir::Expr::Raw, types_.nothing(), "clad::known_class<" + name + ">(\1)", {self});
  }
  if (ir::Expr* inlined = inline_call(e, method, args, object, nullptr, self)) return inlined;
  return call_method(std::make_unique<ir::CallInfo>(), e, method, args, self);
}

ir::Expr* Frontend::virtual_call(const CallExpr* e, const CXXMethodDecl* method,
                                 const std::vector<const clang::Expr*>& args, const clang::Expr* object) {
  if (const CXXMethodDecl* exact = only_overrider(method, object))
    return call_function(e, exact, args, object);
  if (const ir::Expr* own = parts_named(object)) {  // its class is known
    if (own->kind == ir::Expr::AddressOf) own = own->args[0];
    while (own->kind == ir::Expr::Cast) own = own->args[0];
    if (own->kind == ir::Expr::Parts)
      if (const CXXMethodDecl* exact = method->getCorrespondingMethodInClass(
              static_cast<const CXXRecordDecl*>(own->type->decl), /*MayBeBase=*/true))
        return call_function(e, exact, args, object);
  }
  if (!lookup_.named(method))
    if (ir::Expr* result = call_overrider(e, method, args, object)) return result;
  auto info = std::make_unique<ir::CallInfo>();
  info->problem = "it is virtual and the object's class is not known here";
  return finish_method(std::move(info), e, method, args, object);
}

ir::Expr* named_object(ir::Expr* e) {
  for (;;) {
    const ir::Var* pointer =
        e->kind == ir::Expr::Deref && e->args[0]->kind == ir::Expr::VarRef ? e->args[0]->var : nullptr;
    if (e->kind == ir::Expr::Cast && e->to_reference)
      e = e->args[0];
    else if (pointer && pointer->kind == ir::Var::Alias && pointer->path->kind == ir::Expr::AddressOf)
      e = pointer->path->args[0];
    else if (e->kind == ir::Expr::VarRef && e->var->kind == ir::Var::Alias &&
             e->type->kind == ir::Type::Record)
      e = e->var->path;
    else
      return e;
  }
}

bool is_local_object(const ir::Var* v) {
  return (v->kind == ir::Var::Local || v->kind == ir::Var::Temp) && !v->reference && !v->reference_copy &&
         !v->by_pointer && !v->raw && v->type->kind == ir::Type::Record;
}

/// A virtual call on an object whose class is known when it runs; null if no class can be.
ir::Expr* Frontend::call_overrider(const CallExpr* e, const CXXMethodDecl* method,
                                   const std::vector<const clang::Expr*>& args, const clang::Expr* object) {
  ir::Expr* self = value(object);
  if (object->getType()->isPointerType()) self = deref(self);
  if (!ir::names_object(self) && self->kind != ir::Expr::Cast) self = hoist(self, loc(object));
  // An object that was made here is of the class that it was made as.
  ir::Expr* made = named_object(self);
  if (made->kind == ir::Expr::VarRef && (allocated_.count(made->var) || is_local_object(made->var)))
    if (const auto* record = static_cast<const CXXRecordDecl*>(made->type->decl);
        record && record->hasDefinition()) {
      const CXXMethodDecl* exact = method->getCorrespondingMethodInClass(record, /*MayBeBase=*/true);
      if (exact && record->getNumVBases() == 0)
        return types_.get(e->getType())->kind == ir::Type::Pointer
                   ? inline_call(e, exact, args, object, nullptr, made)
                   : call_method(std::make_unique<ir::CallInfo>(), e, exact, args, made);
    }
  if (!compat::is_pure(method) && types_.derived_from(method->getParent()).size() == 1)
    return call_checked(e, method, args, object, self);
  struct Case {
    const CXXRecordDecl* record;
    const CXXMethodDecl* overrider;
  };
  std::vector<Case> cases;
  for (const CXXRecordDecl* record : types_.derived_from(method->getParent())) {
    if (record->isAbstract()) continue;
    const CXXMethodDecl* overrider = method->getCorrespondingMethodInClass(record, /*MayBeBase=*/true);
    if (!overrider || record->getNumVBases() > 0) return nullptr;
    cases.push_back({record, overrider});
  }
  if (cases.empty()) return nullptr;
  const ir::Type* type = types_.get(e->getType());
  const bool gives_object =
      llvm::all_of(cases, [](const Case& c) { return returned_parameter(c.overrider) == 0u; });
  if (type->kind == ir::Type::Pointer || (e->isLValue() && !gives_object)) return nullptr;
  if (!can_ask_class(object)) return literal("0", context_.IntTy);
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  ir::Var* result = gives_object ? nullptr : result_of_one(type, at);
  ir::Body* outer = out_;
  const std::function<void(ir::Expr*)> dispatch = [&](ir::Expr* self) {
    if (self->kind == ir::Expr::Conditional) {
      ir::Stmt* branch = emit(ir::Stmt::If, at);
      record_condition(branch, self->args[0]);
      ir::Body* around = out_;
      out_ = &branch->body;
      dispatch(self->args[1]);
      out_ = &branch->other;
      dispatch(self->args[2]);
      out_ = around;
      return;
    }
    if (self->kind == ir::Expr::AddressOf) self = self->args[0];
    if (self->kind == ir::Expr::Parts) {  // its class is known
      const CXXMethodDecl* exact = method->getCorrespondingMethodInClass(
          static_cast<const CXXRecordDecl*>(self->type->decl), /*MayBeBase=*/true);
      ir::Expr* value = inline_call(e, exact, args, object, nullptr, self);
      if (!value) {
        fail(e->getExprLoc(), "cannot differentiate this virtual call of an object that holds pointers");
      } else if (result) {
        start_as(fn_.ref(result), value, at);
      }
      return;
    }
    for (const Case& c : cases) {
      const ir::Type* derived = types_.get(compat::record_type(context_, c.record));
      ir::Expr* test = fn_.make(ir::Expr::Raw, types_.get(context_.BoolTy),
                                "clad::exactly<" + derived->name + ">(\1)", {self});
      ir::Stmt* branch = emit(ir::Stmt::If, at);
      record_condition(branch, test);
      out_ = &branch->body;
      ir::Expr* exact = self;
      if (derived != self->type) {
        exact = fn_.make(ir::Expr::Cast, derived, derived->name + "&", {self});
        exact->to_reference = exact->explicit_cast = true;
      }
      ir::Expr* value = call_method(std::make_unique<ir::CallInfo>(), e, c.overrider, args, exact);
      if (result) {
        start_as(fn_.ref(result), value, at);
      }
      out_ = &branch->other;
    }
    fn_.always_forward = true;  // which throws, and the primal does not
    emit(ir::Stmt::Eval, at)->expr = fn_.make(ir::Expr::Call, types_.nothing(), "clad::unknown_class");
  };
  dispatch(self);
  out_ = outer;
  if (gives_object) return self;
  return result ? fn_.ref(result) : literal("0", context_.IntTy);
}

}  // namespace clad
