// Early exits become branches and flags.
#include <algorithm>
#include <set>

#include "passes.h"

namespace clad {
namespace {

using ir::Body;
using ir::Stmt;

struct Exits {
  bool returns = false, breaks = false, continues = false;
  bool any() const { return returns || breaks || continues; }
  Exits& operator|=(const Exits& o) {
    returns |= o.returns;
    breaks |= o.breaks;
    continues |= o.continues;
    return *this;
  }
};

Exits exits(const Body& body);

/// The ways control may leave `s` other than by its end.
Exits exits(const Stmt* s) {
  Exits e;
  switch (s->kind) {
    case Stmt::Return:
      e.returns = true;
      break;
    case Stmt::Break:
      e.breaks = true;
      break;
    case Stmt::Continue:
      e.continues = true;
      break;
    case Stmt::If:
    case Stmt::Block:
      e = exits(s->body);
      e |= exits(s->other);
      break;
    case Stmt::Loop:
      e.returns = exits(s->body).returns;
      break;
    case Stmt::Breakable:
      e = exits(s->body);
      (s->text == "continue" ? e.continues : s->text == "return" ? e.returns : e.breaks) = false;
      break;
    default:
      break;
  }
  return e;
}

Exits exits(const Body& body) {
  Exits e;
  for (const Stmt* s : body) e |= exits(s);
  return e;
}

bool always_leaves(const Body& body) {
  if (body.empty()) return false;
  const Stmt* last = body.back();
  switch (last->kind) {
    case Stmt::Return:
    case Stmt::Break:
    case Stmt::Continue:
      return true;
    case Stmt::If:
      return always_leaves(last->body) && always_leaves(last->other);
    case Stmt::Block:
      return always_leaves(last->body);
    default:
      return false;
  }
}

class Structurer {
 public:
  Structurer(ir::Function& fn, const ir::Type* boolean) : fn_(fn), boolean_(boolean), region_(fn.region) {}

  void run() {
    sequence(fn_.body, /*tail=*/true);
    std::set<const ir::Var*> read;
    find_read(fn_.body, read);
    drop_unread(fn_.body, read);
  }

 private:
  /// A construct that Break or Continue may leave.
  struct Target {
    Stmt* stmt;
    std::size_t flags;        // flags_ that were set up inside start here
    ir::Var* stop = nullptr;  // of a loop: set by break
  };

  ir::Var* flag(const char* name, Body& before, ir::Region* region) {
    ir::Var* v = fn_.make_var(ir::Var::Local, name, boolean_, region);
    v->modified = true;
    made_.insert(v);
    Stmt* d = fn_.stmt(Stmt::Decl, 0, "");
    d->var = v;
    d->expr = fn_.make(ir::Expr::Literal, boolean_, "false");
    before.push_back(d);
    return v;
  }

  void set(ir::Var* v, Body& into) {
    Stmt* s = fn_.stmt(Stmt::Assign, 0, "");
    s->text = "=";
    s->lhs = fn_.ref(v);
    s->expr = fn_.make(ir::Expr::Literal, boolean_, "true");
    into.push_back(s);
  }

  void find_read(const Body& body, std::set<const ir::Var*>& read) const {
    for (const Stmt* s : body) {
      ir::each_var(s->expr, [&](const ir::Var* v) { read.insert(v); });
      for (const Body* inner : {&s->init, &s->body, &s->other}) find_read(*inner, read);
    }
  }

  /// Removes flags of ours that are set and never looked at, and the branches that do nothing else.
  void drop_unread(Body& body, const std::set<const ir::Var*>& read) const {
    std::erase_if(body, [&](Stmt* s) {
      const ir::Var* v = s->kind == Stmt::Decl                                         ? s->var
                         : s->kind == Stmt::Assign && s->lhs->kind == ir::Expr::VarRef ? s->lhs->var
                                                                                       : nullptr;
      if (v && made_.count(v) && !read.count(v)) return true;
      const bool had = !s->body.empty() || !s->other.empty();
      for (Body* inner : {&s->init, &s->body, &s->other}) drop_unread(*inner, read);
      return s->kind == Stmt::If && had && s->body.empty() && s->other.empty();
    });
  }

