// What runs in place of a function in the forward sweep, in Clad's form: `f_reverse_forw(args...,
// adjoints...)`. And which functions a custom derivative is meant for, whether its signature fits them or
// not.
#include <algorithm>
#include <deque>

#include "clang/AST/DeclTemplate.h"
#include "clang/Sema/Lookup.h"
#include "compat.h"
#include "frontend.h"
#include "lookup.h"

using namespace clang;

namespace clad {
namespace {

const ClassTemplateSpecializationDecl* runtime_class(QualType type, llvm::StringRef name) {
  const auto* record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      type.getNonReferenceType().getCanonicalType()->getAsCXXRecordDecl());
  return record && compat::in_clad(record) && record->getName() == name ? record : nullptr;
}

/// What a parameter is, or refers or points to.
QualType behind(QualType type) {
  type = type.getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  return type.getUnqualifiedType();
}

/// How many of the candidate's parameters come before those of the function.
unsigned first_parameter(const FunctionDecl* candidate, const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (!method || method->isStatic()) return 0;
  if (!isa<CXXConstructorDecl>(callee)) return 1;
  return candidate->getNumParams() > 0 &&
         candidate->getParamDecl(0)->getType()->getAsCXXRecordDecl() != nullptr &&
         candidate->getName() != "constructor_pullback";
}

/// Whether the function's parameters are those that the candidate begins with.
bool is_for(const FunctionDecl* candidate, const FunctionDecl* callee, ASTContext& context) {
  const unsigned first = first_parameter(candidate, callee);
  if (candidate->getNumParams() < first + callee->getNumParams()) return false;
  for (unsigned i = 0; i < callee->getNumParams(); ++i)
    if (!context.hasSameUnqualifiedType(callee->getParamDecl(i)->getType().getNonReferenceType(),
                                        candidate->getParamDecl(first + i)->getType().getNonReferenceType()))
      return false;
  return true;
}

/// Whether the candidate names the class whose method or constructor the function is.
bool names_class(const FunctionDecl* candidate, const CXXMethodDecl* method, ASTContext& context) {
  const CXXRecordDecl* of = method->getParent()->getCanonicalDecl();
  if (candidate->getNumParams() == 0) return false;
  if (!isa<CXXConstructorDecl>(method)) {
    const CXXRecordDecl* named = behind(candidate->getParamDecl(0)->getType())->getAsCXXRecordDecl();
    return named && (named->getCanonicalDecl() == of || (of->hasDefinition() && of->isDerivedFrom(named)));
  }
  const QualType first = candidate->getParamDecl(0)->getType();
  for (const char* tag : {"ConstructorPushforwardTag", "ConstructorReverseForwTag"})
    if (const auto* record = runtime_class(first, tag)) {
      const CXXRecordDecl* made = record->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl();
      return made && made->getCanonicalDecl() == of;
    }
  return std::any_of(candidate->param_begin(), candidate->param_end(), [&](const ParmVarDecl* p) {
    return p->getType()->isPointerType() &&
           context.hasSameType(behind(p->getType()), compat::record_type(context, of));
  });
}

/// Whether a template may be for the function: it is not one for objects of other classes.
bool may_be_for(const FunctionTemplateDecl* pattern, const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const FunctionDecl* f = pattern->getTemplatedDecl();
  if (!method || method->isStatic() || isa<CXXConstructorDecl>(method)) return true;
  if (f->getNumParams() == 0) return false;
  const QualType object = behind(f->getParamDecl(0)->getType());
  const auto* made = object->getAs<TemplateSpecializationType>();
  const TemplateDecl* of = made ? made->getTemplateName().getAsTemplateDecl() : nullptr;
  if (!of) {
    const CXXRecordDecl* named = object->getAsCXXRecordDecl();
    return !named || named->getCanonicalDecl() == method->getParent()->getCanonicalDecl();
  }
  const auto* record = dyn_cast<ClassTemplateSpecializationDecl>(method->getParent());
  return isa<TemplateTemplateParmDecl>(of) ||
         (record && record->getSpecializedTemplate()->getCanonicalDecl() == of->getCanonicalDecl());
}

}  // namespace

