// Images read at places that are computed, as in a spatial transformer (Jaderberg et al., 2015), in the names
// of PyTorch. Made of other operations: the compiler differentiates it by the image and by the places.
#pragma once

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/indexing.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/ops/pooling.h"
#include "cladtorch/ops/shape.h"

namespace cladtorch {

/// What is read outside of an image.
enum class GridPadding {
  zeros,
  border,  ///< the nearest element
};
struct GridSampleOptions {
  Interpolation mode = Interpolation::bilinear;
  GridPadding padding_mode = GridPadding::zeros;
  bool align_corners =
      false;  ///< -1 and 1 are the centers of the first and the last element, not their edges
};

namespace detail {
/// Where the whole numbers (row, column) are in an image of height x width in row-major order, the nearest
/// element for those outside; and 1 for those inside, else 0, in the dtype of `column`.
CLAD_NONDIFFERENTIABLE Tensor image_places(const Tensor& column, const Tensor& row, int64_t width,
                                           int64_t height);
CLAD_NONDIFFERENTIABLE Tensor inside_image(const Tensor& column, const Tensor& row, int64_t width,
                                           int64_t height);

/// Places from -1 to 1 as numbers of elements of a dimension.
inline Tensor elements_of_places(const Tensor& x, int64_t extent, const GridSampleOptions& options) {
  const auto size = static_cast<double>(extent);
  Tensor place;
  if (options.align_corners) {
    place = (x + 1) * (0.5 * (size - 1));
  } else {
    place = (x + 1) * (0.5 * size) - 0.5;
  }
  if (options.padding_mode == GridPadding::border) return clamp(place, 0, size - 1);
  return place;
}

/// The elements of images x [N, C, height * width] at whole numbers [N, 1, places]; 0 outside.
inline Tensor elements_at(const Tensor& x, const Tensor& column, const Tensor& row, int64_t width,
                          int64_t height) {
  const Tensor places = image_places(column, row, width, height);
  return gather(x, 2, places.expand({x.size(0), x.size(1), places.size(2)})) *
         inside_image(column, row, width, height);
}
}  // namespace detail

/// x [N, C, H, W] at the places (column, row) of grid [N, h, w, 2], which are from -1 to 1 across an image:
/// [N, C, h, w], between the nearest four elements, or the nearest one, whose derivative by the place is 0.
/// float32 or float64, on the CPU. Throws Error that names the shapes if they do not fit.
inline Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {}) {
  require(x.dim() == 4 && grid.dim() == 4 && grid.size(3) == 2 && grid.size(0) == x.size(0) &&
              grid.dtype() == x.dtype() && x.size(2) > 0 && x.size(3) > 0,
          "grid_sample: expected x [N, C, H, W] and a grid [N, h, w, 2] of its dtype, got ", x.shape(),
          " and ", grid.shape(), " of ", grid.dtype());
  const int64_t height = x.size(2), width = x.size(3), count = grid.size(1) * grid.size(2);
  const Tensor images = flatten(x, 2, 3);
  const Tensor columns = detail::elements_of_places(grid.select(3, 0), width, options);
  const Tensor rows = detail::elements_of_places(grid.select(3, 1), height, options);
  const Tensor column = columns.reshape({x.size(0), 1, count}), row = rows.reshape({x.size(0), 1, count});
  Tensor y;
  if (options.mode == Interpolation::nearest) {
    y = detail::elements_at(images, round(column), round(row), width, height);
  } else {
    const Tensor left = floor(column), top = floor(row), right = left + 1, bottom = top + 1;
    const Tensor to_left = right - column, to_right = column - left, to_top = bottom - row,
                 to_bottom = row - top;
    y = detail::elements_at(images, left, top, width, height) * (to_left * to_top) +
        detail::elements_at(images, right, top, width, height) * (to_right * to_top) +
        detail::elements_at(images, left, bottom, width, height) * (to_left * to_bottom) +
        detail::elements_at(images, right, bottom, width, height) * (to_right * to_bottom);
  }
  return y.reshape({x.size(0), x.size(1), grid.size(1), grid.size(2)});
}

namespace detail {
/// The places of all elements of an image as rows (column, row, 1): [height * width, 3].
CLAD_NONDIFFERENTIABLE Tensor affine_places(int64_t height, int64_t width, bool align_corners, DType dtype);
}  // namespace detail

/// The places in an image [N, H, W, 2] that the matrices theta [N, 2, 3] make of those of the elements of an
/// image of `size` {N, C, H, W}: the identity of grid_sample for {{1, 0, 0}, {0, 1, 0}}.
inline Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners = false) {
  require(theta.dim() == 3 && theta.size(1) == 2 && theta.size(2) == 3 && size.rank() == 4 &&
              size[0] == theta.size(0),
          "affine_grid: expected theta [N, 2, 3] and a size {N, C, H, W}, got ", theta.shape(), " and ",
          size);
  const Tensor places = detail::affine_places(size[2], size[3], align_corners, theta.dtype());
  return matmul(places, theta.transpose(1, 2)).reshape({size[0], size[2], size[3], 2});
}

}  // namespace cladtorch
