// What the value of an expression depends on, and what is changed on the way.
#include "leaks.h"

#include <utility>

#include "carriers.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"
#include "globals.h"

using namespace clang;

namespace clad {

using namespace carriers;
using compat::is_constant;

bool Leaks::is_of_library(const Decl* decl) {
  const bool of_c = decl->getDeclContext()->getRedeclContext()->isTranslationUnit() &&
                    decl->getASTContext().getSourceManager().isInSystemHeader(decl->getLocation());
  return of_c || compat::in_std(decl);
}

static const CXXMethodDecl* call_operator(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || compat::in_std(record)) return nullptr;
  for (const CXXMethodDecl* m : record->getDefinition()->methods())
    if (m->getOverloadedOperator() == OO_Call) return m;
  return nullptr;
}

/// The members of an object of a class of the program, and theirs.
void Leaks::parts(QualType type, Items& to, std::set<const CXXRecordDecl*>& seen) {
  const CXXRecordDecl* record = behind(type)->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || is_constant(record)) return;
  record = record->getDefinition();
  if (compat::annotated(record, "clad::opaque") || !seen.insert(record).second) return;
  if (compat::in_std(record)) {
    if (const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record))
      for (const TemplateArgument& a : spec->getTemplateArgs().asArray())
        if (a.getKind() == TemplateArgument::Type && a.getAsType()->isRecordType())
          parts(a.getAsType(), to, seen);
    return;
  }
  for (const CXXBaseSpecifier& base : record->bases()) parts(base.getType(), to, seen);
  for (const FieldDecl* field : record->fields()) {
    if (is_constant(field)) continue;
    to.insert({field->getCanonicalDecl(), false});
    parts(field->getType(), to, seen);
  }
}

/// What an expression depends on with all that is in the object.
Leaks::Items Leaks::whole(const clang::Expr* e) {
  Items out = items(e);
  std::set<const CXXRecordDecl*> seen;
  if (carries(e->getType())) parts(e->getType(), out, seen);
  return out;
}

/// What is changed where something is written to what an expression names, or points to.
Leaks::Items Leaks::places(const clang::Expr* e) {
  Items out;
  const clang::Expr* made = e->IgnoreParenImpCasts();
  if (const auto* temporary = dyn_cast<MaterializeTemporaryExpr>(made))
    made = temporary->getSubExpr()->IgnoreImplicit();
  if (made->isPRValue() && made->getType()->isRecordType() && !is_access(made->getType())) return {};
  for (const Item& i : items(e)) out.insert({i.node, false});
  for (e = e->IgnoreParenCasts();;) {
    const auto* member = dyn_cast<MemberExpr>(e);
    const auto* unary = dyn_cast<clang::UnaryOperator>(e);
    const auto* element = dyn_cast<ArraySubscriptExpr>(e);
    if (!member && !unary && !element) return out;
    e = member ? member->getBase() : unary ? unary->getSubExpr() : element->getBase();
    for (const Item& i : items(e)) out.insert({i.node, false});
    e = e->IgnoreParenCasts();
  }
}

const Leaks::Items& Leaks::items(const clang::Expr* e) {
  if (const auto it = items_.find(e); it != items_.end()) return it->second;
  items_[e];  // of itself nothing
  Items found = find(e);
  return items_[e] = std::move(found);
}

