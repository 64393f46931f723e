// Entries of the requests that forward mode answers: a directional derivative, a derivative of order n, a
// Hessian.
#include <algorithm>
#include <numeric>

#include "entry.h"
#include "frontend.h"
#include "module.h"

using namespace clang;

namespace clad {
namespace {

/// The order in which a function's parameters lie before those that the user names.
std::size_t hidden_parameters(const Request& request, const Mask& mask) {
  const FunctionDecl* f = request.function;
  return mask.size() - std::min<std::size_t>(mask.size(), f->getNumParams());
}

ir::Tangents full(const Mask& mask) {
  ir::Tangents out;
  for (const bool wanted : mask) out.kinds.push_back(wanted ? ir::Tangent::Full : ir::Tangent::None);
  return out;
}

/// Arrays behind a pointer have an unknown length, and so a tangent of their own kind, which no later step
/// touches.
std::vector<ir::Tangents> tangents_of(const std::vector<Module::Independent>& of,
                                      const std::vector<Mask>& steps) {
  std::vector<ir::Tangents> out;
  for (const Mask& step : steps) {
    out.push_back(full(step));
    for (const Module::Independent& x : of)
      if (x.type->kind == ir::Type::Pointer) out.back().kinds[x.parameter] = ir::Tangent::OneHot;
  }
  return out;
}

std::string index_text(std::uint64_t i) { return std::to_string(i); }

}  // namespace

/// Declares, at the head of a function, how the user's arguments are taken: as the function's own parameters.
static std::string parameter_list(const ir::Function& fn, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) append(out, fn.params[i].type_text);
  return out;
}

static std::vector<std::string> argument_list(const ir::Function& fn, std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(fn.params[i].var->name);
  return out;
}

static std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) append(out, item);
  return out;
}

/// How many independent numbers there are.
std::uint64_t Module::number_of(const std::vector<Independent>& of) {
  return std::accumulate(of.begin(), of.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& x) { return sum + x.count; });
}

void Module::write_pushforward(const Request& request, const FunctionDecl* definition, Mask mask) {
  Instance* in = instance({definition, {full(mask)}, false, {}}, request.at);
  while (in && reach(request, *in, 0, mask)) in = instance({definition, {full(mask)}, false, {}}, request.at);
  if (!in || failed()) return;
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  write_code(request, *in, request.name(), Text());
  const EntryArguments given = write_arguments(request, fn, mask, request.name(), request.parameters.size());
  std::string arguments;
  for (const std::string& p : given.primals) append(arguments, p);
  for (std::size_t i = 0; i < given.adjoints.size(); ++i)
    append(arguments, (given.pointers[i] ? "" : "*") + given.adjoints[i]);
  finish_entry(request, given, fn.result, fn.name + "(" + arguments + ")");
}

/// The independent elements of the request: those of a parameter follow each other.
std::optional<std::vector<Module::Independent>> Module::independents(const Request& request,
                                                                     const FunctionDecl* definition,
                                                                     const Mask& mask) {
  const std::size_t hidden = hidden_parameters(request, mask);
  std::vector<Independent> out;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const ParmVarDecl* p = definition->getParamDecl(request.parameters[i]);
    const ir::Type* type = types_.get(p->getType());
    const Range& range = request.ranges[i];
    if (!type->differentiable) {
      if (request.all) continue;
      diagnose_.error(request.at, "cannot differentiate with respect to '" + p->getNameAsString() +
                                      "': its type '" + type->name + "' carries no derivative");
      return std::nullopt;
    }
    Independent independent{hidden + request.parameters[i], type, offset, 0, 1};
    const bool fixed = type->kind == ir::Type::Array || type->kind == ir::Type::StdArray;
    if (type->kind == ir::Type::Real && !range.first) {
      // one number
    } else if (range.first && type->element && type->element->kind == ir::Type::Real) {
      independent.first = *range.first;
      independent.count = *range.last - *range.first + 1;
      if (*range.last < *range.first || (fixed && *range.last >= type->extent)) {
        diagnose_.error(request.at, "'" + p->getNameAsString() + "' has no elements " +
                                        index_text(*range.first) + " to " + index_text(*range.last));
        return std::nullopt;
      }
    } else if (fixed && type->element->kind == ir::Type::Real) {
      independent.count = type->extent;
    } else {
      diagnose_.error(request.at, range.first ? "'" + p->getNameAsString() + "' is no array of numbers"
                                              : "'" + p->getNameAsString() + "' is '" + type->name +
                                                    "': name the elements to differentiate for, as in \"" +
                                                    p->getNameAsString() + "[0]\" or \"" +
                                                    p->getNameAsString() + "[0:2]\"");
      return std::nullopt;
    }
    offset += independent.count;
    out.push_back(independent);
  }
  return out;
}

