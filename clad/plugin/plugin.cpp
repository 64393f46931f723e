// The plugin: finds the uses of clad::gradient, binds each to a function it declares, and at the end of the
// translation unit writes the derivatives and has the same compiler parse them.
#include <algorithm>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ExternalSemaSource.h"
#include "clang/Sema/SemaConsumer.h"
#include "compat.h"
#include "export.h"
#include "llvm/Support/FileSystem.h"
#include "module.h"
#include "predeclared.h"
#include "second_parse.h"

using namespace clang;

namespace clad {
namespace {

struct Options {
  std::string out;  ///< file that receives the generated text
  Export exported;
  bool remarks = false;
  bool dump = false;  ///< the generated text goes to the standard output too
  Analyses analyses;
};
constexpr std::pair<llvm::StringLiteral, bool Analyses::*> analysis_names[] = {
    {"counters", &Analyses::counters}, {"liveness", &Analyses::liveness}, {"slices", &Analyses::slices},
    {"replay", &Analyses::replay},     {"flat", &Analyses::flat},         {"sums", &Analyses::sums},
    {"fusion", &Analyses::fusion}};
/// Handles "no-replay" and the like.
bool switch_off(StringRef arg, Analyses& analyses) {
  if (!arg.consume_front("no-")) return false;
  bool known = false;
  for (const auto& [name, member] : analysis_names)
    if (arg == name || arg == "analyses") {
      analyses.*member = false;
      known = true;
    }
  return known;
}

/// As clad::opts has them.
constexpr std::uint64_t order_mask = 0xff, vector_mode = 1 << 9, diagonal_only = 1 << 13;

/// Calls of functions that carry the given annotation.
class UseFinder : public RecursiveASTVisitor<UseFinder> {
 public:
  struct Use {
    CallExpr* call;
    Request::Kind kind;
    const FunctionDecl* within;  ///< null: in the initializer of a variable
  };
  std::vector<Use> uses;
  static constexpr std::pair<llvm::StringLiteral, Request::Kind> kinds[] = {
      {"clad::gradient", Request::Gradient},
      {"clad::value_and_gradient", Request::ValueAndGradient},
      {"clad::estimate_error", Request::ErrorEstimate},
      {"clad::pushforward", Request::Pushforward},
      {"clad::differentiate", Request::Derivative},
      {"clad::hessian", Request::Hessian},
      {"clad::hessian_vector_product", Request::HessianVector},
      {"clad::jacobian", Request::Jacobian}};
  std::vector<const FunctionDecl*> patterns;
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }
  bool TraverseDecl(Decl* d) {
    const FunctionDecl* outer = within_;
    if (const auto* f = dyn_cast_or_null<FunctionDecl>(d)) within_ = f;
    const bool go_on = RecursiveASTVisitor::TraverseDecl(d);
    within_ = outer;
    return go_on;
  }
  bool VisitFunctionDecl(FunctionDecl* f) {
    if (f->doesThisDeclarationHaveABody() && compat::annotated(f, "clad::pattern")) patterns.push_back(f);
    return true;
  }
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (!callee) return true;
    for (const AnnotateAttr* attr : callee->specific_attrs<AnnotateAttr>()) {
      for (const auto& [name, kind] : kinds)
        if (attr->getAnnotation() == name) uses.push_back({call, kind, within_});
    }
    return true;
  }

 private:
  const FunctionDecl* within_ = nullptr;
};

/// Derivatives are defined only after Sema's end-of-unit checks: they are not undefined.
class DefinedLater : public ExternalSemaSource {
 public:
  explicit DefinedLater(std::set<NamedDecl*>& ours) : ours_(ours) {}
  void ReadUndefinedButUsed(llvm::MapVector<NamedDecl*, SourceLocation>& undefined) override {
    undefined.remove_if([&](auto& entry) { return ours_.count(entry.first) != 0; });
  }

 private:
  std::set<NamedDecl*>& ours_;
};

class Consumer : public SemaConsumer {
 public:
  Consumer(CompilerInstance& compiler, Options options) : compiler_(compiler), options_(std::move(options)) {}

