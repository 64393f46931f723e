#include "lookup.h"

#include <algorithm>
#include <set>

#include "ast_visitor.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/Overload.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

std::string signature(const FunctionDecl* f, const PrintingPolicy& policy) {
  std::string out;
  for (const ParmVarDecl* p : f->parameters())
    out += (out.empty() ? "" : ", ") + p->getType().getAsString(policy);
  return f->getNameAsString() + "(" + out + ")";
}

bool is_state(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getIdentifier() && record->getName() == "pullback_state";
}

}  // namespace

std::string derivative_word(const FunctionDecl* callee) {
  return isa<CXXConstructorDecl>(callee) ? "constructor" : operator_word(callee);
}

NamespaceDecl* CustomLookup::namespace_in(DeclContext* context, llvm::StringRef name) {
  LookupResult found(sema_, &context_.Idents.get(name), SourceLocation(), Sema::LookupNamespaceName);
  found.suppressDiagnostics();
  sema_.LookupQualifiedName(found, context);
  return found.empty() ? nullptr : dyn_cast<NamespaceDecl>(found.getFoundDecl());
}

/// Where derivatives of `callee` may stand, the user's before our own.
std::vector<CustomLookup::Scope> CustomLookup::scopes(const FunctionDecl* callee) {
  std::vector<Scope> out;
  NamespaceDecl* clad = namespace_in(context_.getTranslationUnitDecl(), "clad");
  if (!clad) return out;
  std::vector<const NamespaceDecl*> path;
  for (const DeclContext* c = callee->getDeclContext(); c; c = c->getParent())
    if (const auto* n = dyn_cast<NamespaceDecl>(c); n && !n->isInline() && !n->isAnonymousNamespace())
      path.insert(path.begin(), n);
  bool method = isa<CXXMethodDecl>(callee);
  NamespaceDecl* custom = namespace_in(clad, "custom_derivatives");
  const struct {
    NamespaceDecl* base;
    std::string qualified;
    bool users;
  } families[] = {
      {custom ? namespace_in(custom, "overrides") : nullptr, "clad::custom_derivatives::overrides::", true},
      {custom, "clad::custom_derivatives::", true},
      {namespace_in(clad, "builtin_derivatives"), "clad::builtin_derivatives::", false}};
  const bool library = compat::is_of_library(callee);
  for (const auto& [base, qualified, users] : families) {
    if (!base || (!users && (only_users_ || !library))) continue;
    if (method) {
      if (NamespaceDecl* inner = namespace_in(base, "class_functions"))
        out.push_back({inner, qualified + "class_functions::"});
      continue;
    }
    DeclContext* context = base;
    std::string nested = qualified;
    for (const NamespaceDecl* n : path) {
      if (context) context = namespace_in(context, n->getName());
      nested += n->getNameAsString() + "::";
    }
    if (context) out.push_back({context, nested});
    if (library && context != base) out.push_back({base, qualified});
    if (NamespaceDecl* std = users && callee->isExternC() ? namespace_in(base, "std") : nullptr)
      out.push_back({std, qualified + "std::"});  // std::sin is the C library's
  }
  return out;
}

/// Whether the body of a function of ours, or of one that it calls, is not what it should be: its arguments
/// cannot do what it asks of them.
static bool contains_errors(const FunctionDecl* f, std::set<const FunctionDecl*>& seen) {
  struct Finder : AstVisitor {
    std::set<const FunctionDecl*>& seen;
    bool found = false;
    explicit Finder(std::set<const FunctionDecl*>& before) : seen(before) {}
    bool shouldVisitTemplateInstantiations() const override { return true; }
    bool VisitStmt(clang::Stmt* s) override {
      const auto* e = dyn_cast<clang::Expr>(s);
      return !(found |= e && e->containsErrors());
    }
    bool VisitDeclRefExpr(DeclRefExpr* e) override {
      const auto* callee = dyn_cast<FunctionDecl>(e->getDecl());
      return !(found |= callee && compat::within_clad(callee) && contains_errors(callee, seen));
    }
  };
  const FunctionDecl* definition = nullptr;
  if (f->isInvalidDecl()) return true;
  if (!f->hasBody(definition) || !seen.insert(definition).second) return false;
  Finder finder(seen);
  finder.TraverseStmt(definition->getBody());
  return finder.found;
}

