// Entries of second derivatives: Hessians, and their products with a vector.
#include <algorithm>
#include <map>

#include "entry.h"

using namespace clang;

namespace clad {
namespace {

/// The adjoint of a parameter, the columns of a row.
struct Column {
  std::string declaration, argument;
};

/// `length`: of a pointer, how many elements its adjoint has.
Column column(ir::Function& fn, TypeTable& types, const ir::Var* primal, const std::string& name,
              const std::string& shape, const std::string& length) {
  if (primal->type->kind != ir::Type::Pointer)
    return {declare_zero(fn, types, primal->type, name, shape), "&" + name};
  const ir::Type* element = primal->type->element;
  const std::string zero = element->zero_by_value_init ? "" : ", " + zero_value(element);
  return {"std::vector<" + element->name + "> " + name + "(" + length + zero + ");", name + ".data()"};
}

/// Copies the adjoints of the independent elements `x` to their places in the row, or of the diagonal alone.
std::string copy_text(const Module::Independent& x, const std::string& column, const std::string& row,
                      const std::string& matrix, std::uint64_t n, bool diagonal) {
  const std::string offset = std::to_string(x.offset), first = std::to_string(x.first);
  const bool number = x.type->kind == ir::Type::Real;
  if (diagonal)
    return "if (" + row + " >= " + offset + " && " + row + " < " + std::to_string(x.offset + x.count) + ") " +
           matrix + "[" + row + "] = " + column +
           (number ? "" : "[" + row + " - " + offset + " + " + first + "]") + ";";
  const std::string target = matrix + "[" + row + " * " + std::to_string(n) + " + " + offset;
  if (number) return target + "] = " + column + ";";
  return "for (std::size_t k = 0; k < " + std::to_string(x.count) + "; ++k) " + target + " + k] = " + column +
         "[" + first + " + k];";
}

}  // namespace

/// The function that fills the matrix: `of_row` for each row.
Text Module::hessian_text(const Request& request, ir::Function& fn, std::size_t params,
                          const std::vector<Independent>& of, const Text& before, const std::string& row,
                          const std::string& matrix, const Text& of_row) const {
  const ir::Loc loc = request.at.getRawEncoding();
  Text text;
  text.line("static void " + request.name() + "(" + parameter_list(fn, params) + (params ? ", " : "") +
                types_.get(request.function->getReturnType())->name + "* " + matrix + ") {",
            loc);
  text.append(before);
  text.line("for (std::size_t " + row + " = 0; " + row + " < " + std::to_string(number_of(of)) + "; ++" +
                row + ") {",
            loc);
  text.append(of_row);
  text.line("}", loc);
  text.line("}", loc);
  return text;
}

void Module::finish_hessian(const Request& request, ir::Function& fn, std::size_t params,
                            const std::string& matrix) {
  const EntryArguments given = write_arguments(request, fn, Mask(params), 1);
  std::vector<std::string> passed = given.primals;
  passed.push_back("clad::adjoint_pointer<" + types_.get(request.function->getReturnType())->name + ">(*" +
                   given.frame + ", 0, 1, \"" + matrix + "\")");
  finish_entry(request, given, types_.nothing(), request.name() + "(" + joined(passed) + ")");
}

/// The diagonal alone: the second derivative in the direction of each element.
void Module::write_hessian_diagonal(const Request& request, const FunctionDecl* definition, const Mask& mask,
                                    const std::vector<Independent>& of) {
  const auto steps = this->steps(request, definition, of, mask.size(), 2);
  if (!steps) return;
  Instance* in = instance({definition, tangents_of(of, *steps), false, {}}, request);
  if (!in || failed()) return;
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  const ir::Loc loc = request.at.getRawEncoding();
  const std::string matrix = fn.unique("hessianMatrix"), row = fn.unique("row");
  Text text;
  std::vector<std::string> arguments = argument_list(fn, mask.size());
  for (const Mask& step : *steps) declare_direction(text, fn, types_, of, step, row, loc, arguments);
  text.line(matrix + "[" + row + "] = " + fn.name + "(" + joined(arguments) + ").pushforward.pushforward;",
            loc);
  write_code(request, {in}, hessian_text(request, fn, mask.size(), of, Text(), row, matrix, text));
  finish_hessian(request, fn, mask.size(), matrix);
}

/// Row after row, each the gradient of the derivative in the direction of one element.
void Module::write_hessian_rows(const Request& request, const FunctionDecl* definition, const Mask& mask,
                                const std::vector<Independent>& of) {
  const std::size_t params = mask.size();
  const auto steps = this->steps(request, definition, of, params, 1);
  if (!steps) return;
  const auto tangents = std::count(steps->back().begin(), steps->back().end(), true);
  DerivativeKey key{definition, tangents_of(of, *steps), true, steps->back()};
  key.adjoints.resize(params + static_cast<std::size_t>(tangents));
  Instance* in = instance(key, request);
  while (in && reach(request, *in, 1, key.adjoints)) in = instance(key, request);
  if (!in || failed()) return;
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  const ir::Loc loc = request.at.getRawEncoding();
  const std::string matrix = fn.unique("hessianMatrix"), row = fn.unique("row");
  std::vector<const Instance*> code{in};
  // How far the function reads what a pointer points to, only a run tells: that of a derivative whose
  // tangents grow.
  Text before;
  std::map<std::size_t, std::string> lengths;
  if (std::any_of(of.begin(), of.end(), [](const auto& x) { return x.type->kind == ir::Type::Pointer; })) {
    Mask reached(params);
    Instance* reading = in_directions(request, definition, of, 0, reached);
    if (!reading) return;
    code.push_back(reading);
    const std::vector<std::string> names = declare_tangents(before, reading->fn, of, 0, reached, loc);
    before.line(call_text(reading->fn, reached, names) + ";", loc);
    std::size_t next = 0;
    for (std::size_t i = 0; i < params; ++i)
      if (reached[i]) lengths[i] = names[next++] + ".size()";
  }
  Text text, copies;
  std::vector<std::string> arguments = argument_list(fn, params);
  for (const Mask& step : *steps) declare_direction(text, fn, types_, of, step, row, loc, arguments);
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    if (!fn.params[i].active) continue;
    const ir::Var* primal = fn.params[i].var;
    const std::string name = fn.unique("column_" + primal->name);
    const Column made = column(fn, types_, primal, name, arguments[i], lengths[i]);
    text.line(made.declaration, loc);
    arguments.push_back(made.argument);
    if (const Independent* x = of_parameter(of, i))
      copies.line(copy_text(*x, name, row, matrix, number_of(of), request.diagonal), loc);
  }
  text.line(request.name() + "_row(" + joined(arguments) + ");", loc);
  text.append(copies);
  Text function = gradient_text(request, *in, request.name() + "_row", /*puts_back=*/true);
  function.append(hessian_text(request, fn, params, of, before, row, matrix, text));
  write_code(request, code, function);
  finish_hessian(request, fn, params, matrix);
}

