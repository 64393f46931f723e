// Operators on scalars, in the order in which their operands are evaluated.
#include "clang/AST/DeclTemplate.h"
#include "effects.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// Variables that the statements emitted since `position` may have changed.
std::set<const ir::Var*> Frontend::changed_since(std::size_t position) const {
  std::set<const ir::Var*> changed;
  std::function<void(const ir::Stmt*)> visit = [&](const ir::Stmt* s) {
    if (s->kind == ir::Stmt::Assign && s->lhs) changed.insert(ir::root(s->lhs));
    changed.insert(s->touched.begin(), s->touched.end());
    for (const ir::Body* body : {&s->body, &s->other, &s->init})
      for (const ir::Stmt* inner : *body) visit(inner);
  };
  for (std::size_t i = position; i < out_->size(); ++i) visit((*out_)[i]);
  return changed;
}

/// An operand evaluated before later operands changed what it reads: its value from then, in a temporary.
ir::Expr* Frontend::settle(ir::Expr* e, std::size_t& position, const std::set<const ir::Var*>& changed) {
  bool affected = false, outside = false;
  for (const ir::Var* v : changed) outside |= v == nullptr || v->external;
  ir::each_var(e, [&](const ir::Var* v) {
    affected |= changed.count(v) != 0 || (outside && (v->reference || v->type->kind == ir::Type::Pointer));
  });
  if (!affected || e->type->kind == ir::Type::Pointer || e->type->kind == ir::Type::Array) return e;
  ir::Var* kept = fn_.make_var(ir::Var::Temp, "t", e->type, region_);
  kept->optional = !e->type->default_constructible;
  ir::Stmt* d = fn_.stmt(ir::Stmt::Decl, at_, source_);
  d->var = kept;
  d->expr = e;
  out_->insert(out_->begin() + static_cast<std::ptrdiff_t>(position), d);
  ++position;
  return fn_.ref(kept);
}

/// A path, or a pointer, whose indices were evaluated before later operands changed them: it still names the
/// same object, which is read afterwards.
ir::Expr* Frontend::settle_path(ir::Expr* path, std::size_t& position,
                                const std::set<const ir::Var*>& changed) {
  bool any = false;
  ir::Expr* settled = through(path, [&](ir::Expr* one) {
    return with_indices(one, [&](ir::Expr* index, bool) {
      ir::Expr* kept = settle(index, position, changed);
      any |= kept != index;
      return kept;
    });
  });
  return any ? settled : path;
}

/// Lowers what is evaluated after it was found which object is meant: v[i][i++].
ir::Expr* Frontend::value_after(ir::Expr*& object, const clang::Expr* e) {
  std::size_t position = out_->size();
  ir::Expr* v = value(e);
  if (out_->size() > position) object = settle_path(object, position, changed_since(position));
  return v;
}

/// Lowers one more operand; those before it keep the values they had when their turn came.
void Frontend::append_value(std::vector<ir::Expr*>& operands, const clang::Expr* e) {
  std::size_t position = out_->size();
  ir::Expr* next = value(e);
  if (out_->size() > position) {
    std::set<const ir::Var*> changed = changed_since(position);
    if (!changed.empty())
      for (ir::Expr*& before : operands)
        before = before->type->kind == ir::Type::Pointer ? settle_path(before, position, changed)
                                                         : settle(before, position, changed);
  }
  operands.push_back(next);
}

std::vector<ir::Expr*> Frontend::values(llvm::ArrayRef<const clang::Expr*> list) {
  std::vector<ir::Expr*> out;
  for (const clang::Expr* e : list) append_value(out, e);
  return out;
}

/// The variable for the result of a call that is one of several; null if they give none.
ir::Var* Frontend::result_of_one(const ir::Type* type, ir::Loc at) {
  if (type->kind == ir::Type::Void) return nullptr;
  ir::Var* result = fn_.make_var(ir::Var::Local, "chosen", type, region_);
  result->optional = !type->default_constructible;
  emit(ir::Stmt::Decl, at)->var = result;
  return result;
}

