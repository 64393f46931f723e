// Gradients through the computation graph, which is recorded while a model runs, against those that the
// compiler writes: the same bits for every kind of model.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include "bench/models/models.h"
#include "cladtorch/graph/tensors.h"
#include "cladtorch/models/gpt2.h"
#include "cladtorch/models/llama.h"
#include "cladtorch/models/loss.h"
#include "models/llama/small_llama.h"
#include "tests/support/same_bits.h"
#include "tests/support/tokens.h"

namespace {

using namespace cladtorch;
using cladtorch::testing::random_tokens;

// The losses as tensors; what is compiled is their value.

template <class Model>
Tensor scores_loss(const Model& model, const Tensor& x, const Tensor& labels) {
  return cross_entropy(model.forward(x), labels);
}
Tensor translation_loss(const bench::EncoderDecoder& model, const Tensor& ids, const Tensor& targets) {
  return cross_entropy(model.forward(ids, ids), targets);
}
Tensor autoencoder_loss(const bench::Vae& model, const Tensor& x, const Tensor& noise) {
  const Tensor h = relu(model.encoder(x)), mu = model.mean(h), log_variance = model.log_variance(h);
  const Tensor logits = model.decode(mu + noise * cladtorch::exp(log_variance * 0.5));
  const Tensor divergence = sum(log_variance - square(mu) - cladtorch::exp(log_variance) + 1.0) * -0.5;
  return (binary_cross_entropy_with_logits(logits, x, Reduction::sum) + divergence) / 2.0;
}
Tensor denoising_loss(const bench::UNet& model, const Tensor& noisy, const Tensor& clean) {
  return mse_loss(model.forward(noisy), clean);
}
Tensor judge_loss(const bench::Discriminator& model, const Tensor& real, const Tensor& made) {
  const Tensor of_real = model.forward(real), of_made = model.forward(made);
  return binary_cross_entropy_with_logits(of_real, ones_like(of_real)) +
         binary_cross_entropy_with_logits(of_made, zeros_like(of_made));
}
Tensor generator_loss(const bench::Generator& model, const bench::Discriminator& judge, const Tensor& noise) {
  const Tensor score = judge.forward(model.forward(noise));
  return binary_cross_entropy_with_logits(score, ones_like(score));
}

template <auto f, class Model, class A, class B>
double value(const Model& model, const A& a, const B& b) {
  return f(model, a, b).item();
}

template <class Model>
void expect_equal(const Model& found, const Model& expected) {
  const auto a = named_parameters(found), b = named_parameters(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i].tensor.is_gradient_sink() || cladtorch::testing::same_bits(a[i].tensor, b[i].tensor))
        << a[i].name;
}

/// Two steps, so that gradients are added to and the masks of dropout change.
template <auto f, class Model, class A, class B>
void compare(const Model& model, const A& a, const B& b) {
  Model expected = like(model), found = like(model);
  auto step = clad::value_and_gradient(value<f, Model, A, B>, "model");
  for (int i = 0; i < 2; ++i) {
    double of_compiled = 0, of_graph = 0;
    {
      const TrainingScope scope(3, static_cast<uint64_t>(i));
      of_compiled = step.execute(model, a, b, &expected);
    }
    {
      const TrainingScope scope(3, static_cast<uint64_t>(i));
      of_graph = graph::value_and_grad(f, model, &found, a, b).item();
    }
    EXPECT_EQ(of_graph, of_compiled);
    expect_equal(found, expected);
  }
}

class GraphModels : public ::testing::Test {
 protected:
  Random random{7};
  Tensor images(int64_t channels, int64_t size) { return randn({2, channels, size, size}, random); }
  Tensor labels = from_values<int32_t>({2}, {3, 7});
};

TEST_F(GraphModels, Perceptron) {
  compare<scores_loss<bench::Mlp>>(bench::Mlp(random), randn({2, 784}, random), labels);
}
TEST_F(GraphModels, LeNet) {
  compare<scores_loss<bench::LeNet>>(bench::LeNet(random), images(1, 28), labels);
}
TEST_F(GraphModels, ResNet) {
  compare<scores_loss<bench::ResNet20>>(bench::ResNet20(random), images(3, 32), labels);
}
TEST_F(GraphModels, DepthwiseCnn) {
  compare<scores_loss<bench::DepthwiseCnn>>(bench::DepthwiseCnn(random), images(3, 32), labels);
}
TEST_F(GraphModels, Cnn) { compare<scores_loss<fashion::Cnn>>(fashion::Cnn(random), images(1, 28), labels); }
TEST_F(GraphModels, Vit) { compare<scores_loss<bench::Vit>>(bench::Vit(random), images(1, 28), labels); }
TEST_F(GraphModels, Lstm) {
  compare<scores_loss<bench::LstmModel>>(bench::LstmModel(random), random_tokens({5, 2}, 64, 1),
                                         random_tokens({5, 2}, 64, 2));
}
TEST_F(GraphModels, Gru) {
  compare<scores_loss<bench::GruModel>>(bench::GruModel(random), random_tokens({5, 2}, 64, 1),
                                        random_tokens({5, 2}, 64, 2));
}
TEST_F(GraphModels, EncoderDecoder) {
  compare<translation_loss>(bench::EncoderDecoder(random), random_tokens({2, 32}, 64, 1),
                            random_tokens({2, 32}, 64, 2));
}
TEST_F(GraphModels, Vae) {
  compare<autoencoder_loss>(bench::Vae(random), rand({2, 784}, random), randn({2, 20}, random));
}
TEST_F(GraphModels, UNet) { compare<denoising_loss>(bench::UNet(random), images(1, 32), images(1, 32)); }
TEST_F(GraphModels, Discriminator) {
  compare<judge_loss>(bench::Discriminator(random), images(1, 28), images(1, 28));
}
TEST_F(GraphModels, Generator) {
  compare<generator_loss>(bench::Generator(random), bench::Discriminator(random), randn({2, 64}, random));
}

/// The language models by their own functions, whose compiled code also fuses operations.
template <class Model>
void compare_language_model(const Model& model) {
  const int64_t vocabulary = model.config.vocab_size;
  const Tensor tokens = random_tokens({2, 6}, vocabulary, 1), targets = random_tokens({2, 6}, vocabulary, 2);
  const auto loss = [](const Model& m, const Tensor& x, const Tensor& y) { return mean_loss(m, x, y); };
  Model expected = like(model), found = like(model);
  for (int i = 0; i < 2; ++i) {
    const double of_compiled = loss_and_gradient(model, tokens, targets, &expected);
    EXPECT_EQ(graph::value_and_grad(loss, model, &found, tokens, targets).item(), of_compiled);
    expect_equal(found, expected);
  }
}
TEST_F(GraphModels, GPT2) {
  compare_language_model(GPT2(gpt2_preset("toy")));
  compare_language_model(with_dtype(GPT2(gpt2_preset("toy")), DType::bfloat16));
}
TEST_F(GraphModels, Llama) { compare_language_model(Llama(cladtorch::testing::small_llama(DType::float32))); }

TEST_F(GraphModels, FrozenParametersHaveNone) {
  GPT2 model(gpt2_preset("toy"));
  model.wte.weight.set_frozen(true);
  model.h[0].mlp.c_fc.weight.set_frozen(true);
  compare_language_model(model);
}

}  // namespace
