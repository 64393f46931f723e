// Vectors that exchange or hand over their elements. A pointer into one then points into the other, while the
// IR goes by the name of the vector: such a pointer must not be used again.
#include "ast_visitor.h"
#include "changes.h"
#include "clang/Basic/SourceManager.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

using Objects = std::set<const ValueDecl*>;

/// Whether `decide` says so of the type or of anything that it consists of; null leaves it to the parts.
using Decision = llvm::function_ref<std::optional<bool>(QualType, const CXXRecordDecl*)>;
bool any_part(QualType type, Decision decide, std::set<const CXXRecordDecl*>& seen) {
  if (const auto* array = type->getAsArrayTypeUnsafe())
    return any_part(array->getElementType(), decide, seen);
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (const auto decided = decide(type, record)) return *decided;
  if (!record || !record->hasDefinition() || !seen.insert(record->getDefinition()).second) return false;
  const auto any = [&](QualType part) { return any_part(part, decide, seen); };
  if (compat::in_std(record)) {
    const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
    return spec && llvm::any_of(spec->getTemplateArgs().asArray(), [&](const TemplateArgument& argument) {
             if (argument.getKind() == TemplateArgument::Type) return any(argument.getAsType());
             return argument.getKind() == TemplateArgument::Pack &&
                    llvm::any_of(argument.pack_elements(), [&](const TemplateArgument& one) {
                      return one.getKind() == TemplateArgument::Type && any(one.getAsType());
                    });
           });
  }
  return llvm::any_of(record->fields(), [&](const FieldDecl* f) { return any(f->getType()); }) ||
         llvm::any_of(record->getDefinition()->bases(),
                      [&](const CXXBaseSpecifier& base) { return any(base.getType()); });
}

StringRef library_name(const CXXRecordDecl* record) {
  return record && record->getIdentifier() && compat::in_std(record) ? record->getName() : "";
}

/// Whether copies of such a value name other variables' storage.
bool holds_address(QualType type) {
  std::set<const CXXRecordDecl*> seen;
  return any_part(
      type,
      [](QualType t, const CXXRecordDecl* record) -> std::optional<bool> {
        const StringRef name = library_name(record);
        if (t->isReferenceType() || t->isPointerType() || name.contains("iterator") || name == "span" ||
            name == "reference_wrapper" || name == "function")
          return true;
        return std::nullopt;
      },
      seen);
}

/// Whether such a value, or what it refers to, can be called.
bool holds_function(QualType type) {
  std::set<const CXXRecordDecl*> seen;
  type = type.getNonReferenceType();
  while (type->isPointerType() && !type->isFunctionPointerType()) type = type->getPointeeType();
  return any_part(
      type,
      [](QualType t, const CXXRecordDecl* record) -> std::optional<bool> {
        const StringRef name = library_name(record);
        if ((record && record->isLambda()) || t->isFunctionPointerType() || name == "function" ||
            name == "reference_wrapper")
          return true;
        return std::nullopt;
      },
      seen);
}

/// A pointer or a reference to an object that has vectors names the object, if what it is bound to is a plain
/// path.
bool names_object(const VarDecl* var) {
  const QualType to = var->getType()->getPointeeType();
  if (!var->getInit() || to.isNull() || !holds_vector(to)) return false;
  const clang::Expr* e = var->getInit()->IgnoreParenImpCasts();
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->getOpcode() == UO_AddrOf)
    e = u->getSubExpr()->IgnoreParenImpCasts();
  while (const auto* member = dyn_cast<MemberExpr>(e)) e = member->getBase()->IgnoreParenImpCasts();
  return isa<DeclRefExpr>(e) || isa<CXXThisExpr>(e);
}

bool is_handover(const FunctionDecl* f) {
  return compat::in_std(f) && named(f, {"swap", "move", "forward", "exchange", "iter_swap", "swap_ranges"});
}

