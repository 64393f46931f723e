#include "module.h"

#include <algorithm>

#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Lookup.h"
#include "compat.h"
#include "effects.h"
#include "entry.h"
#include "frontend.h"
#include "fuse.h"
#include "passes.h"
#include "tangent.h"

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
    if (root && !root->global.empty()) return;
    bool known = false;
    for (std::size_t i = 0; i < fn.params.size(); ++i)
      if (fn.params[i].var == root) known = fn.changes[i] = true;
    if (!known) fn.changes.assign(fn.params.size(), true);
  };
  for (const ir::Stmt* s : body) {
    if (s->kind == ir::Stmt::Assign && ir::is_outside(s->lhs)) change(ir::root(s->lhs));
    if (s->kind == ir::Stmt::Assign && s->text == "swap" && ir::is_outside(s->expr))
      change(ir::root(s->expr));
    for (const ir::Var* v : s->touched)
      if (v->external) change(v);
    for (const ir::Body* inner : {&s->init, &s->body, &s->other}) find_changes(*inner, fn);
  }
}

Module::Instance* Module::instance(const DerivativeKey& wanted, SourceLocation use) {
  DerivativeKey key = wanted;
  key.function = key.function->getCanonicalDecl();
  auto& slot = instances_[key];
  if (slot) {
    if (slot->failed) return nullptr;
    if (!slot->done) {
      slot->fn.recursive = true;
      slot->fn.has_reverse = key.reverse;
    }
    return slot.get();
  }
  slot = std::make_unique<Instance>();
  Instance& in = *slot;
  Diagnose::Use context(diagnose_, use);
  key.function = wanted.function;
  if (!lower(key, use, in)) {
    in.failed = true;
    return nullptr;
  }
  in.done = true;
  return &in;
}

/// What a request asks for itself: for the objects of its class.
Module::Instance* Module::instance(DerivativeKey key, const Request& request) {
  key.heir = request.heir();
  return instance(key, request.at);
}

/// Marks the active parameters, and what depends on them.
bool Module::activate(const ir::Tangents& mask, SourceLocation use, Instance& in) {
  if (mask.kinds.size() != in.fn.params.size()) {
    diagnose_.error(use, "cannot differentiate this call of '" + in.fn.primal_name +
                             "': its arguments do not correspond "
                             "to its parameters");
    return false;
  }
  const unsigned errors = diagnose_.errors();
  in.width = mask.width;
  for (std::size_t i = 0; i < mask.kinds.size(); ++i) {
    const ir::Tangent kind = mask.kinds[i];
    ir::Parameter& p = in.fn.params[i];
    p.active = kind != ir::Tangent::None;
    p.var->unbounded = kind == ir::Tangent::OneHot || kind == ir::Tangent::Growing;
    p.var->growing = kind == ir::Tangent::Growing;
  }
  find_active(in.fn, diagnose_);
  in.reached.emplace_back();
  for (const ir::Parameter& p : in.fn.params) in.reached.back().push_back(p.var->active);
  return diagnose_.errors() == errors;
}

void Module::set_patterns(const std::vector<const FunctionDecl*>& patterns) {
  if (!analyses_.fusion) return;
  for (const FunctionDecl* pattern : patterns) rules_.add(pattern);
}

/// The parameters that carry a derivative in any step.
static Mask active_in(const DerivativeKey& key, std::size_t params) {
  Mask active(params, false);
  for (std::size_t i = 0; i < params; ++i) {
    active[i] = i < key.adjoints.size() && key.adjoints[i];
    for (const ir::Tangents& step : key.tangents)
      if (i < step.kinds.size() && step.kinds[i] != ir::Tangent::None) active[i] = true;
  }
  return active;
}