const FunctionDecl* CustomLookup::plain_definition(const std::string& name,
                                                   llvm::ArrayRef<const clang::Expr*> args) {
  NamespaceDecl* clad = namespace_in(context_.getTranslationUnitDecl(), "clad");
  NamespaceDecl* library = clad ? namespace_in(clad, "library") : nullptr;
  if (!library) return nullptr;
  return instantiated(resolve({library, "clad::library::"}, name, placeholders(args)),
                      args.empty() ? library->getLocation() : args[0]->getExprLoc());
}

const FunctionDecl* CustomLookup::standard_function(const std::string& name,
                                                    llvm::ArrayRef<const clang::Expr*> args) {
  return resolve({sema_.getStdNamespace(), "std::"}, name, placeholders(args));
}

const CXXMethodDecl* CustomLookup::call_operator(const CXXRecordDecl* lambda,
                                                 llvm::ArrayRef<const clang::Expr*> args) {
  FunctionTemplateDecl* generic = lambda->getDependentLambdaCallOperator();
  clang::Expr* object = placeholder(compat::record_type(context_, lambda), VK_LValue);
  OverloadCandidateSet set(SourceLocation(), OverloadCandidateSet::CSK_Normal);
  sema_.AddMethodCandidate(DeclAccessPair::make(generic, AS_public), object->getType(),
                           object->Classify(context_), placeholders(args), set);
  return cast_or_null<CXXMethodDecl>(instantiated(best_of(set), lambda->getLocation()));
}

/// What stands for arguments in overload resolution.
std::vector<clang::Expr*> CustomLookup::placeholders(llvm::ArrayRef<const clang::Expr*> args) {
  std::vector<clang::Expr*> out;
  for (const clang::Expr* a : args)
    out.push_back(isa<IntegerLiteral>(a) ? const_cast<clang::Expr*>(a)
                                         : placeholder(types_.evaluated(a->getType()), a->getValueKind()));
  return out;
}

FunctionDecl* CustomLookup::instantiated(FunctionDecl* f, SourceLocation at) {
  if (f && f->isTemplateInstantiation() && !f->isDefined()) {
    DiagnosticsEngine& diagnostics = sema_.getDiagnostics();
    const bool silent = diagnostics.getSuppressAllDiagnostics();
    diagnostics.setSuppressAllDiagnostics(true);
    sema_.InstantiateFunctionDefinition(at, f, /*Recursive=*/true);
    diagnostics.setSuppressAllDiagnostics(silent);
  }
  sema_.PerformPendingInstantiations();  // what it calls, if its body was made to find out what it returns
  std::set<const FunctionDecl*> seen;
  return f && contains_errors(f, seen) ? nullptr : f;
}

clang::Expr* CustomLookup::placeholder(QualType type, ExprValueKind kind) {
  return new (context_) OpaqueValueExpr(SourceLocation(), type.getNonReferenceType(), kind);
}

FunctionDecl* CustomLookup::resolve(const Scope& scope, const std::string& name,
                                    llvm::ArrayRef<clang::Expr*> args) {
  LookupResult found(sema_, &context_.Idents.get(name), SourceLocation(), Sema::LookupOrdinaryName);
  found.suppressDiagnostics();
  if (!sema_.LookupQualifiedName(found, scope.context)) return nullptr;
  OverloadCandidateSet set(SourceLocation(), OverloadCandidateSet::CSK_Normal);
  for (auto it = found.begin(); it != found.end(); ++it) {
    NamedDecl* decl = (*it)->getUnderlyingDecl();
    if (auto* t = dyn_cast<FunctionTemplateDecl>(decl))
      compat::add_template_candidate(sema_, t, it.getPair(), args, set);
    else if (auto* f = dyn_cast<FunctionDecl>(decl))
      sema_.AddOverloadCandidate(f, it.getPair(), args, set);
  }
  return best_of(set);
}

FunctionDecl* CustomLookup::best_of(OverloadCandidateSet& set) {
  OverloadCandidateSet::iterator best;
  if (set.BestViableFunction(sema_, SourceLocation(), best) != OR_Success) return nullptr;
  complete_result(best->Function);
  return best->Function;
}

