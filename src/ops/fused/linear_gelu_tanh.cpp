// The product lies in a buffer of its own only where a derivative needs it: else GELU is taken in place.
// On CUDA devices the product of bfloat16 and its GELU are written by one kernel.
#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/count.h"
#include "cladtorch/ops/fused.h"
#include "cladtorch/ops/matmul.h"
#include "ops/common/pointwise_on_device.h"
#include "ops/gelu_tanh/gelu_tanh_kernel.h"
#include "ops/matmul/check_linear.h"
#include "ops/matmul/matmul_on_device.h"

namespace cladtorch {
namespace {

void gelu_of(const Tensor& linear, Tensor& y) {
  if (y.is_cuda()) return detail::map_on_device<detail::GeluTanh>({}, linear, store_into(y));
  detail::dispatch_real("linear_gelu_tanh", y.dtype(),
                        [&]<class T>(T) { detail::gelu_tanh(y.numel(), linear.data<T>(), y.data<T>()); });
}

}  // namespace

Tensor linear_gelu_tanh(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensor y = linear(x, weight, bias);
  gelu_of(y, y);
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace detail = ::cladtorch::detail;

Tensor linear_gelu_tanh_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                     pullback_state<LinearGeluState>& state) {
  if (x.defined() && x.is_cuda()) {
    detail::check_linear(x, weight, bias);
    detail::count_op();
    state.data.linear = detail::linear_result(x, weight, bias);
    Tensor y = detail::linear_result(x, weight, bias);
    detail::linear_forward_on_device(x, weight, bias, state.data.linear, y);
    return y;
  }
  state.data.linear = ::cladtorch::linear(x, weight, bias);
  Tensor y = Tensor::empty(state.data.linear.shape(), x.dtype());
  y.set_frozen(state.data.linear.is_frozen());
  ::cladtorch::gelu_of(state.data.linear, y);
  return y;
}

void linear_gelu_tanh_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor d_y,
                               Tensor* d_x, Tensor* d_weight, Tensor* d_bias,
                               pullback_state<LinearGeluState>& state) {
  Tensor d_linear;
  gelu_tanh_pullback(state.data.linear, std::move(d_y), &d_linear);
  linear_pullback(x, weight, bias, std::move(d_linear), d_x, d_weight, d_bias);
}

}  // namespace clad::custom_derivatives::cladtorch
