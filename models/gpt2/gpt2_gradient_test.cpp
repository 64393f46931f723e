// The compiler's derivative of the whole model against what it must equal.
#include <gtest/gtest.h>

#include "cladtorch/models/gpt2.h"
#include "tests/support/model_gradient.h"

namespace cladtorch {
namespace {

using testing::Batch;
using testing::checked_gradient;
using testing::perturbed;

GPT2Config small_config(DType dtype = DType::float64, int64_t n_layer = 2) {
  return {.vocab_size = 11, .n_positions = 8, .n_layer = n_layer, .n_head = 2, .n_embd = 8, .dtype = dtype};
}

Batch batch_for(const GPT2Config& config, int64_t batch = 2, int64_t length = 5) {
  return testing::batch_for(config.vocab_size, batch, length);
}

TEST(GPT2Gradient, OfEveryParameterMatchesCentralDifferences) {
  GPT2 model = perturbed(GPT2(small_config()));
  checked_gradient(model, batch_for(model.config));
}

TEST(GPT2Gradient, WithDropoutMatchesCentralDifferencesUnderTheSameMasks) {
  GPT2Config config = small_config();
  config.dropout = 0.25;
  GPT2 model = perturbed(GPT2(config));
  checked_gradient(model, batch_for(config), /*training=*/true);
}

/// Every linear layer of the blocks, or only one of each.
LoRAGPT2 adapted(const GPT2Config& config, bool all, double dropout = 0) {
  LoRAGPT2 model(config);
  Random random(3);
  for (auto& block : model.h) {
    block.attn.c_attn.add_lora({.rank = 3, .scale = 0.7, .dropout = dropout}, random);
    if (!all) continue;
    for (nn::LoRALinear* layer : {&block.attn.c_proj, &block.mlp.c_fc, &block.mlp.c_proj})
      layer->add_lora({.rank = 1, .scale = 2, .dropout = dropout}, random);
  }
  return perturbed(std::move(model));
}

TEST(GPT2Gradient, WithAdaptersMatchesCentralDifferences) {
  for (const bool all : {false, true}) {
    LoRAGPT2 model = adapted(small_config(), all);
    const LoRAGPT2 gradient = checked_gradient(model, batch_for(model.config));
    EXPECT_EQ(gradient.h[1].attn.c_attn.lora_A.shape(), (Shape{3, 8}));
  }
}

TEST(GPT2Gradient, WithAdaptersThatDropInputsMatchesCentralDifferencesUnderTheSameMasks) {
  for (const bool checkpointing : {false, true}) {
    GPT2Config config = small_config();
    config.gradient_checkpointing = checkpointing;
    LoRAGPT2 model = adapted(config, true, 0.3);
    checked_gradient(model, batch_for(config), /*training=*/true);
  }
}

TEST(GPT2Gradient, WithOtherActivationsAndScalesOfAttentionMatchesCentralDifferences) {
  using enum nn::Activation;
  for (const nn::Activation activation : {gelu_erf, relu, silu}) {
    GPT2Config config = small_config();
    config.activation = activation;
    config.scale_attn_weights = activation == relu;
    config.scale_attn_by_inverse_layer_idx = activation != gelu_erf;
    GPT2 model = perturbed(GPT2(config));
    checked_gradient(model, batch_for(config));
  }
}

TEST(GPT2Gradient, WithoutBiasMatchesCentralDifferences) {
  GPT2Config config = small_config();
  config.bias = false;
  GPT2 model = perturbed(GPT2(config));
  checked_gradient(model, batch_for(config));
}

TEST(GPT2Gradient, OfAnUntiedModelMatchesCentralDifferences) {
  GPT2Config config = small_config();
  config.tie_word_embeddings = false;
  GPT2 model = perturbed(GPT2(config));
  checked_gradient(model, batch_for(config));
}

TEST(GPT2Gradient, AccumulatesUntilItIsMarkedZero) {
  const GPT2 model = perturbed(GPT2(small_config()));
  testing::expect_gradients_add_up_until_marked_zero(model, batch_for(model.config));
}

TEST(GPT2Gradient, OfMicroBatchesWeightedByTheirTargetsAddsUpToThatOfTheBatch) {
  testing::expect_weighted_rows_add_up_to_the_batch(perturbed(GPT2(small_config())));
}

TEST(GPT2Gradient, HasTheNormsThatOperationsSummedOnTheWay) {
  const GPT2Config config = gpt2_preset("toy");
  const GPT2 model(config);
  for (int64_t batch : {1, 6}) {
    const Batch x = batch_for(config, batch, 60);
    GPT2 gradient = like(model);
    std::vector<Tensor> gradients;
    for_each_parameter(gradient, [&](const std::string&, Tensor& d) {
      d.want_squares(true);
      gradients.push_back(d);
    });
    for (int micro = 0; micro < 2; ++micro) {
      loss_and_gradient(model, x.tokens, x.targets, &gradient);
      int64_t known = 0;
      for (const Tensor& d : gradients) {
        if (!d.squares()) continue;
        const double expected = testing::dot(d.to(DType::float64), d.to(DType::float64));
        EXPECT_NEAR(*d.squares(), expected, 1e-5 * expected) << d.shape();
        ++known;
      }
      EXPECT_GE(known, 2 + 3 * config.n_layer) << "both tables and most weights of each layer";
    }
    gradients[0].data();
    EXPECT_FALSE(gradients[0].squares()) << "who has the memory may write it";
    EXPECT_TRUE(gradients[1].squares());
    gradients[1].want_squares(false);
    EXPECT_FALSE(gradients[1].squares());
    gradients[1].mark_zero();
    EXPECT_EQ(gradients[1].squares(), 0);
  }
}

TEST(GPT2Gradient, RunsEveryForwardOperationOnce) {
  for (int64_t n_layer : {1, 12}) {
    // Embeddings and their sum; a block; norm and classifier.
    // In the gradient's, x + attn(...) and its norm are one, and so are the three of the MLP.
    testing::expect_operation_counts(GPT2(small_config(DType::float32, n_layer)), 3 + 10 * n_layer + 2,
                                     3 + 7 * n_layer + 2);
  }
}

TEST(GPT2Gradient, WithAdaptersElsewhereFusesTheMlpAllTheSame) {
  const GPT2Config config = small_config(DType::float32);
  // An adapter takes two products, the scale and the sum.
  testing::expect_operation_counts(adapted(config, false), 3 + (10 + 4) * 2 + 2, 3 + (7 + 4) * 2 + 2);
  // Four of them, and the MLP in three operations.
  testing::expect_operation_counts(adapted(config, true), 3 + (10 + 16) * 2 + 2, 3 + (9 + 16) * 2 + 2);
}

TEST(GPT2Gradient, WithCheckpointingRunsTheBlocksTwice) {
  GPT2Config config = small_config(DType::float32, 3);
  config.gradient_checkpointing = true;
  const GPT2 model(config);
  const Batch batch = batch_for(config);
  GPT2 gradient = like(model);
  const int64_t start = op_count();
  loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
  EXPECT_EQ(op_count() - start, (3 + 10 * 3 + 2) + 7 * 3);
}

TEST(GPT2Gradient, IsTheSameToTheBitOnAnyNumberOfThreadsAndWithCheckpointing) {
  for (const double dropout : {0.0, 0.25}) {
    for (DType dtype : {DType::float32, DType::bfloat16}) {
      GPT2Config config = gpt2_preset("toy");
      config.n_layer = 4;
      config.dropout = dropout;
      config.dtype = dtype;
      testing::expect_the_same_bits_on_any_threads_and_checkpointed(GPT2(config));
    }
  }
}

TEST(GPT2Gradient, InBfloat16IsThatOfFloat32UpToRounding) {
  const GPT2Config config = gpt2_preset("toy");
  testing::expect_bfloat16_gradients_near_float32(perturbed(GPT2(config)).to(DType::bfloat16), 0.03);
  // Adapters as large as the weights amplify the rounding.
  testing::expect_bfloat16_gradients_near_float32(adapted(config, true).to(DType::bfloat16), 0.1);
}

}  // namespace
}  // namespace cladtorch