ir::Expr* Frontend::assign(ir::Expr* lhs, const std::string& op, ir::Expr* rhs, ir::Loc at) {
  if (lhs->kind == ir::Expr::Literal) return lhs;  // stands for what has been refused already
  if (lhs->type->kind == ir::Type::Pointer && lhs->type->differentiable)
    return fail(
        SourceLocation::getFromRawEncoding(at),
        "cannot differentiate through a pointer that is assigned; index from a fixed pointer instead");
  ir::Var* r = ir::root(lhs);
  if (r) r->modified = true;
  if (lhs->kind == ir::Expr::Conditional) {
    ir::Stmt* branch = emit(ir::Stmt::If, at);
    record_condition(branch, lhs->args[0]);
    ir::Body* outer = out_;
    out_ = &branch->body;
    assign(lhs->args[1], op, rhs, at);
    out_ = &branch->other;
    assign(lhs->args[2], op, rhs, at);
    out_ = outer;
    return lhs;
  }
  if (const ir::Var* handle = ir::constant_behind(lhs); handle && !handle->reference_copy) {
    r = ir::changed_by(lhs);
    if (r) r->modified = true;
    note_change(lhs);
    const bool step = op == "++" || op == "--";
    ir::Stmt* s = emit(ir::Stmt::Eval, at);
    s->expr = step ? fn_.make(ir::Expr::Unary, lhs->type, op, {lhs})
                   : fn_.make(ir::Expr::Binary, lhs->type, op, {lhs, rhs});
    if (r) s->touched = {r};
    return lhs;
  }
  if ((!r && !ir::is_path(lhs)) || (r && r->reference_copy))
    return fail(
        SourceLocation::getFromRawEncoding(at),
        "cannot differentiate an assignment through a reference that a call returned: the function is "
        "recursive, virtual or not visible; return an index");
  if (!r && lhs->type->differentiable) {
    ir::Stmt* s = emit(ir::Stmt::Assign, at);  // a global: an error only if what is stored is active
    s->text = op;
    s->lhs = lhs;
    s->expr = rhs;
    return lhs;
  }
  std::string base = op.substr(0, op.size() - 1);
  bool real = lhs->type->kind == ir::Type::Real;
  bool expand = op != "=" && op != "++" && op != "--";
  if (expand && real && (op == "+=" || op == "-=")) expand = false;
  if (expand && !real && (op == "+=" || op == "-=")) expand = false;
  if (expand) {
    rhs = fn_.make(ir::Expr::Binary, lhs->type, base, {lhs, rhs});
    ir::Stmt* s = emit(ir::Stmt::Assign, at);
    s->text = "=";
    s->lhs = lhs;
    s->expr = rhs;
    return lhs;
  }
  ir::Stmt* s = emit(ir::Stmt::Assign, at);
  s->text = op;
  s->lhs = lhs;
  s->expr = rhs;
  return lhs;
}

ir::Expr* Frontend::unary(const UnaryOperator* e, bool used) {
  const ir::Type* type = types_.get(e->getType());
  if (TypeTable::is_lanes(e->getType()))
    if (ir::Expr* lanes = lanes_unary(e)) return lanes;
  switch (e->getOpcode()) {
    case UO_Deref:
      return deref(value(e->getSubExpr()));
    case UO_AddrOf: {
      const clang::Expr* inner = e->getSubExpr()->IgnoreParens();
      if (isa<DeclRefExpr>(inner) && isa<FunctionDecl>(cast<DeclRefExpr>(inner)->getDecl())) return raw(e);
      if (pointer_part(inner)) return no_part_reference(e);
      return address_of(value(e->getSubExpr()), type);
    }
    case UO_PreInc:
    case UO_PreDec:
    case UO_PostInc:
    case UO_PostDec: {
      if (const Cursor* cursor = cursor_of(e->getSubExpr()))
        return increment(*cursor, e->isIncrementOp(), e->isPostfix(), used, loc(e));
      if (const auto part = pointer_part(e->getSubExpr())) {
        ir::Expr* before = part->first->args[part->second];
        ir::Expr* after = moved(before, !e->isIncrementOp(), literal("1", context_.IntTy));
        after = repoint(part->first, part->second, after, e->getExprLoc());
        return e->isPostfix() ? before : after;
      }
      ir::Expr* target = as_number(e->getSubExpr());
      ir::Expr* before = nullptr;
      const bool pointer = target->type->kind == ir::Type::Pointer;
      if (used && e->isPostfix() && !pointer) before = hoist(target, loc(e));
      ir::Expr* after = nullptr;
      if (target->type->kind == ir::Type::Real)
        after = assign(target, e->isIncrementOp() ? "+=" : "-=", literal("1", context_.IntTy), loc(e));
      else
        after = assign(target, e->isIncrementOp() ? "++" : "--", nullptr, loc(e));
      // A name for where it pointed would be read again after it has moved.
      if (pointer && e->isPostfix()) return moved(after, e->isIncrementOp(), literal("1", context_.IntTy));
      return before ? before : after;
    }
    case UO_Plus:
      return value(e->getSubExpr());
    case UO_Extension:
      return value(e->getSubExpr());
    case UO_Minus:
    case UO_Not:
    case UO_LNot:
      return fn_.make(ir::Expr::Unary, type, UnaryOperator::getOpcodeStr(e->getOpcode()).str(),
                      {value(e->getSubExpr())});
    default:
      return fail(e->getExprLoc(), "cannot differentiate this operator");
  }
}

