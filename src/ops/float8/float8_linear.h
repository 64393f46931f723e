// What linear and the operations fused with it ask of float8.
#pragma once

#include "cladtorch/ops/float8.h"

namespace cladtorch::detail {

/// The operands of a linear layer, in the order of Float8Scaling::amax.
enum class Float8Role : uint8_t { input, weight, cotangent };

/// What a product with this weight and so many rows is rounded by; null if it is not.
const Float8Scaling* float8_scaling(const Tensor& weight, int64_t rows);

/// How an operand is scaled at this moment.
struct Float8Use {
  Tensor amax;           ///< float32 [steps], of the operand
  bool delayed = false;  ///< by the steps before
  bool records = false;  ///< the step under way
};
/// Forward and backward pass of a layer use its input and weight: the first of them records.
Float8Use float8_use(const Float8Scaling& scaling, Float8Role role, bool is_first);

/// On a CPU: x of float32 or bfloat16 with each element rounded, in its own dtype, which has all numbers of
/// float8 times a power of two.
Tensor rounded_to_float8(const Tensor& x, const Float8Scaling& scaling, Float8Role role, bool is_first);

}  // namespace cladtorch::detail
