// A linear layer with GELU behind it, as the operations that are made of it need it.
#pragma once

#include "cladtorch/ops/activation.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul_on_device.h"
#include "ops/pointwise/pointwise_kernel.h"

namespace cladtorch::detail {

/// gelu_tanh(linear(x, weight, bias)), not counted; what GELU is taken of goes to before_gelu unless it is
/// null.
Tensor linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor* before_gelu);

}  // namespace cladtorch::detail
