// Expressions without calls: literals, constants, casts, and the choice among all kinds.
#include <algorithm>

#include "clang/AST/PrettyPrinter.h"
#include "effects.h"
#include "frontend.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {

std::string cannot(const char* what, llvm::StringRef kind) {
  return std::string("cannot differentiate this ") + what + " (" + kind.str() +
         "); write it another way, or give the function it stands in a pullback";
}

const clang::Expr* strip(const clang::Expr* e) {
  for (;;) {
    const clang::Expr* before = e;
    e = e->IgnoreParenImpCasts();
    if (const auto* x = dyn_cast<FullExpr>(e)) e = x->getSubExpr();
    if (const auto* x = dyn_cast<MaterializeTemporaryExpr>(e)) e = x->getSubExpr();
    if (const auto* x = dyn_cast<CXXBindTemporaryExpr>(e)) e = x->getSubExpr();
    if (const auto* x = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) e = x->getReplacement();
    if (const auto* x = dyn_cast<CXXDefaultArgExpr>(e)) e = x->getExpr();
    if (const auto* x = dyn_cast<CXXDefaultInitExpr>(e)) e = x->getExpr();
    if (const auto* x = dyn_cast<CXXConstructExpr>(e); x && !isa<CXXTemporaryObjectExpr>(x) &&
                                                       x->getNumArgs() == 1 &&
                                                       x->getConstructor()->isCopyOrMoveConstructor())
      e = x->getArg(0);
    if (e == before) return e;
  }
}

/// How many numbers of one type follow one another in an object that holds nothing else; 0 if it does.
static std::uint64_t numbers_in(QualType type, QualType number, const ASTContext& context) {
  if (context.hasSameUnqualifiedType(type, number)) return 1;
  if (const ConstantArrayType* array = context.getAsConstantArrayType(type))
    return array->getSize().getZExtValue() * numbers_in(array->getElementType(), number, context);
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !record->isStandardLayout() || record->isUnion() ||
      compat::in_std(record) || compat::is_constant(record))
    return 0;
  std::uint64_t count = 0;
  for (const CXXBaseSpecifier& base : record->bases())
    if (!base.getType()->getAsCXXRecordDecl()->isEmpty())
      count += numbers_in(base.getType(), number, context);
  for (const FieldDecl* field : record->fields()) {
    const bool holds = field->getDeclName() && !compat::is_constant(field);
    const std::uint64_t part = holds ? numbers_in(field->getType(), number, context) : 0;
    if (part == 0) return 0;
    count += part;
  }
  return count * context.getTypeSize(number) == context.getTypeSize(type) ? count : 0;
}

/// Of an object of standard layout, whose members are all of one class.
static const FieldDecl* first_member(const CXXRecordDecl* record) {
  if (!record->field_empty()) return *record->field_begin();
  for (const CXXBaseSpecifier& base : record->bases())
    if (const FieldDecl* field = first_member(base.getType()->getAsCXXRecordDecl())) return field;
  return nullptr;
}

/// A pointer to an object as one to the first of its numbers, where it holds nothing else: the numbers of a
/// vector as an array. Else null.
ir::Expr* Frontend::numbers_of(const CastExpr* e) {
  const QualType to = e->getType(), from = e->getSubExpr()->getType();
  if (e->getCastKind() != CK_BitCast || !to->isPointerType() || !from->isPointerType()) return nullptr;
  const QualType number = to->getPointeeType();
  if (!number->isRealFloatingType() || !from->getPointeeType()->isRecordType() ||
      numbers_in(from->getPointeeType(), number, context_) == 0)
    return nullptr;
  return through(deref(value(e->getSubExpr())), [&](ir::Expr* one) {
    QualType type = from->getPointeeType();
    while (!context_.hasSameUnqualifiedType(type, number)) {
      if (const ConstantArrayType* array = context_.getAsConstantArrayType(type)) {
        type = array->getElementType();
        one = fn_.make(ir::Expr::Index, types_.get(type), "", {one, literal("0", context_.IntTy)});
      } else {
        const FieldDecl* field = first_member(type->getAsCXXRecordDecl());
        type = field->getType();
        one = fn_.make(ir::Expr::Member, types_.get(type), field->getNameAsString(), {one});
      }
    }
    return fn_.make(ir::Expr::AddressOf, types_.get(to), "", {one});
  });
}

