#include "outline.h"

#include <algorithm>
#include <map>
#include <set>

#include "effects.h"
#include "walk.h"

namespace clad {
namespace {

using ir::Body;
using ir::each_expr;
using ir::each_stmt;
using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

bool within(const ir::Region* r, const ir::Region* outer) {
  while (r && r != outer) r = r->parent;
  return r != nullptr;
}

bool is_array(const Type* t) { return t->kind == Type::Array; }
bool is_number(const Type* t) { return t->kind == Type::Real || t->kind == Type::Scalar; }

class Outliner {
 public:
  Outliner(ir::Function& fn, Stmt* loop, const Type* none, Diagnose& diagnose)
      : fn_(fn), loop_(loop), none_(none), diagnose_(diagnose) {}

  bool carries_derivatives() {
    bool active = false;
    each([&](Stmt* s) {
      active |= s->var && s->var->active;
      each_expr(s, [&](Expr*& e) { ir::each_var(e, [&](const Var* v) { active |= v->active; }); });
    });
    return active;
  }

  /// Fills `made`, and leaves a call in place of the loop. `first`: statements to run before it.
  bool run(CheckpointedLoop& made, const std::string& step, const std::string& loop, Body& first) {
    find_counter(fn_, loop_);
    find_variables();
    if (!find_changes()) return false;
    make(made.step, step, true);
    make(made.loop, loop, false);
    made.post_test = loop_->post_test;
    describe(made);
    fill_step(made.step);
    finish(made.loop);
    replace(made.loop, first);
    return true;
  }

 private:
  struct Outer {
    Var* var;
    bool in_step = false;  ///< an iteration names it, not only the condition
    bool changed = false;
    bool writable = false;  ///< something in the loop needs more than a constant
  };

  template <class F>
  void each(F&& visit) {
    each_stmt(loop_->body, visit);
    each_stmt(loop_->other, visit);
  }

  void find_variables() {
    each([&](Stmt* s) {
      for (Var* v : {s->var, s->cond_var})
        if (v) inner_.insert(v);
    });
    for (const auto& v : fn_.vars)
      if (v->region && within(v->region, loop_->region)) inner_.insert(v.get());
    std::set<const Var*> in_step, used;
    each([&](Stmt* s) {
      each_expr(s, [&](Expr*& e) { find_used(e, in_step); });
      for (const Var* v : s->touched) in_step.insert(v);
    });
    each_expr(loop_, [&](Expr*& e) { find_used(e, used); });
    used.insert(in_step.begin(), in_step.end());
    for (const auto& v : fn_.vars) {
      if (!used.count(v.get()) || inner_.count(v.get())) continue;
      Outer o{v.get(), in_step.count(v.get()) != 0};
      (v->kind == Var::Alias ? aliases_ : outer_).push_back(o);
    }
  }
  void find_used(const Expr* e, std::set<const Var*>& used) const {
    if (!e) return;
    if (e->var && used.insert(e->var).second && e->var->kind == Var::Alias) find_used(e->var->path, used);
    for (const Expr* a : e->args) find_used(a, used);
  }
  Outer* outer(const Var* v) {
    auto it = std::find_if(outer_.begin(), outer_.end(), [&](const Outer& o) { return o.var == v; });
    return it == outer_.end() ? nullptr : &*it;
  }

  // What the iterations change.

  bool refuse(const Stmt* s, const std::string& why) {
    diagnose_.error(s->loc ? s->loc : loop_->loc,
                    "cannot checkpoint this loop: its iterations change " + why);
    return false;
  }

