#include "globals.h"

#include <algorithm>

#include "ast_visitor.h"
#include "changes.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

bool is_global(const ValueDecl* decl) {
  const auto* var = dyn_cast<VarDecl>(decl);
  return var && var->hasGlobalStorage() && !var->getType().isConstQualified() && !var->isConstexpr() &&
         !TypeTable::is_random(var->getType()->getAsCXXRecordDecl());
}

/// The globals whose memory, or memory behind which, an expression may name.
void global_roots(const clang::Expr* e, llvm::function_ref<void(const VarDecl*)> found) {
  for (;;) {
    e = e->IgnoreParenCasts();
    if (const auto* member = dyn_cast<MemberExpr>(e); member && !is_global(member->getMemberDecl())) {
      e = member->getBase();
    } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
      e = element->getBase();
    } else if (const auto* unary = dyn_cast<clang::UnaryOperator>(e)) {
      e = unary->getSubExpr();
    } else if (const auto* chosen = dyn_cast<AbstractConditionalOperator>(e)) {
      global_roots(chosen->getTrueExpr(), found);
      e = chosen->getFalseExpr();
    } else if (const auto* binary = dyn_cast<clang::BinaryOperator>(e)) {
      if (!binary->isAdditiveOp() && !binary->isCommaOp()) return;
      if (binary->isAdditiveOp()) global_roots(binary->getLHS(), found);
      e = binary->getRHS();
    } else if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e); op && op->getNumArgs()) {
      e = op->getArg(0);
    } else if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call && call->getImplicitObjectArgument()) {
      e = call->getImplicitObjectArgument();
    } else {
      const auto* ref = dyn_cast<DeclRefExpr>(e);
      const auto* static_member = dyn_cast<MemberExpr>(e);
      const ValueDecl* decl = ref ? ref->getDecl() : static_member ? static_member->getMemberDecl() : nullptr;
      if (decl && is_global(decl)) found(cast<VarDecl>(decl)->getCanonicalDecl());
      return;
    }
  }
}

QualType pointee_of(const clang::Expr* e) {
  return e->getType()->isPointerType() ? e->getType()->getPointeeType() : e->getType();
}

}  // namespace

bool gives_access(QualType type) {
  return (type->isPointerType() || type->isReferenceType()) && !type->getPointeeType().isConstQualified() &&
         !type->getPointeeType()->isFunctionType();
}

const clang::Expr* without_void(const clang::Expr* e) {
  for (e = e->IgnoreParens(); e->getType()->isVoidPointerType();) {
    const auto* cast = dyn_cast<CastExpr>(e);
    if (!cast || (cast->getCastKind() != CK_BitCast && cast->getCastKind() != CK_NoOp)) break;
    e = cast->getSubExpr()->IgnoreParens();
  }
  return e;
}

const ExplicitCastExpr* unconst_in(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParenImpCasts();
    if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) {
      const clang::Expr* from = cast->getSubExprAsWritten();
      const bool names = cast->isGLValue() || cast->getType()->isPointerType();
      if (names && pointee_of(from).isConstQualified() && !pointee_of(cast).isConstQualified() &&
          (cast->isGLValue() || from->getType()->isPointerType()))
        return cast;
      e = from;
    } else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) {
      e = a->getBase();
    } else if (const auto* m = dyn_cast<MemberExpr>(e)) {
      e = m->getBase();
    } else if (const auto* u = dyn_cast<clang::UnaryOperator>(e);
               u && (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf)) {
      e = u->getSubExpr();
    } else if (const auto* b = dyn_cast<clang::BinaryOperator>(e); b && b->isAdditiveOp()) {
      e = b->getLHS()->getType()->isPointerType() ? b->getLHS() : b->getRHS();
    } else {
      return nullptr;
    }
  }
}