/// The parameters with a tangent in each of `order` steps: the independent ones, in each step what changes
/// with them, and so the tangents of the steps before.
std::optional<std::vector<Mask>> Module::steps(const Request& request, const FunctionDecl* definition,
                                               const std::vector<Independent>& of, std::size_t params,
                                               unsigned order) {
  std::vector<Mask> out;
  for (unsigned k = 0; k < order; ++k) {
    out.emplace_back(params);
    for (const Independent& x : of) out[k][x.parameter] = true;
    const Instance* in = nullptr;
    do in = instance({definition, tangents_of(of, out), false, {}}, request.at);
    while (in && reach(request, *in, k, out[k]));
    if (!in || failed()) return std::nullopt;
    params += static_cast<std::size_t>(std::count(out[k].begin(), out[k].end(), true));
  }
  return out;
}

static std::string declare_zero(const ir::Type* type, const std::string& name, const std::string& primal) {
  if (type->kind == ir::Type::Array) return declare(type, name) + "{};";
  return "auto " + name + " = clad::zero_like(" + primal + ");";
}

/// Declares the direction of row `row` of the independent elements (empty: of the only one): the tangents of
/// one step, in order of the parameters.
static void declare_direction(Text& text, ir::Function& fn, const std::vector<Module::Independent>& of,
                              const Mask& step, const std::string& row, ir::Loc loc,
                              std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (!step[i]) continue;
    const ir::Var* primal = fn.params[i].var;
    const ir::Type* type = primal->type;
    const std::string name = fn.unique("seed_" + primal->name);
    const std::string shape = arguments[i];
    arguments.push_back(name);
    const auto x = std::find_if(of.begin(), of.end(), [&](const auto& o) { return o.parameter == i; });
    if (x == of.end()) {
      text.line(declare_zero(type, name, shape), loc);
      continue;
    }
    const bool only = row.empty();
    const std::string first = index_text(x->offset);
    const std::string here = row + " >= " + first + " && " + row + " < " + index_text(x->offset + x->count);
    const std::string at = only ? index_text(x->first) : row + " - " + first + " + " + index_text(x->first);
    if (type->kind == ir::Type::Real) {
      text.line(type->name + " " + name + " = " + (only ? "1" : row + " == " + first + " ? 1 : 0") + ";",
                loc);
    } else if (type->kind == ir::Type::Pointer) {
      text.line("clad::one_hot<" + type->element->name + "> " + name + "{" +
                    (only ? at : here + " ? " + at + " : clad::no_element") + "};",
                loc);
    } else {
      text.line(declare_zero(type, name, shape), loc);
      text.line((only ? "" : "if (" + here + ") ") + name + "[" + at + "] = 1;", loc);
    }
  }
}

