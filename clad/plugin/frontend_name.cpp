// What an expression names: variables, members, elements; and how a reference keeps naming the same object.
#include <algorithm>

#include "ast_visitor.h"
#include "compat.h"
#include "frontend.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {

ir::Expr* Frontend::hoist(ir::Expr* e, ir::Loc at, const char* hint) {
  if (e->kind == ir::Expr::Literal && e->type->kind == ir::Type::Array) return e;  // a string stays
  if (e->type->kind == ir::Type::Pointer) {
    ir::Var* v = fn_.make_var(ir::Var::Alias, hint, e->type, region_);
    v->path = freeze(e, at, /*pointer=*/true);
    if (v->path->kind == ir::Expr::VarRef && v->path->var->kind == ir::Var::Temp) return v->path;
    v->is_const = true;
    emit(ir::Stmt::AliasDecl, at)->var = v;
    return fn_.ref(v);
  }
  ir::Var* v = fn_.make_var(ir::Var::Temp, hint, e->type, region_);
  v->optional = !e->type->default_constructible;
  ir::Stmt* s = emit(ir::Stmt::Decl, at);
  s->var = v;
  s->expr = e;
  return fn_.ref(v);
}

/// Whether an expression reads memory that may change without its variable being assigned.
static bool reads_elements(const ir::Expr* e) {
  return e->kind == ir::Expr::Index || e->kind == ir::Expr::Deref ||
         std::any_of(e->args.begin(), e->args.end(), reads_elements);
}

/// A path with other indices.
ir::Expr* Frontend::with_indices(ir::Expr* e, const Reindex& index) {
  const auto base = [&] { return with_indices(e->args[0], index); };
  switch (e->kind) {
    case ir::Expr::Index:
      return fn_.make(e->kind, e->type, e->text, {base(), index(e->args[1], /*of_length=*/false)});
    case ir::Expr::Member:
    case ir::Expr::Deref:
    case ir::Expr::AddressOf:
    case ir::Expr::Cast: {
      ir::Expr* copy = fn_.make(e->kind, e->type, e->text, {base()});
      copy->explicit_cast = e->explicit_cast;
      copy->to_reference = e->to_reference;
      return copy;
    }
    case ir::Expr::Method: {
      if (e->text == "back" && changes_.resizes &&
          e->args[0]->type->kind == ir::Type::Vector) {  // of its length now
        const ir::Type* size = types_.get(context_.getSizeType());
        ir::Expr* length = fn_.make(ir::Expr::Method, size, "size", {e->args[0]});
        ir::Expr* last = fn_.make(ir::Expr::Binary, size, "-", {length, literal("1", context_.IntTy)});
        return fn_.make(ir::Expr::Index, e->type, "", {base(), index(last, /*of_length=*/true)});
      }
      ir::Expr* copy = fn_.make(e->kind, e->type, e->text, {base()});
      copy->accessor = e->accessor;
      for (std::size_t i = 1; i < e->args.size(); ++i)
        copy->args.push_back(index(e->args[i], /*of_length=*/false));
      return copy;
    }
    case ir::Expr::Binary:
      if (e->type->kind == ir::Type::Pointer) {
        const bool left =
            e->args[0]->type->kind == ir::Type::Pointer || e->args[0]->type->kind == ir::Type::Array;
        const auto side = [&](ir::Expr* x, bool pointer) {
          return pointer ? with_indices(x, index) : index(x, /*of_length=*/false);
        };
        ir::Expr* a = side(e->args[0], left);
        ir::Expr* b = side(e->args[1], !left);
        return fn_.make(e->kind, e->type, e->text, {a, b});
      }
      return e;
    default:
      return e;
  }
}

/// A path through global pointers without derivatives that may move: where they point now is kept. `reads`:
/// it is a pointer, of which the value is meant.
ir::Expr* Frontend::kept_target(ir::Expr* e, ir::Loc at, bool reads) {
  if (reads && e->type->kind == ir::Type::Pointer && !e->type->differentiable && ir::is_path(e)) {
    const ir::Var* r = ir::root(e);
    const bool named = e->kind == ir::Expr::VarRef && e->var->kind == ir::Var::Alias;
    if (!r || named || r->global.empty()) return e;
    ir::Var* v = fn_.make_var(ir::Var::Temp, r->name + "_now", e->type, region_);
    v->external = true;
    ir::Stmt* s = emit(ir::Stmt::Decl, at);
    s->var = v;
    s->expr = e;
    return fn_.ref(v);
  }
  bool inner = reads;
  switch (e->kind) {
    case ir::Expr::Deref:
    case ir::Expr::Index:
      inner = e->args[0]->type->kind == ir::Type::Pointer;
      break;
    case ir::Expr::AddressOf:
      inner = false;
      break;
    case ir::Expr::Binary:
      if (e->type->kind != ir::Type::Pointer) return e;
      break;
    case ir::Expr::Member:
    case ir::Expr::Method:
    case ir::Expr::Cast:
      break;
    default:
      return e;
  }
  return fn_.mirror(
      e, [&](const ir::Expr* base) { return kept_target(const_cast<ir::Expr*>(base), at, inner); });
}

