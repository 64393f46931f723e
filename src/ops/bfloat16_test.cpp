// Every operation on bfloat16 against itself in float32. Products have tests of their own in matmul/ and
// linear_cross_entropy/.
#include "tests/support/bfloat16_check.h"

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
namespace methods = clad::custom_derivatives::class_functions;
using clad::pullback_state;
using testing::bfloat16_matches_float;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

constexpr double result_rounding = 0x1p-7;  // of pullbacks that read the rounded result

struct Pair {
  Shape a, b;
};
const std::vector<Pair> pairs = {{{3}, {3}},   {{2, 3}, {3}},      {{3}, {2, 3}},        {{2, 3}, {2, 1}},
                                 {{}, {}},     {{0, 3}, {3}},      {{2, 1, 4}, {3, 1}},  {{4, 5}, {}},
                                 {{5000}, {}}, {{70, 600}, {600}}, {{33, 600}, {33, 1}}, {{40000}, {40000}}};

TEST(Bfloat16Arithmetic, ScalarsAgreeWithFloat) {
  double d_factor[2] = {}, d_value[2] = {};
  EXPECT_TRUE(bfloat16_matches_float([](const Tensors& x) { return x[0] * 0.3; },
                                     [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                       pullbacks::scale_pullback(x[0], 0.3, d_y, d[0], nullptr);
                                     },
                                     normals({{3, 700}})));
  EXPECT_TRUE(bfloat16_matches_float([](const Tensors& x) { return x[0] + 0.3; },
                                     [](const Tensors&, Tensor d_y, const Gradients& d) {
                                       pullbacks::add_scalar_pullback({}, 0.3, d_y, d[0], nullptr);
                                     },
                                     normals({{3, 700}})));
  const Tensor x = normals({{900}})[0].to(DType::bfloat16), d_y = normals({{900}}, 3)[0].to(DType::bfloat16);
  for (int wide = 0; wide < 2; ++wide) {
    const DType dtype = wide ? DType::float32 : DType::bfloat16;
    pullbacks::scale_pullback(x.to(dtype), 0.3, d_y.to(dtype), nullptr, &d_factor[wide]);
    pullbacks::add_scalar_pullback({}, 0.3, d_y.to(dtype), nullptr, &d_value[wide]);
  }
  EXPECT_EQ(d_factor[0], d_factor[1]);
  EXPECT_EQ(d_value[0], d_value[1]);
}

TEST(Bfloat16LayerNorm, GradientOfEpsilonAgreesWithFloatAndWithoutBias) {
  const Tensor x = normals({{9, 21}})[0].to(DType::bfloat16),
               weight = normals({{21}}, 2)[0].to(DType::bfloat16),
               d_y = normals({{9, 21}}, 3)[0].to(DType::bfloat16);
  double d_epsilon[2] = {};
  for (int wide = 0; wide < 2; ++wide) {
    const DType dtype = wide ? DType::float32 : DType::bfloat16;
    pullback_state<LayerNormState> state;
    pullbacks::layer_norm_reverse_forw(x.to(dtype), weight.to(dtype), {}, 0.5, state);
    EXPECT_EQ(state.data.mean.dtype(), DType::float32);
    pullbacks::layer_norm_pullback(x.to(dtype), weight.to(dtype), {}, 0.5, d_y.to(dtype), nullptr, nullptr,
                                   nullptr, &d_epsilon[wide], state);
  }
  EXPECT_EQ(d_epsilon[0], d_epsilon[1]);
}

TEST(Bfloat16Embedding, RepeatedIndicesAreSummedInFloat) {
  const Tensor ids = from_values<int32_t>({2, 3}, {1, 0, 1, 3, 1, 3});
  for (int64_t channels : {1, 3, 65, 130}) {
    EXPECT_TRUE(bfloat16_matches_float([&](const Tensors& x) { return embedding(ids, x[0]); },
                                       [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                         pullback_state<EmbeddingState> state;
                                         pullbacks::embedding_reverse_forw(ids, x[0], state);
                                         pullbacks::embedding_pullback(ids, {}, d_y, nullptr, d[0], state);
                                       },
                                       normals({{5, channels}})));
  }
}

