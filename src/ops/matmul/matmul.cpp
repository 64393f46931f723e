#include "cladtorch/ops/matmul.h"

#include "cladtorch/tensor/recorder.h"
#include "ops/common/reduce_to.h"
#include "ops/float8/float8_linear.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul_on_device.h"
#include "tensor/strided.h"

namespace cladtorch {
namespace {

Shape batch_of(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<size_t>(shape.rank() - 2)));
}

Tensor transposed(const Tensor& x) { return x.transpose(-1, -2); }

/// Products of all matrices in a batch; operands' leading dimensions broadcast to those of the dense result.
template <class T, class Out>
void batched_gemm(const Shape& y_shape, const Tensor& a, const Tensor& b, Out* y, bool add) {
  const int64_t m = y_shape[y_shape.rank() - 2], n = y_shape.back(), k = a.size(-1);
  const Shape batch = batch_of(y_shape);
  const auto batch_strides = [&](const Tensor& x) {
    return detail::broadcast_strides(batch_of(x.shape()), batch_of(x.strides()), batch);
  };
  const detail::StridedLoop<2> loop(batch, {batch_strides(a), batch_strides(b)});
  const T *const a_data = a.data<T>(), *const b_data = b.data<T>();
  const auto one = [&](int64_t index) {
    auto offsets = loop.row_offsets(index / loop.row_length());
    for (size_t i = 0; i < 2; ++i) offsets[i] += index % loop.row_length() * loop.strides[i].back();
    detail::gemm<T>(m, n, k, {a_data + offsets[0], a.strides()[a.dim() - 2], a.strides()[a.dim() - 1]},
                    {b_data + offsets[1], b.strides()[b.dim() - 2], b.strides()[b.dim() - 1]},
                    y + index * m * n, n, add);
  };
  const int64_t count = batch.numel();
  constexpr int64_t work_per_piece = 1 << 16;
  if (count == 1 || m * n * k >= int64_t{1} << 22) {
    for (int64_t i = 0; i < count; ++i) one(i);  // parallel inside each product
  } else {
    parallel_for(count, std::max<int64_t>(1, work_per_piece / std::max<int64_t>(1, m * n * k)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) one(i);
                 });
  }
}

/// *d += a b, summed over the batch dimensions that `shape` lacks.
void accumulate_product(Tensor* d, const Shape& shape, const Tensor& a, const Tensor& b) {
  const auto on_device = [&] { detail::accumulate_product_on_device(d, shape, a, b); };
  detail::run_where("matmul", a, on_device, [&]<class T>(T) {
    Shape full = broadcast_shapes("matmul", batch_of(a.shape()), batch_of(b.shape()));
    full.push_back(a.size(-2));
    full.push_back(b.size(-1));
    const auto multiply = [&](auto* out, bool add) { batched_gemm<T>(full, a, b, out, add); };
    if (full == shape) {
      detail::write_to<T>(accumulate_into(d, shape, a.dtype()), multiply);
    } else {
      Tensor product = Tensor::empty(full, detail::computed_in(a.dtype()));
      detail::write_to<T>(accumulate_into(&product, full, a.dtype()),
                          [&](auto* out, bool) { multiply(out, false); });
      detail::accumulate_reduced(d, std::move(product), shape, a.dtype());
    }
  });
}

template <class T>
detail::MatrixView<T> view_of(const Tensor& x) {
  return {x.data<T>(), x.strides()[0], x.strides()[1]};
}
template <class T>
detail::MatrixView<T> transposed_view_of(const Tensor& x) {
  return {x.data<T>(), x.strides()[1], x.strides()[0]};
}

/// Operand of a linear layer as it is multiplied: `x` itself, or rounded.
Tensor operand(const Tensor& x, const Float8Scaling* scaling, detail::Float8Role role, bool is_first) {
  return scaling ? detail::rounded_to_float8(x, *scaling, role, is_first) : x;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  CLADTORCH_RECORD(matmul, a, b);
  const detail::Call call("matmul", {{"a", a}, {"b", b}});
  require(a.dim() >= 2 && b.dim() >= 2, "matmul: expected rank 2 or more: a is ", a.shape(), ", b is ",
          b.shape());
  require(a.size(-1) == b.size(-2), "matmul: inner dimensions differ: a is ", a.shape(), ", b is ",
          b.shape());
  Shape shape = broadcast_shapes("matmul", batch_of(a.shape()), batch_of(b.shape()));
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  detail::count_flops(2 * shape.numel() * a.size(-1));
  return call.result(
      shape, [&](const GradientTarget& y) { detail::matmul_on_device(a, b, shape, y); },
      [&]<class T>(detail::Target<T> y) { batched_gemm<T>(shape, a, b, y.data, false); });
}

