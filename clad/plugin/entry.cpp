// One requested gradient: a function of primals and adjoint pointers, and the entry that execute() calls.
#include <algorithm>

#include "acts.h"
#include "clang/AST/RecordLayout.h"
#include "compat.h"
#include "entry.h"
#include "frontend.h"
#include "module.h"

using namespace clang;

namespace clad {
namespace {

/// The adjoint of a parameter as a parameter of the gradient.
std::string adjoint_parameter(const ir::Var* v) {
  if (v->type->kind == ir::Type::Pointer) return adjoint_pointer_type(v->type) + " " + v->adjoint;
  return as_template_argument(v->type->name) + "* " + v->adjoint;
}

}  // namespace

/// Globals end as the function leaves them: the reverse sweep puts back what they were before.
void Module::keep_globals(Instance& in, Text& after_forward, Text& after_reverse) const {
  std::vector<const Instance*> all;
  std::set<const Instance*> seen;
  collect(in, all, seen);
  std::set<std::string> known;
  for (const Instance* i : all)
    for (const auto& v : i->fn.vars) {
      const ir::Type* t = v->type;
      if (v->global.empty() || !v->modified || t->kind == ir::Type::Pointer || !t->copyable) continue;
      if (!known.insert(v->global).second) continue;
      const std::string last = in.fn.unique(v->name + "_last");
      const bool array = t->kind == ir::Type::Array;
      after_forward.line(declare(t, last) + (array ? ";" : " = " + v->global + ";"), in.fn.loc);
      if (array) after_forward.line("clad::assign(" + last + ", " + v->global + ");", in.fn.loc);
      after_reverse.line(array ? "clad::assign(" + v->global + ", " + last + ");"
                               : v->global + " = std::move(" + last + ");",
                         in.fn.loc);
    }
}

/// The gradient as a function of its own: primals, then one pointer per active parameter. `puts_back`:
/// globals are afterwards what they were before, for another run from the same ones.
Text Module::gradient_text(const Request& request, Instance& in, const std::string& name, bool puts_back) {
  ir::Function& fn = in.fn;
  const std::string state_name = fn.region->record, value_name = fn.unique("value");
  const ir::Loc loc = request.at.getRawEncoding();
  const bool state = fn.has_state || fn.recursive;
  std::string params, primals, rest, reverse;
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    const ir::Parameter& p = fn.params[i];
    append(params, p.type_text);
    append(primals, p.var->name);
    if (i > 0) append(rest, p.var->name);
    if (fn.recursive || fn.needs_param[i]) append(reverse, p.var->name);
  }
  if (state) append(reverse, state_name);
  // Of a forward derivative, the gradient is that of the tangent.
  if (fn.seed) append(reverse, fn.seed->type->kind == ir::Type::Real ? "1" : fn.seed->type->name + "{0, 1}");
  for (const ir::Parameter& p : fn.params) {
    if (!p.active) continue;
    append(params, adjoint_parameter(p.var));
    append(reverse, (p.var->type->kind == ir::Type::Pointer ? "" : "*") + p.var->adjoint);
  }
  if (fn.error) {
    append(params, "double& " + fn.error->name);
    append(reverse, fn.error->name);
  }
  Text text;
  text.line(
      fn.specifiers() + (request.with_value() ? fn.result->name : "void") + " " + name + "(" + params + ") {",
      loc);
  if (state) text.line(fn.name + "_state " + state_name + ";", loc);
  const std::string value = request.with_value() ? "const " + fn.result->name + " " + value_name + " = " : "";
  const auto derived = [this](const FunctionDecl* f) { return lookup_.derived_by_user(f); };
  if (state || fn.always_forward) {
    if (state) append(primals, state_name);
    text.line(value + fn.name + "_fwd(" + primals + ");", loc);
  } else if (request.with_value() || fn.writes_outside || acts(request.function, derived)) {
    const auto* method = dyn_cast<CXXMethodDecl>(request.function);
    if (method && !method->isStatic()) {
      const std::string& object = fn.params[0].var->name;
      text.line(value + (method->getRefQualifier() == RQ_RValue ? "std::move(" + object + ")" : object) +
                    "." + method->getNameAsString() + "(" + rest + ");",
                loc);
    } else
      text.line(value + spell_function(request.function, types_) + "(" + primals + ");", loc);
  }
  for (const ir::Parameter& p : fn.params)  // as long as the vector is after the forward sweep
    if (p.active && p.var->external && p.var->type->dynamic_shape)
      text.line("clad::shape_like(*" + p.var->adjoint + ", " + p.var->name + ");", loc);
  if (fn.has_reverse) {
    Text after_forward, after_reverse;
    if (!puts_back) keep_globals(in, after_forward, after_reverse);
    text.append(after_forward);
    text.line(fn.name + "_rev(" + reverse + ");", loc);
    text.append(after_reverse);
  }
  for (const ir::Parameter& p : fn.params)  // the arguments were rounded too
    if (fn.error && p.active && p.var->type->kind == ir::Type::Real)
      text.line(fn.error->name + " += clad::rounding_error(*" + p.var->adjoint + ", " + p.var->name + ");",
                loc);
  if (request.with_value()) text.line("return " + value_name + ";", loc);
  text.line("}", loc);
  return text;
}

