// Entries of the requests that forward mode answers: a directional derivative, a derivative of order n.
#include <algorithm>
#include <numeric>

#include "compat.h"
#include "entry.h"
#include "frontend.h"
#include "module.h"
#include "own_class.h"

using namespace clang;

namespace clad {

std::size_t hidden_parameters(const Request& request, const Mask& mask) {
  return mask.size() - std::min<std::size_t>(mask.size(), request.function->getNumParams());
}

ir::Tangents full(const Mask& mask) {
  ir::Tangents out;
  for (const bool wanted : mask) out.kinds.push_back(wanted ? ir::Tangent::Full : ir::Tangent::None);
  return out;
}

std::vector<ir::Tangents> tangents_of(const std::vector<Module::Independent>& of,
                                      const std::vector<Mask>& steps) {
  std::vector<ir::Tangents> out;
  for (const Mask& step : steps) {
    out.push_back(full(step));
    out.back().again = out.size() > 1;  // all steps take the same directions
    for (const Module::Independent& x : of)
      if (x.type->kind == ir::Type::Pointer) out.back().kinds[x.parameter] = ir::Tangent::OneHot;
  }
  return out;
}

std::string parameter_list(const ir::Function& fn, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Parameter& p = fn.params[i];
    append(out, p.user_type ? declare(p.user_type, p.var->name) : p.type_text);
  }
  return out;
}

std::vector<std::string> argument_list(const ir::Function& fn, std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(fn.params[i].var->name);
  return out;
}

const Module::Independent* of_parameter(const std::vector<Module::Independent>& of, std::size_t i) {
  const auto x = std::find_if(of.begin(), of.end(), [&](const auto& o) { return o.parameter == i; });
  return x == of.end() ? nullptr : &*x;
}

static std::string index_text(std::uint64_t i) { return std::to_string(i); }

/// How many independent numbers there are.
std::uint64_t Module::number_of(const std::vector<Independent>& of) {
  return std::accumulate(of.begin(), of.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& x) { return sum + x.count; });
}

void Module::write_pushforward(const Request& request, const FunctionDecl* definition, Mask mask) {
  std::vector<const Instance*> code;
  Text lengths;
  if (!find_lengths(request, definition, mask, code, lengths)) return;
  Instance* in = instance({definition, {full(mask)}, false, {}}, request);
  while (in && reach(request, *in, 0, mask)) in = instance({definition, {full(mask)}, false, {}}, request);
  if (!in || failed()) return;
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  code.push_back(in);
  write_code(request, code, lengths);
  const EntryArguments given = write_arguments(request, fn, mask, request.parameters.size());
  finish_entry(request, given, fn.result, fn.name + "(" + joined(given.as_arguments()) + ")");
}

/// The independent elements of the request: those of a parameter follow each other.
std::optional<std::vector<Module::Independent>> Module::independents(const Request& request,
                                                                     const FunctionDecl* definition,
                                                                     const Mask& mask) {
  const std::size_t hidden = hidden_parameters(request, mask);
  std::vector<Independent> out;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    if (const std::string& member = request.ranges[i].member; !member.empty()) {
      const bool of_object = request.parameters[i] == Request::object;
      if (request.vector) {
        diagnose_.error(request.at, "vector mode takes parameters and elements, not members of objects");
        return std::nullopt;
      }
      const QualType object =
          of_object ? compat::record_type(sema_.Context,
                                          class_of_object(cast<CXXMethodDecl>(definition), request.heir()))
                    : definition->getParamDecl(request.parameters[i])->getType().getNonReferenceType();
      const CXXRecordDecl* record = object->getAsCXXRecordDecl();
      if (record->isPolymorphic() && types_.derived_from(record).size() > 1 &&
          (!of_object || calls_virtually(cast<CXXMethodDecl>(definition)))) {
        diagnose_.error(request.at, "cannot differentiate with respect to a member of '" +
                                        record->getNameAsString() +
                                        "': the object may be of a class that derives from it");
        return std::nullopt;
      }
      out.push_back({of_object ? 0 : hidden + request.parameters[i], types_.get(sema_.Context.DoubleTy),
                     offset, 0, 1, member});
      ++offset;
      continue;
    }
    const ParmVarDecl* p = definition->getParamDecl(request.parameters[i]);
    const bool number =
        is_whole(p->getType()) && !request.all && request.kind == Request::Derivative && !request.vector;
    const ir::Type* type = types_.get(number ? sema_.Context.DoubleTy : p->getType());
    const Range& range = request.ranges[i];
    if (!type->differentiable) {
      if (request.all) continue;
      no_derivative_of(request, p);
      return std::nullopt;
    }
    Independent independent{hidden + request.parameters[i], type, offset, 0, 1};
    const bool fixed = type->kind == ir::Type::Array || type->kind == ir::Type::StdArray;
    if (type->kind == ir::Type::Real && !range.first) {
      // one number
    } else if (range.first && type->element && type->element->kind == ir::Type::Real) {
      independent.first = *range.first;
      independent.count = *range.last - *range.first + 1;
      if (!check_range(request, p, range)) return std::nullopt;
    } else if (fixed && type->element->kind == ir::Type::Real) {
      independent.count = type->extent;
    } else {
      if (!range.first || check_range(request, p, range))
        diagnose_.error(request.at, "'" + p->getNameAsString() + "' is '" + type->name +
                                        "': name the elements to differentiate for, as in \"" +
                                        p->getNameAsString() + "[0]\" or \"" + p->getNameAsString() +
                                        "[0:2]\"");
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
    do in = instance({definition, tangents_of(of, out), false, {}}, request);
    while (in && reach(request, *in, k, out[k]));
    if (!in || failed()) return std::nullopt;
    params += static_cast<std::size_t>(std::count(out[k].begin(), out[k].end(), true));
  }
  return out;
}

