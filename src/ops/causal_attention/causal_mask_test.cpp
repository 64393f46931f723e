#include "cladtorch/ops/attention.h"
#include "cladtorch/ops/normalization.h"
#include "tests/support/bfloat16_check.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

TEST(CausalMask, HidesLaterPositions) {
  const Tensor y = causal_mask(full({2, 2, 3}, 5));
  const double inf = INFINITY;
  const double expected[] = {5, 5, -inf, 5, 5, 5, 5, 5, -inf, 5, 5, 5};
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(y.data<float>()[i], expected[i]) << i;
  EXPECT_EQ(testing::error_of([] { causal_mask(zeros({3, 2})); }),
            "causal_mask: expected [..., T, S] with T up to S, got [3,2]");
}

/// What attention is made of, for every type.
TEST(CausalMask, GivesHiddenPositionsNoProbability) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    const Tensor p = softmax(causal_mask(normals({{3, 40, 40}})[0].to(dtype))).to(DType::float64);
    for (int64_t i = 0; i < p.numel(); ++i) {
      const int64_t row = i / 40 % 40, column = i % 40;
      EXPECT_EQ(p.data<double>()[i] > 0, column <= row) << i;
    }
  }
}

TEST(Tril, GradientMatchesDifferences) {
  for (const Shape& shape : {Shape{1, 1}, {4, 4}, {2, 3, 5, 7}, {0, 3, 3}})
    EXPECT_TRUE(testing::gradients_match(
        [](const Tensors& x) { return tril(x[0]); },
        [](const Tensors&, Tensor d_y, const Gradients& d) { pullbacks::tril_pullback({}, d_y, d[0]); },
        normals({shape})));
}

TEST(CausalMask, GradientMatchesDifferences) {
  EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return softmax(causal_mask(x[0])); },
                                       [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                         clad::pullback_state<OutputState> state;
                                         pullbacks::softmax_reverse_forw(causal_mask(x[0]), state);
                                         Tensor d_masked;
                                         pullbacks::softmax_pullback({}, d_y, &d_masked, state);
                                         pullbacks::causal_mask_pullback({}, d_masked, d[0]);
                                       },
                                       normals({{2, 5, 7}})));
}

TEST(Tril, Bfloat16AgreesWithFloat) {
  EXPECT_TRUE(testing::bfloat16_matches_float(
      [](const Tensors& x) { return tril(x[0]); },
      [](const Tensors&, Tensor d_y, const Gradients& d) { pullbacks::tril_pullback({}, d_y, d[0]); },
      normals({{3, 70, 90}})));
}

}  // namespace
}  // namespace cladtorch