/// A call, which is written only later, is what makes the compiler find out what `f` returns: of a template,
/// `auto`, or a class template whose members nothing has asked for yet.
void CustomLookup::complete_result(FunctionDecl* f) {
  const SourceLocation at = f->getLocation();
  if (f->getReturnType()->isUndeducedType()) sema_.DeduceReturnType(f, at, /*Diagnose=*/false);
  sema_.isCompleteType(at, f->getReturnType().getNonReferenceType());
}

std::vector<clang::Expr*> CustomLookup::primal_arguments(const ir::CallInfo& call,
                                                         const FunctionDecl* callee) {
  std::vector<clang::Expr*> out;
  if (const auto* method = dyn_cast<CXXMethodDecl>(callee); method && call.is_method)
    out.push_back(placeholder(method->getThisType(), VK_PRValue));
  for (const ParmVarDecl* p : callee->parameters()) {
    if (out.size() >= call.args.size()) break;  // defaulted arguments of library functions are not passed
    QualType type = passed_type(callee, p);
    if (type->isLValueReferenceType())
      out.push_back(placeholder(type->getPointeeType(), VK_LValue));
    else if (type.getNonReferenceType()->isRecordType())
      out.push_back(placeholder(type.getNonReferenceType().withConst(), VK_LValue));
    else
      out.push_back(placeholder(type.getNonReferenceType().getUnqualifiedType(), VK_PRValue));
  }
  return out;
}

/// The type of what a parameter is given: of an iterator that a library function takes, the pointer that it
/// is.
QualType CustomLookup::passed_type(const FunctionDecl* callee, const ParmVarDecl* p) {
  const QualType type = p->getType();
  const bool iterator = compat::in_std(callee) && !isa<CXXMethodDecl>(callee) && !TypeTable::is_reverse(type);
  const QualType plain = iterator ? types_.plain(type) : type;
  return plain->isPointerType() ? plain : type;
}

/// The type, or what it points to, without const.
QualType CustomLookup::without_const(QualType type) {
  if (!type->isPointerType()) return type.getUnqualifiedType();
  return context_.getPointerType(type->getPointeeType().getUnqualifiedType());
}

/// The type of the adjoint pointer for a parameter.
QualType CustomLookup::adjoint_type(QualType param) {
  QualType value = param.getNonReferenceType();
  if (value->isPointerType()) return context_.getPointerType(value->getPointeeType().getUnqualifiedType());
  if (const ArrayType* array = context_.getAsArrayType(value))
    return context_.getPointerType(array->getElementType().getUnqualifiedType());
  return context_.getPointerType(value.getUnqualifiedType());
}

/// The pullback_state types of candidates that take `args` and then a state; a template's is deduced from
/// `args`.
std::vector<QualType> CustomLookup::state_types(const Scope& scope, const std::string& name,
                                                llvm::ArrayRef<clang::Expr*> args) {
  std::vector<QualType> out;
  LookupResult found(sema_, &context_.Idents.get(name), SourceLocation(), Sema::LookupOrdinaryName);
  found.suppressDiagnostics();
  if (!sema_.LookupQualifiedName(found, scope.context)) return out;
  for (auto it = found.begin(); it != found.end(); ++it) {
    const auto* f = dyn_cast<FunctionDecl>((*it)->getUnderlyingDecl());
    OverloadCandidateSet set(SourceLocation(), OverloadCandidateSet::CSK_Normal);
    if (auto* t = dyn_cast<FunctionTemplateDecl>((*it)->getUnderlyingDecl())) {
      if (t->getTemplatedDecl()->getNumParams() != args.size() + 1) continue;
      compat::add_template_candidate(sema_, t, it.getPair(), args, set, /*partial=*/true);
      OverloadCandidateSet::iterator best;
      if (set.BestViableFunction(sema_, SourceLocation(), best) == OR_Success) f = best->Function;
    }
    if (f && f->getNumParams() == args.size() + 1 && is_state(f->getParamDecl(args.size())->getType()))
      out.push_back(f->getParamDecl(args.size())->getType().getNonReferenceType().getUnqualifiedType());
  }
  return out;
}