namespace {

/// What a function's body names, and which globals it may change by itself and read.
struct Finder : AstVisitor {
  Finder(TypeTable& types, Globals::Function& found) : types(types), found(found) {}
  TypeTable& types;
  Globals::Function& found;
  std::set<const clang::Expr*> written;  ///< globals that a statement changes without a use of their values
  std::set<const ExplicitCastExpr*> to_read;

  bool shouldVisitTemplateInstantiations() const override { return true; }
  bool shouldVisitImplicitCode() const override { return true; }

  /// A mutable member of what is constant there.
  void change_member(const clang::Expr* path) {
    for (const clang::Expr* e = path;;) {
      e = e->IgnoreParenImpCasts();
      if (const auto* m = dyn_cast<MemberExpr>(e)) {
        const auto* field = dyn_cast<FieldDecl>(m->getMemberDecl());
        if (field && field->isMutable() && pointee_of(m->getBase()).isConstQualified() &&
            (field->getType()->isIntegralOrEnumerationType() || types.get(field->getType())->differentiable))
          found.unconst.try_emplace(path, field);
        e = m->getBase();
      } else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) {
        e = a->getBase();
      } else if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e); op && op->getNumArgs()) {
        e = op->getArg(0);
      } else if (const auto* call = dyn_cast<CXXMemberCallExpr>(e);
                 call && call->getImplicitObjectArgument()) {
        e = call->getImplicitObjectArgument();
      } else {
        return;
      }
    }
  }
  void change(const clang::Expr* e) {
    if (e) change_member(e);
    if (e) global_roots(e, [&](const VarDecl* var) { found.changed.insert(var); });
  }
  void name(const FunctionDecl* f) {
    if (!f) return;
    found.names.insert(f->getCanonicalDecl());
    const auto* method = dyn_cast<CXXMethodDecl>(f);
    if (!method || !method->isVirtual()) return;
    for (const CXXRecordDecl* derived : types.derived_from(method->getParent()))
      if (const CXXMethodDecl* own = method->getCorrespondingMethodInClass(derived))
        found.names.insert(own->getCanonicalDecl());
  }
  void destroy(QualType type) {
    const CXXRecordDecl* record = type->getAsCXXRecordDecl();
    if (record && record->hasDefinition() && !record->hasTrivialDestructor()) name(record->getDestructor());
  }
  void use(const clang::Expr* e, const ValueDecl* decl) {
    name(dyn_cast<FunctionDecl>(decl));
    if (const auto* field = dyn_cast<FieldDecl>(decl); field && field->isMutable() && !written.count(e))
      found.read_members.insert(field);
    if (is_global(decl) && !written.count(e)) found.read.insert(cast<VarDecl>(decl)->getCanonicalDecl());
  }
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    use(e, e->getDecl());
    return true;
  }
  bool VisitMemberExpr(MemberExpr* e) override {
    use(e, e->getMemberDecl());
    return true;
  }
  bool VisitExplicitCastExpr(ExplicitCastExpr* e) override {
    const ir::Type* type = unconst_in(e) == e && !to_read.count(e) ? types.get(pointee_of(e)) : nullptr;
    if (type && type->differentiable && type->kind != ir::Type::Opaque) found.unconst.try_emplace(e, nullptr);
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr* e) override {
    const bool reads = e->getCastKind() == CK_LValueToRValue && e->getType()->isArithmeticType();
    const bool restores = e->getCastKind() == CK_NoOp && pointee_of(e).isConstQualified();
    if (reads || restores)
      if (const ExplicitCastExpr* cast = unconst_in(e->getSubExpr())) to_read.insert(cast);
    return true;
  }
  /// A statement, or the like, whose value nobody uses.
  void discard(const clang::Stmt* s) {
    const auto* e = dyn_cast_or_null<clang::Expr>(s);
    if (!e) return;
    e = e->IgnoreParenCasts();
    const auto* unary = dyn_cast<clang::UnaryOperator>(e);
    const auto* binary = dyn_cast<clang::BinaryOperator>(e);
    if (unary && unary->isIncrementDecrementOp()) written.insert(unary->getSubExpr()->IgnoreParens());
    if (binary && binary->isAssignmentOp()) written.insert(binary->getLHS()->IgnoreParens());
  }
  bool VisitCompoundStmt(CompoundStmt* s) override {
    for (const clang::Stmt* inner : s->body()) discard(inner);
    return true;
  }
  bool VisitIfStmt(IfStmt* s) override {
    discard(s->getThen());
    discard(s->getElse());
    return true;
  }
  bool VisitForStmt(ForStmt* s) override {
    discard(s->getInc());
    discard(s->getBody());
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr* e) override {
    name(e->getConstructor());
    for (unsigned i = 0; i < e->getNumArgs() && i < e->getConstructor()->getNumParams(); ++i)
      if (gives_access(e->getConstructor()->getParamDecl(i)->getType())) change(e->getArg(i));
    return true;
  }
  // What stands where the parameter or the member is declared.
  bool VisitCXXDefaultArgExpr(CXXDefaultArgExpr* e) override { return TraverseStmt(e->getExpr()); }
  bool VisitCXXDefaultInitExpr(CXXDefaultInitExpr* e) override { return TraverseStmt(e->getExpr()); }
  bool VisitCXXBindTemporaryExpr(CXXBindTemporaryExpr* e) override {
    destroy(e->getType());
    return true;
  }
  bool VisitVarDecl(VarDecl* v) override {
    destroy(v->getType());
    if (gives_access(v->getType())) change(v->getInit());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* e) override {
    if (e->isCommaOp()) discard(e->getLHS());
    if (e->isAssignmentOp()) change(e->getLHS());
    if (e->getOpcode() == BO_Assign && gives_access(e->getType())) change(e->getRHS());
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* e) override {
    if (e->isIncrementDecrementOp()) change(e->getSubExpr());
    return true;
  }
  bool VisitCXXForRangeStmt(CXXForRangeStmt* s) override {
    if (gives_access(s->getLoopVariable()->getType())) change(s->getRangeInit());
    return true;
  }
  bool VisitReturnStmt(ReturnStmt* s) override {
    if (s->getRetValue() && (s->getRetValue()->isLValue() || gives_access(s->getRetValue()->getType())))
      change(s->getRetValue());
    return true;
  }
  bool VisitCallExpr(CallExpr* e) override {
    const FunctionDecl* f = e->getDirectCallee();
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
    const bool object = method && !method->isStatic() && isa<CXXOperatorCallExpr>(e);
    if (const auto* member = dyn_cast<CXXMemberCallExpr>(e);
        member && method && !method->isConst() && !accesses(method))
      change(member->getImplicitObjectArgument());
    if (object && !method->isConst() && !accesses(method)) change(e->getArg(0));
    for (unsigned i = object ? 1 : 0; i < e->getNumArgs(); ++i) {
      const unsigned k = i - (object ? 1 : 0);
      const QualType param =
          f && k < f->getNumParams() ? f->getParamDecl(k)->getType() : e->getArg(i)->getType();
      if (gives_access(param)) change(e->getArg(i));
      if (f && k < f->getNumParams() && (!gives_access(param) || only_reads(f, k)))
        if (const ExplicitCastExpr* cast = unconst_in(e->getArg(i))) to_read.insert(cast);
    }
    return true;
  }
  /// Members of library containers that only name an element: what changes that element is seen by itself.
  static bool accesses(const CXXMethodDecl* method) {
    return compat::in_std(method) && (method->getOverloadedOperator() == OO_Subscript ||
                                      named(method, {"at", "front", "back", "begin", "end", "data", "size"}));
  }
};

}  // namespace

