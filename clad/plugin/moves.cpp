// Objects that are moved from and may be read again: the containers in them are empty then.
#include <algorithm>

#include "changes.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// Whether a function of the library hands its argument on as what it is.
bool passes_on(const FunctionDecl* f) {
  return named(f, {"move", "forward", "move_if_noexcept", "as_const", "get", "forward_as_tuple", "tie",
                   "addressof", "invoke", "__invoke", "apply", "min", "max", "swap"});
}

/// The variable that an expression names a part of; null if that is not seen.
const ValueDecl* root_of(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParenCasts();
    if (const auto* temporary = dyn_cast<MaterializeTemporaryExpr>(e)) {
      e = temporary->getSubExpr();
    } else if (const auto* member = dyn_cast<MemberExpr>(e)) {
      e = member->getBase();
    } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
      e = element->getBase();
    } else if (const auto* call = dyn_cast<CXXMemberCallExpr>(e)) {
      e = call->getImplicitObjectArgument();
    } else if (const auto* call = dyn_cast<CallExpr>(e); call && call->getNumArgs() > 0) {
      e = call->getArg(0);
    } else {
      const auto* ref = dyn_cast<DeclRefExpr>(e);
      return ref ? ref->getDecl() : nullptr;
    }
  }
}

/// Finds what is moved from in one function, and whether it may be read afterwards.
class MoveFinder {
 public:
  explicit MoveFinder(const FunctionDecl* f) { functions_.push_back(f); }

  void visit(const clang::Stmt* s) {
    const unsigned begin = ++count_;
    const bool loop = isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(s);
    const auto* lambda = dyn_cast<LambdaExpr>(s);
    if (loop) loops_.push_back(begin);
    note(s);
    if (const auto it = moves_.find(s); it != moves_.end()) {
      it->second.loops = loops_;
      it->second.in = functions_.back();
    }
    for (const clang::Stmt* child : s->children()) {
      if (lambda && child == lambda->getBody()) functions_.push_back(lambda->getCallOperator());
      if (child) visit(child);
      if (lambda && child == lambda->getBody()) functions_.pop_back();
    }
    if (loop) loops_.pop_back();
    if (const auto it = moves_.find(s); it != moves_.end()) it->second.end = count_;
  }

  void finish(Changes& changes) const {
    for (const auto& [s, move] : moves_) {
      const ValueDecl* root = root_of(cast<clang::Expr>(s));
      if (!may_be_read(root, move)) continue;
      changes.taken.insert(cast<clang::Expr>(s));
      if (root) changes.modified.insert(root);
    }
  }

 private:
  struct Move {
    std::vector<unsigned> loops;  // those it is in, by where they begin
    const FunctionDecl* in = nullptr;
    unsigned end = 0;
  };

  void note(const clang::Stmt* s) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
      last_[ref->getDecl()] = count_;
    } else if (const auto* declared = dyn_cast<DeclStmt>(s)) {
      for (const Decl* d : declared->decls()) {
        const auto* var = dyn_cast<VarDecl>(d);
        if (!var) continue;
        declared_[var] = count_;
        if (var->getType()->isReferenceType() && var->getInit()) alias(var->getInit());
      }
    } else if (const auto* lambda = dyn_cast<LambdaExpr>(s)) {
      for (const LambdaCapture& c : lambda->captures())
        if (c.capturesVariable() && c.getCaptureKind() == LCK_ByRef) aliased_.insert(c.getCapturedVar());
    } else if (const auto* op = dyn_cast<UnaryOperator>(s); op && op->getOpcode() == UO_AddrOf) {
      alias(op->getSubExpr());
    } else if (const auto* list = dyn_cast<InitListExpr>(s)) {
      for (const clang::Expr* init : list->inits())
        if (init->isGLValue()) alias(init);
    } else if (const auto* made = dyn_cast<CXXConstructExpr>(s)) {
      construct(made);
    } else if (const auto* call = dyn_cast<CallExpr>(s)) {
      library_call(call);
    }
  }
  void construct(const CXXConstructExpr* e) {
    const CXXConstructorDecl* made = e->getConstructor();
    const bool library = compat::in_std(made);
    if (library || (made->isMoveConstructor() && !made->isUserProvided()))
      for (const clang::Expr* a : e->arguments()) take(a);
    if (made->isCopyOrMoveConstructor()) return;
    for (unsigned i = 0; i < std::min(e->getNumArgs(), made->getNumParams()); ++i)
      if (made->getParamDecl(i)->getType()->isLValueReferenceType()) alias(e->getArg(i));
  }
  void library_call(const CallExpr* e) {
    const FunctionDecl* f = e->getDirectCallee();
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(f);
    const bool assigns = method && method->isMoveAssignmentOperator() && !method->isUserProvided();
    if (!f || (!compat::in_std(f) && !assigns)) return;
    if (named(f, {"ref", "cref", "tie", "forward_as_tuple", "addressof"}))
      for (const clang::Expr* a : e->arguments()) alias(a);
    if (passes_on(f)) return;
    const unsigned first = isa<CXXOperatorCallExpr>(e) && method && !method->isStatic() ? 1 : 0;
    for (unsigned i = first; i < e->getNumArgs() && i - first < f->getNumParams(); ++i)
      if (f->getParamDecl(i - first)->getType()->isRValueReferenceType()) take(e->getArg(i));
  }
  void alias(const clang::Expr* e) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts())) aliased_.insert(ref->getDecl());
    for (const clang::Stmt* child : e->children())
      if (const auto* inner = dyn_cast_or_null<clang::Expr>(child)) alias(inner);
  }
  /// An argument from which a new object, or the library, takes what is inside: one that the program says
  /// may be taken, not a variable that ends with its function.
  void take(const clang::Expr* e) {
    e = e->IgnoreParens();
    if (!e->isXValue() || isa<MaterializeTemporaryExpr>(e) || e->getType().isConstQualified() ||
        isa<DeclRefExpr>(e->IgnoreParenImpCasts()) || !left_empty(e->getType()))
      return;
    while (const auto* cast = dyn_cast<ImplicitCastExpr>(e)) {
      if (cast->getCastKind() != CK_NoOp) break;
      e = cast->getSubExpr()->IgnoreParens();
    }
    moves_[e];
  }
  bool may_be_read(const ValueDecl* root, const Move& move) const {
    const auto* var = dyn_cast_or_null<VarDecl>(root);
    if (!var || !var->hasLocalStorage() || var->getType()->isReferenceType() || var->isInitCapture() ||
        var->getDeclContext() != move.in || aliased_.count(var))
      return true;
    const auto declared = declared_.find(var);
    const unsigned from = declared == declared_.end() ? 0 : declared->second;
    const auto last = last_.find(var);
    return (last != last_.end() && last->second > move.end) ||
           llvm::any_of(move.loops, [&](unsigned loop) { return loop > from; });
  }

  unsigned count_ = 0;
  std::vector<unsigned> loops_;
  std::vector<const FunctionDecl*> functions_;
  std::map<const clang::Stmt*, Move> moves_;
  std::map<const ValueDecl*, unsigned> last_, declared_;
  std::set<const ValueDecl*> aliased_;
};

}  // namespace

