#include "ir.h"

#include <algorithm>
#include <array>

namespace clad::ir {
namespace {
// Keywords that names made from the user's could be, and names that the generated code itself uses
// unqualified.
constexpr std::array kReserved = {
    "auto",   "bool",  "break",   "case",     "char",     "class",  "const", "delete",   "do",
    "double", "else",  "enum",    "float",    "for",      "if",     "int",   "long",     "new",
    "return", "short", "sizeof",  "static",   "struct",   "switch", "this",  "void",     "while",
    "std",    "clad",  "default", "operator", "template", "union",  "using", "namespace"};
}  // namespace

std::string Function::unique(std::string_view base) {
  std::string name(base);
  auto unusable = [&] {
    return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() ||
           (names_type && names_type(name)) || !names.insert(name).second;
  };
  if (!unusable()) return name;
  int& n = numbers[std::string(base)];  // those before it have been taken
  do name = std::string(base) + "_" + std::to_string(++n);
  while (unusable());
  return name;
}

Var* Function::make_var(Var::Kind kind, std::string_view name, const Type* type, Region* in) {
  auto& v = vars.emplace_back(std::make_unique<Var>());
  v->kind = kind;
  v->name = unique(name);
  v->type = type;
  v->region = in;
  v->adjoint = unique("d_" + v->name);
  if (in && (kind == Var::Local || kind == Var::Temp || kind == Var::Saved)) in->vars.push_back(v.get());
  return v.get();
}

Expr* Function::make(Expr::Kind kind, const Type* type, std::string_view text,
                     std::initializer_list<Expr*> args) {
  auto& e = exprs.emplace_back(std::make_unique<Expr>());
  e->kind = kind;
  e->type = type;
  e->text = text;
  e->args.assign(args);
  return e.get();
}

Expr* Function::ref(Var* v) {
  Expr* e = make(Expr::VarRef, v->type);
  e->var = v;
  return e;
}

Expr* Function::mirror(const Expr* e, const std::function<Expr*(const Expr*)>& part) {
  Expr* copy = exprs.emplace_back(std::make_unique<Expr>(*e)).get();
  if (e->kind == Expr::Conditional) {
    for (std::size_t i : {1, 2}) copy->args[i] = part(e->args[i]);
    return copy;
  }
  if (e->args.empty()) return copy;  // nullptr
  const Type::Kind first = e->args[0]->type->kind;
  const bool second = e->kind == Expr::Binary && first != Type::Pointer && first != Type::Array;
  copy->args[second] = part(e->args[second]);
  return copy;
}

Expr* Function::cast(const Type* type, std::string_view name, Expr* e) {
  Expr* made = make(Expr::Cast, type, name, {e});
  made->explicit_cast = true;
  return made;
}

Expr* Function::as_mutable(Expr* e) {
  Expr* made = cast(e->type, "clad::as_mutable", e);
  made->to_reference = is_path(e);
  return made;
}

Stmt* Function::stmt(Stmt::Kind kind, Loc at, const std::string& source) {
  auto& s = stmts.emplace_back(std::make_unique<Stmt>());
  s->kind = kind;
  s->loc = at;
  s->source = source;
  return s.get();
}

Region* Function::make_region(Region* parent, std::string_view record, std::string_view type) {
  auto& r = regions.emplace_back(std::make_unique<Region>());
  r->parent = parent;
  r->record = unique(record);
  r->type = type;
  return r.get();
}

bool reads(const Expr* e, const Var* v) {
  bool found = false;
  each_var(e, [&](const Var* x) { found |= x == v; });
  return found;
}

std::string no_shadow(const Type* type) {
  const Type* object = type;
  while (object->kind == Type::Array || object->kind == Type::StdArray || object->kind == Type::Vector)
    object = object->element;
  // Where a zero is made from a copy.
  const bool copied =
      object == type || object->dynamic_shape || (type->kind == Type::StdArray && !type->zero_by_value_init);
  const char* why = type->has_pointer ? "contains pointers to differentiable data"
                    : copied && !object->copyable && object->kind == Type::Record ? "cannot be copied"
                                                                                  : nullptr;
  if (!why && type->copies_differ)
    return "copies of its type '" + type->name +
           "' may differ from the object; let its constructor and assignment copy the members as they are";
  if (!why) return "";
  const bool holds_pointers = type->has_pointer && type->kind != Type::Record;
  return "its type '" + type->name + "' " + why +
         (holds_pointers ? "; keep the objects themselves in it, or indices"
                         : "; pass such an object by reference");
}

std::string not_differentiated(const Expr* e) {
  if (e->type && e->type->kind == Type::Pointer)
    return "cannot differentiate a pointer that is kept in an array or an object; keep what it points to "
           "there, "
           "or an index";
  return "cannot differentiate this expression; compute it in steps, each in a variable of its own";
}

bool names_object(const Expr* e) {
  return e->kind == Expr::Conditional ? names_object(e->args[1]) && names_object(e->args[2])
                                      : is_path(e) || e->kind == Expr::Literal || e->kind == Expr::Parts;
}

bool is_path(const Expr* e) {
  switch (e->kind) {
    case Expr::VarRef:
    case Expr::Member:
    case Expr::Index:
    case Expr::Deref:
    case Expr::Global:
      return true;
    case Expr::Method:
      return e->accessor;
    case Expr::Cast:
      return e->to_reference && is_path(e->args[0]);
    default:
      return false;
  }
}

/// Whether a class, or a base of it, has a member of that name which is marked so.
static bool has_member(const Type* object, const std::string& name, bool Field::* marked) {
  return std::any_of(object->fields.begin(), object->fields.end(), [&](const Field& f) {
    return f.name.empty() ? has_member(f.type, name, marked) : f.*marked && f.name == name;
  });
}

/// Follows an lvalue path to the variable it starts from; null at a temporary, a global, or where `stop`
/// holds.
template <class Stop>
static Var* follow(const Expr* e, Stop stop) {
  while (e) {
    if (stop(e)) return nullptr;
    switch (e->kind) {
      case Expr::VarRef:
        if (e->var->kind == Var::Alias || e->var->names) {
          e = e->var->names ? e->var->names : e->var->path;
          continue;
        }
        return e->var;
      case Expr::Member:
      case Expr::Deref:
      case Expr::Index:
      case Expr::AddressOf:
      case Expr::Cast:
        e = e->args[0];
        continue;
      case Expr::Method:
        if (!e->accessor) return nullptr;
        e = e->args[0];
        continue;
      case Expr::Binary:  // pointer arithmetic
        if (e->type && e->type->kind == Type::Pointer) {
          e = e->args[0]->type && e->args[0]->type->kind == Type::Pointer ? e->args[0] : e->args[1];
          continue;
        }
        return nullptr;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

bool names_const_member(const Expr* e) {
  return e->kind == Expr::Member && e->args[0]->type &&
         has_member(e->args[0]->type, e->text, &Field::is_const);
}

const Var* handle_in(const Expr* e) {
  bool away = false, through = false;
  for (;;) {
    switch (e->kind) {
      case Expr::VarRef:
        if (e->var->kind == Var::Alias) {
          e = e->var->path;
          continue;
        }
        // What is followed has a name, or is an index: a pointer in a variable came from a call.
        away |= through && e->var->type->kind == Type::Pointer && !e->var->type->differentiable;
        return (away || e->var->by_pointer) && e->var->kind != Var::Param && !e->var->external ? e->var
                                                                                               : nullptr;
      case Expr::Deref:
      case Expr::Index:
        if (e->args[0]->type->kind == Type::Pointer) {  // of an object's pointer nothing says where it points
          through = true;
          const bool of_object = e->args[0]->kind == Expr::Member && e->args[0]->type->element;
          away |= !e->args[0]->type->is_followed() ||
                  (of_object && e->args[0]->type->element->kind == Type::Scalar);
        }
        e = e->args[0];
        continue;
      case Expr::AddressOf:
        away = through = false;
        e = e->args[0];
        continue;
      case Expr::Member:
      case Expr::Cast:
        e = e->args[0];
        continue;
      case Expr::Method:
        if (!e->accessor && !away) return nullptr;
        e = e->args[0];
        continue;
      case Expr::Binary:
        if (!e->type || e->type->kind != Type::Pointer) return nullptr;
        e = e->args[0]->type && e->args[0]->type->kind == Type::Pointer ? e->args[0] : e->args[1];
        continue;
      default:
        return nullptr;
    }
  }
}

Var* root(const Expr* e) {
  return follow(e, [](const Expr*) { return false; });
}

bool is_global(const Expr* path) {
  const Var* r = root(path);
  return r ? !r->global.empty() : is_path(path);
}

/// The variable whose derivative an lvalue path names a part of.
static const Var* carrier(const Expr* e) {
  return follow(e, [](const Expr* m) {
    return (m->type && m->type->constant) || (m->kind == Expr::Member && m->args[0]->type &&
                                              has_member(m->args[0]->type, m->text, &Field::constant));
  });
}

bool is_outside(const Expr* e) {
  while (e) {
    switch (e->kind) {
      case Expr::VarRef:
        if (e->var->kind != Var::Alias) return e->var->external || e->var->type->kind == Type::Pointer;
        e = e->var->path;
        continue;
      case Expr::Member:
        if (e->type->kind == Type::Pointer) return true;
        e = e->args[0];
        continue;
      case Expr::Binary:
        e = e->args[0]->type->kind == Type::Scalar ? e->args[1] : e->args[0];
        continue;
      default:
        e = e->args.empty() ? nullptr : e->args[0];
        continue;
    }
  }
  return false;
}

bool active(const Expr* e) {
  if (!e || !e->type || !e->type->differentiable) return false;
  switch (e->kind) {
    case Expr::VarRef:
      return e->var->kind == Var::Alias ? active(e->var->path) : e->var->active;
    case Expr::Member:
    case Expr::Deref:
    case Expr::Index:
    case Expr::AddressOf: {
      const Var* v = carrier(e);
      return v && v->active;
    }
    case Expr::Method: {
      const Var* v = e->accessor ? carrier(e) : nullptr;
      return v && v->active;
    }
    case Expr::Literal:
    case Expr::Global:
    case Expr::Call:
    case Expr::Raw:
      return false;
    case Expr::Conditional:
      return active(e->args[1]) || active(e->args[2]);
    case Expr::Cast:
      if (const Var* v = e->to_reference ? carrier(e) : nullptr) return v->active;  // its class may have none
      return active(e->args[0]);
    default:
      return std::any_of(e->args.begin(), e->args.end(), [](const Expr* a) { return active(a); });
  }
}

Tangent tangent_kind(const Expr* e, bool active) {
  if (!active) return Tangent::None;
  const Var* r = e->type->kind == Type::Pointer ? root(e) : nullptr;
  if (!r || !r->unbounded) return Tangent::Full;
  return r->growing ? Tangent::Growing : Tangent::OneHot;
}

bool is_atomic(const Expr* e) {
  switch (e->kind) {
    case Expr::Literal:
    case Expr::VarRef:
    case Expr::Global:
      return true;
    case Expr::Member:
      return is_atomic(e->args[0]);
    case Expr::Index:
      return is_atomic(e->args[0]) && is_atomic(e->args[1]);
    case Expr::Deref:
      return is_atomic(e->args[0]);
    default:
      return false;
  }
}

bool alike(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a->kind == Expr::Parts) return false;  // another object, even of the same members
  return a->kind == b->kind && a->text == b->text && a->var == b->var && a->args.size() == b->args.size() &&
         std::equal(a->args.begin(), a->args.end(), b->args.begin(), alike);
}

bool same(const Expr* a, const Expr* b) {
  if (a->kind != b->kind || a->text != b->text || a->var != b->var || a->type != b->type) return false;
  if (!is_atomic(a) || a->args.size() != b->args.size()) return false;
  for (std::size_t i = 0; i < a->args.size(); ++i)
    if (!same(a->args[i], b->args[i])) return false;
  return true;
}

Expr* by_value(Function& fn, const Stmt* s, Expr* d) {
  const CallInfo& c = *s->call;
  const auto is = [&](const char* name) {
    return c.reverse_name == std::string("clad::builtin_derivatives::") + name + "_pullback";
  };
  const bool exp = is("exp"), sqrt = is("sqrt"), tanh = is("tanh");
  if (!s->var || s->var->type->kind != Type::Real || c.args.size() != 1 || !(exp || sqrt || tanh))
    return nullptr;
  const Type* t = s->var->type;
  const auto number = [&](const char* text) { return fn.make(Expr::Literal, t, text); };
  const auto binary = [&](const char* op, Expr* a, Expr* b) {
    return fn.make(Expr::Binary, a->type, op, {a, b});
  };
  Expr* y = fn.ref(s->var);
  if (exp) return binary("*", d, y);
  if (sqrt) return binary("/", d, binary("*", number("2"), y));
  return binary("*", d, binary("-", number("1"), binary("*", y, y)));
}

}  // namespace clad::ir