/// The generated code of instances and of all they use, and `function` after it, as one string.
void Module::write_code(const Request& request, const std::vector<const Instance*>& instances,
                        const Text& function) {
  entries_.append(function);
  if (!constants_.empty()) return;
  Text code;
  std::vector<const Instance*> order;
  std::set<const Instance*> seen;
  for (const Instance* in : instances) collect(*in, order, seen);
  for (const Instance* i : order) code.append(code_of(*i));
  code.append(function);
  std::vector<ir::Loc> ignored;
  entries_.line("static const char " + request.name() + "_code[] = R\"clad(" + code.str(ignored) + ")clad\";",
                request.at.getRawEncoding());
}

/// Hands an object of a class that overrides the function over to the entry of that class. A class that is
/// not seen here may override it too.
void Module::write_dispatch(const Request& request, const std::string& frame) {
  const auto* method = dyn_cast<CXXMethodDecl>(request.function);
  if (!method || !method->isVirtual()) return;
  const CXXRecordDecl* of = class_of_object(method, request.heir());
  if (method->hasAttr<FinalAttr>() || of->hasAttr<FinalAttr>()) return;
  if (!sema_.Context.getLangOpts().RTTI) {
    diagnose_.error(request.at, "cannot differentiate '" + display_name(method) +
                                    "' without -frtti: which class an object is of is not known here; make "
                                    "the function or the class final");
    return;
  }
  const auto spell = [&](const CXXRecordDecl* record) {
    return types_.spell(compat::record_type(sema_.Context, record));
  };
  const std::string base = spell(of);
  std::string known;
  for (const CXXRecordDecl* record : types_.derived_from(of))
    if (!record->isAbstract()) known += (known.empty() ? "" : ", ") + spell(record);
  entries_.line("clad::known_class<" + known + ">(*static_cast<" + base + "*>(" + frame + "->primals[0]));",
                request.at.getRawEncoding());
  for (const auto& [record, entry] : request.overriders)
    entries_.line("if (clad::is<" + spell(record) + ">(*static_cast<" + base + "*>(" + frame +
                      "->primals[0]))) return clad::entry_of_derived<" + base + ", " + spell(record) + ", " +
                      std::to_string(method->getNumParams() + 1) + ">(" + entry + ", *" + frame + ");",
                  request.at.getRawEncoding());
}

/// The entry of a pure virtual function, which is nothing but those of the functions that override it. What
/// it shows as its code is theirs.
void Module::write_choice(const Request& request) {
  const auto line = [&](const std::string& text) { entries_.line(text, request.at.getRawEncoding()); };
  line("static const char* " + request.entry + "(const clad::call_frame* frame) {");
  std::string code;
  for (const auto& [record, entry] : request.overriders)
    code += (code.empty() ? "std::string(" : " + ") + entry + "(nullptr)" + (code.empty() ? ")" : "");
  line("if (!frame) { static const std::string code = " + code + "; return code.c_str(); }");
  write_dispatch(request, "frame");
  line("clad::unknown_class();");
  line("}");
}