  bool find_changes() {
    bool possible = true;
    each([&](Stmt* s) {
      if (!possible) return;
      if (s->kind == Stmt::Assign) possible = change(s, s->lhs);
      if (possible && s->kind == Stmt::Assign && s->text == "swap") possible = change(s, s->expr);
      for (Var* v : s->touched)
        if (possible && (!s->call || !v->global.empty())) possible = change_variable(s, v);
      if (s->kind == Stmt::AliasDecl && !s->var->is_const)
        if (Outer* o = outer(ir::root(s->var->path))) o->writable = true;
      if (possible && s->call) possible = find_changes(s);
    });
    for (const Outer& alias : aliases_)
      if (Outer* o = alias.var->is_const ? nullptr : outer(ir::root(alias.var->path))) o->writable = true;
    return possible;
  }
  bool find_changes(const Stmt* s) {
    const ir::CallInfo& c = *s->call;
    for (std::size_t i = 0; i < c.args.size(); ++i) {
      const ir::CallInfo::Arg& a = c.args[i];
      const bool takes_address =  // of what it may only read, by a pointer that allows more
          a.param_type && a.param_type->kind == Type::Pointer && !a.param_type->name.starts_with("const ");
      if (a.mutable_ || a.moved || takes_address)
        if (Outer* o = outer(ir::root(a.expr))) o->writable = true;
      if (!a.mutable_ && !a.moved) continue;
      const bool generated = c.kind == ir::CallInfo::Generated && c.generated && !c.generated->recursive;
      if (!a.moved && generated && !c.generated->changes[i]) continue;
      const Type* t = a.expr->type;
      if (t->has_pointer || (t->is_class() && t->reaches_state) ||
          (t->kind == Type::Other && t->differentiable))
        return refuse(s, "what the pointers of '" + t->name + "' refer to; use arrays or vectors");
      if (ir::is_path(a.expr) || t->kind == Type::Pointer || t->kind == Type::Array)
        if (!change(s, a.expr)) return false;
    }
    return true;
  }
  bool change(const Stmt* s, const Expr* path) {
    Var* root = ir::root(path);
    if (!root) return refuse(s, "a global variable; pass it as a parameter");
    if (!ir::leads_through_pointer(path)) return change_variable(s, root);
    Outer* o = outer(root);
    if (!o || root->type->kind != Type::Pointer)
      return refuse(s, "memory behind a pointer of '" + root->name + "'; use arrays or vectors");
    o->changed = true;
    for (const auto& [pointer, size] : loop_->checkpoint->arrays)
      if (ir::root(pointer) == root) return true;
    return refuse(s, "what '" + root->name +
                         "' points to; say how much that is: clad::checkpoint_loop(snapshots, " +
                         "std::span(" + root->name + ", size))");
  }
  bool change_variable(const Stmt* s, Var* v) {
    Outer* o = outer(v);
    if (!o) return true;
    o->changed = true;
    const Type* t = v->type;
    if (v->raw || v->maybe || (v->optional && v->unset))
      return refuse(s, "an object that is under construction; move the loop into a function of its own");
    if (t->kind == Type::Pointer || t->has_pointer || (t->is_class() && t->reaches_state))
      return refuse(s, "where '" + v->name + "' points to");
    if (!t->copyable || v->by_pointer)
      return refuse(s, "'" + v->name + "', an object of '" + t->name + "', which cannot be copied");
    return true;
  }

  // The functions.

  using Map = std::map<const Var*, Var*>;

  static std::string parameter(const Var* v) {
    if (v->type->kind == Type::Pointer) return declare(v->type, v->name);
    const std::string type =
        is_array(v->type) ? "std::type_identity_t<" + v->type->name + ">" : v->type->name;
    return (v->reference && v->is_const ? "const " : "") + type + (v->reference ? "& " : " ") + v->name;
  }