ir::Expr* Frontend::logical(const BinaryOperator* e) {
  const ir::Type* boolean = types_.get(context_.BoolTy);
  if (const std::optional<bool> known = known_condition(e->getLHS())) {
    if (*known == (e->getOpcode() == BO_LAnd)) return value(e->getRHS());
    return literal(*known ? "true" : "false", context_.BoolTy);
  }
  ir::Expr* left = value(e->getLHS());
  ir::Body* outer = out_;
  ir::Body right_body;
  out_ = &right_body;
  ir::Expr* right = value(e->getRHS());
  out_ = outer;
  bool conjunction = e->getOpcode() == BO_LAnd;
  if (right_body.empty())
    return fn_.make(ir::Expr::Binary, boolean, conjunction ? "&&" : "||", {left, right});
  ir::Var* v = fn_.make_var(ir::Var::Local, "both", boolean, region_);
  v->modified = true;
  unstable_.insert(v);
  ir::Stmt* d = emit(ir::Stmt::Decl, loc(e));
  d->var = v;
  d->expr = left;
  ir::Stmt* branch = emit(ir::Stmt::If, loc(e));
  ir::Expr* test = fn_.ref(v);
  record_condition(branch, conjunction ? test : fn_.make(ir::Expr::Unary, boolean, "!", {test}));
  branch->body = std::move(right_body);
  ir::Stmt* s = fn_.stmt(ir::Stmt::Assign, loc(e), "");
  s->text = "=";
  s->lhs = fn_.ref(v);
  s->expr = right;
  branch->body.push_back(s);
  return fn_.ref(v);
}

ir::Expr* Frontend::binary(const BinaryOperator* e, bool used) {
  if (e->getOpcode() == BO_Comma) {
    discard(e->getLHS());
    if (used) return value(e->getRHS());
    discard(e->getRHS());
    return nullptr;
  }
  if (e->isLogicalOp()) return logical(e);
  if (e->isPtrMemOp()) return pointed_member(e);
  if (ir::Expr* lanes = lanes_binary(e)) return lanes;
  if (e->isAssignmentOp()) {
    const clang::Expr* left = e->getLHS();
    if (is_number(left)) return assign_number(e);
    if (ir::Expr* function = assign_function(left, e->getRHS())) return function;
    ir::Expr* rhs = value(e->getRHS());
    const auto part = pointer_part(left);
    if (const Cursor* cursor = cursor_of(left)) {
      if (e->isCompoundAssignmentOp())
        return move_cursor(*cursor, BinaryOperator::getOpcodeStr(e->getOpcode()).str(), rhs, loc(e));
      if (!part) return assign_cursor(*cursor, rhs, e->getExprLoc());
    }
    if (part) {
      ir::Expr* to = e->isCompoundAssignmentOp()
                         ? moved(part->first->args[part->second], e->getOpcode() == BO_SubAssign, rhs)
                         : rhs;
      return repoint(part->first, part->second, to, e->getExprLoc());
    }
    std::size_t position = out_->size();
    ir::Expr* lhs = value(left);
    // The right side is evaluated first.
    if (out_->size() > position)
      if (std::set<const ir::Var*> changed = changed_since(position); !changed.empty())
        rhs = settle(rhs, position, changed);
    if (e->isCompoundAssignmentOp())
      return assign(lhs, BinaryOperator::getOpcodeStr(e->getOpcode()).str(), rhs, loc(e));
    return assign(lhs, "=", rhs, loc(e));
  }
  if (e->isEqualityOp() && is_callable(e->getLHS()->getType()))
    if (ir::Expr* test = function_test(e)) return test;
  if (is_pointer(e->getLHS()) || is_pointer(e->getRHS()))
    return pointer_binary(BinaryOperator::getOpcodeStr(e->getOpcode()).str(), e->getLHS(), e->getRHS(),
                          e->getType());
  std::vector<ir::Expr*> operands;
  if (is_number(e->getLHS()) || is_number(e->getRHS()))
    operands = {as_number(e->getLHS()), as_number(e->getRHS())};
  else
    operands = values({e->getLHS(), e->getRHS()});
  return fn_.make(ir::Expr::Binary, types_.get(e->getType()),
                  BinaryOperator::getOpcodeStr(e->getOpcode()).str(), {operands[0], operands[1]});
}

