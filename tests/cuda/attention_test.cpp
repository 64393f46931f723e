#include <cstdlib>

#include "cladtorch/ops/ops.h"
#include "ops/causal_attention/attention_choice.h"
#include "ops/causal_attention/attention_implementation.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::gpu;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

Tensor packed(const Tensors& x, int64_t heads) { return causal_attention(x[0], heads); }
void packed_pullback(const Tensors& x, int64_t heads, Tensor d_y, const Gradients& d) {
  clad::pullback_state<AttentionState> state;
  pullbacks::causal_attention_reverse_forw(x[0], heads, state);
  pullbacks::causal_attention_pullback(x[0], heads, std::move(d_y), d[0], state);
}
void separate_pullback(const Tensors& x, int64_t heads, int64_t window, Tensor d_y, const Gradients& d) {
  clad::pullback_state<AttentionState> state;
  pullbacks::causal_attention_reverse_forw(x[0], x[1], x[2], heads, window, state);
  pullbacks::causal_attention_pullback(x[0], x[1], x[2], heads, window, std::move(d_y), d[0], d[1], d[2],
                                       state);
}

/// In one dtype, or in all.
using Dtypes = std::vector<DType>;
const Dtypes all_dtypes = {DType::float64, DType::float32, DType::bfloat16};

void check_packed(int64_t batch, int64_t length, int64_t heads, int64_t head_size,
                  const Dtypes& dtypes = all_dtypes) {
  for (DType dtype : dtypes) {
    testing::DeviceCheck check([&](const Tensors& x) { return packed(x, heads); },
                               [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                 packed_pullback(x, heads, std::move(d_y), d);
                               },
                               normals({{batch, length, 3 * heads * head_size}}));
    EXPECT_TRUE(check.run(dtype)) << batch << ' ' << length << ' ' << heads << ' ' << head_size;
  }
}

void check_separate(int64_t batch, int64_t length, int64_t heads, int64_t key_heads, int64_t head_size,
                    int64_t window, const Dtypes& dtypes = all_dtypes) {
  const Shape q{batch, length, heads * head_size}, k{batch, length, key_heads * head_size};
  for (DType dtype : dtypes) {
    testing::DeviceCheck check(
        [&](const Tensors& x) { return causal_attention(x[0], x[1], x[2], heads, window); },
        [&](const Tensors& x, Tensor d_y, const Gradients& d) {
          separate_pullback(x, heads, window, std::move(d_y), d);
        },
        normals({q, k, k}));
    EXPECT_TRUE(check.run(dtype)) << batch << ' ' << length << ' ' << heads << ' ' << key_heads << ' '
                                  << head_size << ' ' << window;
  }
}

TEST(CudaAttention, PackedAgreesWithTheCpu) {
  check_packed(1, 1, 1, 1);
  check_packed(2, 5, 3, 7);
  check_packed(1, 33, 1, 32);
  check_packed(1, 70, 2, 16);
  check_packed(0, 4, 2, 3);
}

TEST(CudaAttention, GroupsAndWindowsAgreeWithTheCpu) {
  check_separate(2, 9, 4, 2, 5, 0);
  check_separate(1, 40, 2, 1, 33, 3);
  check_separate(1, 65, 3, 3, 8, 32);
  check_separate(1, 10, 2, 2, 4, 1);
}

/// With tensor cores: by the kernels that the environment asks for, as far as the GPU has them.
class CudaFlashAttention : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ASSERT_EQ(setenv("CLADTORCH_CUDA_ATTENTION", GetParam(), 1), 0); }
  void TearDown() override { unsetenv("CLADTORCH_CUDA_ATTENTION"); }

  const Dtypes only{DType::bfloat16};
};
INSTANTIATE_TEST_SUITE_P(, CudaFlashAttention, ::testing::Values("", "hopper"), [](const auto& kernels) {
  return std::string(*kernels.param ? kernels.param : "default");
});

/// Sizes around tiles of 16 to 128 positions.
TEST_P(CudaFlashAttention, AgreesWithTheCpu) {
  for (int64_t length : {1, 15, 17, 64, 65, 129}) check_packed(1, length, 1, 64, only);
  check_packed(2, 130, 2, 64, only);
  check_packed(1, 300, 1, 64, only);
  for (int64_t length : {1, 33, 66, 127, 130, 257}) check_packed(1, length, 1, 128, only);
  check_packed(0, 8, 2, 64, only);
}

TEST_P(CudaFlashAttention, HasGroupsAndWindows) {
  check_separate(1, 70, 4, 2, 64, 0, only);
  check_separate(2, 66, 2, 1, 128, 20, only);
  check_separate(1, 200, 1, 1, 64, 1, only);
  check_separate(1, 200, 1, 1, 64, 64, only);
  check_separate(1, 200, 1, 1, 64, 65, only);
  check_separate(1, 330, 2, 1, 128, 70, only);
}

