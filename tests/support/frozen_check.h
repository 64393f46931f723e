// What freezing parameters of a model must leave as it is, and what it must save.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "cladtorch/nn/parameters.h"
#include "cladtorch/ops/dropout.h"
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

/// Checks that frozen parameters have sinks, all others the same gradient to the bit, and that a step takes
/// no more memory than before; returns what was measured with frozen parameters.
template <class Model>
MeasuredGradient expect_freezing_keeps_gradients(Model& model, const Tensor& tokens, const Tensor& targets,
                                                 const IsFrozen& is_frozen) {
  freeze_where(model, [](const std::string&) { return false; });
  const MeasuredGradient whole = measured_gradient(model, tokens, targets);
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

}  // namespace cladtorch::testing
