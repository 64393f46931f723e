#include "cladtorch/ops/count.h"
#include "cladtorch/ops/normalization.h"
#include "ops/common/one_device.h"
#include "ops/common/rows.h"
#include "ops/layer_norm/layer_norm_kernel.h"
#include "ops/layer_norm/norm_on_device.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require(x.defined() && weight.defined(), "layer_norm: x or weight is undefined");
  require(x.dim() >= 1 && weight.shape() == Shape{x.size(-1)} &&
              (!bias.defined() || bias.shape() == weight.shape()),
          "layer_norm: expected x [..., C], weight and bias [C]: x is ", x.shape(), ", weight is ",
          weight.shape(), ", bias is ", bias.shape());
  require(weight.dtype() == x.dtype() && (!bias.defined() || bias.dtype() == x.dtype()),
          "layer_norm: dtypes differ: x is ", x.dtype(), ", weight is ", weight.dtype());
  detail::check_one_device("layer_norm", x, weight, bias);
}

Tensor forward(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
               LayerNormState* state) {
  check(x, weight, bias);
  detail::count_op();
  const DType computed = detail::computed_in(x.dtype());
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
  y.set_frozen(all_frozen(x, weight, bias));
  const int64_t n = detail::row_length(x), rows = detail::row_count(x);
  if (state)
    *state = {Tensor::empty({rows}, computed, x.device()), Tensor::empty({rows}, computed, x.device())};
  if (x.is_cuda()) {
    const LayerNormState kept = state ? *state : LayerNormState{};
    detail::norm_on_device({.x = dense,
                            .weight = weight.contiguous(),
                            .bias = bias.contiguous(),
                            .epsilon = epsilon,
                            .y = y,
                            .mean = kept.mean,
                            .rstd = kept.rstd});
    return y;
  }
  const Tensor w = weight.to(computed).contiguous(), b = bias.to(computed).contiguous();
  detail::dispatch_real("layer_norm", x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::layer_norm<T>(rows, n, dense.data<T>(), w.data<C>(), b.defined() ? b.data<C>() : nullptr, epsilon,
                          y.data<T>(), state ? state->mean.data<C>() : nullptr,
                          state ? state->rstd.data<C>() : nullptr);
  });
  return y;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  return forward(x, weight, bias, epsilon, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor layer_norm_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                               pullback_state<LayerNormState>& state) {
  return ::cladtorch::forward(x, weight, bias, epsilon, &state.data);
}

void layer_norm_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, double, Tensor d_y,
                         Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_epsilon,
                         pullback_state<LayerNormState>& state) {
  d_x = wanted(d_x, x);
  d_weight = wanted(d_weight, weight);
  d_bias = bias.defined() ? wanted(d_bias, bias) : nullptr;
  if (!d_y.defined()) return;
  if (x.is_cuda()) {
    detail::pull_norm_on_device({.x = x.contiguous(),
                                 .weight = weight.contiguous(),
                                 .mean = state.data.mean,
                                 .rstd = state.data.rstd,
                                 .d_y = d_y.contiguous()},
                                d_x, d_weight, d_bias, d_epsilon);
    return;
  }
  const DType computed = detail::computed_in(x.dtype());
  const Tensor dense = x.contiguous(), w = weight.to(computed).contiguous(), d = d_y.contiguous();
  const int64_t n = detail::row_length(x), rows = detail::row_count(x);
  Tensor work = Tensor::empty({detail::layer_norm_pullback_work(rows, n)}, computed);
  detail::dispatch_real("layer_norm", x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::contribute<T>(d_x, x.shape(), [&](auto to_x) {
      detail::contribute_sum<T>(d_weight, weight.shape(), [&](auto to_weight) {
        detail::contribute_sum<T>(d_bias, bias.shape(), [&](auto to_bias) {
          detail::layer_norm_pullback<T>(rows, n, dense.data<T>(), w.data<C>(), state.data.mean.data<C>(),
                                         state.data.rstd.data<C>(), d.data<T>(), to_x, to_weight, to_bias,
                                         d_epsilon, work.data<C>());
        });
      });
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