  Stmt* unless(ir::Var* v, Body then) {
    Stmt* s = fn_.stmt(Stmt::If, 0, "");
    s->expr = fn_.make(ir::Expr::Unary, boolean_, "!", {fn_.ref(v)});
    s->cond_var = fn_.make_var(ir::Var::Temp, "taken", boolean_, region_);
    s->body = std::move(then);
    return s;
  }

  ir::Var* return_slot() {
    if (!fn_.return_slot) {
      fn_.return_slot = fn_.make_var(ir::Var::Local, "result", fn_.result, fn_.region);
      fn_.return_slot->optional = !fn_.result->default_constructible;
      fn_.return_slot->modified = true;
      fn_.return_slot->unset = true;
    }
    return fn_.return_slot;
  }

  /// Replaces an exit by what remains of it: setting the flags that guard the code it skips.
  void leave(Stmt* s, Body& into, bool tail) {
    const auto inlined = std::find_if(targets_.rbegin(), targets_.rend(),
                                      [](const Target& t) { return t.stmt->text == "return"; });
    if (s->kind == Stmt::Return && inlined != targets_.rend()) {  // of a body that stands in a call's place
      for (std::size_t k = inlined->flags; k < flags_.size(); ++k) set(flags_[k], into);
      for (auto t = targets_.rbegin(); t != inlined; ++t)
        if (t->stmt->kind == Stmt::Loop) set(stop(*t), into);
      return;
    }
    if (s->kind == Stmt::Return) {
      if (tail && targets_.empty()) {
        if (s->expr) into.push_back(s);
        return;
      }
      if (s->expr) {
        Stmt* a = fn_.stmt(Stmt::Assign, s->loc, s->source);
        a->text = "init";
        a->lhs = fn_.ref(return_slot());
        a->expr = s->expr;
        into.push_back(a);
      }
      for (ir::Var* f : flags_) set(f, into);
      for (Target& t : targets_)
        if (t.stmt->kind == Stmt::Loop) set(stop(t), into);
      return;
    }
    for (std::size_t i = targets_.size(); i-- > 0;) {
      Target& t = targets_[i];
      bool loop = t.stmt->kind == Stmt::Loop;
      bool mine = loop || (t.stmt->text == "continue") == (s->kind == Stmt::Continue);
      if (!mine) continue;
      for (std::size_t k = t.flags; k < flags_.size(); ++k) set(flags_[k], into);
      if (loop && s->kind == Stmt::Break) set(stop(t), into);
      return;
    }
  }

  ir::Var* stop(Target& t) {
    if (!t.stop) {
      Body declaration;
      t.stop = flag("stop", declaration, t.stmt->region->parent);
      t.stmt->init.insert(t.stmt->init.begin(), declaration.begin(), declaration.end());
    }
    return t.stop;
  }

  void loop(Stmt* s) {
    sequence(s->init, /*tail=*/false);  // a body that stands in a call's place may be there
    ir::Region* outer = region_;
    region_ = s->region;
    targets_.push_back({s, flags_.size(), nullptr});
    sequence(s->body, /*tail=*/true);
    sequence(s->other, /*tail=*/true);
    ir::Var* stop = targets_.back().stop;
    targets_.pop_back();
    if (stop) {
      ir::Expr* going = fn_.make(ir::Expr::Unary, boolean_, "!", {fn_.ref(stop)});
      s->expr = fn_.make(ir::Expr::Binary, boolean_, "&&", {going, s->expr});
      // The increment is skipped by break; that shows only if something outside the loop sees the variable.
      bool private_counter = std::all_of(s->other.begin(), s->other.end(), [&](const Stmt* inc) {
        ir::Var* v = inc->lhs ? ir::root(inc->lhs) : nullptr;
        return v && std::any_of(s->init.begin(), s->init.end(), [&](const Stmt* d) { return d->var == v; });
      });
      if (!s->other.empty() && !private_counter) {
        s->body.push_back(unless(stop, std::move(s->other)));
        s->other.clear();
      }
    }
    region_ = outer;
  }