/// Writes the beginning of an entry: the first `active.size()` parameters as the function takes them, and for
/// each active one its adjoint (or tangent). Returns how they are passed.
Module::EntryArguments Module::write_arguments(const Request& request, ir::Function& fn, const Mask& active,
                                               std::size_t expected, bool one_more,
                                               const std::string& alone) {
  const ir::Loc loc = request.at.getRawEncoding();
  const auto* method = dyn_cast<CXXMethodDecl>(request.function);
  const CXXRecordDecl* lambda = method && method->getParent()->isLambda() ? method->getParent() : nullptr;
  const bool object = method && !lambda && !method->isStatic();
  auto line = [&](const std::string& text) { entries_.line(text, loc); };
  EntryArguments out;
  out.frame = fn.unique("frame");
  const std::string& frame = out.frame;
  const std::string wanted = fn.unique("wanted"), inner = fn.unique("inner");
  out.adjoint_frame = one_more ? inner : "*" + frame;
  out.wanted = wanted;
  line("static const char* " + request.entry + "(const clad::call_frame* " + frame + ") {");
  line("if (!" + frame + ") return " + request.name() + "_code;");
  write_dispatch(request, frame);
  line("constexpr std::size_t " + wanted + " = " + std::to_string(expected) + ";");
  if (one_more) line("const clad::call_frame " + inner + " = clad::without_last(*" + frame + ");");
  line("clad::check_adjoints(" + out.adjoint_frame + ", " + wanted + ", " + (object ? "true" : "false") +
       ", \"" + fn.primal_name + "\");");
  if (!alone.empty())
    line("if (!clad::gives_adjoint(" + out.adjoint_frame + ", clad::adjoint_of_object, " + wanted +
         ")) return " + alone + "(" + frame + ");");
  const std::size_t hidden = lambda ? lambda->capture_size() : object ? 1 : 0;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const ir::Var* v = fn.params[i].var;
    const ir::Type* type = fn.params[i].user_type ? fn.params[i].user_type : v->type;
    const bool pointer = type->kind == ir::Type::Pointer, array = type->kind == ir::Type::Array;
    const std::string primal = fn.unique("primal_" + std::to_string(i));
    const std::string held =
        as_template_argument((v->is_const && !pointer && !array ? "const " : "") + type->name);
    if (lambda && i < hidden) {
      const bool by_reference = lambda->captures_begin()[i].getCaptureKind() == LCK_ByRef;
      const std::uint64_t offset = sema_.Context.getASTRecordLayout(lambda).getFieldOffset(i) / 8;
      line("auto& " + primal + " = *clad::detail::capture<" + held + ", " +
           (by_reference ? "true" : "false") + ">(" + frame + "->primals[0], " + std::to_string(offset) +
           ");");
    } else {
      const std::size_t position = lambda ? i - hidden + 1 : i;  // a lambda comes before its arguments
      line("auto& " + primal + " = *static_cast<" + held + "*>(" + frame + "->primals[" +
           std::to_string(position) + "]);");
    }
    out.primals.push_back(primal);
  }
  out.lengths = declare_lengths(request, fn, hidden, out.primals);
  write_places(request, fn, active, expected, out);
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (!active[i]) continue;
    // Which adjoint argument of execute() it is.
    std::string which = "clad::adjoint_of_object";
    if (i >= hidden) {
      auto it = std::find(request.parameters.begin(), request.parameters.end(), i - hidden);
      const bool named = it != request.parameters.end();
      which = std::to_string(named ? static_cast<std::size_t>(it - request.parameters.begin()) : expected);
    }
    const std::string elements = named_elements(request, fn, i, hidden, out.lengths);
    const bool tangent = request.kind == Request::Pushforward || request.kind == Request::HessianVector;
    write_adjoint(out, fn.params[i].var, fn.unique("adjoint_" + std::to_string(i)), which, out.primals[i],
                  loc,
                  {elements, tangent          ? "tangent"
                             : request.assign ? "replaced"
                                              : "added"});
    if (!elements.empty()) continue;
    if (!tangent)
      line("clad::check_apart(" + out.adjoints.back() + ", " + out.primals[i] + ", \"" +
           fn.params[i].var->name + "\");");
    if (request.assign && out.pointers.back())
      line("clad::set_array_to_zero(" + out.adjoint_frame + ", " + which + ", " + wanted + ", \"" +
           fn.params[i].var->name + "\", " + out.adjoints.back() + ");");
    else if (request.assign)
      line("clad::set_zero(*" + out.adjoints.back() + ");");
  }
  return out;
}