Leaks::Items Leaks::find(const clang::Expr* e) {
  if (const auto* x = dyn_cast<ParenExpr>(e)) return items(x->getSubExpr());
  if (const auto* x = dyn_cast<FullExpr>(e)) return items(x->getSubExpr());
  if (const auto* x = dyn_cast<MaterializeTemporaryExpr>(e)) return items(x->getSubExpr());
  if (const auto* x = dyn_cast<CXXBindTemporaryExpr>(e)) return items(x->getSubExpr());
  if (const auto* x = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) return items(x->getReplacement());
  if (const auto* x = dyn_cast<CXXDefaultArgExpr>(e)) return items(x->getExpr());
  if (const auto* x = dyn_cast<CXXDefaultInitExpr>(e)) return items(x->getExpr());
  if (const auto* x = dyn_cast<OpaqueValueExpr>(e))
    return x->getSourceExpr() ? items(x->getSourceExpr()) : Items{};
  if (const auto* x = dyn_cast<CXXStdInitializerListExpr>(e)) return items(x->getSubExpr());
  if (const auto* x = dyn_cast<ArrayInitLoopExpr>(e)) return items(x->getCommonExpr());
  if (isa<CXXThisExpr>(e) || isa<LambdaExpr>(e) || isa<UnaryExprOrTypeTraitExpr>(e)) return {};
  if (const auto* x = dyn_cast<CastExpr>(e)) return of_cast(x);
  if (const auto* x = dyn_cast<CallExpr>(e)) return of_call(x);
  if (const auto* x = dyn_cast<CXXConstructExpr>(e)) return of_construction(x);
  if (const auto* x = dyn_cast<clang::BinaryOperator>(e)) return of_binary(x);
  if (const auto* x = dyn_cast<MemberExpr>(e)) return of_member(x);
  if (const auto* x = dyn_cast<InitListExpr>(e)) return of_list(x);
  if (const auto* x = dyn_cast<CXXNewExpr>(e)) return of_new(x);
  if (const auto* x = dyn_cast<ArraySubscriptExpr>(e)) return items(x->getBase());
  if (const auto* x = dyn_cast<clang::UnaryOperator>(e))
    return x->getOpcode() == UO_LNot ? Items{} : items(x->getSubExpr());
  if (const auto* x = dyn_cast<AbstractConditionalOperator>(e)) {
    Items out = items(x->getTrueExpr());
    add(out, items(x->getFalseExpr()));
    return out;
  }
  if (const auto* x = dyn_cast<DeclRefExpr>(e)) {
    if (const auto* b = dyn_cast<BindingDecl>(x->getDecl())) {
      Items out = b->getBinding() ? items(b->getBinding()) : Items{};
      out.insert({b->getDecomposedDecl()->getCanonicalDecl(), false});
      return out;
    }
    if (const auto* f = dyn_cast<FunctionDecl>(x->getDecl()); f && !is_of_library(f)) escaped_.insert(f);
    const auto* var = dyn_cast<VarDecl>(x->getDecl());
    if (!var || is_constant(var) || is_generator(var->getType()) || is_empty(var->getType())) return {};
    return {{var->getCanonicalDecl(), false}};
  }
  if (const auto* x = dyn_cast<CXXThrowExpr>(e)) {
    if (x->getSubExpr())
      for (const Item& i : whole(x->getSubExpr()))
        edges_[{i.node, false}].insert({within_->getASTContext().getTranslationUnitDecl(), false});
    return {};
  }
  if (const auto* x = dyn_cast<StmtExpr>(e)) {
    const auto* last =
        x->getSubStmt()->body_empty() ? nullptr : dyn_cast<clang::Expr>(x->getSubStmt()->body_back());
    return last ? items(last) : Items{};
  }
  return of_children(e);
}

/// An expression of a kind that nothing here knows.
Leaks::Items Leaks::of_children(const clang::Expr* e) {
  Items out;
  for (const clang::Stmt* inner : e->children())
    if (const auto* x = dyn_cast_or_null<clang::Expr>(inner)) add(out, items(x));
  return carries(e->getType()) ? out : lost(out);
}

/// Whether objects of the class hold functions and no numbers: what the functions capture is followed where
/// such an object is a variable, and not in a std::optional or std::pair of them.
static bool holds_functions(const CXXRecordDecl* record) {
  if (!record->hasDefinition() || compat::in_std(record)) return false;
  return llvm::any_of(record->getDefinition()->fields(), [](const FieldDecl* f) {
    const CXXRecordDecl* part = f->getType()->getAsCXXRecordDecl();  // not what a pointer leads to
    return Frontend::is_callable(f->getType()) || (part && holds_functions(part));
  });
}

