// Loops and switch, as loops with a recorded iteration and as guarded sections.
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "effects.h"
#include "frontend.h"

using namespace clang;

namespace clad {

void Frontend::begin_loop(ir::Stmt* loop) {
  loop->region = fn_.make_region(region_, record_name_, fn_.unique("iteration"));
  loop->tape = fn_.unique("loop");
  loop->checkpoint = std::move(mark_);
  region_ = loop->region;
}

void Frontend::finish_loop(ir::Stmt* loop, const clang::Expr* cond, const std::function<void()>& lower_body,
                           const clang::Expr* increment, bool fixed) {
  const auto into = [&](ir::Body& body) {
    ir::Body* before = std::exchange(out_, &body);
    lower_body();
    out_ = before;
  };
  ir::Body* outer = out_;
  ir::Body header;
  const auto lower_condition = [&] {
    if (cond) source_ = source(cond->getSourceRange());
    loop->expr = cond ? condition(cond) : literal("true", context_.BoolTy);
  };
  if (fixed) lower_condition();
  begin_loop(loop);
  out_ = &header;
  if (!fixed) lower_condition();
  out_ = &loop->body;
  if (header.empty()) {
    into(loop->body);
  } else {
    // The condition needs statements: while (go) { header; go = cond; if (go) body } (do: body; header; go =
    // cond).
    ir::Var* go = fn_.make_var(ir::Var::Local, "go", types_.get(context_.BoolTy), loop->region->parent);
    go->modified = true;
    unstable_.insert(go);
    ir::Stmt* init = fn_.stmt(ir::Stmt::Decl, loop->loc, "");
    init->var = go;
    init->expr = literal("true", context_.BoolTy);
    loop->init.push_back(init);
    ir::Expr* test = loop->expr;
    loop->expr = fn_.ref(go);
    auto set = [&] {
      ir::Stmt* s = emit(ir::Stmt::Assign, loop->loc);
      s->text = "=";
      s->lhs = fn_.ref(go);
      s->expr = test;
    };
    if (loop->post_test) {
      loop->post_test = false;
      ir::Stmt* inner = emit(ir::Stmt::Breakable, loop->loc);
      inner->text = "continue";
      into(inner->body);
      loop->body.insert(loop->body.end(), header.begin(), header.end());
      set();
    } else {
      loop->body.insert(loop->body.end(), header.begin(), header.end());
      set();
      ir::Stmt* branch = emit(ir::Stmt::If, loop->loc);
      record_condition(branch, fn_.ref(go));
      ir::Stmt* inner = fn_.stmt(ir::Stmt::Breakable, loop->loc, "");
      inner->text = "continue";
      branch->body.push_back(inner);
      into(inner->body);
      out_ = &branch->body;
      if (increment) discard(increment);
      increment = nullptr;
      out_ = &loop->body;
    }
  }
  if (increment) {
    at_ = loc(increment);
    source_ = source(increment->getSourceRange());
    out_ = &loop->other;
    discard(increment);
  }
  out_ = outer;
  region_ = loop->region->parent;
}

void Frontend::lower_for(const ForStmt* s) {
  if (ir::Stmt* loop = lower_for(s, [&] { stmt(s->getBody()); })) out_->push_back(loop);
}

/// The loop, which the caller puts into its place.
ir::Stmt* Frontend::lower_for(const ForStmt* s, const std::function<void()>& body, bool fixed) {
  at_ = loc(s);
  if (s->getConditionVariable()) {
    fail(s->getConditionVariable()->getLocation(), "cannot differentiate a declaration in a loop condition");
    return nullptr;
  }
  ir::Stmt* loop = fn_.stmt(ir::Stmt::Loop, loc(s), "");
  loop->source = "for (" + source(SourceRange(s->getLParenLoc(), s->getRParenLoc())).substr(1);
  if (s->getInit()) block(s->getInit(), loop->init);
  finish_loop(loop, s->getCond(), body, s->getInc(), fixed);
  return loop;
}

void Frontend::lower_while(const clang::Expr* cond, const clang::Stmt* body, bool post_test,
                           const clang::Stmt* whole) {
  at_ = loc(whole);
  ir::Stmt* loop = emit(ir::Stmt::Loop, at_);
  loop->source = (post_test ? "do ... while (" : "while (") + source(cond->getSourceRange()) + ")";
  loop->post_test = post_test;
  finish_loop(loop, cond, [&] { stmt(body); }, nullptr);
}

/// while (T x = init) { body } is while (true) { T x = init; if (!x) break; body }.
void Frontend::lower_while_declared(const WhileStmt* s) {
  at_ = loc(s);
  ir::Stmt* loop = emit(ir::Stmt::Loop, at_);
  loop->source = "while (" + source(s->getConditionVariable()->getSourceRange()) + ")";
  begin_loop(loop);
  loop->expr = literal("true", context_.BoolTy);
  ir::Body* outer = std::exchange(out_, &loop->body);
  source_ = source(s->getConditionVariable()->getSourceRange());
  declare(s->getConditionVariable());
  ir::Expr* go = value(s->getCond());
  ir::Stmt* branch = emit(ir::Stmt::If, loop->loc);
  record_condition(branch, fn_.make(ir::Expr::Unary, types_.get(context_.BoolTy), "!", {go}));
  branch->body.push_back(fn_.stmt(ir::Stmt::Break, loop->loc, ""));
  block(s->getBody(), loop->body);
  out_ = outer;
  region_ = loop->region->parent;
}

/// A range whose begin() and end() are pointers, which move, or objects: of a class of the user's, or of one
/// without derivatives, as those of a std::map<int, int>.
void Frontend::lower_range_for_moving(const CXXForRangeStmt* s, const std::string& header) {
  ir::Stmt* scope = emit(ir::Stmt::Block, at_);
  ir::Body* outer = std::exchange(out_, &scope->body);
  if (s->getInit()) stmt(s->getInit());
  stmt(s->getRangeStmt());
  stmt(s->getBeginStmt());
  stmt(s->getEndStmt());
  ir::Stmt* loop = emit(ir::Stmt::Loop, loc(s));
  loop->source = header;
  const auto body = [&] {
    stmt(s->getLoopVarStmt());
    stmt(s->getBody());
  };
  finish_loop(loop, s->getCond(), body, s->getInc());
  out_ = outer;
}

bool Frontend::moves_over_numbers(QualType begin) {
  const ir::Type* type = types_.get(begin);
  const CXXRecordDecl* record = begin->getAsCXXRecordDecl();
  if (record && compat::in_views(record)) return true;
  return type->differentiable && (type->kind == ir::Type::Pointer || (record && !compat::in_std(record)));
}

/// Whether an object of the class may run a lambda: a view of the library that computes its elements.
static bool holds_lambda(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record && record->isLambda()) return true;
  const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record);
  return spec && llvm::any_of(spec->getTemplateArgs().asArray(), [](const TemplateArgument& a) {
           return a.getKind() == TemplateArgument::Type && holds_lambda(a.getAsType());
         });
}