void Module::write_derivative(const Request& request, const FunctionDecl* definition, const Mask& mask) {
  const auto of = independents(request, definition, mask);
  if (!of) return;
  if (number_of(*of) != 1) {
    diagnose_.error(request.at,
                    "clad::differentiate takes one independent number; name a parameter, or an "
                    "element of an array as in \"p[0]\"");
    return;
  }
  const ir::Loc loc = request.at.getRawEncoding();
  const ir::Type* result = types_.get(definition->getReturnType());
  const auto head = [&](const ir::Function& fn) {
    return "static " + result->name + " " + request.name() + "(" + parameter_list(fn, mask.size()) + ") {";
  };
  Text text;
  Instance* in = nullptr;
  if (request.order == 1) {
    Mask reached(mask.size());
    in = in_directions(request, definition, *of, 0, reached);
    if (!in) return;
    text.line(head(in->fn), loc);
    const std::vector<std::string> tangents = declare_tangents(text, in->fn, *of, 0, reached, loc);
    text.line("return " + call_text(in->fn, reached, tangents) + ".pushforward;", loc);
  } else {
    const auto steps = this->steps(request, definition, *of, mask.size(), request.order);
    if (!steps) return;
    in = instance({definition, tangents_of(*of, *steps), false, {}}, request.at);
    roots_.push_back(in);
    text.line(head(in->fn), loc);
    std::vector<std::string> arguments = argument_list(in->fn, mask.size());
    std::string part;
    for (const Mask& step : *steps) {
      declare_direction(text, in->fn, *of, step, "", loc, arguments);
      part += ".pushforward";
    }
    text.line("return " + in->fn.name + "(" + joined(arguments) + ")" + part + ";", loc);
  }
  text.line("}", loc);
  ir::Function& fn = in->fn;
  write_code(request, *in, request.name(), text);
  const EntryArguments given = write_arguments(request, fn, Mask(mask.size()), request.name(), 0);
  std::string primals;
  for (const std::string& p : given.primals) append(primals, p);
  finish_entry(request, given, result, request.name() + "(" + primals + ")");
}

/// One row of a Hessian: the gradient of the derivative in the direction of one element.
Text Module::hessian_row(const Request& request, Instance& in, const std::vector<Independent>& of,
                         const std::string& row, const std::string& matrix,
                         std::vector<std::string> arguments) {
  ir::Function& fn = in.fn;
  const ir::Loc loc = request.at.getRawEncoding();
  const std::string n = index_text(number_of(of));
  Text text, copies;
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    if (!fn.params[i].active) continue;
    const ir::Var* primal = fn.params[i].var;
    const std::string name = fn.unique("column_" + primal->name);
    const auto x = std::find_if(of.begin(), of.end(), [&](const auto& o) { return o.parameter == i; });
    const bool pointer = primal->type->kind == ir::Type::Pointer;
    if (pointer)
      text.line("std::vector<" + primal->type->element->name + "> " + name + "(" +
                    index_text(x->first + x->count) + ");",
                loc);
    else
      text.line(declare_zero(primal->type, name, arguments[i]), loc);
    arguments.push_back(pointer ? name + ".data()" : "&" + name);
    if (x == of.end()) continue;
    const std::string target = matrix + "[" + row + " * " + n + " + " + index_text(x->offset);
    if (primal->type->kind == ir::Type::Real)
      copies.line(target + "] = " + name + ";", loc);
    else
      copies.line("for (std::size_t k = 0; k < " + index_text(x->count) + "; ++k) " + target +
                      " + k] = " + name + "[" + index_text(x->first) + " + k];",
                  loc);
  }
  text.line(request.name() + "_row(" + joined(arguments) + ");", loc);
  text.append(copies);
  return text;
}

