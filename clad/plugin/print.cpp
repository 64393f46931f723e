#include "print.h"

#include <map>

namespace clad {
namespace {

using ir::Expr;

int precedence(const Expr* e) {
  switch (e->kind) {
    case Expr::Conditional:
      return 1;
    case Expr::Binary: {
      static const std::map<std::string, int> table = {
          {",", 20}, {"=", 1},  {"+=", 1}, {"-=", 1},  {"*=", 1},  {"/=", 1},  {"||", 2},
          {"&&", 3}, {"|", 4},  {"^", 5},  {"&", 6},   {"==", 7},  {"!=", 7},  {"<", 8},
          {">", 8},  {"<=", 8}, {">=", 8}, {"<=>", 9}, {"<<", 10}, {">>", 10}, {"+", 11},
          {"-", 11}, {"*", 12}, {"/", 12}, {"%", 12}};
      auto it = table.find(e->text);
      return it == table.end() ? 1 : it->second;
    }
    case Expr::Unary:
    case Expr::Deref:
    case Expr::AddressOf:
      return 14;
    case Expr::Cast:
      return e->explicit_cast ? 15 : precedence(e->args[0]);
    case Expr::Raw:
      return 0;
    case Expr::Literal:
      return !e->text.empty() && e->text[0] == '-' ? 14 : 20;
    default:
      return 20;
  }
}

std::string at_least(const Expr* e, int level) {
  std::string text = print(e);
  bool atom_call = e->kind == Expr::Raw && e->args.empty() && text.find(' ') == std::string::npos;
  return precedence(e) < level && !atom_call ? "(" + text + ")" : text;
}

std::string list(const std::vector<Expr*>& args, std::size_t from, bool arguments) {
  std::string out;
  for (std::size_t i = from; i < args.size(); ++i) {
    if (i > from) out += ", ";
    out += arguments ? print_argument(args[i]) : print(args[i]);
  }
  return out;
}

/// Whether this is a member of an adjoint that points to constants, through which what is theirs is written.
bool leads_to_constants(const Expr* e) {
  if (e->type->kind != ir::Type::Pointer || !e->type->differentiable || !e->type->name.starts_with("const "))
    return false;
  const ir::Var* root = ir::root(e);
  return root && root->kind == ir::Var::Adjoint;
}

std::string member_of(const Expr* base) {
  if (base->kind == Expr::Deref) return at_least(base->args[0], 20) + "->";
  return at_least(base, 20) + ".";
}

}  // namespace

std::string spell(const ir::Var* v) {
  if (v->kind == ir::Var::Adjoint) return v->maybe ? "(*" + v->name + ")" : v->name;
  if (!v->global.empty()) return v->global;
  bool kept = !v->local_now && v->needed && v->region && v->region->kept && v->kind != ir::Var::Alias &&
              v->kind != ir::Var::Param;
  std::string name = kept ? v->region->record + "." + v->name : v->name;
  if (v->optional || v->raw || (v->by_pointer && kept)) return "(*" + name + ")";
  return name;
}

std::string spell_holder(const ir::Var* v) {
  return (v->needed && v->region && v->region->kept ? v->region->record + "." : "") + v->name;
}

std::string member_type(const ir::Var* v) {
  if (v->by_pointer) return (v->names ? "" : "const ") + v->type->name + "*";
  if (v->raw) return "clad::storage<" + v->type->name + ">";
  if (v->optional) return "clad::slot<" + v->type->name + ">";
  return v->type->name;
}

std::string declare(const ir::Type* type, const std::string& name) {
  if (type->kind == ir::Type::Array || type->name.find("(*)") != std::string::npos)
    return "std::type_identity_t<" + type->name + "> " + name;
  return type->name + " " + name;
}

std::string become(const ir::Type* type, const std::string& place, const std::string& value) {
  return type->own_assignment ? "clad::remake(" + place + ", " + value + ");" : place + " = " + value + ";";
}

std::string declare_zero(const ir::Type* type, const std::string& name) {
  return declare(type, name) + "{};" + (type->zero_by_value_init ? "" : " clad::set_zero(" + name + ");");
}

std::string zero_value(const ir::Type* type) {
  const bool plain = type->zero_by_value_init || !type->is_class();
  return plain ? "{}" : "clad::zero_of<" + type->name + ">()";
}

std::string adjoint_pointer_type(const ir::Type* type) {
  if (type->kind == ir::Type::Pointer && type->element) return adjoint_pointer_type(type->element) + "*";
  if (type->kind == ir::Type::Array) return "std::type_identity_t<" + type->name + ">";
  return type->name;
}

std::string with_comment(std::string text, const std::string& comment) {
  if (comment.empty() || comment.find('\n') != std::string::npos || comment.back() == '\\') return text;
  return text + "  // " + comment;
}

std::string print_term(const Expr* e) { return at_least(e, 11); }

std::string print(const Expr* e) {
  switch (e->kind) {
    case Expr::Literal:
    case Expr::Global:
      return e->text;
    case Expr::VarRef:
      return spell(e->var);
    case Expr::Member:
      if (e->text.find("::") != std::string::npos) return e->text + "(" + print(e->args[0]) + ")";
      return ir::names_const_member(e) || leads_to_constants(e)
                 ? "clad::as_mutable(" + member_of(e->args[0]) + e->text + ")"
                 : member_of(e->args[0]) + e->text;
    case Expr::Deref:
      return "*" + at_least(e->args[0], 14);
    case Expr::Index: {
      std::string base = at_least(e->args[0], 20);
      // Programs take members that follow one another for an array. Clang takes (&v.x)[i] for nothing but
      // v.x.
      if (e->args[0]->kind == Expr::AddressOf && e->args[0]->args[0]->kind == Expr::Member)
        base = "(+" + base.substr(1);
      if (e->args[0]->type->kind == ir::Type::InitializerList) base += ".begin()";
      return base + "[" + print(e->args[1]) + "]";
    }
    case Expr::AddressOf:
      if (e->args[0]->kind == Expr::VarRef && e->args[0]->var->kind != ir::Var::Adjoint &&
          e->args[0]->var->maybe)
        return spell_holder(e->args[0]->var) + ".get()";
      return "&" + at_least(e->args[0], 14);
    case Expr::Unary: {
      std::string inner = at_least(e->args[0], 14);
      bool glue = !inner.empty() && inner[0] == e->text[0] && (inner[0] == '-' || inner[0] == '+');
      return e->text + (glue ? "(" + inner + ")" : inner);
    }
    case Expr::Binary: {
      int level = precedence(e);
      bool arguments = e->type && e->type->is_class();
      auto side = [&](const Expr* x, int l) {
        std::string text = at_least(x, l);
        return arguments && x->kind == Expr::Cast && !x->explicit_cast ? print_argument(x) : text;
      };
      if (e->text == ",") return "(" + side(e->args[0], 1) + ", " + side(e->args[1], 1) + ")";
      if (level == 1) return at_least(e->args[0], 2) + " " + e->text + " " + at_least(e->args[1], 1);
      return side(e->args[0], level) + " " + e->text + " " + side(e->args[1], level + 1);
    }
    case Expr::Conditional:
      return at_least(e->args[0], 2) + " ? " + at_least(e->args[1], 1) + " : " + at_least(e->args[2], 1);
    case Expr::Cast:
      if (!e->explicit_cast) return print(e->args[0]);
      if (e->text == "clad::as_mutable") return e->text + "(" + print(e->args[0]) + ")";
      if (e->to_reference && e->text.back() == '&')
        return "clad::base<" + e->text.substr(0, e->text.size() - 1) + ">(" + print(e->args[0]) + ")";
      return "static_cast<" + e->text + ">(" + print(e->args[0]) + ")";
    case Expr::Call:
      return e->text + "(" + list(e->args, 0, true) + ")";
    case Expr::Method:
      if (const Expr* owner = e->args[0];
          e->text == "get" && owner->kind == Expr::Member && leads_to_constants(owner))
        return "clad::as_mutable(" + member_of(owner->args[0]) + owner->text + ".get())";
      return member_of(e->args[0]) + e->text + "(" + list(e->args, 1, true) + ")";
    case Expr::Construct: {
      if (e->type->kind == ir::Type::Array) return "{}";
      if (e->type->kind == ir::Type::Scalar || e->type->kind == ir::Type::Real ||
          e->type->kind == ir::Type::Pointer)
        return e->args.empty() ? (e->type->kind == ir::Type::Pointer ? "nullptr" : "0") : print(e->args[0]);
      return e->type->name + (e->braces || e->args.empty() ? "{" + list(e->args, 0, false) + "}"
                                                           : "(" + list(e->args, 0, true) + ")");
    }
    case Expr::Parts:  // refused before (Frontend::check_parts)
      break;
    case Expr::InitList: {
      bool typed = e->type->is_class() && e->type->kind != ir::Type::InitializerList;
      // Elements may narrow in ways the user's initializer was allowed to (constants): write the conversion
      // out.
      std::string inner;
      for (const Expr* a : e->args) {
        if (!inner.empty()) inner += ", ";
        inner += print_argument(a);
      }
      return (typed ? e->type->name : "") + "{" + inner + "}";
    }
    case Expr::Raw: {
      std::string out;
      std::size_t next = 0;
      for (char c : e->text) {
        if (c == '\1')
          out += at_least(e->args[next++], 20);
        else
          out += c;
      }
      return out;
    }
  }
  return "";
}

std::string print_argument(const Expr* e) {
  if (e->kind == Expr::Cast && !e->explicit_cast && !e->text.empty())
    return "static_cast<" + e->text + ">(" + print(e->args[0]) + ")";
  return at_least(e, 1);
}

std::string declare_alias(const ir::Var* v) {
  const bool pointer = v->type->kind == ir::Type::Pointer;
  std::string type = pointer ? v->type->name : (v->is_const ? "const " : "") + v->type->name + "&";
  if (pointer && type.find("(*)") != std::string::npos) type = "auto*";
  if (!pointer && v->type->kind == ir::Type::Array) type = v->is_const ? "const auto&" : "auto&";
  // What a call returned a reference to is kept as constant, and may be none.
  const ir::Var* kept = v->is_const || pointer ? nullptr : ir::root(v->path);
  const bool unconst = kept && kept->by_pointer && !kept->names;
  const std::string path = print(v->path);
  return type + " " + v->name + " = " + (unconst ? "clad::as_mutable(" + path + ")" : path) + ";";
}

std::string Text::str(std::vector<ir::Loc>& locations) const {
  std::string out;
  int depth = 0;
  for (const Line& l : lines_) {
    const bool of_namespace = l.text == "namespace {" || l.text == "}  // namespace";  // not indented
    if (!l.text.empty() && l.text[0] == '}' && !of_namespace) --depth;
    if (!l.text.empty()) out += std::string(static_cast<std::size_t>(2 * depth), ' ') + l.text;
    out += "\n";
    locations.push_back(l.loc);
    if (l.text.empty() || of_namespace) continue;
    std::string code = l.text.substr(0, l.text.find("  // "));
    while (!code.empty() && code.back() == ' ') code.pop_back();
    if (!code.empty() && code.back() == '{') ++depth;
  }
  return out;
}

}  // namespace clad