/// What an expression mentions; inside lambdas apart, if asked. Objects declared there are no part of it.
Objects mentioned(const clang::Stmt* e, Objects* in_lambdas = nullptr) {
  struct Finder : AstVisitor {
    Objects found, inside;
    std::vector<const DeclContext*> bodies;
    bool TraverseLambdaExpr(LambdaExpr* lambda) override {
      bodies.push_back(lambda->getCallOperator());
      const bool going = AstVisitor::TraverseLambdaExpr(lambda);
      bodies.pop_back();
      return going;
    }
    void add(const ValueDecl* decl) { (bodies.empty() ? found : inside).insert(decl); }
    bool is_declared_inside(const VarDecl* var) const {
      return llvm::any_of(bodies, [&](const DeclContext* body) {
        return !var->isInitCapture() && !var->isStaticLocal() && body->Encloses(var->getDeclContext()) &&
               !holds_address(var->getType());  // which a call may give
      });
    }
    bool VisitDeclRefExpr(DeclRefExpr* ref) override {
      const auto* var = dyn_cast<VarDecl>(ref->getDecl());
      if ((var && !is_declared_inside(var)) || isa<BindingDecl>(ref->getDecl())) add(ref->getDecl());
      return true;
    }
    bool VisitMemberExpr(MemberExpr* member) override {
      if (isa<FieldDecl>(member->getMemberDecl()) &&
          isa<CXXThisExpr>(member->getBase()->IgnoreParenImpCasts()))
        add(member->getMemberDecl());
      return true;
    }
  } finder;
  finder.TraverseStmt(const_cast<clang::Stmt*>(e));
  (in_lambdas ? *in_lambdas : finder.found).merge(finder.inside);
  return finder.found;
}

std::vector<const LambdaExpr*> lambdas_in(const clang::Stmt* e) {
  struct Finder : AstVisitor {
    std::vector<const LambdaExpr*> found;
    bool VisitLambdaExpr(LambdaExpr* lambda) override {
      found.push_back(lambda);
      return true;
    }
  } finder;
  finder.TraverseStmt(const_cast<clang::Stmt*>(e));
  return finder.found;
}

/// What is known of the functions that are called.
struct Callees {
  std::map<const FunctionDecl*, bool> known;  ///< whether they hand over
  std::set<const FunctionDecl*> visited;      ///< those that are being looked into
  std::set<const FunctionDecl*> assumed;      ///< those of them that were taken not to
};

struct Collector : AstVisitor {
  struct Handover {
    SourceLocation at;
    Objects of;
  };
  struct Use {
    SourceLocation at;
    const VarDecl* of;
  };
  std::vector<Handover> handovers;
  std::vector<Use> uses;
  std::vector<const clang::Stmt*> loops;
  std::vector<const CXXForRangeStmt*> ranges;
  std::vector<const VarDecl*> variables;
  struct Source {
    Objects direct, in_lambdas;
    void add(const clang::Expr* e) { direct.merge(mentioned(e, &in_lambdas)); }
  };
  std::map<const VarDecl*, Source> sources;   ///< what their values are made from
  std::map<const VarDecl*, Objects> lambdas;  ///< what calls by the variable's name hand over
  std::set<const CXXRecordDecl*> named_lambdas;
  unsigned deferred = 0;  ///< inside the body of a lambda that is called by name
  Callees& callees;
  explicit Collector(Callees& of) : callees(of) {}
  bool shouldVisitTemplateInstantiations() const override { return true; }

