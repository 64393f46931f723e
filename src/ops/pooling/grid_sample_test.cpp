#include "cladtorch/ops/grid_sample.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::error_of;
using testing::normals;
using testing::relative_difference;

/// The same map for both images of a batch.
Tensor maps(std::initializer_list<double> rows) {
  return from_values<double>({1, 2, 3}, rows).expand({2, 2, 3});
}

TEST(GridSample, OfTheIdentityIsTheImage) {
  const Tensor x = normals({{2, 3, 5, 4}})[0];
  for (const bool corners : {false, true}) {
    const Tensor grid = affine_grid(maps({1, 0, 0, 0, 1, 0}), x.shape(), corners);
    for (const GridPadding padding : {GridPadding::zeros, GridPadding::border})
      for (const Interpolation mode : {Interpolation::nearest, Interpolation::bilinear})
        EXPECT_LT(relative_difference(grid_sample(x, grid, {mode, padding, corners}), x), 1e-14);
  }
}

TEST(GridSample, MirrorsAndScales) {
  const Tensor x = normals({{2, 3, 6, 8}})[0];
  const Tensor mirror = affine_grid(maps({-1, 0, 0, 0, 1, 0}), x.shape());
  EXPECT_LT(relative_difference(grid_sample(x, mirror), flip(x, 3)), 1e-14);
  const Tensor larger = affine_grid(maps({1, 0, 0, 0, 1, 0}), {2, 3, 11, 9}, true);
  EXPECT_LT(relative_difference(grid_sample(x, larger, {.align_corners = true}),
                                interpolate(x, {11, 9}, Interpolation::bilinear, true)),
            1e-13);
}

TEST(GridSample, ReadsZerosOrTheBorderOutside) {
  const Tensor x = normals({{2, 1, 3, 3}})[0];
  const Tensor away = affine_grid(maps({1, 0, 5, 0, 1, -7}), x.shape());
  EXPECT_EQ(sum(abs(grid_sample(x, away))).item(), 0);
  const Tensor corner = x.narrow(2, 0, 1).narrow(3, 2, 1);
  EXPECT_LT(relative_difference(grid_sample(x, away, {.padding_mode = GridPadding::border}),
                                corner.expand(x.shape())),
            1e-15);
}

TEST(GridSample, GivesNanForAPlaceThatIsNan) {
  const Tensor x = ones({1, 1, 3, 3}, DType::float64), grid = full({1, 1, 1, 2}, NAN, DType::float64);
  EXPECT_TRUE(std::isnan(grid_sample(x, grid).item()));
}

TEST(GridSample, ErrorsSayWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { grid_sample(zeros({2, 3, 4, 4}), zeros({1, 4, 4, 2})); }),
            "grid_sample: expected x [N, C, H, W] and a grid [N, h, w, 2] of its dtype, got [2,3,4,4] and "
            "[1,4,4,2] of float32");
  EXPECT_EQ(error_of([] { affine_grid(zeros({2, 3, 3}), {2, 1, 4, 4}); }),
            "affine_grid: expected theta [N, 2, 3] and a size {N, C, H, W}, got [2,3,3] and [2,1,4,4]");
}

}  // namespace
}  // namespace cladtorch