  void InitializeSema(Sema& sema) override {
    if (!sema_) sema.addExternalSource(new DefinedLater(ours_));
    sema_ = &sema;
  }
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    if (parsing_) return true;
    for (Decl* d : group) scan(d);
    if (llvm::all_of(group, between_declarations)) derive_constants();
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl* decl) override {
    if (!parsing_) scan(decl);
  }
  void HandleTranslationUnit(ASTContext& context) override;

 private:
  void scan(Decl* decl) {
    if (const auto* t = dyn_cast<FunctionTemplateDecl>(decl);
        t && compat::annotated(t->getTemplatedDecl(), "clad::pattern"))
      patterns_.push_back(t->getTemplatedDecl());  // an error
    if (decl->isTemplated()) return;
    if (const auto* f = dyn_cast<FunctionDecl>(decl); f && !f->doesThisDeclarationHaveABody()) return;
    UseFinder finder;
    finder.TraverseDecl(decl);
    for (const FunctionDecl* f : finder.patterns)
      if (std::find(patterns_.begin(), patterns_.end(), f) == patterns_.end()) patterns_.push_back(f);
    for (const UseFinder::Use& use : finder.uses)
      if (seen_.insert(use.call).second) bind(use);
  }
  /// Whether the parser is done with it, so that what follows it can be parsed: not what is instantiated in
  /// the middle of something else.
  static bool between_declarations(const Decl* d) {
    const auto* f = dyn_cast<FunctionDecl>(d);
    return d->getLexicalDeclContext()->isTranslationUnit() && !isa<VarTemplateSpecializationDecl>(d) &&
           !(f && f->isTemplateInstantiation());
  }
  void error(SourceLocation at, const std::string& message) { Diagnose(*sema_).error(at, message); }
  bool find_function(CallExpr* call, Request& request);
  bool find_parameters(CallExpr* call, Request& request);
  void bind(const UseFinder::Use& use);
  struct Lowered {
    std::unique_ptr<Globals> globals;
    std::unique_ptr<Module> module;
  };
  Lowered lower(const std::vector<Request>& requests, TypeTable& types, const std::string& constants,
                bool silent);
  void derive_constants();
  void derive_constant(const Request& request, CallExpr* call, bool silent);
  void write_exported(const std::string& text);
  void add_overriders();
  /// Of a generated function that has the name itself, not only what begins with it.
  std::string free_name(const std::string& base) {
    std::string name = types().unique_global(base);
    while (types().taken(name)) name = types().unique_global(base);
    return name;
  }
  TypeTable& types() {
    if (!types_) types_ = std::make_unique<TypeTable>(*sema_);
    return *types_;
  }

  CompilerInstance& compiler_;
  Options options_;
  Sema* sema_ = nullptr;
  std::unique_ptr<TypeTable> types_;
  std::vector<Request> requests_;
  RequestTable uses_;
  std::vector<const FunctionDecl*> patterns_;  ///< of fusion rules
  std::set<CallExpr*> seen_;
  std::vector<std::pair<UseFinder::Use, Request>> constants_;  ///< that the compiler itself may execute
  std::string constants_text_;
  std::set<const void*> described_;  ///< classes whose fields are written already
  std::set<NamedDecl*> ours_;
  bool parsing_ = false;
};

/// The function that the user called.
static std::string asked(const Request& request) {
  switch (request.kind) {
    case Request::ErrorEstimate:
      return "clad::estimate_error";
    case Request::Pushforward:
      return "clad::pushforward";
    case Request::Derivative:
      return "clad::differentiate";
    case Request::Hessian:
      return "clad::hessian";
    case Request::HessianVector:
      return "clad::hessian_vector_product";
    case Request::Jacobian:
      return "clad::jacobian";
    default:
      return "clad::gradient";
  }
}