TEST(Bfloat16Dropout, MasksAreThoseOfFloat) {
  for (double probability : {0.0, 0.3}) {
    EXPECT_TRUE(bfloat16_matches_float(
        [&](const Tensors& x) {
          const TrainingScope scope(1, 1);
          return dropout(x[0], probability);
        },
        [&](const Tensors& x, Tensor d_y, const Gradients& d) {
          pullback_state<DropoutState> state;
          {
            const TrainingScope scope(1, 1);
            pullbacks::dropout_reverse_forw(x[0], probability, state);
          }
          pullbacks::dropout_pullback({}, probability, d_y, d[0], nullptr, state);
        },
        normals({{3, 1000}})));
  }
}

TEST(Bfloat16Loss, CrossEntropyIsAFloatAndAgreesWithFloat) {
  for (int64_t classes : {1, 2, 17, 2000}) {
    const Tensor targets = from_values<int32_t>(
        {2, 2}, {0, static_cast<int32_t>(classes - 1), -100, static_cast<int32_t>(classes / 2)});
    EXPECT_EQ(cross_entropy(zeros({2, 2, classes}, DType::bfloat16), targets).dtype(), DType::float32);
    EXPECT_TRUE(bfloat16_matches_float([&](const Tensors& x) { return cross_entropy(x[0], targets); },
                                       [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                         pullback_state<CrossEntropyState> state;
                                         pullbacks::cross_entropy_reverse_forw(x[0], targets, -100, state);
                                         pullbacks::cross_entropy_pullback(x[0], targets, -100, d_y, d[0],
                                                                           nullptr, state);
                                       },
                                       normals({{2, 2, classes}})));
  }
}

TEST(Bfloat16Loss, MeanSquaredErrorIsAFloatAndAgreesWithFloat) {
  EXPECT_EQ(mse_loss(zeros({2}, DType::bfloat16), zeros({2}, DType::bfloat16)).dtype(), DType::float32);
  EXPECT_TRUE(bfloat16_matches_float([](const Tensors& x) { return mse_loss(x[0], x[1]); },
                                     [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                       pullbacks::mse_loss_pullback(x[0], x[1], d_y, d[0], d[1]);
                                     },
                                     normals({{3, 700}, {3, 700}})));
}

void attention_pullback_of(const Tensor& qkv, int64_t n_head, Tensor d_y, Tensor* d_qkv) {
  pullback_state<AttentionState> state;
  pullbacks::causal_attention_reverse_forw(qkv, n_head, state);
  pullbacks::causal_attention_pullback(qkv, n_head, std::move(d_y), d_qkv, state);
}

TEST(Bfloat16Attention, ValuesAndGradientAgreeWithFloat) {
  for (const Shape& shape : {Shape{1, 1, 6}, {2, 5, 18}, {1, 70, 96}, {0, 3, 6}, {2, 0, 6}, {1, 130, 60}}) {
    for (int64_t n_head : {1, 2}) {
      EXPECT_TRUE(bfloat16_matches_float([&](const Tensors& x) { return causal_attention(x[0], n_head); },
                                         [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                           attention_pullback_of(x[0], n_head, d_y, d[0]);
                                         },
                                         normals({shape}), result_rounding));
    }
  }
}

TEST(Bfloat16Attention, WithSharedKeysAndAWindowAgreesWithFloat) {
  for (int64_t length : {1, 7, 70, 130}) {
    for (int64_t window : {0, 3, 67}) {
      EXPECT_TRUE(bfloat16_matches_float(
          [&](const Tensors& x) { return causal_attention(x[0], x[1], x[2], 6, window); },
          [&](const Tensors& x, Tensor d_y, const Gradients& d) {
            pullback_state<AttentionState> state;
            pullbacks::causal_attention_reverse_forw(x[0], x[1], x[2], 6, window, state);
            pullbacks::causal_attention_pullback(x[0], x[1], x[2], 6, window, d_y, d[0], d[1], d[2], state);
          },
          normals({{2, length, 6 * 10}, {2, length, 2 * 10}, {2, length, 2 * 10}}), result_rounding));
    }
  }
}

