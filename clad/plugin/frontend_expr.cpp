// Expressions without calls: literals, names, members, operators, casts, initializer lists.
#include <algorithm>

#include "clang/AST/PrettyPrinter.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "frontend.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {

const clang::Expr* strip(const clang::Expr* e) {
  for (;;) {
    const clang::Expr* before = e;
    e = e->IgnoreParenImpCasts();
    if (const auto* x = dyn_cast<FullExpr>(e)) e = x->getSubExpr();
    if (const auto* x = dyn_cast<MaterializeTemporaryExpr>(e)) e = x->getSubExpr();
    if (const auto* x = dyn_cast<CXXBindTemporaryExpr>(e)) e = x->getSubExpr();
    if (const auto* x = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) e = x->getReplacement();
    if (const auto* x = dyn_cast<CXXDefaultArgExpr>(e)) e = x->getExpr();
    if (const auto* x = dyn_cast<CXXDefaultInitExpr>(e)) e = x->getExpr();
    if (const auto* x = dyn_cast<CXXConstructExpr>(e); x && !isa<CXXTemporaryObjectExpr>(x) &&
                                                       x->getNumArgs() == 1 &&
                                                       x->getConstructor()->isCopyOrMoveConstructor())
      e = x->getArg(0);
    if (e == before) return e;
  }
}

ir::Expr* Frontend::literal(const std::string& text, QualType type) {
  return fn_.make(ir::Expr::Literal, types_.get(type), text);
}

/// Prints an expression as the user wrote it, with our names for local variables.
ir::Expr* Frontend::raw(const clang::Expr* e) {
  struct Helper : PrinterHelper {
    Frontend& f;
    ir::Expr* out;
    bool ok = true;
    Helper(Frontend& frontend, ir::Expr* o) : f(frontend), out(o) {}
    bool handledStmt(clang::Stmt* s, raw_ostream& os) override {
      const auto* ref = dyn_cast<DeclRefExpr>(s);
      if (isa<CXXThisExpr>(s)) {
        ok = false;
        return true;
      }
      if (!ref) return false;
      if (auto it = f.bindings_.find(ref->getDecl()); it != f.bindings_.end()) {
        out->args.push_back(it->second);
        os << '\1';
        return true;
      }
      if (ref->getDecl()->getDeclContext()->isFileContext() ||
          isa<CXXRecordDecl>(ref->getDecl()->getDeclContext())) {
        out->args.push_back(f.global(ref->getDecl(), ref));
        os << '\1';
        return true;
      }
      return false;
    }
  };
  ir::Expr* out = fn_.make(ir::Expr::Raw, types_.get(e->getType()));
  Helper helper(*this, out);
  llvm::raw_string_ostream os(out->text);
  e->printPretty(os, &helper, types_.policy());
  os.flush();
  if (!helper.ok || isa<LambdaExpr>(e))
    return fail(e->getExprLoc(),
                std::string("cannot differentiate this expression (") + e->getStmtClassName() + ")");
  return out;
}

ir::Expr* Frontend::constant(const clang::Expr* e) {
  clang::Expr::EvalResult result;
  if (e->isValueDependent() || !e->getType()->isIntegralOrEnumerationType() ||
      !e->EvaluateAsInt(result, context_))
    return nullptr;
  std::string text = llvm::toString(result.Val.getInt(), 10);
  if (e->getType()->isBooleanType()) text = text == "0" ? "false" : "true";
  if (e->getType()->isEnumeralType()) {
    ir::Expr* inner = literal(text, context_.IntTy);
    ir::Expr* c = fn_.make(ir::Expr::Cast, types_.get(e->getType()), types_.spell(e->getType()), {inner});
    c->explicit_cast = true;
    return c;
  }
  if (e->getType()->isUnsignedIntegerType() && !e->getType()->isBooleanType())
    text += context_.getTypeSize(e->getType()) > 32 ? "ul" : "u";
  else if (context_.getTypeSize(e->getType()) > 32)
    text += "l";
  return literal(text, e->getType());
}

