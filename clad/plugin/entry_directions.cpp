// Entries of the requests that take derivatives in all directions at once: forward mode on vectors,
// Jacobians.
#include <algorithm>

#include "entry.h"
#include "frontend.h"
#include "module.h"

using namespace clang;

namespace clad {

/// A forward derivative in `width` directions (0: in one). Parameters that change with the independent ones
/// have tangents too; those of arrays of unknown length grow.
Module::Instance* Module::in_directions(const Request& request, const FunctionDecl* definition,
                                        const std::vector<Independent>& of, std::uint64_t width,
                                        Mask& reached) {
  for (const Independent& x : of) reached[x.parameter] = true;
  for (;;) {
    ir::Tangents tangents{{}, width};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const ir::Type* type = parameter_type(definition, i, reached.size());
      const bool pointer = type && type->kind == ir::Type::Pointer;
      tangents.kinds.push_back(!reached[i] ? ir::Tangent::None
                               : pointer   ? ir::Tangent::Growing
                                           : ir::Tangent::Full);
    }
    Instance* in = instance({definition, {tangents}, false, {}}, request);
    if (!in || failed()) return nullptr;
    if (reach(request, *in, 0, reached, /*growing=*/true)) continue;
    if (failed()) return nullptr;
    roots_.push_back(in);
    return in;
  }
}

/// The type of a parameter that the user names, null of a hidden one.
const ir::Type* Module::parameter_type(const FunctionDecl* definition, std::size_t i, std::size_t params) {
  const std::size_t hidden = params - definition->getNumParams();
  return i < hidden ? nullptr
                    : types_.get(definition->getParamDecl(static_cast<unsigned>(i - hidden))->getType());
}

/// Declares the tangents that go into the derivative: unit vectors for the independent numbers, or 1 where
/// there is one direction only.
std::vector<std::string> Module::declare_tangents(Text& text, ir::Function& fn,
                                                  const std::vector<Independent>& of, std::uint64_t width,
                                                  const Mask& reached, ir::Loc loc) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) continue;
    const ir::Var* primal = fn.params[i].var;
    const ir::Type* type = primal->type;
    const ir::Type* tangent = width > 0 ? types_.directions(type, width) : type;
    const std::string unit = tangent->element ? tangent->element->name : tangent->name;
    const std::string name = fn.unique("tangent_" + primal->name);
    names.push_back(name);
    const Independent* x = of_parameter(of, i);
    const auto one = [&](const std::string& k) {
      return width > 0 ? unit + "::unit(" + std::to_string(x->offset) + k + ")" : std::string("1");
    };
    if (type->kind == ir::Type::Pointer) {
      text.line("std::deque<" + unit + "> " + name + ";", loc);
      const std::string zero =
          tangent->element->zero_by_value_init ? "" : ", " + zero_value(tangent->element);
      if (x) text.line(name + ".resize(" + std::to_string(x->first + x->count) + zero + ");", loc);
    } else if (type->kind == ir::Type::Array) {
      text.line(clad::declare_zero(tangent, name), loc);
    } else if (width > 0) {
      text.line("auto " + name + " = clad::zero_directions<" + tangent->name + ">(" + primal->name + ");",
                loc);
    } else if (type->kind != ir::Type::Real || !x) {
      text.line(declare_zero(fn, types_, type, name, primal->name), loc);
    }
    if (!x) continue;
    if (!x->member.empty()) {
      text.line(name + x->member + " = 1;", loc);
      continue;
    }
    if (type->kind == ir::Type::Real) {
      text.line((width > 0 ? "" : type->name + " ") + name + " = " + one("") + ";", loc);
      continue;
    }
    const std::string from = std::to_string(x->first);
    if (x->count == 1)
      text.line(name + "[" + from + "] = " + one("") + ";", loc);
    else
      text.line("for (std::size_t k = 0; k < " + std::to_string(x->count) + "; ++k) " + name + "[" + from +
                    " + k] = " + one(" + k") + ";",
                loc);
  }
  return names;
}

/// The call of the derivative with the tangents declared before.
std::string Module::call_text(const ir::Function& fn, const Mask& reached,
                              const std::vector<std::string>& tangents) {
  std::string arguments;
  for (std::size_t i = 0; i < reached.size(); ++i) append(arguments, fn.params[i].var->name);
  std::size_t next = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) continue;
    const bool pointer = fn.params[i].var->type->kind == ir::Type::Pointer;
    const std::string unit = tangents[next++];
    append(arguments, pointer ? "clad::growing(" + unit + ")" : unit);
  }
  return fn.name + "(" + arguments + ")";
}

/// Whether a parameter that is asked for is an array whose length only the caller knows.
static bool of_any_length(const Request& request, const FunctionDecl* definition, TypeTable& types) {
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const ir::Type* type = types.get(definition->getParamDecl(request.parameters[i])->getType());
    const bool open = type->kind == ir::Type::Pointer || type->kind == ir::Type::Vector;
    if (open && type->element->kind == ir::Type::Real && !request.ranges[i].first) return true;
  }
  return false;
}

