// Products of matrices on CUDA devices. What they need of memory is allocated here, on the host's side, so
// that a step without devices (DryRun) plans it too.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// Matrices, and in float8 what their elements are multiplied by, float32 [1].
struct ProductOperand {
  Tensor matrix, scale;

  // NOLINTNEXTLINE(google-explicit-constructor): most have no scale
  ProductOperand(Tensor x) : matrix(std::move(x)) {}
  ProductOperand(Tensor x, Tensor factor) : matrix(std::move(x)), scale(std::move(factor)) {}
  /// [..., j, i]
  ProductOperand transposed() const { return {matrix.transpose(-1, -2), scale}; }
};

/// Dense c of shape `c_shape` [..., m, n] = or += a [..., m, k] b [..., k, n]. Leading dimensions of a and b
/// broadcast; products are added over those that c_shape lacks or where it has 1. Each operand is a
/// product_operand(), or in float8.
inline constinit DeviceFunction<void(const Shape& c_shape, const ProductOperand& a, const ProductOperand& b,
                                     const GradientTarget& c, Tensor& workspace)>
    product_on_device{"matmul"};

/// What a linear layer ends with: the sum, or its GELU in the tanh form.
enum class LinearEnd : uint8_t { sum, gelu };

/// y [rows, out] = x [rows, in] weight^T [in, out], plus bias [out] if it is defined, or the GELU of that.
/// before_gelu is defined if it is to be kept.
inline constinit DeviceFunction<void(const ProductOperand& x, const ProductOperand& weight,
                                     const Tensor& bias, LinearEnd end, Tensor& before_gelu, Tensor& y,
                                     Tensor& workspace)>
    linear_on_device{"linear"};

/// to [rows, in] = d_y [rows, out] weight [out, in] times the derivative of GELU at dense before_gelu
/// [rows, in], all of one dtype.
inline constinit DeviceFunction<void(const Tensor& d_y, const Tensor& weight, const Tensor& before_gelu,
                                     Tensor& to, Tensor& workspace)>
    gelu_of_linear_pullback_on_device{"linear"};

/// d_weight [out, in] = or += d_y^T x and d_bias [out] = or += the sums of the columns of d_y, for d_weight
/// or d_bias not null. d_y [rows, out] is dense, `sums` are column_sums_workspace() of it.
inline constinit DeviceFunction<void(const Tensor& d_y, const Tensor& x, const GradientTarget* d_weight,
                                     const GradientTarget* d_bias, Tensor& workspace, Tensor& sums)>
    linear_parameters_on_device{"linear"};

/// `to` [n] = or += the sums of the columns of dense x [rows, n], in float for bfloat16. Deterministic.
inline constinit DeviceFunction<void(const Tensor& x, const GradientTarget& to, Tensor& workspace)>
    column_sums_on_device{"sum"};
Tensor column_sums_workspace(const Tensor& x);

/// x if its matrices are dense along rows or columns, else a dense copy.
Tensor product_operand(const Tensor& x);

/// Whether matrices [rows, columns] with these strides are dense along rows. `stride` gets that of rows.
bool rows_are_dense(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                    int64_t* stride);

/// Memory for the product of two matrices to work in, with room to begin at a multiple of this.
constexpr size_t product_workspace_alignment = 256;
Tensor product_workspace(int64_t m, int64_t n, Device device);

// matmul and linear with their pullbacks; the operands have been checked.
void matmul_on_device(const Tensor& a, const Tensor& b, const Shape& shape, const GradientTarget& y);
/// *d += a b, summed over the batch dimensions that `shape` lacks.
void accumulate_product_on_device(Tensor* d, const Shape& shape, const Tensor& a, const Tensor& b);
/// before_gelu, of y's shape, is defined if it is to be kept.
void linear_forward_on_device(const Tensor& x, const Tensor& weight, const Tensor& bias, LinearEnd end,
                              Tensor before_gelu, Tensor& y);
/// Gradients that are not wanted are null.
void linear_pullback_on_device(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& d_y,
                               Tensor* d_x, Tensor* d_weight, Tensor* d_bias);
/// The same of the layer whose x is the GELU of dense before_gelu, which takes d_x's place. That x is
/// computed again where it is needed.
void linear_of_gelu_pullback_on_device(const Tensor& before_gelu, const Tensor& weight, const Tensor& bias,
                                       const Tensor& d_y, Tensor* d_before_gelu, Tensor* d_weight,
                                       Tensor* d_bias);

}  // namespace cladtorch::detail