/// Parameters that carry no derivative have places among the adjoint arguments too: says which, so that what
/// is given there is looked at.
void Module::write_places(const Request& request, ir::Function& fn, const Mask& active, std::size_t expected,
                          EntryArguments& given) {
  if (!takes_adjoints(request) && !request.vector) return;
  const std::size_t hidden = hidden_parameters(request, active);
  const auto* method = dyn_cast<CXXMethodDecl>(request.function);
  if (hidden == 1 && !active[0] && !method->getParent()->isLambda())
    entries_.line("clad::check_adjoint_of_object(" + given.adjoint_frame + ", " + given.wanted +
                      ", clad::place_of(" + given.primals[0] + ", false, \"" + fn.params[0].var->name +
                      "\"));",
                  request.at.getRawEncoding());
  std::string places, named;
  bool any = false;
  for (const unsigned p : request.parameters) {
    const std::size_t i = hidden + p;
    const std::string name = fn.params[i].var->name;
    any |= !active[i];
    if (active[i]) append(named, name);
    append(places, "clad::place_of(" + given.primals[i] + ", " + (active[i] ? "true" : "false") + ", \"" +
                       name + "\")");
  }
  if (!any) return;
  const std::string placed = fn.unique("placed");
  if (expected > request.parameters.size()) places += ", " + places;  // directions, and adjoints
  entries_.line("const clad::placed_adjoints<" + given.wanted + "> " + placed + "(" + given.adjoint_frame +
                    ", {" + places + "}, \"" + named + "\");",
                request.at.getRawEncoding());
  given.adjoint_frame = placed + ".frame()";
}

/// Whether it is, or has, a vector of owners of objects whose own vectors may have any length.
static bool owns_lengths(const ir::Type* type, TypeTable& types, clang::ASTContext& context,
                         std::set<const ir::Type*>& seen) {
  if (!type || !type->differentiable || !seen.insert(type).second) return false;
  if (type->kind == ir::Type::Vector && type->element->kind == ir::Type::Pointer) {
    const ir::Type* to = type->element->element;
    const auto* record = static_cast<const CXXRecordDecl*>(to->kind == ir::Type::Record ? to->decl : nullptr);
    if (!record || !record->hasDefinition() || !record->isPolymorphic() ||
        type->element->name.find("_ptr<") == std::string::npos)
      return false;
    return llvm::any_of(types.derived_from(record), [&](const CXXRecordDecl* d) {
      return types.get(compat::record_type(context, d))->dynamic_shape;
    });
  }
  if (type->kind != ir::Type::Pointer && owns_lengths(type->element, types, context, seen)) return true;
  return llvm::any_of(type->fields,
                      [&](const ir::Field& f) { return owns_lengths(f.type, types, context, seen); });
}

/// Declares, as `name`, the adjoint (or tangent) of a parameter: argument `which` of execute() after the
/// primals.
void Module::write_adjoint(EntryArguments& given, const ir::Var* v, const std::string& name,
                           const std::string& which, const std::string& shape, ir::Loc loc,
                           const Part& part) {
  const bool pointer = v->type->kind == ir::Type::Pointer;
  std::set<const ir::Type*> seen;
  if (!pointer && owns_lengths(v->type, types_, sema_.Context, seen))
    diagnose_.error(loc, "cannot differentiate with respect to '" + v->name +
                             "': it owns objects of several classes by a vector, and of one of these the "
                             "length of a vector is not known here; use std::array there");
  const std::string found =
      "(" + given.adjoint_frame + ", " + which + ", " + given.wanted + ", \"" + v->name + "\"";
  if (!part.elements.empty()) {
    const std::string type = pointer ? adjoint_pointer_type(v->type) : as_template_argument(v->type->name);
    entries_.line("clad::named_part<" + type + "> " + name + found + (pointer ? "" : ", " + shape) + ", " +
                      part.elements + ", clad::handed_over::" + part.how + ");",
                  loc);
    given.parts.push_back(name);
    given.adjoints.push_back(name + ".get()");
    given.pointers.push_back(pointer);
    return;
  }
  if (pointer)
    entries_.line("auto* " + name + " = clad::adjoint_pointer<" + adjoint_pointer_type(v->type->element) +
                      ">" + found + ");",
                  loc);
  else if (const std::string classes = types_.classes_of(v->type); v->type->has_pointer)
    entries_.line("auto* " + name + " = clad::given_adjoint<" +
                      (classes.empty() ? as_template_argument(v->type->name) : classes) + ">" + found + ", " +
                      shape + ");",
                  loc);
  else if (!classes.empty())
    entries_.line("clad::object_adjoint_holder<" + classes + "> " + name + found + ", " + shape + ");", loc);
  else
    entries_.line("clad::adjoint_holder<" + as_template_argument(v->type->name) + "> " + name + found + ", " +
                      shape + ");",
                  loc);
  given.adjoints.push_back(pointer || v->type->has_pointer ? name : name + ".get()");
  given.pointers.push_back(pointer);
}