  void make(ir::Function& f, const std::string& name, bool step) {
    f.name = name;
    f.primal_name = fn_.primal_name;
    f.result = none_;
    f.names = fn_.names;
    f.names_type = fn_.names_type;
    f.loc = loop_->loc;
    f.recursive = false;
    f.wants_value = false;
    f.has_state = f.has_reverse = true;
    Map& map = maps_[&f];
    for (const Outer& o : outer_) {
      if (step && !o.in_step) continue;
      // A reference may name what the loop changes under another name.
      const bool reference = o.var->type->kind != Type::Pointer &&
                             (o.changed || o.writable || o.var->reference || !is_number(o.var->type));
      Var* v = f.vars.emplace_back(std::make_unique<Var>()).get();
      v->kind = Var::Param;
      v->name = o.var->name;
      v->adjoint = o.var->adjoint;
      v->type = o.var->type;
      v->active = o.var->active;
      v->external = o.var->external;
      v->loc = o.var->loc;
      v->reference = reference;
      const bool constant = o.var->is_const && (o.var->reference || v->type->kind == Type::Pointer);
      v->is_const = constant || (o.var->by_pointer && !o.var->names) || (!o.changed && !o.writable);
      v->modified = o.changed;
      map[o.var] = v;
      f.params.push_back({v, parameter(v), v->active});
      f.needs_param.push_back(true);
      f.changes.push_back(o.changed);
      f.writes_outside |= o.changed && v->external;
    }
    if (fn_.error) {
      f.error = f.vars.emplace_back(std::make_unique<Var>(*fn_.error)).get();
      map[fn_.error] = f.error;
    }
    for (const Outer& alias : aliases_) {
      if (step && !alias.in_step) continue;
      Stmt* s = f.stmt(Stmt::AliasDecl, loop_->loc, "");
      s->var = f.vars.emplace_back(std::make_unique<Var>(*alias.var)).get();
      s->var->path = copy(f, alias.var->path, map);
      map[alias.var] = s->var;
      f.body.push_back(s);
    }
  }

  /// The expression in terms of the function's own variables, without aliases from outside if `plain`.
  Expr* copy(ir::Function& f, const Expr* e, const Map& map, bool plain = false) {
    if (plain && e->var && e->var->kind == Var::Alias && map.count(e->var))
      return copy(f, e->var->path, map, plain);
    Expr* made = f.exprs.emplace_back(std::make_unique<Expr>(*e)).get();
    if (auto it = map.find(e->var); it != map.end()) made->var = it->second;
    for (Expr*& a : made->args) a = copy(f, a, map, plain);
    return made;
  }
  std::string text(ir::Function& f, const Expr* e) { return print(copy(f, e, maps_.at(&f))); }

  void describe(CheckpointedLoop& made) {
    ir::Function& f = made.loop;
    for (const Outer& o : outer_) {
      if (!o.changed || o.var->type->kind == Type::Pointer) continue;
      made.carried.push_back(o.var->name);
      made.carried_types.push_back(o.var->type->name);
    }
    const ir::Stmt::Checkpoint& mark = *loop_->checkpoint;
    for (const auto& [pointer, size] : mark.arrays) {
      made.carried.push_back("clad::elements(" + text(f, pointer) + ", " + text(f, size) + ")");
      std::string element = pointer->type->element->name;
      made.carried_types.push_back("clad::elements<" + element + ">");
    }
    made.more = text(f, loop_->expr);
    made.trips = "clad::revolve::unknown";
    if (const Var* v = loop_->count.counter) {
      const std::string end = text(f, loop_->count.end), to = "(" + end + ")";
      const std::string range = !loop_->count.wraps
                                    ? v->name + ", " + end + ", " + (loop_->count.up ? "" : "-")
                                : loop_->count.up ? "0, " + to + " - " + v->name + ", "
                                                  : "0, " + v->name + " - " + to + ", ";
      made.trips = "clad::trips<" + v->type->name + ">(" + range + loop_->count.step + ")";
    }
    made.limit = mark.limit
                     ? (mark.bytes ? "clad::at_most_bytes(" : "clad::at_most(") + text(f, mark.limit) + ")"
                     : "clad::checkpoint_budget{}";
  }

  void finish(ir::Function& f) {
    f.region = f.make_region(nullptr, fn_.region->record, "");
    f.region->record = fn_.region->record;
    f.pure = f.recursive ? false : pure_;
  }

