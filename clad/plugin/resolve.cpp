// How the derivative of each active call is taken: by a custom derivative, or by differentiating the callee.
#include <algorithm>

#include "compat.h"
#include "frontend.h"
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
  if (!call.state_type.empty() || !call.forward_name.empty()) return false;
  return std::all_of(call.args.begin(), call.args.end(), [](const auto& a) {
    const ir::Type::Kind kind = a.expr->type->kind;
    return !a.mutable_ && (kind == ir::Type::Real || kind == ir::Type::Scalar);
  });
}

/// A member of a library container that changes it.
bool changes_container(const ir::CallInfo& call, const ir::Stmt* s, const FunctionDecl* callee) {
  if (call.args.empty() || !call.args[0].object || !call.args[0].mutable_ || s->var) return false;
  const ir::Type::Kind kind = call.args[0].expr->type->kind;
  return (kind == ir::Type::Vector || kind == ir::Type::StdArray) && compat::in_std(callee);
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
  std::string why;
  if (!call.problem.empty())
    why = call.problem;
  else if (const auto* member = dyn_cast<CXXMethodDecl>(callee);
           member && is_active(call) && types_.is_opaque(member->getParent()))
    why = "'" + member->getParent()->getNameAsString() + "' is an opaque value, which is never looked into,";
  else if (compat::in_std(callee))
    why = "no derivative of this library function is known";
  else if (!callee->hasBody(definition) && !instantiate(callee, at, definition))
    why = "no definition is visible";
  if (why.empty()) return true;
  diagnose_.error(at, "cannot differentiate call to '" + display_name(callee) + "': " + why +
                          " and no matching " + wanted);
  for (const auto& note : lookup_.notes()) diagnose_.note(note.at, note.text);
  if (lookup_.notes().empty() && !sema_.getSourceManager().isInSystemHeader(callee->getLocation()))
    diagnose_.note(callee->getLocation(),
                   "declared here; define it in this translation unit or give it a pullback in "
                   "clad::custom_derivatives");
  return false;
}

/// Makes the definition of a template that only we have named so far, a custom derivative.
bool Module::instantiate(const FunctionDecl* function, SourceLocation at, const FunctionDecl*& definition) {
  if (!function->isTemplateInstantiation()) return false;
  sema_.InstantiateFunctionDefinition(at, const_cast<FunctionDecl*>(function), /*Recursive=*/true);
  return function->hasBody(definition);
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

void Module::resolve_reverse(ir::Stmt* s, Instance& in) {
  ir::CallInfo& call = *s->call;
  const auto* callee = static_cast<const FunctionDecl*>(call.callee);
  SourceLocation at = SourceLocation::getFromRawEncoding(s->loc);
  const bool active = is_active(call), forward = !call.tangents.empty();
  const FunctionDecl* definition = nullptr;
  if (!active && forward) {
    callee->hasBody(definition);
    return use_instance(s, {definition, call.tangents, false, {}}, in);
  }
  if (!active && !call.lifted && (!call.reversible || in.fn.is_tangent)) return;
  if (active && !forward) {
    CustomLookup::Result found =
        lookup_.find(call, callee, s->var != nullptr || callee->getReturnType()->isRealFloatingType());
    if (found == CustomLookup::Found) return;
    if (found == CustomLookup::Rejected) return rejected(at, callee);
  }
  if (!has_derivative(call, at, definition, "'" + lookup_.wanted() + "'")) return;
  call.kind = ir::CallInfo::Generated;
  use_instance(s, {definition, call.tangents, true, active_arguments(call), in.fn.error != nullptr}, in);
}

void Module::resolve_forward(ir::Stmt* s, Instance& in) {
  ir::CallInfo& call = *s->call;
  const auto* callee = static_cast<const FunctionDecl*>(call.callee);
  if (!is_active(call)) return;
  if (call.tangents.empty()) {
    if (changes_container(call, s, callee)) {
      call.kind = ir::CallInfo::Mirrored;
      return;
    }
    const CustomLookup::Result found = lookup_.find_pushforward(call, callee);
    if (found == CustomLookup::Found) return;
    if (found == CustomLookup::Rejected) return rejected(SourceLocation::getFromRawEncoding(s->loc), callee);
    if (lookup_.find(call, callee, s->var != nullptr) == CustomLookup::Found && has_partials(call, s)) return;
    call.kind = ir::CallInfo::Inactive;
  }
  const FunctionDecl* definition = nullptr;
  const std::string name = operator_word(callee);
  const std::string wanted = "'" + name + "_pushforward', or '" + name + "_pullback' of numbers";
  if (!has_derivative(call, SourceLocation::getFromRawEncoding(s->loc), definition, wanted)) return;
  DerivativeKey key{definition, call.tangents, false, {}};
  key.tangents.push_back({{}, in.width});
  for (const ir::CallInfo::Arg& a : call.args)
    key.tangents.back().kinds.push_back(ir::tangent_kind(a.expr, a.active));
  call.kind = ir::CallInfo::Generated;
  use_instance(s, key, in);
}

}  // namespace clad
