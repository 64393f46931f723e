#include "second_parse.h"

#include <map>
#include <optional>

#include "ast_visitor.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Parse/Parser.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// Drops warnings in generated text; an error there is reported at the statement it comes from, too.
class GeneratedDiagnostics : public DiagnosticConsumer {
 public:
  GeneratedDiagnostics(DiagnosticConsumer* next, SourceManager& manager, FileID file,
                       const std::vector<ir::Loc>& map)
      : next_(next), manager_(manager), file_(file), map_(map) {}

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& info) override {
    if (level < DiagnosticsEngine::Error && level != DiagnosticsEngine::Note) {
      dropped_ = true;
      return;
    }
    if (level == DiagnosticsEngine::Note && dropped_) return;
    if (level >= DiagnosticsEngine::Error) {
      llvm::SmallString<128> message;
      info.FormatDiagnostic(message);
      auto [file, offset] = manager_.getDecomposedExpansionLoc(info.getLocation());
      unsigned line = file == file_ ? manager_.getLineNumber(file, offset) : 0;
      const ir::Loc from = line && line <= map_.size() ? map_[line - 1] : 0;
      dropped_ =
          DiagnosticIDs::getDiagnosticSFINAEResponse(info.getID()) == DiagnosticIDs::SFINAE_AccessControl;
      if (dropped_) {
        ir::Loc& at = inaccessible[std::string(message)];
        if (!at) at = from;
        return;
      }
      if (from) pending.push_back({SourceLocation::getFromRawEncoding(from), std::string(message)});
    }
    next_->HandleDiagnostic(level, info);
    ++(level >= DiagnosticsEngine::Error ? errors : notes);
  }

  struct Pending {
    SourceLocation at;
    std::string message;
  };
  std::vector<Pending> pending;
  std::map<std::string, ir::Loc> inaccessible;  ///< uses of private members
  unsigned errors = 0, notes = 0;

 private:
  DiagnosticConsumer* next_;
  SourceManager& manager_;
  FileID file_;
  const std::vector<ir::Loc>& map_;
  bool dropped_ = false;
};

/// Every call in the generated text must be to a generated function, to the runtime, or to what the original
/// code called.
class CalleeCheck : public AstVisitor {
 public:
  CalleeCheck(Module& module, SourceManager& manager, FileID file, const std::vector<ir::Loc>& map)
      : module_(module), manager_(manager), file_(file), map_(map) {}
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    check(dyn_cast<FunctionDecl>(e->getDecl()), e->getLocation());
    return true;
  }
  bool VisitMemberExpr(MemberExpr* e) override {
    check(dyn_cast<FunctionDecl>(e->getMemberDecl()), e->getMemberLoc());
    return true;
  }

 private:
  static bool of_numbers(const FunctionDecl* f) {
    return f->getReturnType()->isRealFloatingType() &&
           llvm::all_of(f->parameters(),
                        [](const ParmVarDecl* p) { return p->getType()->isArithmeticType(); });
  }
  void check(const FunctionDecl* f, SourceLocation at) {
    if (!f || f->isImplicit() || f->isDefaulted() || compat::within_clad(f)) return;
    auto [file, offset] = manager_.getDecomposedExpansionLoc(at);
    if (file != file_) return;
    auto [home, home_offset] = manager_.getDecomposedExpansionLoc(f->getLocation());
    if (home == file_) return;
    const auto& known = module_.callees();
    if (known.count(f->getCanonicalDecl())) return;
    // Library helpers that the generated text itself uses.
    if (compat::in_std(f) &&
        (isa<CXXMethodDecl>(f) || named(f, {"move", "as_const", "get"}) || !f->getIdentifier()))
      return;
    bool same_name = false;
    for (const FunctionDecl* k : known) {
      if (k->getDeclName() != f->getDeclName()) continue;
      same_name = true;
      // std::invoke of the function itself, in the place of a variable that holds it.
      if (compat::in_std(k) && compat::in_std(f) && named(f, {"invoke", "__invoke"}) &&
          k->getReturnType().getCanonicalType() == f->getReturnType().getCanonicalType())
        return;
      // std::pow of an integer that is taken for a number.
      if (compat::in_std(k) && of_numbers(k) && of_numbers(f) &&
          k->getReturnType().getCanonicalType() == f->getReturnType().getCanonicalType())
        return;
    }
    if (!same_name && compat::in_std(f)) return;
    unsigned line = manager_.getLineNumber(file, offset);
    if (line == 0 || line > map_.size()) return;
    module_.diagnose().error(map_[line - 1],
                             "in the derivative of this statement '" + f->getNameAsString() +
                                 "' resolves to an overload that the original call did not see");
    module_.diagnose().note(f->getLocation(), "the overload chosen there");
  }

  Module& module_;
  SourceManager& manager_;
  FileID file_;
  const std::vector<ir::Loc>& map_;
};

