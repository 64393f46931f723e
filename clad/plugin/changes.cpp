#include "changes.h"

#include "ast_visitor.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

bool is_span(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->isInStdNamespace() && record->getIdentifier() && record->getName() == "span";
}

using Found = llvm::function_ref<void(const ValueDecl*)>;

/// The variables whose own storage an lvalue expression may denote (not memory reached through a pointer).
void storage_roots(const clang::Expr* e, Found found) {
  for (;;) {
    e = e->IgnoreParenCasts();
    if (const auto* m = dyn_cast<MemberExpr>(e)) {
      if (m->isArrow()) return;
      e = m->getBase();
    } else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) {
      const clang::Expr* base = a->getBase()->IgnoreParenCasts();
      if (!base->getType()->isArrayType()) return;
      e = base;
    } else if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e);
               op && op->getOperator() == OO_Subscript && op->getNumArgs()) {
      const auto* method = dyn_cast_or_null<CXXMethodDecl>(op->getDirectCallee());
      if (method && method->isConst()) return;  // of an iterator or a view
      e = op->getArg(0);
    } else if (const auto* call = dyn_cast<CXXMemberCallExpr>(e)) {
      e = call->getImplicitObjectArgument();
      if (!e || e->getType()->isPointerType()) return;
    } else if (const auto* chosen = dyn_cast<AbstractConditionalOperator>(e)) {
      storage_roots(chosen->getTrueExpr(), found);
      e = chosen->getFalseExpr();
    } else if (const auto* comma = dyn_cast<BinaryOperator>(e); comma && comma->isCommaOp()) {
      e = comma->getRHS();
    } else {
      if (const auto* ref = dyn_cast<DeclRefExpr>(e)) found(ref->getDecl());
      return;
    }
  }
}

bool is_move(const FunctionDecl* f) {
  return f && compat::in_std(f) && f->getIdentifier() &&
         (f->getName() == "move" || f->getName() == "forward" || f->getName() == "as_const");
}

/// Whether it executes a derivative.
bool is_execute(const FunctionDecl* f) {
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  return method && compat::in_clad(method->getParent()) && named(method, {"execute"});
}

/// Whether what is given to such an object may move its elements: generated code keeps those of a
/// std::valarray in a vector.
bool may_move_elements(QualType type) { return holds_vector(type) || TypeTable::is_numeric_array(type); }

/// Whether this is a container of the library that is searched by keys.
bool is_lookup_container(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->getIdentifier() || !compat::in_std(record)) return false;
  const llvm::StringRef name = record->getName();
  return name.ends_with("map") || name.ends_with("set");
}

struct ChangeFinder : AstVisitor, Changes {
  using Handed = std::set<std::pair<const FunctionDecl*, unsigned>>;
  const ValueDecl* followed = nullptr;  // the one parameter that is asked for
  Handed* handed = nullptr;             // those that are being looked at
  // References to functions, to containers and to constants: they change what they name where they are
  // changed themselves.
  std::vector<std::pair<const VarDecl*, const clang::Expr*>> renamed;
  std::vector<const ForStmt*> increments;  // for loops whose increment is being visited
  bool shouldVisitTemplateInstantiations() const override { return true; }
  std::vector<std::pair<const ValueDecl*, const ValueDecl*>> other_names;  // references to pointers
  std::set<const clang::Expr*> read;  // arrays that nothing is written to through the pointer they become

