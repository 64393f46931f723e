// layer_norm, rms_norm and both of a sum: one front end and one pullback.
#include <optional>

#include "cladtorch/ops/fused.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/rows.h"
#include "ops/norm/norm_kernel.h"
#include "ops/norm/norm_on_device.h"

namespace cladtorch {
namespace {

using detail::Call;
using detail::Operand;

/// Throws Error unless weight and bias fit what is normalized, `x`, which the error calls `name`.
void check_shapes(const Call& call, const char* name, const Shape& x, const Tensor& weight,
                  const Tensor& bias) {
  require(x.rank() >= 1 && weight.shape() == Shape{x.back()}, call.operation(), ": expected ", name,
          " [..., C] and weight [C]: ", name, " is ", x, ", weight is ", weight.shape());
  require(!bias.defined() || bias.shape() == weight.shape(), call.operation(), ": weight is ", weight.shape(),
          ", but bias is ", bias.shape());
}

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

/// x, dense, as an operand of a sum of this shape; without the view where that is its own.
Tensor dense_operand(const Tensor& x, const Shape& shape) {
  return x.shape() == shape ? x.contiguous() : x.expand(shape).contiguous();
}

/// The normalization of dense x, or of x + added, which is left in *sum. Results that are null are left out.
Tensor normalize(const Call& call, bool centered, const Tensor& x, const Tensor& added, const Tensor& weight,
                 const Tensor& bias, double epsilon, Tensor* sum, Tensor* mean, Tensor* rstd) {
  const int64_t n = detail::row_length(x), rows = detail::row_count(x);
  Tensor y = call.result(x.shape());
  if (mean) *mean = call.sums({rows});
  if (rstd) *rstd = call.sums({rows});
  const auto or_none = [](const Tensor* result) { return result ? *result : Tensor(); };
  const auto on_device = [&] {
    detail::norm_on_device({.x = x,
                            .added = added,
                            .sum = or_none(sum),
                            .weight = weight.contiguous(),
                            .bias = bias.contiguous(),
                            .epsilon = epsilon,
                            .centered = centered,
                            .y = y,
                            .mean = or_none(mean),
                            .rstd = or_none(rstd)});
  };
  detail::run_where(call.operation(), x, on_device, [&]<class T>(T) {
    using C = detail::Computed<T>;
    const DType computed = detail::computed_in(x.dtype());
    const Tensor w = weight.to(computed).contiguous(),
                 b = bias.defined() ? bias.to(computed).contiguous() : Tensor();
    detail::normalize<T>({.rows = rows,
                          .n = n,
                          .x = x.data<T>(),
                          .added = data_or_null<T>(added),
                          .sum = sum ? sum->data<T>() : nullptr,
                          .weight = w.data<C>(),
                          .bias = data_or_null<C>(b),
                          .epsilon = epsilon,
                          .centered = centered,
                          .y = y.data<T>(),
                          .mean = mean ? mean->data<C>() : nullptr,
                          .rstd = rstd ? rstd->data<C>() : nullptr});
  });
  return y;
}

Tensor forward(const char* operation, bool centered, const Tensor& x, const Tensor& weight,
               const Tensor& bias, double epsilon, Tensor* mean, Tensor* rstd) {
  const Call call(operation, {{"x", x}, {"weight", weight}, {"bias", bias, Operand::optional}});
  check_shapes(call, "x", x.shape(), weight, bias);
  return normalize(call, centered, x.contiguous(), Tensor(), weight, bias, epsilon, nullptr, mean, rstd);
}

NormalizedSum forward(const char* operation, bool centered, const Tensor& a, const Tensor& b,
                      const Tensor& weight, const Tensor& bias, double epsilon, Tensor* mean, Tensor* rstd) {
  const Call call(operation, {{"a", a}, {"b", b}, {"weight", weight}, {"bias", bias, Operand::optional}});
  const Shape shape = broadcast_shapes(operation, a.shape(), b.shape());
  check_shapes(call, "a + b", shape, weight, bias);
  NormalizedSum y{call.empty(shape), Tensor()};
  y.sum.set_frozen(all_frozen(a, b));
  y.normalized = normalize(call, centered, dense_operand(a, shape), dense_operand(b, shape), weight, bias,
                           epsilon, &y.sum, mean, rstd);
  return y;
}

/// Without a mean that of RMS normalization.
void pull(const char* operation, const Tensor& x, const Tensor& weight, const Tensor& bias,
          const Tensor& mean, const Tensor& rstd, const Tensor& d_y, Tensor* d_x, Tensor* d_weight,
          Tensor* d_bias, double* d_epsilon) {
  d_x = wanted(d_x, x);
  d_weight = wanted(d_weight, weight);
  d_bias = bias.defined() ? wanted(d_bias, bias) : nullptr;
  detail::refuse_lost(operation, d_epsilon, d_y, all_frozen(x, weight, bias));
  if (!d_y.defined()) return;
  const Tensor dense = x.contiguous(), d = d_y.contiguous();
  const auto on_device = [&] {
    detail::pull_norm_on_device(
        {.x = dense, .weight = weight.contiguous(), .mean = mean, .rstd = rstd, .d_y = d}, d_x, d_weight,
        d_bias, d_epsilon);
  };
  detail::run_where(operation, x, on_device, [&]<class T>(T) {
    using C = detail::Computed<T>;
    const DType computed = detail::computed_in(x.dtype());
    const Tensor w = weight.to(computed).contiguous();
    const int64_t n = detail::row_length(x), rows = detail::row_count(x);
    Tensor work = Tensor::empty({detail::norm_pullback_work(rows, n)}, computed);
    detail::contribute<T>(d_x, x.shape(), [&](auto to_x) {
      detail::contribute_sum<T>(d_weight, weight.shape(), [&](auto to_weight) {
        detail::contribute_sum<T>(d_bias, weight.shape(), [&](auto to_bias) {
          detail::norm_pullback<T>(rows, n, dense.data<T>(), w.data<C>(), data_or_null<C>(mean),
                                   rstd.data<C>(), d.data<T>(), to_x, to_weight, to_bias, d_epsilon,
                                   work.data<C>());
        });
      });
    });
  });
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  CLADTORCH_RECORD_STATE(LayerNormState, layer_norm, x, weight, bias, epsilon);
  return forward("layer_norm", true, x, weight, bias, epsilon, nullptr, nullptr);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  CLADTORCH_RECORD_STATE(RMSNormState, rms_norm, x, weight, epsilon);
  return forward("rms_norm", false, x, weight, Tensor(), epsilon, nullptr, nullptr);
}

NormalizedSum add_layer_norm(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias,
                             double epsilon) {
  CLADTORCH_RECORD_STATE(AddLayerNormState, add_layer_norm, unread(a), unread(b), weight, bias, epsilon);
  return forward("add_layer_norm", true, a, b, weight, bias, epsilon, nullptr, nullptr);
}

NormalizedSum add_rms_norm(const Tensor& a, const Tensor& b, const Tensor& weight, double epsilon) {
  CLADTORCH_RECORD_STATE(AddRMSNormState, add_rms_norm, unread(a), unread(b), weight, epsilon);
  return forward("add_rms_norm", false, a, b, weight, Tensor(), epsilon, nullptr, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::BroadcastState;
using ::cladtorch::forward;
using ::cladtorch::pull;

Tensor layer_norm_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                               pullback_state<LayerNormState>& state) {
  return forward("layer_norm", true, x, weight, bias, epsilon, &state.data.mean, &state.data.rstd);
}
void layer_norm_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, double, Tensor d_y,
                         Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_epsilon,
                         pullback_state<LayerNormState>& state) {
  pull("layer_norm", x, weight, bias, state.data.mean, state.data.rstd, d_y, d_x, d_weight, d_bias,
       d_epsilon);
}

Tensor rms_norm_reverse_forw(const Tensor& x, const Tensor& weight, double epsilon,
                             pullback_state<RMSNormState>& state) {
  return forward("rms_norm", false, x, weight, Tensor(), epsilon, nullptr, &state.data.rstd);
}
void rms_norm_pullback(const Tensor& x, const Tensor& weight, double, Tensor d_y, Tensor* d_x,
                       Tensor* d_weight, double* d_epsilon, pullback_state<RMSNormState>& state) {
  pull("rms_norm", x, weight, Tensor(), Tensor(), state.data.rstd, d_y, d_x, d_weight, nullptr, d_epsilon);
}

namespace {

/// What the pullback of a sum needs besides the statistics.
template <class State>
NormalizedSum kept(State& state, const Tensor& a, const Tensor& b, NormalizedSum y) {
  state.sum = y.sum;
  state.operands = {a.shape(), b.shape(), a.is_frozen(), b.is_frozen()};
  return y;
}

void pull_operands(const BroadcastState& operands, Tensor d_sum, Tensor* d_a, Tensor* d_b) {
  pullback_state<BroadcastState> state{operands};
  add_pullback(Tensor(), Tensor(), std::move(d_sum), d_a, d_b, state);
}

}  // namespace

NormalizedSum add_layer_norm_reverse_forw(const Tensor& a, const Tensor& b, const Tensor& weight,
                                          const Tensor& bias, double epsilon,
                                          pullback_state<AddLayerNormState>& state) {
  auto& rows = state.data.rows;
  return kept(state.data, a, b,
              forward("add_layer_norm", true, a, b, weight, bias, epsilon, &rows.mean, &rows.rstd));
}
void add_layer_norm_pullback(const Tensor&, const Tensor&, const Tensor& weight, const Tensor& bias, double,
                             NormalizedSum d_y, Tensor* d_a, Tensor* d_b, Tensor* d_weight, Tensor* d_bias,
                             double* d_epsilon, pullback_state<AddLayerNormState>& state) {
  const auto& [sum, operands, rows] = state.data;
  pull("add_layer_norm", sum, weight, bias, rows.mean, rows.rstd, d_y.normalized, &d_y.sum, d_weight, d_bias,
       d_epsilon);
  pull_operands(operands, std::move(d_y.sum), d_a, d_b);
}

NormalizedSum add_rms_norm_reverse_forw(const Tensor& a, const Tensor& b, const Tensor& weight,
                                        double epsilon, pullback_state<AddRMSNormState>& state) {
  return kept(
      state.data, a, b,
      forward("add_rms_norm", false, a, b, weight, Tensor(), epsilon, nullptr, &state.data.rows.rstd));
}
void add_rms_norm_pullback(const Tensor&, const Tensor&, const Tensor& weight, double, NormalizedSum d_y,
                           Tensor* d_a, Tensor* d_b, Tensor* d_weight, double* d_epsilon,
                           pullback_state<AddRMSNormState>& state) {
  const auto& [sum, operands, rows] = state.data;
  pull("add_rms_norm", sum, weight, Tensor(), Tensor(), rows.rstd, d_y.normalized, &d_y.sum, d_weight,
       nullptr, d_epsilon);
  pull_operands(operands, std::move(d_y.sum), d_a, d_b);
}

}  // namespace clad::custom_derivatives::cladtorch
