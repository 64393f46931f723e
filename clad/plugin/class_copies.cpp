// Whether a copy of an object is that object again: derivatives make copies where the program makes none.
#include <set>

#include "ast_visitor.h"
#include "changes.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// An expression without what only casts, moves or copies its value.
const clang::Expr* unwrapped(const clang::Expr* e) {
  for (const clang::Expr* was = nullptr; e != was;) {
    was = e;
    e = e->IgnoreUnlessSpelledInSource();
    const auto* cast = dyn_cast<ExplicitCastExpr>(e);
    const auto* list = dyn_cast<InitListExpr>(e);
    const auto* made = dyn_cast<CXXConstructExpr>(e);
    const auto* call = dyn_cast<CallExpr>(e);
    const FunctionDecl* f = call ? call->getDirectCallee() : nullptr;
    if (cast)
      e = cast->getSubExpr();
    else if (list && list->getNumInits() == 1)
      e = list->getInit(0);
    else if (made && made->getNumArgs() == 1 && made->getConstructor()->isCopyOrMoveConstructor())
      e = made->getArg(0);
    else if (f && compat::in_std(f) && named(f, {"exchange", "move", "forward"}))
      e = call->getArg(0);
  }
  return e;
}

bool is_plain_number(QualType type) {
  type = QualType(type->getBaseElementTypeUnsafe(), 0);
  return type->isArithmeticType() || type->isEnumeralType();
}

bool has_members(const CXXRecordDecl* record) {
  return record && record->hasDefinition() &&
         (!record->field_empty() || llvm::any_of(record->bases(), [](const CXXBaseSpecifier& base) {
           return has_members(base.getType()->getAsCXXRecordDecl());
         }));
}

/// Whether objects of the class have copies, as a mutex has none.
bool copied(const CXXRecordDecl* record) {
  return !record->defaultedCopyConstructorIsDeleted() &&
         llvm::none_of(record->ctors(), [](const CXXConstructorDecl* made) {
           return made->isCopyConstructor() && made->isDeleted();
         });
}

/// Whether a value is the member of an object, or what a function that only returns the member gives.
bool is_member(const ValueDecl* member, const clang::Expr* value) {
  value = unwrapped(value);
  if (const auto* of = dyn_cast<MemberExpr>(value)) return of->getMemberDecl() == member;
  const auto* call = dyn_cast<CXXMemberCallExpr>(value);
  const CXXMethodDecl* method = call ? call->getMethodDecl() : nullptr;
  if (method && compat::in_std(method))  // load() of an atomic number
    return is_member(member, call->getImplicitObjectArgument());
  const FunctionDecl* definition = nullptr;
  if (!method || !method->hasBody(definition)) return false;
  const auto* body = dyn_cast<CompoundStmt>(definition->getBody());
  const auto* only = body && body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
  return only && only->getRetValue() && is_member(member, only->getRetValue());
}

/// Whether a value is of the same place in another object.
bool is_same_place(const clang::Expr* place, const clang::Expr* value, const ASTContext& context) {
  place = unwrapped(place), value = unwrapped(value);
  if (const auto* member = dyn_cast<MemberExpr>(place)) {
    const auto* of = dyn_cast<MemberExpr>(value);
    return is_member(member->getMemberDecl(), value) &&
           (!of || !isa<MemberExpr, ArraySubscriptExpr>(unwrapped(member->getBase())) ||
            is_same_place(member->getBase(), of->getBase(), context));
  }
  const auto* element = dyn_cast<ArraySubscriptExpr>(place);
  const auto* of = dyn_cast<ArraySubscriptExpr>(value);
  if (!element || !of) return false;
  llvm::FoldingSetNodeID one, other;
  element->getIdx()->Profile(one, context, true);
  of->getIdx()->Profile(other, context, true);
  return one == other && is_same_place(element->getBase(), of->getBase(), context);
}

/// Finds, in a function that copies an object, a member that may become something else than it is there.
struct CopyFinder : AstVisitor {
  const ASTContext& context;
  bool found = false;
  bool whole = false;           // something that is not looked into gets the object
  std::set<const Decl*> given;  // members and base classes that become something
  std::set<const FunctionDecl*> seen;