bool is_value_and_adjoint(QualType type) { return runtime_class(type, "ValueAndAdjoint") != nullptr; }

/// Whether the candidate's first parameters are those of another, longer overload of the function, or of one
/// that differs in whether it changes the object.
bool CustomLookup::belongs_to_overload(const FunctionDecl* candidate, const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const bool object = method && !method->isStatic() && !isa<CXXConstructorDecl>(method) &&
                      candidate->getNumParams() > 0 && candidate->getParamDecl(0)->getType()->isPointerType();
  const bool is_const = object && candidate->getParamDecl(0)->getType()->getPointeeType().isConstQualified();
  for (const NamedDecl* other : callee->getDeclContext()->lookup(callee->getDeclName())) {
    const auto* f = dyn_cast<FunctionDecl>(other->getUnderlyingDecl());
    if (!f || !is_for(candidate, f, context_)) continue;
    if (f->getNumParams() > callee->getNumParams()) return true;
    if (object && f->getNumParams() == callee->getNumParams() && method->isConst() != is_const &&
        cast<CXXMethodDecl>(f)->isConst() == is_const)
      return true;
  }
  return false;
}

/// Whether a candidate of the right name is for this function, so that not to fit it is a mistake: it is of
/// the same class, and for none of the other functions of that name.
bool CustomLookup::is_meant(const NamedDecl* decl, const FunctionDecl* callee) {
  const auto* candidate = dyn_cast<FunctionDecl>(decl);
  if (!candidate || callee->isTemplateInstantiation() || compat::in_std(callee)) return false;
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (method && (method->isStatic() || !names_class(candidate, method, context_))) return false;
  if (is_for(candidate, callee, context_)) return !belongs_to_overload(candidate, callee);
  for (const NamedDecl* other : callee->getDeclContext()->lookup(callee->getDeclName())) {
    const auto* f = dyn_cast<FunctionDecl>(other->getUnderlyingDecl());
    if (f ? f->getCanonicalDecl() != callee->getCanonicalDecl() && is_for(candidate, f, context_)
          : isa<FunctionTemplateDecl>(other->getUnderlyingDecl()))
      return false;
  }
  return true;
}

bool CustomLookup::has(const FunctionDecl* callee, std::initializer_list<const char*> suffixes) {
  const bool library = compat::is_of_library(callee);
  const bool object = isa<CXXMethodDecl>(callee) && !cast<CXXMethodDecl>(callee)->isStatic();
  for (const Scope& scope : scopes(callee))
    for (const char* suffix : suffixes) {
      const bool builtin = scope.qualified.rfind("clad::builtin_derivatives::", 0) == 0;
      if (builtin && !library && isa<CXXMethodDecl>(callee)) continue;
      LookupResult found(sema_, &context_.Idents.get(derivative_word(callee) + suffix), SourceLocation(),
                         Sema::LookupOrdinaryName);
      found.suppressDiagnostics();
      if (!sema_.LookupQualifiedName(found, scope.context)) continue;
      if (library) return true;
      for (const NamedDecl* d : found) {
        const auto* f = dyn_cast<FunctionDecl>(d->getUnderlyingDecl());
        const auto* pattern = dyn_cast<FunctionTemplateDecl>(d->getUnderlyingDecl());
        if (f ? is_meant(f, callee) : pattern && may_be_for(pattern, callee)) return true;
        if (f && is_for(f, callee, context_) && !belongs_to_overload(f, callee) &&
            (!object || names_class(f, cast<CXXMethodDecl>(callee), context_)))
          return true;
      }
    }
  return false;
}

