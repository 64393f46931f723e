// What sums with their normalization share: their operands.
#pragma once

#include "cladtorch/ops/fused.h"
#include "ops/common/elementwise.h"
#include "ops/common/one_device.h"

namespace cladtorch::detail {

/// The shape of a + b, whose last dimension is that of weight and, where there is one, bias.
inline Shape check_add_norm(const char* name, const Tensor& a, const Tensor& b, const Tensor& weight,
                            const Tensor& bias) {
  check_operands(name, a, b);
  require(weight.defined(), name, ": weight is undefined");
  const Shape shape = broadcast_shapes(name, a.shape(), b.shape());
  require(shape.rank() >= 1 && weight.shape() == Shape{shape.back()}, name,
          ": expected a and b [..., C], weight [C]: a is ", a.shape(), ", b is ", b.shape(), ", weight is ",
          weight.shape());
  require(!bias.defined() || bias.shape() == weight.shape(), name, ": weight is ", weight.shape(),
          ", but bias is ", bias.shape());
  require(weight.dtype() == a.dtype() && (!bias.defined() || bias.dtype() == a.dtype()), name,
          ": dtypes differ: a is ", a.dtype(), ", weight is ", weight.dtype());
  check_one_device(name, a, b, weight, bias);
  return shape;
}

/// x, dense, as an operand of a sum of shape `shape`.
inline Tensor dense_operand(const Tensor& x, const Shape& shape) {
  return x.shape() == shape ? x.contiguous() : x.expand(shape).contiguous();
}

/// Results, not yet computed.
inline NormalizedSum add_norm_result(const Shape& shape, const Tensor& a, const Tensor& b,
                                     const Tensor& weight, const Tensor& bias) {
  NormalizedSum y{Tensor::empty(shape, a.dtype(), a.device()), Tensor::empty(shape, a.dtype(), a.device())};
  y.sum.set_frozen(all_frozen(a, b));
  y.normalized.set_frozen(all_frozen(a, b, weight, bias));
  return y;
}

}  // namespace cladtorch::detail
