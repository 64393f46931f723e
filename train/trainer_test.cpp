#include "cladtorch/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/train/gpt2_file.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

using io::error_of;
using testing::HasSubstr;

/// Half the squared distance of each token's embedding to the first channel's index, plus a little decay of
/// all: a minimum that depends on the tokens, so that a wrong batch changes the result.
double quadratic(const GPT2& model, const Tensor& tokens, const Tensor& targets, GPT2* gradient) {
  const int64_t channels = model.config.n_embd;
  Tensor d_wte = zeros(model.wte.weight.shape());
  double sum = 0;
  for (int64_t i = 0; i < tokens.numel(); ++i) {
    if (targets.data<int32_t>()[i] == data::ignored_target) continue;
    const int64_t row = tokens.data<int32_t>()[i] * channels;
    const auto aim = static_cast<float>(targets.data<int32_t>()[i]) * 0.01f;
    for (int64_t c = 0; c < channels; ++c) {
      const float distance = model.wte.weight.data<float>()[row + c] - aim;
      sum += 0.5 * static_cast<double>(distance * distance);
      d_wte.data<float>()[row + c] += distance / static_cast<float>(tokens.numel());
    }
  }
  if (gradient != nullptr) {
    gradient->wte.weight.accumulate(d_wte);
    gradient->ln_f.bias.accumulate(model.ln_f.weight);
  }
  return sum / static_cast<double>(tokens.numel());
}

const Objective quadratic_objective{
    .value = [](const GPT2& model, const Tensor& tokens,
                const Tensor& targets) { return quadratic(model, tokens, targets, nullptr); },
    .value_and_gradient = quadratic};

TrainConfig small_config() {
  TrainConfig config;
  config.data.story_bytes = 20'000;
  config.model = {.layers = 1, .heads = 2, .channels = 8, .context = 16, .dropout = 0.0};
  config.train.steps = 20;
  config.train.batch = 3;
  config.train.accumulate = 2;
  config.train.eval_batches = 3;
  config.schedule.warmup = 5;
  config.optimizer.lr = 0.05;
  return config;
}

