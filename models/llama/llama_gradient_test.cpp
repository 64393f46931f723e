// The compiler's derivative of the whole model against what it must equal.
#include <gtest/gtest.h>

#include "cladtorch/models/llama.h"
#include "cladtorch/tensor/parallel.h"
#include "models/llama/small_llama.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::Batch;
using testing::batch_for;
using testing::perturbed_llama;
using testing::relative_difference;
using testing::small_llama;

std::vector<std::pair<std::string, Tensor>> tensors_of(Llama& model) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for_each_parameter(model, [&](const std::string& name, Tensor& t) { tensors.emplace_back(name, t); });
  return tensors;
}

/// Checks each parameter's gradient by one random projection.
void expect_central_differences(Llama& model, Llama& gradient, const Batch& batch) {
  constexpr double h = 6e-6;
  const auto parameters = tensors_of(model), gradients = tensors_of(gradient);
  ASSERT_EQ(parameters.size(), gradients.size());
  Random random(23);
  for (size_t i = 0; i < parameters.size(); ++i) {
    auto [name, parameter] = parameters[i];
    const Tensor& d = gradients[i].second;
    const Tensor v = randn(parameter.shape(), random, DType::float64), original = parameter.clone();
    parameter.copy_from(testing::moved(original, h, v));
    const double above = loss(model, batch.tokens, batch.targets);
    parameter.copy_from(testing::moved(original, -h, v));
    const double below = loss(model, batch.tokens, batch.targets);
    parameter.copy_from(original);
    const double analytic = testing::dot(d, v), size = testing::absolute_dot(d, v);
    EXPECT_GT(size, 1e-6) << name << " has no gradient";
    EXPECT_NEAR((above - below) / (2 * h), analytic, 1e-7 * size + 1e-9) << name;
  }
}

TEST(LlamaGradient, OfEveryParameterMatchesCentralDifferences) {
  for (const LlamaConfig& config : testing::odd_llamas()) {
    Llama model = perturbed_llama(config);
    const Batch batch = batch_for(config);
    Llama gradient = like(model);
    const double value = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
    EXPECT_EQ(value, loss(model, batch.tokens, batch.targets));
    expect_central_differences(model, gradient, batch);
  }
}

TEST(LlamaGradient, WithAdaptersMatchesCentralDifferences) {
  for (const LlamaConfig& config : testing::odd_llamas()) {
    Llama drawn(config);
    Random random(3);
    for (nn::LlamaBlock& layer : drawn.model.layers) {
      for (nn::Linear* linear : {&layer.self_attn.q_proj, &layer.self_attn.k_proj, &layer.self_attn.v_proj,
                                 &layer.mlp.gate_proj, &layer.mlp.down_proj})
        linear->add_lora({.rank = 2, .scale = 0.7}, random);
    }
    Llama model = testing::perturbed(std::move(drawn));
    const Batch batch = batch_for(config);
    Llama gradient = like(model);
    const double value = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
    EXPECT_EQ(value, loss(model, batch.tokens, batch.targets));
    expect_central_differences(model, gradient, batch);
  }
}

TEST(LlamaGradient, OfOneTokenMatchesCentralDifferencesButForTheScores) {
  Llama model = perturbed_llama(small_llama());
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
  const Llama model = perturbed_llama(small_llama());
  const Batch batch = batch_for(model.config);
  Llama once = like(model), twice = like(model);
  loss_and_gradient(model, batch.tokens, batch.targets, &once);
  for (int i = 0; i < 2; ++i) loss_and_gradient(model, batch.tokens, batch.targets, &twice);
  const auto compare = [&](double factor) {
    const auto expected = tensors_of(once), got = tensors_of(twice);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LT(relative_difference(got[i].second, scale(expected[i].second, factor)), 1e-13) << got[i].first;
  };
  compare(2);
  zero_grad(twice);
  loss_and_gradient(model, batch.tokens, batch.targets, &twice);
  compare(1);
}

TEST(LlamaGradient, RunsEveryForwardOperationOnce) {
  for (int64_t layers : {1, 5}) {
    const Llama model(small_llama(DType::float32, layers));
    const Batch batch = batch_for(model.config);
    const int64_t start = op_count();
    loss(model, batch.tokens, batch.targets);
    const int64_t primal = op_count() - start;
    EXPECT_EQ(primal, 2 + 15 * layers + 2) << "table and embeddings; a block; norm and classifier";
    Llama gradient = like(model);
    loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
    EXPECT_EQ(op_count() - start - primal, primal);
  }
}

TEST(LlamaGradient, WithCheckpointingIsTheSameToTheBitOnAnyNumberOfThreads) {
  const int before = num_threads();
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    LlamaConfig config = llama_preset("llama-toy");
    config.num_hidden_layers = 4;
    config.sliding_window = 30;
    config.dtype = dtype;
    Llama model(config);
    const Batch batch = batch_for(config, 3, 40);
    const auto gradient_with = [&](bool checkpointing, int threads) {
      model.config.gradient_checkpointing = checkpointing;
      set_num_threads(threads);
      Llama gradient = like(model);
      const double value = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
      auto result = tensors_of(gradient);
      result.emplace_back("loss", full({}, value, DType::float64));
      return result;
    };
    const auto expected = gradient_with(false, 1);
    for (const auto& [checkpointing, threads] : {std::pair{false, 3}, {true, 1}, {true, 3}}) {
      const auto found = gradient_with(checkpointing, threads);
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(relative_difference(found[i].second, expected[i].second), 0) << found[i].first;
    }
  }
  set_num_threads(before);
}

/// Rounding errors of activations are 2^-9 each, and independent; a wrong term would be of the size of 1.
TEST(LlamaGradient, InBfloat16IsThatOfFloat32UpToRounding) {
  const Llama narrow = perturbed_llama(llama_preset("llama-toy")).to(DType::bfloat16),
              wide = narrow.to(DType::float32);
  const Batch batch = batch_for(narrow.config, 3, 40);
  Llama gradient = like(narrow), expected = like(wide);
  const double value = loss_and_gradient(narrow, batch.tokens, batch.targets, &gradient);
  const double wide_value = loss_and_gradient(wide, batch.tokens, batch.targets, &expected);
  EXPECT_NEAR(value, wide_value, 5e-3 * wide_value);
  const auto got = tensors_of(gradient), exact = tensors_of(expected);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].second.dtype(), DType::float32);
    const Tensor difference = (got[i].second - exact[i].second).to(DType::float64),
                 size = exact[i].second.to(DType::float64);
    EXPECT_LT(std::sqrt(testing::dot(difference, difference)), 0.05 * std::sqrt(testing::dot(size, size)))
        << got[i].first;
  }
}

}  // namespace
}  // namespace cladtorch
