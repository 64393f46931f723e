#include "leaks.h"

#include <algorithm>
#include <utility>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "compat.h"
#include "frontend.h"
#include "globals.h"

using namespace clang;

namespace clad {
namespace {

/// What a pointer, a reference or an array leads to in the end.
QualType behind(QualType type) {
  type = type.getNonReferenceType().getCanonicalType();
  for (;;) {
    if (type->isPointerType())
      type = type->getPointeeType();
    else if (type->isArrayType())
      type = QualType(type->getArrayElementTypeNoTypeQual(), 0);
    else
      return type.getCanonicalType().getUnqualifiedType();
  }
}

bool is_void(QualType type) { return behind(type)->isVoidType(); }

bool is_constant(const Decl* decl) {
  return compat::annotated(decl, "clad::constant") || compat::annotated(decl, "non_differentiable");
}

bool is_opaque(QualType type) {
  const CXXRecordDecl* record = behind(type)->getAsCXXRecordDecl();
  return record && record->hasDefinition() && compat::annotated(record->getDefinition(), "clad::opaque");
}

/// The standard library, and what headers of C define: these functions are not looked into.
bool is_of_library(const Decl* decl) {
  const bool of_c = decl->getDeclContext()->getRedeclContext()->isTranslationUnit() &&
                    decl->getASTContext().getSourceManager().isInSystemHeader(decl->getLocation());
  return of_c || compat::in_std(decl);
}

/// Containers whose numbers are constants, and what makes numbers of its own.
bool keeps_constants(const CXXRecordDecl* record) {
  if (!record->getIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  return name.ends_with("_distribution") ||
         llvm::is_contained({"map", "multimap", "unordered_map", "unordered_multimap", "set", "multiset",
                             "unordered_set", "unordered_multiset", "list", "forward_list", "deque", "any"},
                            name);
}

QualType type_of(const Decl* node) {
  if (const auto* f = dyn_cast<FunctionDecl>(node)) return f->getReturnType();
  if (const auto* v = dyn_cast<ValueDecl>(node)) return v->getType();
  return {};
}

const CXXMethodDecl* call_operator(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || compat::in_std(record)) return nullptr;
  for (const CXXMethodDecl* m : record->getDefinition()->methods())
    if (m->getOverloadedOperator() == OO_Call) return m;
  return nullptr;
}

/// Classes of the library whose numbers the derivatives follow. All others hold constants.
bool is_followed(const CXXRecordDecl* record) {
  if (!record->getIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  return name.starts_with("_") || name.contains("iterator") ||
         llvm::is_contained(
             {"vector", "array", "initializer_list", "pair", "tuple", "optional", "complex", "span",
              "valarray", "unique_ptr", "shared_ptr", "weak_ptr", "reference_wrapper", "allocator"},
             name);
}

/// Whether derivatives are taken of numbers in a value of the type.
bool holds_numbers(QualType type, std::set<const CXXRecordDecl*>& seen) {
  type = behind(type);
  if (type->isRealFloatingType()) return true;
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !seen.insert(record->getDefinition()).second) return false;
  record = record->getDefinition();
  if (compat::annotated(record, "clad::opaque")) return true;
  if (is_constant(record) || record->isLambda()) return false;
  const auto holds = [&](QualType part) { return holds_numbers(part, seen); };
  const auto argument = [&](const TemplateArgument& a) {
    return a.getKind() == TemplateArgument::Type && holds(a.getAsType());
  };
  if (!compat::in_std(record))
    return llvm::any_of(record->bases(),
                        [&](const CXXBaseSpecifier& base) { return holds(base.getType()); }) ||
           llvm::any_of(record->fields(), [&](const FieldDecl* field) { return holds(field->getType()); });
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
  return spec && is_followed(record) &&
         llvm::any_of(spec->getTemplateArgs().asArray(), [&](const TemplateArgument& a) {
           return argument(a) ||
                  (a.getKind() == TemplateArgument::Pack && llvm::any_of(a.getPackAsArray(), argument));
         });
}

/// What smart pointers, vectors and the like hold in the end.
QualType held_in(QualType type) {
  for (;;) {
    type = behind(type);
    const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    if (!spec || !compat::in_std(spec) || !is_followed(spec) || spec->getTemplateArgs().size() == 0 ||
        spec->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
      return type;
    type = spec->getTemplateArgs()[0].getAsType();
  }
}

/// Whether nothing that matters is in an object of the type itself: what a lambda captures has names of its
/// own.
bool is_empty(QualType type) {
  type = behind(type);
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return type->isFunctionType() || type->isMemberPointerType() ||
         (record && record->hasDefinition() &&
          (record->isLambda() || record->isEmpty() || is_constant(record->getDefinition())));
}

bool is_iterator(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record && record->getIdentifier() && record->getName().contains("iterator");
}

/// A generator of random numbers, which depends on nothing but its seed; not a distribution, which is made
/// from numbers.
bool is_generator(QualType type) {
  const CXXRecordDecl* record = behind(type)->getAsCXXRecordDecl();
  return TypeTable::is_random(record) && !record->getName().ends_with("_distribution");
}

}  // namespace

bool Leaks::carries(QualType type) const {
  type = behind(type);
  const auto [it, fresh] = carries_.try_emplace(type.getTypePtr(), false);
  std::set<const CXXRecordDecl*> seen;
  if (fresh) it->second = holds_numbers(type, seen);
  return it->second;
}

bool Leaks::carries(const Node* node) const {
  const QualType type = type_of(node);
  return !type.isNull() && carries(type);
}

/// Whether what comes from there has lost its derivative.
bool Leaks::loses(const Item& item) const {
  if (item.lost || global_.count(item.node)) return true;
  if (!carries(item.node)) return !isa<FunctionDecl>(item.node) || !is_void(type_of(item.node));
  if (const auto* field = dyn_cast<FieldDecl>(item.node))
    return (field->getParent()->isUnion() && !names_one_member(cast<CXXRecordDecl>(field->getParent()))) ||
           field->getType()->isIncompleteArrayType();
  const auto* var = dyn_cast<VarDecl>(item.node);
  return var && (var->hasGlobalStorage() || var->isExceptionVariable());
}

Leaks::Items Leaks::lost(Items items) {
  Items out;
  for (const Item& i : items) out.insert({i.node, true});
  return out;
}

Leaks::Leaks(const Request& request, Functions reached, llvm::function_ref<bool(const FunctionDecl*)> known)
    : at_(request.at), reached_(std::move(reached)), known_(known) {
  depend(request);
  // Which functions are called through pointers and the like is known when all has been seen.
  for (int pass = 0; pass < 2; ++pass) {
    built_.clear();
    items_.clear();
    edges_.clear();
    readings_.clear();
    for (const FunctionDecl* f : reached_) build(f);
  }
}

void Leaks::build(const FunctionDecl* function) {
  const FunctionDecl* definition = nullptr;
  if (const FunctionTemplateDecl* pattern = function->getDescribedFunctionTemplate()) {
    for (const FunctionDecl* f : pattern->specializations()) build(f);
    return;
  }
  if (is_of_library(function) || compat::within_clad(function) || is_constant(function)) return;
  if (!function->hasBody(definition) || definition->isDependentContext()) return;
  if (!built_.insert(definition->getCanonicalDecl()).second) return;
  const FunctionDecl* outer = std::exchange(within_, definition->getCanonicalDecl());
  if (const auto* ctor = dyn_cast<CXXConstructorDecl>(definition))
    for (const CXXCtorInitializer* init : ctor->inits()) {
      if (const FieldDecl* field = init->getAnyMember())
        initialize(first_name(field)->getCanonicalDecl(), field->getType(), init->getInit());
      walk(init->getInit());
    }
  walk(definition->getBody());
  within_ = outer;
}

void Leaks::walk(const clang::Stmt* s) {
  if (!s) return;
  if (const auto* lambda = dyn_cast<LambdaExpr>(s)) {
    for (const LambdaCapture& c : lambda->captures())
      if (c.capturesVariable() && isa<VarDecl>(c.getCapturedVar()) &&
          cast<VarDecl>(c.getCapturedVar())->isInitCapture())
        declare(cast<VarDecl>(c.getCapturedVar()));
    if (const FunctionTemplateDecl* generic = lambda->getCallOperator()->getDescribedFunctionTemplate())
      for (const FunctionDecl* f : generic->specializations()) build(f);
    else
      build(lambda->getCallOperator());
    return;
  }
  if (const auto* d = dyn_cast<DeclStmt>(s)) {
    for (const Decl* one : d->decls())
      if (const auto* var = dyn_cast<VarDecl>(one)) declare(var);
    return;
  }
  if (const auto* r = dyn_cast<ReturnStmt>(s); r && r->getRetValue() && within_) {
    const QualType type = within_->getReturnType();
    const Items& from = items(r->getRetValue());
    for (const Item& i : from)
      if ((type->isReferenceType() || type->isPointerType()) && isa<VarDecl, FunctionDecl>(i.node) &&
          loses(i) && carries(i.node))
        global_.insert(within_);
    if (!global_.count(within_)) {
      bind(from, within_, gives_access(type), r->getRetValue()->getExprLoc());
    } else {
      for (const Item& i : from) {
        edges_[{i.node, false}].insert({within_, false});
        edges_[{within_, false}].insert({i.node, false});
      }
    }
  }
  if (const auto* e = dyn_cast<clang::Expr>(s)) items(e);
  if (const auto* a = dyn_cast<CXXDefaultArgExpr>(s)) walk(a->getExpr());
  if (const auto* a = dyn_cast<CXXDefaultInitExpr>(s)) walk(a->getExpr());
  if (const auto* c = dyn_cast<CXXCatchStmt>(s); c && c->getExceptionDecl()) {
    const Decl* thrown = c->getExceptionDecl()->getASTContext().getTranslationUnitDecl();
    edges_[{thrown, false}].insert({c->getExceptionDecl()->getCanonicalDecl(), false});
  }
  const auto* call = dyn_cast<CallExpr>(s);
  if (const FunctionDecl* f = call ? call->getDirectCallee() : nullptr;
      f && compat::in_clad(f) && named(f, {"stop_gradient"}))
    return;  // what it is given counts as a constant, wherever that comes from
  for (const clang::Stmt* inner : s->children())
    if (!call || !call->getDirectCallee() || inner != call->getCallee())
      walk(inner);
    else if (const auto* member = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParens()))
      walk(member->getBase());
}

void Leaks::declare(const VarDecl* var) {
  if (const auto* parts = dyn_cast<DecompositionDecl>(var))
    for (const BindingDecl* b : parts->bindings())
      if (const VarDecl* holding = b->getHoldingVar()) declare(holding);
  if (!var->getInit()) return;
  initialize(var->getCanonicalDecl(), var->getType(), var->getInit());
  walk(var->getInit());
}

void Leaks::initialize(const Node* to, QualType type, const clang::Expr* init) {
  if (is_constant(to)) return;
  bind(items(init), to, gives_access(type), init->getExprLoc());
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
  if (made->isPRValue() && made->getType()->isRecordType() && !is_iterator(made->getType())) return {};
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

/// A number is made from there.
void Leaks::read(const Items& from, SourceLocation at) {
  for (const Item& i : from) readings_[i.node].push_back({at, i.lost});
}

/// What is written to a parameter by way of which its argument is changed.
Leaks::Place Leaks::written(const Node* node) {
  const auto* p = dyn_cast<ParmVarDecl>(node);
  if (!p || !gives_access(p->getType())) return {node, false};
  edges_[{node, true}].insert({node, false});
  return {node, true};
}

/// What is stored in one of `to`, a variable or a member, depends on `from`.
void Leaks::flow(const Items& from, const Items& to, SourceLocation at) {
  for (const Item& t : to) {
    const QualType type = type_of(t.node);
    if (is_constant(t.node) || (!type.isNull() && (is_generator(type) || is_empty(type)))) continue;
    const bool counts = !type.isNull() && type.getNonReferenceType()->isIntegralOrEnumerationType();
    for (const Item& f : from) {
      if (f.node == t.node && !f.lost) continue;
      if (counts && !f.lost && carries(f.node)) continue;  // which rounds, compares or counts
      edges_[{f.node, false}].insert(written(t.node));
      check(f, t.node, at);
    }
  }
}

/// A number from there is stored here.
void Leaks::check(const Item& from, const Node* to, SourceLocation at) {
  const auto* var = dyn_cast<VarDecl>(to);
  // Reading a global is what counts.
  if (carries(to) && !(var && var->hasGlobalStorage()) && !global_.count(to))
    readings_[from.node].push_back({at, from.lost});
}

/// A reference, a pointer or a parameter `to` starts as `from`, which is changed through it if `access`.
void Leaks::bind(const Items& from, const Node* to, bool access, SourceLocation at) {
  const QualType type = type_of(to);
  if (is_constant(to) || is_generator(type) || is_empty(type)) return;
  const bool is_parameter = isa<ParmVarDecl>(to);
  const bool counts = type.getNonReferenceType()->isIntegralOrEnumerationType();
  for (const Item& f : from) {
    if (f.node == to) continue;
    if (access) edges_[{to, is_parameter}].insert(written(f.node));
    if (counts && !f.lost && carries(f.node)) continue;
    edges_[{f.node, false}].insert({to, false});
    check(f, to, at);
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

/// Of what holds an object, that of which the object's members do not tell: a global, a container without
/// derivatives.
Leaks::Items Leaks::elsewhere(const clang::Expr* object) {
  Items out;
  for (const Item& i : items(object)) {
    const auto* var = dyn_cast<VarDecl>(i.node);
    const QualType type = type_of(i.node);
    const CXXRecordDecl* record = type.isNull() ? nullptr : held_in(type)->getAsCXXRecordDecl();
    const bool in_program = record && !compat::in_std(record) &&
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

Leaks::Items Leaks::of_cast(const CastExpr* e) {
  const clang::Expr* sub = e->getSubExpr();
  const QualType type = e->getType();
  switch (e->getCastKind()) {
    case CK_FloatingToIntegral:
    case CK_FloatingToBoolean:
    case CK_IntegralToBoolean:
    case CK_PointerToBoolean:
    case CK_MemberPointerToBoolean:
    case CK_ToVoid:
    case CK_NullToPointer:
      return {};
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
    if (gives_access(e->getLHS()->getType()))
      for (const Item& i : items(e->getLHS())) bind(items(e->getRHS()), i.node, true, e->getExprLoc());
    return items(e->getLHS());
  }
  // An index says where something is, not what it is.
  if (e->getType()->isPointerType())
    return items(e->getLHS()->getType()->isPointerType() ? e->getLHS() : e->getRHS());
  Items out = items(e->getLHS());
  if (e->isPtrMemOp()) return out;
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
    bind(given, p->getCanonicalDecl(), gives_access(p->getType()), at);
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
  const bool visible = !is_of_library(callee) && !compat::within_clad(callee) && !known_(callee) &&
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
      bind(items(args[i]), p->getCanonicalDecl(), gives_access(p->getType()), args[i]->getExprLoc());
      if (method && !method->isConst()) flow(items(args[i]), elsewhere, args[i]->getExprLoc());
    }
    if (!target->getReturnType()->isVoidType()) out.insert({target->getCanonicalDecl(), false});
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

Leaks::Items Leaks::of_construction(const CXXConstructExpr* e) {
  const CXXConstructorDecl* ctor = e->getConstructor();
  if (is_constant(ctor->getParent())) return {};
  const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
  if (args.size() == 1 && ctor->isCopyOrMoveConstructor() &&
      (!ctor->isUserProvided() || compat::in_std(ctor)))
    return items(args[0]);
  const FunctionDecl* definition = nullptr;
  if (!is_of_library(ctor) && ctor->isUserProvided() && ctor->hasBody(definition) && !known_(ctor))
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
    all.push_back({given, whole(given), param, gives_access(param) || is_iterator(param)});
  }
  Items out, given;
  const bool names_place =
      gives_access(result) || result->isReferenceType() || result->isPointerType() || is_iterator(result);
  for (const Argument& a : all) {
    add(given, a.items);
    if (!names_place) add(out, a.items);
    if (names_place && !a.param.getNonReferenceType()->isArithmeticType()) add(out, items(a.given));
  }
  for (const FunctionDecl* f : called) {
    connect(f, given, e->getExprLoc());
    if (!f->getReturnType()->isVoidType() && !makes_callable) out.insert({f->getCanonicalDecl(), false});
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
  for (const FunctionDecl* f : escaped_) {
    if (f->getNumParams() != args.size()) continue;
    const FunctionDecl* definition = nullptr;
    const FunctionDecl* target = f->hasBody(definition) ? definition : f;
    for (unsigned i = 0; i < args.size(); ++i)
      bind(items(args[i]), target->getParamDecl(i)->getCanonicalDecl(),
           gives_access(target->getParamDecl(i)->getType()), at);
    if (!f->getReturnType()->isVoidType()) out.insert({f, false});
  }
  return out;
}

void Leaks::depend(const Request& request) {
  const FunctionDecl* definition = nullptr;
  const FunctionDecl* f = request.function->hasBody(definition) ? definition : request.function;
  const auto add = [&](QualType type) {
    Items of;
    std::set<const CXXRecordDecl*> seen;
    parts(type, of, seen);
    for (const Item& i : of)
      if (const CXXRecordDecl* r = behind(type_of(i.node))->getAsCXXRecordDecl();
          carries(i.node) || (r && compat::in_std(r) && keeps_constants(r)))
        depends_.insert(i.node);
  };
  for (unsigned i : request.parameters) {
    if (i == Request::object) {
      if (const auto* method = dyn_cast<CXXMethodDecl>(f))
        add(compat::record_type(f->getASTContext(), class_of_object(method, request.heir())));
    } else if (i < f->getNumParams() && carries(f->getParamDecl(i)->getType())) {
      depends_.insert(f->getParamDecl(i)->getCanonicalDecl());
      add(f->getParamDecl(i)->getType());
    }
  }
}

/// What a number comes from, in words.
std::string Leaks::described(const Item& item) const {
  const auto* named = dyn_cast<NamedDecl>(item.node);
  if (!named || isa<TranslationUnitDecl>(item.node)) return "an exception or the environment";
  const std::string name = "'" + named->getNameAsString() + "'";
  const auto* var = dyn_cast<VarDecl>(item.node);
  if (const auto* field = dyn_cast<FieldDecl>(item.node); field && field->getParent()->isUnion())
    return name + ", a member of a union, without its derivative";
  if (isa<FunctionDecl>(item.node)) return "what " + name + " returns, without its derivative";
  if (var && var->hasGlobalStorage())
    return "the global or static variable " + name + ", without its derivative";
  if (carries(item.node)) return name + " by way of text, bytes or another type without derivatives";
  const QualType type = type_of(item.node).getNonReferenceType().getUnqualifiedType();
  return name + " of type '" + type.getAsString(named->getASTContext().getPrintingPolicy()) +
         "', which holds no derivative";
}

void Leaks::report(Diagnose& diagnose) {
  const Diagnose::Use use(diagnose, at_);
  std::vector<Place> open;
  for (const Node* node : depends_) open.push_back({node, false});
  std::set<Place> done;
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    if (!done.insert(place).second) continue;
    if (const auto it = edges_.find(place); it != edges_.end())
      open.insert(open.end(), it->second.begin(), it->second.end());
  }
  std::map<SourceLocation, Item> found;
  for (const auto& [node, out] : done)
    if (const auto it = readings_.find(node); !out && it != readings_.end())
      for (const Reading& r : it->second)
        if (loses({node, r.lost})) found.try_emplace(r.at, Item{node, r.lost});
  std::set<std::pair<const Node*, std::string>> told;  // once in a line
  for (const auto& [at, item] : found) {
    if (!told.insert({item.node, diagnose.shown(at)}).second) continue;
    diagnose.error(
        at, "cannot differentiate this number: it comes from " + described(item) +
                ", and depends on the parameters; keep it in a number, an array, a std::vector or a class "
                "of these, or say that a constant is meant: clad::stop_gradient(x)");
    if (item.node->getLocation().isValid() && !is_of_library(item.node))
      diagnose.note(item.node->getLocation(), "declared here");
  }
}

}  // namespace clad