/// A path in terms of variables that outlive `body`: the indices and choices in it that are computed there.
ir::Expr* Frontend::brought_out(ir::Expr* path, ir::Body& body) {
  if (!ir::names_object(path)) return path;
  std::map<ir::Var*, ir::Var*> outer;
  for (ir::Stmt* s : body) {
    if (s->kind != ir::Stmt::Decl || !s->expr || s->var->type->kind != ir::Type::Scalar) continue;
    bool used = false;
    ir::each_var(path, [&](const ir::Var* v) { used |= v == s->var; });
    if (!used) continue;
    ir::Var* v = fn_.make_var(ir::Var::Local, s->var->name, s->var->type, region_);
    v->modified = true;
    ir::Stmt* declared = emit(ir::Stmt::Decl, s->loc);
    declared->var = v;
    declared->expr = fn_.make(ir::Expr::Literal, v->type, v->type->name == "bool" ? "false" : "0");
    outer[s->var] = v;
  }
  if (outer.empty()) return path;
  // At the end: what an inner path is in terms of gets its value after its declaration.
  const ir::Body declared = body;
  for (const ir::Stmt* s : declared) {
    const auto it = s->kind == ir::Stmt::Decl ? outer.find(s->var) : outer.end();
    if (it == outer.end()) continue;
    ir::Stmt* kept = fn_.stmt(ir::Stmt::Assign, s->loc, "");
    kept->text = "=";
    kept->lhs = fn_.ref(it->second);
    kept->expr = fn_.ref(s->var);
    body.push_back(kept);
  }
  const std::function<ir::Expr*(ir::Expr*)> renamed = [&](ir::Expr* part) {
    ir::Expr* made = fn_.make(part->kind, part->type, part->text);
    *made = *part;
    if (const auto it = outer.find(part->var); it != outer.end()) made->var = it->second;
    for (ir::Expr*& a : made->args) a = renamed(a);
    return made;
  };
  return renamed(path);
}

/// Whether a path is in terms of variables that outlive `body`.
bool Frontend::outlives(ir::Expr* path, const ir::Body& body) {
  bool outside = ir::names_object(path);
  ir::each_var(path, [&](const ir::Var* v) {
    outside &= llvm::none_of(body, [&](const ir::Stmt* s) { return s->var == v; });
  });
  return outside;
}