/// Of what holds an object, that of which the object's members do not tell: a global, a container without
/// derivatives.
Leaks::Items Leaks::elsewhere(const clang::Expr* object) {
  Items out;
  for (const Item& i : items(object)) {
    const auto* var = dyn_cast<VarDecl>(i.node);
    const QualType type = type_of(i.node);
    const CXXRecordDecl* record = type.isNull() ? nullptr : held_in(type)->getAsCXXRecordDecl();
    const CXXRecordDecl* holder = type.isNull() ? nullptr : type.getNonReferenceType()->getAsCXXRecordDecl();
    const bool unseen = record && holder && record != holder && holder->getIdentifier() && !carries(type) &&
                        holds_functions(record) &&
                        llvm::is_contained({"optional", "pair", "tuple"}, holder->getName());
    const bool in_program = record && !compat::in_std(record) && !unseen &&
                            !(var && (var->hasGlobalStorage() || var->isExceptionVariable()));
    if (isa<FunctionDecl>(i.node) || i.lost || (loses(i) && !in_program)) out.insert(i);
  }
  return out;
}

Leaks::Items Leaks::of_member(const MemberExpr* e) {
  if (const auto* var = dyn_cast<VarDecl>(e->getMemberDecl()))
    return is_constant(var) ? Items{} : Items{{var->getCanonicalDecl(), false}};
  const auto* field = dyn_cast<FieldDecl>(e->getMemberDecl());
  if (!field) return items(e->getBase());
  field = first_name(field);
  if (is_constant(field) || is_constant(field->getParent())) return {};
  // Members of the library's classes, as of a std::pair, are changed by functions that are not looked into.
  Items out = compat::in_std(field->getParent()) ? items(e->getBase()) : elsewhere(e->getBase());
  if (!is_empty(field->getType()) && !is_generator(field->getType()))
    out.insert({field->getCanonicalDecl(), false});
  if (field->getParent()->isUnion() && !names_one_member(cast<CXXRecordDecl>(field->getParent())))
    for (const FieldDecl* other : field->getParent()->fields())
      if (other != field) {
        const bool alike = other->getASTContext().hasSameUnqualifiedType(other->getType(), field->getType());
        out.insert(
            {other->getCanonicalDecl(), !alike && carries(other->getType()) != carries(field->getType())});
      }
  return out;
}

/// s.*m and p->*m: any member of the type.
Leaks::Items Leaks::of_member_pointed(const clang::BinaryOperator* e) {
  Items out = items(e->getLHS()), all;
  std::set<const CXXRecordDecl*> seen;
  const QualType object = e->getLHS()->getType();
  parts(object->isPointerType() ? object->getPointeeType() : object, all, seen);
  const ASTContext& context = within_->getASTContext();
  for (const Item& i : all)
    if (context.hasSameUnqualifiedType(type_of(i.node), e->getType())) out.insert(i);
  return out;
}

Leaks::Items Leaks::of_cast(const CastExpr* e) {
  const clang::Expr* sub = e->getSubExpr();
  const QualType type = e->getType();
  switch (e->getCastKind()) {
    case CK_FloatingToIntegral:
    case CK_FloatingToBoolean:
    case CK_PointerToBoolean:
    case CK_MemberPointerToBoolean:
    case CK_ToVoid:
    case CK_NullToPointer:
      return {};
    case CK_IntegralToBoolean: {  // a bit of a number may be put back
      Items out = items(sub);
      std::erase_if(out, [&](const Item& i) { return !loses(i); });
      return out;
    }
    case CK_LValueToRValue:
    case CK_IntegralToFloating:
      if (type->isRealFloatingType()) read(items(sub), e->getExprLoc());
      return items(sub);
    case CK_BitCast:
    case CK_LValueBitCast:
    case CK_LValueToRValueBitCast:
    case CK_PointerToIntegral:
    case CK_IntegralToPointer:
    case CK_VectorSplat:
    case CK_FloatingRealToComplex:
    case CK_FloatingComplexToReal: {
      if (is_void(type)) return whole(sub);
      Items out = whole(sub);
      if (!carries(type)) return lost(out);
      // What is reached from another object, by way of its address.
      if (!is_void(sub->getType()) && !carries(sub->getType())) {
        Items inside;
        std::set<const CXXRecordDecl*> seen;
        parts(type, inside, seen);
        read(lost(inside), e->getExprLoc());
      }
      // A pointer that was made void stays what it was.
      if (!is_void(sub->getType()) || isa<DeclRefExpr, MemberExpr>(sub->IgnoreParenImpCasts()))
        read(out, e->getExprLoc());
      return out;
    }
    default:
      return items(sub);
  }
}

