// Where a tensor of any dtype lies on its device.
#pragma once

#include "cladtorch/tensor/tensor.h"
#include "tensor/dispatch.h"

namespace cladtorch::cuda {

/// Of its first element.
inline const void* address(const Tensor& x) {
  if (x.dtype() == DType::float8_e4m3) return x.device_data<float8_e4m3>();
  if (x.dtype() == DType::float8_e5m2) return x.device_data<float8_e5m2>();
  const void* data = nullptr;
  detail::dispatch_any(x.dtype(), [&]<class T>(T) { data = x.device_data<T>(); });
  return data;
}

}  // namespace cladtorch::cuda