ir::Expr* Frontend::conditional(const AbstractConditionalOperator* e) {
  if (const std::optional<bool> known = known_condition(e->getCond()))
    return value(*known ? e->getTrueExpr() : e->getFalseExpr());
  if (e->getCond()->getType()->isVectorType() && TypeTable::is_lanes(e->getType()))
    return lanes_conditional(e);
  ir::Expr* cond = value(e->getCond());
  ir::Body* outer = out_;
  ir::Body bodies[2];
  ir::Expr* arms[2];
  const clang::Expr* sources[2] = {e->getTrueExpr(), e->getFalseExpr()};
  for (int i = 0; i < 2; ++i) {
    out_ = &bodies[i];
    arms[i] = value(sources[i]);
  }
  out_ = outer;
  const ir::Type* type = types_.get(e->getType());
  bool plain = bodies[0].empty() && bodies[1].empty();
  if (is_cursor_type(type)) {
    if (!plain)
      return fail(e->getExprLoc(),
                  "cannot differentiate through a pointer that is chosen at run time; use if and else");
    return fn_.make(ir::Expr::Conditional, type, "", {hoist(cond, loc(e), "choice"), arms[0], arms[1]});
  }
  const auto frozen = [&](ir::Expr* arm) {
    return through(arm, [&](ir::Expr* one) { return freeze(one, at_); });
  };
  if (plain && e->isLValue() && ir::names_object(arms[0]) && ir::names_object(arms[1])) {
    // An object chosen at run time: uses select from both, assignments become branches.
    bool fixed = true;
    ir::each_var(cond, [&](ir::Var* v) { fixed &= unstable_.count(v) == 0 && !v->external; });
    if (!fixed || cond->kind != ir::Expr::VarRef) cond = hoist(cond, loc(e), "choice");
    return fn_.make(ir::Expr::Conditional, type, "", {cond, frozen(arms[0]), frozen(arms[1])});
  }
  if (!plain && e->isLValue())
    for (int i = 0; i < 2; ++i) arms[i] = brought_out(arms[i], bodies[i]);
  if (!plain && e->isLValue() && type->is_value() && outlives(arms[0], bodies[0]) &&
      outlives(arms[1], bodies[1])) {
    cond = hoist(cond, loc(e), "choice");
    ir::Stmt* branch = emit(ir::Stmt::If, loc(e));
    record_condition(branch, cond);
    branch->body = std::move(bodies[0]);
    branch->other = std::move(bodies[1]);
    return fn_.make(ir::Expr::Conditional, type, "", {cond, frozen(arms[0]), frozen(arms[1])});
  }
  if (plain && (!type->is_class() || (ir::is_path(arms[0]) && ir::is_path(arms[1]) && !type->differentiable)))
    return fn_.make(ir::Expr::Conditional, type, "", {cond, arms[0], arms[1]});
  if (type->kind == ir::Type::Void) {
    ir::Stmt* branch = emit(ir::Stmt::If, loc(e));
    record_condition(branch, cond);
    branch->body = std::move(bodies[0]);
    branch->other = std::move(bodies[1]);
    return literal("0", context_.IntTy);
  }
  for (int i = 0; i < 2; ++i) {
    if (!sources[i]->getType()->isVoidType()) continue;  // else it throws, and what is chosen is the other
    ir::Stmt* branch = emit(ir::Stmt::If, loc(e));
    record_condition(branch, cond);
    (i ? branch->other : branch->body) = std::move(bodies[i]);
    out_->insert(out_->end(), bodies[1 - i].begin(), bodies[1 - i].end());
    return arms[1 - i];
  }
  if (e->isLValue() && (may_be_sliced(arms[0], type) || may_be_sliced(arms[1], type)))
    return fail(
        e->getExprLoc(),
        "cannot differentiate this reference to one of two objects: it may be one to a base class, and "
        "what it names is not known here; use if and else");
  ir::Var* v = fn_.make_var(ir::Var::Local, "chosen", type, region_);
  v->reference_copy = e->isLValue();
  v->optional = !type->default_constructible;
  ir::Stmt* d = emit(ir::Stmt::Decl, loc(e));
  d->var = v;
  ir::Stmt* branch = emit(ir::Stmt::If, loc(e));
  record_condition(branch, cond);
  for (int i = 0; i < 2; ++i) {
    ir::Stmt* s = fn_.stmt(ir::Stmt::Assign, loc(sources[i]), source_);
    s->text = "init";
    s->lhs = fn_.ref(v);
    s->expr = arms[i];
    bodies[i].push_back(s);
  }
  branch->body = std::move(bodies[0]);
  branch->other = std::move(bodies[1]);
  return fn_.ref(v);
}

}  // namespace clad