/// Whether what is named is an element of a deque, or in one.
static bool is_in_deque(const ir::Expr* path) {
  for (; path; path = path->args.empty() ? nullptr : path->args[0]) {
    if (path->kind == ir::Expr::VarRef && path->var->kind == ir::Var::Alias)
      return is_in_deque(path->var->path);
    if ((path->kind == ir::Expr::Index || path->kind == ir::Expr::Method) && path->args[0]->type->shifts)
      return true;
  }
  return false;
}

/// Makes a path mean the same object for as long as its alias lives: indices that may change are copied.
ir::Expr* Frontend::freeze(ir::Expr* e, ir::Loc at, bool pointer) {
  if (changes_.shifts && is_in_deque(e))
    return fail(
        SourceLocation::getFromRawEncoding(at),
        "cannot differentiate a name for an element of a std::deque, where others may come or go before "
        "it; copy the element, or use its index");
  return with_indices(
      kept_target(e, at, pointer && e->type->kind == ir::Type::Pointer), [&](ir::Expr* x, bool of_length) {
        bool stable = !of_length && !reads_elements(x);
        ir::each_var(x, [&](ir::Var* v) { stable &= unstable_.count(v) == 0 && !v->external; });
        return stable ? x : hoist(x, at, "index");
      });
}

/// Whether a temporary object that starts as what `path` names must be an object of its own: one of the two
/// may change while it lives.
bool Frontend::copies(const ir::Expr* path, bool temporary_changes) const {
  const ir::Var* r = ir::is_path(path) ? ir::root(path) : nullptr;
  if (!r || r->kind == ir::Var::Temp || path->type->kind == ir::Type::Pointer || !path->type->copyable)
    return false;
  bool changes = temporary_changes;
  for (const ir::Parameter& p : fn_.params)
    changes |= p.var->external && r->kind == ir::Var::Param && r->reference;
  ir::each_var(path, [&](ir::Var* v) { changes |= unstable_.count(v) != 0 || v->external; });
  return changes;
}

/// Whether a reference made now may dangle at the end of its scope, where the reverse sweep makes it again:
/// it names an element of a vector, and the function changes the length of one.
bool Frontend::may_dangle(const ir::Expr* path) const {
  if (!changes_.resizes) return false;
  for (; path; path = path->args.empty() ? nullptr : path->args[0]) {
    if (path->kind == ir::Expr::VarRef && path->var->kind == ir::Var::Alias)
      return may_dangle(path->var->path);
    if ((path->kind == ir::Expr::Index || path->kind == ir::Expr::Method) &&
        path->args[0]->type->kind == ir::Type::Vector)
      return true;
  }
  return false;
}

/// Reports an element of a deque that a call gets beside the deque, which it may change.
void Frontend::check_elements_of_deques(const ir::CallInfo& info, SourceLocation at) {
  for (const ir::CallInfo::Arg& a : info.args) {
    if ((!a.reference && a.expr->type->kind != ir::Type::Pointer) || !is_in_deque(a.expr)) continue;
    for (const ir::CallInfo::Arg& other : info.args)
      if (&other != &a && other.mutable_ && ir::root(other.expr) == ir::root(a.expr))
        fail(at,
             "cannot differentiate a call that gets an element of a std::deque beside what may change the "
             "deque; copy the element");
  }
}

/// Selects a part of an object; of one chosen by `c ? a : b` the part of each.
ir::Expr* Frontend::through(ir::Expr* object, const std::function<ir::Expr*(ir::Expr*)>& select) {
  if (object->kind != ir::Expr::Conditional) return select(object);
  ir::Expr* a = through(object->args[1], select);
  ir::Expr* b = through(object->args[2], select);
  const auto null = [](const ir::Expr* e) { return e->kind == ir::Expr::Literal && e->text == "nullptr"; };
  if (null(a)) return b;  // what is selected from nothing is not selected
  if (null(b)) return a;
  return fn_.make(ir::Expr::Conditional, a->type, "", {object->args[0], a, b});
}

