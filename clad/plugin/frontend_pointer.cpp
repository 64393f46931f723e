// Pointers and iterators that move: what they point into, which no assignment changes, and an index, which is
// an integer variable like any other.
#include "ast_visitor.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

bool is_null(const ir::Expr* e) { return e->kind == ir::Expr::Literal && e->text == "nullptr"; }

std::optional<long> number(const ir::Expr* e) {
  long n = 0;
  if (e->kind != ir::Expr::Literal || llvm::StringRef(e->text).rtrim("ul").getAsInteger(10, n))
    return std::nullopt;
  return n;
}

bool is_signed(const ir::Type* t) {
  for (const char* name : {"int", "long", "long long", "short", "signed char"})
    if (t->name == name) return true;
  return false;
}

}  // namespace

/// Where `pointer` points to. Names of fixed pointers stand for themselves, or are followed to what they were
/// initialized with.
Frontend::Position Frontend::position(ir::Expr* pointer, bool follow) {
  ir::Expr* first = literal("0", context_.getPointerDiffType());
  switch (pointer->kind) {
    case ir::Expr::Cast:
      if (pointer->text.empty() && pointer->args[0]->type->kind == ir::Type::Array)
        return {pointer->args[0], first};
      break;
    case ir::Expr::Method:
      if (pointer->accessor && pointer->text == "data") return {pointer->args[0], first};
      break;
    case ir::Expr::AddressOf: {
      const ir::Expr* element = pointer->args[0];
      while (follow && element->kind == ir::Expr::VarRef && element->var->kind == ir::Var::Alias)
        element = element->var->path;
      if (element->kind == ir::Expr::Index) return {element->args[0], element->args[1]};
      break;
    }
    case ir::Expr::Binary: {
      const ir::Type::Kind kind = pointer->args[0]->type->kind;
      const std::size_t side = kind == ir::Type::Pointer || kind == ir::Type::Array ? 0 : 1;
      const Position inner = position(pointer->args[side], follow);
      return {inner.base, sum(inner.index, pointer->text == "-", pointer->args[1 - side])};
    }
    case ir::Expr::VarRef:
      if (follow && pointer->var->kind == ir::Var::Alias) return position(pointer->var->path, true);
      break;
    default:
      break;
  }
  return {pointer, first};
}

/// a + b or a - b as a signed number.
ir::Expr* Frontend::sum(ir::Expr* a, bool minus, ir::Expr* b) {
  const QualType signed_type = context_.getPointerDiffType();
  const std::optional<long> x = number(a), y = number(b);
  if (x && y) return literal(std::to_string(minus ? *x - *y : *x + *y), signed_type);
  if (y && *y == 0) return a;
  if (!y && !is_signed(b->type)) {
    b = fn_.cast(types_.get(signed_type), types_.spell(signed_type), b);
  }
  if (x && *x == 0) return minus ? fn_.make(ir::Expr::Unary, types_.get(signed_type), "-", {b}) : b;
  return fn_.make(ir::Expr::Binary, types_.get(signed_type), minus ? "-" : "+", {a, b});
}

ir::Expr* Frontend::pointer_at(const Position& at, const ir::Type* type) {
  ir::Expr* start = at.base;
  if (start->type->kind == ir::Type::Array) {
    start = fn_.make(ir::Expr::Cast, type, "", {start});
  } else if (start->type->kind != ir::Type::Pointer) {
    start = fn_.make(ir::Expr::Method, type, "data", {start});
    start->accessor = true;
  }
  if (number(at.index) == 0) return start;
  return fn_.make(ir::Expr::Binary, type, "+", {start, at.index});
}

/// The pointer `by` elements further on, or back.
ir::Expr* Frontend::moved(ir::Expr* pointer, bool minus, ir::Expr* by) {
  return through(pointer, [&](ir::Expr* p) {
    if (is_null(p)) return p;
    const Position at = position(p, /*follow=*/false);
    return pointer_at({at.base, sum(at.index, minus, by)}, p->type);
  });
}