bool CustomLookup::reads_parameter(const FunctionDecl* f, unsigned index) const {
  for (const AnnotateAttr* attr : f->getParamDecl(index)->specific_attrs<AnnotateAttr>())
    if (attr->getAnnotation() == "clad::unused") return false;
  const FunctionDecl* pattern = f->getTemplateInstantiationPattern();
  const FunctionDecl* definition = nullptr;
  if (!(pattern ? pattern : f)->hasBody(definition) || index >= definition->getNumParams()) return true;
  for (const AnnotateAttr* attr : definition->getParamDecl(index)->specific_attrs<AnnotateAttr>())
    if (attr->getAnnotation() == "clad::unused") return false;
  const ParmVarDecl* p = definition->getParamDecl(index);
  return p->isReferenced() || p->isUsed();
}

/// Notes why each candidate does not match; `meant`: one of them is for exactly these primal parameters.
void CustomLookup::explain(const Scope& scope, const std::string& name, const FunctionDecl* callee,
                           llvm::ArrayRef<clang::Expr*> primals, llvm::ArrayRef<clang::Expr*> all,
                           bool& meant) {
  LookupResult found(sema_, &context_.Idents.get(name), SourceLocation(), Sema::LookupOrdinaryName);
  found.suppressDiagnostics();
  if (!sema_.LookupQualifiedName(found, scope.context)) return;
  for (NamedDecl* decl : found) {
    const auto* f = dyn_cast<FunctionDecl>(decl->getUnderlyingDecl());
    if (!f) {
      notes_.push_back({decl->getLocation(), "candidate template '" + scope.qualified + name +
                                                 "' does not accept these arguments"});
      continue;
    }
    auto same = [&](unsigned i) {
      QualType a =
          f->getParamDecl(i)->getType().getNonReferenceType().getCanonicalType().getUnqualifiedType();
      QualType b = all[i]->getType().getCanonicalType().getUnqualifiedType();
      if (a->isPointerType() && b->isPointerType())
        return context_.hasSameUnqualifiedType(a->getPointeeType(), b->getPointeeType());
      return a == b;
    };
    // A constructor's are told apart by the class, which comes next.
    const std::size_t telling = primals.size() + (isa<CXXConstructorDecl>(callee) ? 1 : 0);
    bool prefix = f->getNumParams() >= telling && all.size() >= telling;
    for (unsigned i = 0; prefix && i < telling; ++i) prefix = same(i);
    std::string why;
    for (unsigned i = 0; why.empty() && i < f->getNumParams() && i < all.size(); ++i)
      if (!same(i))
        why = "parameter " + std::to_string(i + 1) + " is '" +
              f->getParamDecl(i)->getType().getAsString(types_.policy()) + "' where '" +
              all[i]->getType().getAsString(types_.policy()) + "' is passed";
    if (f->getNumParams() != all.size())
      why = "it takes " + std::to_string(f->getNumParams()) + " parameters where " +
            std::to_string(all.size()) + " are passed" + (why.empty() ? "" : "; " + why);
    notes_.push_back(
        {f->getLocation(), "candidate '" + signature(f, types_.policy()) + "' does not match: " + why});
    meant |= (prefix && !belongs_to_overload(f, callee)) || is_meant(f, callee);
  }
}

bool CustomLookup::finish(ir::CallInfo& call, const Scope& scope, const FunctionDecl* pullback,
                          const FunctionDecl* callee, QualType state, bool adjoints_for_all,
                          const std::vector<clang::Expr*>& primals, const std::vector<QualType>& adjoints) {
  call.kind = ir::CallInfo::Custom;
  call.is_pushforward = false;
  call.reverse_name = scope.qualified + pullback->getNameAsString();
  call.derivative = pullback;
  call.adjoints_for_all = adjoints_for_all;
  call.unused.clear();
  for (unsigned i = 0; i < primals.size(); ++i) call.unused.push_back(!reads_parameter(pullback, i));
  std::string forward = wanted_.substr(0, wanted_.size() - std::string("_pullback").size()) + "_reverse_forw";
  std::vector<clang::Expr*> args = primals;
  if (!state.isNull()) {
    call.state_type = types_.spell(state);
    args.push_back(placeholder(state, VK_LValue));
  }
  const auto takes = [&](bool adjoint_pointers) {
    const FunctionDecl* f = resolve(scope, forward, args);
    if (!f || is_value_and_adjoint(f->getReturnType())) return false;  // of another form
    call.forward_name = scope.qualified + forward;
    call.forward_takes_adjoints = adjoint_pointers;
    return true;
  };
  call.forward_name.clear();
  call.forward_form = ir::CallInfo::Plain;
  if (takes(/*adjoint_pointers=*/false)) return true;
  // Adjoint arguments before the state.
  if (!state.isNull()) args.pop_back();
  for (QualType d : adjoints) args.push_back(placeholder(d, VK_PRValue));
  if (!state.isNull()) args.push_back(placeholder(state, VK_LValue));
  if (takes(/*adjoint_pointers=*/true)) return true;
  if (state.isNull()) return find_forward(call, callee) != Rejected;
  notes_.push_back(
      {pullback->getLocation(), "this pullback takes a state, but no '" + forward + "' provides it"});
  return false;
}