Leaks::Items Leaks::of_binary(const clang::BinaryOperator* e) {
  if (e->isComparisonOp() || e->isLogicalOp()) return {};
  if (e->isCommaOp()) return items(e->getRHS());
  if (e->isAssignmentOp()) {
    flow(items(e->getRHS()), places(e->getLHS()), e->getExprLoc());
    if (is_access(e->getLHS()->getType()))
      for (const Item& i : items(e->getLHS())) bind(items(e->getRHS()), i.node, true, e->getExprLoc());
    return items(e->getLHS());
  }
  // An index says where something is, not what it is.
  if (e->getType()->isPointerType())
    return items(e->getLHS()->getType()->isPointerType() ? e->getLHS() : e->getRHS());
  if (e->isPtrMemOp()) return of_member_pointed(e);
  Items out = items(e->getLHS());
  add(out, items(e->getRHS()));
  if (e->getOpcode() == BO_Sub && e->getLHS()->getType()->isPointerType() &&
      e->getRHS()->getType()->isPointerType())
    std::erase_if(out, [&](const Item& i) { return !loses(i); });
  return out;
}

Leaks::Items Leaks::of_list(const InitListExpr* e) {
  if (const InitListExpr* semantic = e->isSemanticForm() ? nullptr : e->getSemanticForm()) e = semantic;
  const CXXRecordDecl* record = e->getType()->getAsCXXRecordDecl();
  Items out;
  if (record && record->hasDefinition() && !compat::in_std(record)) {
    unsigned k = record->isAggregate() ? record->getNumBases() : 0;
    for (unsigned b = 0; b < k && b < e->getNumInits(); ++b) add(out, items(e->getInit(b)));
    if (record->isUnion()) {
      if (const FieldDecl* field = e->getInitializedFieldInUnion(); field && e->getNumInits())
        initialize(field->getCanonicalDecl(), field->getType(), e->getInit(0));
      return out;
    }
    for (const FieldDecl* field : record->fields()) {
      if (field->isUnnamedBitField()) continue;
      if (k < e->getNumInits()) initialize(field->getCanonicalDecl(), field->getType(), e->getInit(k++));
    }
    return out;
  }
  for (const clang::Expr* init : e->inits()) add(out, items(init));
  return out;
}

Leaks::Items Leaks::of_new(const CXXNewExpr* e) {
  Items out = e->getInitializer() ? items(e->getInitializer()) : Items{};
  for (const clang::Expr* place : e->placement_arguments()) {
    if (place->getType()->isPointerType()) {
      flow(out, places(place), e->getExprLoc());
      Items at = items(place);
      if (carries(e->getType())) read(at, e->getExprLoc());
      add(out, at);
    }
  }
  return out;
}

/// The functions that a value stands for, where its type or its name says so.
std::vector<const FunctionDecl*> Leaks::callables(const clang::Expr* e) {
  e = strip(e);
  if (Frontend::is_bound(e->getType())) return {bound_.begin(), bound_.end()};
  if (const auto* u = dyn_cast<clang::UnaryOperator>(e); u && u->getOpcode() == UO_AddrOf)
    e = strip(u->getSubExpr());
  if (const auto* ref = dyn_cast<DeclRefExpr>(e))
    if (const auto* f = dyn_cast<FunctionDecl>(ref->getDecl())) return {f};
  if (const CXXMethodDecl* op = call_operator(e->getType())) return {op};
  const CXXRecordDecl* record = e->getType()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !record->isLambda()) return {};
  std::vector<const FunctionDecl*> out;
  if (const FunctionTemplateDecl* generic = record->getDependentLambdaCallOperator())
    out.assign(generic->spec_begin(), generic->spec_end());
  return out;
}

/// Something calls the function with these arguments, it is not known in which order.
void Leaks::connect(const FunctionDecl* callee, const Items& given, SourceLocation at) {
  const FunctionDecl* definition = nullptr;
  if (callee->hasBody(definition)) callee = definition;
  for (const ParmVarDecl* p : callee->parameters())
    bind(given, p->getCanonicalDecl(), is_access(p->getType()), at);
}

