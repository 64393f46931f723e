#include "cladtorch/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cladtorch/error.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/freeze.h"
#include "data/tokens/memory_tokens.h"
#include "io/temporary_folder.h"
#include "train/step/make_optimizer.h"

namespace cladtorch::train {
namespace {

using io::error_of;
using testing::AllOf;
using testing::HasSubstr;

/// Half the squared distance of each token's embedding to its target's number, plus a little decay of all: a
/// minimum that depends on the tokens, so that a wrong batch changes the result.
double quadratic(const GPT2& model, const Tensor& tokens, const Tensor& targets, GPT2* gradient,
                 double weight = 1) {
  const int64_t channels = model.config.n_embd;
  Tensor d_wte = zeros(model.wte.weight.shape());
  const int32_t* const target = targets.data<int32_t>();
  const auto scored = static_cast<double>(targets.numel() -
                                          std::count(target, target + targets.numel(), data::ignored_target));
  double sum = 0;
  for (int64_t i = 0; i < tokens.numel(); ++i) {
    if (target[i] == data::ignored_target) continue;
    const int64_t row = tokens.data<int32_t>()[i] * channels;
    const auto aim = static_cast<float>(target[i]) * 0.01f;
    for (int64_t c = 0; c < channels; ++c) {
      const float distance = model.wte.weight.data<float>()[row + c] - aim;
      sum += 0.5 * static_cast<double>(distance * distance);
      d_wte.data<float>()[row + c] += distance * static_cast<float>(weight / scored);
    }
  }
  if (gradient != nullptr) {
    gradient->wte.weight.accumulate(d_wte);
    gradient->ln_f.bias.accumulate(scale(model.ln_f.weight, weight));
  }
  return scored > 0 ? weight * sum / scored : 0;
}

class Quadratic : public LanguageModelOf<GPT2> {
 public:
  using LanguageModelOf::LanguageModelOf;
  double loss(const Tensor& tokens, const Tensor& targets) const override {
    return quadratic(model().to(DType::float32), tokens, targets, nullptr);
  }
  double loss_and_gradient(const Tensor& tokens, const Tensor& targets, LanguageModel& gradient,
                           double weight) const override {
    return quadratic(model().to(DType::float32), tokens, targets, &own(gradient).model(), weight);
  }