ir::Expr* Frontend::hoist(ir::Expr* e, ir::Loc at, const char* hint) {
  if (e->type->kind == ir::Type::Pointer) {
    ir::Var* v = fn_.make_var(ir::Var::Alias, hint, e->type, region_);
    v->path = freeze(e, at);
    v->is_const = true;
    emit(ir::Stmt::AliasDecl, at)->var = v;
    return fn_.ref(v);
  }
  ir::Var* v = fn_.make_var(ir::Var::Temp, hint, e->type, region_);
  v->optional = !e->type->default_constructible;
  ir::Stmt* s = emit(ir::Stmt::Decl, at);
  s->var = v;
  s->expr = e;
  return fn_.ref(v);
}

/// Whether an expression reads memory that may change without its variable being assigned.
static bool reads_elements(const ir::Expr* e) {
  return e->kind == ir::Expr::Index || e->kind == ir::Expr::Deref ||
         std::any_of(e->args.begin(), e->args.end(), reads_elements);
}

/// Makes a path mean the same object for as long as its alias lives: indices that may change are copied.
ir::Expr* Frontend::freeze(ir::Expr* e, ir::Loc at) {
  auto index = [&](ir::Expr* x) {
    bool stable = !reads_elements(x);
    ir::each_var(x, [&](ir::Var* v) { stable &= unstable_.count(v) == 0 && !v->external; });
    return stable ? x : hoist(x, at, "index");
  };
  switch (e->kind) {
    case ir::Expr::Index: {
      ir::Expr* base = freeze(e->args[0], at);
      ir::Expr* copy = fn_.make(e->kind, e->type, e->text, {base, index(e->args[1])});
      return copy;
    }
    case ir::Expr::Member:
    case ir::Expr::Deref:
    case ir::Expr::AddressOf:
    case ir::Expr::Cast: {
      ir::Expr* copy = fn_.make(e->kind, e->type, e->text, {freeze(e->args[0], at)});
      copy->explicit_cast = e->explicit_cast;
      copy->to_reference = e->to_reference;
      return copy;
    }
    case ir::Expr::Method: {
      if (e->text == "back" && resizes_ && e->args[0]->type->kind == ir::Type::Vector) {  // of its length now
        const ir::Type* size = types_.get(context_.getSizeType());
        ir::Expr* length = fn_.make(ir::Expr::Method, size, "size", {e->args[0]});
        ir::Expr* last = fn_.make(ir::Expr::Binary, size, "-", {length, literal("1", context_.IntTy)});
        return fn_.make(ir::Expr::Index, e->type, "", {freeze(e->args[0], at), hoist(last, at, "index")});
      }
      ir::Expr* copy = fn_.make(e->kind, e->type, e->text, {freeze(e->args[0], at)});
      copy->accessor = e->accessor;
      for (std::size_t i = 1; i < e->args.size(); ++i) copy->args.push_back(index(e->args[i]));
      return copy;
    }
    case ir::Expr::Binary:
      if (e->type->kind == ir::Type::Pointer) {
        bool left = e->args[0]->type->kind == ir::Type::Pointer || e->args[0]->type->kind == ir::Type::Array;
        ir::Expr* a = left ? freeze(e->args[0], at) : index(e->args[0]);
        ir::Expr* b = left ? index(e->args[1]) : freeze(e->args[1], at);
        return fn_.make(e->kind, e->type, e->text, {a, b});
      }
      return e;
    default:
      return e;
  }
}

/// Whether a reference made now may dangle at the end of its scope, where the reverse sweep makes it again:
/// it names an element of a vector, and the function changes the length of one.
bool Frontend::may_dangle(const ir::Expr* path) const {
  if (!resizes_) return false;
  for (; path; path = path->args.empty() ? nullptr : path->args[0]) {
    if (path->kind == ir::Expr::VarRef && path->var->kind == ir::Var::Alias)
      return may_dangle(path->var->path);
    if ((path->kind == ir::Expr::Index || path->kind == ir::Expr::Method) &&
        path->args[0]->type->kind == ir::Type::Vector)
      return true;
  }
  return false;
}