  /// Moves the iteration into its function.
  void fill_step(ir::Function& f) {
    const Map& map = maps_.at(&f);
    std::set<const Stmt*> moved;
    const auto adopt = [&](const Body& body, bool plain) {
      each_stmt(body, [&](Stmt* s) {
        moved.insert(s);
        each_expr(s, [&](Expr*& e) { e = copy(f, e, map, plain); });
        for (Var*& v : s->touched)
          if (auto it = map.find(v); it != map.end()) v = it->second;
      });
    };
    adopt(loop_->body, false);
    adopt(loop_->other, true);
    f.region = loop_->region;
    f.region->parent = nullptr;
    f.region->record = fn_.region->record;
    take(fn_.stmts, f.stmts, [&](const Stmt* s) { return moved.count(s) != 0; });
    take(fn_.vars, f.vars, [&](const Var* v) { return inner_.count(v) != 0; });
    take(fn_.regions, f.regions, [&](const ir::Region* r) { return within(r, f.region); });
    f.body.insert(f.body.end(), loop_->body.begin(), loop_->body.end());
    f.last = loop_->other;
    pure_ = ir::is_pure(f.body) && ir::is_pure(f.last);
    f.pure = pure_;
  }
  template <class All, class Which>
  static void take(All& from, All& to, Which which) {
    All rest;
    for (auto& one : from) (which(one.get()) ? to : rest).push_back(std::move(one));
    from = std::move(rest);
  }

  /// The loop becomes a call.
  void replace(ir::Function& f, Body& first) {
    first = std::move(loop_->init);
    loop_->init.clear();
    loop_->body.clear();
    loop_->other.clear();
    loop_->kind = Stmt::CallStmt;
    loop_->expr = nullptr;
    loop_->region = nullptr;
    loop_->checkpoint = nullptr;
    loop_->count = {};
    auto call = std::make_unique<ir::CallInfo>();
    call->kind = ir::CallInfo::Generated;
    call->generated = &f;
    call->name = f.name;
    call->primal = fn_.make(Expr::Call, none_, f.name);
    for (const Outer& o : outer_) {
      ir::CallInfo::Arg arg;
      arg.expr = fn_.ref(o.var);
      arg.param_type = o.var->type;
      arg.reference = maps_.at(&f).at(o.var)->reference;
      arg.mutable_ = o.changed;
      arg.active = o.var->active;
      call->primal->args.push_back(arg.expr);
      call->args.push_back(std::move(arg));
      if (o.changed) loop_->touched.push_back(o.var);
    }
    loop_->call = std::move(call);
  }

  ir::Function& fn_;
  Stmt* loop_;
  const Type* none_;
  Diagnose& diagnose_;
  std::set<const Var*> inner_;
  std::vector<Outer> outer_, aliases_;
  std::map<const ir::Function*, Map> maps_;
  bool pure_ = false;
};

}  // namespace

Loops outline_loops(ir::Function& fn, const ir::Type* none, Diagnose& diagnose, const Analyses& analyses,
                    const std::function<std::string(const std::string&)>& unique) {
  Loops loops;
  std::function<void(Body&)> visit = [&](Body& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      Stmt* s = body[i];
      if (s->kind != Stmt::Loop || !s->checkpoint) {
        for (Body* inner : {&s->init, &s->body, &s->other}) visit(*inner);
        continue;
      }
      Outliner outliner(fn, s, none, diagnose);
      if (!outliner.carries_derivatives()) continue;
      auto made = std::make_unique<CheckpointedLoop>();
      Body first;
      if (!outliner.run(*made, unique(fn.name + "_step"), unique(fn.name + "_loop"), first)) return;
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), first.begin(), first.end());
      i += first.size();
      Loops inner = outline_loops(made->step, none, diagnose, analyses, unique);
      for (auto& l : inner) loops.push_back(std::move(l));
      made->step_sweeps = std::make_unique<ReverseTransform>(made->step, diagnose, analyses);
      made->step_sweeps->run();
      made->loop_sweeps = std::make_unique<ReverseTransform>(made->loop, diagnose, analyses);
      loops.push_back(std::move(made));
    }
  };
  visit(fn.body);
  return loops;
}

}  // namespace clad