/// The element `index` after the one that `pointer` points to.
ir::Expr* Frontend::element(ir::Expr* pointer, ir::Expr* index) {
  return through(pointer, [&](ir::Expr* p) {
    if (is_null(p)) return p;
    const Position at = position(p, /*follow=*/false);
    ir::Expr* i = number(at.index) == 0 ? index : sum(at.index, false, index);
    if (at.base->kind == ir::Expr::AddressOf && number(i) == 0) return at.base->args[0];
    const ir::Type* type = p->type->element ? p->type->element : p->type;
    return fn_.make(ir::Expr::Index, type, "", {at.base, i});
  });
}

/// A difference or comparison of two pointers; into the same object, one of indices.
ir::Expr* Frontend::pointers(const std::string& op, ir::Expr* a, ir::Expr* b, const ir::Type* result) {
  if (is_parts(a) && is_parts(b) && a->kind == ir::Expr::AddressOf && b->kind == ir::Expr::AddressOf &&
      (op == "==" || op == "!="))
    return literal((a->args[0] == b->args[0]) == (op == "==") ? "true" : "false", context_.BoolTy);
  if (!is_null(a) && !is_null(b) && a->kind != ir::Expr::Conditional && b->kind != ir::Expr::Conditional) {
    const Position left = position(a, true), right = position(b, true);
    if (alike(left.base, right.base)) {
      if (op == "-") return sum(left.index, true, right.index);
      return fn_.make(ir::Expr::Binary, result, op,
                      {sum(literal("0", context_.getPointerDiffType()), false, left.index),
                       sum(literal("0", context_.getPointerDiffType()), false, right.index)});
    }
  }
  return fn_.make(ir::Expr::Binary, result, op, {a, b});
}

ir::Expr* Frontend::pointer_binary(const std::string& op, const clang::Expr* left, const clang::Expr* right,
                                   QualType result, bool reverse) {
  std::vector<ir::Expr*> operands = values({left, right});
  const bool first = is_pointer(left), second = is_pointer(right);
  if (first && second) {
    if (reverse && op != "==" && op != "!=") std::swap(operands[0], operands[1]);
    return pointers(op, operands[0], operands[1], types_.get(result));
  }
  if (op != "+" && op != "-")
    return fn_.make(ir::Expr::Binary, types_.get(result), op, {operands[0], operands[1]});
  return moved(operands[first ? 0 : 1], (op == "-") != reverse, operands[first ? 1 : 0]);
}

// Cursors.

/// Adds what `pointer` points into; `fixed` if that must mean the same object wherever it is written.
bool Frontend::add_bases(Cursor& cursor, ir::Expr* pointer, bool fixed) {
  if (pointer->kind == ir::Expr::Conditional)
    return add_bases(cursor, pointer->args[1], fixed) && add_bases(cursor, pointer->args[2], fixed);
  ir::Expr* base = is_null(pointer) ? pointer : position(pointer, /*follow=*/true).base;
  if (base->kind == ir::Expr::Literal && !is_null(base)) return false;
  if (base->type->shifts) return false;  // nothing says which element follows
  const std::size_t before = out_->size();
  ir::Expr* frozen = freeze(base, at_, /*pointer=*/true);
  if (fixed && out_->size() != before) return false;
  for (const ir::Expr* known : cursor.bases)
    if (alike(known, frozen)) return true;
  cursor.bases.push_back(frozen);
  return true;
}

/// Whether `e` names a local variable that is declared later.
bool Frontend::names_undeclared(const clang::Expr* e) const {
  struct Finder : AstVisitor {
    const Frontend& f;
    bool found = false;
    explicit Finder(const Frontend& frontend) : f(frontend) {}
    bool VisitDeclRefExpr(DeclRefExpr* ref) override {
      const auto* var = dyn_cast<VarDecl>(ref->getDecl());
      found |= var && var->isLocalVarDecl() && !f.bindings_.count(var) && !f.cursors_.count(var);
      return true;
    }
  } finder(*this);
  finder.TraverseStmt(const_cast<clang::Expr*>(e));
  return finder.found;
}

