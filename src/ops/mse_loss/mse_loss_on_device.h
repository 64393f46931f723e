// The mean squared error on CUDA devices.
#pragma once

#include <algorithm>

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// Blocks that each leave the sum of a part of the squares: two thousand threads on each of an H200's 132
/// multiprocessors, or fewer for few elements.
inline int64_t mse_loss_parts(int64_t elements) {
  constexpr int64_t most = 132 * 8, elements_per_block = 4096;
  return std::clamp<int64_t>(elements / elements_per_block, 1, most);
}

/// Leaves sums [mse_loss_parts(elements)], and in `mean` [] that of (p - t)^2; both in the dtype that
/// elements are computed in.
inline constinit DeviceFunction<void(const Tensor& p, const Tensor& t, Tensor& sums, Tensor& mean)>
    mse_loss_on_device{"mse_loss"};

/// d = or += factor d_y (p - t).
inline constinit DeviceFunction<void(const Tensor& p, const Tensor& t, double factor, const Tensor& d_y,
                                     const GradientTarget& d)>
    mse_loss_pullback_on_device{"mse_loss"};

}  // namespace cladtorch::detail