/// Row after row; of the diagonal alone, each is the second derivative in the direction of one element.
void Module::write_hessian(const Request& request, const FunctionDecl* definition, const Mask& mask) {
  const auto of = independents(request, definition, mask);
  if (!of) return;
  const std::size_t params = mask.size();
  const auto steps = this->steps(request, definition, *of, params, request.diagonal ? 2 : 1);
  if (!steps) return;
  DerivativeKey key{definition, tangents_of(*of, *steps), !request.diagonal, {}};
  if (!request.diagonal) {
    key.adjoints = steps->back();
    key.adjoints.resize(
        params + static_cast<std::size_t>(std::count(steps->back().begin(), steps->back().end(), true)));
  }
  Instance* in = instance(key, request.at);
  while (in && key.reverse && reach(request, *in, 1, key.adjoints)) in = instance(key, request.at);
  if (!in || failed()) return;
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  const ir::Loc loc = request.at.getRawEncoding();
  const ir::Type* result = types_.get(definition->getReturnType());
  const std::string matrix = fn.unique("hessianMatrix"), row = fn.unique("row");
  Text text;
  if (!request.diagonal) text.append(gradient_text(request, fn, request.name() + "_row"));
  text.line("static void " + request.name() + "(" + parameter_list(fn, params) + (params ? ", " : "") +
                result->name + "* " + matrix + ") {",
            loc);
  text.line(
      "for (std::size_t " + row + " = 0; " + row + " < " + index_text(number_of(*of)) + "; ++" + row + ") {",
      loc);
  std::vector<std::string> arguments = argument_list(fn, params);
  for (const Mask& step : *steps) declare_direction(text, fn, *of, step, row, loc, arguments);
  if (request.diagonal) {
    text.line(matrix + "[" + row + "] = " + fn.name + "(" + joined(arguments) + ").pushforward.pushforward;",
              loc);
  } else {
    text.append(hessian_row(request, *in, *of, row, matrix, arguments));
  }
  text.line("}", loc);
  text.line("}", loc);
  write_code(request, *in, request.name(), text);
  const EntryArguments given = write_arguments(request, fn, Mask(params), request.name(), 1);
  std::string passed;
  for (const std::string& p : given.primals) append(passed, p);
  append(passed,
         "clad::adjoint_pointer<" + result->name + ">(*" + given.frame + ", 0, 1, \"" + matrix + "\")");
  finish_entry(request, given, types_.nothing(), request.name() + "(" + passed + ")");
}

/// The Hessian times a vector: the gradient of the derivative in its direction.
void Module::write_hessian_vector(const Request& request, const FunctionDecl* definition, Mask mask) {
  DerivativeKey key{definition, {full(mask)}, true, mask};
  for (;;) {
    key.adjoints.resize(mask.size() + static_cast<std::size_t>(std::count(mask.begin(), mask.end(), true)));
    const Instance* in = instance(key, request.at);
    if (!in) return;
    if (reach(request, *in, 0, mask))
      key = {definition, {full(mask)}, true, mask};
    else if (!reach(request, *in, 1, key.adjoints))
      break;
    if (failed()) return;
  }
  if (failed()) return;
  Instance* in = instance(key, request.at);
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  const ir::Loc loc = request.at.getRawEncoding();
  write_code(request, *in, request.name(), gradient_text(request, fn, request.name()));
  const std::size_t named = request.parameters.size();
  const EntryArguments given = write_arguments(request, fn, mask, request.name(), 2 * named);
  std::vector<std::string> arguments = given.primals;
  for (std::size_t i = 0; i < given.adjoints.size(); ++i)
    arguments.push_back((given.pointers[i] ? "" : "*") + given.adjoints[i]);
  const std::size_t hidden = hidden_parameters(request, mask);
  const std::vector<std::string> shapes = arguments;
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    if (!fn.params[i].active) continue;
    const ir::Var* v = fn.params[i].var;
    const auto at = i >= hidden && i < mask.size()
                        ? std::find(request.parameters.begin(), request.parameters.end(), i - hidden)
                        : request.parameters.end();
    const bool wanted = at != request.parameters.end();
    const std::size_t which =
        wanted ? named + static_cast<std::size_t>(at - request.parameters.begin()) : 2 * named;
    const std::string found = "(*" + given.frame + ", " + std::to_string(which) + ", " +
                              std::to_string(2 * named) + ", \"" + v->name + "\"";
    const std::string name = fn.unique("product_" + std::to_string(i));
    if (v->type->kind == ir::Type::Pointer) {
      entries_.line("auto* " + name + " = clad::adjoint_pointer<" + adjoint_pointer_type(v->type->element) +
                        ">" + found + ");",
                    loc);
      arguments.push_back(name);
    } else {
      entries_.line("clad::adjoint_holder<" + as_template_argument(v->type->name) + "> " + name + found +
                        ", " + shapes[i] + ");",
                    loc);
      arguments.push_back(name + ".get()");
    }
  }
  finish_entry(request, given, types_.nothing(), request.name() + "(" + joined(arguments) + ")");
}

}  // namespace clad