 protected:
  std::unique_ptr<LanguageModel> with(GPT2 model) const override {
    return std::make_unique<Quadratic>(std::move(model));
  }
};

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

GPT2 gpt2_of(const TrainConfig& config) {
  return *model_if<GPT2>(*make_model(config, stories().tokenizer->vocab_size()));
}

std::unique_ptr<LanguageModel> quadratic_of(const TrainConfig& config) {
  return std::make_unique<Quadratic>(gpt2_of(config));
}

Trainer trainer_of(const TrainConfig& config, const data::Dataset& data = stories()) {
  return Trainer(config, data, quadratic_of(config));
}

const GPT2& gpt2_of(const LanguageModel& model) { return *model_if<GPT2>(model); }

std::vector<double> losses(Trainer& trainer, int steps) {
  std::vector<double> result;
  for (int i = 0; i < steps; ++i) result.push_back(trainer.step().loss);
  return result;
}

void expect_equal(const LanguageModel& a, const LanguageModel& b) {
  const std::vector<NamedTensor> actual = a.parameters(), expected = b.parameters();
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const Tensor &p = actual[i].tensor, &q = expected[i].tensor;
    ASSERT_EQ(p.dtype(), q.dtype()) << actual[i].name;
    ASSERT_EQ(p.shape(), q.shape()) << actual[i].name;
    EXPECT_EQ(std::memcmp(p.data(), q.data(), p.nbytes()), 0) << actual[i].name;
  }
}

TEST(Trainer, MakesAGpt2WithAnMlpOfAnyWidth) {
  TrainConfig config;
  EXPECT_EQ(gpt2_of(config).config.inner_size(), 4 * config.model.channels);
  config.model.hidden = 24;
  EXPECT_EQ(gpt2_of(config).config.inner_size(), 24);
}

TEST(Trainer, NamesATextThatDoesNotFillAWindow) {
  const auto error = [](int64_t context, const char* text) {
    TrainConfig config = small_config();
    config.model.context = context;
    config.data.text = text;
    return error_of([&] { Trainer(config, stories(), quadratic_of(config)); });
  };
  const auto train = static_cast<int64_t>(stories().train.size());
  const auto validation = static_cast<int64_t>(stories().validation.size());
  EXPECT_THAT(error(train, "a.txt"),
              AllOf(HasSubstr("the text 'a.txt' is too short"), HasSubstr("for training")));
  EXPECT_THAT(error(validation, ""), AllOf(HasSubstr("the text 'stories'"), HasSubstr("for validation")));
}

TEST(Trainer, LowersTheLossAndCountsSteps) {
  Trainer trainer = trainer_of(small_config());
  const double before = trainer.evaluate();
  losses(trainer, 20);
  EXPECT_LT(trainer.evaluate(), 0.8 * before);
  EXPECT_EQ(trainer.state().step, 20);
  EXPECT_EQ(trainer.state().best_step, 20);
  EXPECT_EQ(trainer.tokens_per_step(), 3 * 2 * 16);
}

TEST(Trainer, MakesAGpt2WithTheActivationOfTheConfiguration) {
  TrainConfig config = small_config();
  EXPECT_EQ(gpt2_of(config).config.activation, nn::Activation::gelu_tanh);
  config.model.activation = "gelu";
  EXPECT_EQ(gpt2_of(config).config.activation, nn::Activation::gelu_erf);
  EXPECT_EQ(gpt2_of(config).h[0].mlp.activation, nn::Activation::gelu_erf);
}

TEST(Trainer, ContinuesBitForBitFromACheckpoint) {
  io::TemporaryFolder folder;
  Trainer straight = trainer_of(small_config());
  const auto all = losses(straight, 20);
  const double val = straight.evaluate();

  Trainer first = trainer_of(small_config());
  losses(first, 10);
  first.begin_save(folder / "last");
  losses(first, 3);  // what is done after the save began is lost

  Trainer second = trainer_of(small_config());
  second.restore(folder / "last");
  EXPECT_EQ(losses(second, 10), std::vector<double>(all.begin() + 10, all.end()));
  EXPECT_EQ(second.evaluate(), val);
}

TEST(Trainer, ContinuesBitForBitWithEachOptimizerAndRefusesTheStateOfAnother) {
  io::TemporaryFolder folder;
  for (const char* kind : optimizer_kinds) {
    TrainConfig config = small_config();
    config.optimizer.kind = kind;
    Trainer straight = trainer_of(config), resumed = trainer_of(config);
    losses(straight, 4);
    straight.save(folder / kind);
    resumed.restore(folder / kind);
    EXPECT_EQ(losses(resumed, 4), losses(straight, 4)) << kind;
    expect_equal(resumed.master(), straight.master());
  }
  TrainConfig config = small_config();
  EXPECT_THAT(error_of([&] { trainer_of(config).restore(folder / "muon"); }),
              HasSubstr("it is the state of 'Muon', not of AdamW; a run keeps its optimizer.kind"));
  config.optimizer.kind = "sgd";
  EXPECT_THAT(error_of([&] { trainer_of(config).restore(folder / "adamw"); }),
              HasSubstr("it is the state of 'AdamW', not of SGD"));
  config.optimizer.momentum = 0;
  EXPECT_THAT(error_of([&] { trainer_of(config).restore(folder / "sgd"); }),
              HasSubstr("but SGD keeps 0 for the"));
}

TEST(Trainer, TakesTheSameStepWhenTheBatchIsAccumulated) {
  TrainConfig whole = small_config(), parts = small_config();
  whole.train.batch = 4;
  whole.train.accumulate = 1;
  parts.train.batch = 2;
  parts.train.accumulate = 2;
  Trainer a = trainer_of(whole), b = trainer_of(parts);
  const StepRecord at_once = a.step(), in_parts = b.step();
  EXPECT_NEAR(at_once.loss, in_parts.loss, 1e-6 * at_once.loss);
  EXPECT_NEAR(at_once.grad_norm, in_parts.grad_norm, 1e-5 * at_once.grad_norm);
}

/// `documents` documents of 9 tokens, of which the first `prompt(document)` are never targets.
template <class Prompt>
data::Dataset prompts(int documents, Prompt prompt) {
  auto tokens = std::make_shared<data::MemoryTokens>(data::TokenWidth::u16);
  const auto vocabulary = static_cast<int32_t>(stories().tokenizer->vocab_size());
  for (int document = 0; document < documents; ++document) {
    tokens->begin_document();
    for (int i = 0; i < 9; ++i) {
      const int32_t token = (document * 7 + i * i) % vocabulary;
      tokens->append({&token, 1}, i < prompt(document));
    }
  }
  data::Dataset dataset = stories();
  dataset.train = tokens->finish();
  dataset.validation = dataset.train;
  dataset.storage = std::move(tokens);
  return dataset;
}

TEST(Trainer, CountsNoArithmeticThatFreezingSaves) {
  const TrainConfig config = small_config();
  const auto flops = [&](const TrainedParameters& which) {
    auto model = quadratic_of(config);
    freeze_parameters(*model, which);
    return Trainer(config, stories(), std::move(model)).flops_per_token();
  };
  const double whole = flops({}), matrices = 12.0 * 8 * 8;
  const double head = 8.0 * static_cast<double>(stories().tokenizer->vocab_size());
  EXPECT_EQ(whole, gpt2_of(config).config.n_layer * 6.0 * (matrices + 8.0 * 16) + 6 * head);
  EXPECT_EQ(flops({.freeze = "h.0"}), whole - 2 * matrices) << "the embeddings below need the cotangents";
  EXPECT_EQ(flops({.freeze = "wte"}), whole - 2 * head);
  EXPECT_EQ(flops({.train_only = "ln_f"}), whole - 2 * head - 4 * matrices);
  EXPECT_EQ(flops({.train_only = "h.0.mlp"}), whole - 2 * head - 4 * 4.0 * 8 * 8);
}

TEST(Trainer, EveryTargetOfAStepCountsTheSameInWhicheverMicroBatchItIs) {
  const data::Dataset data = prompts(40, [](int document) { return 2 + document % 7; });
  TrainConfig whole = small_config(), parts = small_config();
  for (TrainConfig* config : {&whole, &parts}) {
    config->model.context = 8;
    config->data.packing = "documents";
    config->optimizer.clip = 0;
  }
  whole.train.batch = 6;
  whole.train.accumulate = 1;
  parts.train.batch = 1;
  parts.train.accumulate = 6;
  Trainer a = trainer_of(whole, data), b = trainer_of(parts, data);
  for (int step = 0; step < 10; ++step) {
    std::vector<Tensor> expected;
    const StepRecord at_once = a.step([&](const TensorList& gradients, double factor) {
      for (const NamedTensor& named : gradients) expected.push_back(scale(named.tensor, factor));
    });
    const StepRecord in_parts = b.step([&](const TensorList& gradients, double factor) {
      for (size_t i = 0; i < gradients.size(); ++i)
        for (int64_t j = 0; j < expected[i].numel(); ++j)
          ASSERT_NEAR(gradients[i].tensor.data<float>()[j] * factor, expected[i].data<float>()[j], 1e-6)
              << gradients[i].name << " in step " << step;
    });
    ASSERT_NEAR(at_once.loss, in_parts.loss, 1e-6 * at_once.loss);
    ASSERT_NEAR(at_once.grad_norm, in_parts.grad_norm, 1e-5 * at_once.grad_norm);
  }
}

TEST(Trainer, MicroBatchesWithoutATargetAddNothing) {
  // Windows that begin anywhere: some lie in a prompt as a whole, and some steps have no target at all.
  const data::Dataset data = prompts(40, [](int document) { return document % 4 == 3 ? 0 : 9; });
  TrainConfig config = small_config();
  config.model.context = 4;
  config.train.batch = 1;
  config.train.steps = 60;
  Trainer trainer = trainer_of(config, data);
  trainer.plan_memory();
  int without = 0;
  for (int step = 0; step < 60; ++step) {
    const StepRecord record = trainer.step();
    without += record.loss == 0 && record.grad_norm == 0;
  }
  EXPECT_GT(without, 5);
  EXPECT_LT(without, 55);
  EXPECT_LT(trainer.evaluate(), trainer_of(config, data).evaluate());
}

TEST(Trainer, PlansItsMemoryWithoutChangingTheRun) {
  Trainer plain = trainer_of(small_config()), planned = trainer_of(small_config());
  const MemoryUse use = planned.plan_memory();
  EXPECT_EQ(use.parameters, static_cast<size_t>(planned.model().parameter_count()) * 4);
  EXPECT_GT(use.activations, 0u);
  EXPECT_EQ(losses(plain, 3), losses(planned, 3));
}

/// Its loss or its gradient is not finite.
class Poisoned : public Quadratic {
 public:
  Poisoned(GPT2 model, bool in_loss) : Quadratic(std::move(model)), in_loss_(in_loss) {}
  double loss_and_gradient(const Tensor& tokens, const Tensor& targets, LanguageModel& gradient,
                           double weight) const override {
    const double value = Quadratic::loss_and_gradient(tokens, targets, gradient, weight);
    if (in_loss_) return std::numeric_limits<double>::quiet_NaN();
    own(gradient).model().wte.weight.data<float>()[5] = std::numeric_limits<float>::infinity();
    return value;
  }