/// Puts the static variables of functions in the place of what stands for them: the text cannot name them.
class StaticNames : public AstVisitor {
 public:
  explicit StaticNames(const std::map<const ValueDecl*, const VarDecl*>& statics) : statics_(statics) {}
  bool shouldVisitTemplateInstantiations() const override { return true; }
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    if (const auto it = statics_.find(e->getDecl()); it != statics_.end())
      e->setDecl(const_cast<VarDecl*>(it->second));
    return true;
  }
  /// The parser has noted what a reference names.
  bool VisitVarDecl(VarDecl* v) override {
    EvaluatedStmt* noted = v->getType()->isReferenceType() ? v->getEvaluatedStmt() : nullptr;
    if (!noted) return true;
    noted->Evaluated = APValue();
    noted->WasEvaluated = noted->HasConstantInitialization = false;
    return true;
  }

 private:
  const std::map<const ValueDecl*, const VarDecl*>& statics_;
};

/// Gives access to Sema::CurScope, which a parser clears when it begins and when it ends: the explicit
/// instantiation of a template may name a private member.
Scope*& current_scope(Sema& sema);
template <Scope* Sema::* Member>
struct CurrentScope {
  friend Scope*& current_scope(Sema& sema) { return sema.*Member; }
};
template struct CurrentScope<&Sema::CurScope>;

/// The tokens of a file, without directives, and with macros left alone.
std::vector<Token> tokens_of(FileID file, Preprocessor& preprocessor) {
  SourceManager& manager = preprocessor.getSourceManager();
  Lexer lexer(file, manager.getBufferOrFake(file), manager, preprocessor.getLangOpts());
  std::vector<Token> out;
  do {
    Token& token = out.emplace_back();
    lexer.LexFromRawLexer(token);
    if (token.is(tok::raw_identifier)) preprocessor.LookUpIdentifierInfo(token);
  } while (out.back().isNot(tok::eof));
  return out;
}

}  // namespace

FileScope::FileScope(Sema& sema)
    : sema_(sema),
      before_(sema.TUScope),
      scope_(std::make_unique<Scope>(nullptr, Scope::DeclScope, sema.getDiagnostics())) {
  scope_->setEntity(sema.Context.getTranslationUnitDecl());
  if (!before_) sema_.TUScope = scope_.get();
}

FileScope::~FileScope() { sema_.TUScope = before_; }

