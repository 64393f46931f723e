#include "cladtorch/ops/count.h"
#include "cladtorch/ops/fused.h"
#include "ops/fused/add_norm.h"
#include "ops/layer_norm/norm_on_device.h"
#include "ops/rms_norm/rms_norm_kernel.h"

namespace cladtorch {
namespace {

NormalizedSum forward(const Tensor& a, const Tensor& b, const Tensor& weight, double epsilon,
                      RMSNormState* state) {
  const Shape shape = detail::check_add_norm("add_rms_norm", a, b, weight, Tensor());
  detail::count_op();
  const DType computed = detail::computed_in(a.dtype());
  const Tensor x = detail::dense_operand(a, shape), z = detail::dense_operand(b, shape);
  NormalizedSum y = detail::add_norm_result(shape, a, b, weight, Tensor());
  const int64_t n = shape.back(), rows = detail::row_count(y.sum);
  if (state) state->rstd = Tensor::empty({rows}, computed, a.device());
  if (a.is_cuda()) {
    detail::norm_on_device({.x = x,
                            .added = z,
                            .sum = y.sum,
                            .weight = weight.contiguous(),
                            .epsilon = epsilon,
                            .centered = false,
                            .y = y.normalized,
                            .rstd = state ? state->rstd : Tensor()});
    return y;
  }
  const Tensor w = weight.to(computed).contiguous();
  detail::dispatch_real("add_rms_norm", a.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::add_rms_norm<T>(rows, n, x.data<T>(), z.data<T>(), w.data<C>(), epsilon, y.sum.data<T>(),
                            y.normalized.data<T>(), state ? state->rstd.data<C>() : nullptr);
  });
  return y;
}

}  // namespace

NormalizedSum add_rms_norm(const Tensor& a, const Tensor& b, const Tensor& weight, double epsilon) {
  return forward(a, b, weight, epsilon, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {

NormalizedSum add_rms_norm_reverse_forw(const Tensor& a, const Tensor& b, const Tensor& weight,
                                        double epsilon, pullback_state<AddRMSNormState>& state) {
  const NormalizedSum y = ::cladtorch::forward(a, b, weight, epsilon, &state.data.rows);
  state.data.sum = y.sum;
  state.data.operands = {a.shape(), b.shape(), a.is_frozen(), b.is_frozen()};
  return y;
}

void add_rms_norm_pullback(const Tensor&, const Tensor&, const Tensor& weight, double epsilon,
                           NormalizedSum d_y, Tensor* d_a, Tensor* d_b, Tensor* d_weight, double* d_epsilon,
                           pullback_state<AddRMSNormState>& state) {
  pullback_state<::cladtorch::RMSNormState> rows{state.data.rows};
  rms_norm_pullback(state.data.sum, weight, epsilon, std::move(d_y.normalized), &d_y.sum, d_weight, d_epsilon,
                    rows);
  pullback_state<::cladtorch::BroadcastState> operands{state.data.operands};
  add_pullback(Tensor(), Tensor(), std::move(d_y.sum), d_a, d_b, operands);
}

}  // namespace clad::custom_derivatives::cladtorch
