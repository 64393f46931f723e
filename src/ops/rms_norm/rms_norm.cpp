#include "cladtorch/ops/count.h"
#include "cladtorch/ops/normalization.h"
#include "ops/common/one_device.h"
#include "ops/layer_norm/layer_norm_kernel.h"
#include "ops/layer_norm/norm_on_device.h"
#include "ops/rms_norm/rms_norm_kernel.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

void check(const Tensor& x, const Tensor& weight) {
  require(x.defined() && weight.defined(), "rms_norm: x or weight is undefined");
  require(x.dim() >= 1 && weight.shape() == Shape{x.size(-1)},
          "rms_norm: expected x [..., C] and weight [C]: x is ", x.shape(), ", weight is ", weight.shape());
  require(weight.dtype() == x.dtype(), "rms_norm: dtypes differ: x is ", x.dtype(), ", weight is ",
          weight.dtype());
  detail::check_one_device("rms_norm", x, weight);
}

Tensor forward(const Tensor& x, const Tensor& weight, double epsilon, RMSNormState* state) {
  check(x, weight);
  detail::count_op();
  const DType computed = detail::computed_in(x.dtype());
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
  y.set_frozen(all_frozen(x, weight));
  const int64_t n = detail::row_length(x), rows = detail::row_count(x);
  if (state) state->rstd = Tensor::empty({rows}, computed, x.device());
  if (x.is_cuda()) {
    detail::norm_on_device({.x = dense,
                            .weight = weight.contiguous(),
                            .epsilon = epsilon,
                            .centered = false,
                            .y = y,
                            .rstd = state ? state->rstd : Tensor()});
    return y;
  }
  const Tensor w = weight.to(computed).contiguous();
  detail::dispatch_real("rms_norm", x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::rms_norm<T>(rows, n, dense.data<T>(), w.data<C>(), epsilon, y.data<T>(),
                        state ? state->rstd.data<C>() : nullptr);
  });
  return y;
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  return forward(x, weight, epsilon, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor rms_norm_reverse_forw(const Tensor& x, const Tensor& weight, double epsilon,
                             pullback_state<RMSNormState>& state) {
  return ::cladtorch::forward(x, weight, epsilon, &state.data);
}

void rms_norm_pullback(const Tensor& x, const Tensor& weight, double, Tensor d_y, Tensor* d_x,
                       Tensor* d_weight, double* d_epsilon, pullback_state<RMSNormState>& state) {
  d_x = wanted(d_x, x);
  d_weight = wanted(d_weight, weight);
  if (!d_y.defined()) return;
  if (x.is_cuda()) {
    detail::pull_norm_on_device({.x = x.contiguous(),
                                 .weight = weight.contiguous(),
                                 .rstd = state.data.rstd,
                                 .d_y = d_y.contiguous()},
                                d_x, d_weight, nullptr, d_epsilon);
    return;
  }
  const DType computed = detail::computed_in(x.dtype());
  const Tensor dense = x.contiguous(), w = weight.to(computed).contiguous(), d = d_y.contiguous();
  const int64_t n = detail::row_length(x), rows = detail::row_count(x);
  Tensor work = Tensor::empty({detail::layer_norm_pullback_work(rows, n)}, computed);
  detail::dispatch_real("rms_norm", x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::contribute<T>(d_x, x.shape(), [&](detail::Target<T> to_x) {
      detail::contribute_sum<T>(d_weight, weight.shape(), [&](detail::Target<C> to_weight) {
        detail::layer_norm_pullback<T>(rows, n, dense.data<T>(), w.data<C>(), nullptr,
                                       state.data.rstd.data<C>(), d.data<T>(), to_x, to_weight, {}, d_epsilon,
                                       work.data<C>());
      });
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