bool parse_generated(CompilerInstance& compiler, Sema& sema, Module& module, const std::string& text,
                     const std::vector<ir::Loc>& locations, const SecondParse& how) {
  SourceManager& manager = compiler.getSourceManager();
  Preprocessor& preprocessor = compiler.getPreprocessor();
  const std::string name = how.shown_as.empty() ? "<derivatives generated by clad>" : how.shown_as;
  FileID file = manager.createFileID(llvm::MemoryBuffer::getMemBufferCopy(text, name), SrcMgr::C_User);

  // Everything changed here is put back below.
  Scope *scope = sema.TUScope, *inner_scope = sema.getCurScope();
  auto& options = const_cast<LangOptions&>(compiler.getLangOpts());
  const bool access_control = options.AccessControl;
  if (how.any_member) options.AccessControl = 0;
  const bool delayed = options.DelayedTemplateParsing;
  options.DelayedTemplateParsing = 0;  // what is put off is parsed at the end of the file, which has been
  DiagnosticsEngine& engine = compiler.getDiagnostics();
  const bool ignore_warnings = engine.getIgnoreAllWarnings();
  engine.setIgnoreAllWarnings(true);  // -Werror would make errors of those in generated text
  DiagnosticConsumer* client = engine.getClient();
  const bool owned = engine.ownsClient();
  std::unique_ptr<DiagnosticConsumer> holder = owned ? engine.takeClient() : nullptr;
  GeneratedDiagnostics filter(client, manager, file, locations);
  engine.setClient(&filter, /*ShouldOwnClient=*/false);

  preprocessor.InitializeForModelFile();  // a second parser must not free the first one's pragma handlers
  std::vector<Token> tokens;
  if (how.early || delayed) {  // after bodies that were put off, the preprocessor enters no other file
    tokens = tokens_of(file, preprocessor);
    preprocessor.EnterTokenStream(tokens, /*DisableMacroExpansion=*/true, /*IsReinject=*/false);
  } else {
    preprocessor.SetMacroExpansionOnlyInDirectives();
    preprocessor.EnterSourceFile(file, nullptr, SourceLocation());
  }
  std::vector<DeclGroupRef> groups;
  bool wrong = false;
  {
    std::optional<Sema::SFINAETrap> trap;
    if (how.early) trap.emplace(sema);
    Sema::GlobalEagerInstantiationScope instantiations(sema, /*Enabled=*/how.early);
    Parser parser(preprocessor, sema, /*SkipFunctionBodies=*/false);
    parser.Initialize();
    Sema::ModuleImportState imports = Sema::ModuleImportState::NotACXX20Module;
    Parser::DeclGroupPtrTy declarations;
    while (parser.getCurToken().isNot(tok::eof)) {
      parser.ParseTopLevelDecl(declarations, imports);
      if (declarations) groups.push_back(declarations.get());
    }
    for (FunctionDecl* f : how.defined)
      sema.InstantiateFunctionDefinition(f->getPointOfInstantiation(), f, /*Recursive=*/true);
    sema.DefineUsedVTables();
    sema.PerformPendingInstantiations();
    wrong = trap && trap->hasErrorOccurred();
  }
  if (how.early) current_scope(sema) = inner_scope;
  if (wrong) groups.clear();
  CalleeCheck check(module, manager, file, locations);
  StaticNames statics(module.types().statics());
  for (DeclGroupRef group : groups)
    for (Decl* d : group) {
      check.TraverseDecl(d);
      if (!module.types().statics().empty()) statics.TraverseDecl(d);
    }
  for (DeclGroupRef group : groups) compiler.getASTConsumer().HandleTopLevelDecl(group);
  preprocessor.FinalizeForModelFile();
  sema.TUScope = scope;
  options.AccessControl = access_control;
  options.DelayedTemplateParsing = delayed;
  engine.setIgnoreAllWarnings(ignore_warnings);
  if (owned)
    engine.setClient(holder.release(), /*ShouldOwnClient=*/true);
  else
    engine.setClient(client, /*ShouldOwnClient=*/false);
  for (const auto& p : filter.pending)
    if (!how.early)
      module.diagnose().error(
          p.at, "cannot differentiate this statement: its derivative by clad does not compile (" + p.message +
                    "); write it another way, or give the function it stands in a pullback");
  for (const auto& [message, at] : filter.inaccessible)
    module.diagnose().error(
        at, "cannot export this derivative: " + message +
                "; make it public, or have access not checked (-fno-access-control, and "
                "-fplugin-arg-clad-export-private; in CMake clad_export(... PRIVATE_MEMBERS))");
  return !wrong && filter.errors == 0;
}

}  // namespace clad