bool is_container(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->getIdentifier() || !compat::in_std(record)) return false;
  const llvm::StringRef name = record->getName();
  return name.ends_with("map") || name.ends_with("set") || name == "vector" || name == "basic_string" ||
         name == "deque" || name == "list" || name == "forward_list";
}

bool left_empty(QualType type) {
  const CXXRecordDecl* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || compat::annotated(record, "clad::opaque")) return false;
  if (compat::in_std(record)) {
    if (is_container(compat::record_type(record->getASTContext(), record))) return true;
    const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
    if (!spec || !spec->getIdentifier()) return false;
    const llvm::StringRef name = spec->getName();
    if (name != "pair" && name != "tuple" && name != "array" && name != "optional") return false;
    const std::function<bool(const TemplateArgument&)> of = [&](const TemplateArgument& a) {
      if (a.getKind() == TemplateArgument::Pack) return llvm::any_of(a.getPackAsArray(), of);
      return a.getKind() == TemplateArgument::Type && left_empty(a.getAsType());
    };
    return llvm::any_of(spec->getTemplateArgs().asArray(), of);
  }
  record = record->getDefinition();
  return record->hasMoveConstructor() &&
         (llvm::any_of(record->fields(), [](const FieldDecl* f) { return left_empty(f->getType()); }) ||
          llvm::any_of(record->bases(), [](const CXXBaseSpecifier& b) { return left_empty(b.getType()); }));
}

void find_moves(const FunctionDecl* f, Changes& changes) {
  const FunctionDecl* definition = nullptr;
  if (!f->hasBody(definition) || definition->isDependentContext()) return;
  MoveFinder finder(definition);
  if (const auto* made = dyn_cast<CXXConstructorDecl>(definition))
    for (const CXXCtorInitializer* init : made->inits()) finder.visit(init->getInit());
  finder.visit(definition->getBody());
  finder.finish(changes);
}

/// The value of what is moved from. Its containers are empty from now on.
ir::Expr* Frontend::taken(const clang::Expr* e, ir::Expr* object) {
  if (!is_parts(object) && !ir::names_object(object)) return object;
  ir::Expr* kept = is_parts(object) ? copy_parts(object, e->getType()->getAsCXXRecordDecl())
                                    : hoist(object, loc(e), "taken");
  leave_empty_containers(object, e->getType(), e);
  return kept;
}

void Frontend::leave_empty_containers(ir::Expr* object, QualType type, const clang::Expr* e) {
  if (!left_empty(type)) return;
  if (is_container(type)) {
    assign(object, "=", fn_.make(ir::Expr::Construct, types_.get(type.getUnqualifiedType())), loc(e));
    return;
  }
  const CXXRecordDecl* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl()->getDefinition();
  const bool plain = llvm::none_of(record->ctors(), [](const CXXConstructorDecl* c) {
    return c->isMoveConstructor() && c->isUserProvided();
  });
  if (type->isArrayType() || (compat::in_std(record) ? record->getName() != "pair" : !plain)) {
    fail(e->getExprLoc(),
         "cannot differentiate this move of a '" + types_.get(type)->name +
             "' that may be read again: what it leaves there is not known; copy it, or move its members");
    return;
  }
  for (const CXXBaseSpecifier& b : record->bases()) {
    if (!left_empty(b.getType())) continue;
    const ir::Type* base = types_.get(b.getType());
    ir::Expr* part = through(object, [&](ir::Expr* one) {
      if (is_parts(one)) return as_class(one, b.getType()->getAsCXXRecordDecl());
      ir::Expr* up = fn_.make(ir::Expr::Cast, base, base->name + "&", {one});
      up->to_reference = up->explicit_cast = true;
      return up;
    });
    leave_empty_containers(part, b.getType(), e);
  }
  for (const FieldDecl* f : record->fields())
    if (left_empty(f->getType()))
      leave_empty_containers(through(object, [&](ir::Expr* one) { return part_of(one, f); }), f->getType(),
                             e);
}

}  // namespace clad
