// Which kernels of attention run on which GPU, told by their results: they add in different orders.
#include <cuda_runtime.h>

#include <cstdlib>

#include "cladtorch/ops/ops.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::gpu;
using testing::normals;
using testing::same_bits;
using testing::Tensors;

struct Results {
  Tensor y, d_x;
};
Results results(const char* kernels, int major) {
  cuda_host::set_compute_capability(major, 0);
  setenv("CLADTORCH_CUDA_ATTENTION", kernels, 1);
  const auto there = [](const Shape& shape, uint64_t seed) {
    return normals({shape}, seed)[0].to(DType::bfloat16).to(gpu);
  };
  const Tensor x = there({1, 200, 3 * 64}, 1), d_y = there({1, 200, 64}, 2);
  clad::pullback_state<AttentionState> state;
  Results all;
  all.y = pullbacks::causal_attention_reverse_forw(x, 1, state);
  pullbacks::causal_attention_pullback(x, 1, d_y, &all.d_x, state);
  unsetenv("CLADTORCH_CUDA_ATTENTION");
  cuda_host::set_compute_capability(9, 0);
  return all;
}

TEST(CudaHopperAttention, RunsOnHopperWhereItIsAskedFor) {
  const Results others = results("", 9), hoppers = results("hopper", 9);
  EXPECT_FALSE(same_bits(hoppers.y, others.y));
  EXPECT_FALSE(same_bits(hoppers.d_x, others.d_x));
}
TEST(CudaHopperAttention, LeavesOtherGpusToTheOtherKernels) {
  const Results others = results("", 9);
  for (int major : {8, 10}) {
    const Results got = results("hopper", major);
    EXPECT_TRUE(same_bits(got.y, others.y));
    EXPECT_TRUE(same_bits(got.d_x, others.d_x));
  }
}

}  // namespace
}  // namespace cladtorch
