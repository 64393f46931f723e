// Frozen parameters of a GPT-2: the gradients of the others, and what a step costs.
#include "cladtorch/models/gpt2.h"
#include "tests/support/frozen_check.h"
#include "tests/support/model_gradient.h"

namespace cladtorch {
namespace {

using testing::Batch;
using testing::expect_freezing_keeps_gradients;
using testing::measured_gradient;

bool starts_with_any(const std::string& name, std::initializer_list<const char*> beginnings) {
  for (const char* beginning : beginnings) {
    if (name.starts_with(beginning)) return true;
  }
  return false;
}

const std::pair<const char*, testing::IsFrozen> selections[] = {
    {"embeddings", [](const std::string& name) { return starts_with_any(name, {"wte", "wpe"}); }},
    {"matrices of the MLPs", [](const std::string& name) { return name.find("mlp.c_") != name.npos; }},
    {"all but biases", [](const std::string& name) { return !name.ends_with("bias"); }},
    {"all but norms", [](const std::string& name) { return name.find("ln_") == name.npos; }},
    {"the beginning",
     [](const std::string& name) { return starts_with_any(name, {"w", "h.0", "h.1", "h.2.ln_1"}); }},
    {"all but the last norm", [](const std::string& name) { return !name.starts_with("ln_f"); }},
    {"all but the positions", [](const std::string& name) { return name != "wpe.weight"; }},
};

GPT2Config four_layers(DType dtype) {
  GPT2Config config = gpt2_preset("toy");
  config.n_layer = 4;
  config.dropout = 0.25;
  config.dtype = dtype;
  return config;
}

Batch batch_for(const GPT2Config& config) { return testing::batch_for(config.vocab_size, 3, 40); }

TEST(GPT2Frozen, LeavesTheOtherGradientsAsTheyAre) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const bool tied : {true, false}) {
      for (const bool checkpointing : {false, true}) {
        GPT2Config config = four_layers(dtype);
        config.tie_word_embeddings = tied;
        config.gradient_checkpointing = checkpointing;
        GPT2 model(config);
        const Batch batch = batch_for(config);
        for (const auto& [name, is_frozen] : selections) {
          SCOPED_TRACE(::testing::Message()
                       << name << (tied ? " tied" : "") << (checkpointing ? " checkpoints " : " ") << dtype);
          expect_freezing_keeps_gradients(model, batch.tokens, batch.targets, is_frozen);
        }
      }
    }
  }
}

TEST(GPT2Frozen, LeavesTheOtherGradientsAsTheyAreForAnySubset) {
  Random random(31);
  for (int i = 0; i < 12; ++i) {
    GPT2Config config = four_layers(i % 3 == 2 ? DType::bfloat16 : DType::float32);
    config.tie_word_embeddings = i % 2 == 0;
    config.gradient_checkpointing = i % 4 >= 2;
    LoRAGPT2 model(config, 7);
    const Batch batch = testing::batch_for(config.vocab_size, 2, 9);
    SCOPED_TRACE(i);
    testing::expect_freezing_any_subset_keeps_gradients(model, batch.tokens, batch.targets, random, 4);
  }
}

/// The classifier of a big vocabulary has several blocks of rows, which sum up the gradient of its weight.
TEST(GPT2Frozen, SavesTheMemoryOfTheClassifier) {
  GPT2Config config = four_layers(DType::float32);
  config.vocab_size = 50257;
  GPT2 model(config);
  const Batch batch = batch_for(config);
  testing::freeze_where(model, [](const std::string&) { return false; });
  const size_t whole = measured_gradient(model, batch.tokens, batch.targets).memory.planned_bytes;
  const testing::MeasuredGradient part =
      expect_freezing_keeps_gradients(model, batch.tokens, batch.targets, selections[0].second);
  const size_t exponentials = 50257 * (3 * 40 - 1) * sizeof(float);
  EXPECT_LT(part.memory.planned_bytes + exponentials, whole + exponentials / 10);
}

/// Below the first trained parameter the backward pass makes no tensor, whatever the depth.
TEST(GPT2Frozen, EndsTheBackwardPassAtTheFirstTrainedParameter) {
  const auto allocations = [](int64_t layers, bool whole) {
    GPT2Config config = four_layers(DType::float32);
    config.n_layer = layers;
    GPT2 model(config);
    const Batch batch = batch_for(config);
    const std::string last = "h." + std::to_string(layers - 1);
    testing::freeze_where(model, [&](const std::string& name) {
      return !whole && !name.starts_with(last) && !name.starts_with("ln_f");
    });
    return measured_gradient(model, batch.tokens, batch.targets).memory.allocations;
  };
  Workspace workspace;
  const GPT2 model(four_layers(DType::float32));
  const Batch batch = batch_for(model.config);
  {
    const Workspace::Step step(workspace);
    const TrainingScope scope(5, 9);
    model.h[0].forward(model.wte(batch.tokens));
  }
  const int64_t more_frozen = allocations(6, false) - allocations(4, false);
  EXPECT_EQ(more_frozen % 2, 0);
  EXPECT_LT(more_frozen, allocations(6, true) - allocations(4, true));
  EXPECT_LE(more_frozen / 2, workspace.statistics().allocations + 4) << "a forward, and what it keeps";
}

TEST(GPT2Frozen, AGradientOfOlderDateIsAnError) {
  GPT2 model(four_layers(DType::float32));
  const Batch batch = batch_for(model.config);
  GPT2 gradient = like(model);
  testing::freeze_where(model, selections[0].second);
  try {
    loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
    FAIL() << "the gradient of wte would stay zero";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "gradient: a parameter of [65,32] was frozen after its gradient buffer was made; make the gradient "
        "again with like()");
  }
}

}  // namespace
}  // namespace cladtorch
