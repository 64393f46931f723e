// The products of matmul_on_device.h by cuBLASLt.
#include <set>

#include "cuda/tensor_product.h"
#include "ops/common/pointwise_on_device.h"
#include "ops/matmul/matmul_on_device.h"
#include "ops/pointwise/pointwise_on_device.h"
#include "tensor/device_memory.h"
#include "tensor/strided.h"
#include "tensor/tensor_on_device.h"

namespace cladtorch::cuda {
namespace {

constexpr functions::GeluTanh gelu_tanh;

using detail::ProductOperand;
using detail::StridedLoop;

Shape batch_of(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<size_t>(shape.rank() - 2)));
}

/// All products of a batch: those along its last dimension at once, unless they are added to one matrix.
void multiply_batch(const StridedLoop<3>& loop, Device device, TensorProduct product) {
  const GemmOperands first = product.operands;
  GemmProblem& problem = product.problem;
  const bool at_once = loop.strides[2].back() != 0 || loop.row_length() == 1;
  const bool add = problem.add;
  if (at_once) {
    problem.batch = loop.row_length();
    problem.a.batch = loop.strides[0].back();
    problem.b.batch = loop.strides[1].back();
    problem.c.batch = loop.strides[2].back();
  }
  std::set<int64_t> written;
  for (int64_t row = 0; row < loop.rows(); ++row) {
    const auto offsets = loop.row_offsets(row);
    for (int64_t i = 0; i < (at_once ? 1 : loop.row_length()); ++i) {
      product.operands.a = at(first.a, offsets[0] + i * loop.strides[0].back(), problem.a_in);
      product.operands.b = at(first.b, offsets[1] + i * loop.strides[1].back(), problem.b_in);
      product.operands.c = at(first.c, offsets[2], problem.out);
      problem.add = add || !written.insert(offsets[2]).second;
      product.run_on(device);
    }
  }
}

void multiply(const Shape& c_shape, const ProductOperand& left, const ProductOperand& right,
              const GradientTarget& c, Tensor& workspace) {
  const Tensor &a = left.matrix, &b = right.matrix;
  const Shape batch = broadcast_shapes("matmul", batch_of(a.shape()), batch_of(b.shape()));
  if (c_shape.numel() == 0) return;
  if (a.size(-1) == 0 || batch.numel() == 0) {
    if (!c.add())
      detail::clear_on(a.device(), c.data<void>(), static_cast<size_t>(c_shape.numel()) * size_of(c.dtype()));
    return;
  }
  const auto strides = [&](const Shape& shape, const Shape& of) {
    return detail::broadcast_strides(batch_of(shape), batch_of(of), batch);
  };
  const StridedLoop<3> loop(batch, {strides(a.shape(), a.strides()), strides(b.shape(), b.strides()),
                                    strides(c_shape, contiguous_strides(c_shape))});
  TensorProduct product(left, right, c.dtype(), c.data<void>(), workspace);
  product.problem.add = c.add();
  multiply_batch(loop, a.device(), product);
}

/// For y = x weight^T.
TensorProduct product_of(const ProductOperand& x, const ProductOperand& weight, Tensor& y,
                         Tensor& workspace) {
  TensorProduct product(x, weight.transposed(), y.dtype(), store_into(y).data<void>(), workspace);
  product.problem.fast_accumulation = is_float8(x.matrix.dtype());
  return product;
}

/// y = x weight^T + bias.
void apply(const ProductOperand& x, const ProductOperand& weight, const Tensor& bias, Tensor& y,
           Tensor& workspace) {
  TensorProduct product = product_of(x, weight, y, workspace);
  if (!bias.defined()) return product.run_on(y.device());
  product.problem.epilogue = Epilogue::bias;
  product.operands.bias = address(bias);
  if (product.try_on(y.device())) return;
  detail::copy_on_device(y, bias.expand(y.shape()));
  product.problem.epilogue = Epilogue::none;
  product.problem.add = true;
  product.run_on(y.device());
}

