// Requests that name some elements of an array where a whole adjoint or tangent of it is computed: all of it
// is the entry's own, and the caller's array has the named elements alone.
#include <algorithm>

#include "entry.h"

using namespace clang;

namespace clad {

bool takes_adjoints(const Request& request) {
  switch (request.kind) {
    case Request::Gradient:
    case Request::ValueAndGradient:
    case Request::ErrorEstimate:
    case Request::Pushforward:
    case Request::HessianVector:
      return true;
    default:
      return false;
  }
}

/// Whether a parameter has the elements that are named.
bool Module::check_range(const Request& request, const ParmVarDecl* p, const Range& range) {
  const ir::Type* type = types_.get(p->getType());
  const bool fixed = type->kind == ir::Type::Array || type->kind == ir::Type::StdArray;
  std::string why;
  if (!type->element || type->element->kind != ir::Type::Real)
    why = "is no array of numbers";
  else if (*range.last < *range.first || (fixed && *range.last >= type->extent))
    why = "has no elements " + std::to_string(*range.first) + " to " + std::to_string(*range.last);
  if (!why.empty()) diagnose_.error(request.at, "'" + p->getNameAsString() + "' " + why);
  return why.empty();
}

/// Whether the parameters whose adjoints are asked for have the elements that are named.
bool Module::check_ranges(const Request& request, const FunctionDecl* definition) {
  for (std::size_t i = 0; takes_adjoints(request) && i < request.parameters.size(); ++i)
    if (request.ranges[i].first &&
        !check_range(request, definition->getParamDecl(request.parameters[i]), request.ranges[i]))
      return false;
  return true;
}

/// How far the function reads what a pointer points to, only a run tells, that of a derivative whose tangents
/// grow: a function that returns these lengths goes to `text`, what it calls to `code`. False after an error.
bool Module::find_lengths(const Request& request, const FunctionDecl* definition, const Mask& mask,
                          std::vector<const Instance*>& code, Text& text) {
  const std::size_t hidden = hidden_parameters(request, mask);
  std::vector<Independent> of;
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const Range& range = request.ranges[i];
    if (!range.first) continue;
    const ParmVarDecl* p = definition->getParamDecl(request.parameters[i]);
    const ir::Type* type = types_.get(p->getType());
    if (type->kind == ir::Type::Pointer)
      of.push_back({hidden + request.parameters[i], type, 0, *range.first, *range.last - *range.first + 1});
  }
  if (of.empty()) return true;
  const Instance* plain = instance({definition, {}, false, {}}, request);
  if (!plain) return false;
  if (plain->fn.writes_outside) {
    diagnose_.error(request.at,
                    "cannot differentiate '" + plain->fn.primal_name + "' for some elements of what '" +
                        plain->fn.params[of.front().parameter].var->name +
                        "' points to: it is run once more to learn how many there are, and it changes what "
                        "is outside of it; name the parameter without elements, or pass an array or a "
                        "std::vector instead");
    return false;
  }
  Mask reached(mask.size());
  Instance* reading = in_directions(request, definition, of, 0, reached);
  if (!reading) return false;
  code.push_back(reading);
  const ir::Loc loc = request.at.getRawEncoding();
  text.line("static std::array<std::size_t, " + std::to_string(of.size()) + "> " + request.name() +
                "_lengths(" + parameter_list(reading->fn, mask.size()) + ") {",
            loc);
  const std::vector<std::string> names = declare_tangents(text, reading->fn, of, 0, reached, loc);
  text.line(call_text(reading->fn, reached, names) + ";", loc);
  std::string sizes;
  for (const Independent& x : of) {
    const auto before = reached.begin() + static_cast<std::ptrdiff_t>(x.parameter);
    append(sizes, names[static_cast<std::size_t>(std::count(reached.begin(), before, true))] + ".size()");
  }
  text.line("return {" + sizes + "};", loc);
  text.line("}", loc);
  return true;
}

/// The elements of a parameter that the request names, as clad::named_elements; empty if it names it whole.
std::string Module::named_elements(const Request& request, const ir::Function& fn, std::size_t parameter,
                                   std::size_t hidden, const std::string& lengths) const {
  if (!takes_adjoints(request)) return "";
  std::size_t pointers = 0;
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const Range& range = request.ranges[i];
    if (!range.first) continue;
    const std::size_t at = hidden + request.parameters[i];
    const bool pointer = fn.params[at].var->type->kind == ir::Type::Pointer;
    if (at == parameter)
      return "clad::named_elements{" + std::to_string(*range.first) + ", " +
             std::to_string(*range.last - *range.first + 1) +
             (pointer ? ", " + lengths + "[" + std::to_string(pointers) + "]" : "") + "}";
    pointers += pointer;
  }
  return "";
}

/// Declares the lengths of what the pointers point to of which elements are named; empty if there are none.
std::string Module::declare_lengths(const Request& request, ir::Function& fn, std::size_t hidden,
                                    const std::vector<std::string>& primals) {
  const bool any = takes_adjoints(request) && [&] {
    for (std::size_t i = 0; i < request.parameters.size(); ++i)
      if (request.ranges[i].first &&
          fn.params[hidden + request.parameters[i]].var->type->kind == ir::Type::Pointer)
        return true;
    return false;
  }();
  if (!any) return "";
  const std::string name = fn.unique("lengths");
  entries_.line("const auto " + name + " = " + request.name() + "_lengths(" + joined(primals) + ");",
                request.at.getRawEncoding());
  return name;
}

}  // namespace clad