const data::Dataset& stories() {
  static const data::Dataset dataset = data::stories_dataset(20'000, 1);
  return dataset;
}

std::vector<double> losses(Trainer& trainer, int steps) {
  std::vector<double> result;
  for (int i = 0; i < steps; ++i) result.push_back(trainer.step().loss);
  return result;
}

TEST(Trainer, LowersTheLossAndCountsSteps) {
  Trainer trainer(small_config(), stories(), quadratic_objective);
  const double before = trainer.evaluate();
  losses(trainer, 20);
  EXPECT_LT(trainer.evaluate(), 0.8 * before);
  EXPECT_EQ(trainer.state().step, 20);
  EXPECT_EQ(trainer.state().best_step, 20);
  EXPECT_EQ(trainer.tokens_per_step(), 3 * 2 * 16);
}

TEST(Trainer, ContinuesBitForBitFromACheckpoint) {
  io::TemporaryFolder folder;
  Trainer straight(small_config(), stories(), quadratic_objective);
  const auto all = losses(straight, 20);
  const double val = straight.evaluate();

  Trainer first(small_config(), stories(), quadratic_objective);
  losses(first, 10);
  first.save(folder / "last");
  losses(first, 3);  // what was done after the save is lost

  Trainer second(small_config(), stories(), quadratic_objective);
  second.restore(folder / "last");
  EXPECT_EQ(losses(second, 10), std::vector<double>(all.begin() + 10, all.end()));
  EXPECT_EQ(second.evaluate(), val);
}

TEST(Trainer, TakesTheSameStepWhenTheBatchIsAccumulated) {
  TrainConfig whole = small_config(), parts = small_config();
  whole.train.batch = 4;
  whole.train.accumulate = 1;
  parts.train.batch = 2;
  parts.train.accumulate = 2;
  Trainer a(whole, stories(), quadratic_objective), b(parts, stories(), quadratic_objective);
  const StepRecord at_once = a.step(), in_parts = b.step();
  EXPECT_NEAR(at_once.loss, in_parts.loss, 1e-6 * at_once.loss);
  EXPECT_NEAR(at_once.grad_norm, in_parts.grad_norm, 1e-5 * at_once.grad_norm);
}

TEST(Trainer, PlansItsMemoryWithoutChangingTheRun) {
  Trainer plain(small_config(), stories(), quadratic_objective),
      planned(small_config(), stories(), quadratic_objective);
  const MemoryUse use = planned.plan_memory();
  EXPECT_EQ(use.parameters, static_cast<size_t>(parameter_count(planned.model())) * 4);
  EXPECT_GT(use.activations, 0u);
  EXPECT_EQ(losses(plain, 3), losses(planned, 3));
}

TEST(Trainer, StopsBeforeAnUpdateThatIsNotFinite) {
  for (const bool in_loss : {true, false}) {
    Objective poisoned = quadratic_objective;
    poisoned.value_and_gradient = [&](const GPT2& m, const Tensor& x, const Tensor& y, GPT2* g) {
      const double value = quadratic(m, x, y, g);
      if (in_loss) return std::numeric_limits<double>::quiet_NaN();
      g->wte.weight.data<float>()[5] = std::numeric_limits<float>::infinity();
      return value;
    };
    Trainer trainer(small_config(), stories(), poisoned);
    const float weight = trainer.model().wte.weight.data<float>()[0];
    EXPECT_THAT(error_of<Diverged>([&] { trainer.step(); }),
                HasSubstr(in_loss ? "loss is nan" : "gradient is infinite"));
    EXPECT_EQ(trainer.model().wte.weight.data<float>()[0], weight);
    EXPECT_EQ(trainer.state().step, 0);
  }
}

TEST(Trainer, SavesNoWeightsThatAreNotFinite) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  Trainer trainer(config, stories(), quadratic_objective);
  trainer.save(folder / "last");
  config.optimizer.lr = 1e300;
  Trainer overflowing(config, stories(), quadratic_objective);
  overflowing.step();
  EXPECT_THAT(error_of<Diverged>([&] { overflowing.save(folder / "last"); }),
              HasSubstr("the length of the weights is"));
  EXPECT_THAT(error_of<Diverged>([&] { overflowing.evaluate(); }), HasSubstr("validation loss is"));
  EXPECT_EQ(load_trainer_state(folder / "last").step, 0);
}

/// The quadratic of the rounded weights.
Objective bfloat16_objective() {
  Objective objective;
  objective.value = [](const GPT2& m, const Tensor& x, const Tensor& y) {
    return quadratic(m.to(DType::float32), x, y, nullptr);
  };
  objective.value_and_gradient = [](const GPT2& m, const Tensor& x, const Tensor& y, GPT2* g) {
    EXPECT_EQ(m.wte.weight.dtype(), DType::bfloat16);
    return quadratic(m.to(DType::float32), x, y, g);
  };
  return objective;
}

void expect_equal(const GPT2& a, const GPT2& b) {
  std::vector<Tensor> expected;
  for_each_parameter(a, [&](const std::string&, const Tensor& p) { expected.push_back(p); });
  size_t i = 0;
  for_each_parameter(b, [&](const std::string& name, const Tensor& p) {
    ASSERT_EQ(p.dtype(), expected[i].dtype()) << name;
    EXPECT_EQ(std::memcmp(p.data(), expected[i].data(), p.nbytes()), 0) << name;
    ++i;
  });
}

TEST(Trainer, ABfloat16RunBeginsWithTheRoundedWeightsOfTheFloat32RunAndSavesItsMasters) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  const Trainer wide(config, stories(), quadratic_objective);
  EXPECT_TRUE(wide.master().wte.weight.shares_storage_with(wide.model().wte.weight));
  config.run.dtype = "bf16";
  Trainer trainer(config, stories(), bfloat16_objective());
  expect_equal(trainer.master(), wide.model());
  expect_equal(trainer.model(), wide.model().to(DType::bfloat16));

  losses(trainer, 7);
  expect_equal(trainer.model(), trainer.master().to(DType::bfloat16));
  trainer.save(folder / "c");
  expect_equal(load_gpt2(folder / "c"), trainer.master());

  Trainer resumed(config, stories(), bfloat16_objective());
  resumed.restore(folder / "c");
  EXPECT_EQ(losses(resumed, 5), losses(trainer, 5));
  expect_equal(resumed.master(), trainer.master());
  config.run.dtype = "fp32";
  Trainer continued(config, stories(), quadratic_objective);
  continued.restore(folder / "c");
  losses(continued, 5);
  EXPECT_EQ(continued.state().step, 12);
}