std::string declare_zero(ir::Function& fn, TypeTable& types, const ir::Type* type, const std::string& name,
                         const std::string& primal) {
  if (const std::string classes = types.classes_of(type); !classes.empty()) {
    const std::string object = fn.unique(name + "_object");
    return "const auto " + object + " = clad::make_zero_of_class_of<" + classes + ">(" + primal +
           "); auto& " + name + " = *" + object + ";";
  }
  if (type->kind == ir::Type::Array)
    return declare(type, name) + "{};" +
           (!type->zero_by_value_init ? " clad::zero_as(" + name + ", " + primal + ");" : "");
  return "auto " + name + " = clad::zero_like(" + primal + ");";
}

void declare_direction(Text& text, ir::Function& fn, TypeTable& types,
                       const std::vector<Module::Independent>& of, const Mask& step, const std::string& row,
                       ir::Loc loc, std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (!step[i]) continue;
    const ir::Var* primal = fn.params[i].var;
    const ir::Type* type = primal->type;
    const std::string name = fn.unique("seed_" + primal->name);
    const std::string shape = arguments[i];
    arguments.push_back(name);
    const Module::Independent* x = of_parameter(of, i);
    if (!x) {
      text.line(declare_zero(fn, types, type, name, shape), loc);
      continue;
    }
    const bool only = row.empty();
    const std::string first = index_text(x->offset);
    const std::string here = row + " >= " + first + " && " + row + " < " + index_text(x->offset + x->count);
    const std::string at = only ? index_text(x->first) : row + " - " + first + " + " + index_text(x->first);
    if (!x->member.empty()) {
      text.line(declare_zero(fn, types, type, name, shape), loc);
      text.line(name + x->member + " = 1;", loc);
    } else if (type->kind == ir::Type::Real) {
      text.line(type->name + " " + name + " = " + (only ? "1" : row + " == " + first + " ? 1 : 0") + ";",
                loc);
    } else if (type->kind == ir::Type::Pointer) {
      text.line(
          "clad::one_hot<" + type->element->name + "> " + name + "{" + at + (only ? "" : ", " + here) + "};",
          loc);
    } else {
      text.line(declare_zero(fn, types, type, name, shape), loc);
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
    return fn.specifiers() + result->name + " " + request.name() + "(" + parameter_list(fn, mask.size()) +
           ") {";
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
    in = instance({definition, tangents_of(*of, *steps), false, {}}, request);
    roots_.push_back(in);
    text.line(head(in->fn), loc);
    std::vector<std::string> arguments = argument_list(in->fn, mask.size());
    std::string part;
    for (const Mask& step : *steps) {
      declare_direction(text, in->fn, types_, *of, step, "", loc, arguments);
      part += ".pushforward";
    }
    text.line("return " + in->fn.name + "(" + joined(arguments) + ")" + part + ";", loc);
  }
  text.line("}", loc);
  ir::Function& fn = in->fn;
  write_code(request, {in}, text);
  if (!constants_.empty()) return;
  const EntryArguments given = write_arguments(request, fn, Mask(mask.size()), 0);
  finish_entry(request, given, result, request.name() + "(" + joined(given.primals) + ")");
}

}  // namespace clad
