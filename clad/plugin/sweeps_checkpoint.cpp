// The text of checkpointed loops.
#include "outline.h"

namespace clad {

using ir::Type;
using ir::Var;

namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

std::string with(const std::string& arguments, const std::string& more) {
  return arguments + (arguments.empty() || more.empty() ? "" : ", ") + more;
}

}  // namespace

std::string ReverseTransform::plain_signature() const {
  std::string params;
  for (const ir::Parameter& p : fn_.params) params += (params.empty() ? "" : ", ") + p.type_text;
  return fn_.attributes + "static " + fn_.result->name + " " + fn_.name + "(" + params + ")";
}

Text ReverseTransform::plain_text() const {
  Text out;
  out.line(plain_signature() + " {", fn_.loc);
  auto* self = const_cast<ReverseTransform*>(this);
  self->region_ = fn_.region;
  for (const auto& r : fn_.regions) r->kept = false;
  forward(fn_.body, out);
  forward(fn_.last, out);
  for (const auto& r : fn_.regions) r->kept = true;
  out.line("}", fn_.loc);
  return out;
}

/// A call of the step, or of its forward sweep, with the variables of the same names.
std::string CheckpointedLoop::step_call(const char* suffix, const std::string& more_arguments) const {
  std::vector<std::string> arguments;
  for (const ir::Parameter& p : step.params) arguments.push_back(p.var->name);
  return step.name + suffix + "(" + with(joined(arguments), more_arguments) + ");";
}

std::string CheckpointedLoop::reverse_call() const {
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < step.params.size(); ++i)
    if (step.needs_param[i]) arguments.push_back(step.params[i].var->name);
  if (step.has_state) arguments.push_back("again");
  for (const ir::Parameter& p : step.params)
    if (p.active) arguments.push_back(p.var->adjoint);
  if (step.error) arguments.push_back(step.error->name);
  return step.name + "_rev(" + joined(arguments) + ");";
}

Text CheckpointedLoop::head(const std::string& signature) const {
  Text out;
  out.line(signature + " {", loop.loc);
  for (const ir::Stmt* s : loop.body) out.line(declare_alias(s->var), loop.loc);
  return out;
}

Text CheckpointedLoop::text() const {
  Text out;
  const ir::Loc at = loop.loc;
  const std::string state = loop.region->record + ".snapshots";
  const std::string variables = "clad::carried(" + joined(carried) + ")";
  const std::string run_step = "const auto step = [&] { " + step_call("", "") + " };";

  out.append(step_sweeps->plain_text());
  if (step.has_reverse) {
    if (step.has_state) out.append(step_sweeps->state_text());
    out.append(step_sweeps->forward_text());
    out.append(step_sweeps->reverse_text());
  }
  out.line("", at);
  out.line("struct " + loop.name + "_state {", at);
  out.line("clad::snapshots<" + joined(carried_types) + "> snapshots;", at);
  out.line("};", at);

  out.append(head(loop_sweeps->plain_signature()));
  out.line(post_test ? "do {" : "while (" + more + ") {", at);
  out.line(step_call("", ""), at);
  out.line(post_test ? "} while (" + more + ");" : "}", at);
  out.line("}", at);

  out.append(head(loop_sweeps->forward_signature()));
  out.line("const auto more = [&] { return " + more + "; };", at);
  out.line(run_step, at);
  const std::string budget = step.has_reverse ? limit : "clad::at_most(1)";
  out.line(state + ".forward(" + budget + ", " + trips + ", " + variables + ", " +
               (post_test ? "true" : "more()") + ", more, step);",
           at);
  out.line("}", at);

  out.append(head(loop_sweeps->reverse_signature()));
  if (step.has_reverse) {
    out.line(run_step, at);
    out.line("const auto reverse = [&] {", at);
    // The reverse sweep starts from what the iteration leaves in the variables, recorded or not.
    if (step.has_state) out.line(step.name + "_state again;", at);
    out.line(step_call("_fwd", step.has_state ? "again" : ""), at);
    out.line(reverse_call(), at);
    out.line("};", at);
    out.line(state + ".reverse(" + variables + ", step, reverse);", at);
  } else {
    out.line(state + ".rewind(" + variables + ");", at);
  }
  out.line("}", at);
  out.line("", at);
  return out;
}

}  // namespace clad
