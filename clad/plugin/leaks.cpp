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

QualType Leaks::type_of(const Node* node) {
  if (const auto* f = dyn_cast<FunctionDecl>(node)) return f->getReturnType();
  if (const auto* v = dyn_cast<ValueDecl>(node)) return v->getType();
  return {};
}

bool Leaks::carries(QualType type) const {
  type = behind(type);
  const auto [it, fresh] = carries_.try_emplace(type.getTypePtr(), false);
  std::set<const CXXRecordDecl*> seen;
  if (fresh) it->second = holds_numbers(type, seen);
  return it->second;
}

bool Leaks::carries(const Node* node) const {
  if (const auto* p = dyn_cast<ParmVarDecl>(node); p && contexts_.count(p)) return true;
  const QualType type = type_of(node);
  return !type.isNull() && carries(type);
}

/// Whether this is a union whose members differ, so that a number may be read as something else.
bool Leaks::is_mixed(const RecordDecl* record) {
  const auto* c = cast<CXXRecordDecl>(record);
  return c->isUnion() && !names_one_member(c) && !names_numbers(c);
}

/// Whether what comes from there has lost its derivative.
bool Leaks::loses(const Item& item) const {
  if (item.lost || global_.count(item.node)) return true;
  if (!carries(item.node)) return !isa<FunctionDecl>(item.node) || !is_void(type_of(item.node));
  if (const auto* field = dyn_cast<FieldDecl>(item.node))
    return is_mixed(field->getParent()) || field->getType()->isIncompleteArrayType();
  const auto* var = dyn_cast<VarDecl>(item.node);
  return var && (var->hasGlobalStorage() || var->isExceptionVariable());
}

Leaks::Items Leaks::lost(Items items) {
  Items out;
  for (const Item& i : items) out.insert({i.node, true});
  return out;
}

Leaks::Leaks(const Request& request, Functions reached, const std::set<const ParmVarDecl*>& contexts,
             llvm::function_ref<bool(const FunctionDecl*)> known)
    : at_(request.at), reached_(std::move(reached)), contexts_(contexts), known_(known) {
  depend(request);
  // Which functions are called through pointers and the like is known when all has been seen.
  for (int pass = 0; pass < 2; ++pass) {
    built_.clear();
    begun_.clear();
    joined_.clear();
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

/// The classes in an object of the library, which calls their constructors where nobody looks.
void Leaks::begin_classes_in(QualType type) {
  type = behind(type);
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !begun_.insert(record->getDefinition()).second) return;
  record = record->getDefinition();
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (spec && compat::in_std(record))
    for (const TemplateArgument& argument : spec->getTemplateArgs().asArray()) {
      if (argument.getKind() == TemplateArgument::Type) begin_classes_in(argument.getAsType());
      if (argument.getKind() != TemplateArgument::Pack) continue;
      for (const TemplateArgument& one : argument.pack_elements())
        if (one.getKind() == TemplateArgument::Type) begin_classes_in(one.getAsType());
    }
  if (is_of_library(record)) return;
  for (const CXXBaseSpecifier& base : record->bases()) begin_classes_in(base.getType());
  for (const CXXConstructorDecl* ctor : record->ctors()) build(ctor);
  for (const FieldDecl* field : record->fields()) {
    begin_classes_in(field->getType());
    const clang::Expr* init = field->hasInClassInitializer() ? field->getInClassInitializer() : nullptr;
    if (!init) continue;
    initialize(first_name(field)->getCanonicalDecl(), field->getType(), init);
    walk(init);
  }
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
      bind(from, within_, is_access(type), r->getRetValue()->getExprLoc());
    } else {
      for (const Item& i : from) {
        edges_[{i.node, false}].insert({within_, false});
        edges_[{within_, false}].insert({i.node, false});
      }
    }
  }
  if (const auto* e = dyn_cast<clang::Expr>(s)) {
    items(e);
    if (const CXXRecordDecl* record = e->getType()->getAsCXXRecordDecl(); record && compat::in_std(record))
      begin_classes_in(e->getType());
  }
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
  begin_classes_in(var->getType());
  if (!var->getInit()) return;
  initialize(var->getCanonicalDecl(), var->getType(), var->getInit());
  walk(var->getInit());
}

void Leaks::initialize(const Node* to, QualType type, const clang::Expr* init) {
  if (is_constant(to)) return;
  bind(items(init), to, is_access(type), init->getExprLoc());
}

/// A number is made from there.
void Leaks::read(const Items& from, SourceLocation at) {
  for (const Item& i : from) readings_[i.node].push_back({at, i.lost});
}

/// What is written to a parameter by way of which its argument is changed.
Leaks::Place Leaks::written(const Node* node) {
  const auto* p = dyn_cast<ParmVarDecl>(node);
  if (!p || !is_access(p->getType())) return {node, false};
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
    const bool is_value = isa<FunctionDecl>(f.node) && !is_access(type_of(f.node));
    if (access && !is_value) edges_[{to, is_parameter}].insert(written(f.node));
    if (counts && !f.lost && carries(f.node)) continue;
    edges_[{f.node, false}].insert({to, false});
    check(f, to, at);
  }
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
          carries(i.node) ||
          (r && compat::in_std(r) && is_constant_class(r) && !is_iterator(type_of(i.node))))
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
  if (!named || isa<TranslationUnitDecl>(item.node)) return "an exception, a file or the environment";
  const std::string name = "'" + named->getNameAsString() + "'";
  const auto* var = dyn_cast<VarDecl>(item.node);
  if (const auto* field = dyn_cast<FieldDecl>(item.node); field && field->getParent()->isUnion())
    return (named->getDeclName() ? name : "a part without a name") +
           ", a member of a union, without its derivative";
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
