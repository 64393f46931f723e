// What linear and the operations fused with it share.
#pragma once

#include "ops/common/call.h"

namespace cladtorch::detail {

/// linear(), of which count.h does not hear: as a part of another operation.
Tensor linear_without_count(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// y = that of tensors that have been checked.
void linear_on_cpu(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& y);

/// The result, not yet computed, after all checks.
inline Tensor linear_result(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Call call("linear", {{"x", x}, {"weight", weight}, {"bias", bias, Operand::optional}});
  require(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1),
          "linear: expected x [..., in] and weight [out, in]: x is ", x.shape(), ", weight is ",
          weight.shape());
  require(!bias.defined() || bias.shape() == Shape{weight.size(0)}, "linear: expected bias [", weight.size(0),
          "], got ", bias.shape());
  Tensor y = call.empty(x.shape().with(x.dim() - 1, weight.size(0)));
  call.freeze(y);
  return y;
}

}  // namespace cladtorch::detail