/// Those of libraries that are installed; none on the imitation.
TEST(CudaAttention, OtherImplementationsAgreeWithTheCpu) {
  const Dtypes only{DType::bfloat16};
  for (const cuda::AttentionImplementation* one : cuda::attention_implementations()) {
    if (one->name() == "own" || !one->unavailable().empty()) continue;
    SCOPED_TRACE(one->name());
    const cuda::ForcedAttention forced(one->name());
    for (int64_t length : {2, 64, 129}) check_packed(2, length, 2, 64, only);
    check_packed(1, 300, 3, 128, only);
    check_packed(2, 20, 2, 40, only);
    check_separate(1, 70, 4, 2, 64, 0, only);
    check_separate(2, 200, 2, 1, 128, 20, only);
    check_separate(1, 200, 1, 1, 64, 65, only);
  }
}

/// Rows that begin at odd places go through the other kernels.
TEST_P(CudaFlashAttention, LeavesOutWhatIsNotAligned) {
  const Tensor x = normals({{1, 5, 3 * 64 + 1}})[0].to(DType::bfloat16);
  const auto part = [](const Tensor& t) { return t.narrow(2, 1, 3 * 64); };
  const Tensor expected = causal_attention(part(x), 1), got = causal_attention(part(x.to(gpu)), 1);
  EXPECT_LT(relative_difference(got.to(Device{}), expected), 1e-2);
}

/// Scores of thousands, and a row whose first tile has no key that it sees.
TEST_P(CudaFlashAttention, KeepsItsRange) {
  Tensor q = normals({{1, 130, 64}}, 3)[0], k = normals({{1, 130, 64}}, 4)[0],
         v = normals({{1, 130, 64}}, 5)[0];
  for (Tensor* one : {&q, &k})
    for (int64_t i = 0; i < one->numel(); ++i) one->data<double>()[i] *= 30;
  for (Tensor* one : {&q, &k, &v}) *one = one->to(DType::bfloat16);
  for (int64_t window : {0, 3}) {
    const Tensor expected = causal_attention(q, k, v, 1, window);
    const Tensor got = causal_attention(q.to(gpu), k.to(gpu), v.to(gpu), 1, window);
    EXPECT_LT(relative_difference(got.to(Device{}), expected), 1e-2);
  }
}

TEST(CudaAttention, OneTensorInThreeRoles) {
  const Tensor x = normals({{1, 5, 4}})[0], d_y = normals({{1, 5, 4}}, 8)[0];
  const auto gradient = [](const Tensor& t, const Tensor& d) {
    clad::pullback_state<AttentionState> state;
    pullbacks::causal_attention_reverse_forw(t, t, t, 2, 0, state);
    Tensor d_t;
    pullbacks::causal_attention_pullback(t, t, t, 2, 0, d, &d_t, &d_t, &d_t, state);
    return d_t;
  };
  EXPECT_LT(relative_difference(gradient(x.to(gpu), d_y.to(gpu)).to(Device{}), gradient(x, d_y)), 1e-12);
}

/// Queries that follow others, with tensor cores.
TEST_P(CudaFlashAttention, WithACacheAgreesWithTheCpu) {
  Tensor keys = zeros({1, 100, 64}, DType::bfloat16), values = zeros({1, 100, 64}, DType::bfloat16);
  Tensor keys_there = keys.to(gpu), values_there = values.to(gpu);
  int64_t past = 0;
  for (int64_t length : {61, 1, 20}) {
    Tensors x;
    for (const Tensor& one : normals({{1, length, 128}, {1, length, 64}, {1, length, 64}}, 7))
      x.push_back(one.to(DType::bfloat16));
    const Tensor expected = cached_attention(x[0], x[1], x[2], keys, values, past, 2, 30);
    const Tensor got =
        cached_attention(x[0].to(gpu), x[1].to(gpu), x[2].to(gpu), keys_there, values_there, past, 2, 30);
    EXPECT_LT(relative_difference(got.to(Device{}), expected), 1e-2);
    past += length;
  }
}

TEST(CudaAttention, WithACacheAgreesWithTheCpu) {
  for (DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    Tensor keys = zeros({2, 12, 6}, dtype), values = zeros({2, 12, 6}, dtype);
    Tensor keys_there = keys.to(gpu), values_there = values.to(gpu);
    int64_t past = 0;
    for (int64_t length : {4, 1, 3}) {
      Tensors x;
      for (const Tensor& one : normals({{2, length, 12}, {2, length, 6}, {2, length, 6}}, 7))
        x.push_back(one.to(dtype));
      const Tensor expected = cached_attention(x[0], x[1], x[2], keys, values, past, 4, 5);
      const Tensor got =
          cached_attention(x[0].to(gpu), x[1].to(gpu), x[2].to(gpu), keys_there, values_there, past, 4, 5);
      EXPECT_LT(relative_difference(got.to(Device{}), expected), testing::tolerance(dtype)) << dtype;
      EXPECT_TRUE(
          testing::same_bits(keys_there.narrow(1, 0, past + length), keys.narrow(1, 0, past + length)));
      past += length;
    }
  }
}

}  // namespace
}  // namespace cladtorch