bool Module::lower(const DerivativeKey& key, SourceLocation use, Instance& in) {
  const unsigned errors = diagnose_.errors();
  ir::Function& fn = in.fn;
  const std::string suffix = key.tangents.empty() ? "" : "_pushforward";
  fn.name = types_.unique_global(base_name(key.function) + suffix);
  fn.primal_name = display_name(key.function);
  fn.is_constexpr = !constants_.empty();
  if (const auto* target = key.function->getAttr<TargetAttr>())
    fn.attributes = "__attribute__((target(\"" + target->getFeaturesStr().str() + "\"))) ";
  fn.names_type = [this](const std::string& name) { return types_.names_type(name); };
  Frontend frontend(sema_, types_, diagnose_, lookup_, fn, uses_, globals_);
  std::vector<const Decl*> targets;
  for (const void* t : key.targets) targets.push_back(static_cast<const Decl*>(t));
  Mask asked;
  if (!key.tangents.empty())
    for (const ir::Tangent kind : key.tangents.front().kinds) asked.push_back(kind != ir::Tangent::None);
  frontend.lower(key.function, targets, asked, /*forward=*/!key.tangents.empty(), key.heir);
  callees_.insert(frontend.callees().begin(), frontend.callees().end());
  callees_.insert(key.function->getCanonicalDecl());
  if (diagnose_.errors() != errors) return false;
  if (!rules_.is_part(key.function)) fuse(fn, rules_, active_in(key, fn.params.size()), callees_);
  structure(fn, types_.get(sema_.Context.BoolTy));
  if (analyses_.steps) read_after_steps(fn);
  std::map<ir::Var*, ir::Var*> tangents;
  for (const ir::Tangents& mask : key.tangents) {
    if (!activate(mask, use, in)) return false;
    if (!resolve_calls(fn.body, in, &Module::resolve_forward)) return false;
    in.uses.clear();  // those of the last step are used, not those of the steps before
    TangentTransform transform(fn, types_, diagnose_, mask.width);
    transform.run();
    if (diagnose_.errors() != errors) return false;
    tangents = mask.again && analyses_.equal ? merge_equal(fn, tangents, transform.tangents())
                                             : transform.tangents();
  }
  fn.is_tangent = !key.reverse;
  if (key.error) fn.error = fn.make_var(ir::Var::Param, "error", types_.get(sema_.Context.DoubleTy), nullptr);
  ir::Tangents adjoints{std::vector<ir::Tangent>(fn.params.size(), ir::Tangent::None)};
  if (key.reverse) {
    adjoints.kinds.clear();
    for (const bool wanted : key.adjoints)
      adjoints.kinds.push_back(wanted ? ir::Tangent::Full : ir::Tangent::None);
  }
  if (!activate(adjoints, use, in)) return false;
  fn.concurrent = key.concurrent;
  find_concurrent(fn, diagnose_);
  if (!resolve_calls(fn.body, in, &Module::resolve_reverse)) return false;
  if (key.reverse)
    in.loops = outline_loops(fn, types_.get(sema_.Context.VoidTy), diagnose_, analyses_,
                             [this](const std::string& name) { return types_.unique_global(name); });
  if (diagnose_.errors() != errors) return false;
  fn.changes.assign(fn.params.size(), false);
  find_changes(fn.body, fn);
  fn.pure = ir::is_pure(fn.body);
  fn.wants_value = key.value || !analyses_.slices;
  in.sweeps = std::make_unique<ReverseTransform>(fn, diagnose_, analyses_);
  if (key.reverse) {
    in.sweeps->run();
    if (diagnose_.remarks()) in.sweeps->explain();
  }
  return diagnose_.errors() == errors;
}

