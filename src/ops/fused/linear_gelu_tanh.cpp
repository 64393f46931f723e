// The product lies in a buffer of its own only where a derivative needs it: else GELU is taken in place.
// On CUDA devices the product of bfloat16 and its GELU are written by one kernel.
#include "cladtorch/ops/count.h"
#include "cladtorch/ops/fused.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/fused/linear_gelu.h"

namespace cladtorch {

Tensor detail::linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor* before_gelu) {
  Tensor y = linear_result(x, weight, bias), linear = before_gelu ? linear_result(x, weight, bias) : y;
  if (before_gelu) *before_gelu = linear;
  count_flops(2 * y.numel() * weight.size(1));
  const auto on_device = [&] {
    linear_forward_on_device(x, weight, bias, LinearEnd::gelu, before_gelu ? linear : Tensor(), y);
  };
  run_where("linear_gelu_tanh", y, on_device, [&]<class T>(T) {
    linear_on_cpu(x, weight, bias, linear);
    function_values(functions::GeluTanh{}, y.numel(), std::as_const(linear).data<T>(), y.data<T>());
  });
  return y;
}

Tensor linear_gelu_tanh(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  CLADTORCH_RECORD_STATE(LinearGeluState, linear_gelu_tanh, x, weight, bias);
  Tensor y = detail::linear_gelu(x, weight, bias, nullptr);
  detail::count_op();
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace detail = ::cladtorch::detail;

Tensor linear_gelu_tanh_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                     pullback_state<LinearGeluState>& state) {
  Tensor y = detail::linear_gelu(x, weight, bias, &state.data.linear);
  detail::count_op();
  return y;
}

void linear_gelu_tanh_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor d_y,
                               Tensor* d_x, Tensor* d_weight, Tensor* d_bias,
                               pullback_state<LinearGeluState>& state) {
  Tensor d_linear;
  pointwise_pullback(::cladtorch::functions::GeluTanh{}, state.data.linear, std::move(d_y), &d_linear);
  linear_pullback(x, weight, bias, std::move(d_linear), d_x, d_weight, d_bias);
}

}  // namespace clad::custom_derivatives::cladtorch