const Globals::Function& Globals::look(const FunctionDecl* function) {
  const auto [it, fresh] = functions_.try_emplace(function->getCanonicalDecl());
  Function& found = it->second;
  if (!fresh) return found;
  const SourceManager& manager = function->getASTContext().getSourceManager();
  const FunctionDecl* definition = nullptr;
  if (compat::in_std(function) || manager.isInSystemHeader(function->getLocation())) return found;
  if (!function->hasBody(definition)) {
    found.unknown = !function->isImplicit() && !function->isDefaulted() && function->getBuiltinID() == 0;
    return found;
  }
  Finder finder(types_, found);
  finder.TraverseDecl(const_cast<FunctionDecl*>(definition));
  if (const auto* ctor = dyn_cast<CXXConstructorDecl>(definition))
    for (const CXXCtorInitializer* init : ctor->inits()) finder.TraverseStmt(init->getInit());
  return found;
}

void Globals::collect(const FunctionDecl* function, std::set<const FunctionDecl*>& seen) {
  std::vector<const FunctionDecl*> open{function->getCanonicalDecl()};
  while (!open.empty()) {
    const FunctionDecl* next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    const Function& found = look(next);
    open.insert(open.end(), found.names.begin(), found.names.end());
  }
}

std::vector<Globals::Unconst> Globals::unconst(llvm::function_ref<bool(const FunctionDecl*)> known) const {
  bool any = false;
  std::set<const FieldDecl*> read;
  for (const FunctionDecl* f : reached_) {
    const Function& found = functions_.at(f);
    any |= !found.unconst.empty();
    read.insert(found.read_members.begin(), found.read_members.end());
  }
  std::vector<Unconst> out;
  if (!any) return out;
  std::vector<const FunctionDecl*> open;
  for (const FunctionDecl* root : roots_)
    open.insert(open.end(), functions_.at(root).names.begin(), functions_.at(root).names.end());
  std::set<const FunctionDecl*> seen;
  while (!open.empty()) {
    const FunctionDecl* f = open.back();
    open.pop_back();
    if (!seen.insert(f).second || compat::within_clad(f) || known(f)) continue;
    const Function& found = functions_.at(f);
    for (const auto& [at, member] : found.unconst)
      if (!member || read.count(member)) out.push_back({f, at, member});
    open.insert(open.end(), found.names.begin(), found.names.end());
  }
  return out;
}

