#include "cladtorch/ops/reduce_dims.h"

#include <cmath>

#include "cladtorch/tensor/factories.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::error_of;
using testing::normals;
using testing::relative_difference;

TEST(ReduceDims, AgreeWithTheSameAfterReshaping) {
  const Tensor x = normals({{3, 4, 5, 2}})[0];
  const Tensor last = x.reshape({3, 4, 10}), first = x.reshape({12, 10}),
               apart = x.permute({0, 2, 1, 3}).reshape({15, 8});
  EXPECT_LT(relative_difference(sum(x, {2, -1}), sum(last, -1)), 1e-14);
  EXPECT_LT(relative_difference(sum(x, {0, 1}).flatten(), sum(first, 0)), 1e-14);
  EXPECT_LT(relative_difference(mean(x, {1, 3}).flatten(), mean(apart, 1)), 1e-14);
  EXPECT_LT(relative_difference(var(x, {1, 3}).flatten(), var(apart, 1)), 1e-13);
  EXPECT_LT(relative_difference(cladtorch::std(x, {2, 3}, false, 0), cladtorch::std(last, 2, false, 0)),
            1e-13);
  EXPECT_LT(relative_difference(amax(x, {0, 1}).flatten(), amax(first, 0)), 1e-14);
  EXPECT_LT(relative_difference(amin(x, {3, 1}).flatten(), amin(apart, 1)), 1e-14);
  EXPECT_LT(relative_difference(logsumexp(x, {2, 3}), logsumexp(last, 2)), 1e-14);
  EXPECT_LT(relative_difference(norm(x, {1, 3}).flatten(), norm(apart, 1)), 1e-14);
  EXPECT_LT(relative_difference(linalg::vector_norm(x, 2, {1, 3}), norm(x, {1, 3})), 1e-14);
  EXPECT_EQ(amax(x).item(), amax(x.flatten(), 0).item());
  EXPECT_NEAR(var(x).item(), var(x.flatten(), 0).item(), 1e-12);
  EXPECT_NEAR(sum(x, Shape()).item(), sum(x).item(), 1e-12);
}

TEST(ReduceDims, KeepDimensions) {
  const Tensor x = normals({{3, 4, 5}})[0];
  EXPECT_EQ(sum(x, {0, 2}).shape(), (Shape{4}));
  EXPECT_EQ(sum(x, {0, 2}, true).shape(), (Shape{1, 4, 1}));
  EXPECT_EQ(sum(x, Shape{1}).shape(), (Shape{3, 5}));
  EXPECT_EQ(amax(x, {0, 2}, true).shape(), (Shape{1, 4, 1}));
  EXPECT_EQ(logsumexp(x, {0, 1}, true).shape(), (Shape{1, 1, 5}));
  EXPECT_EQ(amin(zeros({})).shape(), (Shape{}));
}

TEST(ReduceDims, NormsOfEveryOrder) {
  const Tensor x = from_values<double>({2, 2}, {3, -4, 0, 1});
  using linalg::vector_norm;
  EXPECT_NEAR(vector_norm(x).item(), std::sqrt(26.0), 1e-12);
  EXPECT_EQ(vector_norm(x, 1).item(), 8);
  EXPECT_EQ(vector_norm(x, INFINITY).item(), 4);
  EXPECT_EQ(vector_norm(x, -INFINITY).item(), 0);
  EXPECT_EQ(vector_norm(x, 0).item(), 3);
  EXPECT_NEAR(vector_norm(x, 3).item(), std::cbrt(27.0 + 64 + 1), 1e-12);
  EXPECT_EQ(vector_norm(zeros({3}), 3).item(), 0);
}

TEST(ReduceDims, ErrorsNameTheDimension) {
  const Tensor x = zeros({3, 0});
  EXPECT_EQ(error_of([&] { sum(x, {0, -2}); }), "reduction: dimension -2 is named twice in [0,-2]");
  EXPECT_EQ(error_of([&] { mean(x, {0, 1}); }), "mean: no elements in dimensions [0,1] of shape [3,0]");
  EXPECT_EQ(error_of([&] { sum(x, {0, 2}); }), error_of([] { checked_dim("reduction", 2, 2); }));
}

}  // namespace
}  // namespace cladtorch