/// What `object` was before it was cast to its base classes, if it was of this type; else null.
static ir::Expr* before_casts(ir::Expr* object, const ir::Type* type) {
  while (object->kind == ir::Expr::Cast && object->to_reference) {
    object = object->args[0];
    if (object->type == type) return object;
  }
  return nullptr;
}

ir::Expr* Frontend::literal(const std::string& text, QualType type) {
  return fn_.make(ir::Expr::Literal, types_.get(type), text);
}

/// Prints an expression as the user wrote it, with our names for local variables.
ir::Expr* Frontend::raw(const clang::Expr* e) {
  struct Helper : PrinterHelper {
    Frontend& f;
    ir::Expr* out;
    bool ok = true;
    Helper(Frontend& frontend, ir::Expr* o) : f(frontend), out(o) {}
    bool handledStmt(clang::Stmt* s, raw_ostream& os) override {
      const auto* ref = dyn_cast<DeclRefExpr>(s);
      if (const auto* p = dyn_cast<SubstNonTypeTemplateParmExpr>(s); p && p->isPRValue())
        if (ir::Expr* c = f.constant(p)) {
          out->args.push_back(c);
          os << '\1';
          return true;
        }
      if (isa<CXXThisExpr>(s)) {
        ok = false;
        return true;
      }
      if (!ref) return false;
      if (const Cursor* cursor = f.cursor_of(ref)) {
        out->args.push_back(f.cursor_value(*cursor, f.fn_.ref(cursor->index)));
        os << '\1';
        return true;
      }
      if (auto it = f.bindings_.find(ref->getDecl()); it != f.bindings_.end()) {
        out->args.push_back(it->second);
        os << '\1';
        return true;
      }
      if (ref->getDecl()->getDeclContext()->isFileContext() ||
          isa<CXXRecordDecl>(ref->getDecl()->getDeclContext())) {
        out->args.push_back(f.global(ref->getDecl()));
        os << '\1';
        return true;
      }
      return false;
    }
  };
  ir::Expr* out = fn_.make(ir::Expr::Raw, types_.get(e->getType()));
  Helper helper(*this, out);
  llvm::raw_string_ostream os(out->text);
  e->printPretty(os, &helper, types_.policy());
  os.flush();
  if (!helper.ok || isa<LambdaExpr>(e))
    return fail(e->getExprLoc(), cannot("expression", e->getStmtClassName()));
  return out;
}