TEST(Bfloat16Attention, ManyHeadsInGroupsAgreeWithFloatOnAnyNumberOfThreads) {
  const Tensor qkv = normals({{3, 512, 3 * 1024}})[0].to(DType::bfloat16);  // 48 heads: two groups
  const Tensor d_y = normals({{3, 512, 1024}}, 9)[0].to(DType::bfloat16), wide = qkv.to(DType::float32);
  const Tensor y = causal_attention(qkv, 16);
  Tensor d, d_wide;
  attention_pullback_of(qkv, 16, d_y, &d);
  EXPECT_TRUE(testing::is_rounded(y, causal_attention(wide, 16)));
  attention_pullback_of(wide, 16, d_y.to(DType::float32), &d_wide);
  EXPECT_TRUE(testing::is_rounded(d, d_wide, result_rounding * testing::largest(d_y)));
  const int before = num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    Tensor again;
    attention_pullback_of(qkv, 16, d_y, &again);
    EXPECT_EQ(testing::relative_difference(causal_attention(qkv, 16), y), 0);
    EXPECT_EQ(testing::relative_difference(again, d), 0);
  }
  set_num_threads(before);
}

TEST(Bfloat16Attention, CachedPositionsGiveWhatAllAtOnceDo) {
  const Tensor qkv = normals({{2, 6, 3 * 8}})[0].to(DType::bfloat16);
  Tensor keys = zeros({2, 7, 8}, DType::bfloat16), values = zeros({2, 7, 8}, DType::bfloat16);
  const Tensor expected = causal_attention(qkv.to(DType::float32), 2);
  for (const auto& [past, count] : {std::pair<int64_t, int64_t>{0, 3}, {3, 1}, {4, 2}}) {
    EXPECT_TRUE(testing::is_rounded(cached_attention(qkv.narrow(1, past, count), keys, values, past, 2),
                                    expected.narrow(1, past, count)));
  }
  Tensor wide = zeros({2, 7, 8});
  EXPECT_EQ(testing::error_of([&] { cached_attention(qkv, wide, values, 0, 2); }),
            "cached_attention: expected dense bfloat16 caches [2, capacity, 8], got [2,7,8] of float32 and "
            "[2,7,8] of bfloat16");
}

TEST(Bfloat16Attention, CachedPositionsWithSharedKeysAndAWindowGiveWhatAllAtOnceDo) {
  const Tensors x = normals({{2, 6, 4 * 8}, {2, 6, 2 * 8}, {2, 6, 2 * 8}});
  const Tensor q = x[0].to(DType::bfloat16), k = x[1].to(DType::bfloat16), v = x[2].to(DType::bfloat16);
  Tensor keys = zeros({2, 7, 16}, DType::bfloat16), values = zeros({2, 7, 16}, DType::bfloat16);
  const Tensor expected =
      causal_attention(q.to(DType::float32), k.to(DType::float32), v.to(DType::float32), 4, 3);
  for (const auto& [past, count] : {std::pair<int64_t, int64_t>{0, 3}, {3, 1}, {4, 2}}) {
    const auto now = [&, past = past, count = count](const Tensor& t) { return t.narrow(1, past, count); };
    EXPECT_TRUE(testing::is_rounded(cached_attention(now(q), now(k), now(v), keys, values, past, 4, 3),
                                    now(expected)));
  }
}

TEST(Bfloat16Views, AContributionToAWindowReachesAFloat32Buffer) {
  const Tensor x = normals({{4, 6}})[0].to(DType::bfloat16);
  Tensor d = gradient_buffer_like(x);
  pullback_state<ShapeState> state;
  methods::narrow_reverse_forw(&x, 1, 2, 3, state);
  for (int i = 0; i < 2; ++i)
    methods::narrow_pullback(nullptr, 1, 2, 3, full({4, 3}, 1.5, DType::bfloat16), &d, state);
  EXPECT_EQ(d.select(0, 3).select(0, 4).item(), 3);
  EXPECT_EQ(d.select(0, 3).select(0, 5).item(), 0);
}

TEST(Bfloat16Views, AConversionHandsItsGradientToAFloat32BufferUnrounded) {
  const Tensor x = ones({3}, DType::bfloat16);
  Tensor d = gradient_buffer_like(x), rounded;
  pullback_state<ShapeState> state;
  EXPECT_EQ(methods::to_reverse_forw(&x, DType::float32, state).dtype(), DType::float32);
  methods::to_pullback(nullptr, DType::float32, full({3}, 1 + 0x1p-10), &d, state);
  methods::to_pullback(nullptr, DType::float32, full({3}, 1 + 0x1p-10), &rounded, state);
  EXPECT_EQ(d.select(0, 1).item(), 1 + 0x1p-10);
  EXPECT_EQ(rounded.dtype(), DType::bfloat16);
  EXPECT_EQ(rounded.select(0, 1).item(), 1);
}

}  // namespace
}  // namespace cladtorch
