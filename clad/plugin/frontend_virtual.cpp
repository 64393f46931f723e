// Virtual calls: one branch for each class of the translation unit that the object may be of.
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// Whether this is the object that the function, a constructor, makes.
bool Frontend::is_constructed(const ir::Expr* object) const {
  while (object->kind == ir::Expr::Cast && object->to_reference) object = object->args[0];
  return fn_.constructed && object->kind == ir::Expr::VarRef && object->var == fn_.constructed;
}

/// Whether a method calls virtual functions of its object, itself or through other methods.
bool calls_virtually(const CXXMethodDecl* method) {
  struct Finder : RecursiveASTVisitor<Finder> {
    std::set<const CXXMethodDecl*> seen;
    bool found = false;
    bool VisitCXXMemberCallExpr(CXXMemberCallExpr* call) {
      const CXXMethodDecl* callee = call->getMethodDecl();
      if (!callee || !isa<CXXThisExpr>(strip(call->getImplicitObjectArgument()))) return true;
      const auto* access = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParens());
      found |= callee->isVirtual() && !(access && access->hasQualifier()) && !callee->hasAttr<FinalAttr>();
      visit(callee);
      return !found;
    }
    void visit(const CXXMethodDecl* callee) {
      const FunctionDecl* definition = nullptr;
      if (seen.insert(callee).second && callee->hasBody(definition)) TraverseStmt(definition->getBody());
    }
  } finder;
  finder.visit(method);
  return finder.found;
}

/// A virtual call on an object whose class is known when it runs; null if no class can be.
ir::Expr* Frontend::virtual_call(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const clang::Expr* object = e->getImplicitObjectArgument();
  ir::Expr* self = value(object);
  if (object->getType()->isPointerType()) self = deref(self);
  if (!ir::names_object(self) && self->kind != ir::Expr::Cast) self = hoist(self, loc(object));
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
  if (type->kind == ir::Type::Pointer || e->isLValue()) return nullptr;
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  ir::Var* result =
      type->kind == ir::Type::Void ? nullptr : fn_.make_var(ir::Var::Local, "chosen", type, region_);
  if (result) {
    result->optional = !type->default_constructible;
    emit(ir::Stmt::Decl, at)->var = result;
  }
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
    for (const Case& c : cases) {  // classes after those that derive from them
      const ir::Type* derived = types_.get(compat::record_type(context_, c.record));
      ir::Expr* test =
          fn_.make(ir::Expr::Raw, types_.get(context_.BoolTy), "clad::is<" + derived->name + ">(\1)", {self});
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
        ir::Stmt* s = emit(ir::Stmt::Assign, at);
        s->text = "init";
        s->lhs = fn_.ref(result);
        s->expr = value;
      }
      out_ = &branch->other;
    }
    emit(ir::Stmt::Eval, at)->expr = fn_.make(ir::Expr::Call, types_.nothing(), "clad::unknown_class");
  };
  dispatch(self);
  out_ = outer;
  return result ? fn_.ref(result) : literal("0", context_.IntTy);
}

}  // namespace clad