bool Consumer::find_function(CallExpr* call, Request& request) {
  const clang::Expr* arg = call->getArg(0)->IgnoreParenImpCasts();
  for (;;) {
    const clang::Expr* before = arg;
    if (const auto* u = dyn_cast<UnaryOperator>(arg); u && u->getOpcode() == UO_AddrOf) arg = u->getSubExpr();
    if (const auto* c = dyn_cast<ExplicitCastExpr>(arg)) arg = c->getSubExpr();
    if (const auto* m = dyn_cast<MaterializeTemporaryExpr>(arg)) arg = m->getSubExpr();
    if (const auto* c = dyn_cast<CXXBindTemporaryExpr>(arg)) arg = c->getSubExpr();
    if (const auto* c = dyn_cast<CXXConstructExpr>(arg); c && c->getNumArgs() == 1) arg = c->getArg(0);
    if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(arg)) arg = s->getReplacement();
    arg = arg->IgnoreParenImpCasts();
    if (arg == before) break;
  }
  if (const auto* ref = dyn_cast<DeclRefExpr>(arg))
    if (const auto* f = dyn_cast<FunctionDecl>(ref->getDecl())) {
      request.function = f;
      return true;
    }
  QualType type = call->getArg(0)->getType().getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record && record->hasDefinition()) {
    DeclarationName name = sema_->Context.DeclarationNames.getCXXOperatorName(OO_Call);
    const auto found = record->getDefinition()->lookup(name);
    const auto* only = found.isSingleResult() ? dyn_cast<CXXMethodDecl>(found.front()) : nullptr;
    if (only) {
      request.function = only;
      request.functor = record;
      return true;
    }
    std::string which = "has no operator()";
    if (found.isSingleResult()) which = "has a template as its operator()";
    if (!found.empty() && !found.isSingleResult()) {
      which = "has several operator(): ";
      for (const NamedDecl* d : found) {
        if (d != found.front()) which += ", ";
        which += isa<CXXMethodDecl>(d) ? cast<CXXMethodDecl>(d)->getType().getAsString(types().policy())
                                       : "a template";
      }
    }
    const std::string object =
        record->isLambda() ? "this lambda" : "class '" + record->getNameAsString() + "'";
    Diagnose diagnose(*sema_);
    diagnose.error(call->getArg(0)->getExprLoc(),
                   asked(request) + ": " + object + " " + which +
                       "; pass a lambda or a function that calls the one to differentiate");
    for (const NamedDecl* d : found) diagnose.note(d->getLocation(), "this one");
    return false;
  }
  error(call->getArg(0)->getExprLoc(),
        asked(request) +
            ": the first argument must name a function, a member function or a "
            "function object");
  return false;
}

/// "p" or "p[2]" or "p[0:2]": the name, and the elements.
static bool split_elements(StringRef text, StringRef& name, Range& range) {
  const std::size_t bracket = text.find('[');
  name = text.take_front(bracket).rtrim();
  if (bracket == StringRef::npos) return true;
  if (!text.ends_with("]")) return false;
  const StringRef inside = text.slice(bracket + 1, text.size() - 1);
  const auto [first, last] = inside.split(':');
  std::uint64_t a = 0, b = 0;
  if (first.trim().getAsInteger(10, a)) return false;
  if (inside.contains(':') ? last.trim().getAsInteger(10, b) : false) return false;
  range.first = a;
  range.last = inside.contains(':') ? b : a;
  return true;
}

/// The number that a path of member names leads to from an object: its place in the object goes to `range`.
static bool follow_members(Sema& sema, QualType type, StringRef path, Range& range) {
  llvm::SmallVector<StringRef> names;
  path.split(names, '.');
  for (const StringRef name : names) {
    CXXRecordDecl* record = type->getAsCXXRecordDecl();
    if (!record || !record->hasDefinition()) return false;
    LookupResult found(sema, &sema.Context.Idents.get(name.trim()), SourceLocation(), Sema::LookupMemberName);
    found.suppressDiagnostics();
    sema.LookupQualifiedName(found, record);
    const auto* field = found.isSingleResult() ? dyn_cast<FieldDecl>(found.getFoundDecl()) : nullptr;
    if (!field || compat::annotated(field, "clad::constant") ||
        compat::annotated(field, "non_differentiable"))
      return false;
    type = field->getType();
    range.member += "." + name.trim().str();
  }
  if (range.first && range.first == range.last && type->isConstantArrayType()) {
    const auto* array = sema.Context.getAsConstantArrayType(type);
    if (*range.first >= array->getSize().getZExtValue()) return false;
    range.member += "[" + std::to_string(*range.first) + "]";
    type = array->getElementType();
    range.first = range.last = std::nullopt;
  }
  return !range.first && type->isRealFloatingType();
}