Leaks::Items Leaks::of_call(const CallExpr* e) {
  const FunctionDecl* callee = e->getDirectCallee();
  if (!callee) return of_indirect({e->getArgs(), e->getNumArgs()}, e->getExprLoc());
  if (is_constant(callee)) return {};
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (method && is_constant(method->getParent())) return {};
  std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  const clang::Expr* object = nullptr;
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(e)) {
    object = member->getImplicitObjectArgument();
  } else if (isa<CXXOperatorCallExpr>(e) && method && !method->isStatic() && !args.empty()) {
    object = args.front();
    args.erase(args.begin());
  }
  if (compat::within_clad(callee)) {  // clad::gradient, execute()
    Items out;
    for (const clang::Expr* a : args)
      for (const Item& i : items(a))
        if (!loses(i) && !isa<FunctionDecl>(i.node)) out.insert(i);
    return out;
  }
  if (compat::in_std(callee) && args.size() == 1 && !object &&
      named(callee, {"move", "forward", "as_const", "move_if_noexcept", "addressof", "__addressof"}))
    return items(args[0]);
  const FunctionDecl* definition = nullptr;
  const bool visible = !is_of_library(callee) && !known_(callee) &&
                       (callee->hasBody(definition) || (method && method->isVirtual())) &&
                       (callee->isUserProvided() || !method);
  if (!visible && method && object && args.size() == 1 &&
      (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator())) {
    flow(whole(args[0]), places(object), e->getExprLoc());
    return items(object);
  }
  if (!visible) return of_unknown(e, callee, args, object);
  return of_visible(callee, args, object);
}

Leaks::Items Leaks::of_visible(const FunctionDecl* callee, llvm::ArrayRef<const clang::Expr*> args,
                               const clang::Expr* object) {
  std::vector<const FunctionDecl*> targets{callee};
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (method && method->isVirtual())
    for (const FunctionDecl* f : reached_) {
      const auto* other = dyn_cast<CXXMethodDecl>(f);
      if (other && other != method && other->isVirtual() && other->getDeclName() == method->getDeclName() &&
          other->getParent()->hasDefinition() && other->getParent()->isDerivedFrom(method->getParent()))
        targets.push_back(other);
    }
  const Items elsewhere = object ? this->elsewhere(object) : Items{};
  Items out;
  for (const FunctionDecl* target : targets) {
    build(target);
    const FunctionDecl* definition = nullptr;
    if (target->hasBody(definition)) target = definition;
    for (unsigned i = 0; i < args.size() && i < target->getNumParams(); ++i) {
      const ParmVarDecl* p = target->getParamDecl(i);
      const clang::Expr* given = contexts_.count(p) ? without_void(args[i]) : args[i];
      bind(items(given), p->getCanonicalDecl(), is_access(p->getType()), args[i]->getExprLoc());
      if (method && !method->isConst()) flow(items(args[i]), elsewhere, args[i]->getExprLoc());
    }
    if (!target->getReturnType()->isVoidType()) out.insert({target->getCanonicalDecl(), false});
    add(out, of_ellipsis(target, args));
  }
  // `return *this`, or the stream that it was given.
  const std::optional<unsigned> same =
      targets.size() == 1 ? Frontend::returned_parameter(callee) : std::nullopt;
  if (same && callee->getReturnType()->isReferenceType()) {
    const bool is_object = method && !method->isStatic() && object;
    if (is_object && *same == 0) return items(object);
    if (const unsigned k = *same - (is_object ? 1 : 0); k < args.size()) return items(args[k]);
  }
  if (!callee->getReturnType()->isVoidType()) {
    if (callee->getReturnType()->isRealFloatingType() && object) read(elsewhere, object->getExprLoc());
    if (carries(callee->getReturnType())) add(out, elsewhere);
  }
  return out;
}

/// Whether a body reads what is passed in place of `...`.
static bool reads_ellipsis(const clang::Stmt* s) {
  const auto* call = dyn_cast_or_null<CallExpr>(s);
  const FunctionDecl* f = call ? call->getDirectCallee() : nullptr;
  return s && ((f && named(f, {"__builtin_va_start", "__va_start"})) ||
               llvm::any_of(s->children(), [](const clang::Stmt* inner) { return reads_ellipsis(inner); }));
}

