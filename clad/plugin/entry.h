// Helpers of the functions that write entries.
#pragma once

#include <string>
#include <vector>

#include "module.h"

namespace clad {

inline void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

inline std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) append(out, item);
  return out;
}

/// A type as a template argument, pointers to arrays included.
inline std::string as_template_argument(const std::string& type) {
  return type.find('[') != std::string::npos ? "std::type_identity_t<" + type + ">" : type;
}

/// How many parameters lie before those that the user names: a lambda's captures, a method's object.
std::size_t hidden_parameters(const Request& request, const Mask& mask);
/// Whether execute() is given adjoints or tangents of whole parameters.
bool takes_adjoints(const Request& request);

ir::Tangents full(const Mask& mask);
/// The tangents of several steps. Arrays behind a pointer have an unknown length, and so a tangent of their
/// own kind, which no later step touches.
std::vector<ir::Tangents> tangents_of(const std::vector<Module::Independent>& of,
                                      const std::vector<Mask>& steps);

/// The first `count` parameters of a function, as parameters of the function that calls it.
std::string parameter_list(const ir::Function& fn, std::size_t count);
std::vector<std::string> argument_list(const ir::Function& fn, std::size_t count);

/// The independent elements of parameter `i`, null if there are none.
const Module::Independent* of_parameter(const std::vector<Module::Independent>& of, std::size_t i);

/// Of an object of a polymorphic class, one of the class that `primal` is of.
std::string declare_zero(ir::Function& fn, TypeTable& types, const ir::Type* type, const std::string& name,
                         const std::string& primal);
/// Declares the direction of row `row` of the independent elements (empty: of the only one), and appends the
/// tangents of one step, in order of the parameters, to `arguments`.
void declare_direction(Text& text, ir::Function& fn, TypeTable& types,
                       const std::vector<Module::Independent>& of, const Mask& step, const std::string& row,
                       ir::Loc loc, std::vector<std::string>& arguments);

}  // namespace clad