/// A function of which the user has a derivative is not differentiated, what calls it is: this is a function
/// that does nothing else. Null where there is no such derivative, or after an error.
const FunctionDecl* Module::call_of(const Request& request) {
  const FunctionDecl* function = request.function;
  const auto* method = dyn_cast<CXXMethodDecl>(function);
  if ((method && !method->isStatic()) || function->isVariadic() || !lookup_.derived_by_user(function))
    return nullptr;
  const FunctionDecl* named = function;
  function->hasBody(named);  // a declaration may spell other names of its parameters or none
  function = function->getCanonicalDecl();
  if (const auto made = calls_.find(function); made != calls_.end()) return made->second;
  ASTContext& context = sema_.Context;
  const SourceLocation at = function->getLocation();
  auto* made = FunctionDecl::Create(context, const_cast<DeclContext*>(function->getDeclContext()), at, at,
                                    DeclarationName(function->getDeclName()), function->getType(),
                                    function->getTypeSourceInfo(), SC_Static);
  std::vector<ParmVarDecl*> params;
  std::vector<clang::Expr*> arguments;
  for (const ParmVarDecl* p : named->parameters()) {
    params.push_back(ParmVarDecl::Create(context, made, at, at, p->getIdentifier(), p->getType(),
                                         p->getTypeSourceInfo(), SC_None, nullptr));
    params.back()->setScopeInfo(0, static_cast<unsigned>(arguments.size()));
    arguments.push_back(DeclRefExpr::Create(context, NestedNameSpecifierLoc(), SourceLocation(),
                                            params.back(), false, at, p->getType().getNonReferenceType(),
                                            VK_LValue));
  }
  made->setParams(params);
  const Sema::SFINAETrap trap(sema_);
  clang::Expr* callee =
      sema_.BuildDeclRefExpr(const_cast<FunctionDecl*>(function), function->getType(), VK_LValue, at);
  const ExprResult call = sema_.BuildCallExpr(nullptr, callee, at, arguments, at);
  if (call.isInvalid() || trap.hasErrorOccurred()) {
    diagnose_.error(request.at, "cannot use the derivative that is given for '" + display_name(function) +
                                    "': the function takes an argument that is moved; take the derivative of "
                                    "one that calls it");
    return nullptr;
  }
  clang::Stmt* body = call.get();
  if (!function->getReturnType()->isVoidType()) body = ReturnStmt::Create(context, at, call.get(), nullptr);
  made->setBody(CompoundStmt::Create(context, body, FPOptionsOverride(), at, at));
  return calls_[function] = made;
}

void Module::add(const Request& request) {
  const FunctionDecl* f = request.function;
  const unsigned errors = diagnose_.errors();
  const FunctionDecl* definition = call_of(request);
  if (diagnose_.errors() != errors) return;
  // A precompiled header leaves instantiations to the files that include it.
  if (!definition && !f->hasBody(definition) && !instantiate(f, request.at, definition)) {
    const auto* method = dyn_cast<CXXMethodDecl>(f);
    const bool pure = method && compat::is_pure(method);
    if (pure && !request.overriders.empty()) return write_choice(request);
    diagnose_.error(request.at,
                    "cannot differentiate '" + display_name(f) + "': " +
                        (pure ? "it is pure virtual, and nothing overrides it" : "no definition is visible") +
                        " in this translation unit");
    return;
  }
  const ir::Type* result = types_.get(f->getReturnType());
  const bool any = request.kind == Request::Pushforward || request.kind == Request::Jacobian;
  const bool none = result->kind == ir::Type::Void && request.kind == Request::Gradient;
  // What is computed from an integer that is taken for a number is one too.
  const bool whole = request.kind == Request::Derivative && !request.vector && is_whole(f->getReturnType()) &&
                     !f->getReturnType()->isEnumeralType() && (!request.all || f->getNumParams() == 1) &&
                     llvm::any_of(request.parameters, [&](unsigned p) {
                       return p != Request::object && is_whole(definition->getParamDecl(p)->getType());
                     });
  if (result->kind != ir::Type::Real && !none && !any && !whole) {
    diagnose_.error(request.at,
                    "cannot differentiate '" + display_name(f) + "': it returns '" + result->name +
                        "'; a gradient is taken of a floating-point value, so let it return a double");
    return;
  }
  if (f->getReturnType()->isReferenceType() && result->differentiable) {
    diagnose_.error(request.at,
                    "cannot differentiate '" + display_name(f) +
                        "' itself: it returns a reference; take the derivative of a function that "
                        "calls it and returns by value");
    return;
  }
  const std::optional<Mask> mask = mask_of(request, definition);
  if (!mask) return;
  switch (request.kind) {
    case Request::Gradient:
    case Request::ValueAndGradient:
    case Request::ErrorEstimate:
      return write_gradient(request, definition, *mask);
    case Request::Pushforward:
      return write_pushforward(request, definition, *mask);
    case Request::Derivative:
      if (request.vector) return write_directions(request, definition, *mask);
      return write_derivative(request, definition, *mask);
    case Request::Jacobian:
      return write_jacobian(request, definition, *mask);
    case Request::Hessian:
      return write_hessian(request, definition, *mask);
    case Request::HessianVector:
      return write_hessian_vector(request, definition, *mask);
  }
}

