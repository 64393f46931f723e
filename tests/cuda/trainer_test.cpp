// Whole training steps on a device beside the same on the CPU.
#include "cladtorch/train/trainer.h"

#include <cstdlib>

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
    for (const char* dtype : {"fp32", "bf16"}) {
      SCOPED_TRACE(std::string(kind) + " " + dtype);
      compare(train(small_config(kind, dtype, "cuda"), 8), train(small_config(kind, dtype, "cpu"), 8),
              dtype == std::string("fp32") ? 2e-4 : 2e-2);
    }
  }
}

TEST(CudaTrainer, GraphsChangeNothing) {
  const TrainConfig config = small_config("gpt2", "bf16", "cuda");
  const Result graphs = train(config, 10);
  ::setenv("CLADTORCH_CUDA_GRAPHS", "off", 1);
  const Result launches = train(config, 10);
  ::unsetenv("CLADTORCH_CUDA_GRAPHS");
  for (size_t i = 0; i < graphs.records.size(); ++i)
    EXPECT_EQ(graphs.records[i].loss, launches.records[i].loss);
  for (size_t i = 0; i < graphs.parameters.size(); ++i)
    EXPECT_TRUE(same_bits(graphs.parameters[i].tensor, launches.parameters[i].tensor))
        << graphs.parameters[i].name;
}

}  // namespace
}  // namespace cladtorch::train
