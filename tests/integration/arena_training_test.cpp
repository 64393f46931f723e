// Training with the arena model: on the bytes of a text.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "cladtorch/models/gpt2_arena.h"
#include "cladtorch/tensor/workspace.h"
#include "cladtorch/train/adamw.h"

namespace cladtorch {
namespace {

constexpr int64_t batch = 4, length = 48;

/// Consecutive windows of a text, one token per byte.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

  struct Batch {
    Tensor tokens, targets;
  };
  Batch next() {
    Batch result{Tensor::empty({batch, length}, DType::int32), Tensor::empty({batch, length}, DType::int32)};
    for (int64_t i = 0; i < batch * length; ++i) {
      result.tokens.data<int32_t>()[i] = at(position_ + i);
      result.targets.data<int32_t>()[i] = at(position_ + i + 1);
    }
    position_ += batch * length;
    return result;
  }

 private:
  int32_t at(int64_t i) const {
    return static_cast<unsigned char>(bytes_[static_cast<size_t>(i) % bytes_.size()]);
  }

  std::string bytes_;
  int64_t position_ = 0;
};

std::string story() {
  const char* const animals[] = {"fox", "heron", "otter", "badger", "owl"};
  const char* const places[] = {"river", "old bridge", "hill", "garden wall"};
  std::string text;
  for (size_t i = 0; i < 60; ++i) {
    text += std::string("In the evening the ") + animals[i % 5] + " came down to the " + places[i % 4] +
            " and waited there until the moon was up.\n";
  }
  return text;
}

TEST(ArenaTraining, LearnsATextInStepWithTheObjectStyle) {
  const GPT2Config config{.vocab_size = 256, .n_positions = length, .n_layer = 2, .n_head = 4, .n_embd = 32};
  const AdamWOptions options{.lr = 3e-3, .weight_decay = 0.1};
  constexpr int steps = 60, micro_batches = 2;
  Bytes text(story());

  GPT2 model(config), model_gradient = like(model);
  AdamW model_optimizer(model, options);
  Workspace workspace;

  const gpt2_arena::Size size = gpt2_arena::size_of(config, batch, length);
  auto parameters = gpt2_arena::parameters_for(config);
  auto gradient = gpt2_arena::gradient_for(config);
  auto activations = gpt2_arena::activations_for(size);
  auto cotangents = gpt2_arena::cotangents_for(size);
  gpt2_arena::copy_parameters(model, parameters);
  AdamW optimizer(parameters.arena, options);
  TensorList gradients(gradient.arena);

  double first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < micro_batches; ++i) {
      const Bytes::Batch data = text.next();
      const int32_t *const tokens = data.tokens.data<int32_t>(), *const targets =
                                                                     data.targets.data<int32_t>();
      gpt2_arena::check_batch(size, tokens, targets);
      last = gpt2_arena::loss_and_gradient(parameters.at, activations.at, tokens, targets, size, &gradient.at,
                                           &cotangents.at);
      const Workspace::Step open(workspace);
      ASSERT_EQ(last, loss_and_gradient(model, data.tokens, data.targets, &model_gradient)) << step;
    }
    if (step == 0) first = last;
    EXPECT_EQ(clip_grad_norm(gradients, 1), clip_grad_norm(model_gradient, 1));
    optimizer.step(gradients, 1.0 / micro_batches);
    model_optimizer.step(model_gradient, 1.0 / micro_batches);
    ASSERT_TRUE(gradient.arena.is_marked_zero(0));
  }
  EXPECT_LT(last, first - 1.5);

  GPT2 learned(config);
  gpt2_arena::copy_parameters(parameters, learned);
  std::vector<Tensor> expected;
  for_each_parameter(model, [&](const std::string&, Tensor& p) { expected.push_back(p); });
  size_t index = 0;
  for_each_parameter(learned, [&](const std::string& name, Tensor& p) {
    EXPECT_EQ(std::memcmp(p.data(), expected[index++].data(), p.nbytes()), 0) << name;
  });
}

TEST(ArenaTraining, RefusesWhatTheModelDoesNotKnow) {
  GPT2Config config = gpt2_preset("toy");
  EXPECT_THROW(gpt2_arena::size_of(config, 1, config.n_positions + 1), Error);
  const gpt2_arena::Size size = gpt2_arena::size_of(config, 1, 2);
  const int32_t good[] = {1, 2}, ignored[] = {-100, 64}, bad[] = {1, 65};
  gpt2_arena::check_batch(size, good, ignored);
  EXPECT_THROW(gpt2_arena::check_batch(size, bad, good), Error);
  EXPECT_THROW(gpt2_arena::check_batch(size, ignored, good), Error);
  EXPECT_THROW(gpt2_arena::check_batch(size, good, bad), Error);
  auto parameters = gpt2_arena::parameters_for(config);
  config.n_layer = 3;
  EXPECT_THROW(gpt2_arena::copy_parameters(GPT2(config), parameters), Error);
  config.dropout = 0.1;
  EXPECT_THROW(gpt2_arena::size_of(config, 1, 2), Error);
}

}  // namespace
}  // namespace cladtorch
