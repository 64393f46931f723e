// Training an adapter with the derivatives that the compiler wrote.
#include "cladtorch/train/adapter.h"

#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/ops/dropout.h"
#include "cladtorch/train/bench.h"
#include "cladtorch/train/trainer.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

namespace fs = std::filesystem;
using io::error_of;
using testing::HasSubstr;

const data::Dataset& stories() {
  static const data::Dataset dataset = data::stories_dataset(20'000, 1);
  return dataset;
}

TrainConfig small_config() {
  TrainConfig config;
  config.model.context = 16;
  config.train.steps = 30;
  config.train.batch = 4;
  config.train.accumulate = 2;
  config.train.eval_batches = 4;
  config.schedule.warmup = 3;
  config.optimizer.lr = 0.02;
  return config;
}

GPT2Config gpt2_config() {
  return {.vocab_size = stories().tokenizer->vocab_size(),
          .n_positions = 16,
          .n_layer = 2,
          .n_head = 2,
          .n_embd = 16};
}

LlamaConfig llama_config() {
  LlamaConfig config = llama_preset("llama-toy");
  config.vocab_size = stories().tokenizer->vocab_size();
  config.initializer_range = 0.2;
  return config;
}

/// Of weights that are large enough for an adapter to have something to work with.
std::unique_ptr<LanguageModel> base_model(bool llama) {
  if (llama) return as_language_model(Llama(llama_config(), 3));
  GPT2 model(gpt2_config(), 3);
  for_each_parameter(model, [](const std::string&, Tensor& parameter) {
    if (parameter.dim() == 2) parameter.copy_from(parameter * 10.0);
  });
  return as_language_model(std::move(model));
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && std::memcmp(a.data(), b.data(), a.nbytes()) == 0;
}

void expect_base(const LanguageModel& model, const LanguageModel& base) {
  size_t compared = 0;
  for (const NamedTensor& before : base.parameters()) {
    for (const NamedTensor& after : model.parameters()) {
      if (after.name != before.name) continue;
      EXPECT_TRUE(same_bits(after.tensor, before.tensor)) << after.name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, base.parameters().size());
}

/// A model in "base".
class AdapterTraining : public testing::TestWithParam<bool> {
 protected:
  AdapterTraining() {
    fs::create_directory(base_);
    formats::save_model(*base_model(llama_), base_);
  }

  AdapterRun adapter(const LoRAConfig& lora = {.rank = 4, .alpha = 8, .targets = {"all-linear"}}) const {
    return {.lora = lora, .base = base_};
  }
  Trainer trainer(const TrainConfig& config = small_config()) const { return trainer(config, adapter()); }
  Trainer trainer(const TrainConfig& config, std::optional<AdapterRun> run) const {
    return Trainer(config, stories(), formats::load_model(base_), std::move(run));
  }
  static std::vector<double> losses(Trainer& trainer, int steps) {
    std::vector<double> result;
    for (int i = 0; i < steps; ++i) result.push_back(trainer.step().loss);
    return result;
  }

  const bool llama_ = GetParam();
  io::TemporaryFolder folder_;
  const fs::path base_ = folder_ / "base";
};

TEST_P(AdapterTraining, LowersTheLossAndLeavesTheModelAsItWas) {
  for (const char* dtype : {"fp32", "bf16"}) {
    TrainConfig config = small_config();
    config.run.dtype = dtype;
    Trainer run = trainer(config);
    const double before = run.evaluate();
    losses(run, 30);
    const double after = run.evaluate();
    EXPECT_LT(after, before - 0.1) << dtype;
    expect_base(run.master(), *base_model(llama_));
    run.save(folder_ / dtype);
    // A checkpoint is a folder of PEFT with the training state.
    EXPECT_FALSE(fs::exists(folder_ / dtype / "model.safetensors"));
    EXPECT_LT(fs::file_size(folder_ / dtype / "adapter_model.safetensors"),
              fs::file_size(base_ / "model.safetensors"));
    auto best = formats::load_model(folder_ / dtype);
    const Tensor ids = arange(16).reshape({1, 16});
    EXPECT_TRUE(same_bits(best->logits(ids), run.master().logits(ids)));
    const Tensor expected = best->logits(ids).clone();
    merge_lora(best);
    const Tensor logits = best->logits(ids);
    for (int64_t i = 0; i < logits.numel(); ++i)
      ASSERT_NEAR(logits.data<float>()[i], expected.data<float>()[i], 1e-5);
  }
}

TEST_P(AdapterTraining, ContinuesBitForBitFromACheckpoint) {
  TrainConfig config = small_config();
  AdapterRun run = adapter();
  run.lora.dropout = 0.2;
  Trainer straight = trainer(config, run), first = trainer(config, run), second = trainer(config, run);
  const std::vector<double> all = losses(straight, 12);
  losses(first, 6);
  first.save(folder_ / "last");
  losses(first, 2);
  second.restore(folder_ / "last");
  EXPECT_EQ(losses(second, 6), std::vector<double>(all.begin() + 6, all.end()));
  EXPECT_EQ(second.evaluate(), straight.evaluate());
  second.save(folder_ / "second");
  straight.save(folder_ / "straight");
  for (const char* file : {"adapter_model.safetensors", "optimizer.safetensors", "adapter_config.json"})
    EXPECT_EQ(folder_.read(std::string("second/") + file), folder_.read(std::string("straight/") + file));
}

/// The gradients of adapters by name. `frozen`: those of the model's own weights are sinks.
std::map<std::string, Tensor> adapter_gradients(LanguageModel& model, bool frozen) {
  for (NamedTensor& parameter : model.parameters())
    if (!is_lora_parameter(parameter.name)) parameter.tensor.set_frozen(frozen);
  const auto gradient = model.gradient_like();
  Tensor tokens = zeros({2, 16}, DType::int32), targets = zeros({2, 16}, DType::int32);
  for (int32_t i = 0; i < 32; ++i) {
    tokens.data<int32_t>()[i] = i * 7 % 29;
    targets.data<int32_t>()[i] = i * 5 % 23;
  }
  const TrainingScope scope(5, 9);
  model.loss_and_gradient(tokens, targets, *gradient);
  std::map<std::string, Tensor> result;
  for (const NamedTensor& d : gradient->parameters()) {
    EXPECT_EQ(d.tensor.is_gradient_sink(), frozen && !is_lora_parameter(d.name)) << d.name;
    if (is_lora_parameter(d.name)) result[d.name] = d.tensor;
  }
  return result;
}

TEST_P(AdapterTraining, HasTheGradientsThatItHasBesideTrainedWeights) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const bool checkpointing : {false, true}) {
      for (const char* targets : {"all-linear", ""}) {
        auto master = base_model(llama_);
        LoRAConfig lora{.rank = 3, .dropout = 0.25};
        if (*targets != 0) lora.targets = {targets};
        add_lora(master, lora, 1);
        Random random(2);
        for (NamedTensor& p : master->parameters())
          if (p.name.ends_with(".lora_B")) p.tensor.copy_from(normal(p.tensor.shape(), random, 0, 0.3));
        const auto model = master->to(dtype);
        model->set_gradient_checkpointing(checkpointing);
        const auto expected = adapter_gradients(*model, false), found = adapter_gradients(*model, true);
        ASSERT_EQ(found.size(), expected.size());
        for (const auto& [name, d] : found) EXPECT_TRUE(same_bits(d, expected.at(name))) << name << dtype;
      }
    }
  }
}