/// cuBLASLt's GELU has the tanh form. It is that of the sum before it is rounded.
bool apply_with_gelu(const ProductOperand& x, const ProductOperand& weight, const Tensor& bias,
                     Tensor& before_gelu, Tensor& y, Tensor& workspace) {
  TensorProduct product = product_of(x, weight, y, workspace);
  product.problem.epilogue = bias.defined() ? Epilogue::bias_gelu : Epilogue::gelu;
  if (before_gelu.defined()) product.operands.extra = store_into(before_gelu).data<void>();
  if (bias.defined()) product.operands.bias = address(bias);
  return product.try_on(y.device());
}

void linear(const ProductOperand& x, const ProductOperand& weight, const Tensor& bias, detail::LinearEnd end,
            Tensor& before_gelu, Tensor& y, Tensor& workspace) {
  const bool gelu = end == detail::LinearEnd::gelu;
  Tensor& sum = before_gelu.defined() ? before_gelu : y;
  if (x.matrix.size(1) == 0) {
    if (bias.defined()) {
      detail::copy_on_device(sum, bias.expand(y.shape()));
    } else {
      detail::fill_on_device(sum, 0);
    }
  } else if (gelu && y.dtype() == DType::bfloat16 &&
             apply_with_gelu(x, weight, bias, before_gelu, y, workspace)) {
    return;
  } else {
    apply(x, weight, bias, sum, workspace);
  }
  if (gelu) detail::value_on_device<functions::GeluTanh>(&gelu_tanh, sum, store_into(y));
}

void gelu_pullback(const Tensor& d_y, const Tensor& weight, const Tensor& before_gelu, Tensor& to,
                   Tensor& workspace) {
  TensorProduct product(d_y, weight, to.dtype(), store_into(to).data<void>(), workspace);
  if (to.dtype() == DType::bfloat16) {
    product.problem.epilogue = Epilogue::gelu_pullback;
    product.operands.extra = const_cast<bfloat16*>(before_gelu.device_data<bfloat16>());  // read
    if (product.try_on(to.device())) return;
    product.problem.epilogue = Epilogue::none;
  }
  product.operands.extra = nullptr;
  product.run_on(to.device());
  detail::slope_on_device<functions::GeluTanh>(&gelu_tanh, detail::Slope::of_backward, before_gelu, to,
                                               store_into(to));
}

/// d_weight = or += d_y^T x, and where cuBLASLt can, d_bias on the way.
bool multiply_and_sum(const Tensor& d_y, const Tensor& x, const GradientTarget& d_weight,
                      const GradientTarget& d_bias, Tensor& workspace) {
  if (d_bias.add() || d_bias.dtype() != d_weight.dtype() || d_y.size(0) == 0 || x.size(1) == 0) return false;
  TensorProduct product(d_y.transpose(0, 1), x, d_weight.dtype(), d_weight.data<void>(), workspace);
  product.problem.add = d_weight.add();
  product.problem.epilogue = Epilogue::row_sums;
  product.operands.extra = d_bias.data<void>();
  return product.try_on(x.device());
}

void linear_parameters(const Tensor& d_y, const Tensor& x, const GradientTarget* d_weight,
                       const GradientTarget* d_bias, Tensor& workspace, Tensor& sums) {
  if (d_weight && d_bias && multiply_and_sum(d_y, x, *d_weight, *d_bias, workspace)) return;
  if (d_weight) multiply({d_y.size(1), x.size(1)}, d_y.transpose(0, 1), x, *d_weight, workspace);
  if (d_bias) detail::column_sums_on_device(d_y, *d_bias, sums);
}

const detail::DeviceFunctionCode product_code(detail::product_on_device, multiply);
const detail::DeviceFunctionCode linear_code(detail::linear_on_device, linear);
const detail::DeviceFunctionCode gelu_pullback_code(detail::gelu_of_linear_pullback_on_device, gelu_pullback);
const detail::DeviceFunctionCode parameters_code(detail::linear_parameters_on_device, linear_parameters);

}  // namespace
}  // namespace cladtorch::cuda
