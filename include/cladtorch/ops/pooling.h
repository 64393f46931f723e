// Pooling: the largest or the mean of the elements under a window, on the CPU.
#pragma once

#include "cladtorch/ops/convolution.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

struct PoolOptions {
  PerDimension stride = 0;   ///< from window to window; 0: as large as the window
  PerDimension padding = 0;  ///< at both ends of each dimension; at most half the window
  PerDimension dilation = 1;
  bool ceil_mode = false;  ///< a last window may reach over the end
};

struct AvgPoolOptions {
  PerDimension stride = 0;
  PerDimension padding = 0;  ///< zeros
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< whether the mean is over padding too
};

/// The largest element of each window of x [N, C, L] or [N, C, H, W], or without N; NaN wins. The derivative
/// goes to the first of equal ones. There are (size + 2 padding - window) / stride + 1 windows, rounded down.
/// Throws Error that names the shapes if they do not fit. As torch.nn.functional.max_pool2d.
Tensor max_pool1d(const Tensor& x, const PerDimension& window, const PoolOptions& options = {});
Tensor max_pool2d(const Tensor& x, const PerDimension& window, const PoolOptions& options = {});

/// The mean of each window; bfloat16 is summed in float32.
Tensor avg_pool1d(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options = {});
Tensor avg_pool2d(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options = {});

/// The means of `size` windows, of which window i reaches from i in / size to (i + 1) in / size, rounded down
/// and up.
Tensor adaptive_avg_pool1d(const Tensor& x, const PerDimension& size);
Tensor adaptive_avg_pool2d(const Tensor& x, const PerDimension& size);

enum class Interpolation {
  nearest,   ///< the element at the place, rounded down
  bilinear,  ///< between the nearest two of each dimension
};

/// x [N, C, L] or [N, C, H, W] at `size` places for each dimension, whose distance is in / size; with
/// `align_corners` the first and the last fall on the first and the last element. As
/// torch.nn.functional.interpolate.
Tensor interpolate(const Tensor& x, const PerDimension& size, Interpolation mode = Interpolation::nearest,
                   bool align_corners = false);

/// Where the largest elements were: int32, counted in an image of one channel.
struct MaxPoolState {
  Tensor places;
  Shape shape;   ///< of x
  int rank = 0;  ///< of an image
};

namespace tangents {
/// The elements of d_x where windows of x of `rank` dimensions have their largest.
Tensor of_max_pool(int rank, const Tensor& x, const PerDimension& window, const PoolOptions& options,
                   const Tensor& d_x);
}  // namespace tangents
}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::AvgPoolOptions;
using ::cladtorch::Interpolation;
using ::cladtorch::MaxPoolState;
using ::cladtorch::PerDimension;
using ::cladtorch::PoolOptions;
using ::cladtorch::ShapeState;
using ::cladtorch::Tensor;

Tensor max_pool1d_reverse_forw(const Tensor& x, const PerDimension& window, const PoolOptions& options,
                               pullback_state<MaxPoolState>& state);
void max_pool1d_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& window, const PoolOptions& options,
                         Tensor d_y, Tensor* d_x, pullback_state<MaxPoolState>& state);
Tensor max_pool2d_reverse_forw(const Tensor& x, const PerDimension& window, const PoolOptions& options,
                               pullback_state<MaxPoolState>& state);
void max_pool2d_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& window, const PoolOptions& options,
                         Tensor d_y, Tensor* d_x, pullback_state<MaxPoolState>& state);

Tensor avg_pool1d_reverse_forw(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options,
                               pullback_state<ShapeState>& state);
void avg_pool1d_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& window,
                         const AvgPoolOptions& options, Tensor d_y, Tensor* d_x,
                         pullback_state<ShapeState>& state);
Tensor avg_pool2d_reverse_forw(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options,
                               pullback_state<ShapeState>& state);
void avg_pool2d_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& window,
                         const AvgPoolOptions& options, Tensor d_y, Tensor* d_x,
                         pullback_state<ShapeState>& state);

Tensor adaptive_avg_pool1d_reverse_forw(const Tensor& x, const PerDimension& size,
                                        pullback_state<ShapeState>& state);
void adaptive_avg_pool1d_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& size, Tensor d_y,
                                  Tensor* d_x, pullback_state<ShapeState>& state);
Tensor adaptive_avg_pool2d_reverse_forw(const Tensor& x, const PerDimension& size,
                                        pullback_state<ShapeState>& state);
void adaptive_avg_pool2d_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& size, Tensor d_y,
                                  Tensor* d_x, pullback_state<ShapeState>& state);

Tensor interpolate_reverse_forw(const Tensor& x, const PerDimension& size, Interpolation mode,
                                bool align_corners, pullback_state<ShapeState>& state);
void interpolate_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& size, Interpolation mode,
                          bool align_corners, Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state);
}  // namespace clad::custom_derivatives::cladtorch

namespace clad::custom_derivatives::cladtorch::tangents {
/// Where the largest elements are does not change with x.
void of_max_pool_pullback(int rank, const Tensor& x, const PerDimension& window, const PoolOptions& options,
                          CLAD_UNUSED const Tensor& d_x, Tensor d_y, Tensor* d_of_x, Tensor* d_of_d_x);
}  // namespace clad::custom_derivatives::cladtorch::tangents
