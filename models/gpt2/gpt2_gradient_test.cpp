// The compiler's derivative of the whole model against what it must equal.
#include <gtest/gtest.h>

#include "cladtorch/models/gpt2.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

using testing::random_tokens;
using testing::relative_difference;

GPT2Config small_config(DType dtype = DType::float64, int64_t n_layer = 2) {
  return {.vocab_size = 11, .n_positions = 8, .n_layer = n_layer, .n_head = 2, .n_embd = 8, .dtype = dtype};
}

/// Moves every parameter away from its special initial value.
GPT2 perturbed(GPT2 model) {
  Random random(17);
  for_each_parameter(model, [&](const std::string&, Tensor& parameter) {
    parameter.copy_from(parameter + scale(randn(parameter.shape(), random, parameter.dtype()), 0.3));
  });
  return model;
}
GPT2 perturbed(const GPT2Config& config) { return perturbed(GPT2(config)); }

struct Batch {
  Tensor tokens, targets;
};

Batch batch_for(const GPT2Config& config, int64_t batch = 2, int64_t length = 5) {
  Batch result{random_tokens({batch, length}, config.vocab_size, 1),
               random_tokens({batch, length}, config.vocab_size, 2)};
  result.targets.data<int32_t>()[3] = -100;
  return result;
}

/// Checks each parameter's gradient by one random projection; `value` is the loss.
template <class Loss>
void expect_central_differences(GPT2& model, GPT2& gradient, Loss value) {
  std::vector<Tensor*> gradients;
  for_each_parameter(gradient, [&](const std::string&, Tensor& d) { gradients.push_back(&d); });
  Random random(23);
  size_t index = 0;
  for_each_parameter(model, [&](const std::string& name, Tensor& parameter) {
    constexpr double h = 6e-6;
    const Tensor& d = *gradients[index++];
    const Tensor v = randn(parameter.shape(), random, DType::float64), original = parameter.clone();
    parameter.copy_from(testing::moved(original, h, v));
    const double above = value();
    parameter.copy_from(testing::moved(original, -h, v));
    const double below = value();
    parameter.copy_from(original);
    const double analytic = testing::dot(d, v), size = testing::absolute_dot(d, v);
    EXPECT_GT(size, 1e-6) << name << " has no gradient";
    EXPECT_NEAR((above - below) / (2 * h), analytic, 1e-7 * size + 1e-10) << name;
  });
  EXPECT_EQ(index, gradients.size());
}

TEST(GPT2Gradient, OfEveryParameterMatchesCentralDifferences) {
  GPT2 model = perturbed(small_config());
  const Batch batch = batch_for(model.config);
  GPT2 gradient = like(model);
  const double value = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
  EXPECT_EQ(value, loss(model, batch.tokens, batch.targets));
  expect_central_differences(model, gradient, [&] { return loss(model, batch.tokens, batch.targets); });
}

TEST(GPT2Gradient, WithDropoutMatchesCentralDifferencesUnderTheSameMasks) {
  GPT2Config config = small_config();
  config.dropout = 0.25;
  GPT2 model = perturbed(config);
  const Batch batch = batch_for(config);
  const auto value = [&] {
    const TrainingScope scope(5, 9);
    return loss(model, batch.tokens, batch.targets);
  };
  GPT2 gradient = like(model);
  {
    const TrainingScope scope(5, 9);
    EXPECT_EQ(loss_and_gradient(model, batch.tokens, batch.targets, &gradient), value());
  }
  EXPECT_NE(value(), loss(model, batch.tokens, batch.targets));
  expect_central_differences(model, gradient, value);
}

/// Every linear layer of the blocks, or only one of each.
GPT2 adapted(const GPT2Config& config, bool all, double dropout = 0) {
  GPT2 model(config);
  Random random(3);
  for (nn::Block& block : model.h) {
    block.attn.c_attn.add_lora({.rank = 3, .scale = 0.7, .dropout = dropout}, random);
    if (!all) continue;
    for (nn::Linear* layer : {&block.attn.c_proj, &block.mlp.c_fc, &block.mlp.c_proj})
      layer->add_lora({.rank = 1, .scale = 2, .dropout = dropout}, random);
  }
  return perturbed(std::move(model));
}

