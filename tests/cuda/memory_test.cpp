// A device that is too small for a step. Only on the imitation, whose memory can be chosen.
#include <cstdlib>
#include <regex>

#include "cladtorch/tensor/device.h"
#include "cladtorch/train/trainer.h"
#include "tests/cuda/compare.h"
#include "train/describe.h"

namespace cladtorch::train {
namespace {

/// Before the imitation is asked for anything.
const int chosen = ::setenv("CLADTORCH_CUDA_HOST_MEMORY", "16777216", 1);

TrainConfig config_of(int64_t batch, int64_t accumulate, bool recompute) {
  TrainConfig config;
  config.run.device = "cuda";
  config.data.story_bytes = 20'000;
  config.model = {
      .layers = 4, .heads = 2, .channels = 16, .context = 16, .gradient_checkpointing = recompute};
  config.train.steps = 4;
  config.train.batch = batch;
  config.train.accumulate = accumulate;
  config.train.eval_batches = 1;
  return config;
}

TEST(CudaMemory, SaysWhatWouldFitAndThatFits) {
  ASSERT_EQ(chosen, 0);
  const data::Dataset data = data::stories_dataset(20'000, 1);
  const auto trainer_of = [&](const TrainConfig& config) {
    return std::make_unique<Trainer>(config, data, make_model(config, data.tokenizer->vocab_size()));
  };
  const TrainConfig greedy = config_of(16, 1, false);
  Tensor ballast;
  std::string lack;
  {
    const auto trainer = trainer_of(greedy);
    const size_t room = trainer->plan_activations(4, false) * 5 / 4;
    EXPECT_LT(trainer->plan_activations(4, true), trainer->plan_activations(4, false));
    EXPECT_LT(room, trainer->plan_activations(8, false));
    const auto free = static_cast<int64_t>(device_capacity(testing::gpu).free - room);
    ballast = Tensor::empty({free / 4}, DType::float32, testing::gpu);
    lack = describe_lack(greedy, *trainer, trainer->plan_memory());
  }
  std::smatch recomputing;
  EXPECT_NE(lack.find("what fits: train.batch = 4 with train.accumulate = 4 "), std::string::npos) << lack;
  ASSERT_TRUE(std::regex_search(
      lack, recomputing, std::regex("or model.gradient_checkpointing = true and train.batch = (\\d+) with")))
      << lack;
  for (const TrainConfig& config : {config_of(4, 4, false), config_of(std::stoi(recomputing[1]), 1, true)}) {
    const auto trainer = trainer_of(config);
    EXPECT_EQ(describe_lack(config, *trainer, trainer->plan_memory()), "");
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(std::isfinite(trainer->step().loss));
  }
}

}  // namespace
}  // namespace cladtorch::train