bool Frontend::moves_over_constants(const CXXForRangeStmt* s) {
  const auto constant = [&](QualType t) { return !types_.get(t)->differentiable; };
  const QualType begin = cast<VarDecl>(s->getBeginStmt()->getSingleDecl())->getType();
  return types_.get(begin)->is_class() && !holds_lambda(s->getRangeInit()->getType()) && constant(begin) &&
         constant(s->getRangeInit()->getType()) &&
         (constant(s->getLoopVariable()->getType()) ||
          ir::keeps_numbers(types_.get(s->getRangeInit()->getType())));
}

/// Whether this is a string of the library, of which a character is known by its index.
static bool is_string(const ir::Type* type) {
  const auto* record =
      type->kind == ir::Type::Other ? static_cast<const CXXRecordDecl*>(type->decl) : nullptr;
  return record && compat::in_std(record) && record->getIdentifier() &&
         (record->getName() == "basic_string" || record->getName() == "basic_string_view");
}

void Frontend::lower_range_for(const CXXForRangeStmt* s, const std::function<void()>& body) {
  at_ = loc(s);
  source_ = source(s->getRangeInit()->getSourceRange());
  if (const auto* none = table_of(s->getRangeInit()); none && none->empty()) {
    if (s->getInit()) stmt(s->getInit());
    return;
  }
  const ir::Type::Kind kind = types_.get(s->getRangeInit()->getType())->kind;
  const bool known = kind == ir::Type::Array || kind == ir::Type::StdArray || kind == ir::Type::Vector ||
                     kind == ir::Type::InitializerList;
  const auto* begin = s->getBeginStmt() ? dyn_cast<VarDecl>(s->getBeginStmt()->getSingleDecl()) : nullptr;
  const VarDecl* var = s->getLoopVariable();
  const auto* parts = dyn_cast<DecompositionDecl>(var);
  const bool written = !types_.get(var->getType())->differentiable && var->getType()->isReferenceType() &&
                       (modified(var) || (parts && llvm::any_of(parts->bindings(),
                                                                [&](const auto* b) { return modified(b); })));
  if (!known && !written && !is_view(s->getRangeInit()->getType()) && begin)
    if (moves_over_numbers(begin->getType()) || moves_over_constants(s))
      return lower_range_for_moving(s, source(SourceRange(s->getBeginLoc(), s->getRParenLoc())));
  if (TypeTable::is_bit(var->getType()) && (var->getType()->isReferenceType() || modified(var))) no_bit(var);
  std::string header = source(SourceRange(s->getBeginLoc(), s->getRParenLoc()));
  ir::Body* outer = out_;
  ir::Stmt* loop = fn_.stmt(ir::Stmt::Loop, at_, header);
  out_ = &loop->init;
  if (s->getInit()) stmt(s->getInit());
  source_ = "";
  const clang::Expr* init = s->getRangeInit();
  std::optional<View> view;
  if (is_view(init->getType())) view = view_of(init);
  const std::vector<ir::Expr*>* table = table_of(init);
  if (table && modified(var) && !is_parts(table->front()))
    fail(var->getLocation(), "cannot differentiate through pointer '" + var->getNameAsString() +
                                 "' into an array of pointers, which moves; declare another pointer there");
  ir::Expr* range = view ? view->data : table ? table->front() : value(init);
  if (range->kind == ir::Expr::InitList && range->type->kind == ir::Type::InitializerList) {
    // The list's elements are an array of their own.
    QualType element = var->getType().getNonReferenceType().getUnqualifiedType();
    if (const auto* spec =
            dyn_cast_or_null<ClassTemplateSpecializationDecl>(init->getType()->getAsCXXRecordDecl()))
      element = spec->getTemplateArgs()[0].getAsType().getUnqualifiedType();
    range->type = types_.get(compat::array_type(context_, element, range->args.size()));
  }
  const bool chosen = range->kind == ir::Expr::Conditional && init->isLValue();
  if (!view && !table && !chosen && !ir::is_path(range)) range = hoist(range, at_, "range");
  range = through(range, [&](ir::Expr* one) { return freeze(one, at_); });
  const QualType size_type = context_.getSizeType();
  ir::Expr* size = nullptr;
  const bool string = is_string(range->type);
  switch (view || table ? ir::Type::Pointer : string ? ir::Type::Vector : range->type->kind) {
    case ir::Type::Pointer:
      if (table) {
        size = literal(std::to_string(table->size()), size_type);
        break;
      }
      if (view) {
        size = ir::is_atomic(view->size) ? view->size : hoist(view->size, at_, "size");
        break;
      }
      [[fallthrough]];
    default:
      out_ = outer;
      fail(s->getBeginLoc(),
           "cannot differentiate a range-for over '" +
               range->type->name.substr(0, range->type->name.find('<')) +
               "'; supported are arrays, std::array, std::vector, std::span, initializer lists and what has "
               "pointers or objects of numbers as its begin and end");
      return;
    case ir::Type::Array:
    case ir::Type::StdArray:
      size = literal(std::to_string(range->type->extent), size_type);
      break;
    case ir::Type::Vector:
    case ir::Type::InitializerList:
      size = through(range, [&](ir::Expr* one) {
        return fn_.make(ir::Expr::Method, types_.get(size_type), "size", {one});
      });
      break;
  }
  ir::Var* counter = fn_.make_var(ir::Var::Local, "i", types_.get(size_type), region_);
  counter->modified = true;
  ir::Stmt* start = emit(ir::Stmt::Decl, at_);
  start->var = counter;
  start->expr = literal("0", size_type);
  out_ = outer;
  out_->push_back(loop);

  begin_loop(loop);
  loop->expr = fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy), "<", {fn_.ref(counter), size});
  out_ = &loop->body;
  QualType element_type = var->getType();
  ir::Expr* element = table ? table_element(*table, fn_.ref(counter)) : through(range, [&](ir::Expr* one) {
    if (view) return this->element(one, fn_.ref(counter));
    const ir::Type* type = string ? types_.get(element_type) : one->type->element;
    return held(fn_.make(ir::Expr::Index, type, "", {one, fn_.ref(counter)}), element_type);
  });
  source_ = header;
  if (const auto* bindings = dyn_cast<DecompositionDecl>(var)) {
    ir::Expr* whole = element;
    if (!var->getType()->isReferenceType())
      whole = table && in_parts(var->getType()) ? copy_parts(element, var->getType()->getAsCXXRecordDecl())
                                                : hoist(element, at_, "bound");
    if (whole != element && !is_parts(whole)) unstable_.insert(whole->var);
    bind_parts(bindings, whole);
  } else if (table && in_parts(var->getType()) && !var->getType()->isReferenceType()) {
    bindings_[var] = copy_parts(element, var->getType()->getAsCXXRecordDecl());
  } else if (table && computes(var->getType()) && !var->getType()->isReferenceType()) {
    bindings_[var] = copied_functions(element);
  } else if (table || (element->type->kind == ir::Type::Pointer && element->kind == ir::Expr::Method)) {
    bindings_[var] = element;  // a pointer that does not move
  } else if (chosen && var->getType()->isReferenceType()) {
    bindings_[var] = element;  // each use chooses again
  } else if (var->getType()->isReferenceType()) {
    ir::Var* alias = fn_.make_var(ir::Var::Alias, var->getNameAsString(), element->type, region_);
    alias->reference = true;
    alias->is_const = (var->getType().getNonReferenceType().isConstQualified() && !modified(var)) ||
                      range->type->kind == ir::Type::InitializerList;
    alias->path = element;
    emit(ir::Stmt::AliasDecl, at_)->var = alias;
    bindings_[var] = fn_.ref(alias);
  } else {
    ir::Var* copy = fn_.make_var(ir::Var::Local, var->getNameAsString(), types_.get(var->getType()), region_);
    copy->modified = modified(var);
    if (copy->modified) unstable_.insert(copy);
    copy->optional = !copy->type->default_constructible;
    ir::Stmt* d = emit(ir::Stmt::Decl, at_);
    d->var = copy;
    d->expr = element;
    bindings_[var] = fn_.ref(copy);
  }
  body();
  ir::Stmt* next = fn_.stmt(ir::Stmt::Assign, loop->loc, "");
  next->text = "++";
  next->lhs = fn_.ref(counter);
  loop->other.push_back(next);
  out_ = outer;
  region_ = loop->region->parent;
}

