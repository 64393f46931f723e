// What tensors need of a CUDA device beside its memory.
#pragma once

#include "cladtorch/tensor/tensor.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// The elements of `from`, converted, to `to` of the same shape; both may have any strides.
inline constinit DeviceFunction<void(Tensor& to, const Tensor& from)> copy_on_device{"copy_from"};
/// to += from, in the dtype of `to`; bfloat16 is added in float.
inline constinit DeviceFunction<void(Tensor& to, const Tensor& from)> add_on_device{"accumulate"};
inline constinit DeviceFunction<void(Tensor& to, double value)> fill_on_device{"fill_"};
/// 0, 1, ... into dense memory.
inline constinit DeviceFunction<void(Tensor& to)> arange_on_device{"arange"};

}  // namespace cladtorch::detail