  void mark(const clang::Expr* e) {
    storage_roots(e, [&](const ValueDecl* decl) { (is_counter(decl) ? counters : modified).insert(decl); });
  }
  /// Whether the variable is the one of the loop whose increment is being visited.
  bool is_counter(const ValueDecl* decl) const {
    const auto* init =
        increments.empty() ? nullptr : dyn_cast_or_null<DeclStmt>(increments.back()->getInit());
    return init && llvm::is_contained(init->decls(), decl);
  }
  /// `e` becomes another address: `to`, or something unknown.
  void assign(const clang::Expr* e, const clang::Expr* to) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts()))
      assigned[ref->getDecl()].push_back(to);
  }
  bool TraverseForStmt(ForStmt* s) override {
    for (clang::Stmt* part : {s->getInit(), static_cast<clang::Stmt*>(s->getCond()), s->getBody()})
      if (part) TraverseStmt(part);
    increments.push_back(s);
    if (s->getInc()) TraverseStmt(s->getInc());
    increments.pop_back();
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* e) override {
    if (e->isAssignmentOp()) mark(e->getLHS());
    if (e->getOpcode() == BO_Assign) assign(e->getLHS(), e->getRHS());
    return true;
  }
  void reads(const clang::Expr* pointer) {
    pointer = pointer->IgnoreParens();
    read.insert(pointer);
    if (const auto* sum = dyn_cast<BinaryOperator>(pointer); sum && sum->isAdditiveOp()) {
      reads(sum->getLHS());
      reads(sum->getRHS());
    }
  }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr* e) override {
    reads(e->getBase());
    return true;
  }
  bool VisitCastExpr(CastExpr* e) override {
    const QualType to = e->getType();
    const clang::Expr* from = e->getSubExpr()->IgnoreParens();
    if (e->getCastKind() == CK_NoOp && to->isPointerType() && to->getPointeeType().isConstQualified())
      reads(from);
    else if (e->getCastKind() == CK_ArrayToPointerDecay && !to->getPointeeType().isConstQualified() &&
             !read.count(e))
      mark(from);
    else if (const auto* element = dyn_cast<UnaryOperator>(from);
             element && e->getCastKind() == CK_LValueToRValue && element->getOpcode() == UO_Deref)
      reads(element->getSubExpr());
    else if (isa<ExplicitCastExpr>(e) && e->isLValue() && from->getType().isConstQualified() &&
             !to.isConstQualified())
      mark_all(from);
    return true;
  }
  /// What a call gives of its arguments is changed, as in const_cast<double&>(std::max(a, b)) = 1.
  void mark_all(const clang::Stmt* s) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(s)) mark(ref);
    for (const clang::Stmt* child : s->children())
      if (child) mark_all(child);
  }
  bool VisitUnaryOperator(UnaryOperator* e) override {
    if (e->isIncrementDecrementOp()) mark(e->getSubExpr());
    if (e->getOpcode() == UO_AddrOf && !e->getSubExpr()->getType().isConstQualified()) {
      mark(e->getSubExpr());
      assign(e->getSubExpr(), nullptr);
    }
    return true;
  }
  /// Whether a function that is handed on by reference stays the one that it is: a template's `F&& f` is one.
  bool only_calls(const FunctionDecl* f, unsigned i, const clang::Expr* arg) {
    const FunctionDecl* definition = nullptr;
    const auto* method = dyn_cast<CXXMethodDecl>(f);
    if ((method && method->isVirtual()) || !f->hasBody(definition)) return false;
    bool same = !followed;
    storage_roots(arg, [&](const ValueDecl* decl) { same |= decl == followed; });
    if (!same) return false;
    Handed own;
    ChangeFinder inner;
    inner.handed = handed ? handed : &own;
    inner.followed = definition->getParamDecl(i);
    if (!inner.handed->insert({definition, i}).second) return true;
    inner.visit_bodies(definition);
    inner.finish();
    return !inner.modified.count(inner.followed) && !inner.counters.count(inner.followed);
  }
  void finish() {
    const auto changed = [&](const ValueDecl* v) { return modified.count(v) || counters.count(v); };
    for (auto it = renamed.rbegin(); it != renamed.rend(); ++it) {
      const auto* parts = dyn_cast<DecompositionDecl>(it->first);
      if (changed(it->first) || (parts && llvm::any_of(parts->bindings(), changed))) mark(it->second);
    }
    for (auto it = other_names.rbegin(); it != other_names.rend(); ++it)
      if (const auto to = assigned.find(it->first); to != assigned.end()) {
        const std::vector<const clang::Expr*> added = to->second;
        std::vector<const clang::Expr*>& all = assigned[it->second];
        all.insert(all.end(), added.begin(), added.end());
      }
  }
  /// Whether a function that gets such an object may change a deque.
  static bool reaches_deque(QualType type) {
    type = type.getNonReferenceType();
    while (type->isPointerType()) type = type->getPointeeType();
    const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    const bool of_numbers = spec && compat::in_std(spec) && spec->getTemplateArgs().size() > 0 &&
                            spec->getTemplateArgs()[0].getKind() == TemplateArgument::Type &&
                            spec->getTemplateArgs()[0].getAsType()->isArithmeticType();
    return type->isRecordType() && (!of_numbers || holds_deque(type));
  }
  bool VisitCallExpr(CallExpr* e) override {
    const bool of_library = e->getDirectCallee() && compat::in_std(e->getDirectCallee());
    const auto* member = dyn_cast<CXXMemberCallExpr>(e);
    llvm::ArrayRef<const clang::Expr*> given(e->getArgs(), e->getNumArgs());
    if (of_library && isa<CXXOperatorCallExpr>(e) && isa<CXXMethodDecl>(e->getDirectCallee()))
      given = given.drop_front();
    shifts |= llvm::any_of(given, [](const clang::Expr* a) { return reaches_deque(a->getType()); }) ||
              (member && !of_library && reaches_deque(member->getImplicitObjectArgument()->getType()));
    const FunctionDecl* f = e->getDirectCallee();
    if (!f || is_move(f) || is_checkpoint(f) || is_loop_mark(f)) return true;
    unsigned first =
        isa<CXXOperatorCallExpr>(e) && isa<CXXMethodDecl>(f) && !cast<CXXMethodDecl>(f)->isStatic() ? 1 : 0;
    if (const auto* method = dyn_cast<CXXMethodDecl>(f);
        method && !method->isStatic() && !method->isConst()) {
      bool element = method->getParent()->isInStdNamespace() && method->getReturnType()->isReferenceType() &&
                     !method->isOverloadedOperator() && !named(method, {"emplace", "emplace_back"});
      // What it gives is marked where it is changed, unless that is a pointer.
      const bool subscript =
          method->getOverloadedOperator() == OO_Subscript && !method->getReturnType()->isPointerType();
      const bool keeps = method->getParent()->isInStdNamespace() &&
                         named(method, {"begin", "end", "rbegin", "rend", "data"});
      if (!element && !subscript && !keeps &&
          may_move_elements(compat::record_type(f->getASTContext(), method->getParent()))) {
        resizes = true;
        const bool at_the_end = method->getParent()->isInStdNamespace() &&
                                named(method, {"push_back", "emplace_back", "pop_back", "resize", "reserve"});
        shifts |= !at_the_end && holds_deque(compat::record_type(f->getASTContext(), method->getParent()));
      }
      const bool bound = first && Frontend::is_bound(without_base(e->getArg(0))->getType());
      if (!method->getParent()->isLambda() && !element && !subscript && !bound) {
        const auto* member = dyn_cast<CXXMemberCallExpr>(e);
        if (member && !member->getImplicitObjectArgument()->getType()->isPointerType())
          mark(member->getImplicitObjectArgument());
        else if (first)
          mark(e->getArg(0));
      }
    }
    if (Frontend::is_bound(e->getType())) return true;  // std::bind, which copies what it is given
    for (unsigned i = first; i < e->getNumArgs() && i - first < f->getNumParams(); ++i) {
      QualType param = f->getParamDecl(i - first)->getType();
      if ((!param->isReferenceType() && !param->isPointerType()) ||
          param->getPointeeType().isConstQualified())
        continue;
      resizes |= may_move_elements(param->getPointeeType());
      if (!param->isLValueReferenceType()) continue;
      const bool calls_it =
          compat::in_std(f) && named(f, {"invoke", "__invoke"}) && !param->getPointeeType()->isRecordType();
      if (calls_it && i == 0) continue;
      if (Frontend::is_callable(param) && only_calls(f, i - first, e->getArg(i))) continue;
      if (first && compat::in_std(f) && is_span(param))
        continue;  // a range of std::ranges, not changed itself
      mark(e->getArg(i));
      if (is_execute(f)) continue;  // which hands a pointer on by value
      if (!compat::in_std(f) || !named(f, {"swap", "advance"}))
        assign(e->getArg(i), nullptr);
      else if (f->getName() == "swap")
        assign(e->getArg(i), e->getNumArgs() == 2 ? e->getArg(1 - i) : nullptr);
    }
    if (first && cast<CXXOperatorCallExpr>(e)->getOperator() == OO_Equal) assign(e->getArg(0), e->getArg(1));
    return true;
  }
  /// Through a reference that a lambda returns, what it has captured may be changed.
  bool VisitLambdaExpr(LambdaExpr* e) override {
    const CXXMethodDecl* op = e->getCallOperator();
    if (op->isTemplated()) visit_bodies(op);
    const QualType result = op->getReturnType();
    if (!op->isTemplated() && ((!result->isReferenceType() && !result->isPointerType()) ||
                               result->getPointeeType().isConstQualified()))
      return true;
    for (const LambdaCapture& c : e->captures())
      if (c.capturesVariable() && c.getCaptureKind() == LCK_ByRef) modified.insert(c.getCapturedVar());
    return true;
  }
  void visit_bodies(const FunctionDecl* f) {
    if (const FunctionTemplateDecl* pattern = f->getDescribedFunctionTemplate())
      for (const FunctionDecl* instance : pattern->specializations()) visit_bodies(instance);
    for (const ParmVarDecl* p : f->parameters()) TraverseDecl(const_cast<ParmVarDecl*>(p));
    if (const clang::Stmt* body = f->getBody()) TraverseStmt(const_cast<clang::Stmt*>(body));
  }
  bool VisitCXXConstructExpr(CXXConstructExpr* e) override {
    const CXXConstructorDecl* f = e->getConstructor();
    shifts |= !f->isCopyOrMoveConstructor() && !compat::in_std(f) &&
              llvm::any_of(e->arguments(), [](const clang::Expr* a) { return reaches_deque(a->getType()); });
    for (unsigned i = 0; i < e->getNumArgs() && i < f->getNumParams(); ++i) {
      QualType param = f->getParamDecl(i)->getType();
      if (param->isLValueReferenceType() && !param->getPointeeType().isConstQualified()) mark(e->getArg(i));
    }
    return true;
  }
  bool VisitVarDecl(VarDecl* v) override {
    names.insert(v->getNameAsString());
    const CXXRecordDecl* record = v->getType()->getAsCXXRecordDecl();  // what its end does
    shifts |= record && !compat::in_std(record) && v->needsDestruction(v->getASTContext());
    if (v->getType()->isReferenceType() && v->getType()->getPointeeType().isConstQualified() &&
        v->getInit() && !v->isImplicit())
      renamed.emplace_back(v, v->getInit());  // const_cast changes it
    if (v->getType()->isLValueReferenceType() && !v->getType()->getPointeeType().isConstQualified() &&
        v->getInit() && !v->isCXXForRangeDecl() && !v->isImplicit()) {
      if (Frontend::is_callable(v->getType()) || is_lookup_container(v->getType())) {
        renamed.emplace_back(v, v->getInit());
        return true;
      }
      mark(v->getInit());
      const auto* named = dyn_cast<DeclRefExpr>(v->getInit()->IgnoreParens());
      if (named && v->getType()->getPointeeType()->isPointerType())
        other_names.emplace_back(v, named->getDecl());
    }
    return true;
  }
  bool VisitCXXForRangeStmt(CXXForRangeStmt* s) override {
    if (s->getBeginStmt()) modified.insert(cast<VarDecl>(s->getBeginStmt()->getSingleDecl()));
    QualType type = s->getLoopVariable()->getType();
    if (!type->isLValueReferenceType() || type->getPointeeType().isConstQualified()) return true;
    if (is_lookup_container(s->getRangeInit()->getType()))
      renamed.emplace_back(s->getLoopVariable(), s->getRangeInit());
    else
      mark(s->getRangeInit());
    return true;
  }
};

}  // namespace

