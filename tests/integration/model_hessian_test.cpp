// The Hessian of a language model's loss times a vector, against differences of its gradient.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/models/gpt2.h"
#include "cladtorch/models/llama.h"
#include "cladtorch/ops/pushforward.h"
#include "models/llama/small_llama.h"
#include "tests/support/model_gradient.h"

namespace cladtorch {
namespace {

using testing::Batch;

double gpt2_loss(const GPT2& model, const Tensor& tokens, const Tensor& targets) {
  return loss(model, tokens, targets);
}
double llama_loss(const Llama& model, const Tensor& tokens, const Tensor& targets) {
  return loss(model, tokens, targets);
}

/// Checks value, directional derivative and second derivative in a random direction.
template <class Model, class Loss, class Forward, class Second>
void check(const Model& model, Loss loss, Forward forward, Second second) {
  const Batch batch = testing::batch_for(model.config.vocab_size);
  Random random(29);
  Model direction = model, product = like(model);
  for_each_parameter(direction, [&](const std::string&, Tensor& parameter) {
    parameter = randn(parameter.shape(), random, parameter.dtype());
  });
  const auto moved = [&](double h) {
    Model at = model;
    const std::vector<NamedTensor> steps = named_parameters(direction);
    std::size_t next = 0;
    for_each_parameter(at, [&](const std::string&, Tensor& parameter) {
      parameter = testing::moved(parameter, h, steps[next++].tensor);
    });
    return at;
  };
  // The five-point formula, whose error is of the order h^4.
  constexpr double h = 2e-5;
  constexpr std::pair<double, double> points[] = {{h, 8}, {-h, -8}, {2 * h, -1}, {-2 * h, 1}};
  double slope = 0;
  std::vector<Tensor> expected(named_parameters(model).size());
  for (const auto& [step, weight] : points) {
    const Model at = moved(step);
    Model gradient = like(model);
    slope += weight / (12 * h) * loss_and_gradient(at, batch.tokens, batch.targets, &gradient);
    const std::vector<NamedTensor> parts = named_parameters(gradient);
    for (std::size_t i = 0; i < parts.size(); ++i)
      expected[i].accumulate(scale(parts[i].tensor, weight / (12 * h)));
  }
  const auto derivative = forward.execute(model, batch.tokens, batch.targets, &direction);
  EXPECT_DOUBLE_EQ(derivative.value, loss(model, batch.tokens, batch.targets));
  EXPECT_NEAR(derivative.pushforward, slope, 1e-9 * std::abs(slope));
  second.execute(model, batch.tokens, batch.targets, &direction, &product);
  const std::vector<NamedTensor> products = named_parameters(product);
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Tensor error = products[i].tensor - expected[i];
    const double size = testing::dot(expected[i], expected[i]);
    EXPECT_LE(testing::dot(error, error), 1e-14 * size + 1e-20) << products[i].name;
    EXPECT_GT(size, 0) << products[i].name;
  }
}

TEST(ModelHessian, OfGPT2TimesAVectorIsTheDerivativeOfTheGradient) {
  for (const nn::Activation activation : {nn::Activation::gelu_tanh, nn::Activation::gelu_erf}) {
    for (const bool variant : {false, true}) {
      GPT2Config config{.vocab_size = 11,
                        .n_positions = 8,
                        .n_layer = 2,
                        .n_head = 2,
                        .n_embd = 8,
                        .activation = activation,
                        .dtype = DType::float64};
      config.tie_word_embeddings = !variant;
      config.scale_attn_by_inverse_layer_idx = config.gradient_checkpointing = variant;
      check(testing::perturbed(GPT2(config)), gpt2_loss, clad::pushforward(gpt2_loss, "model"),
            clad::hessian_vector_product(gpt2_loss, "model"));
    }
  }
}

TEST(ModelHessian, OfLlamaTimesAVectorIsTheDerivativeOfTheGradient) {
  for (const LlamaConfig& config : testing::odd_llamas())
    check(testing::perturbed(Llama(config)), llama_loss, clad::pushforward(llama_loss, "model"),
          clad::hessian_vector_product(llama_loss, "model"));
}

}  // namespace
}  // namespace cladtorch