/// What is passed in place of `...` may be written to each argument, and each to what it points to.
Leaks::Items Leaks::of_ellipsis(const FunctionDecl* callee, llvm::ArrayRef<const clang::Expr*> args) {
  Items out;
  const unsigned named = callee->getNumParams();
  if (!callee->isVariadic() || !reads_ellipsis(callee->getBody())) return out;
  for (unsigned i = 0; i < args.size(); ++i) {
    if (i >= named) add(out, lost(whole(args[i])));
    const QualType to = i < named ? callee->getParamDecl(i)->getType() : args[i]->getType();
    for (unsigned k = 0; k < args.size() && is_access(to); ++k)
      if (k != i && (i >= named || k >= named))
        flow(lost(whole(args[k])), places(args[i]), args[i]->getExprLoc());
  }
  return out;
}

Leaks::Items Leaks::of_construction(const CXXConstructExpr* e) {
  const CXXConstructorDecl* ctor = e->getConstructor();
  if (is_constant(ctor->getParent())) return {};
  const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  if (args.size() == 1 && ctor->isCopyOrMoveConstructor() &&
      (!ctor->isUserProvided() || compat::in_std(ctor)))
    return items(args[0]);
  const FunctionDecl* definition = nullptr;
  if (!is_of_library(ctor) && ctor->hasBody(definition) && !known_(ctor))
    return of_visible(ctor, args, nullptr);
  return of_unknown(e, ctor, args, nullptr);
}