TEST(Trainer, CountsTheMemoryOfMastersApart) {
  TrainConfig config = small_config();
  const MemoryUse wide = Trainer(config, stories(), quadratic_objective).plan_memory();
  config.run.dtype = "bf16";
  const MemoryUse narrow = Trainer(config, stories(), bfloat16_objective()).plan_memory();
  EXPECT_EQ(wide.masters, 0u);
  EXPECT_EQ(narrow.masters, wide.parameters);
  EXPECT_EQ(2 * narrow.parameters, wide.parameters);
  EXPECT_EQ(narrow.gradients, wide.gradients);
  EXPECT_EQ(narrow.optimizer, wide.optimizer);
  EXPECT_EQ(narrow.peak() - narrow.activations, wide.peak() - wide.activations + narrow.parameters);
}

TEST(Trainer, RefusesACheckpointOfAnotherModelOrText) {
  io::TemporaryFolder folder;
  Trainer(small_config(), stories(), quadratic_objective).save(folder / "c");
  TrainConfig wider = small_config();
  wider.model.channels = 16;
  Trainer other_model(wider, stories(), quadratic_objective);
  EXPECT_THAT(error_of([&] { other_model.restore(folder / "c"); }), HasSubstr("model keys"));
  const data::Dataset longer = data::stories_dataset(30'000, 1);
  Trainer other_text(small_config(), longer, quadratic_objective);
  EXPECT_THAT(error_of([&] { other_text.restore(folder / "c"); }), HasSubstr("has the text changed?"));
}

TEST(Trainer, RefusesADamagedCheckpointAndAnotherSeed) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  Trainer(config, stories(), quadratic_objective).save(folder / "c");
  const auto restore = [&] {
    return error_of([&] { Trainer(config, stories(), quadratic_objective).restore(folder / "c"); });
  };
  EXPECT_EQ(restore(), "");
  config.run.seed = 5;
  EXPECT_THAT(restore(), HasSubstr("begun with run.seed = 1, not 5"));
  config.run.seed = 1;

  io::Json state = io::read_json(folder / "c" / "trainer_state.json");
  for (const auto& [key, value] :
       {std::pair<const char*, io::Json>{"step", -1}, {"step", 2.5}, {"steps", "x"}}) {
    io::Json odd = state;
    odd[key] = value;
    io::write_json(folder / "c" / "trainer_state.json", odd);
    EXPECT_THAT(restore(), HasSubstr("trainer_state.json")) << key << value;
  }
  io::Json odd = state;
  odd["loader"]["position"] = 1'000'000'000;
  io::write_json(folder / "c" / "trainer_state.json", odd);
  EXPECT_THAT(restore(), HasSubstr("position 1000000000 lies beyond"));
  io::write_json(folder / "c" / "trainer_state.json", state);

  GPT2 poisoned = load_gpt2(folder / "c");
  poisoned.ln_f.weight.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  save_gpt2(poisoned, folder / "c");
  EXPECT_THAT(restore(), HasSubstr("not finite"));
}

TEST(Trainer, ARunGoesOnWithTheCheckpointingOfItsConfiguration) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  Trainer(config, stories(), quadratic_objective).save(folder / "c");
  for (const bool choice : {true, false}) {
    config.model.gradient_checkpointing = choice;
    Trainer trainer(config, stories(), quadratic_objective);
    EXPECT_EQ(trainer.model().config.gradient_checkpointing, choice);
    trainer.restore(folder / "c");
    EXPECT_EQ(trainer.model().config.gradient_checkpointing, choice);
  }
}

TEST(Trainer, DoesNotBringBackAFolderThatWasRemoved) {
  io::TemporaryFolder folder;
  Trainer trainer(small_config(), stories(), quadratic_objective);
  EXPECT_THAT(error_of([&] { trainer.save(folder / "gone" / "last"); }),
              HasSubstr("gone/last': no such file or directory"));
  EXPECT_FALSE(std::filesystem::exists(folder / "gone"));
}