TEST(GPT2Gradient, WithAdaptersMatchesCentralDifferences) {
  for (const bool all : {false, true}) {
    GPT2 model = adapted(small_config(), all);
    const Batch batch = batch_for(model.config);
    GPT2 gradient = like(model);
    const double value = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
    EXPECT_EQ(value, loss(model, batch.tokens, batch.targets));
    EXPECT_EQ(gradient.h[1].attn.c_attn.lora_A.shape(), (Shape{3, 8}));
    expect_central_differences(model, gradient, [&] { return loss(model, batch.tokens, batch.targets); });
  }
}

TEST(GPT2Gradient, WithAdaptersThatDropInputsMatchesCentralDifferencesUnderTheSameMasks) {
  for (const bool checkpointing : {false, true}) {
    GPT2Config config = small_config();
    config.gradient_checkpointing = checkpointing;
    GPT2 model = adapted(config, true, 0.3);
    const Batch batch = batch_for(config);
    const auto value = [&] {
      const TrainingScope scope(5, 9);
      return loss(model, batch.tokens, batch.targets);
    };
    GPT2 gradient = like(model);
    {
      const TrainingScope scope(5, 9);
      EXPECT_EQ(loss_and_gradient(model, batch.tokens, batch.targets, &gradient), value());
    }
    EXPECT_NE(value(), loss(model, batch.tokens, batch.targets));
    expect_central_differences(model, gradient, value);
  }
}

TEST(GPT2Gradient, WithoutBiasMatchesCentralDifferences) {
  GPT2Config config = small_config();
  config.bias = false;
  GPT2 model = perturbed(config);
  const Batch batch = batch_for(config);
  GPT2 gradient = like(model);
  loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
  expect_central_differences(model, gradient, [&] { return loss(model, batch.tokens, batch.targets); });
}

TEST(GPT2Gradient, OfAnUntiedModelMatchesCentralDifferences) {
  GPT2Config config = small_config();
  config.tie_word_embeddings = false;
  GPT2 model = perturbed(config);
  const Batch batch = batch_for(config);
  GPT2 gradient = like(model);
  EXPECT_EQ(loss_and_gradient(model, batch.tokens, batch.targets, &gradient),
            loss(model, batch.tokens, batch.targets));
  expect_central_differences(model, gradient, [&] { return loss(model, batch.tokens, batch.targets); });
}

TEST(GPT2Gradient, AccumulatesUntilItIsMarkedZero) {
  const GPT2 model = perturbed(small_config());
  const Batch batch = batch_for(model.config);
  GPT2 once = like(model), twice = like(model);
  loss_and_gradient(model, batch.tokens, batch.targets, &once);
  for (int i = 0; i < 2; ++i) loss_and_gradient(model, batch.tokens, batch.targets, &twice);
  const auto compare = [&](double factor) {
    std::vector<Tensor> expected;
    for_each_parameter(once, [&](const std::string&, Tensor& d) { expected.push_back(scale(d, factor)); });
    size_t index = 0;
    for_each_parameter(twice, [&](const std::string& name, Tensor& d) {
      EXPECT_LT(relative_difference(d, expected[index++]), 1e-14) << name;
    });
  };
  compare(2);
  zero_grad(twice);
  loss_and_gradient(model, batch.tokens, batch.targets, &twice);
  compare(1);
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
    const GPT2 model(small_config(DType::float32, n_layer));
    const Batch batch = batch_for(model.config);
    const int64_t start = op_count();
    loss(model, batch.tokens, batch.targets);
    const int64_t primal = op_count() - start;
    EXPECT_EQ(primal, 3 + 10 * n_layer + 2) << "embeddings and their sum; a block; norm, classifier";
    GPT2 gradient = like(model);
    loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
    EXPECT_EQ(op_count() - start - primal, primal);
  }
}

TEST(GPT2Gradient, WithCheckpointingRunsTheBlocksTwice) {
  GPT2Config config = small_config(DType::float32, 3);
  config.gradient_checkpointing = true;
  const GPT2 model(config);
  const Batch batch = batch_for(config);
  GPT2 gradient = like(model);
  const int64_t start = op_count();
  loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
  EXPECT_EQ(op_count() - start, (3 + 10 * 3 + 2) + 10 * 3);
}

