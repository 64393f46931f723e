#include "cladtorch/ops/attention.h"

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;

/// The textbook form, with the whole matrix of scores.
Tensor by_matrices(const Tensor& qkv, int64_t n_head) {
  const int64_t b = qkv.size(0), t = qkv.size(1), c = qkv.size(2) / 3, d = c / n_head;
  const auto heads = [&](int64_t part) {
    return qkv.narrow(2, part * c, c).reshape({b, t, n_head, d}).transpose(1, 2);
  };
  Tensor mask = zeros({t, t}, qkv.dtype());
  for (int64_t i = 0; i < t; ++i)
    for (int64_t j = i + 1; j < t; ++j) mask.select(0, i).select(0, j).fill_(-1e30);
  const Tensor scores = matmul(heads(0), heads(1).transpose(2, 3)) / std::sqrt(static_cast<double>(d)) + mask;
  return matmul(softmax(scores), heads(2)).transpose(1, 2).reshape({b, t, c});
}

void pullback_of(const Tensor& qkv, int64_t n_head, Tensor d_y, Tensor* d_qkv) {
  clad::pullback_state<AttentionState> state;
  pullbacks::causal_attention_reverse_forw(qkv, n_head, state);
  pullbacks::causal_attention_pullback(qkv, n_head, std::move(d_y), d_qkv, state);
}

TEST(CausalAttention, MatchesTheTextbookForm) {
  for (int64_t length : {1, 5, 63, 64, 65, 130}) {
    const Tensor qkv = normals({{2, length, 3 * 12}})[0];
    EXPECT_LT(relative_difference(causal_attention(qkv, 3), by_matrices(qkv, 3)), 1e-13) << length;
  }
}

TEST(CausalAttention, GradientMatchesDifferences) {
  for (const Shape& shape : {Shape{1, 1, 6}, {2, 5, 18}, {1, 9, 24}, {0, 3, 6}, {2, 0, 6}}) {
    for (int64_t n_head : {1, 2}) {
      EXPECT_TRUE(testing::gradients_match([&](const Tensors& x) { return causal_attention(x[0], n_head); },
                                           [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                             pullback_of(x[0], n_head, d_y, d[0]);
                                           },
                                           normals({shape})));
    }
  }
}

TEST(CausalAttention, BlocksOfTheFloatKernelAgreeWithRowsInDouble) {
  for (int64_t head_size : {3, 16, 20, 64}) {
    for (int64_t length : {1, 63, 64, 65, 200}) {
      const Tensor qkv = scale(normals({{2, length, 3 * 2 * head_size}})[0], 1.5),
                   d_y = normals({{2, length, 2 * head_size}}, 9)[0];
      const Tensor qkv_float = qkv.to(DType::float32), d_y_float = d_y.to(DType::float32);
      EXPECT_LT(relative_difference(causal_attention(qkv_float, 2), causal_attention(qkv, 2)), 3e-6);
      Tensor d, d_float;
      pullback_of(qkv, 2, d_y, &d);
      pullback_of(qkv_float, 2, d_y_float, &d_float);
      EXPECT_LT(relative_difference(d_float, d), 1e-5) << head_size << ' ' << length;
      pullback_of(qkv_float, 2, d_y_float, &d_float);
      EXPECT_LT(relative_difference(d_float, scale(d, 2)), 1e-5) << "the second call adds";
    }
  }
}

TEST(CausalAttention, DoesNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  for (int64_t length : {16, 70, 200}) {
    for (int64_t head_size : {16, 20}) {
      const Tensor qkv = normals({{1, length, 3 * 3 * head_size}})[0].to(DType::float32);
      const Tensor d_y = normals({{1, length, 3 * head_size}}, 9)[0].to(DType::float32);
      set_num_threads(1);
      const Tensor y = causal_attention(qkv, 3);
      Tensor d;
      pullback_of(qkv, 3, d_y, &d);
      for (int threads : {2, 3, 16}) {  // with 16, tiles are tasks of their own
        set_num_threads(threads);
        EXPECT_EQ(relative_difference(causal_attention(qkv, 3), y), 0);
        Tensor again;
        pullback_of(qkv, 3, d_y, &again);
        EXPECT_EQ(relative_difference(again, d), 0) << length << ' ' << head_size << ' ' << threads;
        pullback_of(qkv, 3, d_y, &again);
        EXPECT_LT(relative_difference(again, scale(d, 2)), 1e-6) << "the second call adds";
      }
    }
  }
  set_num_threads(before);
}

TEST(CausalAttention, LaterPositionsDoNotReachEarlierOnes) {
  Tensor qkv = normals({{1, 70, 3 * 16}})[0].to(DType::float32);
  const Tensor before = causal_attention(qkv, 1).narrow(1, 0, 65).clone();
  qkv.narrow(1, 65, 5).fill_(1e30);
  const Tensor after = causal_attention(qkv, 1);
  EXPECT_EQ(relative_difference(after.narrow(1, 0, 65), before), 0);
  EXPECT_FALSE(std::abs(after.select(1, 65).select(1, 0).item()) < 10);
}

TEST(CachedAttention, OnePositionAtATimeEqualsAllAtOnce) {
  const Tensor qkv = normals({{2, 6, 3 * 8}})[0];
  Tensor keys = zeros({2, 6, 8}, DType::float64), values = zeros({2, 6, 8}, DType::float64);
  const Tensor expected = causal_attention(qkv, 2);
  EXPECT_LT(relative_difference(cached_attention(qkv.narrow(1, 0, 3), keys, values, 0, 2),
                                expected.narrow(1, 0, 3)),
            1e-14);
  for (int64_t t = 3; t < 6; ++t) {
    EXPECT_LT(relative_difference(cached_attention(qkv.narrow(1, t, 1), keys, values, t, 2),
                                  expected.narrow(1, t, 1)),
              1e-14);
  }
  EXPECT_EQ(testing::error_of([&] { cached_attention(qkv.narrow(1, 0, 1), keys, values, 6, 2); }),
            "cached_attention: 6 cached and 1 new positions exceed the capacity of 6");
}

TEST(CausalAttention, NamesAShapeThatDoesNotFit) {
  EXPECT_EQ(
      testing::error_of([] { causal_attention(zeros({1, 2, 10}), 2); }),
      "causal_attention: expected qkv [B, T, 3C] with C a multiple of n_head: qkv is [1,2,10], n_head is 2");
}

}  // namespace
}  // namespace cladtorch
