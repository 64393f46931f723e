// Whole training steps on a device beside the same on the CPU.
#include "cladtorch/train/trainer.h"

#include <cstdlib>

#include "cladtorch/train/checkpoint.h"
#include "io/temporary_folder.h"
#include "tests/cuda/compare.h"

namespace cladtorch::train {
namespace {

using testing::relative_difference;
using testing::same_bits;

TrainConfig small_config(const std::string& kind, const std::string& dtype, const std::string& device) {
  TrainConfig config;
  config.run.dtype = dtype;
  config.run.device = device;
  config.data.story_bytes = 20'000;
  config.model = {.kind = kind,
                  .layers = 2,
                  .heads = 2,
                  .channels = 16,
                  .context = 16,
                  .dropout = kind == "gpt2" ? 0.1 : 0};
  config.train.steps = 20;
  config.train.batch = 2;
  config.train.accumulate = 2;
  config.train.eval_batches = 2;
  config.schedule.warmup = 0;
  return config;
}

struct Result {
  std::vector<StepRecord> records;
  double val = 0;
  std::vector<NamedTensor> parameters;
};

Result train(const TrainConfig& config, int steps) {
  const data::Dataset data = data::stories_dataset(static_cast<size_t>(config.data.story_bytes), 1);
  Trainer trainer(config, data, make_model(config, data.tokenizer->vocab_size()));
  trainer.plan_memory();
  Result result;
  for (int i = 0; i < steps; ++i) {
    result.records.push_back(trainer.step());
    if (i == steps / 2) trainer.evaluate();  // its plan of memory comes between
  }
  result.val = trainer.evaluate();
  for (const NamedTensor& named : trainer.master().parameters())
    result.parameters.push_back({named.name, named.tensor.to(Device{}).clone()});
  return result;
}

void compare(const Result& there, const Result& here, double tolerance) {
  for (size_t i = 0; i < here.records.size(); ++i) {
    EXPECT_NEAR(there.records[i].loss, here.records[i].loss, tolerance * here.records[i].loss) << i;
    EXPECT_NEAR(there.records[i].grad_norm, here.records[i].grad_norm,
                10 * tolerance * here.records[i].grad_norm)
        << i;
  }
  EXPECT_NEAR(there.val, here.val, tolerance * here.val);
}

TEST(CudaTrainer, TrainsAsTheCpuDoes) {
  for (const char* kind : {"gpt2", "llama"}) {
    for (const char* dtype : {"fp32", "bf16", "fp8"}) {
      SCOPED_TRACE(std::string(kind) + " " + dtype);
      compare(train(small_config(kind, dtype, "cuda"), 8), train(small_config(kind, dtype, "cpu"), 8),
              dtype == std::string("fp32")   ? 2e-4
              : dtype == std::string("bf16") ? 2e-2
                                             : 4e-2);
    }
  }
}

TEST(CudaTrainer, GraphsChangeNothing) {
  for (const char* dtype : {"bf16", "fp8"}) {
    const TrainConfig config = small_config("gpt2", dtype, "cuda");
    const Result graphs = train(config, 10);
    ::setenv("CLADTORCH_CUDA_GRAPHS", "off", 1);
    const Result launches = train(config, 10);
    ::unsetenv("CLADTORCH_CUDA_GRAPHS");
    for (size_t i = 0; i < graphs.records.size(); ++i)
      EXPECT_EQ(graphs.records[i].loss, launches.records[i].loss) << dtype;
    for (size_t i = 0; i < graphs.parameters.size(); ++i)
      EXPECT_TRUE(same_bits(graphs.parameters[i].tensor, launches.parameters[i].tensor))
          << graphs.parameters[i].name << ' ' << dtype;
  }
}

TEST(CudaTrainer, AFloat8RunContinuesWithTheScalesThatItHad) {
  const io::TemporaryFolder folder;
  const data::Dataset data = data::stories_dataset(20'000, 1);
  for (const char* device : {"cpu", "cuda"}) {
    const TrainConfig config = small_config("gpt2", "fp8", device);
    const auto trainer_of = [&] {
      auto trainer =
          std::make_unique<Trainer>(config, data, make_model(config, data.tokenizer->vocab_size()));
      trainer->plan_memory();
      return trainer;
    };
    const auto trainer = trainer_of(), resumed = trainer_of();
    for (int i = 0; i < 3; ++i) trainer->step();
    trainer->save(folder / device);
    resumed->restore(folder / device);
    resumed->plan_memory();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(resumed->step().loss, trainer->step().loss) << device << ' ' << i;

    std::filesystem::remove(folder / device / "float8.safetensors");  // what a run in bfloat16 leaves
    const auto continued = trainer_of();
    continued->restore(folder / device);
    EXPECT_EQ(continued->step().step, 4);
  }
}

TEST(CudaTrainer, AFloat8RunRefusesTheScalesOfOtherLayers) {
  const io::TemporaryFolder folder;
  const data::Dataset data = data::stories_dataset(20'000, 1);
  const TrainConfig config = small_config("gpt2", "fp8", "cpu");
  Trainer trainer(config, data, make_model(config, data.tokenizer->vocab_size()));
  trainer.save(folder / "c");
  const auto model = make_model(config, data.tokenizer->vocab_size());
  std::vector<NamedLinear> layers = model->linear_layers();
  Float8Layers fewer({layers[0].layer->weight});
  EXPECT_THROW(load_float8(folder / "c", fewer), Error);
}

}  // namespace
}  // namespace cladtorch::train
