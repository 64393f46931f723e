// What training steps of any model must leave alone: the heap. For one source of a program.
#pragma once

#include <gtest/gtest.h>

#include "cladtorch/nn/parameters.h"
#include "cladtorch/ops/dropout.h"
#include "cladtorch/tensor/workspace.h"
#include "tests/support/count_allocations.h"
#include "tests/support/tokens.h"

namespace cladtorch::testing {

/// Four training steps by objective(model, tokens, targets, &gradient); checks that those after the first
/// allocate nothing.
template <class Model, class Objective>
WorkspaceStatistics expect_steady_steps(const Model& model, Objective objective) {
  const int64_t vocabulary = model.config.vocab_size;
  const Tensor tokens = random_tokens({2, 40}, vocabulary, 1),
               targets = random_tokens({2, 40}, vocabulary, 2);
  Model gradient = like(model);
  Workspace workspace;
  for (int step = 1; step <= 4; ++step) {
    const long before = allocations;
    {
      const TrainingScope scope(1, static_cast<uint64_t>(step));
      const Workspace::Step open(workspace);
      objective(model, tokens, targets, &gradient);
    }
    const long made = allocations - before;
    if (CLADTORCH_COUNTS_ALLOCATIONS) {
      if (step == 1) {
        EXPECT_GT(made, 0) << "the counter sees the first step's allocations";
      } else {
        EXPECT_EQ(made, 0) << "in step " << step;
      }
    }
    zero_grad(gradient);
  }
  const WorkspaceStatistics statistics = workspace.statistics();
  EXPECT_EQ(statistics.plans, 1);
  EXPECT_EQ(statistics.unplanned_allocations, 0);
  EXPECT_EQ(statistics.heap_allocations, 0);
  EXPECT_LT(statistics.planned_bytes, statistics.naive_bytes);
  EXPECT_LE(static_cast<double>(statistics.planned_bytes), 1.1 * static_cast<double>(statistics.live_bytes));
  return statistics;
}

/// `statistics(layers, checkpointing)` are those of steps of a model of float32. Checks that checkpointing
/// keeps one tensor [B, T, channels] of each layer, which otherwise keeps more than `others` of them.
template <class Statistics>
void expect_checkpointing_keeps_one_tensor_a_layer(Statistics statistics, int64_t channels, size_t others) {
  const auto bytes_of_a_layer = [&](bool checkpointing) {
    return (statistics(14, checkpointing).live_bytes - statistics(6, checkpointing).live_bytes) / 8;
  };
  const size_t activation = 2 * 40 * static_cast<size_t>(channels) * sizeof(float);
  const size_t kept = bytes_of_a_layer(true);
  EXPECT_GE(kept, activation);
  EXPECT_LT(kept, activation + 256) << "one tensor, rounded up to cache lines";
  EXPECT_GT(bytes_of_a_layer(false), others * activation);
}

}  // namespace cladtorch::testing
