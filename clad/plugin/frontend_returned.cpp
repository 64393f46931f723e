// Calls of functions that return a reference or a pointer and for which the user says what the forward sweep
// runs, f_reverse_forw. What they return is told by its address: it is one of the arguments, or a part of
// one. In the caller it is the path to that part, which has an adjoint like any other path.
#include <algorithm>

#include "ast_visitor.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

constexpr std::size_t kMost = 64;  ///< places that are told apart

/// Whether running the function changes nothing but its own variables.
struct ChangeSeeker : AstVisitor {
  std::set<const FunctionDecl*> seen;
  bool found = false;
  bool shouldVisitImplicitCode() const override { return true; }

  static bool is_own(const clang::Expr* e) {
    e = e->IgnoreParenImpCasts();
    if (const auto* m = dyn_cast<MemberExpr>(e)) return !m->isArrow() && is_own(m->getBase());
    const auto* ref = dyn_cast<DeclRefExpr>(e);
    const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    if (!var || var->getType()->isReferenceType()) return false;
    return var->hasLocalStorage() || e->getType()->isIntegerType();  // a global counter
  }
  bool VisitBinaryOperator(BinaryOperator* e) override {
    found |= e->isAssignmentOp() && !is_own(e->getLHS());
    return !found;
  }
  bool VisitUnaryOperator(UnaryOperator* e) override {
    found |= e->isIncrementDecrementOp() && !is_own(e->getSubExpr());
    return !found;
  }
  bool VisitCXXNewExpr(CXXNewExpr*) override { return !(found = true); }
  bool VisitCXXDeleteExpr(CXXDeleteExpr*) override { return !(found = true); }
  bool VisitCallExpr(CallExpr* e) override {
    const FunctionDecl* callee = e->getDirectCallee();
    if (!callee) return !(found = true);
    const auto* method = dyn_cast<CXXMethodDecl>(callee);
    if (compat::in_std(callee) || callee->isExternC()) {
      static const std::initializer_list<llvm::StringRef> known = {"at",   "front", "back",    "data",
                                                                   "size", "empty", "begin",   "end",
                                                                   "get",  "move",  "forward", "addressof"};
      const bool element = callee->getOverloadedOperator() == OO_Subscript ||
                           callee->getOverloadedOperator() == OO_Star || named(callee, known);
      const bool reads = std::all_of(callee->param_begin(), callee->param_end(), [](const ParmVarDecl* p) {
        const QualType t = p->getType();
        return !(t->isReferenceType() || t->isPointerType()) || t->getPointeeType().isConstQualified();
      });
      found |= !element && !(reads && (!method || method->isConst()));
      return !found;
    }
    if (method && method->isVirtual()) return !(found = true);
    visit(callee);
    return !found;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr* e) override {
    if (e->getConstructor()->isUserProvided() && !compat::in_std(e->getConstructor()))
      visit(e->getConstructor());
    return !found;
  }
  void visit(const FunctionDecl* f) {
    const FunctionDecl* definition = nullptr;
    if (!seen.insert(f->getCanonicalDecl()).second) return;
    if (!f->hasBody(definition))
      found = true;
    else
      TraverseDecl(const_cast<FunctionDecl*>(definition));
  }
};

bool changes_nothing(const FunctionDecl* f) {
  ChangeSeeker seeker;
  seeker.visit(f);
  return !seeker.found;
}

bool returns_null(const FunctionDecl* f) {
  struct Nulls : AstVisitor {
    bool found = false;
    bool VisitCastExpr(CastExpr* e) override { return !(found |= e->getCastKind() == CK_NullToPointer); }
  } nulls;
  const FunctionDecl* definition = nullptr;
  if (f->hasBody(definition)) nulls.TraverseStmt(definition->getBody());
  return nulls.found;
}

}  // namespace

/// Looks for what is returned inside the arguments of a call.
struct Frontend::Search {
  Frontend& f;
  const ir::Type* wanted;
  ir::Expr* address;  ///< of what is returned
  struct Found {
    ir::Expr* path;
    ir::Expr* test;
  };
  std::vector<Found> found{};
  std::vector<ir::Expr*> pointers{};