 protected:
  std::unique_ptr<LanguageModel> with(GPT2 model) const override {
    return std::make_unique<Poisoned>(std::move(model), in_loss_);
  }

 private:
  bool in_loss_;
};

TEST(Trainer, StopsBeforeAnUpdateThatIsNotFinite) {
  for (const bool in_loss : {true, false}) {
    const TrainConfig config = small_config();
    Trainer trainer(config, stories(), std::make_unique<Poisoned>(gpt2_of(config), in_loss));
    const Tensor weights = trainer.model().parameters()[0].tensor;
    const float weight = weights.data<float>()[0];
    EXPECT_THAT(error_of<Diverged>([&] { trainer.step(); }),
                HasSubstr(in_loss ? "loss is nan" : "gradient is infinite"));
    EXPECT_EQ(weights.data<float>()[0], weight);
    EXPECT_EQ(trainer.state().step, 0);
  }
}

TEST(Trainer, SavesNoWeightsThatAreNotFinite) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  Trainer trainer = trainer_of(config);
  trainer.save(folder / "last");
  config.optimizer.lr = 1e300;
  Trainer overflowing = trainer_of(config);
  overflowing.step();
  EXPECT_THAT(error_of<Diverged>([&] { overflowing.save(folder / "last"); }),
              HasSubstr("the length of the weights is"));
  EXPECT_THAT(error_of<Diverged>([&] { overflowing.evaluate(); }), HasSubstr("validation loss is"));
  EXPECT_EQ(load_trainer_state(folder / "last").step, 0);
}