ir::Expr* Frontend::cast(const CastExpr* e) {
  const clang::Expr* sub = e->getSubExpr();
  const ir::Type* type = types_.get(e->getType());
  const auto* implicit = dyn_cast<ImplicitCastExpr>(e);
  bool is_explicit = !implicit || implicit->isPartOfExplicitCast();
  switch (e->getCastKind()) {
    case CK_VectorSplat:
      if (!TypeTable::is_lanes(e->getType())) break;
      return splat(type, value(sub));
    case CK_LValueToRValue: {
      reading_ = sub->IgnoreParens();
      const auto* named = dyn_cast<DeclRefExpr>(reading_);
      const auto* var = named ? dyn_cast<VarDecl>(named->getDecl()) : nullptr;
      if (var && var->isLocalVarDecl() && is_whole(e->getType()) &&
          var->isUsableInConstantExpressions(context_))
        if (ir::Expr* c = constant(sub)) return c;  // the number is known: loops that run to it are unrolled
      ir::Expr* v = read(sub);
      if (sub->getObjectKind() == OK_VectorComponent && type->differentiable) return hoist(v, loc(e), "lane");
      return !type->is_class() && ir::constant_behind(v) ? hoist(v, loc(e)) : v;
    }
    case CK_FunctionToPointerDecay:
    case CK_BuiltinFnToFnPtr:
    case CK_UserDefinedConversion:
    case CK_ConstructorConversion:
    case CK_ToVoid:
      return value(sub);
    case CK_NoOp: {
      ir::Expr* inner = value(sub);  // double{3}: the braces convert
      if (is_explicit && inner->kind == ir::Expr::Cast && !inner->text.empty()) inner->explicit_cast = true;
      // Where a cast takes away a const, what the pointer was made of stands for it.
      while (is_explicit && e->getType()->isPointerType() &&
             !e->getType()->getPointeeType().isConstQualified() && inner->kind == ir::Expr::VarRef &&
             inner->var->kind == ir::Var::Alias)
        inner = inner->var->path;
      return inner;
    }
    case CK_NullToPointer:
      return literal("nullptr", e->getType());
    case CK_ArrayToPointerDecay: {
      if (isa<clang::StringLiteral>(sub->IgnoreParens())) return raw(sub);
      return through(value(sub), [&](ir::Expr* one) {
        return is_parts(one) ? one : fn_.make(ir::Expr::Cast, type, "", {one});
      });
    }
    case CK_DerivedToBase:
    case CK_UncheckedDerivedToBase:
    case CK_BaseToDerived: {
      ir::Expr* inner = value(sub);
      bool pointer = e->getType()->isPointerType();
      const ir::Type* base = pointer ? type->element : type;
      if (pointer) inner = deref(inner);
      ir::Expr* c = through(inner, [&](ir::Expr* object) {
        // Down to what it was before: in the constructor of a base class it is not that at run time yet.
        if (ir::Expr* whole = before_casts(object, base)) return whole;
        ir::Expr* up = fn_.make(ir::Expr::Cast, base, base->name + "&", {object});
        up->to_reference = up->explicit_cast = true;
        return up;
      });
      if (!pointer) return c;
      return through(c, [&](ir::Expr* one) { return fn_.make(ir::Expr::AddressOf, type, "", {one}); });
    }
    case CK_IntegralCast:
    case CK_IntegralToFloating:
    case CK_FloatingToIntegral:
    case CK_FloatingCast:
    case CK_IntegralToBoolean:
    case CK_FloatingToBoolean:
    case CK_PointerToBoolean:
    case CK_BooleanToSignedIntegral: {
      if (ir::Expr* c = isa<UnaryExprOrTypeTraitExpr>(sub->IgnoreParenImpCasts()) ? constant(e) : nullptr)
        return c;
      if (e->getCastKind() == CK_PointerToBoolean && is_callable(sub->getType()))
        if (ir::Expr* test = function_test(e)) return test;
      const QualType to = e->getType().getUnqualifiedType(), from = sub->getType();
      ir::Expr* c =
          fn_.make(ir::Expr::Cast, type, types_.spell(to),
                   {sub->getType()->isIntegerType() && !to->isIntegerType() ? as_number(sub) : value(sub)});
      // A conversion that loses something is always written; the others happen by themselves where they did
      // before.
      const bool loses = (from->isRealFloatingType() && !to->isRealFloatingType()) || to->isBooleanType() ||
                         context_.getTypeSize(to) < context_.getTypeSize(from);
      c->explicit_cast = is_explicit || is_number(sub) || (loses && c->args[0]->kind != ir::Expr::Literal);
      if (c->args[0]->kind == ir::Expr::Cast && !c->args[0]->text.empty()) c->args[0]->explicit_cast = true;
      return c;
    }
    default:
      break;
  }
  if (ir::Expr* pointer = context_again(e)) return pointer;
  if (const clang::Expr* pointer = aligned(sub);
      pointer &&
      context_.hasSameUnqualifiedType(pointer->getType()->getPointeeType(), e->getType()->getPointeeType()))
    return value(pointer);
  if (ir::Expr* numbers = numbers_of(e)) return numbers;
  if (type->is_followed())
    if (ir::Expr* memory = allocate(sub, e->getType())) return memory;
  if (type->differentiable && sub->getType()->isVoidPointerType())
    return fail(
        e->getExprLoc(),
        "cannot differentiate through this 'void*': what it points to is not seen here; it is followed "
        "where it is a parameter of a function that is visible at its calls");
  if (e->getType()->isVoidPointerType() && types_.get(sub->getType())->differentiable)
    return fail(
        e->getExprLoc(),
        "cannot differentiate this conversion to 'void*': it is followed where a function whose "
        "body is visible, and which is not recursive, takes it as a parameter; pass the pointer itself");
  if (type->differentiable || types_.get(sub->getType())->differentiable)
    return fail(e->getExprLoc(), cannot("cast", e->getCastKindName()));
  if (e->getCastKind() == CK_BitCast && is_pointer(sub) && !e->getType()->getPointeeType().isConstQualified())
    return fail(e->getExprLoc(),
                "cannot differentiate this conversion of a pointer: what is changed "
                "through it is not seen; convert to a pointer to const, or copy the bytes");
  return raw(e);
}