  ir::Expr* call(const char* name, std::initializer_list<ir::Expr*> args, QualType type) {
    return f.fn_.make(ir::Expr::Call, f.types_.get(type), name, args);
  }
  ir::Expr* is(const char* op, ir::Expr* a, ir::Expr* b) {
    return f.fn_.make(ir::Expr::Binary, f.types_.get(f.context_.BoolTy), op, {a, b});
  }
  ir::Expr* both(ir::Expr* a, ir::Expr* b) { return a && b ? is("&&", a, b) : a ? a : b; }
  /// The element of `base` that holds the address, if there is one where `valid`.
  void elements(ir::Expr* base, const ir::Type* element, ir::Expr* valid) {
    if (!holds(element)) return;
    const QualType type = f.context_.getPointerDiffType();
    const bool pointer = base->type->kind == ir::Type::Pointer;
    ir::Expr* index = call(pointer ? "clad::index_from" : "clad::index_in", {address, base}, type);
    if (valid)
      index = f.fn_.make(ir::Expr::Conditional, index->type, "", {valid, index, f.literal("-1", type)});
    index = f.hoist(index, f.at_, "index");
    ir::Expr* inside = pointer ? nullptr : is(">=", index, f.literal("0", type));
    parts(f.fn_.make(ir::Expr::Index, element, "", {base, index}), both(valid, inside), /*element=*/true);
  }
  /// Whether such an object may be the one that is returned, or have it inside itself.
  bool holds(const ir::Type* t) const {
    if (t == wanted) return true;
    if (t->kind == ir::Type::Array || t->kind == ir::Type::StdArray) return holds(t->element);
    if (t->kind != ir::Type::Record || t->name.starts_with("std::optional")) return false;
    return std::any_of(t->fields.begin(), t->fields.end(), [&](const ir::Field& p) { return holds(p.type); });
  }
  /// Adds what there is inside an object; of an element, what lies in its own memory.
  void parts(ir::Expr* path, ir::Expr* valid, bool element = false) {
    const ir::Type* t = path->type;
    if (found.size() > kMost) return;
    if (t == wanted) {
      found.push_back(
          {path, both(valid, is("==", address, call("clad::address", {path}, f.context_.getUIntPtrType())))});
      return;
    }
    switch (t->kind) {
      case ir::Type::Array:
      case ir::Type::StdArray:
        return elements(path, t->element, valid);
      case ir::Type::Vector:
        if (!element) elements(path, t->element, valid);
        return;
      case ir::Type::Pointer:
        if (!element && t->element && holds(t->element) && t->differentiable) pointers.push_back(path);
        return;
      case ir::Type::Record:
        if (t->name.starts_with("std::optional")) return;
        for (const ir::Field& field : t->fields) {
          if (field.type->kind == ir::Type::Void) continue;
          ir::Expr* part = f.fn_.make(ir::Expr::Member, field.type, field.name, {path});
          if (field.name.empty()) {
            part = f.fn_.make(ir::Expr::Cast, field.type, field.type->name + "&", {path});
            part->to_reference = part->explicit_cast = true;
          }
          parts(part, valid, element);
        }
        return;
      default:
        return;
    }
  }
  void argument(ir::Expr* e) {
    if (e->kind == ir::Expr::Conditional) {
      argument(e->args[1]);
      argument(e->args[2]);
      return;
    }
    if (e->type->kind != ir::Type::Pointer) {
      if (ir::is_path(e) && e->type->differentiable) parts(f.freeze(e, f.at_), nullptr);
      return;
    }
    if (!e->type->differentiable || e->kind == ir::Expr::Literal) return;
    ir::Expr* base = f.position(e, /*follow=*/true).base;
    if (base->kind == ir::Expr::AddressOf) base = base->args[0];
    if (base->kind != ir::Expr::Literal) parts(f.freeze(base, f.at_), nullptr);
  }
  /// Memory behind a pointer, of unknown length: that of the pointer which is the nearest before the address.
  void behind_pointers() {
    if (pointers.empty()) return;
    ir::Expr* nearest = nullptr;
    if (pointers.size() > 1) {
      nearest = call("clad::nearest", {address}, f.context_.IntTy);
      nearest->args.insert(nearest->args.end(), pointers.begin(), pointers.end());
      nearest = f.hoist(nearest, f.at_, "nearest");
    }
    for (std::size_t k = 0; k < pointers.size(); ++k) {
      ir::Expr* valid = nearest ? is("==", nearest, f.literal(std::to_string(k), f.context_.IntTy)) : nullptr;
      elements(pointers[k], pointers[k]->type->element, valid);
    }
  }
};

