// Attention of separate tensors: heads that share keys and values, and windows.
#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/attention.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

struct Heads {
  int64_t queries, keys, size;
};

Tensors operands(int64_t batch, int64_t length, const Heads& heads, uint64_t seed = 5) {
  const Shape keys{batch, length, heads.keys * heads.size};
  return normals({{batch, length, heads.queries * heads.size}, keys, keys}, seed);
}

Tensors to(const Tensors& x, DType dtype) {
  Tensors converted;
  for (const Tensor& t : x) converted.push_back(t.to(dtype));
  return converted;
}

Tensor attend(const Tensors& x, const Heads& heads, int64_t window) {
  return causal_attention(x[0], x[1], x[2], heads.queries, window);
}

void pullback(const Tensors& x, const Heads& heads, int64_t window, Tensor d_y, const Gradients& d) {
  clad::pullback_state<AttentionState> state;
  pullbacks::causal_attention_reverse_forw(x[0], x[1], x[2], heads.queries, window, state);
  pullbacks::causal_attention_pullback(x[0], x[1], x[2], heads.queries, window, std::move(d_y), d[0], d[1],
                                       d[2], state);
}

Tensors gradients(const Tensors& x, const Heads& heads, int64_t window, const Tensor& d_y) {
  Tensors d(3);
  pullback(x, heads, window, d_y, {&d[0], &d[1], &d[2]});
  return d;
}

/// The textbook form: every head of queries with keys of its own, and the whole matrix of scores.
Tensor by_matrices(const Tensors& x, const Heads& heads, int64_t window) {
  const int64_t b = x[0].size(0), t = x[0].size(1), group = heads.queries / heads.keys;
  const auto split = [&](const Tensor& m, int64_t count) {
    return m.reshape({b, t, count, heads.size}).transpose(1, 2);
  };
  const auto repeated = [&](const Tensor& m) {
    const Shape stretched{b, heads.keys, group, t, heads.size};
    return split(m, heads.keys).unsqueeze(2).expand(stretched).reshape({b, heads.queries, t, heads.size});
  };
  Tensor mask = zeros({t, t}, DType::float64);
  for (int64_t i = 0; i < t; ++i) {
    for (int64_t j = 0; j < t; ++j) {
      if (j > i || (window > 0 && j <= i - window)) mask.select(0, i).select(0, j).fill_(-1e30);
    }
  }
  const Tensor scores = matmul(split(x[0], heads.queries), repeated(x[1]).transpose(2, 3)) /
                            std::sqrt(static_cast<double>(heads.size)) +
                        mask;
  return matmul(softmax(scores), repeated(x[2])).transpose(1, 2).reshape(x[0].shape());
}

TEST(GroupedAttention, MatchesTheTextbookForm) {
  for (const Heads& heads : {Heads{1, 1, 2}, {4, 2, 6}, {6, 1, 5}, {3, 3, 4}}) {
    for (int64_t length : {1, 5, 63, 65}) {
      for (int64_t window : {0, 1, 2, 5, 64, 1000}) {
        const Tensors x = operands(2, length, heads);
        EXPECT_LT(relative_difference(attend(x, heads, window), by_matrices(x, heads, window)), 1e-13)
            << length << ' ' << window;
      }
    }
  }
}

TEST(GroupedAttention, GradientsMatchDifferences) {
  for (const Heads& heads : {Heads{1, 1, 2}, {4, 2, 3}, {6, 1, 2}}) {
    for (int64_t length : {0, 1, 9}) {
      for (int64_t window : {0, 1, 4}) {
        EXPECT_TRUE(testing::gradients_match([&](const Tensors& x) { return attend(x, heads, window); },
                                             [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                               pullback(x, heads, window, std::move(d_y), d);
                                             },
                                             operands(2, length, heads)));
      }
    }
  }
}

TEST(GroupedAttention, OfOneTensorInAllRolesHasAllShares) {
  EXPECT_TRUE(testing::gradients_match(
      [](const Tensors& x) { return causal_attention(x[0], x[0], x[0], 2, 3); },
      [](const Tensors& x, Tensor d_y, const Gradients& d) {
        pullback({x[0], x[0], x[0]}, {2, 2, 4}, 3, std::move(d_y), {d[0], d[0], d[0]});
      },
      normals({{2, 7, 8}})));
}

TEST(GroupedAttention, BlocksOfTheFloatKernelAgreeWithRowsInDouble) {
  for (const Heads& heads : {Heads{4, 2, 16}, {3, 1, 20}, {2, 2, 3}}) {
    for (int64_t length : {1, 63, 64, 65, 200}) {
      for (int64_t window : {0, 1, 3, 16, 30, 63, 64, 65, 100, 128, 199}) {
        const Tensors x = operands(2, length, heads), narrow = to(x, DType::float32);
        const Tensor d_y = normals({x[0].shape()}, 9)[0];
        EXPECT_LT(relative_difference(attend(narrow, heads, window), attend(x, heads, window)), 3e-6)
            << length << ' ' << window;
        const Tensors exact = gradients(x, heads, window, d_y);
        Tensors d = gradients(narrow, heads, window, d_y.to(DType::float32));
        for (int i = 0; i < 3; ++i)
          EXPECT_LT(relative_difference(d[i], exact[i]), 1e-5) << length << ' ' << window << ' ' << i;
        pullback(narrow, heads, window, d_y.to(DType::float32), {&d[0], &d[1], &d[2]});
        for (int i = 0; i < 3; ++i)
          EXPECT_LT(relative_difference(d[i], scale(exact[i], 2)), 1e-5) << "the second call adds";
      }
    }
  }
}