/// The range of the loop whose variable `var` is, a reference to its elements; null of any other variable.
static const clang::Expr* range_of(const VarDecl* var) {
  if (!var->isCXXForRangeDecl() || !var->getType()->isReferenceType()) return nullptr;
  const auto implicit_in = [](const auto& self, const clang::Stmt* s) -> const VarDecl* {
    if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
      const auto* named = dyn_cast<VarDecl>(ref->getDecl());
      return named && named->isImplicit() ? named : nullptr;
    }
    for (const clang::Stmt* child : s->children())
      if (const VarDecl* found = child ? self(self, child) : nullptr) return found;
    return nullptr;
  };
  // It starts as *__begin, that as a part of __range, and that as the range.
  for (;;) {
    const VarDecl* before = var->getInit() ? implicit_in(implicit_in, var->getInit()) : nullptr;
    if (!before) return var->isImplicit() ? var->getInit() : nullptr;
    var = before;
  }
}

/// Adds what a pointer expression may point into, before it is evaluated.
bool Frontend::add_origins(Cursor& cursor, const clang::Expr* e, std::set<const ValueDecl*>& seen) {
  e = strip(e->IgnoreParenCasts());
  if (const auto* c = dyn_cast<ConditionalOperator>(e))
    return add_origins(cursor, c->getTrueExpr(), seen) && add_origins(cursor, c->getFalseExpr(), seen);
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    const bool right = b->getOpcode() == BO_Comma || b->getOpcode() == BO_Assign || !is_pointer(b->getLHS());
    return add_origins(cursor, right ? b->getRHS() : b->getLHS(), seen);
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->isIncrementDecrementOp())
    return add_origins(cursor, u->getSubExpr(), seen);
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->getOpcode() == UO_AddrOf) {
    const auto* ref = dyn_cast<DeclRefExpr>(u->getSubExpr()->IgnoreParens());
    const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    if (const clang::Expr* range = var && !bindings_.count(var) ? range_of(var) : nullptr)
      return add_range(cursor, range);
    const clang::Expr* element = u->getSubExpr()->IgnoreParens();  // whichever it will be
    if (const auto* at = dyn_cast<ArraySubscriptExpr>(element))
      return add_origins(cursor, at->getBase(), seen);
    const auto* at = dyn_cast<CXXOperatorCallExpr>(element);
    if (at && at->getOperator() == OO_Subscript && add_range(cursor, at->getArg(0))) return true;
  }
  if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e); op && is_pointer(op) && is_pointer(op->getArg(0)))
    return add_origins(cursor, op->getArg(op->getOperator() == OO_Equal ? 1 : 0), seen);
  if (const auto* call = dyn_cast<CallExpr>(e); call && call->getNumArgs() && is_pointer(call->getArg(0)))
    return add_origins(cursor, call->getArg(0), seen);
  if (const auto* made = dyn_cast<CXXConstructExpr>(e);  // of an iterator that becomes a const_iterator
      made && made->getNumArgs() && is_pointer(made->getArg(0)))
    return add_origins(cursor, made->getArg(0), seen);
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const ValueDecl* decl = ref->getDecl();
    if (!seen.insert(decl).second) return true;
    if (auto it = cursors_.find(decl); it != cursors_.end()) {
      for (ir::Expr* base : it->second.bases)
        if (!add_bases(cursor,
                       base->type->kind == ir::Type::Pointer
                           ? base
                           : pointer_at({base, literal("0", context_.IntTy)}, cursor.type),
                       true))
          return false;
      return true;
    }
    const auto* var = dyn_cast<VarDecl>(decl);
    if (!bindings_.count(decl) && var && var->getInit() && is_pointer(ref)) {
      auto it = changes_.assigned.find(decl);
      if (it != changes_.assigned.end())
        for (const clang::Expr* to : it->second)
          if (!to || !add_origins(cursor, to, seen)) return false;
      return add_origins(cursor, var->getInit(), seen);
    }
    if (!bindings_.count(decl) && var && var->isLocalVarDecl()) return false;
  }
  if (names_undeclared(e)) return false;
  const std::size_t before = out_->size();
  ir::Expr* pointer = value(e);
  if (pointer->type->kind == ir::Type::Array) pointer = fn_.make(ir::Expr::Cast, cursor.type, "", {pointer});
  return out_->size() == before && add_bases(cursor, pointer, true);
}