bool CustomLookup::derived_by_user(const FunctionDecl* callee) {
  only_users_ = true;
  const bool derived = has(callee, {"_pullback", "_pushforward"});
  only_users_ = false;
  return derived;
}

bool CustomLookup::given_by_user(const FunctionDecl* callee, bool forward) {
  if (isa<CXXMethodDecl>(callee)) return false;
  only_users_ = true;
  bool given = false;
  if (has(callee, {"_pullback", "_pushforward", "_reverse_forw"})) {
    std::deque<ir::Expr> arguments;
    ir::CallInfo call;
    bool numbers = callee->getReturnType()->isRealFloatingType();
    for (const ParmVarDecl* p : callee->parameters()) {
      arguments.emplace_back().type = types_.get(p->getType());
      call.args.emplace_back().expr = &arguments.back();
      numbers &= p->getType().getNonReferenceType()->isArithmeticType();
    }
    const bool returns = !callee->getReturnType()->isVoidType();
    if (forward)
      given = find_pushforward(call, callee) != None || (numbers && find(call, callee, returns) != None);
    else
      given = find(call, callee, returns) != None || find_forward(call, callee) != None;
  }
  only_users_ = false;
  return given;
}

/// Whether the function returns what the forward sweep goes on with: a value and an adjoint, of the result's
/// type; or no adjoint, or nothing.
bool CustomLookup::returns_value_and_adjoint(ir::CallInfo& call, const FunctionDecl* forward,
                                             const FunctionDecl* callee) {
  QualType wanted = callee->getReturnType().getCanonicalType();
  if (const auto* ctor = dyn_cast<CXXConstructorDecl>(callee))
    wanted = compat::record_type(context_, ctor->getParent()).getCanonicalType();
  const auto plain = [](QualType type) { return type->isReferenceType() ? type : type.getUnqualifiedType(); };
  const auto* pair = runtime_class(forward->getReturnType(), "ValueAndAdjoint");
  const QualType value = pair ? pair->getTemplateArgs()[0].getAsType().getCanonicalType()
                              : forward->getReturnType().getCanonicalType();
  if (context_.hasSameType(plain(value), plain(wanted))) {
    call.forward_form = pair ? ir::CallInfo::Pair : ir::CallInfo::Adjoints;
    return true;
  }
  const std::string type = wanted.getAsString(types_.policy());
  notes_.push_back({forward->getLocation(), "'" + forward->getNameAsString() +
                                                "' must return 'clad::ValueAndAdjoint<" + type + ", " + type +
                                                ">'"});
  return false;
}

CustomLookup::Result CustomLookup::find_forward(ir::CallInfo& call, const FunctionDecl* callee) {
  if (call.lifted || callee->isVariadic()) return None;
  const std::string name = derivative_word(callee) + "_reverse_forw";
  const std::vector<clang::Expr*> primals = primal_arguments(call, callee);
  if (primals.size() != call.args.size()) return None;
  bool meant = false;
  std::vector<Note> notes;
  std::swap(notes, notes_);
  for (const Scope& scope : scopes(callee)) {
    const Doubled found = resolve_doubled(scope, name, "ConstructorReverseForwTag", call, callee, primals);
    FunctionDecl* f = found.function;
    if (!f) {
      if (!found.args.empty()) explain(scope, name, callee, primals, found.args, meant);
      continue;
    }
    call.forward_tag = found.tag;
    if (f->isTemplateInstantiation())  // its body says what it changes
      sema_.InstantiateFunctionDefinition(f->getLocation(), f, /*Recursive=*/true);
    wanted_ = name;
    if (!returns_value_and_adjoint(call, f, callee)) return Rejected;
    std::swap(notes, notes_);
    call.forward_name = scope.qualified + name;
    call.forward = f;
    call.forward_takes_all = found.all;
    return Found;
  }
  if (meant) {
    wanted_ = name;
    return Rejected;
  }
  std::swap(notes, notes_);
  return None;
}

}  // namespace clad