  explicit CopyFinder(const CXXMethodDecl* copy) : context(copy->getASTContext()) {
    const CXXRecordDecl* record = copy->getParent();
    look(copy);
    found |= !whole && (llvm::any_of(record->fields(), [&](const FieldDecl* f) { return left_out(f); }) ||
                        llvm::any_of(record->bases(), [&](const CXXBaseSpecifier& b) {
                          const CXXRecordDecl* base = b.getType()->getAsCXXRecordDecl();
                          return has_members(base) && !given.count(base->getDefinition());
                        }));
  }

  /// A function that changes the object; of a constructor with what its parameters are.
  void look(const CXXMethodDecl* f, llvm::ArrayRef<const clang::Expr*> args = {}) {
    const FunctionDecl* definition = nullptr;
    if (!f->hasBody(definition)) {
      whole = true;
      return;
    }
    if (!seen.insert(definition).second) return;
    if (const auto* made = dyn_cast<CXXConstructorDecl>(definition))
      for (const CXXCtorInitializer* init : made->inits()) start(init, args);
    TraverseStmt(definition->getBody());
  }
  void start(const CXXCtorInitializer* init, llvm::ArrayRef<const clang::Expr*> args) {
    const clang::Expr* value = unwrapped(init->getInit());
    const auto* name = dyn_cast<DeclRefExpr>(value);
    const auto* parameter = name ? dyn_cast<ParmVarDecl>(name->getDecl()) : nullptr;
    if (parameter && parameter->getFunctionScopeIndex() < args.size())
      value = unwrapped(args[parameter->getFunctionScopeIndex()]);
    const auto* made = dyn_cast<CXXConstructExpr>(init->getInit()->IgnoreImplicit());
    const bool empty = isa<CXXNullPtrLiteralExpr, ImplicitValueInitExpr, CXXDefaultInitExpr>(value) ||
                       (made && made->getNumArgs() == 0);
    if (const FieldDecl* member = init->getAnyMember()) {
      if (empty) return;  // the body may give it more
      given.insert(member);
      found |= is_plain_number(member->getType()) ? !is_member(member, value) : becomes_other(member, value);
    } else if (made && (init->isDelegatingInitializer() || made->getNumArgs() > 0)) {
      if (init->isBaseInitializer()) given.insert(made->getConstructor()->getParent()->getDefinition());
      if (!made->getConstructor()->isCopyOrMoveConstructor())
        look(made->getConstructor(), {made->getArgs(), made->getNumArgs()});
    }
  }
  /// Whether what is no number becomes another member, or is computed from what it was.
  static bool becomes_other(const ValueDecl* member, const clang::Expr* value) {
    value = unwrapped(value);
    if (const auto* of = dyn_cast<MemberExpr>(value))
      return isa<FieldDecl>(of->getMemberDecl()) && of->getMemberDecl() != member;
    const auto* sum = dyn_cast<BinaryOperator>(value);
    return sum && member->getType()->isPointerType() &&
           (is_member(member, sum->getLHS()) || is_member(member, sum->getRHS()));
  }
  bool left_out(const FieldDecl* member) const {
    const QualType type = member->getType();
    if (given.count(member) || type->isReferenceType() || !member->getDeclName() ||
        compat::is_constant(member))
      return false;
    const CXXRecordDecl* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    return !record || (has_members(record) && copied(record));
  }

  /// The member of this object, or of another one, that an expression names a part of.
  static const MemberExpr* member_of(const clang::Expr* e) {
    const MemberExpr* member = nullptr;
    for (;;) {
      e = unwrapped(e);
      const auto* element = dyn_cast<ArraySubscriptExpr>(e);
      const auto* of = dyn_cast<MemberExpr>(e);
      if (!element && !of) return member;
      if (of) member = of;
      e = of ? of->getBase() : element->getBase();
    }
  }
  static bool is_own(const MemberExpr* member) { return isa<CXXThisExpr>(unwrapped(member->getBase())); }