/// Adds the elements of an array or a vector.
bool Frontend::add_range(Cursor& cursor, const clang::Expr* range) {
  if (names_undeclared(range)) return false;
  const std::size_t before = out_->size();
  ir::Expr* elements = value(range);
  const ir::Type::Kind kind = elements->type->kind;
  const bool known = kind == ir::Type::Array || kind == ir::Type::Vector || kind == ir::Type::StdArray;
  if (out_->size() != before || !known || !ir::is_path(elements)) return false;
  return add_bases(cursor, pointer_at({elements, literal("0", context_.IntTy)}, cursor.type), true);
}

/// The variable that an address is taken in, if that is one.
static const VarDecl* variable_in(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParenImpCasts();
    if (const auto* m = dyn_cast<MemberExpr>(e); m && !m->isArrow())
      e = m->getBase();
    else if (const auto* at = dyn_cast<ArraySubscriptExpr>(e))
      e = at->getBase();
    else if (const auto* at = dyn_cast<CXXOperatorCallExpr>(e); at && at->getOperator() == OO_Subscript)
      e = at->getArg(0);
    else
      break;
  }
  const auto* ref = dyn_cast<DeclRefExpr>(e);
  const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  return var && !var->getType()->isReferenceType() && !var->getType()->isPointerType() ? var : nullptr;
}

/// Whether something may be changed through a pointer, and it is one into different variables.
bool Frontend::names_objects(const VarDecl* decl) {
  const QualType type = decl->getType();
  if (!type->isPointerType() || type->isFunctionPointerType() || type->getPointeeType().isConstQualified())
    return false;
  std::set<const VarDecl*> variables;
  const auto names = [&](const auto& self, const clang::Expr* e) -> bool {
    if (!e) return false;
    e = strip(e);
    if (const auto* c = dyn_cast<ConditionalOperator>(e))
      return self(self, c->getTrueExpr()) && self(self, c->getFalseExpr());
    if (isa<CXXNullPtrLiteralExpr>(e)) return true;
    const auto* op = dyn_cast<UnaryOperator>(e);
    const VarDecl* var = op && op->getOpcode() == UO_AddrOf ? variable_in(op->getSubExpr()) : nullptr;
    if (var) variables.insert(var->getCanonicalDecl());
    return var != nullptr;
  };
  if (decl->getInit() && !names(names, decl->getInit())) return false;
  if (const auto it = changes_.assigned.find(decl); it != changes_.assigned.end())
    for (const clang::Expr* to : it->second)
      if (!names(names, to)) return false;
  return variables.size() > 1;
}

void Frontend::declare_pointer(const VarDecl* decl) {
  const ir::Type* type = types_.get(decl->getType());
  ir::Expr* first = nullptr;
  if (modified(decl) || changes_.counters.count(decl)) {
    // What is read behind a pointer that stays a variable is kept, what is changed there is not.
    const bool only_read = type->element && !type->differentiable && decl->getType()->isPointerType() &&
                           decl->getType()->getPointeeType().isConstQualified();
    const auto* pointee = only_read ? decl->getType()->getPointeeType()->getAsCXXRecordDecl() : nullptr;
    const bool some_class = pointee && pointee->hasDefinition() && pointee->isPolymorphic();
    if (!some_class && (is_cursor_type(type) || names_objects(decl))) {
      first = decl->getInit() ? value(decl->getInit()) : nullptr;
      if (declare_cursor(decl, first, only_read)) return;
    }
  } else if (decl->getInit()) {
    ir::Expr* target = freeze(value(decl->getInit()), at_, /*pointer=*/true);
    if (target->kind == ir::Expr::Conditional) {  // one of several
      declare_cursor(decl, target);
      return;
    }
    bindings_[decl] = name_pointer(decl, target);
    pointer_homes_[decl] = out_;
    return;
  } else if (type->differentiable) {
    fail(decl->getLocation(),
         "cannot differentiate through pointer '" + decl->getNameAsString() + "', which has no initializer");
    return;
  }
  ir::Var* v = fn_.make_var(ir::Var::Local, decl->getNameAsString(), type, region_);
  v->modified = true;
  unstable_.insert(v);
  bindings_[decl] = fn_.ref(v);
  if (!first) return initialize(v, decl->getInit(), at_);
  ir::Stmt* s = emit(ir::Stmt::Decl, at_);
  s->var = v;
  s->expr = first;
}

