#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

constexpr double epsilon = 1e-3;

void pullback(const Tensors& x, Tensor d_y, const Gradients& d) {
  clad::pullback_state<RMSNormState> state;
  pullbacks::rms_norm_reverse_forw(x[0], x[1], epsilon, state);
  pullbacks::rms_norm_pullback(x[0], x[1], epsilon, std::move(d_y), d[0], d[1], nullptr, state);
}

TEST(RMSNorm, DividesByTheRootOfTheMeanSquare) {
  const Tensor x = from_values<double>({1, 2}, {3, 4}), weight = from_values<double>({2}, {1, 10});
  const Tensor y = rms_norm(x, weight, 12.5);
  EXPECT_DOUBLE_EQ(y.select(1, 0).item(), 3.0 / 5);
  EXPECT_DOUBLE_EQ(y.select(1, 1).item(), 40.0 / 5);
  EXPECT_EQ(testing::error_of([] { rms_norm(zeros({2, 3}), ones({2})); }),
            "rms_norm: expected x [..., C] and weight [C]: x is [2,3], weight is [2]");
}

TEST(RMSNorm, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{7}, {1, 16}, {3, 5}, {2, 3, 17}, {100, 4}, {0, 4}, {3, 1}}) {
    EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return rms_norm(x[0], x[1], epsilon); },
                                         pullback, normals({shape, {shape.back()}})));
  }
}

TEST(RMSNorm, GradientWithRespectToEpsilonMatchesDifferences) {
  const Tensors x = normals({{3, 5}, {5}});
  const auto at = [](const Tensors& v) { return 0.5 + 0.1 * std::tanh(v[0].item()); };
  EXPECT_TRUE(testing::gradients_match([&](const Tensors& v) { return rms_norm(x[0], x[1], at(v)); },
                                       [&](const Tensors& v, Tensor d_y, const Gradients& d) {
                                         clad::pullback_state<RMSNormState> state;
                                         double d_epsilon = 0;
                                         pullbacks::rms_norm_reverse_forw(x[0], x[1], at(v), state);
                                         pullbacks::rms_norm_pullback(x[0], x[1], at(v), d_y, nullptr,
                                                                      nullptr, &d_epsilon, state);
                                         if (!d_y.defined() || !d[0]) return;
                                         const double slope = 0.1 * (1 - std::pow(std::tanh(v[0].item()), 2));
                                         d[0]->accumulate(full({}, d_epsilon * slope, DType::float64));
                                       },
                                       normals({{}})));
}

TEST(RMSNorm, FloatAgreesWithDoubleOnAnyNumberOfThreads) {
  const int before = num_threads();
  for (const Shape& shape : {Shape{1, 7}, {5, 15}, {9, 16}, {133, 67}}) {
    const Tensors x = normals({shape, {shape.back()}});
    const Tensors narrow = {x[0].to(DType::float32), x[1].to(DType::float32)};
    const Tensor d_y = normals({shape}, 9)[0];
    EXPECT_LT(relative_difference(rms_norm(narrow[0], narrow[1], epsilon), rms_norm(x[0], x[1], epsilon)),
              1e-6);
    Tensor d[2];
    pullback(x, d_y, {&d[0], &d[1]});
    Tensor first[2];
    for (int threads : {1, 3}) {
      set_num_threads(threads);
      Tensor d_narrow[2];
      pullback(narrow, d_y.to(DType::float32), {&d_narrow[0], &d_narrow[1]});
      for (int i = 0; i < 2; ++i) {
        EXPECT_LT(relative_difference(d_narrow[i], d[i]), 2e-6) << shape << ' ' << i;
        if (threads == 1) first[i] = d_narrow[i];
        EXPECT_EQ(relative_difference(d_narrow[i], first[i]), 0);
      }
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace cladtorch