TEST(GPT2Gradient, WithCheckpointingIsTheSameToTheBit) {
  const int before = num_threads();
  for (const double dropout : {0.0, 0.25}) {
    GPT2Config config = gpt2_preset("toy");
    config.n_layer = 4;
    config.dropout = dropout;
    GPT2 model(config);
    const Batch batch = batch_for(config, 3, 40);
    const auto gradient_with = [&](bool checkpointing, int threads) {
      model.config.gradient_checkpointing = checkpointing;
      set_num_threads(threads);
      const TrainingScope scope(5, 9);
      GPT2 gradient = like(model);
      std::vector<Tensor> result;
      for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {  // the second one draws other masks
        const double value = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
        result.push_back(full({}, value, DType::float64));
      }
      for_each_parameter(gradient, [&](const std::string&, Tensor& d) { result.push_back(d); });
      return result;
    };
    const std::vector<Tensor> expected = gradient_with(false, 1);
    for (const int threads : {1, 3}) {
      const std::vector<Tensor> found = gradient_with(true, threads);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(relative_difference(found[i], expected[i]), 0) << i << ", dropout " << dropout;
    }
  }
  set_num_threads(before);
}

/// Calls check(name, expected, got) for the tensors of two models of one structure.
template <class Check>
void for_each_pair(GPT2& expected, GPT2& got, Check check) {
  std::vector<Tensor> tensors;
  for_each_parameter(expected, [&](const std::string&, Tensor& t) { tensors.push_back(t); });
  size_t index = 0;
  for_each_parameter(got, [&](const std::string& name, Tensor& t) { check(name, tensors[index++], t); });
}

TEST(GPT2Gradient, DoesNotDependOnTheNumberOfThreads) {
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    GPT2Config config = gpt2_preset("toy");
    config.dtype = dtype;
    const GPT2 model(config);
    const Batch batch = batch_for(config, 3, 40);
    const int before = num_threads();
    GPT2 one = like(model), three = like(model);
    set_num_threads(1);
    const double value = loss_and_gradient(model, batch.tokens, batch.targets, &one);
    set_num_threads(3);
    EXPECT_EQ(loss_and_gradient(model, batch.tokens, batch.targets, &three), value);
    set_num_threads(before);
    for_each_pair(one, three, [&](const std::string& name, const Tensor& expected, const Tensor& got) {
      EXPECT_EQ(relative_difference(got, expected), 0) << name << ' ' << dtype;
    });
  }
}

/// Rounding errors of activations are 2^-9 each, and independent; a wrong term would be of the size of 1.
TEST(GPT2Gradient, InBfloat16IsThatOfFloat32UpToRounding) {
  GPT2Config config = gpt2_preset("toy");
  config.dtype = DType::float32;
  for (const bool with_adapters : {false, true}) {
    const double tolerance = with_adapters ? 0.1 : 0.03;  // adapters as large as the weights amplify it
    const GPT2 narrow = (with_adapters ? adapted(config, true) : perturbed(config)).to(DType::bfloat16),
               wide = narrow.to(DType::float32);
    const Batch batch = batch_for(config, 3, 40);
    GPT2 gradient = like(narrow), expected = like(wide);
    const double value = loss_and_gradient(narrow, batch.tokens, batch.targets, &gradient);
    const double wide_value = loss_and_gradient(wide, batch.tokens, batch.targets, &expected);
    EXPECT_NEAR(value, wide_value, 5e-3 * wide_value);
    EXPECT_EQ(value, loss(narrow, batch.tokens, batch.targets));
    for_each_pair(expected, gradient, [&](const std::string& name, const Tensor& d_wide, const Tensor& d) {
      ASSERT_EQ(d.dtype(), DType::float32) << name;
      const Tensor difference = (d - d_wide).to(DType::float64), size = d_wide.to(DType::float64);
      EXPECT_LT(std::sqrt(testing::dot(difference, difference)),
                tolerance * std::sqrt(testing::dot(size, size)))
          << name;
    });
  }
}

}  // namespace
}  // namespace cladtorch
