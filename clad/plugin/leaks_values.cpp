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
  if (const auto* temporary = dyn_cast<MaterializeTemporaryExpr>(e->IgnoreParens());
      temporary && temporary->getType()->isArithmeticType())
    return {};
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

/// What is written to one member of a union that only has other names for it is read from each.
void Leaks::join_names(const FieldDecl* field) {
  const auto* around = cast<CXXRecordDecl>(field->getParent());
  const CXXRecordDecl* all = nullptr;
  for (; around; around = dyn_cast<CXXRecordDecl>(around->getDeclContext())) {
    if (names_numbers(around)) all = around;
    if (!around->isAnonymousStructOrUnion()) break;
  }
  if (!all || !joined_.insert(all).second) return;
  const Place first{all->field_begin()->getCanonicalDecl(), false};
  Items names;
  std::set<const CXXRecordDecl*> seen;
  parts(compat::record_type(all->getASTContext(), all), names, seen);
  for (const Item& i : names) {
    edges_[first].insert({i.node, false});
    edges_[{i.node, false}].insert(first);
  }
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
  join_names(field);
  if (is_mixed(field->getParent()))
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
  const bool moves = e->isCompoundAssignmentOp() && e->getType()->isPointerType();
  if (moves) return items(e->getLHS());
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

}  // namespace clad