/// A pointer that moves, as an index; false where it cannot be one, which is reported unless it need not be.
bool Frontend::declare_cursor(const ValueDecl* decl, ir::Expr* start, bool optional) {
  const std::string name = decl->getNameAsString();
  Cursor cursor;
  cursor.type = types_.get(decl->getType());
  cursor.reverse = TypeTable::is_reverse(decl->getType());
  const std::size_t before = out_->size();
  const auto refuse = [&](SourceLocation at, const std::string& why) {
    if (optional) {
      out_->resize(before);  // what was lowered to see where it may point
      return false;
    }
    fail(at, "cannot differentiate through pointer '" + name + "', " + why);
    refused_.insert(decl);
    return true;
  };
  if (start && !add_bases(cursor, start, /*fixed=*/false))
    return refuse(decl->getLocation(), "whose target is not known here; index from a fixed pointer instead");
  std::set<const ValueDecl*> seen{decl};
  if (auto it = changes_.assigned.find(decl); it != changes_.assigned.end())
    for (const clang::Expr* to : it->second) {
      if (!to)
        return refuse(
            decl->getLocation(),
            "which is changed through a reference or pointer to it; return the new pointer's index instead");
      const auto* other = dyn_cast<DeclRefExpr>(strip(to));
      const auto* owner = other ? dyn_cast<VarDecl>(other->getDecl()) : nullptr;
      if (owner && owner->getInit() && isa<CXXNewExpr>(strip(owner->getInit())) && !bindings_.count(owner))
        return refuse(to->getExprLoc(), "which takes turns with '" + owner->getNameAsString() +
                                            "', and both own memory; swap two std::vector, or let two other "
                                            "pointers take turns");
      if (!add_origins(cursor, to, seen))
        return refuse(to->getExprLoc(),
                      "which is assigned an address in something that is declared later or changes; declare "
                      "another pointer there");
    }
  if (cursor.bases.empty()) return refuse(decl->getLocation(), "which is never assigned");
  if (!start_cursor(cursor, name, start))
    return refuse(decl->getLocation(), "whose target is not known here; index from a fixed pointer instead");
  cursors_[decl] = cursor;
  return true;
}

/// Declares the variables of a cursor that points to `start`, which may be null; false if that is not in what
/// it may point into.
bool Frontend::start_cursor(Cursor& cursor, const std::string& name, ir::Expr* start) {
  const auto variable = [&](const std::string& of, QualType type, ir::Expr* init) {
    ir::Var* v = fn_.make_var(ir::Var::Local, of, types_.get(type), region_);
    v->modified = true;
    unstable_.insert(v);
    ir::Stmt* s = emit(ir::Stmt::Decl, at_);
    s->var = v;
    s->expr = init;
    return v;
  };
  std::optional<Position> at;
  if (start) at = place(cursor, start);
  if (start && !at) return false;
  cursor.index = variable(name, context_.getPointerDiffType(),
                          at ? at->index : literal("0", context_.getPointerDiffType()));
  if (cursor.bases.size() > 1)
    cursor.which = variable(name + "_of", context_.IntTy, at ? at->base : literal("0", context_.IntTy));
  return true;
}