/// The label that a statement begins with, also behind attributes ([[likely]] case 0:).
static const SwitchCase* label_of(const clang::Stmt* s) {
  while (const auto* attributed = dyn_cast<AttributedStmt>(s)) s = attributed->getSubStmt();
  return dyn_cast<SwitchCase>(s);
}

void Frontend::lower_switch(const SwitchStmt* s) {
  at_ = loc(s);
  ir::Stmt* scope = emit(ir::Stmt::Breakable, at_);
  scope->text = "switch";
  ir::Body* outer = out_;
  out_ = &scope->body;
  if (s->getInit()) stmt(s->getInit());
  if (s->getConditionVariable()) declare(s->getConditionVariable());
  source_ = source(s->getCond()->getSourceRange());
  ir::Expr* key = hoist(value(s->getCond()), at_, "key");
  const auto* body = dyn_cast<CompoundStmt>(s->getBody());
  if (!body) {
    fail(s->getBeginLoc(), "cannot differentiate a switch without a block");
    out_ = outer;
    return;
  }
  // Sections: the labels that enter, then statements until the next label.
  struct Section {
    ir::Expr* enters = nullptr;  // null: default
    bool is_default = false;
    std::vector<const clang::Stmt*> body;
  };
  std::vector<Section> sections;
  const ir::Type* boolean = types_.get(context_.BoolTy);
  ir::Expr* any = nullptr;
  auto either = [&](ir::Expr* a, ir::Expr* b) {
    return a ? fn_.make(ir::Expr::Binary, boolean, "||", {a, b}) : b;
  };
  for (const clang::Stmt* child : body->body()) {
    const clang::Stmt* inner = child;
    bool labelled = false;
    while (const SwitchCase* label = label_of(inner)) {
      if (!labelled) sections.emplace_back();
      labelled = true;
      if (const auto* c = dyn_cast<CaseStmt>(label)) {
        ir::Expr* test = nullptr;
        if (c->getRHS()) {
          ir::Expr* low = fn_.make(ir::Expr::Binary, boolean, ">=", {key, value(c->getLHS())});
          ir::Expr* high = fn_.make(ir::Expr::Binary, boolean, "<=", {key, value(c->getRHS())});
          test = fn_.make(ir::Expr::Binary, boolean, "&&", {low, high});
        } else {
          test = fn_.make(ir::Expr::Binary, boolean, "==", {key, value(c->getLHS())});
        }
        sections.back().enters = either(sections.back().enters, test);
        any = either(any, test);
      } else {
        sections.back().is_default = true;
      }
      inner = label->getSubStmt();
    }
    if (sections.empty()) {
      if (!isa<DeclStmt>(inner))
        fail(inner->getBeginLoc(), "cannot differentiate statements before the first case");
      continue;
    }
    sections.back().body.push_back(inner);
  }
  // Falling through is a flag: section k runs if entered there or if the one before ran to its end.
  auto falls_through = [](const Section& section) {
    const clang::Stmt* last = section.body.back();
    while (const auto* inner = dyn_cast<CompoundStmt>(last)) {
      if (inner->body_empty()) return true;
      last = inner->body_back();
    }
    return !isa<BreakStmt>(last) && !isa<ReturnStmt>(last) && !isa<ContinueStmt>(last);
  };
  ir::Var* running = nullptr;
  source_ = "";
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const Section& section = sections[k];
    ir::Expr* enter = section.enters;
    if (section.is_default) {
      ir::Expr* none =
          any ? fn_.make(ir::Expr::Unary, boolean, "!", {any}) : literal("true", context_.BoolTy);
      enter = enter ? either(enter, none) : none;
    }
    if (k > 0 && falls_through(sections[k - 1]))
      enter = fn_.make(ir::Expr::Binary, boolean, "||", {fn_.ref(running), enter});
    const bool falls = k + 1 < sections.size() && falls_through(section);
    if (falls && !running) {
      running = fn_.make_var(ir::Var::Local, "entered", boolean, region_);
      running->modified = true;
      unstable_.insert(running);
      ir::Stmt* start = emit(ir::Stmt::Decl, at_);
      start->var = running;
      start->expr = literal("false", context_.BoolTy);
    }
    ir::Stmt* branch = emit(ir::Stmt::If, at_);
    record_condition(branch, enter);
    out_ = &branch->body;
    if (falls) {
      ir::Stmt* mark = emit(ir::Stmt::Assign, at_);
      mark->text = "=";
      mark->lhs = fn_.ref(running);
      mark->expr = literal("true", context_.BoolTy);
    }
    for (const clang::Stmt* child : section.body) {
      if (isa<CompoundStmt>(child)) {
        ir::Stmt* inner = emit(ir::Stmt::Block, loc(child));
        block(child, inner->body);
      } else {
        stmt(child);
      }
    }
    out_ = &scope->body;
  }
  out_ = outer;
}

}  // namespace clad