/// Adds to `mask` the parameters that only change with those it has: their adjoints are needed as well. True
/// if there are any; a pointer, whose adjoint would have an unknown length, is an error, unless it may grow,
/// and what holds pointers, of which only the caller can give one, as execute() of a method's gradient takes.
bool Module::reach(const Request& request, const Instance& in, std::size_t step, Mask& mask, bool growing) {
  bool more = false;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] || !in.reached[step][i]) continue;
    const ir::Var* v = in.fn.params[i].var;
    more = mask[i] = true;
    const bool reverse = request.kind == Request::Gradient || request.kind == Request::ValueAndGradient;
    const auto* method = dyn_cast<CXXMethodDecl>(request.function);
    const bool object = method && !method->isStatic() && !method->getParent()->isLambda() && i == 0;
    if (v->type->kind == ir::Type::Pointer ? growing : (reverse && object) || !v->type->has_pointer) continue;
    diagnose_.error(request.at,
                    "cannot differentiate '" + in.fn.primal_name + "' without regard to '" + v->name +
                        "': what it points to " + (v->type->has_pointer ? "may change" : "changes") +
                        " with the independent variables; " +
                        (v->type->has_pointer ? "take the gradient with an adjoint for it, or let it hold a "
                                                "std::vector"
                                              : "name it too, or pass an array or a std::vector"));
    return false;
  }
  return more;
}

void Module::no_derivative_of(const Request& request, const ParmVarDecl* p) {
  diagnose_.error(request.at, "cannot differentiate with respect to '" + p->getNameAsString() +
                                  "': its type '" + types_.get(p->getType())->name +
                                  "' carries no derivative");
}

/// The parameters to differentiate for, the hidden ones before them: a lambda's captures, a method's object.
std::optional<Mask> Module::mask_of(const Request& request, const FunctionDecl* definition) {
  Mask mask;
  const auto* method = dyn_cast<CXXMethodDecl>(definition);
  bool lambda = method && method->getParent()->isLambda();
  if (lambda) {
    for (const LambdaCapture& c : method->getParent()->captures()) {
      if (!c.capturesVariable() || c.getCapturedVar()->getType()->isRecordType()) {
        const auto* var = c.capturesVariable() ? dyn_cast<VarDecl>(c.getCapturedVar()) : nullptr;
        const CXXRecordDecl* r = var ? var->getType()->getAsCXXRecordDecl() : nullptr;
        if (!var || (r && r->isLambda())) {
          diagnose_.error(request.at,
                          "cannot differentiate a lambda that captures 'this' or another lambda here; let it "
                          "capture the members that it uses, as in [&x = x], or take the gradient of a "
                          "function that calls it");
          return std::nullopt;
        }
      }
      mask.push_back(false);
    }
  } else if (method && !method->isStatic()) {
    const CXXRecordDecl* object = class_of_object(method, request.heir());
    mask.push_back(types_.get(compat::record_type(sema_.Context, object))->differentiable);
  }
  for (unsigned i = 0; i < definition->getNumParams(); ++i) {
    const std::string& type = types_.get(definition->getParamDecl(i)->getType())->name;
    if (TypeTable::is_numeric_array(definition->getParamDecl(i)->getType())) {
      diagnose_.error(
          definition->getParamDecl(i)->getLocation(),
          "cannot differentiate a function that is given a std::valarray itself; take the "
          "derivative of a function that makes it of a std::vector, or of a pointer and a length");
      return std::nullopt;
    }
    if (type.starts_with("std::span<") || type.starts_with("std::initializer_list<")) {
      diagnose_.error(definition->getParamDecl(i)->getLocation(),
                      "cannot differentiate a function that is given a view itself; take the derivative of a "
                      "function that "
                      "makes it of a std::vector, or of a pointer and a length");
      return std::nullopt;
    }
    bool wanted =
        std::find(request.parameters.begin(), request.parameters.end(), i) != request.parameters.end();
    if (wanted && ir::keeps_numbers(types_.get(definition->getParamDecl(i)->getType()))) {
      diagnose_.error(definition->getParamDecl(i)->getLocation(),
                      "cannot differentiate with respect to '" +
                          definition->getParamDecl(i)->getNameAsString() + "' of type '" + type +
                          "': derivatives of that type are not supported; keep the numbers in "
                          "members, a std::vector or a std::array, or name the other "
                          "parameters in the request");
      return std::nullopt;
    }
    if (wanted && !request.all && definition->getParamDecl(i)->getType()->isIntegralOrEnumerationType() &&
        takes_adjoints(request)) {
      no_derivative_of(request, definition->getParamDecl(i));
      return std::nullopt;
    }
    mask.push_back(wanted && types_.get(definition->getParamDecl(i)->getType())->differentiable);
  }
  if (!check_ranges(request, definition)) return std::nullopt;
  return mask;
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
  if (in.fn.is_tangent) return in.sweeps->forward_text();
  for (const auto& loop : in.loops) out.append(loop->text());
  if (in.fn.has_state || in.fn.recursive) out.append(in.sweeps->state_text());
  if (in.fn.has_state || in.fn.always_forward || in.fn.recursive) out.append(in.sweeps->forward_text());
  if (in.fn.has_reverse) out.append(in.sweeps->reverse_text());
  return out;
}

