// Llama and Mistral against transformers: scores, loss, every gradient, and ten steps of AdamW.
#include <algorithm>

#include "cladtorch/models/llama.h"
#include "cladtorch/train/adamw.h"
#include "tests/hf/hf_reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

struct Case {
  const char* folder;
  LlamaConfig config;
};

/// As in the folders' config.json.
std::vector<Case> cases() {
  const auto config = [](int64_t vocabulary, int64_t channels, int64_t hidden, int64_t heads,
                         int64_t key_heads, auto change) {
    LlamaConfig c{.vocab_size = vocabulary,
                  .hidden_size = channels,
                  .intermediate_size = hidden,
                  .num_hidden_layers = 2,
                  .num_attention_heads = heads,
                  .num_key_value_heads = key_heads,
                  .max_position_embeddings = 32};
    change(c);
    return c;
  };
  return {
      {"llama-grouped", config(29, 24, 44, 6, 2, [](LlamaConfig&) {})},
      {"llama-tied", config(31, 20, 28, 2, 2,
                            [](LlamaConfig& c) {
                              c.tie_word_embeddings = true;
                              c.rms_norm_eps = 1e-3;
                            })},
      {"llama-one-head", config(11, 6, 9, 1, 1, [](LlamaConfig& c) { c.num_hidden_layers = 1; })},
      {"llama-one-key-head", config(37, 20, 30, 4, 1,
                                    [](LlamaConfig& c) {
                                      c.head_dim = 6;
                                      c.attention_bias = c.mlp_bias = true;
                                    })},
      {"llama-one-token", config(13, 16, 20, 4, 2, [](LlamaConfig& c) { c.tie_word_embeddings = true; })},
      {"llama-scaled",
       config(23, 32, 36, 2, 1, [](LlamaConfig& c) { c.rope = {500, RotaryScaling::llama3, 8, 1, 4, 32}; })},
      {"llama-linear",
       config(19, 16, 24, 2, 1, [](LlamaConfig& c) { c.rope = {10000, RotaryScaling::linear, 4}; })},
      {"llama-dynamic",
       config(13, 16, 20, 2, 1, [](LlamaConfig& c) { c.rope = {1000, RotaryScaling::dynamic, 3}; })},
      {"llama-yarn", config(23, 32, 36, 2, 1,
                            [](LlamaConfig& c) {
                              c.rope = {.theta = 10000, .scaling = RotaryScaling::yarn, .factor = 4};
                              c.rope.original_positions = 8;
                              c.rope.beta_fast = 2;
                              c.rope.beta_slow = 0.1;
                            })},
      {"llama-yarn-mscale", config(17, 24, 30, 2, 2,
                                   [](LlamaConfig& c) {
                                     c.rope = {.theta = 500, .scaling = RotaryScaling::yarn, .factor = 8};
                                     c.rope.original_positions = 16;
                                     c.rope.beta_fast = 3;
                                     c.rope.beta_slow = 0.2;
                                     c.rope.truncate = false;
                                     c.rope.attention_factor =
                                         yarn_magnitude(8, 1.2) / yarn_magnitude(8, 0.4);
                                   })},
      {"mistral-yarn", config(15, 20, 24, 2, 1,
                              [](LlamaConfig& c) {
                                c.rope = {.theta = 10000, .scaling = RotaryScaling::yarn, .factor = 2};
                                c.rope.original_positions = 16;
                                c.rope.attention_factor = 1.3;
                                c.sliding_window = 6;
                              })},
      {"mistral-window", config(29, 24, 40, 4, 2, [](LlamaConfig& c) { c.sliding_window = 5; })},
      {"mistral-long", config(9, 16, 20, 2, 1,
                              [](LlamaConfig& c) {
                                c.head_dim = 10;
                                c.sliding_window = 70;
                                c.max_position_embeddings = 256;
                                c.num_hidden_layers = 1;
                                c.tie_word_embeddings = true;
                              })},
      {"mistral-one-key", config(15, 12, 18, 3, 3, [](LlamaConfig& c) { c.sliding_window = 1; })},
      {"mistral-no-window", config(21, 16, 26, 4, 1, [](LlamaConfig&) {})},
  };
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.folder; }

class LlamaHF : public ::testing::TestWithParam<Case> {
 protected:
  LlamaHF() : reference_(GetParam().folder), model_(GetParam().config) {
    size_t read = 0;
    for_each_parameter(model_, [&](const std::string& name, Tensor& parameter) {
      const Tensor stored = reference_.parameter(name);
      EXPECT_EQ(stored.shape(), parameter.shape()) << name;
      parameter.copy_from(stored);
      ++read;
    });
    EXPECT_EQ(read, reference_.parameters());
  }

  testing::HFReference reference_;
  Llama model_;
};

TEST_P(LlamaHF, LogitsAndLossAreThoseOfTransformers) {
  const Tensor ids = reference_["input_ids"], logits = model_.logits(ids), expected = reference_["logits"];
  ASSERT_EQ(logits.shape(), expected.shape());
  for (int64_t i = 0; i < logits.numel(); ++i)
    ASSERT_NEAR(logits.data<float>()[i], expected.data<float>()[i], 1e-4) << i;
  EXPECT_NEAR(loss(model_, ids, reference_["targets"]), reference_["loss"].item(), 1e-5);
}

TEST_P(LlamaHF, EveryGradientIsThatOfTransformers) {
  Llama gradient = like(model_);
  loss_and_gradient(model_, reference_["input_ids"], reference_["targets"], &gradient);
  for_each_parameter(gradient, [&](const std::string& name, Tensor& d) {
    EXPECT_LT(testing::relative_difference(d, reference_["gradient/" + name]), 1e-3) << name;
  });
}

TEST_P(LlamaHF, TenStepsOfAdamWHaveTheLossesOfTransformers) {
  const Tensor ids = reference_["input_ids"], targets = reference_["targets"];
  const Tensor expected = reference_["adamw/losses"];
  AdamW optimizer(model_, {.lr = 1e-2, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1});
  Llama gradient = like(model_);
  ASSERT_EQ(expected.numel(), 10);
  for (int64_t step = 0; step < 10; ++step) {
    EXPECT_NEAR(loss_and_gradient(model_, ids, targets, &gradient), expected.select(0, step).item(), 1e-3)
        << step;
    optimizer.step(gradient);
  }
  EXPECT_LT(loss(model_, ids, targets), expected.select(0, 0).item());
}

INSTANTIATE_TEST_SUITE_P(All, LlamaHF, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.folder;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace cladtorch
