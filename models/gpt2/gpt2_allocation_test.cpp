// Counts heap allocations during training steps.
#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/models/gpt2.h"
#include "tests/support/steady_steps.h"

namespace cladtorch {
namespace {

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
                               double = 1) {
  return clad::value_and_gradient(plain_loss, "model").execute(model, tokens, targets, gradient);
}

WorkspaceStatistics train(const GPT2Config& config, decltype(plain_loss_and_gradient)& objective) {
  return testing::expect_steady_steps(
      GPT2(config), [&](const GPT2& model, const Tensor& tokens, const Tensor& targets, GPT2* gradient) {
        return objective(model, tokens, targets, gradient, 1);
      });
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
  const auto statistics = [&](int64_t layers, bool checkpointing) {
    config.n_layer = layers;
    config.gradient_checkpointing = checkpointing;
    return train(config, loss_and_gradient);
  };
  testing::expect_checkpointing_keeps_one_tensor_a_layer(statistics, config.n_embd, 15);
}

}  // namespace
}  // namespace cladtorch