/// Selects a part of an object; of one chosen by `c ? a : b` the part of each.
ir::Expr* Frontend::through(ir::Expr* object, const std::function<ir::Expr*(ir::Expr*)>& select) {
  if (object->kind != ir::Expr::Conditional) return select(object);
  ir::Expr* a = through(object->args[1], select);
  ir::Expr* b = through(object->args[2], select);
  return fn_.make(ir::Expr::Conditional, a->type, "", {object->args[0], a, b});
}

ir::Expr* Frontend::deref(ir::Expr* pointer) {
  const ir::Type* element = pointer->type->element;
  if (pointer->kind == ir::Expr::AddressOf) return pointer->args[0];
  return fn_.make(ir::Expr::Deref, element ? element : pointer->type, "", {pointer});
}

ir::Expr* Frontend::path(const clang::Expr* e) { return value(e); }

ir::Expr* Frontend::global(const ValueDecl* decl, const DeclRefExpr*) {
  std::string text;
  if (const auto* f = dyn_cast<FunctionDecl>(decl)) {
    callees_.insert(f->getCanonicalDecl());
    text = spell_function(f, types_);
  } else {
    llvm::raw_string_ostream os(text);
    os << "::";
    decl->printQualifiedName(os, types_.policy());
    os.flush();
  }
  return fn_.make(ir::Expr::Global, types_.get(decl->getType()), text);
}

ir::Expr* Frontend::reference_to(const DeclRefExpr* e) {
  const ValueDecl* decl = e->getDecl();
  if (refused_.count(decl)) {
    tainted_ = true;
    return literal("0", context_.IntTy);
  }
  if (auto it = bindings_.find(decl); it != bindings_.end()) return it->second;
  if (isa<EnumConstantDecl>(decl) || decl->getType()->isIntegralOrEnumerationType())
    if (const auto* var = dyn_cast<VarDecl>(decl);
        !var || var->isLocalVarDecl() || var->getType().isConstQualified())
      if (isa<EnumConstantDecl>(decl) ? decl->getDeclContext()->isFunctionOrMethod()
                                      : var && (var->isLocalVarDecl() || var->isConstexpr()))
        if (ir::Expr* c = constant(e)) return c;
  if (const auto* var = dyn_cast<VarDecl>(decl); var && var->isLocalVarDeclOrParm()) {
    if (var->getType()->isRealFloatingType() && var->getType().isConstQualified() && var->getInit()) {
      clang::Expr::EvalResult result;
      if (var->getInit()->EvaluateAsRValue(result, context_) && result.Val.isFloat())
        return value(var->getInit());
    }
    if (closures_.count(decl))
      return fail(e->getExprLoc(),
                  "cannot differentiate this use of lambda '" + decl->getNameAsString() +
                      "': a lambda may be called or passed to a function whose definition is visible");
    return fail(e->getExprLoc(),
                "cannot differentiate a use of variable '" + decl->getNameAsString() + "' here");
  }
  if (isa<EnumConstantDecl>(decl) && decl->getDeclContext()->isFunctionOrMethod())
    return fail(e->getExprLoc(), "cannot name enumerator '" + decl->getNameAsString() + "'");
  return global(decl, e);
}