/// The parameter list of a request: names in a string, or the index of one parameter.
bool Consumer::find_parameters(CallExpr* call, Request& request) {
  const FunctionDecl* f = request.function;
  std::string names;
  const clang::Expr* arg = call->getNumArgs() > 1 ? call->getArg(1)->IgnoreParenImpCasts() : nullptr;
  if (const auto* text = dyn_cast_or_null<clang::StringLiteral>(arg)) {
    names = text->getString().str();
  } else if (arg && arg->getType()->isIntegerType()) {
    clang::Expr::EvalResult index;
    if (!arg->EvaluateAsInt(index, sema_->Context) || index.Val.getInt().isNegative() ||
        index.Val.getInt().uge(f->getNumParams())) {
      error(arg->getExprLoc(), asked(request) + ": the index of a parameter must be a constant from 0 to " +
                                   std::to_string(f->getNumParams() ? f->getNumParams() - 1 : 0));
      return false;
    }
    request.parameters.push_back(static_cast<unsigned>(index.Val.getInt().getZExtValue()));
    request.ranges.emplace_back();
    return true;
  } else if (arg && !isa<CXXDefaultArgExpr>(arg)) {
    error(arg->getExprLoc(), asked(request) + ": the parameter list must be a string literal");
    return false;
  }
  // The definition's names, where it is visible: a declaration may spell others or none.
  const FunctionDecl* definition = nullptr;
  if (f->hasBody(definition)) f = definition;
  if (names.empty()) {
    request.all = true;
    for (unsigned i = 0; i < f->getNumParams(); ++i) request.parameters.push_back(i);
    request.ranges.resize(f->getNumParams());
    return true;
  }
  llvm::SmallVector<StringRef> list;
  StringRef(names).split(list, ',');
  for (const StringRef item : list) {
    StringRef name;
    Range range;
    if (!split_elements(item.trim(), name, range)) {
      error(arg->getExprLoc(), asked(request) + ": '" + item.trim().str() +
                                   "' names no parameter; elements are written as in \"p[0]\" or \"p[0:2]\"");
      return false;
    }
    bool found = false;
    for (unsigned i = 0; i < f->getNumParams(); ++i)
      if (f->getParamDecl(i)->getName() == name) {
        if (llvm::is_contained(request.parameters, i)) {
          error(arg->getExprLoc(), asked(request) + ": parameter '" + name.str() + "' is named twice");
          return false;
        }
        request.parameters.push_back(i);
        request.ranges.push_back(range);
        found = true;
      }
    if (found) continue;
    if (request.kind == Request::Derivative) {
      const auto [base, path] = name.split('.');
      unsigned object = Request::object;
      QualType type;
      for (unsigned i = 0; i < f->getNumParams(); ++i)
        if (f->getParamDecl(i)->getName() == base.trim()) {
          object = i;
          type = f->getParamDecl(i)->getType().getNonReferenceType();
        }
      const auto* method = dyn_cast<CXXMethodDecl>(f);
      if (type.isNull() && method && !method->isStatic() && !method->getParent()->isLambda())
        type = compat::record_type(sema_->Context, method->getParent());
      if (!type.isNull() && follow_members(*sema_, type, object == Request::object ? name : path, range)) {
        request.parameters.push_back(object);
        request.ranges.push_back(range);
        continue;
      }
    }
    std::string known;
    for (const ParmVarDecl* p : f->parameters()) known += (known.empty() ? "" : ", ") + p->getNameAsString();
    error(arg->getExprLoc(), asked(request) + ": '" + f->getNameAsString() + "' has no parameter named '" +
                                 name.str() + "'; its parameters are: " + known);
    return false;
  }
  return true;
}

/// What the template arguments of the request say.
static void find_options(const CallExpr* call, Request& request) {
  const TemplateArgumentList* args = call->getDirectCallee()->getTemplateSpecializationArgs();
  if (!args || args->size() == 0 || args->get(0).getKind() != TemplateArgument::Pack) return;
  for (const TemplateArgument& option : args->get(0).getPackAsArray()) {
    if (option.getKind() != TemplateArgument::Integral) continue;
    const auto bits = option.getAsIntegral().getZExtValue();
    request.options |= bits;
    if (bits & order_mask) request.order = bits & order_mask;
    request.vector |= (bits & vector_mode) != 0;
    request.diagonal |= (bits & diagonal_only) != 0;
  }
}