Changes changes_of(const FunctionDecl* decl) {
  ChangeFinder finder;
  finder.visit_bodies(decl);
  finder.finish();
  find_moves(decl, finder);
  return std::move(finder);
}

static bool points_to_numbers(QualType type) {
  return type->isPointerType() && type->getPointeeType()->getBaseElementTypeUnsafe()->isArithmeticType();
}

/// The use of `p` that an address or lvalue is computed from by indices alone; null of any other.
static const DeclRefExpr* path_from(const ValueDecl* p, const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParenImpCasts();
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) {
      e = a->getBase();
    } else if (const auto* u = dyn_cast<UnaryOperator>(e);
               u && (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf)) {
      e = u->getSubExpr();
    } else if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->isAdditiveOp()) {
      e = b->getLHS()->getType()->isPointerType() ? b->getLHS() : b->getRHS();
    } else {
      const auto* ref = dyn_cast<DeclRefExpr>(e);
      return ref && ref->getDecl() == p ? ref : nullptr;
    }
  }
}

namespace {

/// The functions that are being looked at are taken to only read, until something says otherwise.
struct ReadFinder : AstVisitor {
  using Seen = std::set<std::pair<const FunctionDecl*, unsigned>>;
  ReadFinder(const ValueDecl* parameter, Seen& seen) : parameter(parameter), seen(seen) {}
  const ValueDecl* parameter;
  Seen& seen;
  std::set<const clang::Expr*> uses, reads;
  bool shouldVisitImplicitCode() const override { return true; }
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    if (e->getDecl() == parameter) uses.insert(e);
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr* e) override {
    if (e->getCastKind() == CK_LValueToRValue && e->getType()->isArithmeticType())
      if (const DeclRefExpr* use = path_from(parameter, e->getSubExpr())) reads.insert(use);
    return true;
  }
  bool VisitCallExpr(CallExpr* e) override {
    const FunctionDecl* callee = e->getDirectCallee();
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(callee);
    if (!callee || isa<CXXOperatorCallExpr>(e) || (method && method->isVirtual())) return true;
    for (unsigned i = 0; i < std::min(e->getNumArgs(), callee->getNumParams()); ++i) {
      const QualType type = callee->getParamDecl(i)->getType();
      const DeclRefExpr* use = points_to_numbers(type) ? path_from(parameter, e->getArg(i)) : nullptr;
      if (use && (type->getPointeeType().isConstQualified() || reads_only(callee, i, seen)))
        reads.insert(use);
    }
    return true;
  }
  static bool reads_only(const FunctionDecl* function, unsigned parameter, Seen& seen) {
    const FunctionDecl* definition = nullptr;
    if (!function->hasBody(definition) || !points_to_numbers(definition->getParamDecl(parameter)->getType()))
      return false;
    if (!seen.insert({definition, parameter}).second) return true;
    ReadFinder finder(definition->getParamDecl(parameter), seen);
    finder.TraverseStmt(definition->getBody());
    return finder.uses == finder.reads;
  }
};

}  // namespace

bool only_reads(const FunctionDecl* function, unsigned parameter) {
  ReadFinder::Seen seen;
  return ReadFinder::reads_only(function, parameter, seen);
}

Changes changes_of(const CXXRecordDecl* lambda) {
  return lambda->getLambdaCallOperator() ? changes_of(lambda->getLambdaCallOperator()) : Changes{};
}

}  // namespace clad