TEST(Trainer, ABfloat16RunBeginsWithTheRoundedWeightsOfTheFloat32RunAndSavesItsMasters) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  const Trainer wide = trainer_of(config);
  EXPECT_TRUE(gpt2_of(wide.master()).wte.weight.shares_storage_with(gpt2_of(wide.model()).wte.weight));
  config.run.dtype = "bf16";
  Trainer trainer = trainer_of(config);
  expect_equal(trainer.master(), wide.model());
  EXPECT_EQ(trainer.model().dtype(), DType::bfloat16);
  expect_equal(trainer.model(), *wide.model().to(DType::bfloat16));

  losses(trainer, 7);
  expect_equal(trainer.model(), *trainer.master().to(DType::bfloat16));
  trainer.save(folder / "c");
  expect_equal(*formats::load_model(folder / "c"), trainer.master());

  Trainer resumed = trainer_of(config);
  resumed.restore(folder / "c");
  EXPECT_EQ(losses(resumed, 5), losses(trainer, 5));
  expect_equal(resumed.master(), trainer.master());
  config.run.dtype = "fp32";
  Trainer continued = trainer_of(config);
  continued.restore(folder / "c");
  losses(continued, 5);
  EXPECT_EQ(continued.state().step, 12);
}

TEST(Trainer, AFloat8RunNeedsLayersThatCanBeMultipliedIn8Bits) {
  TrainConfig config = small_config();
  config.run.dtype = "fp8";
  config.model.channels = 24;
  config.model.hidden = 40;
  EXPECT_THROW(trainer_of(config), Error);
}

TEST(Trainer, CountsTheMemoryOfMastersApart) {
  TrainConfig config = small_config();
  const MemoryUse wide = trainer_of(config).plan_memory();
  config.run.dtype = "bf16";
  const MemoryUse narrow = trainer_of(config).plan_memory();
  EXPECT_EQ(wide.masters, 0u);
  EXPECT_EQ(narrow.masters, wide.parameters);
  EXPECT_EQ(2 * narrow.parameters, wide.parameters);
  EXPECT_EQ(narrow.gradients, wide.gradients);
  EXPECT_EQ(narrow.optimizer, wide.optimizer);
  EXPECT_EQ(narrow.peak() - narrow.activations, wide.peak() - wide.activations + narrow.parameters);
}