/// A pushforward gives the value and its tangent, or, of a number, the tangent alone.
bool CustomLookup::returns_tangent(ir::CallInfo& call, const FunctionDecl* pushforward,
                                   const FunctionDecl* callee) {
  const QualType result = pushforward->getReturnType().getCanonicalType();
  const QualType primal = callee->getReturnType().getNonReferenceType().getCanonicalType();
  call.tangent_only = false;
  if (primal->isVoidType() || !types_.get(primal)->differentiable) return true;  // nothing is read of it
  const auto* pair = dyn_cast_or_null<ClassTemplateSpecializationDecl>(result->getAsCXXRecordDecl());
  const auto fits = [&](const TemplateArgument& part) {
    const ir::Type* given = types_.get(part.getAsType());
    return given->kind != ir::Type::Real || given == types_.get(primal);
  };
  if (pair && compat::in_clad(pair) && pair->getName() == "ValueAndPushforward" &&
      llvm::all_of(pair->getTemplateArgs().asArray(), fits))
    return true;
  call.tangent_only =
      result->isRealFloatingType() && primal->isRealFloatingType() &&
      std::none_of(call.args.begin(), call.args.end(), [](const auto& a) { return a.mutable_; });
  if (call.tangent_only) return true;
  const std::string type = types_.get(primal)->name;
  notes_.push_back({pushforward->getLocation(), "'" + pushforward->getNameAsString() +
                                                    "' must return 'clad::ValueAndPushforward<" + type +
                                                    ", " + type + ">'"});
  return false;
}

/// The type of the first parameter of a constructor's derivative, which says whose it is.
QualType CustomLookup::constructor_tag(const Scope& scope, const std::string& name, const char* tag_name,
                                       const CXXRecordDecl* of) {
  LookupResult found(sema_, &context_.Idents.get(name), SourceLocation(), Sema::LookupOrdinaryName);
  found.suppressDiagnostics();
  if (!sema_.LookupQualifiedName(found, scope.context)) return {};
  for (const NamedDecl* decl : found) {
    const auto* f = dyn_cast<FunctionDecl>(decl->getUnderlyingDecl());
    if (!f || f->getNumParams() == 0) continue;
    const QualType tag = f->getParamDecl(0)->getType().getNonReferenceType().getUnqualifiedType();
    const auto* record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(tag->getAsCXXRecordDecl());
    if (!record || !compat::in_clad(record) || record->getName() != tag_name) continue;
    if (context_.hasSameUnqualifiedType(record->getTemplateArgs()[0].getAsType(),
                                        compat::record_type(context_, of)))
      return tag;
  }
  return {};
}

CustomLookup::Doubled CustomLookup::resolve_doubled(const Scope& scope, const std::string& name,
                                                    const char* tag_name, const ir::CallInfo& call,
                                                    const FunctionDecl* callee,
                                                    llvm::ArrayRef<clang::Expr*> primals) {
  Doubled out;
  std::vector<clang::Expr*> plain(primals.begin(), primals.end());
  if (const auto* ctor = dyn_cast<CXXConstructorDecl>(callee)) {
    const QualType tag = constructor_tag(scope, name, tag_name, ctor->getParent());
    if (tag.isNull()) return out;
    plain.insert(plain.begin(), placeholder(tag, VK_PRValue));
    out.tag = types_.spell(tag);
  }
  for (const bool changeable : {false, true})
    for (const bool all : {true, false}) {
      out.args = plain;
      for (std::size_t i = 0; i < primals.size(); ++i)
        if (all || call.args[i].expr->type->differentiable) {
          const QualType type = primals[i]->getType();
          out.args.push_back(
              placeholder(changeable ? without_const(type) : type, primals[i]->getValueKind()));
        }
      out.all = all;
      out.without_const = changeable;
      if ((out.function = resolve(scope, name, out.args))) return out;
    }
  return out;
}