/// Whether a call is one whose result is to be found among its arguments: the user says what the forward
/// sweep calls in its place.
bool Frontend::names_argument(ir::CallInfo& info, const FunctionDecl* callee, QualType result,
                              SourceLocation at) {
  const bool pointer = types_.get(result)->kind == ir::Type::Pointer;
  if (info.lifted || info.is_constructor || !types_.get(result)->differentiable ||
      !(result->isLValueReferenceType() || (pointer && result->isPointerType())))
    return false;
  if (!lookup_.has(callee, {"_reverse_forw"}) ||
      llvm::none_of(info.args, [](const ir::CallInfo::Arg& a) { return a.expr->type->differentiable; }))
    return false;
  const CustomLookup::Result found = lookup_.find_forward(info, callee);
  if (found == CustomLookup::Rejected) {
    fail(at, "no '" + lookup_.wanted() + "' matches this call of '" + display_name(callee) + "'");
    for (const auto& note : lookup_.notes()) diagnose_.note(note.at, note.text);
    return false;
  }
  if (found != CustomLookup::Found) return false;
  info.names = true;
  // What is bound to a temporary is looked for in a variable.
  for (ir::CallInfo::Arg& a : info.args)
    if (a.reference && !a.copied && (a.expr->kind == ir::Expr::Literal || !ir::names_object(a.expr)))
      a.expr = hoist(a.expr, at.getRawEncoding());
  info.selects = changes_nothing(static_cast<const FunctionDecl*>(info.forward)) &&
                 (!callee->hasBody() || changes_nothing(callee));
  if (info.selects)
    for (ir::CallInfo::Arg& a : info.args) a.mutable_ = false;
  return true;
}

/// What the call names: `info->primal` is the call.
ir::Expr* Frontend::named_argument(std::unique_ptr<ir::CallInfo> info, const FunctionDecl* callee,
                                   QualType result, const std::vector<ir::Var*>& touched,
                                   const clang::Expr* at) {
  const ir::Type* type = types_.get(result);
  const bool pointer = type->kind == ir::Type::Pointer;
  const ir::Type* integer = types_.get(context_.getUIntPtrType());
  std::vector<ir::Expr*> arguments;
  for (const ir::CallInfo::Arg& a : info->args)
    if (a.object || (a.reference && !a.copied) || a.expr->type->kind == ir::Type::Pointer)
      arguments.push_back(a.expr);
  const bool null =
      pointer && (returns_null(callee) || returns_null(static_cast<const FunctionDecl*>(info->forward)));
  info->primal =
      fn_.make(ir::Expr::Call, integer, pointer ? "clad::address_in" : "clad::address", {info->primal});
  ir::Var* address = fn_.make_var(ir::Var::Temp, "address", integer, region_);
  ir::Stmt* s = emit(ir::Stmt::CallStmt, loc(at));
  s->var = address;
  s->touched = touched;
  s->call = std::move(info);
  Search search{*this, pointer ? type->element : type, fn_.ref(address)};
  for (ir::Expr* a : arguments) search.argument(a);
  search.behind_pointers();
  if (search.found.empty() || search.found.size() > kMost)
    return fail(at->getExprLoc(),
                "cannot differentiate this call of '" + display_name(callee) + "': " +
                    (search.found.empty() ? "no argument is, or holds, what a '" + types_.spell(result) +
                                                "' of it could name; return by value"
                                          : "its arguments have too many parts that it could name; return an "
                                            "index"));
  ir::Expr* which = fn_.make(ir::Expr::Raw, types_.get(context_.IntTy),
                             "clad::no_argument(\"" + display_name(callee) + "\")");
  const auto choose = [&](ir::Expr* test, std::size_t k) {
    which = fn_.make(ir::Expr::Conditional, which->type, "",
                     {test, literal(std::to_string(k), context_.IntTy), which});
  };
  for (std::size_t k = search.found.size(); k-- > 0;) choose(search.found[k].test, k);
  if (null)
    choose(search.is("==", fn_.ref(address), literal("0", context_.getUIntPtrType())), search.found.size());
  which = hoist(which, loc(at), "which");
  ir::Expr* named = null ? literal("nullptr", result) : nullptr;
  for (std::size_t k = search.found.size(); k-- > 0;) {
    ir::Expr* one = search.found[k].path;
    if (pointer) one = address_of(one, type);
    if (!named) {
      named = one;
      continue;
    }
    ir::Expr* test = search.is("==", which, literal(std::to_string(k), context_.IntTy));
    named = fn_.make(ir::Expr::Conditional, one->type, "", {test, one, named});
  }
  return named;
}

}  // namespace clad