ir::Expr* Frontend::member(const MemberExpr* e) {
  const ValueDecl* decl = e->getMemberDecl();
  if (isa<VarDecl>(decl) || isa<EnumConstantDecl>(decl)) {
    if (ir::Expr* c = constant(e)) return c;
    return global(decl);
  }
  const clang::Expr* base = e->getBase();
  // An inherited member is named through the derived object unless the derived class hides it.
  while (const auto* c = dyn_cast<ImplicitCastExpr>(base->IgnoreParens())) {
    if (c->getCastKind() != CK_UncheckedDerivedToBase && c->getCastKind() != CK_DerivedToBase) break;
    QualType from = c->getSubExpr()->getType();
    if (from->isPointerType()) from = from->getPointeeType();
    const CXXRecordDecl* derived = from->getAsCXXRecordDecl();
    if (!derived || derived->getNumBases() != 1 || !derived->lookup(decl->getDeclName()).empty()) break;
    base = c->getSubExpr();
  }
  ir::Expr* object = value(base);
  if (e->isArrow()) object = deref(object);
  if (!decl->getDeclName()) return object;  // anonymous member: its fields are reached directly
  QualType type = decl->getType();
  if (type->isReferenceType() && types_.get(type)->differentiable)
    return fail(e->getExprLoc(),
                "cannot differentiate through reference member '" + decl->getNameAsString() + "'");
  if (object->type->kind == ir::Type::Opaque && types_.get(type)->differentiable)
    return fail(e->getExprLoc(),
                "cannot differentiate an access to the inside of '" + object->type->name +
                    "', an opaque value; give this function a pullback in clad::custom_derivatives");
  if (object->kind == ir::Expr::InitList) {  // of an aggregate under construction
    unsigned position = cast<CXXRecordDecl>(decl->getDeclContext())->getNumBases();
    for (const FieldDecl* f : cast<CXXRecordDecl>(decl->getDeclContext())->fields()) {
      if (f == decl) break;
      position += f->getDeclName() || !f->isBitField();
    }
    if (position >= object->args.size() || object->args[position]->type->kind == ir::Type::Array)
      return fail(e->getExprLoc(), "cannot differentiate a default member initializer that reads '" +
                                       decl->getNameAsString() + "'; give the class a constructor");
    return object->args[position];
  }
  return through(object, [&](ir::Expr* o) {
    return fn_.make(ir::Expr::Member, types_.get(type), decl->getNameAsString(), {o});
  });
}

ir::Expr* Frontend::cast(const CastExpr* e) {
  const clang::Expr* sub = e->getSubExpr();
  const ir::Type* type = types_.get(e->getType());
  const auto* implicit = dyn_cast<ImplicitCastExpr>(e);
  bool is_explicit = !implicit || implicit->isPartOfExplicitCast();
  switch (e->getCastKind()) {
    case CK_LValueToRValue:
    case CK_FunctionToPointerDecay:
    case CK_BuiltinFnToFnPtr:
    case CK_UserDefinedConversion:
    case CK_ConstructorConversion:
    case CK_ToVoid:
      return value(sub);
    case CK_NoOp: {
      ir::Expr* inner = value(sub);
      return inner;
    }
    case CK_NullToPointer:
      return literal("nullptr", e->getType());
    case CK_ArrayToPointerDecay: {
      if (isa<clang::StringLiteral>(sub->IgnoreParens())) return raw(sub);
      return fn_.make(ir::Expr::Cast, type, "", {value(sub)});
    }
    case CK_DerivedToBase:
    case CK_UncheckedDerivedToBase:
    case CK_BaseToDerived: {
      ir::Expr* inner = value(sub);
      bool pointer = e->getType()->isPointerType();
      const ir::Type* base = pointer ? type->element : type;
      if (pointer) inner = deref(inner);
      ir::Expr* c = through(inner, [&](ir::Expr* object) {
        ir::Expr* up = fn_.make(ir::Expr::Cast, base, base->name + "&", {object});
        up->to_reference = up->explicit_cast = true;
        return up;
      });
      return pointer ? fn_.make(ir::Expr::AddressOf, type, "", {c}) : c;
    }
    case CK_IntegralCast:
    case CK_IntegralToFloating:
    case CK_FloatingToIntegral:
    case CK_FloatingCast:
    case CK_IntegralToBoolean:
    case CK_FloatingToBoolean:
    case CK_PointerToBoolean:
    case CK_BooleanToSignedIntegral: {
      if (ir::Expr* c = isa<UnaryExprOrTypeTraitExpr>(sub->IgnoreParenImpCasts()) ? constant(e) : nullptr)
        return c;
      const QualType to = e->getType().getUnqualifiedType(), from = sub->getType();
      ir::Expr* c = fn_.make(ir::Expr::Cast, type, types_.spell(to), {value(sub)});
      // A conversion that loses something is always written; the others happen by themselves where they did
      // before.
      const bool loses = (from->isRealFloatingType() && !to->isRealFloatingType()) || to->isBooleanType() ||
                         context_.getTypeSize(to) < context_.getTypeSize(from);
      c->explicit_cast = is_explicit || (loses && c->args[0]->kind != ir::Expr::Literal);
      return c;
    }
    default:
      if (type->differentiable || types_.get(sub->getType())->differentiable)
        return fail(e->getExprLoc(),
                    std::string("cannot differentiate this cast (") + e->getCastKindName() + ")");
      return raw(e);
  }
}