/// What the name of the generated function ends in.
static std::string suffix_of(const Request& request) {
  switch (request.kind) {
    case Request::Gradient:
      return "_grad";
    case Request::ValueAndGradient:
      return "_value_and_grad";
    case Request::ErrorEstimate:
      return "_error";
    case Request::Pushforward:
      return "_directional";
    case Request::HessianVector:
      return "_hessian_vector";
    case Request::Jacobian:
      return "_jacobian";
    case Request::Derivative:
      if (request.vector) return "_directions";
      if (!request.ranges.empty() && !request.ranges[0].member.empty()) return "_d_member";
      return (request.order > 1 ? "_d" + std::to_string(request.order) : "_d") + "arg" +
             std::to_string(request.parameters.empty() ? 0 : request.parameters[0]);
    case Request::Hessian:
      return request.diagonal ? "_hessian_diagonal" : "_hessian";
  }
  return "";
}

/// Whether the compiler may execute the derivative there. A lambda is constexpr without a word where it can
/// be.
static bool may_run_early(const Request& request, const FunctionDecl* there) {
  const auto* caller = dyn_cast_or_null<CXXMethodDecl>(there);
  const auto* method = dyn_cast<CXXMethodDecl>(request.function);
  return there && there->isConstexpr() && !there->isTemplateInstantiation() &&
         !(caller && caller->getParent()->isLambda()) && request.call->getNumArgs() == 4 && !request.vector &&
         !request.functor && !(method && method->isVirtual());
}

/// Declares the entry of the derivative and passes its address in the call's defaulted last argument.
void Consumer::bind(const UseFinder::Use& use) {
  ASTContext& context = sema_->Context;
  CallExpr* call = use.call;
  if (call->getNumArgs() < 3 || !isa<CXXDefaultArgExpr>(call->getArg(2)))
    return;  // bound already (precompiled header)
  Request request;
  request.kind = use.kind;
  request.at = call->getBeginLoc();
  request.call = call;
  if (!find_function(call, request) || !find_parameters(call, request)) return;
  find_options(call, request);
  const FunctionDecl* f = request.function;
  // Nothing else may have used the operator() of a class template.
  if (request.functor) sema_->MarkFunctionReferenced(request.at, const_cast<FunctionDecl*>(f));
  std::string base = request.functor && request.functor->isLambda() ? "lambda"
                     : request.functor                              ? request.functor->getNameAsString()
                                                                    : f->getNameAsString();
  for (char& c : base)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  request.entry = free_name(base + suffix_of(request)) + "_entry";
  uses_[call] = request;
  if (may_run_early(request, use.within)) {
    constants_.push_back({use, request});
    if (use.within->isConsteval()) return;
  }

  QualType pointer = call->getArg(2)->getType();
  QualType type = pointer->getPointeeType();
  TranslationUnitDecl* unit = context.getTranslationUnitDecl();
  SourceLocation at = request.at;
  auto* entry = FunctionDecl::Create(context, unit, at, at, &context.Idents.get(request.entry), type,
                                     context.getTrivialTypeSourceInfo(type), SC_Static);
  llvm::SmallVector<ParmVarDecl*> params;
  for (QualType p : type->castAs<FunctionProtoType>()->param_types())
    params.push_back(ParmVarDecl::Create(context, entry, at, at, nullptr, p,
                                         context.getTrivialTypeSourceInfo(p), SC_None, nullptr));
  entry->setParams(params);
  unit->addDecl(entry);
  ours_.insert(entry);
  if (FunctionDecl* declared = predeclared(request)) ours_.insert(declared);
  clang::Expr* e = DeclRefExpr::Create(context, NestedNameSpecifierLoc(), SourceLocation(), entry, false, at,
                                       type, VK_LValue);
  e = ImplicitCastExpr::Create(context, pointer, CK_FunctionToPointerDecay, e, nullptr, VK_PRValue,
                               FPOptionsOverride());
  call->setArg(2, e);
  entry->setReferenced();
  entry->markUsed(context);
  requests_.push_back(std::move(request));
}

