// What freezing parameters of a model must leave as it is, and what it must save.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cladtorch/nn/lora.h"
#include "cladtorch/nn/parameters.h"
#include "cladtorch/ops/dropout.h"
#include "cladtorch/random.h"
#include "cladtorch/tensor/workspace.h"

namespace cladtorch::testing {

using IsFrozen = std::function<bool(const std::string& name)>;

template <class Model>
void freeze_where(Model& model, const IsFrozen& is_frozen) {
  for_each_parameter(
      model, [&](const std::string& name, Tensor& parameter) { parameter.set_frozen(is_frozen(name)); });
}

struct MeasuredGradient {
  double loss = 0;
  std::vector<NamedTensor> gradients;
  WorkspaceStatistics memory;
};

/// The gradient of two micro-batches, always with the same dropout.
template <class Model>
MeasuredGradient measured_gradient(const Model& model, const Tensor& tokens, const Tensor& targets) {
  MeasuredGradient result;
  const TrainingScope scope(5, 9);
  Model gradient = like(model);
  Workspace workspace;
  for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
    const Workspace::Step step(workspace);
    result.loss = loss_and_gradient(model, tokens, targets, &gradient);
  }
  result.gradients = named_parameters(gradient);
  result.memory = workspace.statistics();
  return result;
}

/// Checks that frozen parameters have sinks, all others the gradient in `whole` bit for bit, and that a step
/// takes no more memory than that did; returns what was measured with frozen parameters.
template <class Model>
MeasuredGradient expect_freezing_keeps(const MeasuredGradient& whole, Model& model, const Tensor& tokens,
                                       const Tensor& targets, const IsFrozen& is_frozen) {
  freeze_where(model, is_frozen);
  const MeasuredGradient part = measured_gradient(model, tokens, targets);
  EXPECT_EQ(part.loss, whole.loss);
  EXPECT_LE(part.memory.planned_bytes, whole.memory.planned_bytes);
  EXPECT_LE(part.memory.allocations, whole.memory.allocations);
  EXPECT_EQ(part.gradients.size(), whole.gradients.size());
  int64_t sinks = 0;
  for (size_t i = 0; i < part.gradients.size(); ++i) {
    const auto& [name, d] = part.gradients[i];
    EXPECT_EQ(d.is_gradient_sink(), is_frozen(name)) << name;
    if (d.is_gradient_sink()) {
      ++sinks;
      continue;
    }
    const Tensor& expected = whole.gradients[i].tensor;
    EXPECT_EQ(std::memcmp(d.data(), expected.data(), expected.nbytes()), 0) << name;
  }
  EXPECT_GT(sinks, 0);
  return part;
}

/// The same, compared with the gradient of `model` with nothing frozen.
template <class Model>
MeasuredGradient expect_freezing_keeps_gradients(Model& model, const Tensor& tokens, const Tensor& targets,
                                                 const IsFrozen& is_frozen) {
  freeze_where(model, [](const std::string&) { return false; });
  const MeasuredGradient whole = measured_gradient(model, tokens, targets);
  return expect_freezing_keeps(whole, model, tokens, targets, is_frozen);
}

/// Gives about half of the linear layers an adapter that changes something: B is zero at first.
template <class Model>
void add_random_adapters(Model& model, Random& random) {
  for_each_layer<nn::LoRALinear>(model, [&](const std::string&, nn::LoRALinear& layer) {
    if (!layer.weight.defined() || random.uniform() < 0.5) return;
    layer.add_lora({.rank = 2, .scale = 0.5, .dropout = 0.1}, random);
    layer.lora_B.copy_from(normal(layer.lora_B.shape(), random, 0, 0.1, layer.lora_B.dtype()));
  });
}

/// Names of some parameters: from a single one to all of them.
template <class Model>
std::set<std::string> random_subset(const Model& model, Random& random) {
  const std::vector<NamedTensor> parameters = named_parameters(model);
  std::set<std::string> subset = {parameters[random.below(parameters.size())].name};
  const double share = 1.2 * random.uniform();
  for (const NamedTensor& parameter : parameters) {
    if (random.uniform() < share) subset.insert(parameter.name);
  }
  return subset;
}

/// Checks `count` random subsets of what `model` and adapters at random places have.
template <class Model>
void expect_freezing_any_subset_keeps_gradients(Model& model, const Tensor& tokens, const Tensor& targets,
                                                Random& random, int count) {
  add_random_adapters(model, random);
  const MeasuredGradient whole = measured_gradient(model, tokens, targets);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const std::set<std::string> subset = random_subset(model, random);
    std::string names;
    for (const std::string& name : subset) names += " " + name;
    SCOPED_TRACE("frozen:" + names);
    expect_freezing_keeps(whole, model, tokens, targets,
                          [&](const std::string& name) { return subset.contains(name); });
  }
}

}  // namespace cladtorch::testing