CustomLookup::Result CustomLookup::find_pushforward(ir::CallInfo& call, const FunctionDecl* callee) {
  notes_.clear();
  if (call.lifted || callee->isVariadic()) return None;
  const std::string name = derivative_word(callee) + "_pushforward";
  const std::vector<clang::Expr*> primals = primal_arguments(call, callee);
  if (primals.size() != call.args.size()) return None;
  bool meant = false;
  for (const Scope& scope : scopes(callee)) {
    const Doubled found = resolve_doubled(scope, name, "ConstructorPushforwardTag", call, callee, primals);
    if (!found.function) {
      if (!found.args.empty()) explain(scope, name, callee, primals, found.args, meant);
      continue;
    }
    call.tag = found.tag;
    call.mutable_tangents = found.without_const;
    wanted_ = name;
    if (!returns_tangent(call, found.function, callee)) return Rejected;
    call.kind = ir::CallInfo::Custom;
    call.is_pushforward = true;
    call.reverse_name = scope.qualified + name;
    call.derivative = found.function;
    call.adjoints_for_all = found.all;
    return Found;
  }
  if (!meant) {
    notes_.clear();
    return None;
  }
  wanted_ = name;
  return Rejected;
}

CustomLookup::Result CustomLookup::find(ir::CallInfo& call, const FunctionDecl* callee, bool returns_value) {
  notes_.clear();
  wanted_ = derivative_word(callee) + "_pullback";
  // The C library's sinf and sinl share the pullback of sin.
  if (callee->getBuiltinID() && callee->isExternC() && !named(callee)) {
    llvm::StringRef name = callee->getName();
    if (name.ends_with("f") || name.ends_with("l")) wanted_ = name.drop_back().str() + "_pullback";
  }
  if (call.lifted || callee->isVariadic()) return None;
  std::vector<clang::Expr*> primals = primal_arguments(call, callee);
  if (primals.size() != call.args.size()) return None;
  QualType result = callee->getReturnType().getNonReferenceType().getUnqualifiedType();
  const auto* ctor = dyn_cast<CXXConstructorDecl>(callee);
  if (ctor) result = compat::record_type(context_, ctor->getParent());
  std::vector<QualType> every, some;
  for (unsigned i = 0; i < primals.size(); ++i) {
    QualType param;
    if (call.is_method && i == 0)
      param = cast<CXXMethodDecl>(callee)->getThisType()->getPointeeType();
    else
      param = passed_type(callee, callee->getParamDecl(call.is_method ? i - 1 : i));
    every.push_back(adjoint_type(param));
    if (types_.get(param)->differentiable) some.push_back(every.back());
  }
  call.value_cotangent = returns_value && types_.get(result)->differentiable;
  if (ctor) result = context_.getPointerType(result);
  bool meant = false;
  for (const Scope& scope : scopes(callee)) {
    std::vector<clang::Expr*> args;
    for (bool all : {true, false}) {
      const std::vector<QualType>& adjoints = all ? every : some;
      if (!all && every.size() == some.size()) continue;
      std::vector<clang::Expr*> plain(primals.begin(), primals.end());
      if (call.value_cotangent) plain.push_back(placeholder(result, VK_PRValue));
      for (QualType d : adjoints) plain.push_back(placeholder(d, VK_PRValue));
      std::vector<QualType> states = state_types(scope, wanted_, plain);
      states.push_back(QualType());
      for (QualType state : states) {
        args = plain;
        if (!state.isNull()) args.push_back(placeholder(state, VK_LValue));
        if (const FunctionDecl* f = resolve(scope, wanted_, args))
          return finish(call, scope, f, callee, state, all, primals, adjoints) ? Found : Rejected;
      }
    }
    explain(scope, wanted_, callee, primals, args, meant);
  }
  return meant ? Rejected : None;
}

}  // namespace clad
