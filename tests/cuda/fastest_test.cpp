#include "cuda/fastest.h"

#include <gtest/gtest.h>

#include "cuda/tuning.h"
#include "tensor/device_graph.h"
#include "tests/cuda/compare.h"

namespace cladtorch::cuda {
namespace {

using testing::gpu;

/// Puts work into the stream that takes `copies` times as long as one copy.
class Work {
 public:
  bool launch(int copies) {
    ++launches;
    for (int i = 0; i < copies; ++i) to_.copy_from(from_);
    return true;
  }

  int launches = 0;

 private:
  Tensor from_ = zeros({1 << 20}, DType::float32, gpu), to_ = zeros({1 << 20}, DType::float32, gpu);
};

TEST(CudaFastest, IsFoundWhereverItStands) {
  Work work;
  for (size_t place = 0; place < 3; ++place) {
    const Fastest found = fastest(gpu, 3, [&](size_t i) { return work.launch(i == place ? 1 : 8); });
    EXPECT_EQ(found.candidate, place);
    EXPECT_GT(found.milliseconds, 0);
    EXPECT_LT(found.milliseconds, never);
  }
}

TEST(CudaFastest, LeavesOutWhatFails) {
  Work work;
  int calls = 0;
  const Fastest found = fastest(gpu, 3, [&](size_t i) {
    if (i == 2) return work.launch(2);
    return i == 0 ? false : ++calls < 4 && work.launch(1);  // fails at once, or while it is timed
  });
  EXPECT_EQ(found.candidate, 2u);
  EXPECT_EQ(fastest(gpu, 2, [](size_t) { return false; }).milliseconds, never);
  EXPECT_EQ(fastest(gpu, 0, [](size_t) { return true; }).milliseconds, never);
}

/// One slow run among others does not count: the median is taken.
TEST(CudaFastest, IgnoresADisturbance) {
  Work work;
  const float usual = time_of(gpu, [&] { return work.launch(2); });
  work.launches = 0;
  const float disturbed = time_of(gpu, [&] { return work.launch(work.launches == 3 ? 200 : 2); });
  EXPECT_LT(disturbed, 20 * usual);
}

TEST(CudaTuning, ReadsTheEnvironmentAndTheStream) {
  EXPECT_FALSE(tuning_is_on()) << "tests begin so";
  setenv("CLADTORCH_CUDA_TUNING", "on", 1);
  EXPECT_TRUE(tuning_is_on());
  setenv("CLADTORCH_CUDA_TUNING", "off", 1);
  EXPECT_FALSE(is_capturing(gpu));
  bool captures = false;
  Work work;
  const auto body = [&] {
    captures = is_capturing(gpu);
    work.launch(1);
  };
  const auto graph = detail::capture(gpu, body);
  EXPECT_TRUE(captures);
  EXPECT_FALSE(is_capturing(gpu));
}

}  // namespace
}  // namespace cladtorch::cuda
