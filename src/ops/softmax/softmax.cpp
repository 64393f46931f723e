#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/rows.h"
#include "ops/common/target.h"
#include "ops/softmax/softmax_math.h"
#include "ops/softmax/softmax_on_device.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

/// kernel(n, x, y) for every row of n, of which x and y are float or double; or softmax_on_device.
template <class Kernel>
Tensor map_rows(const char* operation, bool logarithm, const Tensor& x, const Kernel& kernel) {
  const detail::Call call(operation, {{"x", x}});
  require(x.dim() >= 1, operation, ": expected rank 1 or more, got shape ", x.shape());
  const Tensor dense = x.contiguous();
  const int64_t n = detail::row_length(x);
  return call.result(
      x.shape(), [&](const GradientTarget& y) { detail::softmax_on_device(dense, logarithm, y); },
      [&]<class T>(detail::Target<T> y) {
        const T* const in = dense.data<T>();
        detail::for_each_row<T>(detail::row_count(x), n, 2, [&](int64_t row, const auto& memory) {
          const auto* const from = detail::readable(n, in + row * n, memory[0]);
          const detail::Written<T> to(n, y.data + row * n, false, memory[1]);
          kernel(n, from, to.data());
        });
      });
}

/// kernel(n, y, d_y, d_x, add) for every row, where *d_x is wanted; or softmax_pullback_on_device.
template <class Kernel>
void pull_rows(const char* operation, bool logarithm, const Tensor& y, const Tensor& d_y, Tensor* d_x,
               const Kernel& kernel) {
  d_x = wanted(d_x, y);
  if (!d_y.defined() || !d_x) return;
  const Tensor d = d_y.contiguous();
  const int64_t n = detail::row_length(y);
  detail::add_gradient(
      operation, d_x, y,
      [&](const GradientTarget& to) { detail::softmax_pullback_on_device(y, logarithm, d, to); },
      [&]<class T>(detail::Target<T> target) {
        const T *const out = y.data<T>(), *const d_out = d.data<T>();
        detail::for_each_row<T>(detail::row_count(y), n, 3, [&](int64_t row, const auto& memory) {
          const auto* const at = detail::readable(n, out + row * n, memory[0]);
          const auto* const from = detail::readable(n, d_out + row * n, memory[1]);
          const detail::Written<T> to(n, target.data + row * n, target.add, memory[2]);
          kernel(n, at, from, to.data(), target.add);
        });
      });
}

}  // namespace

Tensor softmax(const Tensor& x) {
  CLADTORCH_RECORD_STATE(OutputState, softmax, unread(x));
  return map_rows("softmax", false, x, []<class C>(int64_t n, const C* from, C* to) {
    if constexpr (std::is_same_v<C, double>) {
      detail::softmax_row(n, from, to);
    } else {
      simd::kernels().softmax_row(n, from, to);
    }
  });
}

Tensor log_softmax(const Tensor& x) {
  CLADTORCH_RECORD_STATE(OutputState, log_softmax, unread(x));
  return map_rows("log_softmax", true, x, []<class C>(int64_t n, const C* from, C* to) {
    if constexpr (std::is_same_v<C, double>) {
      detail::log_softmax_row(n, from, detail::log_sum_exp(n, from), to);
    } else {
      detail::log_softmax_row(n, from, simd::kernels().log_sum_exp(n, from), to);
    }
  });
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
  const auto kernel = []<class C>(int64_t n, const C* y, const C* from, C* to, bool add) {
    if constexpr (std::is_same_v<C, double>) {
      detail::softmax_pullback_row(n, y, from, to, add);
    } else {
      simd::kernels().softmax_pullback_row(n, y, from, to, add);
    }
  };
  pull_rows("softmax", false, state.data.y, d_y, d_x, kernel);
}

Tensor log_softmax_reverse_forw(const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::log_softmax(x);
}

void log_softmax_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<OutputState>& state) {
  const auto kernel = []<class C>(int64_t n, const C* y, const C* from, C* to, bool add) {
    detail::log_softmax_pullback_row(n, y, from, to, add);
  };
  pull_rows("log_softmax", true, state.data.y, d_y, d_x, kernel);
}

}  // namespace clad::custom_derivatives::cladtorch