/// Which body a virtual function has is the object's to say: each of them is differentiated.
void Consumer::add_overriders() {
  std::vector<Request> all;
  for (Request& request : requests_) {
    const auto* method = dyn_cast<CXXMethodDecl>(request.function);
    if (method && method->isVirtual())
      for (const CXXRecordDecl* record : types().derived_from(method->getParent())) {
        const CXXMethodDecl* own = method->getCorrespondingMethodInClass(record);
        if (record == method->getParent()->getDefinition() || !own || own->getParent() != record ||
            compat::is_pure(own))
          continue;
        Request& overrider = all.emplace_back(request);
        overrider.function = own;
        if (request.functor) overrider.functor = record;
        overrider.call = nullptr;
        std::string base = record->getNameAsString();
        for (char& c : base)
          if (!isalnum(static_cast<unsigned char>(c))) c = '_';
        overrider.entry = free_name(base + "_" + request.name()) + "_entry";
        request.overriders.push_back({record, overrider.entry});
      }
    uses_[request.call] = request;
    all.push_back(std::move(request));
  }
  requests_ = std::move(all);
}

/// Lowers the requests, until every global that matters is known. `silent`: errors are left to another time.
Consumer::Lowered Consumer::lower(const std::vector<Request>& requests, TypeTable& types,
                                  const std::string& constants, bool silent) {
  Lowered out;
  out.globals = std::make_unique<Globals>(types);
  for (const Request& request : requests) out.globals->reach(request.function);
  const std::set<std::string> names = types.names();
  const auto lower = [&](bool quiet) {
    types.set_names(names);
    out.module = std::make_unique<Module>(*sema_, types, options_.analyses, quiet);
    out.module->set_uses(&uses_);
    out.module->set_globals(out.globals.get());
    out.module->set_constants(constants);
    if (options_.remarks) out.module->diagnose().show_remarks();
    out.module->set_patterns(patterns_);
    for (const Request& request : requests) out.module->add(request);
    out.module->check_opaques();
  };
  do lower(/*quiet=*/true);
  while (out.globals->track_named());
  if (silent) return out;
  if (out.module->diagnose().held_back()) lower(/*quiet=*/false);
  out.module->diagnose().speak_up();
  return out;
}

/// Derivatives that are asked for in constexpr functions may be executed by the compiler, from the next
/// declaration on.
void Consumer::derive_constants() {
  for (const auto& [use, request] : std::exchange(constants_, {}))
    derive_constant(request, use.call, /*silent=*/!use.within->isConsteval());
}

/// `silent`: it may be that only the program executes it.
void Consumer::derive_constant(const Request& request, CallExpr* call, bool silent) {
  if (compiler_.getDiagnostics().hasErrorOccurred()) return;
  if (!compiler_.getPreprocessor().getCurrentFileLexer()) return;  // at the end nothing is left to execute it
  TypeTable types(*sema_);  // of its own: classes may become complete yet
  types.leave_out(described_);
  const std::string space = "clad_constant_" + request.name();
  const Lowered lowered = lower({request}, types, space, silent);
  Module& module = *lowered.module;
  if (module.failed()) return;
  std::vector<ir::Loc> locations;
  const std::string text = module.text(locations);
  bool parsed = false;
  if (text.find('#') == std::string::npos) {  // no directives, as OpenMP needs them
    parsing_ = true;
    parsed = parse_generated(compiler_, *sema_, module, text, locations, {.early = true});
    parsing_ = false;
    described_ = types.described();
  }
  if (!parsed) {
    if (!silent)
      error(request.at,
            asked(request) +
                ": the compiler cannot execute this derivative: it keeps values of loops, or calls "
                "what is not constexpr; take clad::differentiate, or ask for it outside of "
                "consteval functions");
    return;
  }
  constants_text_ += text;
  ASTContext& context = sema_->Context;
  const auto find = [&](const DeclContext* in, const std::string& name) -> NamedDecl* {
    const auto found = in->lookup(&context.Idents.get(name));
    return found.empty() ? nullptr : found.front();
  };
  const auto* within = cast<NamespaceDecl>(find(context.getTranslationUnitDecl(), space));
  auto* function = dyn_cast_or_null<FunctionDecl>(find(within, request.name()));
  const QualType wanted = call->getArg(3)->getType();
  if (!function || !context.hasSameType(context.getPointerType(function->getType()), wanted)) return;
  clang::Expr* e = DeclRefExpr::Create(context, NestedNameSpecifierLoc(), SourceLocation(), function, false,
                                       request.at, function->getType(), VK_LValue);
  call->setArg(3, ImplicitCastExpr::Create(context, wanted, CK_FunctionToPointerDecay, e, nullptr, VK_PRValue,
                                           FPOptionsOverride()));
}