std::vector<std::string> Module::EntryArguments::as_arguments() const {
  std::vector<std::string> out = primals;
  for (std::size_t i = 0; i < adjoints.size(); ++i) out.push_back((pointers[i] ? "" : "*") + adjoints[i]);
  return out;
}

/// A method's gradient may be asked for without its object's adjoint. One of our own can stand for that,
/// unless it would point to what the object points to: then there is a gradient for it of its own.
void Module::write_gradient(const Request& request, const FunctionDecl* definition, const Mask& mask) {
  Request alone = request;
  Mask others = mask;
  if (hidden_parameters(request, mask) == 1 && mask[0]) others[0] = false;
  const auto* method = dyn_cast<CXXMethodDecl>(definition);
  if (others == mask || method->getParent()->isLambda() ||
      std::count(others.begin(), others.end(), true) == 0 ||
      !types_.get(compat::record_type(sema_.Context, method->getParent()))->has_pointer)
    return write_gradient(request, definition, mask, "");
  alone.overriders.clear();
  alone.entry = types_.unique_global(request.name() + "_alone") + "_entry";
  write_gradient(alone, definition, others, "");
  write_gradient(request, definition, mask, alone.entry);
}

/// The gradient, its readable code, and the entry through which clad::gradient's object reaches it. `alone`:
/// the entry that goes on where the object has no adjoint.
void Module::write_gradient(const Request& request, const FunctionDecl* definition, Mask mask,
                            const std::string& alone) {
  const bool error = request.kind == Request::ErrorEstimate;
  std::vector<const Instance*> code;
  Text text;
  if (!find_lengths(request, definition, mask, code, text)) return;
  Instance* in = nullptr;
  do in = instance({definition, {}, true, mask, error, error || request.with_value()}, request);
  while (in && reach(request, *in, 0, mask));
  if (!in || failed()) return;
  const auto whole = instances_.find(
      {definition->getCanonicalDecl(), {}, true, mask, error, true, {}, false, request.heir()});
  if (whole != instances_.end() && std::count(in->uses.begin(), in->uses.end(), whole->second.get()) != 0)
    in = whole->second.get();  // it calls itself
  roots_.push_back(in);
  ir::Function& fn = in->fn;
  const std::string grad = request.name();
  code.push_back(in);
  text.append(gradient_text(request, *in, grad, /*puts_back=*/false));
  write_code(request, code, text);
  if (!constants_.empty()) return;
  const EntryArguments given = write_arguments(request, fn, mask, request.parameters.size(), error, alone);
  std::string arguments = joined(given.primals);
  for (const std::string& d : given.adjoints) append(arguments, d);
  if (error)
    append(arguments, "clad::last_argument<double>(*" + given.frame + ", \"" + fn.primal_name + "\")");
  finish_entry(request, given, request.with_value() ? fn.result : types_.nothing(),
               grad + "(" + arguments + ")");
}

/// Ends an entry with a call, whose result goes where the caller wants it.
void Module::finish_entry(const Request& request, const EntryArguments& given, const ir::Type* result,
                          const std::string& call) {
  auto line = [&](const std::string& text) { entries_.line(text, request.at.getRawEncoding()); };
  const bool none = result->kind == ir::Type::Void;
  line((none ? "" : "*static_cast<" + result->name + "*>(" + given.frame + "->result) = ") + call + ";");
  for (const std::string& part : given.parts) line(part + ".hand_over();");
  line("return nullptr;");
  line("}");
}

}  // namespace clad
