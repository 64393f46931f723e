// Counts heap allocations during training steps.
#include <gtest/gtest.h>

#include "cladtorch/models/llama.h"
#include "cladtorch/tensor/workspace.h"
#include "tests/support/count_allocations.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

using testing::allocations;
using testing::random_tokens;

/// Four training steps; checks that those after the first allocate nothing.
WorkspaceStatistics train(const LlamaConfig& config) {
  const Llama model(config);
  const Tensor tokens = random_tokens({2, 40}, 65, 1), targets = random_tokens({2, 40}, 65, 2);
  Llama gradient = like(model);
  Workspace workspace;
  for (int step = 1; step <= 4; ++step) {
    const long before = allocations;
    {
      const Workspace::Step open(workspace);
      loss_and_gradient(model, tokens, targets, &gradient);
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
  EXPECT_LE(static_cast<double>(statistics.planned_bytes), 1.1 * static_cast<double>(statistics.live_bytes));
  return statistics;
}

TEST(LlamaAllocations, ATrainingStepMakesNoneFromTheSecondOn) {
  LlamaConfig config = llama_preset("llama-toy");
  train(config);
  config.sliding_window = 7;
  config.dtype = DType::bfloat16;
  train(config);
}

TEST(LlamaAllocations, CheckpointingMakesNoneAndKeepsOneTensorABlock) {
  LlamaConfig config = llama_preset("llama-toy");
  const auto bytes_of_a_layer = [&](bool checkpointing) {
    config.gradient_checkpointing = checkpointing;
    config.num_hidden_layers = 6;
    const size_t six = train(config).live_bytes;
    config.num_hidden_layers = 14;
    return (train(config).live_bytes - six) / 8;
  };
  const size_t activation = 2 * 40 * 32 * sizeof(float);  // B T C
  const size_t kept = bytes_of_a_layer(true);
  EXPECT_GE(kept, activation);
  EXPECT_LT(kept, activation + 256) << "one tensor, rounded up to cache lines";
  EXPECT_GT(bytes_of_a_layer(false), 12 * activation);
}

}  // namespace
}  // namespace cladtorch