void detail::linear_on_cpu(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& y) {
  if (y.numel() == 0) return;
  const int64_t out = weight.size(0), in = weight.size(1), rows = y.numel() / out;
  const Float8Scaling* const scaling = float8_scaling(weight, rows);
  const Tensor left = operand(x.reshape({rows, in}), scaling, Float8Role::input, true);
  const Tensor right = operand(weight, scaling, Float8Role::weight, true);
  const Tensor dense_bias = bias.contiguous();
  dispatch_real("linear", x.dtype(), [&]<class T>(T) {
    gemm<T>(rows, out, in, view_of<T>(left), transposed_view_of<T>(right), y.data<T>(), out, false,
            bias.defined() ? dense_bias.data<T>() : nullptr);
  });
}

Tensor detail::linear_without_count(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensor y = linear_result(x, weight, bias);
  count_flops(2 * y.numel() * weight.size(1));
  if (x.is_cuda()) {
    linear_forward_on_device(x, weight, bias, LinearEnd::sum, Tensor(), y);
  } else {
    linear_on_cpu(x, weight, bias, y);
  }
  return y;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  CLADTORCH_RECORD(linear, x, weight, bias);
  Tensor y = detail::linear_without_count(x, weight, bias);
  detail::count_op();
  return y;
}

Tensor linear(const Tensor& x, const Tensor& weight) {
  CLADTORCH_RECORD(linear, x, weight);
  return linear(x, weight, Tensor());
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void matmul_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
  d_a = wanted(d_a, a);
  d_b = wanted(d_b, b);
  if (!d_y.defined()) return;
  if (d_a) accumulate_product(d_a, a.shape(), d_y, transposed(b));
  if (d_b) accumulate_product(d_b, b.shape(), transposed(a), d_y);
}

void linear_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor d_y, Tensor* d_x,
                     Tensor* d_weight, Tensor* d_bias) {
  d_x = wanted(d_x, x);
  d_weight = wanted(d_weight, weight);
  d_bias = wanted(d_bias, bias);
  if (!d_y.defined()) return;
  if (d_y.is_cuda()) return detail::linear_pullback_on_device(x, weight, bias, d_y, d_x, d_weight, d_bias);
  const int64_t out = weight.size(0), in = weight.size(1);
  const int64_t rows = d_y.shape().without(d_y.dim() - 1).numel();
  const Tensor d_rows = d_y.reshape({rows, out});
  const Float8Scaling* const scaling = detail::float8_scaling(weight, rows);
  const Tensor d = d_x || d_weight ? operand(d_rows, scaling, detail::Float8Role::cotangent, true) : d_rows;
  detail::dispatch_real("linear", d_y.dtype(), [&]<class T>(T) {
    if (d_weight) {
      const Tensor left = operand(x.reshape({rows, in}), scaling, detail::Float8Role::input, false);
      const GradientTarget target = accumulate_into(d_weight, weight.shape(), d_y.dtype());
      detail::write_to<T>(target, [&](auto* to, bool add) {
        detail::gemm(out, in, rows, transposed_view_of<T>(d), view_of<T>(left), to, in, add,
                     static_cast<const T*>(nullptr), target.squares());
      });
    }
    if (d_x) {
      const Tensor right = operand(weight, scaling, detail::Float8Role::weight, false);
      const Shape shape = d_y.shape().with(d_y.dim() - 1, in);
      const GradientTarget target = accumulate_into(d_x, shape, d_y.dtype());
      detail::write_to<T>(target, [&](auto* to, bool add) {
        detail::gemm(rows, in, out, view_of<T>(d), view_of<T>(right), to, in, add);
      });
    }
  });
  if (d_bias && bias.defined()) detail::accumulate_reduced(d_bias, d_rows, bias.shape());
}

void linear_pullback(const Tensor& x, const Tensor& weight, Tensor d_y, Tensor* d_x, Tensor* d_weight) {
  linear_pullback(x, weight, Tensor(), std::move(d_y), d_x, d_weight, nullptr);
}

}  // namespace clad::custom_derivatives::cladtorch