TEST(GroupedAttention, OfFloatDoesNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  const Heads heads{6, 2, 20};
  for (int64_t length : {16, 70, 200}) {
    for (int64_t window : {0, 50, 90}) {
      const Tensors x = to(operands(1, length, heads), DType::float32);
      const Tensor d_y = normals({x[0].shape()}, 9)[0].to(DType::float32);
      set_num_threads(1);
      const Tensor y = attend(x, heads, window);
      const Tensors d = gradients(x, heads, window, d_y);
      for (int threads : {2, 3, 16}) {  // with 16, tiles are tasks of their own
        set_num_threads(threads);
        EXPECT_EQ(relative_difference(attend(x, heads, window), y), 0);
        const Tensors again = gradients(x, heads, window, d_y);
        for (int i = 0; i < 3; ++i)
          EXPECT_EQ(relative_difference(again[i], d[i]), 0) << length << ' ' << window << ' ' << threads;
      }
    }
  }
  set_num_threads(before);
}

TEST(GroupedAttention, OfFloatWithoutSharingIsThatOfPackedTensorsToTheBit) {
  const Tensor qkv = normals({{2, 130, 3 * 48}})[0].to(DType::float32);
  const Tensor q = qkv.narrow(2, 0, 48), k = qkv.narrow(2, 48, 48), v = qkv.narrow(2, 96, 48);
  EXPECT_EQ(relative_difference(causal_attention(q, k, v, 3), causal_attention(qkv, 3)), 0);
}

TEST(GroupedAttention, OfFloatIgnoresWhatLiesOutsideItsWindow) {
  const Heads heads{2, 1, 16};
  const Tensors x = to(operands(1, 150, heads), DType::float32);
  const auto later = [&](int64_t window) { return attend(x, heads, window).narrow(1, 100, 50); };
  const Tensor before = later(70).clone();
  x[2].narrow(1, 0, 31).fill_(1e30);
  EXPECT_EQ(relative_difference(later(70), before), 0);
  EXPECT_GT(relative_difference(later(71), before), 1e3) << "position 100 sees position 30";
  x[1].narrow(1, 0, 31).fill_(1e30);
  EXPECT_EQ(relative_difference(later(70), before), 0);
}

TEST(GroupedAttention, OfOneVisibleKeyHasNoGradientInItsScores) {
  const Heads heads{4, 2, 12};
  for (DType dtype : {DType::float32, DType::float64}) {
    for (const auto& [length, window] : {std::pair<int64_t, int64_t>{1, 0}, {80, 1}}) {
      const Tensors x = to(operands(2, length, heads), dtype);
      const Tensors d = gradients(x, heads, window, normals({x[0].shape()}, 9)[0].to(dtype));
      EXPECT_EQ(relative_difference(d[0], zeros_like(d[0])), 0) << length;
      EXPECT_EQ(relative_difference(d[1], zeros_like(d[1])), 0) << length;
      EXPECT_GT(relative_difference(d[2], zeros_like(d[2])), 0) << length;
    }
  }
}

TEST(GroupedCachedAttention, OnePositionAtATimeEqualsAllAtOnce) {
  const Heads heads{4, 2, 6};
  for (int64_t window : {0, 1, 3}) {
    const Tensors x = operands(2, 7, heads);
    Tensor keys = zeros({2, 9, 12}, DType::float64), values = zeros({2, 9, 12}, DType::float64);
    const Tensor expected = attend(x, heads, window);
    for (const auto& [past, count] : {std::pair<int64_t, int64_t>{0, 4}, {4, 1}, {5, 2}}) {
      const auto now = [&, past = past, count = count](const Tensor& t) { return t.narrow(1, past, count); };
      EXPECT_LT(relative_difference(
                    cached_attention(now(x[0]), now(x[1]), now(x[2]), keys, values, past, 4, window),
                    now(expected)),
                1e-14);
    }
  }
}

TEST(GroupedAttention, NamesShapesThatDoNotFit) {
  const Tensor q = zeros({1, 2, 12});
  const auto message = [&](const Tensor& k, const Tensor& v, int64_t n_head, int64_t window = 0) {
    return error_of([&] { causal_attention(q, k, v, n_head, window); });
  };
  EXPECT_EQ(message(q, q, 5), "causal_attention: expected q [B, T, n_head D]: q is [1,2,12], n_head is 5");
  EXPECT_EQ(
      message(zeros({1, 2, 9}), zeros({1, 2, 9}), 4),
      "causal_attention: expected k and v [B, T, n_kv_head D] with D = 3 and n_kv_head a divisor of 4: q "
      "is [1,2,12], k is [1,2,9], v is [1,2,9]");
  EXPECT_EQ(
      message(q, zeros({1, 2, 6}), 4),
      "causal_attention: expected k and v [B, T, n_kv_head D] with D = 3 and n_kv_head a divisor of 4: q "
      "is [1,2,12], k is [1,2,12], v is [1,2,6]");
  EXPECT_EQ(message(q, q, 4, -1), "causal_attention: the window must not be negative, got -1");
  EXPECT_EQ(message(q, q.to(DType::float64), 4),
            "causal_attention: dtypes differ: q is float32, v is float64; convert with to()");
  EXPECT_EQ(message(q, {}, 4), "causal_attention: v is undefined");
}

}  // namespace
}  // namespace cladtorch