ir::Expr* Frontend::address_of(ir::Expr* object, const ir::Type* pointer) {
  return through(object, [&](ir::Expr* one) {
    return one->kind == ir::Expr::Deref ? one->args[0] : fn_.make(ir::Expr::AddressOf, pointer, "", {one});
  });
}

ir::Expr* Frontend::deref(ir::Expr* pointer) {
  if (pointer->kind == ir::Expr::AddressOf) return pointer->args[0];
  const ir::Type* pointee = pointer->type->element;
  if (pointer->kind == ir::Expr::Literal && pointer->text == "nullptr") {  // where no program ever comes
    pointer = fn_.make(ir::Expr::Cast, pointer->type, pointer->type->name, {pointer});
    pointer->explicit_cast = true;
  }
  const bool names_element = pointer->kind == ir::Expr::Binary || pointer->kind == ir::Expr::Method ||
                             pointer->kind == ir::Expr::Cast || pointer->kind == ir::Expr::Conditional;
  const bool of_one = pointer->kind == ir::Expr::Conditional || pointer->kind == ir::Expr::Binary;
  if (names_element && pointee && (of_one || is_cursor_type(pointer->type)))
    return element(pointer, literal("0", context_.IntTy));
  return fn_.make(ir::Expr::Deref, pointee ? pointee : pointer->type, "", {pointer});
}

/// A global that changes while the function runs, as memory of the caller.
ir::Var* Frontend::changing_global(const VarDecl* decl, const std::string& text) {
  ir::Var*& v = global_vars_[decl->getCanonicalDecl()];
  if (v) return v;
  v = fn_.make_var(ir::Var::Param, decl->getNameAsString(), types_.get(decl->getType()), nullptr);
  v->global = text;
  v->external = true;
  v->reference = v->type->kind != ir::Type::Pointer;
  unstable_.insert(v);
  return v;
}

/// The globals, treated so, that a call with these arguments may change.
std::vector<ir::Var*> Frontend::globals_changed(const FunctionDecl* callee,
                                                llvm::ArrayRef<const clang::Expr*> args) {
  std::vector<ir::Var*> out;
  if (!globals_ || !globals_->tracks()) return out;
  const auto may_call = [&](const clang::Expr* arg) {  // what is passed may be called
    const CXXRecordDecl* record = arg->getType().getNonReferenceType()->getAsCXXRecordDecl();
    return is_callable(arg->getType()) ||
           (record && record->hasDefinition() &&
            record->hasMemberName(context_.DeclarationNames.getCXXOperatorName(OO_Call)));
  };
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const bool own_virtual = method && method->isVirtual() && !compat::in_std(method);
  const bool known = !own_virtual && llvm::none_of(args, may_call);
  for (const VarDecl* var : globals_->changed_by(known ? callee : nullptr))
    if (ir::Var* v = global(var)->var) {
      v->modified = true;
      out.push_back(v);
    }
  return out;
}

ir::Expr* Frontend::global(const ValueDecl* decl) {
  if (TypeTable::is_numeric_array(decl->getType()))
    return fail(decl->getLocation(), "cannot differentiate a use of the global std::valarray '" +
                                         decl->getNameAsString() + "'; pass it as a std::vector");
  std::string text;
  if (const auto* f = dyn_cast<FunctionDecl>(decl)) {
    callees_.insert(f->getCanonicalDecl());
    text = spell_function(f, types_);
  } else if (const auto* object = dyn_cast<TemplateParamObjectDecl>(decl)) {
    text = spell_constant(object->getValue(), object->getType(), types_);
  } else if (const auto* var = dyn_cast<VarDecl>(decl); var && var->isStaticLocal()) {
    text = "::" + types_.stand_in(var);  // local variables of the derivative may be called so
  } else {
    llvm::raw_string_ostream os(text);
    os << "::";
    if (const auto* record = dyn_cast<CXXRecordDecl>(decl->getDeclContext()); record && isa<VarDecl>(decl))
      os << types_.spell(compat::record_type(context_, record)) << "::" << decl->getNameAsString();
    else if (const std::string outer = types_.outer_name(decl); !outer.empty())
      os << outer << "::" << decl->getNameAsString();
    else
      decl->printQualifiedName(os, types_.policy());
    if (const auto* var = dyn_cast<VarTemplateSpecializationDecl>(decl))
      os << spell_arguments(var->getTemplateArgs().asArray(), types_);
    os.flush();
  }
  if (const auto* var = dyn_cast<VarDecl>(decl); var && globals_ && globals_->name(var))
    return fn_.ref(changing_global(var, text));
  ir::Expr* e = fn_.make(ir::Expr::Global, types_.get(decl->getType()), text);
  e->fixed = isa<FunctionDecl>(decl) || isa<EnumConstantDecl>(decl) || decl->getType().isConstant(context_);
  return e;
}