/// Whether the literal can be written as it prints: what stands for a template's parameter may be of a type
/// that has none, or the least number of its type.
static bool prints_as_it_is(const clang::Expr* e) {
  const QualType type = e->getType();
  if (isa<CharacterLiteral>(e))
    return type->isSpecificBuiltinType(BuiltinType::Char_S) ||
           type->isSpecificBuiltinType(BuiltinType::Char_U);
  const auto* number = dyn_cast<IntegerLiteral>(e);
  if (!number) return true;
  const unsigned bits = number->getValue().getBitWidth();
  return bits >= 32 && bits <= 64 && !(type->isSignedIntegerType() && number->getValue().isMinSignedValue());
}

/// Whether a statement may have another end than its last statement, or has objects whose end does something.
static bool ends_otherwise(const clang::Stmt* s) {
  if (const auto* declaration = dyn_cast<DeclStmt>(s))
    for (const Decl* d : declaration->decls())
      if (const auto* var = dyn_cast<VarDecl>(d); !var || var->needsDestruction(var->getASTContext()))
        return true;
  return isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt, LabelStmt>(s) ||
         llvm::any_of(s->children(), [](const clang::Stmt* child) { return child && ends_otherwise(child); });
}

/// ({ ...; x; }), whose value is a copy of its last expression.
ir::Expr* Frontend::value_of(const StmtExpr* e) {
  const CompoundStmt* body = e->getSubStmt();
  const auto* last = body->body_empty() ? nullptr : dyn_cast<clang::Expr>(body->body_back());
  if (!last || last->getType()->isVoidType() || ends_otherwise(body))
    return fail(e->getExprLoc(), cannot("expression", e->getStmtClassName()));
  const ir::Loc at = at_;
  for (const clang::Stmt* s : body->body())
    if (s != last) stmt(s);
  at_ = at;
  return hoist(value(last), loc(last));
}

