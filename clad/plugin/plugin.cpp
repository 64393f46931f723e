// The plugin: finds the uses of clad::gradient, binds each to a function it declares, and at the end of the
// translation unit writes the derivatives and has the same compiler parse them.
#include <algorithm>

#include "ast_visitor.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTMutationListener.h"
#include "clang/AST/Attr.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ExternalSemaSource.h"
#include "clang/Sema/SemaConsumer.h"
#include "compat.h"
#include "export.h"
#include "frontend.h"
#include "leaks.h"
#include "llvm/Support/FileSystem.h"
#include "members.h"
#include "module.h"
#include "options.h"
#include "predeclared.h"
#include "second_parse.h"

using namespace clang;

namespace clad {
namespace {

/// Calls of functions that carry the given annotation.
class UseFinder : public AstVisitor {
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
  bool shouldVisitTemplateInstantiations() const override { return true; }
  bool shouldVisitImplicitCode() const override { return true; }
  bool TraverseDecl(Decl* d) override {
    if (d && d->isTemplated() && !isa<TemplateDecl>(d)) {  // its instantiations are what runs
      if (auto* f = dyn_cast<FunctionDecl>(d)) VisitFunctionDecl(f);
      return true;
    }
    const FunctionDecl* outer = within_;
    if (const auto* f = dyn_cast_or_null<FunctionDecl>(d)) within_ = f;
    const bool go_on = AstVisitor::TraverseDecl(d);
    within_ = outer;
    return go_on;
  }
  bool VisitFunctionDecl(FunctionDecl* f) override {
    if (f->doesThisDeclarationHaveABody() && compat::annotated(f, "clad::pattern")) patterns.push_back(f);
    return true;
  }
  bool VisitCallExpr(CallExpr* call) override {
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

/// The function of the runtime that clad::zero_init calls for objects, and the plugin defines.
constexpr llvm::StringLiteral defined_zero = "set_zero_later";

/// Derivatives are defined only after Sema's end-of-unit checks: they are not undefined.
class DefinedLater : public ExternalSemaSource {
 public:
  explicit DefinedLater(std::set<NamedDecl*>& ours) : ours_(ours) {}
  void ReadUndefinedButUsed(llvm::MapVector<NamedDecl*, SourceLocation>& undefined) override {
    undefined.remove_if([&](auto& entry) {
      const NamedDecl* d = entry.first;
      const bool zero = d->getIdentifier() && d->getName() == defined_zero && compat::within_clad(d);
      return zero || ours_.count(entry.first) != 0;
    });
  }

 private:
  std::set<NamedDecl*>& ours_;
};

class Consumer : public SemaConsumer, public ASTMutationListener {
 public:
  Consumer(CompilerInstance& compiler, Options options) : compiler_(compiler), options_(std::move(options)) {}

  void InitializeSema(Sema& sema) override {
    if (!sema_) sema.addExternalSource(new DefinedLater(ours_));
    sema_ = &sema;
  }
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    if (parsing_) return true;
    for (Decl* d : group) {
      if (sema_)
        scan(d);
      else
        early_.push_back(d);
    }
    if (sema_ && llvm::all_of(group, between_declarations)) derive_constants();
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl* decl) override {
    if (!parsing_) scan(decl);
  }
  void HandleCXXStaticMemberVarInstantiation(VarDecl* var) override {  // and of a variable template
    if (!parsing_) scan(var);
  }
  ASTMutationListener* GetASTMutationListener() override { return this; }
  void DefaultMemberInitializerInstantiated(const FieldDecl* field) override {
    if (!parsing_) scan(const_cast<FieldDecl*>(field));
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
  std::vector<FunctionDecl*> zeros();
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
  std::vector<Decl*> early_;  ///< variables of a precompiled header, which come before Sema
  std::vector<std::pair<UseFinder::Use, Request>> constants_;  ///< that the compiler itself may execute
  std::string constants_text_;
  std::set<const void*> described_;  ///< classes whose fields are written already
  std::set<NamedDecl*> ours_;
  bool parsing_ = false;
};

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
  std::optional<Request> read = read_request(*sema_, types(), *call, use.kind);
  if (!read) return;
  Request& request = *read;
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
      for (const CXXRecordDecl* record : types().derived_from(class_of_object(method, request.heir()))) {
        const CXXMethodDecl* own = method->getCorrespondingMethodInClass(record);
        if (!own || declaresSameEntity(own, method) || own->getParent() != record || compat::is_pure(own))
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
  CustomLookup lookup(*sema_, types);
  const auto known = [&](const FunctionDecl* f) { return lookup.named(f); };
  std::map<const Request*, std::unique_ptr<Leaks>> leaks;
  const std::set<std::string> names = types.names();
  const auto lower = [&](bool quiet) {
    types.set_names(names);
    out.module = std::make_unique<Module>(*sema_, types, options_.analyses, quiet);
    out.module->set_uses(&uses_);
    out.module->set_globals(out.globals.get());
    out.module->set_constants(constants);
    if (options_.remarks) out.module->diagnose().show_remarks();
    out.module->set_patterns(patterns_);
    for (const auto& [function, at, member] : out.globals->unconst(known))
      out.module->diagnose().error(
          at->getBeginLoc(),
          "cannot differentiate calls of '" + display_name(function) + "': " +
              (member ? "'" + member->getNameAsString() + "', a mutable member, is changed here"
                      : "this cast takes away a const, and what is changed through it is") +
              (member ? " in an object that is constant to the caller; let the function be without const"
                      : " constant to the caller; let the parameter be without const"));
    for (const Request& request : requests) {
      const unsigned errors = out.module->diagnose().errors();
      check_members(request, out.module->diagnose());
      out.module->add(request);
      if (out.module->diagnose().errors() != errors) continue;
      std::unique_ptr<Leaks>& of = leaks[&request];
      if (!of)
        of = std::make_unique<Leaks>(request, out.globals->reached_from(request.function),
                                     out.globals->contexts, known);
      of->report(out.module->diagnose());
    }
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

/// What clad::zero_init is called with.
std::vector<FunctionDecl*> Consumer::zeros() {
  const DeclContext* in = sema_->Context.getTranslationUnitDecl();
  for (const char* space : {"clad", "detail"}) {
    const auto found = in->lookup(&sema_->Context.Idents.get(space));
    in = found.empty() ? nullptr : dyn_cast<NamespaceDecl>(found.front());
    if (!in) return {};
  }
  std::vector<FunctionDecl*> out;
  for (NamedDecl* d : in->lookup(&sema_->Context.Idents.get(defined_zero)))
    if (auto* t = dyn_cast<FunctionTemplateDecl>(d))
      for (FunctionDecl* f : t->specializations())
        if (!f->isDependentContext()) out.push_back(f);
  return out;
}

void Consumer::HandleTranslationUnit(ASTContext&) {
  if (compiler_.getDiagnostics().hasErrorOccurred()) return;
  for (Decl* d : std::exchange(early_, {})) scan(d);
  const std::vector<FunctionDecl*> zeros = this->zeros();
  if (requests_.empty() && constants_text_.empty() && zeros.empty()) return write_exported("");
  add_overriders();
  const FileScope scope(*sema_);
  types().leave_out(described_);
  const Lowered lowered = lower(requests_, types(), "", /*silent=*/false);
  Module& module = *lowered.module;
  if (module.failed()) return;
  for (const FunctionDecl* f : zeros) types().get(f->getParamDecl(0)->getType().getNonReferenceType());
  std::vector<ir::Loc> locations;
  std::string text = module.text(locations);
  text += define_predeclared(requests_, types());
  if (!zeros.empty())
    text += "template <class T> void clad::detail::" + defined_zero.str() + "(T& d) { clad::set_zero(d); }\n";
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
                   .any_member = !options_.exported.wanted() || options_.exported.private_members,
                   .defined = zeros});
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
    return parse_options(args, compiler.getDiagnostics(), options_);
  }
  ActionType getActionType() override { return AddBeforeMainAction; }

 private:
  Options options_;
};

}  // namespace
}  // namespace clad

static FrontendPluginRegistry::Add<clad::Action> registration(
    "clad", "compile-time differentiation of C++ functions");
