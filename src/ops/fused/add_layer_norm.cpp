#include "cladtorch/ops/count.h"
#include "cladtorch/ops/fused.h"
#include "ops/common/rows.h"
#include "ops/fused/add_norm.h"
#include "ops/layer_norm/layer_norm_kernel.h"
#include "ops/layer_norm/norm_on_device.h"

namespace cladtorch {
namespace {

NormalizedSum forward(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                      double epsilon, LayerNormState* state) {
  const Shape shape = detail::check_add_norm("add_layer_norm", a, b, weight, bias);
  detail::count_op();
  const DType computed = detail::computed_in(a.dtype());
  const Device device = a.device();
  const Tensor x = detail::dense_operand(a, shape), z = detail::dense_operand(b, shape);
  NormalizedSum y = detail::add_norm_result(shape, a, b, weight, bias);
  const int64_t n = shape.back(), rows = detail::row_count(y.sum);
  if (state) *state = {Tensor::empty({rows}, computed, device), Tensor::empty({rows}, computed, device)};
  if (a.is_cuda()) {
    const LayerNormState kept = state ? *state : LayerNormState{};
    detail::norm_on_device({.x = x,
                            .added = z,
                            .sum = y.sum,
                            .weight = weight.contiguous(),
                            .bias = bias.contiguous(),
                            .epsilon = epsilon,
                            .y = y.normalized,
                            .mean = kept.mean,
                            .rstd = kept.rstd});
    return y;
  }
  const Tensor w = weight.to(computed).contiguous(), c = bias.to(computed).contiguous();
  detail::dispatch_real("add_layer_norm", a.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::add_layer_norm<T>(rows, n, x.data<T>(), z.data<T>(), w.data<C>(),
                              c.defined() ? c.data<C>() : nullptr, epsilon, y.sum.data<T>(),
                              y.normalized.data<T>(), state ? state->mean.data<C>() : nullptr,
                              state ? state->rstd.data<C>() : nullptr);
  });
  return y;
}

}  // namespace

NormalizedSum add_layer_norm(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                             double epsilon) {
  return forward(a, b, weight, bias, epsilon, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {

NormalizedSum add_layer_norm_reverse_forw(const Tensor& a, const Tensor& b, const Tensor& weight,
                                          const Tensor& bias, double epsilon,
                                          pullback_state<AddLayerNormState>& state) {
  const NormalizedSum y = ::cladtorch::forward(a, b, weight, bias, epsilon, &state.data.rows);
  state.data.sum = y.sum;
  state.data.operands = {a.shape(), b.shape(), a.is_frozen(), b.is_frozen()};
  return y;
}

void add_layer_norm_pullback(const Tensor&, const Tensor&, const Tensor& weight, const Tensor& bias,
                             double epsilon, NormalizedSum d_y, Tensor* d_a, Tensor* d_b, Tensor* d_weight,
                             Tensor* d_bias, double* d_epsilon, pullback_state<AddLayerNormState>& state) {
  pullback_state<::cladtorch::LayerNormState> rows{state.data.rows};
  layer_norm_pullback(state.data.sum, weight, bias, epsilon, std::move(d_y.normalized), &d_y.sum, d_weight,
                      d_bias, d_epsilon, rows);
  pullback_state<::cladtorch::BroadcastState> operands{state.data.operands};
  add_pullback(Tensor(), Tensor(), std::move(d_y.sum), d_a, d_b, operands);
}

}  // namespace clad::custom_derivatives::cladtorch