TEST_P(AdapterTraining, TakesMemoryForTheAdapterOnly) {
  Trainer whole = trainer(small_config(), {}), part = trainer();
  const MemoryUse all = whole.plan_memory(), use = part.plan_memory();
  const auto count = static_cast<size_t>(part.model().parameter_count() - whole.model().parameter_count());
  EXPECT_EQ(use.gradients, count * sizeof(float));
  EXPECT_EQ(use.optimizer, 2 * count * sizeof(float));
  EXPECT_EQ(use.parameters, all.parameters + count * sizeof(float));
}

TEST_P(AdapterTraining, RefusesACheckpointThatIsNotItsOwn) {
  Trainer saved = trainer();
  saved.step();
  saved.save(folder_ / "c");
  const auto restore = [&](std::optional<AdapterRun> run) {
    Trainer other = trainer(small_config(), std::move(run));
    return error_of([&] { other.restore(folder_ / "c"); });
  };
  EXPECT_EQ(restore(adapter()), "");
  EXPECT_THAT(restore({}), HasSubstr("it holds an adapter, but the configuration trains a whole model"));
  EXPECT_THAT(restore(adapter({.rank = 2, .alpha = 4, .targets = {"all-linear"}})),
              HasSubstr("its adapter has rank 4 and scale 2, the configuration 2 and 2"));
  EXPECT_THAT(restore(adapter({.rank = 4, .alpha = 4, .targets = {"all-linear"}})), HasSubstr("scale 2"));
  EXPECT_THAT(restore(adapter({.rank = 4, .alpha = 8})), HasSubstr("belongs to other layers"));
  trainer(small_config(), {}).save(folder_ / "whole");
  Trainer run = trainer();
  EXPECT_THAT(error_of([&] { run.restore(folder_ / "whole"); }), HasSubstr("it holds a whole model"));

  const auto changed = base_model(llama_);
  changed->parameters()[3].tensor.data<float>()[1] += 1e-3f;
  formats::save_model(*changed, base_);
  EXPECT_THAT(restore(adapter()), HasSubstr("its adapter belongs to another model than the one in"));
}

