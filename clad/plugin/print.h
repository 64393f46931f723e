// Generated text: expressions with the parentheses their precedence asks for, lines with the place they come
// from.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ir.h"

namespace clad {

/// Lines of generated C++ and, for each, where in the user's source it comes from.
class Text {
 public:
  void line(const std::string& text, ir::Loc loc) { lines_.push_back({text, loc}); }
  void append(const Text& other) { lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end()); }
  bool empty() const { return lines_.empty(); }
  /// The indented text; `locations` gets one entry per line.
  std::string str(std::vector<ir::Loc>& locations) const;

 private:
  struct Line {
    std::string text;
    ir::Loc loc;
  };
  std::vector<Line> lines_;
};

/// How a variable is written where generated code uses it.
std::string spell(const ir::Var* v);
/// The variable itself, not the object in it, where it is a clad::slot or clad::storage.
std::string spell_holder(const ir::Var* v);
/// The declared type of a variable kept in a record.
std::string member_type(const ir::Var* v);
std::string print(const ir::Expr* e);
/// As the first of a sum, or what is compared.
std::string print_term(const ir::Expr* e);
/// As a call argument: implicit arithmetic conversions are written out, so that overload resolution sees the
/// same types.
std::string print_argument(const ir::Expr* e);
/// `name` declared with type `type` (arrays need a helper).
std::string declare(const ir::Type* type, const std::string& name);
/// The statement with which what `place` names becomes `value`.
std::string become(const ir::Type* type, const std::string& place, const std::string& value);
/// `name` declared with type `type` as a zero, whatever the class starts its objects with.
std::string declare_zero(const ir::Type* type, const std::string& name);
/// A zero as an argument.
std::string zero_value(const ir::Type* type);
/// The declaration of a reference or pointer that names `v->path`.
std::string declare_alias(const ir::Var* v);
/// A line of code and, unless it would not fit on it, where it comes from.
std::string with_comment(std::string text, const std::string& comment);
/// The type of an adjoint pointer: the pointee without const.
std::string adjoint_pointer_type(const ir::Type* type);

}  // namespace clad
