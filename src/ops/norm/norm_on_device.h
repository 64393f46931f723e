// A call of layer or RMS normalization, and what runs it on CUDA devices.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"
#include "tensor/dispatch.h"

namespace cladtorch::detail {

/// The operands and results of one of them: y = the normalization of x. All are dense; x and y [rows, n].
struct Norm {
  Tensor x{};
  Tensor added{};  ///< of x's shape, or undefined; then x + added is normalized, and left in `sum`
  Tensor sum{};
  Tensor weight{}, bias{};  ///< [n], of x's dtype; the bias may be undefined
  double epsilon = 0;
  bool centered = true;  ///< layer normalization; else RMS normalization, which knows no mean
  Tensor y{};
  Tensor mean{}, rstd{};  ///< [rows] in the dtype that x is computed in; may be undefined
};

inline constinit DeviceFunction<void(const Norm& norm)> norm_on_device{"normalization"};

struct NormPullbackOnDevice {
  Tensor x{}, weight{};
  Tensor mean{};  ///< undefined for RMS normalization
  Tensor rstd{}, d_y{};
  std::optional<GradientTarget> d_x{}, d_weight{}, d_bias{};
  Tensor sums{};  ///< [2, norm_pullback_parts(rows, n), n] in the dtype that x is computed in, for terms of
                  ///< d_weight and d_bias
};

inline constinit DeviceFunction<void(const NormPullbackOnDevice& norm)> norm_pullback_on_device{
    "normalization"};

/// How many terms each element of d_weight and d_bias is summed of, one for each block: as many blocks as run
/// at once on an H200, which has 132 multiprocessors, or fewer for few rows.
inline int64_t norm_pullback_parts(int64_t rows, int64_t n) {
  constexpr int64_t multiprocessors = 132, fewest_rows = 8;
  const int64_t at_once = n <= 768 ? 2 : std::max<int64_t>(1, 8192 / n);
  return std::clamp<int64_t>(rows / fewest_rows, 1, multiprocessors * at_once);
}

/// Runs it for the gradients that are not null, with `sums` made here; `norm` holds the tensors down to d_y.
/// The derivative with respect to epsilon is a number on the host, which would have to wait for the device:
/// it becomes NaN.
inline void pull_norm_on_device(NormPullbackOnDevice norm, Tensor* d_x, Tensor* d_weight, Tensor* d_bias,
                                double* d_epsilon) {
  if (d_epsilon) *d_epsilon = std::numeric_limits<double>::quiet_NaN();
  const Tensor& x = norm.x;
  const Shape& columns = norm.weight.shape();
  const auto target = [&](Tensor* d, const Shape& shape) {
    return d ? std::optional(accumulate_into(d, shape, x.dtype(), x.device())) : std::nullopt;
  };
  norm.d_x = target(d_x, x.shape());
  norm.d_weight = target(d_weight, columns);
  norm.d_bias = target(d_bias, columns);
  const int64_t n = columns[0], rows = n == 0 ? 0 : x.numel() / n;
  norm.sums = Tensor::empty({2, norm_pullback_parts(rows, n), n}, computed_in(x.dtype()), x.device());
  norm_pullback_on_device(norm);
}

}  // namespace cladtorch::detail