  void nested(Stmt* s, bool tail) {
    switch (s->kind) {
      case Stmt::If:
        sequence(s->body, tail);
        sequence(s->other, tail);
        break;
      case Stmt::Block:
        sequence(s->body, tail);
        break;
      case Stmt::Loop:
        loop(s);
        break;
      case Stmt::Breakable:
        targets_.push_back({s, flags_.size(), nullptr});
        sequence(s->body, true);
        targets_.pop_back();
        s->kind = Stmt::Block;
        break;
      default:
        break;
    }
  }

  /// `tail`: nothing runs after this body inside the innermost target (or function).
  void sequence(Body& body, bool tail) {
    Body out;
    for (std::size_t i = 0; i < body.size(); ++i) {
      Stmt* s = body[i];
      Exits leaving = exits(s);
      if (s->kind == Stmt::Return || s->kind == Stmt::Break || s->kind == Stmt::Continue) {
        leave(s, out, tail);
        break;  // what follows is never reached
      }
      Body rest(body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end());
      if (!leaving.any()) {
        nested(s, tail && rest.empty());
        out.push_back(s);
        continue;
      }
      if (s->kind == Stmt::Block) {  // names are unique: its statements may stand in the enclosing body
        rest.insert(rest.begin(), s->body.begin(), s->body.end());
        body = std::move(rest);
        i = static_cast<std::size_t>(-1);
        continue;
      }
      if (s->kind == Stmt::If && (always_leaves(s->body) || always_leaves(s->other))) {
        if (!always_leaves(s->body))
          s->body.insert(s->body.end(), rest.begin(), rest.end());
        else if (!always_leaves(s->other))
          s->other.insert(s->other.end(), rest.begin(), rest.end());
        nested(s, tail);
        out.push_back(s);
        break;
      }
      bool inner_return = leaving.returns && (s->kind == Stmt::Loop || s->kind == Stmt::Breakable);
      if (rest.empty() && tail && !inner_return) {
        nested(s, tail);
        out.push_back(s);
        break;
      }
      ir::Var* left = flag("left", out, region_);
      flags_.push_back(left);
      nested(s, false);
      flags_.pop_back();
      out.push_back(s);
      sequence(rest, tail);
      Stmt* guarded = unless(left, std::move(rest));
      if (targets_.empty() && tail && fn_.return_slot) {
        Stmt* ret = fn_.stmt(Stmt::Return, 0, "");
        ret->expr = fn_.ref(fn_.return_slot);
        if (guarded->body.empty()) {
          out.push_back(ret);
          break;
        }
        guarded->other.push_back(ret);
      }
      if (!guarded->body.empty() || !guarded->other.empty()) out.push_back(guarded);
      break;
    }
    body = std::move(out);
  }

  ir::Function& fn_;
  const ir::Type* boolean_;
  ir::Region* region_;
  std::vector<Target> targets_;
  std::vector<ir::Var*> flags_;
  std::set<const ir::Var*> made_;
};

}  // namespace

void structure(ir::Function& fn, const ir::Type* boolean) {
  Structurer(fn, boolean).run();
  if (fn.return_slot) {
    Stmt* d = fn.stmt(Stmt::Decl, fn.loc, "");
    d->var = fn.return_slot;
    fn.body.insert(fn.body.begin(), d);
  }
  if (fn.constructed) {
    Stmt* s = fn.stmt(Stmt::Return, fn.loc, "");
    s->expr = fn.ref(fn.constructed);
    fn.body.push_back(s);
  }
}

}  // namespace clad