void Consumer::HandleTranslationUnit(ASTContext&) {
  if (compiler_.getDiagnostics().hasErrorOccurred()) return;
  if (requests_.empty() && constants_text_.empty()) return write_exported("");
  add_overriders();
  const FileScope scope(*sema_);
  types().leave_out(described_);
  const Lowered lowered = lower(requests_, types(), "", /*silent=*/false);
  Module& module = *lowered.module;
  if (module.failed()) return;
  std::vector<ir::Loc> locations;
  std::string text = module.text(locations);
  text += define_predeclared(requests_, types());
  if (options_.exported.wanted()) {
    text += export_requests(requests_, types());
    check_exportable(requests_, text, types(), module.diagnose());
    if (module.failed()) return;
  }
  if (!options_.out.empty()) {
    std::error_code failure;
    llvm::raw_fd_ostream file(options_.out, failure);
    if (failure) {
      error(SourceLocation(), "clad: cannot write '" + options_.out + "': " + failure.message());
      return;
    }
    file << constants_text_ << text;
  }
  if (options_.dump) llvm::outs() << constants_text_ << text;
  parsing_ = true;
  parse_generated(compiler_, *sema_, module, text, locations,
                  {.shown_as = options_.out,
                   .any_member = !options_.exported.wanted() || options_.exported.private_members});
  parsing_ = false;
  if (!compiler_.getDiagnostics().hasErrorOccurred()) write_exported(text);
}

void Consumer::write_exported(const std::string& text) {
  std::string failure;
  const std::string& file = options_.exported.file;
  if (file.empty() || write_export(compiler_, file, text, failure)) return;
  error(SourceLocation(), "clad: cannot write '" + file + "': " + failure);
}

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, StringRef) override {
    return std::make_unique<Consumer>(compiler, options_);
  }
  bool ParseArgs(const CompilerInstance& compiler, const std::vector<std::string>& args) override {
    for (StringRef arg : args) {
      if (arg.consume_front("out=")) {
        options_.out = arg.str();
      } else if (switch_off(arg, options_.analyses)) {
        continue;
      } else if (arg.consume_front("export=")) {
        options_.exported.file = arg.str();
      } else if (arg == "export-private") {
        options_.exported.private_members = true;
      } else if (arg == "-fdump-derived-fn") {  // this and the next are Clad's names
        options_.dump = true;
      } else if (arg == "-fgenerate-source-file") {
        options_.out = "Derivatives.cpp";
      } else if (arg == "remarks") {
        options_.remarks = true;
      } else if (arg == "help") {
        llvm::outs()
            << "clad: compile-time differentiation\n"
               "  -fplugin-arg-clad-out=FILE  write the generated derivatives to FILE as well\n"
               "  -fplugin-arg-clad-export=FILE  write to FILE what another compiler compiles in place of "
               "the source\n"
               "  -fplugin-arg-clad-export-private  which then checks no access (-fno-access-control)\n"
               "  -fplugin-arg-clad-remarks   say at the source what the reverse sweep keeps, and what it "
               "computes again\n"
               "  -fplugin-arg-clad-no-NAME   without an analysis: counters, liveness, slices, replay, "
               "flat, sums, fusion; all: analyses\n"
               "  -fplugin-arg-clad-help      print this text\n"
               "  -Xclang -plugin-arg-clad -Xclang -fdump-derived-fn       print the generated derivatives\n"
               "  -Xclang -plugin-arg-clad -Xclang -fgenerate-source-file  write them to Derivatives.cpp\n";
      } else {
        DiagnosticsEngine& engine = compiler.getDiagnostics();
        engine.Report(engine.getCustomDiagID(
            DiagnosticsEngine::Error, "clad: unknown plugin argument '%0' (try -fplugin-arg-clad-help)"))
            << arg;
        return false;
      }
    }
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }

 private:
  Options options_;
};

}  // namespace
}  // namespace clad

static FrontendPluginRegistry::Add<clad::Action> registration(
    "clad", "compile-time differentiation of C++ functions");
