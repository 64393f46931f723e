#include "cladtorch/ops/count.h"
#include "cladtorch/ops/fused.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/fused/linear_gelu.h"

namespace cladtorch {

Tensor mlp_gelu_tanh(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& projection,
                     const Tensor& projection_bias) {
  CLADTORCH_RECORD_STATE(MlpGeluState, mlp_gelu_tanh, x, weight, bias, projection, projection_bias);
  const Tensor hidden = detail::linear_gelu(x, weight, bias, nullptr);
  Tensor y = detail::linear_without_count(hidden, projection, projection_bias);
  detail::count_op();
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::wanted;
namespace detail = ::cladtorch::detail;

Tensor mlp_gelu_tanh_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                  const Tensor& projection, const Tensor& projection_bias,
                                  pullback_state<MlpGeluState>& state) {
  if (::cladtorch::all_frozen(x, weight, bias, projection, projection_bias))
    return ::cladtorch::mlp_gelu_tanh(x, weight, bias, projection, projection_bias);
  const Tensor hidden = detail::linear_gelu(x, weight, bias, &state.data.linear);
  if (!hidden.is_cuda()) state.data.hidden = hidden;
  Tensor y = detail::linear_without_count(hidden, projection, projection_bias);
  detail::count_op();
  return y;
}

void mlp_gelu_tanh_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias,
                            const Tensor& projection, const Tensor& projection_bias, Tensor d_y, Tensor* d_x,
                            Tensor* d_weight, Tensor* d_bias, Tensor* d_projection, Tensor* d_projection_bias,
                            pullback_state<MlpGeluState>& state) {
  d_projection = wanted(d_projection, projection);
  d_projection_bias = wanted(d_projection_bias, projection_bias);
  if (!d_y.defined() || !state.data.linear.defined()) return;
  const Tensor& linear = state.data.linear;
  const bool reaches_linear =
      !linear.is_frozen() && (wanted(d_x, x) || wanted(d_weight, weight) || wanted(d_bias, bias));
  Tensor d_linear;
  if (linear.is_cuda()) {
    detail::linear_of_gelu_pullback_on_device(linear, projection, projection_bias, d_y,
                                              reaches_linear ? &d_linear : nullptr, d_projection,
                                              d_projection_bias);
  } else {
    Tensor d_hidden;
    linear_pullback(state.data.hidden, projection, projection_bias, std::move(d_y),
                    reaches_linear ? &d_hidden : nullptr, d_projection, d_projection_bias);
    state.data.hidden = Tensor();
    if (reaches_linear)
      pointwise_pullback(::cladtorch::functions::GeluTanh{}, linear, std::move(d_hidden), &d_linear);
  }
  if (reaches_linear) linear_pullback(x, weight, bias, std::move(d_linear), d_x, d_weight, d_bias);
}

}  // namespace clad::custom_derivatives::cladtorch
