// What a call changes, and what of it is kept: objects, members of them, and what pointers lead into.
#include <algorithm>
#include <set>

#include "effects.h"
#include "exclusive.h"
#include "reverse.h"

namespace clad {

using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Var;

/// Whether changing an object of the type changes nothing but the object: neither it nor a part of it refers
/// to anything.
static bool keeps_to_itself(const Type* t, std::set<const Type*>& seen) {
  if (!seen.insert(t).second) return true;
  if (t->has_pointer || t->reaches_state) return false;
  switch (t->kind) {
    case Type::Pointer:
    case Type::InitializerList:
    case Type::Void:  // a reference
    case Type::Closure:
      return false;
    case Type::Other: {
      static const char* const values[] = {"map<",    "set<",     "deque<",        "list<",  "queue<",
                                           "stack<",  "_engine<", "_distribution", "bitset", "string<",
                                           "bitset<", "vector<",  "unordered_"};
      static const char* const others[] = {"*",    "&",    "function",  "_ptr",
                                           "view", "span", "reference", "iterator"};
      const auto named = [&](const char* word) { return t->name.find(word) != std::string::npos; };
      return t->name.starts_with("std::") && std::any_of(std::begin(values), std::end(values), named) &&
             std::none_of(std::begin(others), std::end(others), named);
    }
    default:
      break;
  }
  if (t->element && !keeps_to_itself(t->element, seen)) return false;
  return std::all_of(t->fields.begin(), t->fields.end(),
                     [&](const ir::Field& f) { return keeps_to_itself(f.type, seen); });
}

/// The member of a variable that an argument is, or is an element of; the variable itself where more than the
/// member may change.
static const Expr* member_given(const Expr* argument) {
  const Expr* place = argument;
  for (const Expr* e = argument; e->kind != Expr::VarRef;) {
    if ((e->kind != Expr::Member && e->kind != Expr::Index) || e->args.empty()) return nullptr;
    if (e->kind == Expr::Index) place = e->args[0];
    e = e->args[0];
    if (e->type->kind == Type::Pointer) return nullptr;
  }
  std::set<const Type*> seen;
  return keeps_to_itself(place->type, seen) && place->type->copyable ? place : nullptr;
}

static bool mentions(const Expr* e, const Var* v) {
  return (e->kind == Expr::VarRef && e->var == v) ||
         std::any_of(e->args.begin(), e->args.end(), [v](const Expr* a) { return mentions(a, v); });
}

static bool is_within(const Expr* part, const Expr* place) {
  for (; part; part = part->args.empty() ? nullptr : part->args[0])
    if (ir::alike(part, place)) return true;
  return false;
}

static bool holds_opaque(const Type* t, std::set<const Type*>& seen) {
  if (!seen.insert(t).second || t->kind == Type::Pointer) return false;
  return t->kind == Type::Opaque || (t->element && holds_opaque(t->element, seen)) ||
         std::any_of(t->fields.begin(), t->fields.end(),
                     [&](const ir::Field& f) { return holds_opaque(f.type, seen); });
}

static bool can_be_kept(const Expr* path) {
  std::set<const Type*> seen;
  return ir::is_path(path) && ir::root(path) && path->type->copyable && keeps_to_itself(path->type, seen);
}

/// What a statement may change of a variable that it is given to: of an object, where it is given members,
/// those members; of one that holds pointers, the objects that it is given behind them.
void ReverseTransform::save_changed(const Stmt* s, Var* v, List& out) {
  const Expr* primal = s->call ? s->call->primal : s->expr;
  bool itself = false, behind = false;
  if (primal && !s->call)  // which no callee puts back
    for (const Expr* a : primal->args) {
      const bool leads = ir::is_path(a) && ir::root(a) == v && ir::leads_through_pointer(a);
      const bool global = a->kind == Expr::VarRef && !v->global.empty();  // by reference, it may be
      itself |= (!leads || global) && mentions(a, v);
      behind |= leads;
      const bool puts_back =
          leads && (a->type->is_class() ? !a->type->is_random : a->type->kind == Type::Scalar);
      if (puts_back && !ir::handle_in(a) && can_be_kept(a)) save(s, a, out);
    }
  if (behind && !itself) return;
  const bool pointer = v->type->kind == Type::Pointer && !v->global.empty() && !v->type->differentiable;
  if (!(v->type->is_value() || pointer) || !v->type->copyable || v->type->is_random) return;
  std::vector<const Expr*> members;
  bool all = !primal || !v->global.empty() || !v->type->is_class();
  if (primal)
    for (const Expr* a : primal->args) {
      if (all || !mentions(a, v) || (!ir::is_path(a) && !a->type->is_class())) continue;
      const Expr* member = ir::root(a) == v ? member_given(a) : nullptr;
      if (!member) {
        all = true;
      } else if (std::none_of(members.begin(), members.end(),
                              [&](const Expr* m) { return is_within(member, m); })) {
        std::erase_if(members, [&](const Expr* m) { return is_within(m, member); });
        members.push_back(member);
      }
    }
  if (all) members.clear();
  if (members.empty()) members.push_back(fn_.ref(v));
  for (const Expr* member : members) {
    if (member->type->is_random) continue;
    save(s, member, out);
    std::set<const Type*> seen;
    if (holds_opaque(member->type, seen)) save(s, member, out, /*contents=*/true);
  }
}

namespace {

bool find_pointed(const Expr* e, std::vector<const Expr*>& out);

/// The object in whose memory an element lies: all that a pointer to the element may reach.
bool find_holder(const Expr* path, std::vector<const Expr*>& out) {
  const Expr* whole = path;
  bool inside = true;  // of what is one piece with the element
  for (const Expr* e = path; inside;) {
    // A std::array stands for itself in a vector, or behind a pointer.
    const bool apart = e != path && e == whole && e->type->kind == Type::StdArray;
    switch (e->kind) {
      case Expr::VarRef:
        if (e->var->kind == Var::Alias && e->var->path)
          return e->type->kind == Type::Pointer ? find_pointed(e->var->path, out)
                                                : find_holder(e->var->path, out);
        whole = e;
        inside = false;
        break;
      case Expr::Index: {
        const Type* of = e->args[0]->type;
        if (apart && (of->kind == Type::Vector || of->kind == Type::Pointer)) {
          inside = false;
          break;
        }
        if (of->kind == Type::Pointer) return find_pointed(e->args[0], out);
        whole = e->args[0];
        inside = of->kind == Type::Array || of->kind == Type::StdArray;
        e = e->args[0];
        break;
      }
      case Expr::Deref:
        if (!apart) return find_pointed(e->args[0], out);
        inside = false;
        break;
      case Expr::Member: {  // an array stands for itself; of a number, its neighbours are reached too
        if (e->args[0]->type->kind == Type::Pointer) return find_pointed(e->args[0], out);
        const bool number = e->type->kind == Type::Real || e->type->kind == Type::Scalar;
        whole = number && e == path ? e->args[0] : e;
        inside = false;
        break;
      }
      case Expr::Method:
        if (!e->accessor || e->args.empty()) return false;
        inside = !(apart && e->args[0]->type->kind == Type::Vector);
        if (inside) e = whole = e->args[0];
        inside &= e->type->kind == Type::StdArray;
        break;
      case Expr::Cast:
        e = e->args[0];
        break;
      default:
        return false;
    }
  }
  if (!can_be_kept(whole)) return false;
  if (std::none_of(out.begin(), out.end(), [&](const Expr* o) { return ir::alike(o, whole); }))
    out.push_back(whole);
  return true;
}

/// The objects that a pointer, or an array that is passed as one, leads into; false where that is not known.
bool find_pointed(const Expr* e, std::vector<const Expr*>& out) {
  switch (e->kind) {
    case Expr::Conditional:
      return find_pointed(e->args[1], out) && find_pointed(e->args[2], out);
    case Expr::AddressOf:
      return find_holder(e->args[0], out);
    case Expr::Cast:
      return find_pointed(e->args[0], out);
    case Expr::Binary: {
      const Type::Kind first = e->args[0]->type->kind;
      return find_pointed(e->args[first != Type::Pointer && first != Type::Array], out);
    }
    case Expr::Method: {
      const bool holds = e->accessor && !e->args.empty() &&
                         (e->args[0]->type->kind == Type::Vector || e->args[0]->type->kind == Type::StdArray);
      return holds && find_holder(e, out);
    }
    case Expr::VarRef:
      if (e->type->kind == Type::Pointer)
        return e->var->kind == Var::Alias && e->var->path && find_pointed(e->var->path, out);
      return find_holder(e, out);
    default:
      return e->type->kind == Type::Array && find_holder(e, out);
  }
}

}  // namespace

/// Whether the pullback never looks at a pointer that it is handed.
bool ReverseTransform::is_ignored_pointer(const ir::CallInfo& c, std::size_t i) {
  const Type* t = c.args[i].expr->type;
  return t->kind == Type::Pointer && t->name.ends_with("*") && i < c.unused.size() && c.unused[i] &&
         !c.args[i].object;
}

/// Keeps an argument that a pullback's function changes as it is before the call, an object or what a pointer
/// leads into.
void ReverseTransform::save_argument(const Stmt* s, std::size_t i, bool pointers, List& out) {
  const ir::CallInfo& c = *s->call;
  const ir::CallInfo::Arg& a = c.args[i];
  const Type* t = a.expr->type;
  if (!a.mutable_ || pointers != (t->kind == Type::Pointer)) return;
  if (!pointers) {
    if (t->is_value() && t->copyable && ir::is_path(a.expr)) save(s, a.expr, out);
  } else if (c.reverse_name.rfind("clad::builtin_derivatives::", 0) != 0) {
    save_pointed(s, a.expr, out);
  }
}

/// Whether the object is one that an index of an iteration of the parallel loop selects.
bool ReverseTransform::is_of_iteration(const Expr* object) const {
  const auto varies = [&](const Expr* index) {
    bool found = false;
    ir::each_var(index, [&](const Var* v) {
      found |= parallel_ && (v == parallel_->count.counter || inside(v->region, parallel_));
    });
    return found;
  };
  for (const Expr* e = object; e && !e->args.empty(); e = e->args[0])
    if ((e->kind == Expr::Index || e->kind == Expr::Method) && e->args.size() > 1 && varies(e->args[1]))
      return true;
  return false;
}

/// Keeps what a pointer leads into. Where that is not known, or shared with other iterations of a parallel
/// loop, what the call left there stays, and nothing may read what was there before.
void ReverseTransform::save_pointed(const Stmt* s, const Expr* pointer, List& out) {
  std::vector<const Expr*> objects;
  const bool known = find_pointed(pointer, objects);
  const bool shared = std::any_of(objects.begin(), objects.end(),
                                  [&](const Expr* o) { return is_shared(o) && !is_of_iteration(o); });
  if (known && !shared) {
    for (const Expr* object : objects) save(s, object, out);
    return;
  }
  // Offsets from one pointer, and the pointers of one class, lead to memory of their own, as far as is known.
  if (pointer->kind != Expr::VarRef) return;
  const Var* root = pointer->var;
  Var*& lost = lost_[root];
  if (!lost) lost = fn_.make_var(Var::Param, root->name + "_before", root->type, nullptr);
  Reverse r = line({});
  r.loses = lost;
  r.loc = s->loc;
  out.push_back(std::move(r));
  for (std::size_t i = 0; i < fn_.params.size(); ++i)
    if (fn_.params[i].var == root) {
      fn_.leaves.resize(fn_.params.size());
      fn_.leaves[i] = true;
    }
}

/// Keeps what the reverse sweep of a callee does not put back.
void ReverseTransform::save_left(const Stmt* s, List& out) {
  const ir::CallInfo& c = *s->call;
  const ir::Function& f = *c.generated;
  for (std::size_t i = 0; i < f.leaves.size(); ++i)
    if (f.leaves[i] && c.args[i].mutable_) save_pointed(s, c.args[i].expr, out);
}

/// What a statement of the reverse sweep reads of memory that a call has changed for good.
void ReverseTransform::read_lost(const Expr* e, Live& live) const {
  if (lost_.empty() || (e->kind == Expr::Binary && e->type->kind == Type::Pointer)) return;
  if (e->kind == Expr::VarRef)
    if (auto it = lost_.find(e->var); it != lost_.end()) live.insert(it->second);
  if (e->kind == Expr::VarRef && e->var->kind == Var::Alias && e->var->path) read_lost(e->var->path, live);
  for (const Expr* a : e->args) read_lost(a, live);
}

void ReverseTransform::report_lost() {
  for (const auto& [v, at] : lost_read_) {
    auto it = std::find_if(lost_.begin(), lost_.end(), [v = v](const auto& l) { return l.second == v; });
    diagnose_.error(at,
                    "cannot differentiate this call: it changes what '" + it->first->name +
                        "' points to, whose earlier values the backward pass reads, and how much that is, is "
                        "not known; pass an array, a std::vector or a reference, or give it a "
                        "'_reverse_forw' that keeps them");
  }
}

}  // namespace clad