ir::Expr* Frontend::init_list(const InitListExpr* e) {
  if (e->isSemanticForm() == false && e->getSemanticForm()) e = e->getSemanticForm();
  if (e->isTransparent() && e->getNumInits() == 1) return value(e->getInit(0));
  const ir::Type* type = types_.get(e->getType());
  if (e->getNumInits() == 1 && !type->is_class() && type->kind != ir::Type::Array)
    return value(e->getInit(0));
  if (e->getNumInits() == 0 && !type->is_class() && type->kind != ir::Type::Array)
    return fn_.make(ir::Expr::Construct, type);
  std::vector<const clang::Expr*> inits;
  for (const clang::Expr* init : e->inits()) inits.push_back(init);
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
  struct Uses : RecursiveASTVisitor<Uses> {
    unsigned objects = 0, members = 0;
    bool VisitCXXThisExpr(CXXThisExpr*) {
      ++objects;
      return true;
    }
    bool VisitMemberExpr(MemberExpr* m) {
      members += isa<CXXThisExpr>(m->getBase()) && isa<FieldDecl>(m->getMemberDecl());
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
    const auto* implied = dyn_cast<CXXDefaultInitExpr>(init);
    if (!implied) {
      append_value(list->args, init);
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

ir::Expr* Frontend::value(const clang::Expr* e) {
  if (const auto* c = dyn_cast<CastExpr>(e)) return cast(c);
  if (const auto* c = dyn_cast<CallExpr>(e)) return call(c);
  if (const auto* c = dyn_cast<CXXConstructExpr>(e)) return construct(c);
  switch (e->getStmtClass()) {
    case clang::Stmt::ParenExprClass:
      return value(llvm::cast<ParenExpr>(e)->getSubExpr());
    case clang::Stmt::ExprWithCleanupsClass:
      return value(llvm::cast<ExprWithCleanups>(e)->getSubExpr());
    case clang::Stmt::ConstantExprClass:
      return value(llvm::cast<ConstantExpr>(e)->getSubExpr());
    case clang::Stmt::MaterializeTemporaryExprClass:
      return value(llvm::cast<MaterializeTemporaryExpr>(e)->getSubExpr());
    case clang::Stmt::CXXBindTemporaryExprClass:
      return value(llvm::cast<CXXBindTemporaryExpr>(e)->getSubExpr());
    case clang::Stmt::SubstNonTypeTemplateParmExprClass:
      return value(llvm::cast<SubstNonTypeTemplateParmExpr>(e)->getReplacement());
    case clang::Stmt::CXXDefaultArgExprClass:
      return value(llvm::cast<CXXDefaultArgExpr>(e)->getExpr());
    case clang::Stmt::CXXDefaultInitExprClass:
      return value(llvm::cast<CXXDefaultInitExpr>(e)->getExpr());
    case clang::Stmt::CXXStdInitializerListExprClass: {
      ir::Expr* list = value(llvm::cast<CXXStdInitializerListExpr>(e)->getSubExpr());
      list->type = types_.get(e->getType());
      return list;
    }
    case clang::Stmt::CXXRewrittenBinaryOperatorClass:
      return value(llvm::cast<CXXRewrittenBinaryOperator>(e)->getSemanticForm());
    case clang::Stmt::DeclRefExprClass:
      return reference_to(llvm::cast<DeclRefExpr>(e));
    case clang::Stmt::CXXThisExprClass:
      if (!self_) return fail(e->getExprLoc(), "cannot differentiate 'this' here");
      return fn_.make(ir::Expr::AddressOf, types_.get(e->getType()), "", {self_});
    case clang::Stmt::MemberExprClass:
      return member(llvm::cast<MemberExpr>(e));
    case clang::Stmt::ArraySubscriptExprClass: {
      const auto* a = llvm::cast<ArraySubscriptExpr>(e);
      ir::Expr* base = value(a->getBase());
      if (base->kind == ir::Expr::Cast && base->text.empty())
        base = base->args[0];  // a[i] of an array, not of its decay
      ir::Expr* index = value(a->getIdx());
      return through(base, [&](ir::Expr* object) {
        return fn_.make(ir::Expr::Index, types_.get(e->getType()), "", {object, index});
      });
    }
    case clang::Stmt::UnaryOperatorClass:
      return unary(llvm::cast<UnaryOperator>(e), /*used=*/true);
    case clang::Stmt::BinaryOperatorClass:
    case clang::Stmt::CompoundAssignOperatorClass:
      return binary(llvm::cast<BinaryOperator>(e), /*used=*/true);
    case clang::Stmt::ConditionalOperatorClass:
      return conditional(llvm::cast<ConditionalOperator>(e));
    case clang::Stmt::InitListExprClass:
      return init_list(llvm::cast<InitListExpr>(e));
    case clang::Stmt::CXXParenListInitExprClass: {
      const auto* list = llvm::cast<CXXParenListInitExpr>(e);
      std::vector<const clang::Expr*> inits;
      for (const clang::Expr* init : list->getInitExprs()) inits.push_back(init);
      return aggregate(types_.get(e->getType()), inits);
    }
    case clang::Stmt::CXXScalarValueInitExprClass:
    case clang::Stmt::ImplicitValueInitExprClass:
      return fn_.make(ir::Expr::Construct, types_.get(e->getType()));
    case clang::Stmt::IntegerLiteralClass:
    case clang::Stmt::CXXBoolLiteralExprClass:
    case clang::Stmt::CharacterLiteralClass:
    case clang::Stmt::FloatingLiteralClass:
    case clang::Stmt::CXXNullPtrLiteralExprClass:
    case clang::Stmt::StringLiteralClass: {
      std::string text;
      if (isa<FloatingLiteral>(e) && !e->getBeginLoc().isMacroID())
        text = source(e->getSourceRange());  // as written
      if (text.empty()) {
        llvm::raw_string_ostream os(text);
        e->printPretty(os, nullptr, types_.policy());
      }
      return literal(text, e->getType());
    }
    case clang::Stmt::LambdaExprClass:
      return fail(e->getExprLoc(),
                  "cannot differentiate this use of a lambda: it may be stored in a variable, called, "
                  "or passed to a function whose definition is visible");
    case clang::Stmt::CXXNewExprClass:
    case clang::Stmt::CXXDeleteExprClass:
      return fail(e->getExprLoc(), "cannot differentiate 'new' and 'delete'; use std::vector");
    case clang::Stmt::CXXThrowExprClass:
      return fail(e->getExprLoc(),
                  "cannot differentiate 'throw'; check arguments before the differentiated function");
    case clang::Stmt::OpaqueValueExprClass:
      if (const auto* source = llvm::cast<OpaqueValueExpr>(e)->getSourceExpr()) return value(source);
      break;
    default:
      break;
  }
  if (ir::Expr* c = constant(e)) return c;
  if (!types_.get(e->getType())->differentiable && !e->HasSideEffects(context_)) return raw(e);
  return fail(e->getExprLoc(),
              std::string("cannot differentiate this expression (") + e->getStmtClassName() + ")");
}

void Frontend::discard(const clang::Expr* e) {
  const clang::Expr* bare = e->IgnoreParens();
  if (const auto* c = dyn_cast<ExprWithCleanups>(bare)) return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<ExplicitCastExpr>(bare); c && c->getType()->isVoidType())
    return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<ImplicitCastExpr>(bare)) return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<CXXBindTemporaryExpr>(bare)) return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<MaterializeTemporaryExpr>(bare)) return discard(c->getSubExpr());
  if (const auto* u = dyn_cast<UnaryOperator>(bare); u && u->isIncrementDecrementOp()) {
    unary(u, /*used=*/false);
    return;
  }
  if (const auto* b = dyn_cast<BinaryOperator>(bare);
      b && (b->isAssignmentOp() || b->getOpcode() == BO_Comma)) {
    binary(b, /*used=*/false);
    return;
  }
  value(bare);  // what it computes is dropped, its effects have been emitted
}

}  // namespace clad