INSTANTIATE_TEST_SUITE_P(Models, AdapterTraining, testing::Bool(),
                         [](const auto& info) { return info.param ? "Llama" : "GPT2"; });

TEST(AdapterBench, TimesAStepThatTrainsTheAdapterAlone) {
  const BenchOptions options{.model = "toy", .batch = 2, .seq = 5, .iters = 2, .lora = LoRAConfig{.rank = 2}};
  const auto model = bench_model(options), gradient = model->gradient_like();
  EXPECT_EQ(TensorList(gradient->parameters()).size(), 4u);
  const BenchResult result = run_bench(options, bench_model(options));
  EXPECT_GT(result.step_ms, 0);
  EXPECT_EQ(result.flops, 0);
}

TEST(Adapt, TakesTheNamesOfTheModelsFile) {
  auto model = base_model(false);
  adapt(model, {.targets = {"transformer.h.1.mlp.c_fc", "attn.c_proj"}}, 1);
  std::vector<std::string> adapted;
  for (const NamedTensor& parameter : model->parameters()) {
    EXPECT_EQ(parameter.tensor.is_frozen(), !is_lora_parameter(parameter.name)) << parameter.name;
    if (parameter.name.ends_with(".lora_A")) adapted.push_back(parameter.name);
  }
  EXPECT_THAT(adapted, testing::ElementsAre("h.0.attn.c_proj.lora_A", "h.1.attn.c_proj.lora_A",
                                            "h.1.mlp.c_fc.lora_A"));
}

TEST(BaseFingerprint, ChangesWithEveryWeightButNotWithAnAdapter) {
  auto model = base_model(false), same = base_model(false);
  const std::string print = base_fingerprint(*model);
  EXPECT_EQ(print.size(), 16u);
  adapt(same, {}, 1);
  EXPECT_EQ(base_fingerprint(*same), print);
  for (NamedTensor& parameter : model->parameters()) {
    float& last = parameter.tensor.data<float>()[parameter.tensor.numel() - 1];
    const float before = last;
    last += 0.5f;
    EXPECT_NE(base_fingerprint(*model), print) << parameter.name;
    last = before;
  }
  EXPECT_EQ(base_fingerprint(*model), print);
}

}  // namespace
}  // namespace cladtorch::train
