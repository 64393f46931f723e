// OpenMP: loops whose iterations several threads share. What a clause makes private becomes a variable of the
// iteration; what is left of the directive is ir::Parallel.
#include <algorithm>

#include "effects.h"
#include "frontend_openmp.h"
#include "passes.h"

using namespace clang;

namespace clad {
namespace {

bool is_loop(const OMPExecutableDirective* d) {
  switch (d->getStmtClass()) {
    case clang::Stmt::OMPParallelForDirectiveClass:
    case clang::Stmt::OMPParallelForSimdDirectiveClass:
    case clang::Stmt::OMPForDirectiveClass:
    case clang::Stmt::OMPForSimdDirectiveClass:
    case clang::Stmt::OMPSimdDirectiveClass:
      return true;
    default:
      return false;
  }
}

/// What the directive stands before.
const clang::Stmt* inner(const OMPExecutableDirective* d) {
  const clang::Stmt* s = d->getInnermostCapturedStmt()->getCapturedStmt();
  while (const auto* a = dyn_cast<AttributedStmt>(s)) s = a->getSubStmt();
  return s;
}

/// A call of the runtime, whose value depends on the thread.
const CallExpr* thread_dependent(const clang::Stmt* s) {
  if (!s) return nullptr;
  if (const auto* call = dyn_cast<CallExpr>(s))
    if (const FunctionDecl* f = call->getDirectCallee();
        f && f->getIdentifier() && f->getName().starts_with("omp_") && f->getName() != "omp_get_wtime")
      return call;
  for (const clang::Stmt* child : s->children())
    if (const CallExpr* found = thread_dependent(child)) return found;
  return nullptr;
}

/// Whether the statements give the variable a value before they read it. Sure: on every way through them.
enum class First { None, Sure, Read };
First first_use(const ir::Body& body, const ir::Var* v);
First first_use(const ir::Stmt* s, const ir::Var* v) {
  if (s->kind == ir::Stmt::CallStmt) {
    First out = First::None;
    for (const ir::CallInfo::Arg& a : s->call->args) {
      const bool whole = a.expr->kind == ir::Expr::VarRef && a.mutable_;
      if (ir::reads(a.expr, v)) out = whole && out != First::Read ? First::Sure : First::Read;
    }
    return out;
  }
  if (s->kind == ir::Stmt::Assign) {
    const bool whole = s->lhs->kind == ir::Expr::VarRef && s->lhs->var == v;
    if (ir::reads(s->expr, v) || (ir::reads(s->lhs, v) && !(whole && (s->text == "=" || s->text == "init"))))
      return First::Read;
    return whole ? First::Sure : First::None;
  }
  if (s->kind == ir::Stmt::AliasDecl) return First::None;
  if (s->kind == ir::Stmt::Loop) {
    if (const First init = first_use(s->init, v); init != First::None) return init;
    const bool read = ir::reads(s->expr, v) || first_use(s->body, v) == First::Read ||
                      first_use(s->other, v) == First::Read;
    return read ? First::Read : First::None;
  }
  if (ir::reads(s->expr, v)) return First::Read;
  if (s->kind == ir::Stmt::Block) return first_use(s->body, v);
  if (s->kind == ir::Stmt::Breakable) return first_use(s->body, v);
  if (s->kind == ir::Stmt::If) {
    const First then = first_use(s->body, v), other = first_use(s->other, v);
    if (then == First::Read || other == First::Read) return First::Read;
    return then == First::Sure && other == First::Sure ? First::Sure : First::None;
  }
  return First::None;
}
First first_use(const ir::Body& body, const ir::Var* v) {
  for (const ir::Stmt* s : body)
    if (const First use = first_use(s, v); use != First::None) return use;
  return First::None;
}

std::string directive_name(const OMPExecutableDirective* d) {
  return "#pragma omp " + llvm::omp::getOpenMPDirectiveName(d->getDirectiveKind()).str();
}

}  // namespace

void Frontend::lower_directive(const OMPExecutableDirective* d) {
  at_ = loc(static_cast<const clang::Stmt*>(d));
  const auto kind = d->getStmtClass();
  if (kind == clang::Stmt::OMPParallelDirectiveClass) return lower_parallel(d);
  const bool alone =
      kind == clang::Stmt::OMPForDirectiveClass || kind == clang::Stmt::OMPForSimdDirectiveClass;
  if (!is_loop(d) || alone) {
    const std::string name = directive_name(d);
    fail(d->getBeginLoc(),
         "cannot differentiate '" + name + "'; " +
             (alone ? "write '#pragma omp parallel for'"
              : name.ends_with("critical") || name.ends_with("atomic")
                  ? "add up with 'reduction(+ : ...)' of '#pragma omp parallel for'"
                  : "supported are 'parallel for', 'parallel' around 'for', 'simd' and 'parallel for simd'"));
    return;
  }
  Worksharing loop;
  loop.directive = d;
  loop.threads = kind != clang::Stmt::OMPSimdDirectiveClass;
  if (read_clauses(d, loop)) lower_worksharing(loop);
}

/// A parallel region of nothing but loops: one parallel loop after the other.
void Frontend::lower_parallel(const OMPExecutableDirective* d) {
  std::vector<const clang::Stmt*> parts{inner(d)};
  if (const auto* all = dyn_cast<CompoundStmt>(parts[0])) parts.assign(all->body_begin(), all->body_end());
  for (const clang::Stmt* s : parts) {
    const auto* loop = dyn_cast<OMPExecutableDirective>(s);
    if (isa<NullStmt>(s)) continue;
    if (!loop || (loop->getStmtClass() != clang::Stmt::OMPForDirectiveClass &&
                  loop->getStmtClass() != clang::Stmt::OMPForSimdDirectiveClass)) {
      fail(
          s->getBeginLoc(),
          "cannot differentiate '#pragma omp parallel' around anything but '#pragma omp for'; move this into "
          "the loop or out of the parallel region, and use 'reduction(+ : ...)' for sums");
      return;
    }
  }
  for (const clang::Stmt* s : parts) {
    const auto* loop = dyn_cast<OMPExecutableDirective>(s);
    if (!loop) continue;
    tainted_ = false;
    Worksharing shared;
    shared.directive = loop;
    if (read_clauses(d, shared) && read_clauses(loop, shared)) lower_worksharing(shared);
  }
}

void Frontend::make_private(Worksharing& loop) {
  auto make = [&](const VarDecl* decl) {
    const ir::Type* type = types_.get(decl->getType());
    ir::Var* v = fn_.make_var(ir::Var::Local, decl->getNameAsString(), type, region_);
    v->modified = true;
    v->optional = !type->default_constructible;
    unstable_.insert(v);
    emit(ir::Stmt::Decl, at_)->var = v;
    bindings_[decl] = fn_.ref(v);
    return v;
  };
  for (const VarDecl* decl : loop.privates)
    if (std::find(loop.lasts.begin(), loop.lasts.end(), decl) == loop.lasts.end()) make(decl);
  for (const VarDecl* decl : loop.lasts) {
    ir::Expr* target = bindings_.at(decl);
    loop.copies.emplace_back(make(decl), target);
  }
}

/// What the loop's last iteration leaves in variables of its own.
void Frontend::write_back(Worksharing& loop) {
  if (loop.copies.empty()) return;
  const ir::Type* boolean = types_.get(context_.BoolTy);
  const auto& count = loop.loop->count;
  ir::Expr* counter = fn_.ref(count.counter);
  ir::Expr* next = fn_.make(ir::Expr::Binary, counter->type, count.up ? "+" : "-",
                            {counter, literal(count.step, context_.IntTy)});
  ir::Expr* more = fn_.make(ir::Expr::Binary, boolean,
                            count.wraps ? "!="
                            : count.up  ? "<"
                                        : ">",
                            {next, count.end});
  ir::Stmt* branch = emit(ir::Stmt::If, loop.loop->loc);
  record_condition(branch, fn_.make(ir::Expr::Unary, boolean, "!", {more}));
  ir::Body* outer = std::exchange(out_, &branch->body);
  for (const auto& [copy, target] : loop.copies) {
    assign(target, "=", fn_.ref(copy), loop.loop->loc);
    loop.ours.insert(out_->back());
  }
  out_ = outer;
}

static bool counts(ir::Function& fn, ir::Stmt* loop) {
  if (!find_counter(fn, loop)) return false;
  ir::Var* v = loop->count.counter;
  if (v->region) std::erase(v->region->vars, v);
  v->region = nullptr;  // never kept
  return true;
}

/// Makes the loop one that counts from and to what is known before it.
bool Frontend::count_iterations(Worksharing& loop) {
  ir::Stmt* s = loop.loop;
  if (s->init.size() > 1) {  // what the first value is computed from
    out_->insert(out_->end(), s->init.begin(), s->init.end() - 1);
    s->init.erase(s->init.begin(), s->init.end() - 1);
  }
  if (loop.counter && s->init.size() == 1 && s->init[0]->kind == ir::Stmt::Assign) {
    s->init[0]->kind = ir::Stmt::Decl;
    s->init[0]->var = loop.counter;
    s->init[0]->lhs = nullptr;
  }
  if (counts(fn_, s)) return true;
  if (s->init.size() == 1 && s->init[0]->kind == ir::Stmt::Decl && s->init[0]->expr &&
      s->expr->kind == ir::Expr::Binary) {
    const ir::Var* v = s->init[0]->var;
    source_ = "";
    if (s->init[0]->expr->kind != ir::Expr::Literal)
      s->init[0]->expr = hoist(s->init[0]->expr, s->loc, "first");
    for (ir::Expr*& side : s->expr->args)
      if (side->kind != ir::Expr::Literal && !ir::reads(side, v)) side = hoist(side, s->loc, "end");
    if (counts(fn_, s)) return true;
  }
  fail(
      SourceLocation::getFromRawEncoding(s->loc),
      "cannot differentiate this parallel loop: write it as 'for (int i = first; i < end; ++i)', with a step "
      "that is a constant");
  return false;
}

/// The program must be free of races itself: what several iterations write is an error.
void Frontend::check_shared(const Worksharing& loop) {
  std::set<const ir::Var*> inner{loop.loop->count.counter};
  std::function<void(const ir::Body&)> collect = [&](const ir::Body& body) {
    for (const ir::Stmt* s : body) {
      if (s->var) inner.insert(s->var);
      for (const ir::Body* b : {&s->init, &s->body, &s->other}) collect(*b);
    }
  };
  collect(loop.loop->body);
  auto is_reduced = [&](const ir::Var* v) {
    return std::any_of(loop.reductions.begin(), loop.reductions.end(),
                       [&](const auto& r) { return r.part == v; });
  };
  std::function<void(const ir::Body&, bool)> check = [&](const ir::Body& body, bool guarded) {
    for (const ir::Stmt* s : body) {
      const bool branch = s->kind == ir::Stmt::If;
      for (const ir::Body* b : {&s->init, &s->body, &s->other}) check(*b, guarded || branch);
      if (s->kind != ir::Stmt::Assign || loop.ours.count(s)) continue;
      const ir::Var* root = ir::root(s->lhs);
      bool varies = false;
      ir::each_var(s->lhs, [&](const ir::Var* v) { varies |= inner.count(v) != 0 && v != root; });
      const bool own = !root || inner.count(root) != 0 || is_reduced(root);
      const bool first = std::any_of(loop.firsts.begin(), loop.firsts.end(), [&](const VarDecl* d) {
        return bindings_.count(d) && ir::root(bindings_.at(d)) == root;
      });
      if (own || (!first && (varies || guarded))) continue;
      diagnose_.error(s->loc, first ? "cannot differentiate a change of the firstprivate '" + root->name +
                                          "': its value would depend on which thread runs which iteration; "
                                          "declare a copy in the loop"
                                    : "every iteration of the parallel loop writes the shared '" +
                                          root->name + "'; make it private, lastprivate or a reduction");
    }
  };
  check(loop.loop->body, false);
}

void Frontend::lower_worksharing(Worksharing& loop) {
  const auto* directive = loop.directive;
  const auto* body = inner(directive);
  const auto* counted = dyn_cast<ForStmt>(body);
  const auto* range = dyn_cast<CXXForRangeStmt>(body);
  if (!counted && !range) {
    fail(body->getBeginLoc(),
         "cannot differentiate this parallel loop: write a for statement after the directive");
    return;
  }
  const bool threads = loop.threads && parallel_depth_ == 0;
  if (const CallExpr* call = threads ? thread_dependent(body) : nullptr) {
    fail(
        call->getBeginLoc(),
        "cannot differentiate a parallel loop that asks which thread it runs on: the derivative's iterations "
        "may run on others; use 'private' and 'reduction' clauses");
    return;
  }
  const Frame outer_bindings = bindings_;
  ir::Body* outer = out_;
  ir::Body lowered;
  begin_reductions(loop);
  if (counted && loop.threads)
    if (const auto* start = dyn_cast_or_null<BinaryOperator>(counted->getInit()))
      if (const auto* ref = dyn_cast<DeclRefExpr>(start->getLHS())) {
        loop.counter = fn_.make_var(ir::Var::Local, ref->getDecl()->getNameAsString(),
                                    types_.get(ref->getType()), region_);
        loop.counter->modified = true;
        bindings_[ref->getDecl()] = fn_.ref(loop.counter);
        std::erase(loop.privates, ref->getDecl());
      }
  const clang::Stmt* statement = counted ? counted->getBody() : range->getBody();
  ir::Stmt* iteration = nullptr;
  auto lower_body = [&] {
    make_private(loop);
    begin_iteration(loop);
    iteration = emit(ir::Stmt::Breakable, at_);
    iteration->text = "continue";
    block(statement, iteration->body);
  };
  out_ = &lowered;
  ++parallel_depth_;
  if (counted)
    loop.loop = lower_for(counted, lower_body, loop.threads);
  else
    lower_range_for(range, lower_body);
  --parallel_depth_;
  out_ = outer;
  if (!loop.loop && !lowered.empty() && lowered.back()->kind == ir::Stmt::Loop) {
    loop.loop = lowered.back();
    lowered.pop_back();
  }
  out_->insert(out_->end(), lowered.begin(), lowered.end());
  if (!loop.loop || !iteration) return;
  if (loop.threads && !tainted_ && count_iterations(loop)) {
    ir::Region* region = std::exchange(region_, loop.loop->region);
    out_ = &loop.loop->body;
    source_ = "";
    write_back(loop);
    ir::Body before;
    end_reductions(loop, before);
    out_ = outer;
    region_ = region;
    out_->insert(out_->end(), before.begin(), before.end());
    check_private(loop, iteration->body);
    check_shared(loop);
    if (threads) {
      loop.loop->parallel = std::make_unique<ir::Parallel>();
      loop.loop->parallel->clauses = loop.clauses;
      for (const auto& r : loop.reductions)
        if (!r.parts) loop.loop->parallel->reductions.emplace_back(r.op == "-" ? "+" : r.op, r.part);
    }
    out_->push_back(loop.loop);
    bindings_ = outer_bindings;
    reduce(loop);
    return;
  }
  out_->push_back(loop.loop);
  bindings_ = outer_bindings;
}

/// A variable of an iteration holds nothing before the iteration gives it a value.
void Frontend::check_private(const Worksharing& loop, const ir::Body& body) {
  auto check = [&](const VarDecl* decl, bool last) {
    const ir::Var* v = ir::root(bindings_.at(decl));
    if (v->type->kind != ir::Type::Real && v->type->kind != ir::Type::Scalar) return;
    const First use = first_use(body, v);
    if (use == First::Read)
      diagnose_.error(loop.loop->loc, "the private variable '" + decl->getNameAsString() +
                                          "' is read before the iteration gives it a value");
    else if (last && use != First::Sure)
      diagnose_.error(loop.loop->loc,
                      "cannot differentiate a loop that does not always assign the lastprivate '" +
                          decl->getNameAsString() + "'");
  };
  for (const VarDecl* decl : loop.privates) check(decl, false);
  for (const VarDecl* decl : loop.lasts) check(decl, true);
}

}  // namespace clad
