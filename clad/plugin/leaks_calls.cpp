// What calls depend on, and what they change: of functions that are seen, of those that are not, and by way
// of pointers.
#include "carriers.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"
#include "globals.h"
#include "leaks.h"

using namespace clang;

namespace clad {

using namespace carriers;
using compat::is_constant;

static const CXXMethodDecl* call_operator(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || compat::in_std(record)) return nullptr;
  for (const CXXMethodDecl* m : record->getDefinition()->methods())
    if (m->getOverloadedOperator() == OO_Call) return m;
  return nullptr;
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

/// Whether what a function returns depends on nothing but its arguments. Other calls of it are then none of
/// this one's business.
bool Leaks::depends_on_arguments_alone(const FunctionDecl* function) {
  const FunctionDecl* definition = nullptr;
  const auto numbers = [](const FunctionDecl* f) {
    return f->getReturnType()->isArithmeticType() && llvm::all_of(f->parameters(), [](const ParmVarDecl* p) {
             return p->getType().getNonReferenceType()->isArithmeticType() && !is_access(p->getType());
           });
  };
  if (!numbers(function)) return false;
  if (is_of_library(function)) return true;
  if (known_(function) || !function->hasBody(definition)) return false;
  // What calls itself, it may be by way of others, is taken to depend on more.
  const auto [it, fresh] = pure_.try_emplace(definition->getCanonicalDecl(), false);
  if (!fresh) return it->second;
  const auto look = [&](const auto& self, const clang::Stmt* s) -> bool {
    if (!s) return true;
    if (isa<CXXThisExpr, LambdaExpr, CXXNewExpr, CXXConstructExpr>(s)) return false;
    if (const auto* ref = dyn_cast<DeclRefExpr>(s))
      if (const auto* var = dyn_cast<VarDecl>(ref->getDecl()); var && var->hasGlobalStorage())
        return var->isConstexpr() || (var->getType().isConstQualified() && var->hasConstantInitialization());
    if (const auto* call = dyn_cast<CallExpr>(s)) {
      const FunctionDecl* callee = call->getDirectCallee();
      if (!callee || !depends_on_arguments_alone(callee)) return false;
    }
    return llvm::all_of(s->children(), [&](const clang::Stmt* inner) { return self(self, inner); });
  };
  const bool pure = look(look, definition->getBody());
  return pure_[definition->getCanonicalDecl()] = pure;
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
      const bool writes = is_access(p->getType()) && !places(args[i]).empty();  // not to a temporary
      bind(items(given), p->getCanonicalDecl(), writes, args[i]->getExprLoc());
      if (method && !method->isConst()) flow(items(args[i]), elsewhere, args[i]->getExprLoc());
    }
    const bool constant = !object &&
                          llvm::all_of(args, [&](const clang::Expr* a) { return items(a).empty(); }) &&
                          depends_on_arguments_alone(target);
    if (!target->getReturnType()->isVoidType() && !constant) out.insert({target->getCanonicalDecl(), false});
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

/// Whether a function of the library puts its arguments side by side and changes none by another.
static bool keeps_apart(const FunctionDecl* callee) {
  if (!compat::in_std(callee)) return false;
  const auto* ctor = dyn_cast<CXXConstructorDecl>(callee);
  if (!ctor) return named(callee, {"make_pair", "make_tuple", "forward_as_tuple"});
  return ctor->getParent()->getName() == "pair" || ctor->getParent()->getName() == "tuple";
}

/// The program's classes of which objects are in one of a type of the library.
static void add_classes_in(QualType type, std::set<const CXXRecordDecl*>& classes) {
  const CXXRecordDecl* record = behind(type)->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || is_constant(record)) return;
  if (!classes.insert(record->getDefinition()).second || !compat::in_std(record)) return;
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record->getDefinition());
  if (!spec) return;
  for (const TemplateArgument& a : spec->getTemplateArgs().asArray()) {
    if (a.getKind() == TemplateArgument::Type) add_classes_in(a.getAsType(), classes);
    if (a.getKind() != TemplateArgument::Pack) continue;
    for (const TemplateArgument& one : a.pack_elements())
      if (one.getKind() == TemplateArgument::Type) add_classes_in(one.getAsType(), classes);
  }
}

/// The library makes objects of the classes in a type, as std::make_shared and emplace_back do.
void Leaks::construct(QualType type, llvm::ArrayRef<Given> given, SourceLocation at) {
  std::set<const CXXRecordDecl*> classes;
  add_classes_in(type, classes);
  const CXXRecordDecl* held = held_in(type)->getAsCXXRecordDecl();
  std::vector<Given> mixed(given.begin(), given.end());  // as to the parts of a pair
  for (Given& g : mixed) g.index = std::nullopt;
  for (const CXXRecordDecl* record : classes)
    if (!compat::in_std(record))
      construct(record, held && held->getDefinition() == record ? given : llvm::ArrayRef(mixed), at);
}

void Leaks::construct(const CXXRecordDecl* record, llvm::ArrayRef<Given> given, SourceLocation at) {
  const auto start = [&](const Node* to, QualType type, unsigned k) {
    for (const Given& g : given) {
      const CXXRecordDecl* of = held_in(g.type)->getAsCXXRecordDecl();
      const bool copied = of && of->hasDefinition() &&
                          (of->getDefinition() == record || of->getDefinition()->isDerivedFrom(record));
      if (!copied && g.index.value_or(k) == k) bind(g.items, to, is_access(type), at);
    }
  };
  for (const CXXConstructorDecl* ctor : record->ctors()) {
    if (ctor->isCopyOrMoveConstructor()) continue;
    const FunctionDecl* definition = nullptr;
    const FunctionDecl* f = ctor->hasBody(definition) ? definition : ctor;
    for (unsigned k = 0; k < f->getNumParams(); ++k)
      start(f->getParamDecl(k)->getCanonicalDecl(), f->getParamDecl(k)->getType(), k);
  }
  if (!record->isAggregate()) return;
  unsigned k = record->getNumBases();
  for (const FieldDecl* field : record->fields()) {
    if (!is_constant(field)) start(first_name(field)->getCanonicalDecl(), field->getType(), k);
    ++k;
  }
}

/// The first of the arguments that a function of the library hands on in `Args&&...`; past the last without.
static unsigned handed_on(const FunctionDecl* callee) {
  const FunctionTemplateDecl* pattern = callee->getPrimaryTemplate();
  const unsigned n = pattern ? pattern->getTemplatedDecl()->getNumParams() : 0;
  return n && pattern->getTemplatedDecl()->getParamDecl(n - 1)->isParameterPack() ? n - 1
                                                                                  : callee->getNumParams();
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
    all.push_back({given, whole(given), param, is_access(param) && !keeps_apart(callee)});
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
  if (compat::in_std(callee)) {
    std::vector<Given> parts;
    const unsigned first = handed_on(callee);
    for (const Argument& a : all) {
      const auto* k = llvm::find(args, a.given);
      const bool is_handed_on = k != args.end() && k - args.begin() >= first;
      if (is_handed_on)
        parts.push_back({a.given->getType(), a.items, unsigned(k - args.begin()) - first});
      else if (!a.param->isIntegralOrEnumerationType())
        parts.push_back({a.given->getType(), a.items, std::nullopt});
    }
    const bool only_found = is_iterator(result) || result->isReferenceType() || result->isPointerType();
    if (!only_found || is_access(result)) construct(result, parts, e->getExprLoc());
    for (const Argument& a : all)
      if (a.changed && !a.param->isRValueReferenceType())
        construct(a.given->getType(), parts, e->getExprLoc());
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