  /// Whether a call of `f` can hand over what its arguments hold.
  bool hands_over(const FunctionDecl* f) {
    if (is_handover(f)) return true;
    const FunctionDecl* definition = nullptr;
    if (compat::in_std(f) || compat::in_views(f) || !f->getBody(definition)) return false;
    if (auto it = callees.known.find(definition); it != callees.known.end()) return it->second;
    if (!callees.visited.insert(definition).second) {
      callees.assumed.insert(definition);
      return false;
    }
    Collector inner(callees);
    inner.TraverseStmt(definition->getBody());
    callees.visited.erase(definition);
    callees.assumed.erase(definition);
    const bool any = !inner.handovers.empty();
    if (any || callees.assumed.empty()) callees.known[definition] = any;
    return any;
  }
  void add(const clang::Expr* e, const clang::Expr* object, bool mutable_object) {
    QualType type = object->getType();
    if (type->isPointerType()) type = type->getPointeeType();
    if (!mutable_object || type.isConstQualified() || !holds_vector(type)) return;
    Objects of = mentioned(object);
    if (!of.empty() && !deferred) handovers.push_back({e->getExprLoc(), std::move(of)});
  }
  bool VisitCallExpr(CallExpr* e) override {
    const FunctionDecl* f = e->getDirectCallee();
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
    const auto* on = dyn_cast<CXXMemberCallExpr>(e);
    if (!f) return true;
    const bool swaps = method && named(f, {"swap"});
    if (!swaps && !hands_over(f)) return true;
    if (on) add(e, on->getImplicitObjectArgument(), !method->isConst());
    const unsigned first = isa<CXXOperatorCallExpr>(e) && method ? 1 : 0;
    if (first) add(e, e->getArg(0), !method->isConst());
    for (unsigned i = first; i < e->getNumArgs() && i - first < f->getNumParams(); ++i) {
      const QualType type = f->getParamDecl(i - first)->getType();
      add(e, e->getArg(i), type->isReferenceType() || type->isPointerType());
    }
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr* ref) override {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    if (!var) return true;
    uses.push_back({ref->getLocation(), var});
    if (auto it = lambdas.find(var); it != lambdas.end())
      handovers.push_back({ref->getLocation(), it->second});
    return true;
  }
  void assign(const clang::Expr* to, const clang::Expr* e) {
    const auto* ref = dyn_cast<DeclRefExpr>(to->IgnoreParenImpCasts());
    const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    if (!var) return;
    if (holds_address(var->getType().getNonReferenceType())) sources[var].add(e);
    if (holds_function(var->getType())) name_function(var, e);
  }
  bool VisitBinaryOperator(BinaryOperator* e) override {
    if (e->getOpcode() == BO_Assign) assign(e->getLHS(), e->getRHS());
    return true;
  }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr* e) override {
    if (e->getOperator() == OO_Equal && e->getNumArgs() == 2) assign(e->getArg(0), e->getArg(1));
    return true;
  }
  bool VisitVarDecl(VarDecl* var) override {
    if (!var->isLocalVarDecl()) return true;
    variables.push_back(var);
    if (var->getInit()) sources[var].add(var->getInit());
    if (var->getInit() && holds_function(var->getType())) name_function(var, var->getInit());
    return true;
  }
  /// A call by this name hands over what the lambdas hand over that the variable is made from.
  void name_function(const VarDecl* var, const clang::Expr* made) {
    if (const auto* lambda = dyn_cast<LambdaExpr>(strip(made)))
      named_lambdas.insert(lambda->getLambdaClass());
    for (const LambdaExpr* lambda : lambdas_in(made)) {
      Collector inner(callees);
      inner.lambdas = lambdas;
      inner.TraverseStmt(lambda->getCallOperator()->getBody());
      for (const Handover& handover : inner.handovers)
        lambdas[var].insert(handover.of.begin(), handover.of.end());
    }
    for (const ValueDecl* other : mentioned(made))
      if (auto it = lambdas.find(dyn_cast<VarDecl>(other)); it != lambdas.end()) {
        const Objects of = it->second;
        lambdas[var].insert(of.begin(), of.end());
      }
  }
  bool TraverseLambdaExpr(LambdaExpr* e) override {
    const unsigned more = named_lambdas.count(e->getLambdaClass()) ? 1 : 0;
    deferred += more;
    AstVisitor::TraverseLambdaExpr(e);
    deferred -= more;
    return true;
  }
  bool VisitStmt(clang::Stmt* s) override {
    if (isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s) || isa<CXXForRangeStmt>(s)) loops.push_back(s);
    if (const auto* range = dyn_cast<CXXForRangeStmt>(s)) ranges.push_back(range);
    return true;
  }
};

class Check {
 public:
  Check(const SourceManager& manager, const Collector& found) : manager_(manager), found_(found) {
    for (const bool functions : {false, true})  // which may capture pointers
      for (const VarDecl* var : found.variables)
        if (auto it = found.sources.find(var); it != found.sources.end())
          if (holds_function(var->getType()) == functions) add(var, it->second, functions);
    for (const CXXForRangeStmt* loop : found.ranges)
      add(loop->getLoopVariable(), {walked(loop->getRangeInit()), {}}, /*function=*/false);
  }
  void run(const std::function<void(SourceLocation, const std::string&)>& report) const {
    for (const Collector::Handover& handover : found_.handovers) {
      Objects of;
      for (const ValueDecl* one : handover.of) expand(one, objects_, of);
      for (const Collector::Use& use : found_.uses)
        if (points_into(use.of, of) && reached(handover.at, use))
          return report(handover.at,
                        "cannot differentiate through '" + use.of->getNameAsString() +
                            "' after this call: it points into a vector whose elements another one gets "
                            "here; take the pointer afterwards, or copy the elements");
      for (const CXXForRangeStmt* loop : found_.ranges)
        if (within(handover.at, loop->getBody()) && meet(walked(loop->getRangeInit()), of))
          return report(handover.at,
                        "cannot differentiate a range-for over a vector whose elements another one gets in "
                        "the body; take an index");
    }
  }