/// `clad_fields(a, b, visit)`: how the runtime walks two objects of a class field by field.
Text Module::fields_text() const {
  Text out;
  for (const ir::Type* t : types_.constants())
    out.line("template <> inline constexpr bool clad::constant_class<" + t->name + "> = true;", 0);
  for (const TypeTable::OwnZero& own : types_.own_zeros()) {
    const std::string& type = own.type->name;
    out.line("template <> struct clad::own_zero<" + type + "> {", 0);
    if (own.like)
      out.line("static " + type + " like(const " + type + "& d) { return clad::zero_like(d); }", 0);
    if (own.init) out.line("static void init(" + type + "& d) { clad::zero_init(d); }", 0);
    out.line("};", 0);
  }
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
      if (!f.type->differentiable || f.constant) continue;
      if (!f.name.empty()) {
        const std::string member = "a." + f.name;
        walk +=
            " visit(" + (f.is_const ? "clad::as_mutable(" + member + ")" : member) + ", b." + f.name + ");";
        continue;
      }
      const std::string bases =
          "static_cast<" + f.type->name + "&>(a), static_cast<const " + f.type->name + "&>(b)";
      // The runtime itself knows the library's classes, and those declared opaque.
      const bool known =
          f.type->kind != ir::Type::Record || compat::in_std(static_cast<const CXXRecordDecl*>(f.type->decl));
      walk += known ? " visit(" + bases + ");" : " clad_fields(" + bases + ", visit);";
    }
    out.line(open + "template <class Visit> constexpr void clad_fields(" + t->name + "& a, const " + t->name +
                 "& b, Visit&& visit) {" + walk + " }" + close,
             0);
  }
  return out;
}

std::string Module::text(std::vector<ir::Loc>& locations) const {
  Text out = fields_text();
  if (!constants_.empty()) out.line("namespace " + constants_ + " {", 0);
  // Another translation unit may differentiate another function of the same name: a linker would take two
  // structs of one name, and what is instantiated with them, for one.
  out.line("namespace {", 0);
  std::vector<const Instance*> used;
  std::set<const Instance*> seen;
  for (const Instance* root : roots_) collect(*root, used, seen);
  for (const Instance* in : used) {
    if (!in->fn.recursive) continue;
    if (!in->fn.is_tangent) out.line("struct " + in->fn.name + "_state;", in->fn.loc);
    out.line(in->sweeps->forward_signature() + ";", in->fn.loc);
    if (!in->fn.is_tangent) out.line(in->sweeps->reverse_signature() + ";", in->fn.loc);
  }
  for (const Instance* in : used) {
    out.append(code_of(*in));
    out.line("", in->fn.loc);
  }
  out.line("}  // namespace", 0);
  out.append(entries_);
  if (!constants_.empty()) out.line("}  // namespace " + constants_, 0);
  return out.str(locations);
}

}  // namespace clad