/// Whether a static variable of a function is only read, and so stays the constant that it starts as.
static bool stays_constant(const VarDecl* var) {
  struct Uses : AstVisitor {
    const VarDecl* var;
    unsigned all = 0, reads = 0;
    bool names(const clang::Expr* e) const {
      const auto* ref = dyn_cast<DeclRefExpr>(e);
      return ref && declaresSameEntity(ref->getDecl(), var);
    }
    bool VisitDeclRefExpr(DeclRefExpr* e) override {
      all += names(e);
      return true;
    }
    bool VisitImplicitCastExpr(ImplicitCastExpr* e) override {
      reads += e->getCastKind() == CK_LValueToRValue && names(e->getSubExpr()->IgnoreParens());
      return true;
    }
  } uses;
  const auto* function = dyn_cast<FunctionDecl>(var->getDeclContext());
  if (!function || !function->getBody() || !var->getInit() || !var->hasConstantInitialization() ||
      var->getType().isVolatileQualified())
    return false;
  uses.var = var;
  uses.TraverseStmt(function->getBody());
  return uses.all == uses.reads;
}

ir::Expr* Frontend::reference_to(const DeclRefExpr* e) {
  const ValueDecl* decl = e->getDecl();
  if (refused_.count(decl)) {
    tainted_ = true;
    return literal("0", context_.IntTy);
  }
  if (auto it = bindings_.find(decl); it != bindings_.end()) return it->second;
  if (const Cursor* cursor = cursor_of(e)) return cursor_value(*cursor, fn_.ref(cursor->index));
  if (ir::Expr* table = constant_table(decl)) return table;
  // A name that generated code cannot reach is its value, where that is a constant.
  const auto* var = dyn_cast<VarDecl>(decl);
  const bool local = isa<EnumConstantDecl>(decl) ? decl->getParentFunctionOrMethod() != nullptr
                                                 : var && var->isLocalVarDecl();
  if (local || (var && var->isConstexpr()))
    if (ir::Expr* c = constant(e)) return c;
  if (var && var->isLocalVarDeclOrParm()) {
    // A lambda need not capture a reference to a constant to name it.
    if (var->getType()->isReferenceType() && var->getInit() && var->isUsableInConstantExpressions(context_))
      return value(var->getInit());
    if (var->getType()->isRealFloatingType() && var->getType().isConstQualified() && var->getInit()) {
      clang::Expr::EvalResult result;
      if (var->getInit()->EvaluateAsRValue(result, context_) && result.Val.isFloat())
        return value(var->getInit());
    }
    if (ir::Expr* address = address_of_target(decl)) return address;
    if (closures_.count(decl))
      return fail(e->getExprLoc(),
                  "cannot differentiate this use of lambda '" + decl->getNameAsString() +
                      "': a lambda may be called or passed to a function whose definition is visible");
    if (var->isStaticLocal() && var->getType()->isArithmeticType() && stays_constant(var)) {
      clang::Expr::EvalResult result;
      if (var->getInit()->EvaluateAsRValue(result, context_) && (result.Val.isFloat() || result.Val.isInt()))
        return value(var->getInit());
    }
    if (var->isStaticLocal()) return global(decl);
    if (var->hasExternalStorage()) {  // declared here, a variable of the file
      for (const VarDecl* d : var->redecls())
        if (d->isFileVarDecl()) return global(d);
      return fail(e->getExprLoc(),
                  "cannot differentiate a use of variable '" + decl->getNameAsString() +
                      "', which is declared in a function alone; declare it outside as well");
    }
    return fail(e->getExprLoc(),
                "cannot differentiate a use of variable '" + decl->getNameAsString() + "' here");
  }
  return global(decl);
}

/// Whether the name of a member of a base means something else in the class that the cast comes from, or in
/// one on the way to that base.
static bool is_hidden(const CastExpr* to_base, const CXXRecordDecl* derived, const ValueDecl* member) {
  const auto hides = [&](const CXXRecordDecl* c) {
    return c->getNumBases() != 1 || !c->lookup(member->getDeclName()).empty();
  };
  const auto* owner = cast<CXXRecordDecl>(member->getDeclContext())->getCanonicalDecl();
  return hides(derived) || llvm::any_of(to_base->path(), [&](const CXXBaseSpecifier* step) {
           const CXXRecordDecl* c = step->getType()->getAsCXXRecordDecl();
           return !c || (c->getCanonicalDecl() != owner && hides(c));
         });
}