 private:
  /// The objects that a range may be; what chooses one of them is none.
  static Objects walked(const clang::Expr* range) {
    const auto* choice = dyn_cast<ConditionalOperator>(range->IgnoreParenImpCasts());
    if (!choice) return mentioned(range);
    Objects all = walked(choice->getTrueExpr());
    all.merge(walked(choice->getFalseExpr()));
    return all;
  }
  void add(const VarDecl* var, const Collector::Source& source, bool function) {
    if (!holds_address(var->getType())) return;
    Objects from = source.direct;
    for (const ValueDecl* captured : source.in_lambdas)  // names of objects are no pointers into them
      if (!function || pointers_.count(captured)) from.insert(captured);
    (names_object(var) ? objects_ : pointers_)[var] = from;
  }
  /// `decl` and what it stands for.
  void expand(const ValueDecl* decl, const std::map<const ValueDecl*, Objects>& through,
              Objects& into) const {
    if (!into.insert(decl).second) return;
    if (auto it = through.find(decl); it != through.end())
      for (const ValueDecl* next : it->second) expand(next, through, into);
  }
  bool meet(const Objects& a, const Objects& b) const {
    return std::any_of(a.begin(), a.end(), [&](const ValueDecl* decl) { return b.count(decl) != 0; });
  }
  bool points_into(const VarDecl* var, const Objects& of) const {
    if (!pointers_.count(var)) return false;
    std::map<const ValueDecl*, Objects> both = pointers_;
    both.insert(objects_.begin(), objects_.end());
    Objects into;
    expand(var, both, into);
    return meet(into, of);
  }
  bool within(SourceLocation at, const clang::Stmt* s) const {
    return !manager_.isBeforeInTranslationUnit(at, s->getBeginLoc()) &&
           !manager_.isBeforeInTranslationUnit(s->getEndLoc(), at);
  }
  /// Whether the pointer that is used may be older than the handover.
  bool reached(SourceLocation handover, const Collector::Use& use) const {
    const SourceLocation declared = use.of->getLocation();
    if (manager_.isBeforeInTranslationUnit(declared, handover) &&
        manager_.isBeforeInTranslationUnit(handover, use.at))
      return true;
    for (const clang::Stmt* loop : found_.loops)
      if (within(handover, loop) && within(use.at, loop) && !within(declared, loop)) return true;
    return false;
  }

  const SourceManager& manager_;
  const Collector& found_;
  std::map<const ValueDecl*, Objects> objects_;   ///< names of objects, and what they are bound to
  std::map<const ValueDecl*, Objects> pointers_;  ///< what may point into elements, and what it was made from
};

}  // namespace

static bool holds_one_of(QualType type, std::initializer_list<llvm::StringRef> names) {
  std::set<const CXXRecordDecl*> seen;
  return any_part(
      type,
      [&](QualType, const CXXRecordDecl* record) -> std::optional<bool> {
        if (llvm::is_contained(names, library_name(record))) return true;
        return std::nullopt;
      },
      seen);
}
bool holds_vector(QualType type) { return holds_one_of(type, {"vector", "deque"}); }
bool holds_deque(QualType type) { return holds_one_of(type, {"deque"}); }

void check_handovers(const FunctionDecl* decl,
                     const std::function<void(SourceLocation, const std::string&)>& report) {
  const FunctionDecl* definition = nullptr;
  const clang::Stmt* body = decl->getBody(definition);
  if (!body) return;
  Callees callees;
  callees.known[definition] = false;
  Collector found(callees);
  found.TraverseStmt(const_cast<clang::Stmt*>(body));
  if (!found.handovers.empty()) Check(decl->getASTContext().getSourceManager(), found).run(report);
}

}  // namespace clad
