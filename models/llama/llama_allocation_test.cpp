// Counts heap allocations during training steps.
#include "cladtorch/models/llama.h"
#include "tests/support/steady_steps.h"

namespace cladtorch {
namespace {

WorkspaceStatistics train(const LlamaConfig& config) {
  return testing::expect_steady_steps(
      Llama(config), [](const Llama& model, const Tensor& tokens, const Tensor& targets, Llama* gradient) {
        return loss_and_gradient(model, tokens, targets, gradient);
      });
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
  const auto statistics = [&](int64_t layers, bool checkpointing) {
    config.num_hidden_layers = layers;
    config.gradient_checkpointing = checkpointing;
    return train(config);
  };
  testing::expect_checkpointing_keeps_one_tensor_a_layer(statistics, config.hidden_size, 12);
}

}  // namespace
}  // namespace cladtorch
