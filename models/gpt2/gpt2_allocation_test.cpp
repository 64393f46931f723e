// Counts heap allocations during training steps.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include "cladtorch/models/gpt2.h"
#include "cladtorch/tensor/workspace.h"
#include "tests/support/count_allocations.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

using testing::allocations;
using testing::random_tokens;

/// The model without the choice.
Tensor plain_forward(const GPT2& model, const Tensor& ids) {
  Tensor x = model.embedding_dropout(model.wte(ids) + model.wpe(arange(model.checked_length(ids))));
  for (const nn::Block& block : model.h) x = block.forward(x);
  return model.ln_f(x);
}
double plain_loss(const GPT2& model, const Tensor& tokens, const Tensor& targets) {
  return linear_cross_entropy(plain_forward(model, tokens), model.wte.weight, targets, -100).item();
}
double plain_loss_and_gradient(const GPT2& model, const Tensor& tokens, const Tensor& targets, GPT2* gradient,
                               double) {
  return clad::value_and_gradient(plain_loss, "model").execute(model, tokens, targets, gradient);
}

/// Four training steps; checks that those after the first allocate nothing.
WorkspaceStatistics train(const GPT2Config& config, decltype(loss_and_gradient)& objective) {
  const GPT2 model(config);
  const Tensor tokens = random_tokens({2, 40}, 65, 1), targets = random_tokens({2, 40}, 65, 2);
  GPT2 gradient = like(model);
  Workspace workspace;
  for (int step = 1; step <= 4; ++step) {
    const long before = allocations;
    {
      const TrainingScope scope(1, static_cast<uint64_t>(step));
      const Workspace::Step open(workspace);
      objective(model, tokens, targets, &gradient, 1);
    }
    const long made = allocations - before;
    if (CLADTORCH_COUNTS_ALLOCATIONS) {
      if (step == 1) {
        EXPECT_GT(made, 0) << "the counter sees the first step's allocations";
      } else {
        EXPECT_EQ(made, 0) << "in step " << step;
      }
    }
    for_each_parameter(gradient, [](const std::string&, Tensor& d) { d.mark_zero(); });
  }
  const WorkspaceStatistics statistics = workspace.statistics();
  EXPECT_EQ(statistics.plans, 1);
  EXPECT_EQ(statistics.unplanned_allocations, 0);
  EXPECT_EQ(statistics.heap_allocations, 0);
  EXPECT_LT(statistics.planned_bytes, statistics.naive_bytes);
  EXPECT_LE(static_cast<double>(statistics.planned_bytes), 1.1 * static_cast<double>(statistics.live_bytes));
  return statistics;
}

TEST(GPT2Allocations, ATrainingStepMakesNoneFromTheSecondOn) {
  GPT2Config config = gpt2_preset("toy");
  train(config, loss_and_gradient);
  config.dtype = DType::bfloat16;
  train(config, loss_and_gradient);
}

TEST(GPT2Allocations, TheChoiceOfCheckpointingCostsNothing) {
  const WorkspaceStatistics chosen = train(gpt2_preset("toy"), loss_and_gradient);
  const WorkspaceStatistics plain = train(gpt2_preset("toy"), plain_loss_and_gradient);
  EXPECT_EQ(chosen.planned_bytes, plain.planned_bytes);
  EXPECT_EQ(chosen.naive_bytes, plain.naive_bytes);
  EXPECT_EQ(chosen.allocations, plain.allocations);
}

TEST(GPT2Allocations, CheckpointingMakesNoneAndKeepsOneTensorABlock) {
  GPT2Config config = gpt2_preset("toy");
  config.dropout = 0.1;
  const auto bytes_of_a_layer = [&](bool checkpointing) {
    config.gradient_checkpointing = checkpointing;
    config.n_layer = 6;
    const size_t six = train(config, loss_and_gradient).live_bytes;
    config.n_layer = 14;
    return (train(config, loss_and_gradient).live_bytes - six) / 8;
  };
  const size_t activation = 2 * 40 * 32 * sizeof(float);  // B T C
  const size_t kept = bytes_of_a_layer(true);
  EXPECT_GE(kept, activation);
  EXPECT_LT(kept, activation + 256) << "one tensor, rounded up to cache lines";
  EXPECT_GT(bytes_of_a_layer(false), 15 * activation);
}

}  // namespace
}  // namespace cladtorch