ir::Expr* Frontend::value(const clang::Expr* e) {
  if (changes_.taken.erase(e)) {
    ir::Expr* object = value(e);
    changes_.taken.insert(e);
    return taken(e, object);
  }
  if (is_number(e)) return refuse_integer(e);
  if (const auto* c = dyn_cast<CastExpr>(e)) return cast(c);
  if (const auto* c = dyn_cast<CallExpr>(e)) return call(c);
  if (const auto* c = dyn_cast<CXXConstructExpr>(e)) return construct(c);
  if (const auto* base = dyn_cast<CXXInheritedCtorInitExpr>(e)) return construct_inherited(base);
  if (TypeTable::is_lanes(e->getType()))
    if (ir::Expr* known = lanes_value(e)) return known;
  switch (e->getStmtClass()) {
    case clang::Stmt::ParenExprClass:
      return value(llvm::cast<ParenExpr>(e)->getSubExpr());
    case clang::Stmt::PredefinedExprClass:  // __func__
      return value(llvm::cast<PredefinedExpr>(e)->getFunctionName());
    case clang::Stmt::ExprWithCleanupsClass:
      return value(llvm::cast<ExprWithCleanups>(e)->getSubExpr());
    case clang::Stmt::ConstantExprClass:
      return value(llvm::cast<ConstantExpr>(e)->getSubExpr());
    case clang::Stmt::MaterializeTemporaryExprClass: {
      ir::Expr* v = value(llvm::cast<MaterializeTemporaryExpr>(e)->getSubExpr());
      const bool chosen = v->kind == ir::Expr::Conditional && v->type->kind == ir::Type::Real;
      return chosen || copies(v, !e->getType().isConstQualified()) ? hoist(v, loc(e)) : v;
    }
    case clang::Stmt::CXXBindTemporaryExprClass:
      check_object(e->getType(), e->getExprLoc());
      return value(llvm::cast<CXXBindTemporaryExpr>(e)->getSubExpr());
    case clang::Stmt::SubstNonTypeTemplateParmExprClass:
      return value(llvm::cast<SubstNonTypeTemplateParmExpr>(e)->getReplacement());
    case clang::Stmt::CXXDefaultArgExprClass:
      return value(llvm::cast<CXXDefaultArgExpr>(e)->getExpr());
    case clang::Stmt::CXXDefaultInitExprClass:
      return value(llvm::cast<CXXDefaultInitExpr>(e)->getExpr());
    case clang::Stmt::CXXStdInitializerListExprClass: {
      ir::Expr* list = value(llvm::cast<CXXStdInitializerListExpr>(e)->getSubExpr());
      list->type = types_.get(e->getType());
      return list;
    }
    case clang::Stmt::CXXRewrittenBinaryOperatorClass:
      if (ir::Expr* test = function_test(e)) return test;
      if (const auto parts = llvm::cast<CXXRewrittenBinaryOperator>(e)->getDecomposedForm();
          is_pointer(parts.LHS))
        return pointer_binary(BinaryOperator::getOpcodeStr(parts.Opcode).str(), parts.LHS, parts.RHS,
                              e->getType(), TypeTable::is_reverse(parts.LHS->getType()));
      return value(llvm::cast<CXXRewrittenBinaryOperator>(e)->getSemanticForm());
    case clang::Stmt::DeclRefExprClass:
      return reference_to(llvm::cast<DeclRefExpr>(e));
    case clang::Stmt::CXXThisExprClass:
      if (!self_) return fail(e->getExprLoc(), "cannot differentiate 'this' here");
      return fn_.make(ir::Expr::AddressOf, types_.get(e->getType()), "", {self_});
    case clang::Stmt::MemberExprClass:
      return member(llvm::cast<MemberExpr>(e));
    case clang::Stmt::ArraySubscriptExprClass: {
      const auto* a = llvm::cast<ArraySubscriptExpr>(e);
      if (TypeTable::is_lanes(a->getBase()->getType())) return lane(a);
      if (const auto* table = table_of(a->getBase())) return table_element(*table, value(a->getIdx()));
      ir::Expr* base = value(a->getBase());
      if (base->kind == ir::Expr::Cast && base->text.empty())
        base = base->args[0];  // a[i] of an array, not of its decay
      ir::Expr* index = value_after(base, a->getIdx());
      if (is_pointer(a->getBase()) && (base->kind == ir::Expr::Binary ||
                                       base->kind == ir::Expr::Conditional || base->kind == ir::Expr::Method))
        return element(base, index);
      return through(base, [&](ir::Expr* object) {
        return held(fn_.make(ir::Expr::Index, types_.get(e->getType()), "", {object, index}), e->getType());
      });
    }
    case clang::Stmt::UnaryOperatorClass:
      return unary(llvm::cast<UnaryOperator>(e), /*used=*/true);
    case clang::Stmt::BinaryOperatorClass:
    case clang::Stmt::CompoundAssignOperatorClass:
      return binary(llvm::cast<BinaryOperator>(e), /*used=*/true);
    case clang::Stmt::ConditionalOperatorClass:
      return conditional(llvm::cast<ConditionalOperator>(e));
    case clang::Stmt::InitListExprClass:
      return init_list(llvm::cast<InitListExpr>(e));
    case clang::Stmt::CompoundLiteralExprClass:  // of C; an array lives on where it stands
      if (e->getType()->isArrayType())
        return fail(e->getExprLoc(), cannot("expression", e->getStmtClassName()));
      return value(llvm::cast<CompoundLiteralExpr>(e)->getInitializer());
    case clang::Stmt::StmtExprClass:
      return value_of(llvm::cast<StmtExpr>(e));
    case clang::Stmt::CXXParenListInitExprClass: {
      const auto* list = llvm::cast<CXXParenListInitExpr>(e);
      std::vector<const clang::Expr*> inits;
      for (const clang::Expr* init : list->getInitExprs()) inits.push_back(init);
      if (in_parts(e->getType())) return aggregate_parts(e->getType(), inits);
      return aggregate(types_.get(e->getType()), inits);
    }
    case clang::Stmt::CXXScalarValueInitExprClass:
    case clang::Stmt::ImplicitValueInitExprClass:
      if (in_parts(e->getType())) return aggregate_parts(e->getType(), {});
      return fn_.make(ir::Expr::Construct, types_.get(e->getType()));
    case clang::Stmt::IntegerLiteralClass:
    case clang::Stmt::CXXBoolLiteralExprClass:
    case clang::Stmt::CharacterLiteralClass:
    case clang::Stmt::FloatingLiteralClass:
    case clang::Stmt::CXXNullPtrLiteralExprClass:
    case clang::Stmt::StringLiteralClass: {
      std::string text;
      if (!prints_as_it_is(e)) return constant(e);
      if (isa<FloatingLiteral>(e) && !e->getBeginLoc().isMacroID())
        text = source(e->getSourceRange());  // as written
      // What the suffix of a user's literal makes of the number is a call; a template's parameter has a
      // value.
      if (!text.empty() &&
          (llvm::isAlpha(text[0]) || llvm::StringRef(text).rtrim("fFlL").find_first_not_of(
                                         "0123456789abcdefABCDEFxXpP+-.'") != llvm::StringRef::npos))
        text.clear();
      if (text.empty()) {
        llvm::raw_string_ostream os(text);
        e->printPretty(os, nullptr, types_.policy());
      }
      return literal(text, e->getType());
    }
    case clang::Stmt::LambdaExprClass:
      return fail(e->getExprLoc(),
                  "cannot differentiate this use of a lambda: it may be stored in a variable, called, "
                  "or passed to a function whose definition is visible");
    case clang::Stmt::CXXNewExprClass:
      return allocate(llvm::cast<CXXNewExpr>(e));
    case clang::Stmt::CXXDeleteExprClass:
      return deallocate(llvm::cast<CXXDeleteExpr>(e)->getArgument(), e->getExprLoc());
    case clang::Stmt::CXXThrowExprClass: {
      // Nothing after it runs, the reverse sweep included: to the derivative it is an effect like any other.
      const clang::Expr* operand = llvm::cast<CXXThrowExpr>(e)->getSubExpr();
      if (!operand) return fail(e->getExprLoc(), "cannot differentiate a 'throw' that throws again");
      ir::Expr* thrown = value(operand);
      if (thrown->type->is_class()) thrown = hoist(thrown, loc(e), "thrown");
      emit(ir::Stmt::Eval, loc(e))->expr = fn_.make(ir::Expr::Unary, types_.nothing(), "throw ", {thrown});
      return literal("0", context_.IntTy);
    }
    case clang::Stmt::ArrayInitLoopExprClass:  // an array that is captured or bound by value
      if (ir::Expr* array = value(llvm::cast<ArrayInitLoopExpr>(e)->getCommonExpr());
          array->kind != ir::Expr::Conditional)
        return array;
      return fail(e->getExprLoc(),
                  "cannot differentiate a copy of an array that is chosen at run time; use if and else");
    case clang::Stmt::UnaryExprOrTypeTraitExprClass:
      if (ir::Expr* size = variable_size(llvm::cast<UnaryExprOrTypeTraitExpr>(e))) return size;
      break;
    case clang::Stmt::OpaqueValueExprClass:
      if (const auto* source = llvm::cast<OpaqueValueExpr>(e)->getSourceExpr()) return value(source);
      break;
    default:
      break;
  }
  if (ir::Expr* c = constant(e)) return c;
  if (!types_.get(e->getType())->differentiable && !e->HasSideEffects(context_)) return raw(e);
  return fail(e->getExprLoc(), cannot("expression", e->getStmtClassName()));
}

void Frontend::discard(const clang::Expr* e) {
  const clang::Expr* bare = e->IgnoreParens();
  if (is_view_cache(bare, "_M_set")) return;
  if (const auto* c = dyn_cast<ExprWithCleanups>(bare)) return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<ExplicitCastExpr>(bare); c && c->getType()->isVoidType())
    return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<ImplicitCastExpr>(bare)) return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<CXXBindTemporaryExpr>(bare)) return discard(c->getSubExpr());
  if (const auto* c = dyn_cast<MaterializeTemporaryExpr>(bare)) return discard(c->getSubExpr());
  if (const auto* u = dyn_cast<UnaryOperator>(bare); u && u->isIncrementDecrementOp()) {
    unary(u, /*used=*/false);
    return;
  }
  if (const auto* b = dyn_cast<BinaryOperator>(bare);
      b && (b->isAssignmentOp() || b->getOpcode() == BO_Comma)) {
    binary(b, /*used=*/false);
    return;
  }
  reading_ = dropped_ = bare;
  value(bare);  // what it computes is dropped, its effects have been emitted
}

}  // namespace clad