void Globals::reach(const FunctionDecl* function) {
  collect(function, reached_);
  roots_.insert(function->getCanonicalDecl());
  for (const FunctionDecl* f : reached_) {
    const Function& found = look(f);
    unknown_ |= found.unknown;
    changed_.insert(found.changed.begin(), found.changed.end());
    read_.insert(found.read.begin(), found.read.end());
  }
}

bool Globals::is_changed(const VarDecl* var) const {
  return read_.count(var) != 0 && (changed_.count(var) != 0 || (unknown_ && var->hasExternalFormalLinkage()));
}

bool Globals::name(const VarDecl* var) {
  var = var->getCanonicalDecl();
  if (!is_global(var) || !is_changed(var)) return false;
  if (!types_.get(var->getType())->copyable) return false;  // a std::atomic: what it is asked is kept
  named_.insert(var);
  return tracked_.count(var) != 0;
}

bool Globals::track_named() {
  const std::size_t before = tracked_.size();
  tracked_.insert(named_.begin(), named_.end());
  return tracked_.size() != before;
}

std::vector<const VarDecl*> Globals::changed_by(const FunctionDecl* function) {
  std::vector<const VarDecl*> out;
  if (tracked_.empty()) return out;
  std::set<const FunctionDecl*> within = reached_;
  if (function) {
    within.clear();
    collect(function, within);
  }
  bool unknown = false;
  std::set<const VarDecl*> changed;
  for (const FunctionDecl* f : within) {
    const Function& found = look(f);
    unknown |= found.unknown;
    changed.insert(found.changed.begin(), found.changed.end());
  }
  for (const VarDecl* var : tracked_)
    if (changed.count(var) || (unknown && var->hasExternalFormalLinkage())) out.push_back(var);
  std::sort(out.begin(), out.end(), [](const VarDecl* a, const VarDecl* b) {
    return a->getLocation().getRawEncoding() < b->getLocation().getRawEncoding();
  });
  return out;
}

}  // namespace clad