ir::Expr* Frontend::cursor_value(const Cursor& cursor, ir::Expr* index) {
  ir::Expr* value = nullptr;
  for (std::size_t k = cursor.bases.size(); k-- > 0;) {
    ir::Expr* one =
        is_null(cursor.bases[k]) ? cursor.bases[k] : pointer_at({cursor.bases[k], index}, cursor.type);
    if (!value) {
      value = one;
      continue;
    }
    ir::Expr* test = fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy),
                              "==", {fn_.ref(cursor.which), literal(std::to_string(k), context_.IntTy)});
    value = fn_.make(ir::Expr::Conditional, cursor.type, "", {test, one, value});
  }
  return value;
}

const Frontend::Cursor* Frontend::cursor_of(const clang::Expr* e) {
  if (const auto part = pointer_part(e)) {
    const auto it = part_cursors_.find(*part);
    return it == part_cursors_.end() ? nullptr : &it->second;
  }
  const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParens());
  auto it = ref ? cursors_.find(ref->getDecl()) : cursors_.end();
  return it == cursors_.end() ? nullptr : &it->second;
}

/// Which of the cursor's bases (as a number) and which index `pointer` is; nothing if it is none of them.
std::optional<Frontend::Position> Frontend::place(const Cursor& cursor, ir::Expr* pointer) {
  if (pointer->kind == ir::Expr::Conditional) {
    std::optional<Position> a = place(cursor, pointer->args[1]), b = place(cursor, pointer->args[2]);
    if (!a || !b) return std::nullopt;
    const auto choose = [&](ir::Expr* x, ir::Expr* y) {
      return alike(x, y) ? x : fn_.make(ir::Expr::Conditional, x->type, "", {pointer->args[0], x, y});
    };
    return Position{choose(a->base, b->base), choose(a->index, b->index)};
  }
  Position at{pointer, literal("0", context_.getPointerDiffType())};
  if (!is_null(pointer)) at = position(pointer, /*follow=*/true);
  for (std::size_t k = 0; k < cursor.bases.size(); ++k)
    if (alike(cursor.bases[k], at.base))
      return Position{literal(std::to_string(k), context_.IntTy), at.index};
  // Of a base that had to be frozen there is only one, and the start is in it.
  if (cursor.bases.size() == 1 && !cursor.index) return Position{literal("0", context_.IntTy), at.index};
  return std::nullopt;
}

ir::Expr* Frontend::assign_cursor(const Cursor& cursor, ir::Expr* pointer, SourceLocation at) {
  const std::optional<Position> to = place(cursor, pointer);
  if (!to)
    return fail(
        at,
        "cannot differentiate this assignment of a pointer: what it then points into is not known here; "
        "declare another pointer");
  const ir::Loc where = at.getRawEncoding();
  ir::Expr* which = to->base;
  if (cursor.which && to->index->kind != ir::Expr::Literal)
    which = ir::is_atomic(which) ? which : hoist(which, where, "which");
  if (to->index->kind != ir::Expr::VarRef || to->index->var != cursor.index)
    assign(fn_.ref(cursor.index), "=", to->index, where);
  if (cursor.which) assign(fn_.ref(cursor.which), "=", which, where);
  return cursor_value(cursor, fn_.ref(cursor.index));
}

/// `op` is "+=" or "-=".
ir::Expr* Frontend::move_cursor(const Cursor& cursor, const std::string& op, ir::Expr* by, ir::Loc at) {
  assign(fn_.ref(cursor.index),
         (op == "-=") != cursor.reverse ? "-=" : "+=", sum(literal("0", context_.IntTy), false, by), at);
  return cursor_value(cursor, fn_.ref(cursor.index));
}

ir::Expr* Frontend::increment(const Cursor& cursor, bool up, bool postfix, bool used, ir::Loc at) {
  ir::Expr* before = used && postfix ? hoist(fn_.ref(cursor.index), at) : nullptr;
  assign(fn_.ref(cursor.index), up != cursor.reverse ? "++" : "--", nullptr, at);
  return cursor_value(cursor, before ? before : fn_.ref(cursor.index));
}

}  // namespace clad
