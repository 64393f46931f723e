#include "cladtorch/ops/along.h"

#include "cladtorch/ops/composed.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;

std::vector<double> values(const Tensor& x) {
  const Tensor dense = x.to(DType::float64).contiguous();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}

TEST(Along, ValuesAtKnownPoints) {
  const Tensor x = from_values<float>({2, 3}, {1, 5, 2, 5, 0, 5});
  EXPECT_EQ(values(cat({x, x.narrow(1, 0, 1)}, 1)), (std::vector<double>{1, 5, 2, 1, 5, 0, 5, 5}));
  EXPECT_EQ(values(cat({x, x})), (std::vector<double>{1, 5, 2, 5, 0, 5, 1, 5, 2, 5, 0, 5}));
  EXPECT_EQ(values(cat(std::vector<Tensor>{x, x})), values(cat({x, x})));
  EXPECT_EQ(stack({x, x}, -1).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(values(flip(x, -1)), (std::vector<double>{2, 5, 1, 5, 0, 5}));
  EXPECT_EQ(values(cumsum(x, 0)), (std::vector<double>{1, 5, 2, 6, 5, 7}));
  EXPECT_EQ(values(amax(x, 1)), (std::vector<double>{5, 5}));
  EXPECT_EQ(values(amin(x, 0)), (std::vector<double>{1, 0, 2}));
  EXPECT_EQ(values(argmax(x, -1)), (std::vector<double>{1, 0}));
  EXPECT_EQ(values(argmin(x, 0, true)), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(argmin(x, 0, true).shape(), (Shape{1, 3}));
  const Tensor nan = from_values<float>({3}, {1, NAN, 7});
  EXPECT_TRUE(std::isnan(amax(nan, 0).item()));
  EXPECT_EQ(argmin(nan, 0).item(), 1);
}

TEST(Along, EqualOnesShareTheDerivative) {
  const Tensor x = from_values<double>({4}, {3, 1, 3, 2});
  clad::pullback_state<ExtremeState> state;
  Tensor d;
  pullbacks::amax_reverse_forw(x, 0, false, state);
  pullbacks::amax_pullback({}, 0, false, ones({}, DType::float64), &d, state);
  EXPECT_EQ(values(d), (std::vector<double>{0.5, 0, 0.5, 0}));
}

TEST(Along, InfinityIsNoSumOfExponentials) {
  const Tensor x = from_values<float>({3, 2}, {-INFINITY, -INFINITY, INFINITY, 1, 1000, 1000});
  const std::vector<double> y = values(logsumexp(x, 1));
  EXPECT_EQ(y[0], -INFINITY);
  EXPECT_EQ(y[1], INFINITY);
  EXPECT_NEAR(y[2], 1000 + std::log(2), 1e-4);
}

TEST(Along, NamesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { cat({}); }), "cat: there is no part");
  EXPECT_EQ(error_of([] { cat({zeros({2, 3}), zeros({2, 4})}); }),
            "cat: part 1 does not fit the first: expected [2,3] of float32 on cpu but for dimension 0, got "
            "[2,4] of "
            "float32 on cpu");
  EXPECT_EQ(error_of([] { amax(zeros({2, 0}), 1); }), "amax: dimension 1 of shape [2,0] is empty");
  EXPECT_EQ(error_of([] { cumsum(zeros({2}), 1); }), error_of([] { checked_dim("cumsum", 1, 1); }));
  EXPECT_EQ(error_of([] { glu(zeros({3})); }), "glu: expected an even extent, got 3 in dimension -1");
}

/// The first of the extremes by a plain loop; NaN wins.
int64_t first_extreme(const std::vector<float>& x, bool largest) {
  size_t best = 0;
  for (size_t i = 1; i < x.size() && x[best] == x[best]; ++i)
    if (x[i] != x[i] || (largest ? x[i] > x[best] : x[i] < x[best])) best = i;
  return static_cast<int64_t>(best);
}

TEST(Along, ExtremesOfEveryLengthAreTheFirstOnes) {
  Random random(3);
  for (const int64_t n : {1, 2, 15, 16, 17, 31, 33, 100}) {
    for (const int64_t lines : {1, 3, 70}) {
      Tensor rows = Tensor::empty({lines, n});
      for (int64_t i = 0; i < rows.numel(); ++i)
        rows.data<float>()[i] = random.below(30) == 0 ? NAN : static_cast<float>(random.below(6));
      const Tensor columns = rows.transpose(0, 1).clone();
      for (int64_t line = 0; line < lines; ++line) {
        const float* const from = rows.data<float>() + line * n;
        const std::vector<float> x(from, from + n);
        for (const bool largest : {true, false}) {
          const int64_t place = first_extreme(x, largest);
          const double value = static_cast<double>(x[static_cast<size_t>(place)]);
          for (const bool down : {false, true}) {
            const Tensor& matrix = down ? columns : rows;
            const int64_t dim = down ? 0 : 1;
            const Tensor places = largest ? argmax(matrix, dim) : argmin(matrix, dim);
            const double extreme = (largest ? amax(matrix, dim) : amin(matrix, dim)).select(0, line).item();
            EXPECT_EQ(places.select(0, line).item(), place) << n << " " << lines;
            EXPECT_TRUE(extreme == value || (extreme != extreme && value != value)) << n << " " << lines;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace cladtorch
