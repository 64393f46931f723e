#include <cmath>

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/count.h"
#include "ops/common/elementwise.h"
#include "ops/gelu_tanh/gelu_tanh_math.h"
#include "simd/kernels.h"

namespace cladtorch {
namespace {

struct ScalarExp {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
  template <class T>
  static T reciprocal_of(T x) {
    return 1 / x;
  }
};

}  // namespace

Tensor gelu_tanh(const Tensor& x) {
  require(x.defined(), "gelu_tanh: the tensor is undefined");
  detail::count_op();
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  detail::dispatch_floating("gelu_tanh", x.dtype(), [&]<class T>(T) {
    const T* in = dense.data<T>();
    T* out = y.data<T>();
    if constexpr (std::is_same_v<T, float>) {
      parallel_for(x.numel(), detail::pointwise_grain, [&](int64_t begin, int64_t end) {
        simd::kernels().gelu_tanh(end - begin, in + begin, out + begin);
      });
    } else {
      detail::map(x.numel(), in, out, [](T v) { return gelu_tanh_value<T>(v, ScalarExp{}); });
    }
  });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void gelu_tanh_pullback(const Tensor& x, Tensor d_y, Tensor* d_x) {
  if (!d_y.defined() || !d_x) return;
  const Tensor dense = x.contiguous(), d = d_y.contiguous();
  const GradientTarget target = accumulate_into(d_x, x.shape(), x.dtype());
  detail::dispatch_floating("gelu_tanh", x.dtype(), [&]<class T>(T) {
    const T *in = dense.data<T>(), *d_in = d.data<T>();
    T* out = target.data<T>();
    if constexpr (std::is_same_v<T, float>) {
      parallel_for(x.numel(), detail::pointwise_grain, [&](int64_t begin, int64_t end) {
        simd::kernels().gelu_tanh_pullback(end - begin, in + begin, d_in + begin, out + begin, target.add());
      });
    } else {
      detail::map2(x.numel(), in, d_in, out, target.add(),
                   [](T v, T dv) { return dv * gelu_tanh_derivative<T>(v, ScalarExp{}); });
    }
  });
}

}  // namespace clad::custom_derivatives::cladtorch
