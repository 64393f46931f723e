// Which kernels of attention run on which GPU.
#include <cuda_runtime.h>

#include <cstdlib>

#include "cladtorch/ops/ops.h"
#include "cuda_host/warpgroup.h"
#include "ops/causal_attention/attention_choice.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::gpu;
using testing::normals;

/// Products by warpgroups that a forward pass and a pullback start.
struct Products {
  size_t forward, pullback;
};
Products products(const char* kernels, int major, int64_t head_size) {
  cuda_host::set_compute_capability(major, 0);
  cuda::forget_attention_choices();
  setenv("CLADTORCH_CUDA_ATTENTION", kernels, 1);
  const auto there = [](const Shape& shape) { return normals({shape})[0].to(DType::bfloat16).to(gpu); };
  const Tensor x = there({1, 70, 3 * head_size}), d_y = there({1, 70, head_size});
  clad::pullback_state<AttentionState> state;
  const size_t before = cuda_host::warpgroup_products();
  pullbacks::causal_attention_reverse_forw(x, 1, state).to(Device{});
  const size_t between = cuda_host::warpgroup_products();
  Tensor d_x;
  pullbacks::causal_attention_pullback(x, 1, d_y, &d_x, state);
  d_x.to(Device{});
  unsetenv("CLADTORCH_CUDA_ATTENTION");
  cuda_host::set_compute_capability(9, 0);
  return {between - before, cuda_host::warpgroup_products() - between};
}

TEST(CudaHopperAttention, RunsOnHopperWhereItIsAskedFor) {
  for (int64_t head_size : {64, 128}) {
    const Products asked = products("hopper", 9, head_size), by_default = products("", 9, head_size);
    EXPECT_GT(asked.forward, 0u);
    EXPECT_GT(asked.pullback, 0u);
    EXPECT_EQ(by_default.forward + by_default.pullback, 0u);
  }
}
TEST(CudaHopperAttention, LeavesOtherGpusToTheOtherKernels) {
  for (int major : {8, 10}) {
    const Products got = products("hopper", major, 64);
    EXPECT_EQ(got.forward + got.pullback, 0u);
  }
}

}  // namespace
}  // namespace cladtorch
