// The compiler's derivative of the whole model against what it must equal.
#include <gtest/gtest.h>

#include "cladtorch/models/llama.h"
#include "models/llama/small_llama.h"
#include "tests/support/model_gradient.h"

namespace cladtorch {
namespace {

using testing::Batch;
using testing::checked_gradient;
using testing::perturbed;
using testing::small_llama;

Batch batch_for(const LlamaConfig& config) { return testing::batch_for(config.vocab_size); }

TEST(LlamaGradient, OfEveryParameterMatchesCentralDifferences) {
  for (const LlamaConfig& config : testing::odd_llamas()) {
    Llama model = perturbed(Llama(config));
    checked_gradient(model, batch_for(config));
  }
}

TEST(LlamaGradient, WithAdaptersMatchesCentralDifferences) {
  for (const LlamaConfig& config : testing::odd_llamas()) {
    LoRALlama drawn(config);
    Random random(3);
    for (auto& layer : drawn.model.layers) {
      for (nn::LoRALinear* linear : {&layer.self_attn.q_proj, &layer.self_attn.k_proj,
                                     &layer.self_attn.v_proj, &layer.mlp.gate_proj, &layer.mlp.down_proj})
        linear->add_lora({.rank = 2, .scale = 0.7}, random);
    }
    LoRALlama model = perturbed(std::move(drawn));
    checked_gradient(model, batch_for(config));
  }
}

TEST(LlamaGradient, OfOneTokenMatchesCentralDifferencesButForTheScores) {
  Llama model = perturbed(Llama(small_llama()));
  const Tensor tokens = testing::random_tokens({3, 1}, 11, 1),
               targets = testing::random_tokens({3, 1}, 11, 2);
  Llama gradient = like(model);
  loss_and_gradient(model, tokens, targets, &gradient);
  const nn::LlamaAttention& attention = gradient.model.layers[0].self_attn;
  for (const Tensor& d : {attention.q_proj.weight, attention.k_proj.weight})
    EXPECT_LT(testing::dot(d, d), 1e-30) << "one key has all the weight, whatever its score";
  EXPECT_GT(testing::dot(attention.v_proj.weight, attention.v_proj.weight), 1e-6);
}

TEST(LlamaGradient, AccumulatesUntilItIsMarkedZero) {
  const Llama model = perturbed(Llama(small_llama()));
  testing::expect_gradients_add_up_until_marked_zero(model, batch_for(model.config));
}

TEST(LlamaGradient, OfMicroBatchesWeightedByTheirTargetsAddsUpToThatOfTheBatch) {
  testing::expect_weighted_rows_add_up_to_the_batch(perturbed(Llama(small_llama())));
}

TEST(LlamaGradient, RunsEveryForwardOperationOnce) {
  for (int64_t layers : {1, 5}) {
    // Table and embeddings; a block; norm and classifier.
    // In the gradient's, x + self_attn(...) and its norm are one.
    testing::expect_operation_counts(Llama(small_llama(DType::float32, layers)), 2 + 15 * layers + 2,
                                     2 + 14 * layers + 2);
  }
}

TEST(LlamaGradient, IsTheSameToTheBitOnAnyNumberOfThreadsAndWithCheckpointing) {
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    LlamaConfig config = llama_preset("llama-toy");
    config.num_hidden_layers = 4;
    config.sliding_window = 30;
    config.dtype = dtype;
    testing::expect_the_same_bits_on_any_threads_and_checkpointed(Llama(config));
  }
}

TEST(LlamaGradient, InBfloat16IsThatOfFloat32UpToRounding) {
  testing::expect_bfloat16_gradients_near_float32(
      perturbed(Llama(llama_preset("llama-toy"))).to(DType::bfloat16), 0.05);
}

}  // namespace
}  // namespace cladtorch