TEST(FlopsPerToken, MatchesTheCountOfGpt2) {
  GPT2Config config;
  config.vocab_size = 50304;
  EXPECT_NEAR(flops_per_token(config, 1024) * 4096, 3269e9, 1e9);
  EXPECT_NEAR(flops_per_token(config, 64) * 256, 190.7e9, 0.1e9);
}

TEST(Gpt2File, IsReadBackBitForBit) {
  io::TemporaryFolder folder;
  const GPT2 model(gpt2_preset("toy"), 9);
  save_gpt2(model, folder.path());
  GPT2 read = load_gpt2(folder.path());
  std::vector<Tensor> expected;
  for_each_parameter(model, [&](const std::string&, const Tensor& p) { expected.push_back(p); });
  size_t i = 0;
  for_each_parameter(read, [&](const std::string& name, Tensor& p) {
    ASSERT_EQ(p.shape(), expected[i].shape()) << name;
    EXPECT_EQ(std::memcmp(p.data(), expected[i].data(), p.nbytes()), 0) << name;
    ++i;
  });
  EXPECT_EQ(read.config.n_layer, model.config.n_layer);
}

TEST(Gpt2File, StoresLinearLayersTransposedUnderTransformersNames) {
  io::TemporaryFolder folder;
  const GPT2 model(gpt2_preset("toy"), 9);
  save_gpt2(model, folder.path());
  const io::SafetensorsFile file(folder / "model.safetensors");
  EXPECT_EQ(file.at("h.1.attn.c_attn.weight").shape, (std::vector<int64_t>{32, 96}));
  EXPECT_EQ(file.at("wte.weight").shape, (std::vector<int64_t>{65, 32}));
  const auto* stored = reinterpret_cast<const float*>(file.at("h.1.mlp.c_fc.weight").data.data());
  EXPECT_EQ(stored[1], model.h[1].mlp.c_fc.weight.data<float>()[32]);
}

TEST(Gpt2File, RefusesForeignAndInconsistentFiles) {
  io::TemporaryFolder folder;
  save_gpt2(GPT2(gpt2_preset("toy"), 9), folder.path());
  const auto error_with = [&](const char* key, const io::Json& value) {
    io::Json config = gpt2_config_json(gpt2_preset("toy"));
    config[key] = value;
    io::write_json(folder / "config.json", config);
    return error_of([&] { load_gpt2(folder.path()); });
  };
  EXPECT_EQ(error_with("n_layer", 2), "");
  EXPECT_THAT(error_with("model_type", "llama"), HasSubstr("model_type is 'llama', expected gpt2"));
  EXPECT_THAT(error_with("activation_function", "relu"), HasSubstr("expected gelu_new"));
  EXPECT_THAT(error_with("n_layer", 3), HasSubstr("no tensor 'h.2."));
  EXPECT_THAT(error_with("n_layer", 1), HasSubstr("tensors"));
  EXPECT_THAT(error_with("vocab_size", 66), HasSubstr("'wte.weight' is [65,32]"));
  EXPECT_THAT(error_with("n_layer", 1'000'000'000), HasSubstr("config.json describes a model of"));
  EXPECT_THAT(error_with("n_head", 5), HasSubstr("config.json"));
  EXPECT_THAT(error_with("n_embd", "wide"), HasSubstr("'n_embd' is string"));
  EXPECT_THAT(error_with("n_embd", 32.5), HasSubstr("'n_embd' is 32.5"));
  EXPECT_THAT(error_with("vocab_size", std::numeric_limits<int64_t>::max()), HasSubstr("config.json"));
  EXPECT_THAT(error_with("activation_function", 5), HasSubstr("'activation_function' is 5"));
  EXPECT_THAT(error_with("tie_word_embeddings", false), HasSubstr("tie_word_embeddings"));
  EXPECT_THAT(error_with("scale_attn_by_inverse_layer_idx", true),
              HasSubstr("scale_attn_by_inverse_layer_idx"));
}

}  // namespace
}  // namespace cladtorch::train