TEST(Trainer, RefusesACheckpointOfAnotherModelOrText) {
  io::TemporaryFolder folder;
  trainer_of(small_config()).save(folder / "c");
  TrainConfig wider = small_config();
  wider.model.channels = 16;
  Trainer other_model = trainer_of(wider);
  EXPECT_THAT(error_of([&] { other_model.restore(folder / "c"); }),
              HasSubstr("n_embd is 8, but the model has 16"));
  const data::Dataset longer = data::stories_dataset(30'000, 1);
  Trainer other_text = trainer_of(small_config(), longer);
  EXPECT_THAT(error_of([&] { other_text.restore(folder / "c"); }), HasSubstr("has the text changed?"));
}

TEST(Trainer, RefusesADamagedCheckpointAndAnotherSeed) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  trainer_of(config).save(folder / "c");
  const auto restore = [&] { return error_of([&] { trainer_of(config).restore(folder / "c"); }); };
  EXPECT_EQ(restore(), "");
  config.run.seed = 5;
  EXPECT_THAT(restore(), HasSubstr("started with run.seed = 1, not 5"));
  config.run.seed = 1;

  io::Json state = io::read_json(folder / "c" / "trainer_state.json");
  for (const auto& [key, value] : {std::pair<const char*, io::Json>{"step", -1},
                                   {"step", 2.5},
                                   {"steps", "x"},
                                   {"steps", -1},
                                   {"configured_steps", -1},
                                   {"best_step", -1},
                                   {"evaluations_since_best", -1},
                                   {"tokens", -16},
                                   {"seconds", -0.5},
                                   {"best_step", 1},
                                   {"loader", 1},
                                   {"loader", {{"seed", 1}}}}) {
    io::Json odd = state;
    odd[key] = value;
    io::write_json(folder / "c" / "trainer_state.json", odd);
    EXPECT_THAT(restore(), HasSubstr("trainer_state.json")) << key << value;
  }
  io::Json odd = state;
  odd["loader"]["position"] = 1'000'000'000;
  io::write_json(folder / "c" / "trainer_state.json", odd);
  EXPECT_THAT(restore(), HasSubstr("position 1000000000 lies beyond"));
  odd = state;
  odd["step"] = 3;
  io::write_json(folder / "c" / "trainer_state.json", odd);
  EXPECT_THAT(restore(), HasSubstr("it is of step 3, but its optimizer has done 0"));
  odd = state;
  odd["tokens"] = 1'600'000;
  io::write_json(folder / "c" / "trainer_state.json", odd);
  EXPECT_THAT(restore(), HasSubstr("1600000 tokens do not lead to sequence 0 of epoch 0"));
  io::write_json(folder / "c" / "trainer_state.json", state);

  const auto poisoned = formats::load_model(folder / "c");
  Tensor weights = poisoned->parameters().back().tensor;
  weights.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  formats::save_model(*poisoned, folder / "c");
  EXPECT_THAT(restore(), HasSubstr("not finite"));
}

TEST(Trainer, ARunGoesOnWithTheCheckpointingOfItsConfiguration) {
  io::TemporaryFolder folder;
  TrainConfig config = small_config();
  trainer_of(config).save(folder / "c");
  for (const bool choice : {true, false}) {
    config.model.gradient_checkpointing = choice;
    Trainer trainer = trainer_of(config);
    EXPECT_EQ(trainer.model().gradient_checkpointing(), choice);
    trainer.restore(folder / "c");
    EXPECT_EQ(trainer.model().gradient_checkpointing(), choice);
  }
}

TEST(Trainer, DoesNotBringBackAFolderThatWasRemoved) {
  io::TemporaryFolder folder;
  Trainer trainer = trainer_of(small_config());
  EXPECT_THAT(error_of([&] { trainer.save(folder / "gone" / "last"); }),
              HasSubstr("gone/last': no such file or directory"));
  EXPECT_FALSE(std::filesystem::exists(folder / "gone"));
}

}  // namespace
}  // namespace cladtorch::train
