// How the derivative of each active call is taken: by a custom derivative, or by differentiating the callee.
#include <algorithm>

#include "clang/Lex/Preprocessor.h"
#include "compat.h"
#include "frontend.h"
#include "instead.h"
#include "module.h"

using namespace clang;

namespace clad {
namespace {

bool is_active(const ir::CallInfo& call) {
  return std::any_of(call.args.begin(), call.args.end(), [](const auto& a) { return a.active; });
}

Mask active_arguments(const ir::CallInfo& call) {
  Mask mask;
  for (const ir::CallInfo::Arg& a : call.args) mask.push_back(a.active);
  return mask;
}

/// Whether the call's pullback, from numbers to a number, says what its partial derivatives are.
bool has_partials(const ir::CallInfo& call, const ir::Stmt* s) {
  if (!s->var || s->var->type->kind != ir::Type::Real) return false;
  if (!call.state_type.empty()) return false;
  if (!call.forward_name.empty() && call.forward_form == ir::CallInfo::Plain) return false;
  return std::all_of(call.args.begin(), call.args.end(), [](const auto& a) {
    const ir::Type::Kind kind = a.expr->type->kind;
    return !a.mutable_ && (kind == ir::Type::Real || kind == ir::Type::Scalar);
  });
}

/// std::function and its like.
bool is_function_wrapper(const CXXRecordDecl* record) {
  return record->getIdentifier() &&
         (record->getName() == "function" || record->getName() == "move_only_function");
}

/// The namespace that a user puts the function's pullback in.
std::string home_of_pullback(const FunctionDecl* f) {
  if (isa<CXXMethodDecl>(f)) return "clad::custom_derivatives::class_functions";
  if (compat::in_std(f)) return "clad::custom_derivatives::std";
  std::string path;
  for (const DeclContext* c = f->getDeclContext(); c; c = c->getParent())
    if (const auto* n = dyn_cast<NamespaceDecl>(c); n && !n->isInline() && !n->isAnonymousNamespace())
      path = "::" + n->getNameAsString() + path;
  return "clad::custom_derivatives" + path;
}

/// A member of a library container that changes it.
bool changes_container(const ir::CallInfo& call, const ir::Stmt* s, const FunctionDecl* callee) {
  if (call.args.empty() || !call.args[0].object || !call.args[0].mutable_ || s->var) return false;
  const ir::Type::Kind kind = call.args[0].expr->type->kind;
  return (kind == ir::Type::Vector || kind == ir::Type::StdArray) && compat::in_std(callee);
}

/// Of `v.resize(n)`, where the class of the elements starts its objects with something else than zero, the
/// `v.resize(n, x)` that the tangent needs; null for any other call.
const FunctionDecl* filling(const ir::CallInfo& call, const FunctionDecl* callee) {
  const ir::Type* type = call.args[0].expr->type;
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  if (!method || call.name != "resize" || call.args.size() != 2 || type->element->zero_by_value_init)
    return nullptr;
  for (const CXXMethodDecl* m : method->getParent()->methods())
    if (m->getDeclName() == method->getDeclName() && m->getNumParams() == 2) return m;
  return nullptr;
}

}  // namespace

bool Module::resolve_calls(ir::Body& body, Instance& in, Resolve resolve) {
  const unsigned errors = diagnose_.errors();
  for (ir::Stmt* s : body) {
    for (ir::Body* inner : {&s->init, &s->body, &s->other}) resolve_calls(*inner, in, resolve);
    if (s->kind == ir::Stmt::CallStmt) (this->*resolve)(s, in);
  }
  return diagnose_.errors() == errors;
}

/// Whether the callee's body can be differentiated; reports why not. `wanted` names what would make up for
/// it.
bool Module::has_derivative(const ir::CallInfo& call, SourceLocation at, const FunctionDecl*& definition,
                            const std::string& wanted) {
  const auto* callee = static_cast<const FunctionDecl*>(call.callee);
  const auto* member = dyn_cast<CXXMethodDecl>(callee);
  const bool active = is_active(call), opaque = member && active && types_.is_opaque(member->getParent());
  const bool of_library = compat::in_std(callee);
  const std::string instead = active ? instead_of(callee) : "";
  const std::string pullback = "give this function a pullback in " + home_of_pullback(callee);
  std::string why, note;
  if (!call.problem.empty()) {
    why = call.problem;
  } else if (!instead.empty()) {
    why = instead;
  } else if (opaque) {
    why = "'" + member->getParent()->getNameAsString() + "' is an opaque value, which is never looked into,";
    note = "use a function that has a derivative, or " + pullback;
  } else if (of_library && member && is_function_wrapper(member->getParent())) {
    why = "which function it holds is not known here";
    note = "replace it with a class that has an operator(), or with a base class that has a virtual function";
  } else if (of_library) {
    why = "no derivative of this library function is known";
    note = "rewrite the call with supported operations (docs/differentiating.md lists them), or " + pullback;
  } else if (!callee->hasBody(definition) && !instantiate(callee, at, definition)) {
    why = "no definition is visible";
    note = "define it in this translation unit or " + pullback;
  }
  if (why.empty()) return true;
  diagnose_.error(at, "cannot differentiate call to '" + display_name(callee) + "': " + why +
                          (why == instead ? "" : " and no matching " + wanted));
  for (const auto& n : lookup_.notes()) diagnose_.note(n.at, n.text);
  if (!lookup_.notes().empty()) return false;
  if (of_library && !note.empty())
    diagnose_.note(at, note);
  else if (!sema_.getSourceManager().isInSystemHeader(callee->getLocation()))
    diagnose_.note(callee->getLocation(), "declared here" + (note.empty() ? "" : "; " + note));
  return false;
}

/// Makes the definition of a template that only we have named so far, a custom derivative.
bool Module::instantiate(const FunctionDecl* function, SourceLocation at, const FunctionDecl*& definition) {
  if (!function->isTemplateInstantiation()) return false;
  sema_.InstantiateFunctionDefinition(at, const_cast<FunctionDecl*>(function), /*Recursive=*/true);
  return function->hasBody(definition);
}

/// A function of numbers whose body is not visible can be called at other points; the user is told.
bool Module::by_differences(const ir::Stmt* s) {
  ir::CallInfo& call = *s->call;
  const auto* callee = static_cast<const FunctionDecl*>(call.callee);
  const SourceLocation at = SourceLocation::getFromRawEncoding(s->loc);
  if (sema_.getPreprocessor().isMacroDefined("CLAD_NO_NUM_DIFF") || !call.problem.empty() || call.lifted)
    return false;
  const bool is_builtin =
      callee->getIdentifier() && callee->getName().starts_with("__builtin_");  // has no address
  if (!s->var || !callee->getReturnType()->isRealFloatingType() || isa<CXXMethodDecl>(callee) ||
      callee->isVariadic() || is_builtin || call.args.size() != callee->getNumParams())
    return false;
  const FunctionDecl* definition = nullptr;
  if (!compat::in_std(callee) && (callee->hasBody(definition) || instantiate(callee, at, definition)))
    return false;
  std::string type = types_.spell(callee->getReturnType()) + " (*)(";
  for (unsigned i = 0; i < callee->getNumParams(); ++i) {
    const QualType param = callee->getParamDecl(i)->getType();
    if (!param->isArithmeticType()) return false;
    type += (i ? ", " : "") + types_.spell(param.getUnqualifiedType());
  }
  if (!lookup_.notes().empty()) return false;  // a pullback is meant, and does not match
  diagnose_.warning(at,
                    "the derivative of '" + display_name(callee) +
                        "' is taken by differences, since its definition is not visible; give it a pullback "
                        "in clad::custom_derivatives, or define CLAD_NO_NUM_DIFF to make this an error");
  call.kind = ir::CallInfo::Custom;
  call.is_pushforward = false;
  call.derivative = nullptr;
  call.adjoints_for_all = call.value_cotangent = true;
  call.unused.clear();
  call.reverse_name = "clad::builtin_derivatives::by_differences<static_cast<" + type + ")>(&" +
                      spell_function(callee, types_) + ")>::pullback";
  callees_.insert(callee->getCanonicalDecl());
  return true;
}

/// What is taken by differences has no body to differentiate again.
bool Module::has_callee(const ir::Stmt* s) {
  if (s->call->callee || !is_active(*s->call)) return true;
  diagnose_.error(s->loc,
                  "cannot differentiate twice by differences: give the function called here a pullback in "
                  "clad::custom_derivatives");
  return false;
}

void Module::use_instance(ir::Stmt* s, const DerivativeKey& key, Instance& in) {
  const SourceLocation at = SourceLocation::getFromRawEncoding(s->loc);
  const unsigned errors = diagnose_.errors();
  Instance* target = instance(key, at);
  if (diagnose_.errors() != errors)
    diagnose_.note(at, "in the derivative of this call of '" + display_name(key.function) + "'");
  if (!target) {  // reported before
    s->call->kind = ir::CallInfo::Inactive;
    return;
  }
  s->call->generated = &target->fn;
  if (!key.tangents.empty() && !key.reverse) s->call->primal->text = target->fn.name;
  for (std::size_t k = 0; k < key.tangents.size(); ++k)
    for (std::size_t i = 0; i < key.tangents[k].kinds.size(); ++i)
      if (target->done && target->reached[k][i] && key.tangents[k].kinds[i] == ir::Tangent::None) {
        diagnose_.error(at, "cannot differentiate '" + target->fn.primal_name + "' without regard to '" +
                                target->fn.params[i].var->name +
                                "', which changes with its other parameters");
        return;
      }
  in.uses.push_back(target);
}

void Module::rejected(SourceLocation at, const FunctionDecl* callee) {
  diagnose_.error(at, "no '" + lookup_.wanted() + "' matches this call of '" + display_name(callee) + "'");
  for (const auto& note : lookup_.notes()) diagnose_.note(note.at, note.text);
}

/// Of a call that returns a reference or pointer, only what the user says runs in the forward sweep is known.
void Module::without_pullback(ir::CallInfo& call, SourceLocation at) {
  call.kind = ir::CallInfo::Inactive;
  if (call.selects) return;
  const auto* forward = static_cast<const FunctionDecl*>(call.forward);
  diagnose_.error(at, "cannot differentiate this call of '" +
                          display_name(static_cast<const FunctionDecl*>(call.callee)) +
                          "': it may change what it is given; give it a pullback beside '" +
                          forward->getNameAsString() + "'");
  diagnose_.note(forward->getLocation(), "declared here");
}

void Module::resolve_reverse(ir::Stmt* s, Instance& in) {
  ir::CallInfo& call = *s->call;
  const auto* callee = static_cast<const FunctionDecl*>(call.callee);
  SourceLocation at = SourceLocation::getFromRawEncoding(s->loc);
  if (!has_callee(s)) return;
  const bool active = is_active(call), forward = !call.tangents.empty();
  const FunctionDecl* definition = nullptr;
  if (!active && forward) {
    callee->hasBody(definition);
    return use_instance(s, {definition, call.tangents, false, {}, false, true, call.targets}, in);
  }
  if (!active && !call.lifted && (!call.reversible || in.fn.is_tangent)) return;
  if (active && !forward) {
    CustomLookup::Result found = lookup_.find(
        call, callee, !call.names && (s->var != nullptr || callee->getReturnType()->isRealFloatingType()));
    if (found == CustomLookup::Rejected && call.names) found = lookup_.find(call, callee, true);
    if (found == CustomLookup::Found) return;
    if (found == CustomLookup::Rejected) return rejected(at, callee);
    found = lookup_.find_forward(call, callee);
    if (found == CustomLookup::Rejected) return rejected(at, callee);
    if (call.names) return without_pullback(call, at);
    if (found == CustomLookup::Found)
      call.checkpoint = true;  // its value is that one's, the rest is computed later
    if (by_differences(s)) return;
  }
  if (!has_derivative(call, at, definition, "'" + lookup_.wanted() + "'")) return;
  call.kind = ir::CallInfo::Generated;
  use_instance(s,
               {definition, call.tangents, true, active_arguments(call), in.fn.error != nullptr, true,
                call.targets, call.concurrent},
               in);
}

void Module::resolve_forward(ir::Stmt* s, Instance& in) {
  ir::CallInfo& call = *s->call;
  const auto* callee = static_cast<const FunctionDecl*>(call.callee);
  if (!is_active(call) || !has_callee(s)) return;
  if (call.tangents.empty()) {
    if (changes_container(call, s, callee)) {
      call.kind = ir::CallInfo::Mirrored;
      call.filling = filling(call, callee);
      return;
    }
    const CustomLookup::Result found = lookup_.find_pushforward(call, callee);
    if (found == CustomLookup::Found) return;
    if (found == CustomLookup::Rejected) return rejected(SourceLocation::getFromRawEncoding(s->loc), callee);
    if (call.names) {
      if (!call.selects)
        diagnose_.error(s->loc, "cannot differentiate this call of '" + display_name(callee) +
                                    "' forward: it may change what it is given, and returns a reference or a "
                                    "pointer; give it a '" +
                                    derivative_word(callee) + "_pushforward'");
      call.kind = ir::CallInfo::Inactive;
      return;
    }
    if (lookup_.find(call, callee, s->var != nullptr) == CustomLookup::Found && has_partials(call, s)) return;
    if (by_differences(s)) return;
    call.kind = ir::CallInfo::Inactive;
  }
  const FunctionDecl* definition = nullptr;
  const std::string name = operator_word(callee);
  const std::string wanted = "'" + name + "_pushforward', or '" + name + "_pullback' of numbers";
  if (!has_derivative(call, SourceLocation::getFromRawEncoding(s->loc), definition, wanted)) return;
  DerivativeKey key{definition, call.tangents, false, {}, false, true, call.targets};
  key.tangents.push_back({{}, in.width});
  for (const ir::CallInfo::Arg& a : call.args)
    key.tangents.back().kinds.push_back(ir::tangent_kind(a.expr, a.active));
  call.kind = ir::CallInfo::Generated;
  use_instance(s, key, in);
}

}  // namespace clad
