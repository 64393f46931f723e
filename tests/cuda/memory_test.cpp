// A device that is too small for a step. Only on the imitation, whose memory can be chosen.
#include <cstdlib>
#include <regex>

#include "cladtorch/tensor/device.h"
#include "cladtorch/train/trainer.h"
#include "tests/cuda/fake_attention.h"
#include "train/run/describe.h"

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

/// A candidate for attention that could work, but not beside what else is there.
TEST(CudaMemory, LeavesNoRoomToTryAttention) {
  using namespace cuda::testing;
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  Fake fake("roomy");
  fake.extra_bytes = size_t{8} << 20;
  const Tensor right = expected();
  const auto room = static_cast<int64_t>(fake.extra_bytes / 2);
  std::string lines;
  {
    const auto free = static_cast<int64_t>(device_capacity(testing::gpu).free);
    const Tensor ballast = Tensor::empty({(free - room) / 4}, DType::float32, testing::gpu);
    EXPECT_TRUE(testing::same_bits(watched(attend, lines), right));
  }
  EXPECT_NE(lines.find("attention is our own, others could not be tried beside it: out of memory"),
            std::string::npos)
      << lines;
  EXPECT_EQ(fake.calls, 0);
  EXPECT_EQ(choices_on_disk().find("roomy"), std::string::npos);
  synchronize(testing::gpu);  // what was freed is there
  cuda::forget_attention_choices();
  attend();
  EXPECT_GT(fake.calls, 0) << "there is room now";
}

}  // namespace
}  // namespace cladtorch::train