ir::Expr* Frontend::member(const MemberExpr* e) {
  const ValueDecl* decl = e->getMemberDecl();
  if (isa<VarDecl>(decl) || isa<EnumConstantDecl>(decl)) {
    if (ir::Expr* c = constant(e)) return c;
    return global(decl);
  }
  if (const auto* field = dyn_cast<FieldDecl>(decl)) decl = first_name(field);
  const clang::Expr* base = e->getBase();
  // An inherited member is named through the derived object unless a derived class hides it.
  while (const auto* c = dyn_cast<ImplicitCastExpr>(base->IgnoreParens())) {
    if (c->getCastKind() != CK_UncheckedDerivedToBase && c->getCastKind() != CK_DerivedToBase) break;
    QualType from = c->getSubExpr()->getType();
    if (from->isPointerType()) from = from->getPointeeType();
    const CXXRecordDecl* derived = from->getAsCXXRecordDecl();
    if (!derived || is_hidden(c, derived, decl)) break;
    base = c->getSubExpr();
  }
  ir::Expr* object = value(base);
  if (e->isArrow()) object = deref(object);
  if (const auto* field = dyn_cast<FieldDecl>(decl); field && !decl->getDeclName())
    return object;  // anonymous member: its fields are reached directly
  QualType type = decl->getType();
  if (is_parts(object))
    return through(object, [&](ir::Expr* one) { return part_of(one, cast<FieldDecl>(decl)); });
  if (type->isReferenceType() && types_.get(type)->differentiable)
    return fail(e->getExprLoc(),
                "cannot differentiate through reference member '" + decl->getNameAsString() + "'");
  if (object->type->kind == ir::Type::Opaque && types_.get(type)->differentiable)
    return fail(e->getExprLoc(),
                "cannot differentiate an access to the inside of '" + object->type->name +
                    "', an opaque value; give this function a pullback in clad::custom_derivatives");
  if (object->kind == ir::Expr::InitList && !isa<CXXThisExpr>(strip(base)))
    object = hoist(object, loc(e));  // std::make_pair(x, y).first
  // A member of a base of an aggregate under construction: the bases are the list's first elements.
  const auto* owner = cast<CXXRecordDecl>(decl->getDeclContext())->getCanonicalDecl();
  ir::Expr* made = object;
  while (made->kind == ir::Expr::Cast && made->to_reference) made = made->args[0];
  if (made->kind == ir::Expr::InitList) object = made;
  while (object->kind == ir::Expr::InitList) {
    const auto* record = static_cast<const CXXRecordDecl*>(object->type->decl);
    if (!record || !record->hasDefinition() || record->getCanonicalDecl() == owner) break;
    const auto is_of = [&](const CXXBaseSpecifier& base) {
      const CXXRecordDecl* b = base.getType()->getAsCXXRecordDecl();
      return b && (b->getCanonicalDecl() == owner || b->isDerivedFrom(owner));
    };
    const auto base = llvm::find_if(record->bases(), is_of);
    const std::size_t position = static_cast<std::size_t>(base - record->bases_begin());
    if (base == record->bases_end() || position >= object->args.size()) break;
    object = object->args[position];
  }
  if (object->kind == ir::Expr::InitList) {  // of an aggregate under construction
    unsigned position = cast<CXXRecordDecl>(decl->getDeclContext())->getNumBases();
    for (const FieldDecl* f : cast<CXXRecordDecl>(decl->getDeclContext())->fields()) {
      if (f == decl) break;
      position += f->getDeclName() || !f->isBitField();
    }
    if (position >= object->args.size() || object->args[position]->type->kind == ir::Type::Array)
      return fail(e->getExprLoc(), "cannot differentiate a default member initializer that reads '" +
                                       decl->getNameAsString() + "'; give the class a constructor");
    return object->args[position];
  }
  if (types_.get(compat::record_type(context_, owner))->constant && !object->type->constant) {
    const ir::Type* base_type = types_.get(compat::record_type(context_, owner));
    object = through(object, [&](ir::Expr* o) {  // of a base that carries no derivatives
      ir::Expr* part = fn_.make(ir::Expr::Cast, base_type, base_type->name + "&", {o});
      part->to_reference = part->explicit_cast = true;
      return part;
    });
  }
  return through(object, [&](ir::Expr* o) {
    return held(fn_.make(ir::Expr::Member, types_.get(type), decl->getNameAsString(), {o}), type);
  });
}

}  // namespace clad
