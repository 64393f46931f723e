#include "cladtorch/graph/node.h"

#include <algorithm>
#include <functional>

namespace cladtorch::graph {

std::vector<Node*> topological_sort(std::span<const Var> roots, size_t first) {
  Tape& tape = Tape::of_thread();
  tape.check("topological_sort", roots);
  size_t begin = SIZE_MAX, end = 0;
  const auto count = [&](const Var& child) {
    if (!child.node || child.node->index < first || child.node->unprocessed++ > 0) return;
    begin = std::min(begin, child.node->index);
    end = std::max(end, child.node->index + 1);
  };
  std::ranges::for_each(roots, count);
  for (size_t i = end; i-- > begin;)
    if (tape[i].unprocessed > 0) std::ranges::for_each(tape[i].arguments, count);

  std::vector<Node*> order, operands;
  std::vector<bool> ready(end > begin ? end - begin : 0);
  const auto pass = [&](const Var& v, bool is_operand) {
    if (!v.node || v.node->index < first || --v.node->unprocessed > 0) return;
    if (is_operand && v.node->is_operator && v.node->is_temporary) {
      operands.push_back(v.node);
    } else {
      ready[v.node->index - begin] = true;
    }
  };
  for (const Var& root : roots) pass(root, false);
  for (size_t i = end; i-- > begin;) {
    if (ready[i - begin]) operands.push_back(&tape[i]);
    while (!operands.empty()) {
      order.push_back(operands.back());
      operands.pop_back();
      const std::span<const Var> arguments = order.back()->arguments;
      for (size_t k = arguments.size(); k-- > 0;) pass(arguments[k], true);
    }
  }
  return order;
}

Cotangents::Cotangents(const Var& loss, std::span<const Var> inputs) : first_(inputs.empty() ? 0 : SIZE_MAX) {
  Tape& tape = Tape::of_thread();
  for (const Var& x : inputs) first_ = std::min(first_, x.node->index);
  const std::vector<Node*> order = topological_sort({&loss, 1}, first_);
  if (order.empty()) return;
  d_.resize(loss.node->index - first_ + 1);
  d_.back() = 1;
  std::vector<bool> wanted(d_.size(), inputs.empty());
  for (const Var& x : inputs)
    if (contains(x)) wanted[x.node->index - first_] = true;
  const auto place = [&](const Var& v) {
    return contains(v) && wanted[v.node->index - first_] ? &d_[v.node->index - first_] : nullptr;
  };
  for (size_t i = order.size(); i-- > 0;)
    if (std::ranges::any_of(order[i]->arguments, place)) wanted[order[i]->index - first_] = true;
  std::vector<Var*> d;
  for (Node* node : order) {
    d.clear();
    std::ranges::transform(node->arguments, std::back_inserter(d), place);
    if (std::ranges::all_of(d, std::logical_not())) continue;
    require(node->pullback && *node->pullback, "graph: '", node->function,
            "' has no rule for its derivative; give it one with defvjp()");
    tape.pull(*node, d_[node->index - first_], d);
  }
}

}  // namespace cladtorch::graph