/// A function that is not looked into: what it returns and what it may change depends on all that it is
/// given.
Leaks::Items Leaks::of_unknown(const clang::Expr* e, const FunctionDecl* callee,
                               llvm::ArrayRef<const clang::Expr*> args, const clang::Expr* object) {
  struct Argument {
    const clang::Expr* given;
    Items items;  ///< with all that is in it
    QualType param;
    bool changed;
  };
  std::vector<Argument> all;
  std::vector<const FunctionDecl*> called;
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const QualType result = isa<CXXConstructExpr>(e) ? e->getType() : callee->getReturnType();
  const bool makes_callable = Frontend::is_callable(result);
  if (object) {
    const bool changes = method && !method->isConst() && !is_generator(object->getType());
    all.push_back({object, whole(object), object->getType(), changes});
  }
  // A std::function stands for what it was given; what it was made of otherwise, by std::bind, it holds.
  Items indirect;
  const bool calls = object && method && compat::in_std(method) && method->getOverloadedOperator() == OO_Call;
  if (calls) indirect = of_indirect(args, e->getExprLoc());
  for (unsigned i = 0; i < args.size(); ++i) {
    const clang::Expr* given = args[i];
    const std::vector<const FunctionDecl*> functions = callables(given);
    called.insert(called.end(), functions.begin(), functions.end());
    for (const FunctionDecl* f : functions)
      if (!is_of_library(f)) escaped_.insert(f);
    if (!functions.empty()) continue;
    const QualType param = i < callee->getNumParams() ? callee->getParamDecl(i)->getType()
                                                      : given->IgnoreParenImpCasts()->getType();
    all.push_back({given, whole(given), param, is_access(param)});
  }
  Items out, given;
  const bool names_place = is_access(result) || result->isReferenceType() || result->isPointerType();
  for (const Argument& a : all) {
    add(given, a.items);
    if (!names_place) add(out, a.items);
    // An index, or a number by value, is no place.
    const bool is_number =
        a.param->isArithmeticType() || a.param.getNonReferenceType()->isIntegralOrEnumerationType();
    if (names_place && !is_number) add(out, items(a.given));
  }
  for (const FunctionDecl* f : called) {
    connect(f, given, e->getExprLoc());
    if (!f->getReturnType()->isVoidType() && !makes_callable) out.insert({f->getCanonicalDecl(), false});
  }
  if (Frontend::is_bound(result)) {
    const std::vector<const FunctionDecl*> any{escaped_.begin(), escaped_.end()};
    if (called.empty() || llvm::any_of(called, [](const FunctionDecl* f) { return is_of_library(f); }))
      add(bound_values_, given);
    for (const FunctionDecl* f : called.empty() ? any : called) {
      bound_.insert(f);
      connect(f, given, e->getExprLoc());
    }
    for (const clang::Expr* a : args)
      if (const auto* pointer = dyn_cast<clang::UnaryOperator>(strip(a));
          pointer && a->getType()->isMemberDataPointerType())
        if (const auto* member = dyn_cast<DeclRefExpr>(pointer->getSubExpr()->IgnoreParens()))
          bound_fields_.insert(member->getDecl()->getCanonicalDecl());
    return {};
  }
  add(out, indirect);
  for (const Argument& a : all) {
    const Items to = a.changed ? places(a.given) : Items{};
    if (to.empty()) continue;  // or a temporary object
    const clang::Expr* written = a.given->IgnoreParenImpCasts();
    const bool counts =
        behind(a.param)->isIntegralOrEnumerationType() && !behind(a.param)->isAnyCharacterType();
    for (const Argument& b : all) {
      if (&a == &b || (counts && b.param->isArithmeticType())) continue;
      const bool as_bytes = is_void(b.param) || behind(b.param)->isAnyCharacterType();
      flow(as_bytes && !carries(written->getType()) ? lost(b.items) : b.items, to, e->getExprLoc());
      if (carries(written->getType())) read(b.items, e->getExprLoc());
    }
    for (const FunctionDecl* f : called)
      if (!f->getReturnType()->isVoidType() && !Frontend::is_callable(a.given->getType()))
        flow({{f->getCanonicalDecl(), false}}, to, e->getExprLoc());
  }
  const Decl* hidden = callee->getASTContext().getTranslationUnitDecl();
  if (named(callee, {"setenv", "putenv", "rethrow_exception"}))
    for (const Item& i : out) edges_[{i.node, false}].insert({hidden, false});
  if (named(callee, {"getenv", "secure_getenv", "current_exception"})) out.insert({hidden, true});
  const auto* space = dyn_cast<NamespaceDecl>(callee->getDeclContext()->getEnclosingNamespaceContext());
  const bool on_files = !method && space && space->getName() == "filesystem" && compat::in_std(callee);
  if (on_files)
    for (const Item& i : given) edges_[{i.node, false}].insert({hidden, false});
  if (on_files || is_file(result)) out.insert({hidden, true});
  if (result->isVoidType()) return {};
  if (is_void(result)) return out;
  if (carries(result)) {
    read(out, e->getExprLoc());
    return out;
  }
  std::erase_if(out, [](const Item& i) { return !type_of(i.node).isNull() && is_opaque(type_of(i.node)); });
  // A part of an object in which no number is.
  if (names_place) {
    std::erase_if(out, [&](const Item& i) { return !loses(i); });
    return out;
  }
  if (result->isIntegralOrEnumerationType() && !named(callee, {"bit_cast", "__builtin_bit_cast"})) {
    std::erase_if(out, [&](const Item& i) { return !loses(i); });
    return out;
  }
  return lost(out);
}

/// A call through a pointer or a std::function: of any function that somebody else may call.
Leaks::Items Leaks::of_indirect(llvm::ArrayRef<const clang::Expr*> args, SourceLocation at) {
  Items out;
  for (const Node* field : bound_fields_) out.insert({field, false});
  add(out, bound_values_);
  for (const FunctionDecl* f : escaped_) {
    const bool bound = bound_.count(f);
    if (f->getNumParams() != args.size() && !bound) continue;
    if (!f->getReturnType()->isVoidType()) out.insert({f, false});
    if (bound)
      for (const clang::Expr* a : args) connect(f, whole(a), at);
    if (bound) continue;
    const FunctionDecl* definition = nullptr;
    const FunctionDecl* target = f->hasBody(definition) ? definition : f;
    for (unsigned i = 0; i < args.size(); ++i) {
      const ParmVarDecl* p = target->getParamDecl(i);
      bind(items(contexts_.count(p) ? without_void(args[i]) : args[i]), p->getCanonicalDecl(),
           is_access(p->getType()), at);
    }
  }
  return out;
}

}  // namespace clad
