#include "ops/matmul/matmul_on_device.h"

#include <algorithm>
#include <optional>

#include "ops/common/pointwise_on_device.h"
#include "ops/float8/float8_linear.h"
#include "ops/float8/float8_on_device.h"
#include "ops/pointwise/pointwise_on_device.h"
#include "tensor/dispatch.h"

namespace cladtorch::detail {
namespace {

constexpr functions::GeluTanh gelu_tanh;

/// Matrices below each other as one, where the other operand is the same for all.
Tensor stacked(const Tensor& x) { return x.reshape({x.numel() / x.size(-1), x.size(-1)}); }

void multiply(const Shape& shape, const Tensor& a, const Tensor& b, const GradientTarget& c, Device device) {
  Tensor workspace = product_workspace(shape[shape.rank() - 2], shape.back(), device);
  product_on_device(shape, product_operand(a), product_operand(b), c, workspace);
}

bool is_sum(const Shape& shape, const Tensor& a, const Tensor& b) {
  return shape.rank() < std::max(a.dim(), b.dim()) ||
         shape.numel() / std::max<int64_t>(1, shape[shape.rank() - 2] * shape.back()) <
             std::max(a.numel() / std::max<int64_t>(1, a.size(-1) * a.size(-2)),
                      b.numel() / std::max<int64_t>(1, b.size(-1) * b.size(-2)));
}

/// Every product reads its operands along the dimension that it sums over, as tensor cores want them.
void float8_pullback(const Tensor& x, const Tensor& weight, const Float8Scaling& scaling,
                     const Tensor& d_rows, const Shape& x_shape, Tensor* d_x, Tensor* d_weight,
                     Tensor* d_bias) {
  const int64_t rows = d_rows.size(0), out = d_rows.size(1), in = weight.size(1);
  const DType dtype = d_rows.dtype();
  const Device device = d_rows.device();
  if (d_bias) {
    Tensor sums = column_sums_workspace(d_rows);
    column_sums_on_device(d_rows, accumulate_into(d_bias, {out}, dtype, device), sums);
  }
  if (!d_x && !d_weight) return;
  const Float8OnDevice d(d_rows, scaling, Float8Role::cotangent,
                         d_x && d_weight ? Float8Layouts::both
                         : d_x           ? Float8Layouts::rows
                                         : Float8Layouts::columns);
  if (d_weight) {
    const Float8OnDevice x8(x.reshape({rows, in}), scaling, Float8Role::input, Float8Layouts::columns);
    Tensor workspace = product_workspace(out, in, device);
    product_on_device({out, in}, d.columns(), x8.columns().transposed(),
                      accumulate_into(d_weight, weight.shape(), dtype, device), workspace);
  }
  if (d_x) {
    const Float8OnDevice weight8(weight, scaling, Float8Role::weight, Float8Layouts::columns);
    Tensor workspace = product_workspace(rows, in, device);
    product_on_device({rows, in}, d.rows(), weight8.columns().transposed(),
                      accumulate_into(d_x, x_shape, dtype, device), workspace);
  }
}

}  // namespace

bool rows_are_dense(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                    int64_t* stride) {
  *stride = rows > 1 ? row_stride : std::max<int64_t>(columns, 1);
  return (columns <= 1 || column_stride == 1) && *stride >= std::max<int64_t>(columns, 1);
}

Tensor product_operand(const Tensor& x) {
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const int64_t row = x.strides()[x.dim() - 2], column = x.strides()[x.dim() - 1];
  int64_t stride = 0;
  const bool fits = rows_are_dense(rows, columns, row, column, &stride) ||
                    rows_are_dense(columns, rows, column, row, &stride);
  return fits ? x : x.contiguous();
}

/// 32 MiB is what cuBLAS recommends for Hopper; the parts of a small product that is cut along its depth need
/// less.
Tensor product_workspace(int64_t m, int64_t n, Device device) {
  constexpr int64_t most = int64_t{32} << 20, least = int64_t{1} << 16, bytes_per_element = 128;
  const int64_t bytes = m * n < most / bytes_per_element ? std::max(least, m * n * bytes_per_element) : most;
  constexpr auto alignment = static_cast<int64_t>(product_workspace_alignment);
  return Tensor::empty({(bytes + alignment) / 4}, DType::float32, device);
}

/// Rows are cut into parts, so that there are about a thousand blocks of kernels; each adds its own.
Tensor column_sums_workspace(const Tensor& x) {
  constexpr int64_t columns_per_block = 256, least_rows = 64, blocks = 1024;
  const int64_t rows = x.size(0), n = x.size(1);
  const int64_t across = (n + columns_per_block - 1) / columns_per_block;
  const int64_t parts = std::min((rows + least_rows - 1) / least_rows, blocks / std::max<int64_t>(across, 1));
  return Tensor::empty({std::max<int64_t>(parts, 1), n}, computed_in(x.dtype()), x.device());
}

void matmul_on_device(const Tensor& a, const Tensor& b, const Shape& shape, const GradientTarget& y) {
  if (shape.numel() == 0) return;
  if (b.dim() == 2 && a.dim() > 2) {
    const Tensor rows = stacked(a);
    return multiply({rows.size(0), b.size(1)}, rows, b, y, a.device());
  }
  multiply(shape, a, b, y, a.device());
}

void accumulate_product_on_device(Tensor* d, const Shape& shape, const Tensor& a, const Tensor& b) {
  if (shape.rank() == 2 && a.dim() == b.dim() && a.dim() > 2 && a.numel() > 0 && b.numel() > 0 &&
      a.shape().without(a.dim() - 1).without(a.dim() - 2) ==
          b.shape().without(b.dim() - 1).without(b.dim() - 2)) {
    // The sum of all products is one product of matrices behind each other.
    return accumulate_product_on_device(d, shape, stacked(a.transpose(-1, -2)).transpose(0, 1), stacked(b));
  }
  if (b.dim() == 2 && a.dim() > 2 && shape.rank() == a.dim() && a.numel() > 0 &&
      shape.without(shape.rank() - 1) == a.shape().without(a.dim() - 1)) {
    const Tensor rows = stacked(a);
    return multiply({rows.size(0), b.size(1)}, rows, b, accumulate_into(d, shape, a.dtype(), a.device()),
                    a.device());
  }
  const bool in_float =
      a.dtype() == DType::bfloat16 && is_sum(shape, a, b) && !(d->defined() && d->dtype() == DType::float32);
  if (!in_float) return multiply(shape, a, b, accumulate_into(d, shape, a.dtype(), a.device()), a.device());
  Tensor sum;
  multiply(shape, a, b, accumulate_into(&sum, shape, DType::float32, a.device()), a.device());
  d->accumulate(sum.to(DType::bfloat16));
}

void linear_forward_on_device(const Tensor& x, const Tensor& weight, const Tensor& bias, LinearEnd end,
                              Tensor before_gelu, Tensor& y) {
  const int64_t out = weight.size(0), in = weight.size(1);
  if (y.numel() == 0) return;
  const Shape shape{y.numel() / out, out};
  const Tensor rows = product_operand(x.reshape({shape[0], in}));
  Tensor workspace = product_workspace(shape[0], out, y.device()), result = y.reshape(shape);
  if (before_gelu.defined()) before_gelu = before_gelu.reshape(shape);
  if (const Float8Scaling* scaling = float8_scaling(weight, shape[0])) {
    const Float8OnDevice x8(rows, *scaling, Float8Role::input, Float8Layouts::rows);
    const Float8OnDevice weight8(weight, *scaling, Float8Role::weight, Float8Layouts::rows);
    return linear_on_device(x8.rows(), weight8.rows(), bias.contiguous(), end, before_gelu, result,
                            workspace);
  }
  linear_on_device(rows, product_operand(weight), bias.contiguous(), end, before_gelu, result, workspace);
}

void linear_pullback_on_device(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& d_y,
                               Tensor* d_x, Tensor* d_weight, Tensor* d_bias) {
  const int64_t out = weight.size(0), in = weight.size(1);
  const int64_t rows = d_y.shape().without(d_y.dim() - 1).numel();
  const Tensor d_rows = d_y.contiguous().reshape({rows, out});
  const Device device = d_y.device();
  if (!bias.defined()) d_bias = nullptr;
  if (const Float8Scaling* scaling = float8_scaling(weight, rows))
    return float8_pullback(x, weight, *scaling, d_rows, d_y.shape().with(d_y.dim() - 1, in), d_x, d_weight,
                           d_bias);
  if (d_weight || d_bias) {
    std::optional<GradientTarget> to_weight, to_bias;
    if (d_weight) to_weight = accumulate_into(d_weight, weight.shape(), d_y.dtype(), device);
    if (d_bias) to_bias = accumulate_into(d_bias, bias.shape(), d_y.dtype(), device);
    Tensor workspace = product_workspace(out, in, device), sums;
    if (d_bias) sums = column_sums_workspace(d_rows);
    linear_parameters_on_device(d_rows, d_weight ? product_operand(x.reshape({rows, in})) : Tensor(),
                                to_weight ? &*to_weight : nullptr, to_bias ? &*to_bias : nullptr, workspace,
                                sums);
  }
  if (!d_x) return;
  const Shape shape = d_y.shape().with(d_y.dim() - 1, in);
  multiply({rows, in}, d_rows, weight, accumulate_into(d_x, shape, d_y.dtype(), device), device);
}

void linear_of_gelu_pullback_on_device(const Tensor& before_gelu, const Tensor& weight, const Tensor& bias,
                                       const Tensor& d_y, Tensor* d_before_gelu, Tensor* d_weight,
                                       Tensor* d_bias) {
  const int64_t out = weight.size(0), in = weight.size(1);
  const int64_t rows = d_y.shape().without(d_y.dim() - 1).numel();
  const Device device = d_y.device();
  Tensor x;
  if (d_weight) {
    x = Tensor::empty(before_gelu.shape(), before_gelu.dtype(), device);
    value_on_device<functions::GeluTanh>(&gelu_tanh, before_gelu, store_into(x));
  }
  const bool at_once = d_before_gelu && !d_before_gelu->defined() && d_y.numel() > 0 && in > 0 &&
                       !float8_scaling(weight, rows);  // in float8 both products read one rounding of d_y
  if (!at_once) {
    Tensor d_x;
    linear_pullback_on_device(x, weight, bias, d_y, d_before_gelu ? &d_x : nullptr, d_weight, d_bias);
    if (d_before_gelu)
      slope_on_device<functions::GeluTanh>(
          &gelu_tanh, Slope::of_backward, before_gelu, d_x,
          accumulate_into(d_before_gelu, before_gelu.shape(), before_gelu.dtype(), device));
    return;
  }
  linear_pullback_on_device(x, weight, bias, d_y, nullptr, d_weight, d_bias);
  x = Tensor();
  *d_before_gelu = Tensor::empty(before_gelu.shape(), before_gelu.dtype(), device);
  Tensor to = d_before_gelu->reshape({rows, in}), workspace = product_workspace(rows, in, device);
  gelu_of_linear_pullback_on_device(d_y.contiguous().reshape({rows, out}), product_operand(weight),
                                    before_gelu.reshape({rows, in}), to, workspace);
}

}  // namespace cladtorch::detail
