// What linear and the operations fused with it share.
#pragma once

#include "ops/common/elementwise.h"

namespace cladtorch::detail {

inline void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_operands("linear", x, weight);
  require(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1),
          "linear: expected x [..., in] and weight [out, in]: x is ", x.shape(), ", weight is ",
          weight.shape());
  require(!bias.defined() || (bias.shape() == Shape{weight.size(0)} && bias.dtype() == x.dtype()),
          "linear: expected bias [", weight.size(0), "] of ", x.dtype(), ", got ", bias.shape(), " of ",
          bias.dtype());
}

/// linear(), of which count.h does not hear: as a part of another operation.
Tensor linear_without_count(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// The result, not yet computed.
inline Tensor linear_result(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensor y = Tensor::empty(x.shape().with(x.dim() - 1, weight.size(0)), x.dtype(), x.device());
  y.set_frozen(all_frozen(x, weight, bias));
  return y;
}

}  // namespace cladtorch::detail