/// Vector mode: the gradient, by one run forward. Of arrays of any length the number of directions is not
/// known; their derivatives come from the reverse mode, which writes the same numbers.
void Module::write_directions(const Request& request, const FunctionDecl* definition, const Mask& mask) {
  if (of_any_length(request, definition, types_)) {
    Request reversed = request;
    reversed.kind = Request::Gradient;
    reversed.assign = true;
    return write_gradient(reversed, definition, mask);
  }
  const auto of = independents(request, definition, mask);
  if (!of) return;
  Mask reached(mask.size());
  Instance* in = in_directions(request, definition, *of, number_of(*of), reached);
  if (!in) return;
  ir::Function& fn = in->fn;
  const ir::Loc loc = request.at.getRawEncoding();
  std::string params = parameter_list(fn, mask.size());
  Mask wanted(mask.size());
  for (const Independent& x : *of) wanted[x.parameter] = true;
  Text body, results;
  const std::string total = fn.unique("total");
  const std::vector<std::string> tangents = declare_tangents(body, fn, *of, number_of(*of), reached, loc);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const Independent* x = of_parameter(*of, i);
    const ir::Type* type = x->type;
    const std::string name = fn.unique("result_" + fn.params[i].var->name), at = std::to_string(x->offset);
    append(params,
           (type->kind == ir::Type::Pointer ? type->element->name : as_template_argument(type->name)) + "* " +
               name);
    if (type->kind == ir::Type::Real)
      results.line("*" + name + " = " + total + "[" + at + "];", loc);
    else
      results.line("for (std::size_t k = 0; k < " + std::to_string(x->count) + "; ++k) " +
                       (type->kind == ir::Type::Pointer ? name : "(*" + name + ")") + "[" +
                       std::to_string(x->first) + " + k] = " + total + "[" + at + " + k];",
                   loc);
  }
  Text text;
  text.line("static void " + request.name() + "(" + params + ") {", loc);
  text.append(body);
  text.line("const auto " + total + " = " + call_text(fn, reached, tangents) + ".pushforward;", loc);
  text.append(results);
  text.line("}", loc);
  write_code(request, {in}, text);
  const EntryArguments given = write_arguments(request, fn, wanted, request.parameters.size());
  std::string passed = joined(given.primals);
  for (const std::string& d : given.adjoints) append(passed, d);
  finish_entry(request, given, types_.nothing(), request.name() + "(" + passed + ")");
}

/// Whether it is a number, or an array of numbers, or one of those.
static bool holds_numbers(const ir::Type* type) {
  const bool array =
      type->kind == ir::Type::Array || type->kind == ir::Type::StdArray || type->kind == ir::Type::Vector;
  return type->kind == ir::Type::Real || (array && holds_numbers(type->element));
}

/// A row for each output: what the function changes through pointers and references, then what it returns.
void Module::write_jacobian(const Request& request, const FunctionDecl* definition, const Mask& mask) {
  const Instance* plain = instance({definition, {}, false, {}}, request);
  if (!plain) return;
  const ir::Type* result = types_.get(definition->getReturnType());
  const bool returns = holds_numbers(result);
  if (result->differentiable && !returns) {
    diagnose_.error(request.at, "cannot compute the Jacobian of '" + plain->fn.primal_name +
                                    "': it returns '" + result->name +
                                    "', which is no number and no array or vector of numbers");
    return;
  }
  Request narrowed = request;
  if (request.all) {  // what is only written is no input, unless there is no other
    const std::size_t hidden = mask.size() - definition->getNumParams();
    const auto carries = [&](unsigned p) {
      return parameter_type(definition, hidden + p, mask.size())->differentiable;
    };
    std::erase_if(narrowed.parameters, [&](unsigned p) { return plain->fn.changes[hidden + p]; });
    if (std::none_of(narrowed.parameters.begin(), narrowed.parameters.end(), carries))
      narrowed.parameters = request.parameters;
    narrowed.ranges.resize(narrowed.parameters.size());
  }
  const auto of = independents(narrowed, definition, mask);
  if (!of) return;
  if (number_of(*of) == 0) {
    diagnose_.error(request.at, "cannot compute the Jacobian of '" + plain->fn.primal_name +
                                    "': it takes no number that carries a derivative");
    return;
  }
  Mask reached(mask.size());
  for (std::size_t i = 0; i < mask.size(); ++i) {  // an output has its rows, be they zero
    const ir::Type* type = plain->fn.changes[i] ? parameter_type(definition, i, mask.size()) : nullptr;
    const bool pointer = type && type->kind == ir::Type::Pointer;
    reached[i] = type && (pointer ? type->element->kind == ir::Type::Real : holds_numbers(type));
  }
  Instance* in = in_directions(request, definition, *of, number_of(*of), reached);
  if (!in) return;
  ir::Function& fn = in->fn;
  const ir::Loc loc = request.at.getRawEncoding();
  std::string params = parameter_list(fn, mask.size()), number;
  for (const Independent& x : *of)
    if (number.empty()) number = x.type->element ? x.type->element->name : x.type->name;
  const std::string target = fn.unique("jacobianMatrix");
  append(params, "clad::jacobian_target<" + number + "> " + target);
  Text text;
  text.line("static void " + request.name() + "(" + params + ") {", loc);
  const std::vector<std::string> tangents = declare_tangents(text, fn, *of, number_of(*of), reached, loc);
  const std::string call = call_text(fn, reached, tangents);
  const std::string both = fn.unique("both");
  text.line((returns ? "const auto " + both + " = " : "") + call + ";", loc);
  std::size_t next = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) continue;
    const std::string& tangent = tangents[next++];
    if (plain->fn.changes[i]) text.line(target + ".add_row(" + tangent + ");", loc);
  }
  if (returns) text.line(target + ".add_row(" + both + ".pushforward);", loc);
  text.line("}", loc);
  write_code(request, {in}, text);
  const EntryArguments given = write_arguments(request, fn, Mask(mask.size()), 1);
  std::string passed = joined(given.primals);
  append(passed, "clad::matrix_argument<" + number + ">(*" + given.frame + ", \"" + fn.primal_name + "\")");
  finish_entry(request, given, types_.nothing(), request.name() + "(" + passed + ")");
}

}  // namespace clad
