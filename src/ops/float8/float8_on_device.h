// Rounding to 8 bits on CUDA devices, where products read float8.
#pragma once

#include <optional>

#include "ops/float8/float8_linear.h"
#include "ops/matmul/matmul_on_device.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// Throws Error if the device has no products of float8.
inline constinit DeviceFunction<void(Device device)> require_float8_on_device{"float8"};

/// Rounds dense x [rows, n] of float32 or bfloat16, whose extents are multiples of 16, to `values` [rows, n]
/// and `transposed` [n, rows], where they are not null, of float8. `measured` [1] is memory for the largest
/// absolute value of x; `inverse` [1] gets what the results are to be multiplied by.
inline constinit DeviceFunction<void(const Tensor& x, const Float8Use& use, Tensor& measured, Tensor* values,
                                     Tensor* transposed, Tensor& inverse)>
    round_to_float8_on_device{"float8"};

/// See Float8Layers::finish_step.
inline constinit DeviceFunction<void(Tensor& amax)> finish_float8_step_on_device{"float8"};

/// In which order elements are wanted: products read each operand along the dimension that they sum over.
enum class Float8Layouts : uint8_t { rows, columns, both };

/// An operand of a linear layer in 8 bits.
class Float8OnDevice {
 public:
  /// x [rows, n]. The backward pass reads input and weight by columns.
  Float8OnDevice(const Tensor& x, const Float8Scaling& scaling, Float8Role role, Float8Layouts layouts);

  ProductOperand rows() const { return {rows_, inverse_}; }
  /// [n, rows]
  ProductOperand columns() const { return {columns_, inverse_}; }

 private:
  Tensor rows_, columns_, inverse_;
};

}  // namespace cladtorch::detail
