#include "ops/softmax/softmax_math.h"

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/common/rows.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch {

Tensor softmax(const Tensor& x) {
  require(x.defined() && x.dim() >= 1, "softmax: expected rank 1 or more, got shape ", x.shape());
  detail::count_op();
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const int64_t n = detail::row_length(x);
  detail::dispatch_floating("softmax", x.dtype(), [&]<class T>(T) {
    const T* in = dense.data<T>();
    T* out = y.data<T>();
    parallel_for(detail::row_count(x), detail::row_grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        if constexpr (std::is_same_v<T, float>) {
          simd::kernels().softmax_row(n, in + row * n, out + row * n);
        } else {
          detail::softmax_row(n, in + row * n, out + row * n);
        }
      }
    });
  });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;
namespace simd = ::cladtorch::simd;

Tensor softmax_reverse_forw(const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::softmax(x);
}

void softmax_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state) {
  if (!d_y.defined() || !d_x) return;
  const Tensor& y = state.data.y;
  const Tensor d = d_y.contiguous();
  const GradientTarget target = accumulate_into(d_x, y.shape(), y.dtype());
  const int64_t n = detail::row_length(y);
  detail::dispatch_floating("softmax", y.dtype(), [&]<class T>(T) {
    const T *out = y.data<T>(), *d_out = d.data<T>();
    T* d_in = target.data<T>();
    parallel_for(detail::row_count(y), detail::row_grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        if constexpr (std::is_same_v<T, float>) {
          simd::kernels().softmax_pullback_row(n, out + row * n, d_out + row * n, d_in + row * n,
                                               target.add());
        } else {
          detail::softmax_pullback_row(n, out + row * n, d_out + row * n, d_in + row * n, target.add());
        }
      }
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
