#include "module.h"

#include <algorithm>

#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Lookup.h"
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

/// Finds the parameters through which running the statements may change memory of the caller.
static void find_changes(const ir::Body& body, ir::Function& fn) {
  auto change = [&](const ir::Var* root) {
    fn.writes_outside = true;
    bool known = false;
    for (std::size_t i = 0; i < fn.params.size(); ++i)
      if (fn.params[i].var == root) known = fn.changes[i] = true;
    if (!known) fn.changes.assign(fn.params.size(), true);
  };
  for (const ir::Stmt* s : body) {
    if (s->kind == ir::Stmt::Assign && ir::is_outside(s->lhs)) change(ir::root(s->lhs));
    for (const ir::Var* v : s->touched)
      if (v->external) change(v);
    for (const ir::Body* inner : {&s->init, &s->body, &s->other}) find_changes(*inner, fn);
  }
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
  Diagnose::Use context(diagnose_, use);
  auto fail = [&]() -> Instance* {
    in.failed = true;
    return nullptr;
  };
  in.fn.name = types_.unique_global(base_name(function));
  in.fn.primal_name = display_name(function);
  in.fn.names_type = [this](const std::string& name) { return types_.names_type(name); };
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
  if (diagnose_.errors() != errors) return fail();
  resolve_calls(in.fn.body, in);
  if (diagnose_.errors() != errors) return fail();
  in.fn.changes.assign(in.fn.params.size(), false);
  find_changes(in.fn.body, in.fn);
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
  const unsigned errors = diagnose_.errors();
  Instance* target = instance(definition, mask, at);
  if (diagnose_.errors() != errors)
    diagnose_.note(at, "in the derivative of this call of '" + display_name(callee) + "'");
  if (!target) return;
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

void Module::check_opaques() {
  for (const ir::Type* t : types_.opaques()) {
    auto* record = const_cast<CXXRecordDecl*>(static_cast<const CXXRecordDecl*>(t->decl));
    LookupResult found(sema_, &sema_.Context.Idents.get("accumulate"), SourceLocation(),
                       Sema::LookupMemberName);
    found.suppressDiagnostics();
    sema_.LookupQualifiedName(found, record);
    bool accumulates = false;
    for (const NamedDecl* d : found) {
      const auto* f = dyn_cast<CXXMethodDecl>(d->getUnderlyingDecl());
      accumulates |= isa<FunctionTemplateDecl>(d->getUnderlyingDecl());
      accumulates |= f && f->getNumParams() > 0 && f->getMinRequiredArguments() <= 1 &&
                     types_.get(f->getParamDecl(0)->getType()) == t;
    }
    if (accumulates && t->default_constructible) continue;
    diagnose_.error(record->getLocation(),
                    "CLAD_OPAQUE class '" + t->name + "' has no " +
                        (accumulates ? "default constructor" : "member 'accumulate' for cotangents"));
    diagnose_.note(
        record->getLocation(),
        "an opaque class needs 'void accumulate(const " + record->getNameAsString() +
            "&)', which adds a cotangent, and a default constructor, which makes a zero of any shape");
  }
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

std::string Module::text(std::vector<ir::Loc>& locations) const {
  Text out = fields_text();
  // Another translation unit may differentiate another function of the same name: a linker would take two
  // structs of one name, and what is instantiated with them, for one.
  out.line("namespace {", 0);
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
  out.line("}  // namespace", 0);
  out.append(entries_);
  return out.str(locations);
}

}  // namespace clad