  bool VisitBinaryOperator(BinaryOperator* e) override {
    const MemberExpr* member = e->isAssignmentOp() ? member_of(e->getLHS()) : nullptr;
    if (!member) return true;
    // What pointers point to is followed as the program writes it.
    const bool number = is_plain_number(e->getLHS()->getType()) && !member->getType()->isPointerType();
    const bool changed = e->isCompoundAssignmentOp();
    if (is_own(member) && !changed)
      found |= number
                   ? !is_same_place(e->getLHS(), e->getRHS(), context)
                   : unwrapped(e->getLHS()) == member && becomes_other(member->getMemberDecl(), e->getRHS());
    else  // what is left where it was moved from
      found |= number && (changed || isa<FloatingLiteral>(unwrapped(e->getRHS())));
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* e) override {
    const MemberExpr* member = e->isIncrementDecrementOp() ? member_of(e->getSubExpr()) : nullptr;
    found |= member && is_plain_number(member->getType());
    return true;
  }
  bool VisitMemberExpr(MemberExpr* e) override {
    if (is_own(e)) given.insert(e->getMemberDecl());
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr* e) override {
    const CXXMethodDecl* method = e->getMethodDecl();
    if (!method || !isa<CXXThisExpr>(unwrapped(e->getImplicitObjectArgument()))) return true;
    given.insert(method->getParent()->getDefinition());
    look(method);
    return true;
  }
  /// The object itself, given to a function or an operator: *this = o.
  bool VisitCallExpr(CallExpr* e) override {
    for (const clang::Expr* arg : e->arguments()) {
      const auto* object = dyn_cast<UnaryOperator>(unwrapped(arg));
      whole |= object && object->getOpcode() == UO_Deref && isa<CXXThisExpr>(unwrapped(object->getSubExpr()));
    }
    return true;
  }
  bool VisitCXXNewExpr(CXXNewExpr* e) override {
    whole |= e->getNumPlacementArgs() == 1 && isa<CXXThisExpr>(unwrapped(e->getPlacementArg(0)));
    return true;
  }

  /// What is copied depends on a number of the object, which that of a derivative does not have.
  void depends(const clang::Expr* condition) {
    if (!condition) return;
    if (const auto* m = dyn_cast<MemberExpr>(condition))
      found |= isa<FieldDecl>(m->getMemberDecl()) && m->getType()->isArithmeticType();
    for (const clang::Stmt* inner : condition->children())
      if (const auto* e = dyn_cast_or_null<clang::Expr>(inner)) depends(e);
  }
  bool VisitForStmt(ForStmt* s) override {
    depends(s->getCond());
    return true;
  }
  bool VisitWhileStmt(WhileStmt* s) override {
    depends(s->getCond());
    return true;
  }
  bool VisitIfStmt(IfStmt* s) override {
    if (s->getCond()) depends(s->getCond());
    return true;
  }
};

/// Whether a constructor template takes objects of the class that are not constant, before the constructor
/// that copies them. A template with conditions only does if it was made for them.
bool has_greedy_constructor(const CXXRecordDecl* record) {
  const auto is_object = [&](QualType type) {
    return type->isReferenceType() && type->getPointeeType()->getAsCXXRecordDecl() == record;
  };
  return llvm::any_of(record->decls(), [&](const Decl* d) {
    const auto* made = dyn_cast<FunctionTemplateDecl>(d);
    const auto* pattern = made ? dyn_cast<CXXConstructorDecl>(made->getTemplatedDecl()) : nullptr;
    if (!pattern || pattern->getNumParams() == 0 || pattern->getMinRequiredArguments() > 1) return false;
    QualType type = pattern->getParamDecl(0)->getType();
    if (const auto* pack = type->getAs<PackExpansionType>()) type = pack->getPattern();
    const bool any = type->isReferenceType() && type->getPointeeType()->isTemplateTypeParmType() &&
                     !type->getPointeeType().isConstQualified();
    const bool conditions = made->hasAssociatedConstraints() || made->getTemplateParameters()->size() > 1;
    return any && (!conditions || llvm::any_of(made->specializations(), [&](const FunctionDecl* one) {
             return one->isReferenced() && one->getNumParams() > 0 &&
                    is_object(one->getParamDecl(0)->getType());
           }));
  });
}