void Module::write_hessian(const Request& request, const FunctionDecl* definition, const Mask& mask) {
  const auto of = independents(request, definition, mask);
  const Instance* plain = of ? instance({definition, {}, false, {}}, request) : nullptr;
  if (!plain) return;
  // A forward derivative leaves the arguments as the function does, a reverse one puts them back for the next
  // row.
  const bool changes = plain->fn.writes_outside;
  if (request.diagonal && !changes) return write_hessian_diagonal(request, definition, mask, *of);
  const auto pointer =
      std::find_if(of->begin(), of->end(), [](const auto& x) { return x.type->kind == ir::Type::Pointer; });
  if (changes && pointer != of->end()) {
    const ir::Var* v = plain->fn.params[pointer->parameter].var;
    diagnose_.error(request.at, "cannot compute the Hessian of '" + plain->fn.primal_name +
                                    "' with respect to what '" + v->name +
                                    "' points to: the function changes its arguments; pass an array or a "
                                    "std::vector instead");
    return;
  }
  write_hessian_rows(request, definition, mask, *of);
}

/// The Hessian times a vector: the gradient of the derivative in its direction.
void Module::write_hessian_vector(const Request& request, const FunctionDecl* definition, Mask mask) {
  std::vector<const Instance*> code;
  Text text;
  if (!find_lengths(request, definition, mask, code, text)) return;
  DerivativeKey key{definition, {full(mask)}, true, mask};
  for (;;) {
    key.adjoints.resize(mask.size() + static_cast<std::size_t>(std::count(mask.begin(), mask.end(), true)));
    const Instance* in = instance(key, request);
    if (!in) return;
    if (reach(request, *in, 0, mask))
      key = {definition, {full(mask)}, true, mask};
    else if (!reach(request, *in, 1, key.adjoints))
      break;
    if (failed()) return;
  }
  if (failed()) return;
  Instance* in = instance(key, request);
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  code.push_back(in);
  text.append(gradient_text(request, *in, request.name(), /*puts_back=*/false));
  write_code(request, code, text);
  const std::size_t named = request.parameters.size();
  EntryArguments given = write_arguments(request, fn, mask, 2 * named);
  std::vector<std::string> arguments = given.as_arguments();
  const std::vector<std::string> shapes = arguments;
  const std::size_t hidden = hidden_parameters(request, mask), directions = given.adjoints.size();
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    if (!fn.params[i].active) continue;
    const auto at = i >= hidden && i < mask.size()
                        ? std::find(request.parameters.begin(), request.parameters.end(), i - hidden)
                        : request.parameters.end();
    const bool wanted = at != request.parameters.end();
    const std::size_t which =
        wanted ? named + static_cast<std::size_t>(at - request.parameters.begin()) : 2 * named;
    write_adjoint(given, fn.params[i].var, fn.unique("product_" + std::to_string(i)), std::to_string(which),
                  shapes[i], request.at.getRawEncoding(),
                  {wanted ? named_elements(request, fn, i, hidden, given.lengths) : "", "added"});
  }
  arguments.insert(arguments.end(), given.adjoints.begin() + static_cast<std::ptrdiff_t>(directions),
                   given.adjoints.end());
  finish_entry(request, given, types_.nothing(), request.name() + "(" + joined(arguments) + ")");
}

}  // namespace clad
