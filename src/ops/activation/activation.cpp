#include "cladtorch/ops/activation.h"

#include "cladtorch/ops/count.h"
#include "ops/activation/activation_math.h"
#include "ops/common/elementwise.h"
#include "ops/common/pointwise_on_device.h"

namespace cladtorch {
namespace {

template <class Math, class T>
void values(int64_t n, const T* x, T* y) {
  if constexpr (!std::is_same_v<T, double> && requires { Math::kernel(); }) {
    detail::pointwise(n, detail::Target<T>{y}, Math::kernel(), x);
  } else {
    detail::map(n, x, y, detail::ValueOf<Math>{});
  }
}

template <class Math>
Tensor activation(const Tensor& x) {
  require(x.defined(), Math::name, ": the tensor is undefined");
  detail::count_op();
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
  y.set_frozen(x.is_frozen());
  if (x.is_cuda()) {
    detail::map_on_device<detail::ValueOf<Math>>({}, dense, store_into(y));
    return y;
  }
  detail::dispatch_real(Math::name, x.dtype(),
                        [&]<class T>(T) { values<Math, T>(x.numel(), dense.data<T>(), y.data<T>()); });
  return y;
}

/// *d_x += d_y * derivative(at), elementwise; `at` is x or y.
template <class Math>
void activation_pullback(const Tensor& at, const Tensor& d_y, Tensor* d_x) {
  d_x = wanted(d_x, at);
  if (!d_y.defined() || !d_x) return;
  const Tensor dense = at.contiguous(), d = d_y.contiguous();
  if (at.is_cuda()) {
    detail::map2_on_device<detail::PullbackOf<Math>>(
        {}, dense, d, accumulate_into(d_x, at.shape(), at.dtype(), at.device()));
    return;
  }
  detail::dispatch_real(Math::name, at.dtype(), [&]<class T>(T) {
    detail::contribute<T>(d_x, at.shape(), [&](detail::Target<T> target) {
      detail::map2(at.numel(), dense.data<T>(), d.data<T>(), target, detail::PullbackOf<Math>{});
    });
  });
}

}  // namespace

Tensor relu(const Tensor& x) { return activation<detail::Relu>(x); }
Tensor tanh(const Tensor& x) { return activation<detail::Tanh>(x); }
Tensor sigmoid(const Tensor& x) { return activation<detail::Sigmoid>(x); }
Tensor exp(const Tensor& x) { return activation<detail::Exp>(x); }
Tensor log(const Tensor& x) { return activation<detail::Log>(x); }
Tensor sqrt(const Tensor& x) { return activation<detail::Sqrt>(x); }
Tensor rsqrt(const Tensor& x) { return activation<detail::Rsqrt>(x); }
Tensor erf(const Tensor& x) { return activation<detail::Erf>(x); }

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::activation_pullback;
namespace detail = ::cladtorch::detail;

void relu_pullback(const Tensor& x, Tensor d_y, Tensor* d_x) {
  activation_pullback<detail::Relu>(x, d_y, d_x);
}

Tensor tanh_reverse_forw(const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::tanh(x);
}
void tanh_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state) {
  activation_pullback<detail::Tanh>(state.data.y, d_y, d_x);
}

Tensor sigmoid_reverse_forw(const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::sigmoid(x);
}
void sigmoid_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state) {
  activation_pullback<detail::Sigmoid>(state.data.y, d_y, d_x);
}

void log_pullback(const Tensor& x, Tensor d_y, Tensor* d_x) { activation_pullback<detail::Log>(x, d_y, d_x); }

void erf_pullback(const Tensor& x, Tensor d_y, Tensor* d_x) { activation_pullback<detail::Erf>(x, d_y, d_x); }

Tensor exp_reverse_forw(const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::exp(x);
}
void exp_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state) {
  activation_pullback<detail::Exp>(state.data.y, d_y, d_x);
}

Tensor sqrt_reverse_forw(const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::sqrt(x);
}
void sqrt_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state) {
  activation_pullback<detail::Sqrt>(state.data.y, d_y, d_x);
}

Tensor rsqrt_reverse_forw(const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::rsqrt(x);
}
void rsqrt_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state) {
  activation_pullback<detail::Rsqrt>(state.data.y, d_y, d_x);
}

}  // namespace clad::custom_derivatives::cladtorch