/// Whether a function that an allocator makes or ends an element by does nothing else, from all of its
/// arguments and nothing but them, as they are. Of a template, what is written is read.
struct ElementReader : AstVisitor {
  bool plain = true;
  std::set<const Decl*> used;
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    used.insert(e->getDecl());
    plain &= isa<ParmVarDecl>(e->getDecl()) || !isa<VarDecl>(e->getDecl());
    return plain;
  }
  bool VisitMemberExpr(MemberExpr* e) override {
    plain &= !isa<FieldDecl, VarDecl>(e->getMemberDecl());
    return plain;
  }
  bool VisitStmt(clang::Stmt* s) override {
    const auto* op = dyn_cast<UnaryOperator>(s);
    plain &= !isa<DeclStmt, BinaryOperator, IntegerLiteral, FloatingLiteral, IfStmt, LambdaExpr>(s) &&
             (!op || op->getOpcode() == UO_AddrOf || op->getOpcode() == UO_Deref);
    const auto* call = dyn_cast<CallExpr>(s);
    plain &= !call || isa<CXXPseudoDestructorExpr>(call->getCallee()) || passes_on(call->getCallee());
    return plain;
  }
  static bool passes_on(const clang::Expr* callee) {
    callee = callee->IgnoreParenImpCasts();
    DeclarationName name;
    if (const auto* found = dyn_cast<OverloadExpr>(callee)) name = found->getName();
    if (const auto* ref = dyn_cast<DeclRefExpr>(callee)) name = ref->getDecl()->getDeclName();
    if (const auto* later = dyn_cast<DependentScopeDeclRefExpr>(callee)) name = later->getDeclName();
    if (const auto* member = dyn_cast<MemberExpr>(callee)) name = member->getMemberDecl()->getDeclName();
    if (const auto* member = dyn_cast<CXXDependentScopeMemberExpr>(callee)) name = member->getMember();
    if (name.getNameKind() == DeclarationName::CXXDestructorName) return true;
    const IdentifierInfo* id = name.getAsIdentifierInfo();
    return id &&
           (id->isStr("forward") || id->isStr("move") || id->isStr("addressof") || id->isStr("construct") ||
            id->isStr("construct_at") || id->isStr("destroy") || id->isStr("destroy_at"));
  }
};

const FunctionDecl* written(const Decl* d) {
  if (const auto* made = dyn_cast<FunctionTemplateDecl>(d)) {
    while (made->getInstantiatedFromMemberTemplate()) made = made->getInstantiatedFromMemberTemplate();
    return made->getTemplatedDecl();
  }
  const auto* f = dyn_cast<FunctionDecl>(d);
  const FunctionDecl* pattern = f ? f->getTemplateInstantiationPattern() : nullptr;
  return pattern ? pattern : f;
}

}  // namespace

bool constructs_plainly(QualType allocator) {
  const CXXRecordDecl* record = allocator->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) return true;
  if (compat::in_std(record)) {
    const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
    if (!spec || spec->getName() != "scoped_allocator_adaptor") return true;
    return llvm::all_of(spec->getTemplateArgs().asArray(), [](const TemplateArgument& a) {
      return a.getKind() != TemplateArgument::Type || constructs_plainly(a.getAsType());
    });
  }
  for (const Decl* d : record->decls()) {
    const FunctionDecl* f = written(d);
    if (!f || !f->getIdentifier() || (f->getName() != "construct" && f->getName() != "destroy")) continue;
    const auto* body = f->hasBody() ? dyn_cast<CompoundStmt>(f->getBody()) : nullptr;
    ElementReader reader;
    if (body) reader.TraverseStmt(const_cast<CompoundStmt*>(body));
    if (!body || body->size() > 1 || !reader.plain) return false;
    for (unsigned i = 1; i < f->getNumParams(); ++i)
      if (!reader.used.count(f->getParamDecl(i))) return false;
  }
  return llvm::all_of(record->bases(),
                      [](const CXXBaseSpecifier& b) { return constructs_plainly(b.getType()); });
}

bool is_copy(const CXXMethodDecl* method) {
  if (const auto* made = dyn_cast<CXXConstructorDecl>(method)) return made->isCopyOrMoveConstructor();
  return method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator();
}

bool gives_another_value(const CXXMethodDecl* copy) { return CopyFinder(copy).found; }

bool copies_differ(const CXXRecordDecl* record) {
  const SourceManager& manager = record->getASTContext().getSourceManager();
  if (compat::in_std(record) || manager.isInSystemHeader(record->getLocation())) return false;
  return has_greedy_constructor(record) || llvm::any_of(record->methods(), [](const CXXMethodDecl* method) {
           return is_copy(method) && method->isUserProvided() && method->hasBody() &&
                  gives_another_value(method);
         });
}

}  // namespace clad
