#include "module.h"

#include <algorithm>

#include "clang/AST/RecordLayout.h"
#include "clang/Basic/SourceManager.h"
#include "compat.h"
#include "frontend.h"
#include "passes.h"

using namespace clang;

namespace clad {

std::string Module::base_name(const FunctionDecl* function) const {
  std::string name = function->isOverloadedOperator() || !function->getIdentifier()
                         ? operator_word(function)
                         : function->getNameAsString();
  if (const auto* method = dyn_cast<CXXMethodDecl>(function)) {
    const CXXRecordDecl* record = method->getParent();
    if (record->isLambda()) return "lambda";
    if (record->getIdentifier()) name = record->getNameAsString() + "_" + name;
  }
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

/// Whether running the statements changes memory that belongs to the caller.
static bool writes_outside(const ir::Body& body) {
  for (const ir::Stmt* s : body) {
    const ir::Var* target = s->kind == ir::Stmt::Assign ? ir::root(s->lhs) : nullptr;
    if (target && target->external) return true;
    for (const ir::Var* v : s->touched)
      if (v->external) return true;
    if (writes_outside(s->init) || writes_outside(s->body) || writes_outside(s->other)) return true;
  }
  return false;
}

Module::Instance* Module::instance(const FunctionDecl* function, const std::vector<bool>& mask,
                                   SourceLocation use) {
  auto& slot = instances_[{function->getCanonicalDecl(), mask}];
  if (slot) {
    if (slot->failed) return nullptr;
    if (!slot->done) {
      slot->fn.recursive = true;
      slot->fn.has_reverse = true;
    }
    return slot.get();
  }
  slot = std::make_unique<Instance>();
  Instance& in = *slot;
  const unsigned errors = diagnose_.errors();
  auto fail = [&]() -> Instance* {
    in.failed = true;
    return nullptr;
  };
  in.fn.name = types_.unique_global(base_name(function));
  in.fn.primal_name = display_name(function);
  Frontend frontend(sema_, types_, diagnose_, lookup_, in.fn);
  frontend.lower(function);
  callees_.insert(frontend.callees().begin(), frontend.callees().end());
  callees_.insert(function->getCanonicalDecl());
  if (diagnose_.errors() != errors) return fail();
  if (mask.size() != in.fn.params.size()) {
    diagnose_.error(use, "cannot differentiate this call of '" + in.fn.primal_name +
                             "': its arguments do not correspond "
                             "to its parameters");
    return fail();
  }
  for (std::size_t i = 0; i < mask.size(); ++i) in.fn.params[i].active = mask[i];
  structure(in.fn, types_.get(sema_.Context.BoolTy));
  find_active(in.fn, diagnose_);
  resolve_calls(in.fn.body, in);
  if (diagnose_.errors() != errors) return fail();
  in.fn.writes_outside = writes_outside(in.fn.body);
  in.sweeps = std::make_unique<ReverseTransform>(in.fn, diagnose_);
  in.sweeps->run();
  if (diagnose_.errors() != errors) return fail();
  in.done = true;
  order_.push_back(&in);
  return &in;
}

void Module::resolve_calls(ir::Body& body, Instance& in) {
  for (ir::Stmt* s : body) {
    resolve_calls(s->init, in);
    resolve_calls(s->body, in);
    resolve_calls(s->other, in);
    if (s->kind == ir::Stmt::CallStmt) resolve(s, in);
  }
}

void Module::resolve(ir::Stmt* s, Instance& in) {
  ir::CallInfo& call = *s->call;
  const auto* callee = static_cast<const FunctionDecl*>(call.callee);
  SourceLocation at = SourceLocation::getFromRawEncoding(s->loc);
  bool active = std::any_of(call.args.begin(), call.args.end(), [](const auto& a) { return a.active; });
  if (!active && !call.lifted && !call.reversible) return;
  if (active) {
    CustomLookup::Result found =
        lookup_.find(call, callee, s->var != nullptr || callee->getReturnType()->isRealFloatingType());
    if (found == CustomLookup::Found) return;
    if (found == CustomLookup::Rejected) {
      diagnose_.error(at,
                      "no '" + lookup_.wanted() + "' matches this call of '" + display_name(callee) + "'");
      for (const auto& note : lookup_.notes()) diagnose_.note(note.at, note.text);
      return;
    }
  }
  const FunctionDecl* definition = nullptr;
  std::string why;
  if (!call.problem.empty())
    why = call.problem;
  else if (const auto* member = dyn_cast<CXXMethodDecl>(callee);
           member && active && types_.is_opaque(member->getParent()))
    why = "'" + member->getParent()->getNameAsString() + "' is an opaque value, which is never looked into,";
  else if (compat::in_std(callee))
    why = "no derivative of this library function is known";
  else if (!callee->hasBody(definition))
    why = "no definition is visible";
  if (!why.empty()) {
    diagnose_.error(at, "cannot differentiate call to '" + display_name(callee) + "': " + why +
                            " and no matching '" + lookup_.wanted() + "'");
    for (const auto& note : lookup_.notes()) diagnose_.note(note.at, note.text);
    if (lookup_.notes().empty() && !sema_.getSourceManager().isInSystemHeader(callee->getLocation()))
      diagnose_.note(callee->getLocation(),
                     "declared here; define it in this translation unit or give it a pullback in "
                     "clad::custom_derivatives");
    return;
  }
  std::vector<bool> mask;
  for (const auto& a : call.args) mask.push_back(a.active);
  Instance* target = instance(definition, mask, at);
  if (!target) {
    diagnose_.note(at, "in the derivative of this call of '" + display_name(callee) + "'");
    return;
  }
  call.kind = ir::CallInfo::Generated;
  call.generated = &target->fn;
  in.uses.push_back(target);
}

void Module::add(const Request& request) {
  const FunctionDecl* definition = nullptr;
  const FunctionDecl* f = request.function;
  if (!f->hasBody(definition)) {
    diagnose_.error(request.at, "cannot differentiate '" + display_name(f) +
                                    "': no definition is visible in this "
                                    "translation unit");
    return;
  }
  const ir::Type* result = types_.get(f->getReturnType());
  if (result->kind != ir::Type::Real && !(result->kind == ir::Type::Void && !request.with_value)) {
    diagnose_.error(request.at, "cannot differentiate '" + display_name(f) + "': it returns '" +
                                    result->name + "'; a gradient is taken of a floating-point value");
    return;
  }
  std::vector<bool> mask;
  const auto* method = dyn_cast<CXXMethodDecl>(definition);
  bool lambda = method && method->getParent()->isLambda();
  if (lambda) {
    for (const LambdaCapture& c : method->getParent()->captures()) {
      if (!c.capturesVariable() || c.getCapturedVar()->getType()->isRecordType()) {
        const auto* var = c.capturesVariable() ? dyn_cast<VarDecl>(c.getCapturedVar()) : nullptr;
        const CXXRecordDecl* r = var ? var->getType()->getAsCXXRecordDecl() : nullptr;
        if (!var || (r && r->isLambda())) {
          diagnose_.error(request.at,
                          "cannot differentiate a lambda that captures 'this' or another lambda here; take "
                          "the gradient of a function that calls it");
          return;
        }
      }
      mask.push_back(false);
    }
  } else if (method && !method->isStatic()) {
    mask.push_back(types_.get(method->getThisType()->getPointeeType())->differentiable);
  }
  for (unsigned i = 0; i < definition->getNumParams(); ++i) {
    bool wanted =
        std::find(request.parameters.begin(), request.parameters.end(), i) != request.parameters.end();
    mask.push_back(wanted && types_.get(definition->getParamDecl(i)->getType())->differentiable);
  }
  if (Instance* in = instance(definition, mask, request.at)) write_entry(request, *in);
}

void Module::collect(const Instance& in, std::vector<const Instance*>& order,
                     std::set<const Instance*>& seen) const {
  if (!seen.insert(&in).second) return;
  for (const Instance* used : in.uses) collect(*used, order, seen);
  order.push_back(&in);
}

Text Module::code_of(const Instance& in) const {
  Text out;
  if (in.fn.has_state || in.fn.recursive) out.append(in.sweeps->state_text());
  if (in.fn.has_state || in.fn.always_forward || in.fn.recursive) out.append(in.sweeps->forward_text());
  if (in.fn.has_reverse) out.append(in.sweeps->reverse_text());
  return out;
}

/// `clad_fields(a, b, visit)`: how the runtime walks two objects of a class field by field.
Text Module::fields_text() const {
  Text out;
  for (const ir::Type* t : types_.opaques())
    out.line(
        "static_assert(clad::detail::opaque<" + t->name + ">, \"a CLAD_OPAQUE class needs accumulate()\");",
        0);
  for (const ir::Type* t : types_.records()) {
    const auto* record = static_cast<const CXXRecordDecl*>(t->decl);
    std::vector<std::string> spaces;
    for (const DeclContext* c = record->getDeclContext(); c; c = c->getParent())
      if (const auto* n = dyn_cast<NamespaceDecl>(c); n && !n->isInline())
        spaces.insert(spaces.begin(), n->isAnonymousNamespace() ? "" : n->getNameAsString());
    std::string open, close;
    for (const std::string& s : spaces) {
      open += "namespace " + s + (s.empty() ? "{ " : " { ");
      close += " }";
    }
    std::string walk;
    for (const ir::Field& f : t->fields) {
      if (!f.type->differentiable) continue;
      if (f.name.empty())
        walk += " clad_fields(static_cast<" + f.type->name + "&>(a), static_cast<const " + f.type->name +
                "&>(b), visit);";
      else
        walk += " visit(a." + f.name + ", b." + f.name + ");";
    }
    out.line(open + "template <class Visit> inline void clad_fields(" + t->name + "& a, const " + t->name +
                 "& b, Visit&& visit) {" + walk + " }" + close,
             0);
  }
  return out;
}

void Module::write_entry(const Request& request, Instance& in) {
  ir::Function& fn = in.fn;
  const std::string state_name = fn.region->record, value_name = fn.unique("value");
  const ir::Loc loc = request.at.getRawEncoding();
  const auto* method = dyn_cast<CXXMethodDecl>(request.function);
  bool lambda = method && method->getParent()->isLambda();
  bool object = method && !lambda && !method->isStatic();
  std::string grad = request.entry.substr(0, request.entry.size() - std::string("_entry").size());
  Text text;

  // The gradient as a function of its own: primals, then one pointer per active parameter.
  std::string params, primals, needed, adjoints;
  auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    const ir::Parameter& p = fn.params[i];
    add(params, p.type_text);
    add(primals, p.var->name);
    if (fn.recursive || fn.needs_param[i]) add(needed, p.var->name);
  }
  for (const ir::Parameter& p : fn.params) {
    if (!p.active) continue;
    const ir::Type* t = p.var->type;
    bool pointer = t->kind == ir::Type::Pointer;
    add(params, pointer                      ? adjoint_pointer_type(t) + " " + p.var->adjoint
                : t->kind == ir::Type::Array ? "std::type_identity_t<" + t->name + ">* " + p.var->adjoint
                                             : t->name + "* " + p.var->adjoint);
    add(adjoints, (pointer ? "" : "*") + p.var->adjoint);
  }
  bool state = fn.has_state || fn.recursive;
  std::string result = request.with_value ? fn.result->name : "void";
  text.line("static " + result + " " + grad + "(" + params + ") {", loc);
  if (state) text.line(fn.name + "_state " + state_name + ";", loc);
  std::string value = request.with_value ? "const " + fn.result->name + " " + value_name + " = " : "";
  if (state || fn.always_forward) {
    text.line(value + fn.name + "_fwd(" + primals +
                  (state ? (primals.empty() ? "" : ", ") + state_name : std::string()) + ");",
              loc);
  } else if (request.with_value || fn.writes_outside) {
    std::string call = spell_function(request.function, types_) + "(" + primals + ")";
    if (object) {
      std::string rest =
          primals.find(", ") == std::string::npos ? "" : primals.substr(primals.find(", ") + 2);
      std::string name = request.function->getNameAsString();
      call = fn.params[0].var->name + "." + name + "(" + rest + ")";
    }
    text.line(value + call + ";", loc);
  }
  for (const ir::Parameter& p :
       fn.params)  // a vector's adjoint has the length the vector has after the forward sweep
    if (p.active && p.var->external && p.var->type->dynamic_shape)
      text.line("clad::shape_like(*" + p.var->adjoint + ", " + p.var->name + ");", loc);
  if (fn.has_reverse) {
    std::string call = needed;
    if (state) add(call, state_name);
    if (fn.seed) add(call, "1");
    if (!adjoints.empty()) add(call, adjoints);
    text.line(fn.name + "_rev(" + call + ");", loc);
  }
  if (request.with_value) text.line("return " + value_name + ";", loc);
  text.line("}", loc);

  // Its readable code, and the entry through which clad::gradient's object reaches it.
  std::vector<const Instance*> order;
  std::set<const Instance*> seen;
  collect(in, order, seen);
  Text code;
  for (const Instance* i : order) code.append(code_of(*i));
  code.append(text);
  std::vector<ir::Loc> ignored;
  entries_.append(text);
  entries_.line("static const char " + grad + "_code[] = R\"clad(" + code.str(ignored) + ")clad\";", loc);
  entries_.line("static const char* " + request.entry + "(const clad::call_frame* frame) {", loc);
  entries_.line("if (!frame) return " + grad + "_code;", loc);
  std::string arguments, pointers;
  std::vector<std::string> holders;
  const std::size_t hidden = lambda ? method->getParent()->capture_size() : object ? 1 : 0;
  auto position_of = [&](std::size_t i) {  // among the adjoint arguments of execute()
    auto it = std::find(request.parameters.begin(), request.parameters.end(), i - hidden);
    return std::to_string(it - request.parameters.begin());
  };
  const ASTRecordLayout* layout = lambda ? &sema_.Context.getASTRecordLayout(method->getParent()) : nullptr;
  unsigned capture = 0, index = lambda || object ? 1 : 0;
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    const ir::Parameter& p = fn.params[i];
    std::string name = "primal_" + std::to_string(i);
    bool is_capture = lambda && capture < method->getParent()->capture_size();
    std::string constant = p.var->is_const && p.var->type->kind != ir::Type::Pointer ? "const " : "";
    std::string type = constant + p.var->type->name;
    if (type.find("(*)") != std::string::npos) type = "std::type_identity_t<" + type + ">";
    if (p.var->type->kind == ir::Type::Array) type = "std::type_identity_t<" + p.var->type->name + ">";
    if (is_capture) {
      const LambdaCapture& c = method->getParent()->captures_begin()[capture];
      std::uint64_t offset = layout->getFieldOffset(capture) / 8;
      bool by_reference = c.getCaptureKind() == LCK_ByRef;
      entries_.line("auto& " + name + " = *clad::detail::capture<" + type + ", " +
                        (by_reference ? "true" : "false") + ">(frame->primals[0], " + std::to_string(offset) +
                        ");",
                    loc);
      ++capture;
    } else {
      std::string position = std::to_string(object && i == 0 ? 0 : index++);
      entries_.line("auto& " + name + " = *static_cast<" + type + "*>(frame->primals[" + position + "]);",
                    loc);
    }
    add(arguments, name);
    if (!p.active) continue;
    std::string holder = "adjoint_" + std::to_string(i);
    std::string which = object && i == 0 ? "clad::adjoint_of_object" : position_of(i);
    bool pointer = p.var->type->kind == ir::Type::Pointer;
    holders.push_back(
        pointer
            ? "auto* " + holder + " = clad::adjoint_pointer<" + adjoint_pointer_type(p.var->type->element) +
                  ">(*frame, " + which + ", wanted, \"" + p.var->name + "\");"
            : "clad::adjoint_holder<" +
                  (p.var->type->kind == ir::Type::Array ? "std::type_identity_t<" + p.var->type->name + ">"
                                                        : p.var->type->name) +
                  "> " + holder + "(*frame, " + which + ", wanted, \"" + p.var->name + "\", " + name + ");");
    add(pointers, pointer ? holder : holder + ".get()");
  }
  entries_.line("constexpr std::size_t wanted = " + std::to_string(request.parameters.size()) + ";", loc);
  entries_.line("clad::check_adjoints(*frame, wanted, " + std::string(object ? "true" : "false") + ", \"" +
                    fn.primal_name + "\");",
                loc);
  for (const std::string& h : holders) entries_.line(h, loc);
  if (!pointers.empty()) add(arguments, pointers);
  std::string call = grad + "(" + arguments + ");";
  if (request.with_value) call = "*static_cast<" + fn.result->name + "*>(frame->result) = " + call;
  entries_.line(call, loc);
  entries_.line("return nullptr;", loc);
  entries_.line("}", loc);
}

std::string Module::text(std::vector<ir::Loc>& locations) const {
  Text out = fields_text();
  for (const Instance* in : order_) {
    if (!in->fn.recursive) continue;
    out.line("struct " + in->fn.name + "_state;", in->fn.loc);
    out.line(in->sweeps->forward_signature() + ";", in->fn.loc);
    out.line(in->sweeps->reverse_signature() + ";", in->fn.loc);
  }
  for (const Instance* in : order_) {
    out.append(code_of(*in));
    out.line("", in->fn.loc);
  }
  out.append(entries_);
  return out.str(locations);
}

}  // namespace clad
