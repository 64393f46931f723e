// Per row: loss = log_sum_exp(x) - x[target], d_x = (softmax(x) - onehot(target)) / rows counted. The
// probabilities are recomputed in the pullback from the log-sum-exp: one number per row is kept instead of a
// row.
#include <algorithm>
#include <cmath>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/common/rows.h"
#include "ops/cross_entropy/targets.h"
#include "ops/softmax/softmax_math.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

/// Number of rows that count; throws Error if shapes or targets do not fit.
int64_t check(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  require(logits.defined() && targets.defined(), "cross_entropy: logits or targets are undefined");
  require(logits.dim() >= 1 && logits.shape().without(logits.dim() - 1) == targets.shape(),
          "cross_entropy: expected logits [..., V] and targets [...]: logits is ", logits.shape(),
          ", targets is ", targets.shape());
  return detail::count_targets("cross_entropy", targets, logits.size(-1), ignore_index);
}

Tensor forward(const Tensor& logits, const Tensor& targets, int64_t ignore_index, CrossEntropyState& state) {
  state.counted = check(logits, targets, ignore_index);
  detail::count_op();
  const Tensor dense = logits.contiguous(), picked = targets.contiguous();
  const int64_t rows = detail::row_count(logits), n = detail::row_length(logits);
  state.log_sum_exp = Tensor::empty({rows}, logits.dtype());
  double total = 0;
  detail::dispatch_floating("cross_entropy", logits.dtype(), [&]<class T>(T) {
    const T* const x = dense.data<T>();
    const int32_t* const target = picked.data<int32_t>();
    T* const lse = state.log_sum_exp.data<T>();
    parallel_for(rows, detail::row_grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        if (target[row] == ignore_index) {
          lse[row] = 0;
        } else if constexpr (std::is_same_v<T, float>) {
          lse[row] = simd::kernels().log_sum_exp(n, x + row * n);
        } else {
          lse[row] = detail::log_sum_exp(n, x + row * n);
        }
      }
    });
    for (int64_t row = 0; row < rows; ++row) {
      if (target[row] != ignore_index)
        total += static_cast<double>(lse[row]) - static_cast<double>(x[row * n + target[row]]);
    }
  });
  Tensor y = Tensor::empty({}, logits.dtype());
  y.fill_(state.counted == 0 ? 0 : total / static_cast<double>(state.counted));
  return y;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  CrossEntropyState state;
  return forward(logits, targets, ignore_index, state);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor cross_entropy_reverse_forw(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                                  pullback_state<CrossEntropyState>& state) {
  return ::cladtorch::forward(logits, targets, ignore_index, state.data);
}

void cross_entropy_pullback(const Tensor& logits, const Tensor& targets, int64_t ignore_index, Tensor d_y,
                            Tensor* d_logits, Tensor*, pullback_state<CrossEntropyState>& state) {
  if (!d_y.defined() || !d_logits) return;
  const Tensor dense = logits.contiguous(), picked = targets.contiguous();
  const GradientTarget target = accumulate_into(d_logits, logits.shape(), logits.dtype());
  const int64_t rows = detail::row_count(logits), n = detail::row_length(logits);
  const double weight = d_y.item() / static_cast<double>(std::max<int64_t>(1, state.data.counted));
  detail::dispatch_floating("cross_entropy", logits.dtype(), [&]<class T>(T) {
    const T *const x = dense.data<T>(), *const lse = state.data.log_sum_exp.template data<T>();
    const int32_t* const index = picked.data<int32_t>();
    T* const d_x = target.data<T>();
    const auto factor = static_cast<T>(weight);
    parallel_for(rows, detail::row_grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* const in = x + row * n;
        T* const out = d_x + row * n;
        if (index[row] == ignore_index) {
          if (!target.add()) std::fill(out, out + n, T(0));
          continue;
        }
        if constexpr (std::is_same_v<T, float>) {
          simd::kernels().scaled_exp(n, in, lse[row], factor, out, target.add());
        } else {
          for (int64_t i = 0; i < n; ++i)
            out[i] = (target.add() ? out[i] : T(0)) + factor * std::exp(in[i] - lse[row]);
        }
        out[index[row]] -= factor;
      }
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
