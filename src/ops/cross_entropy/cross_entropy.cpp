// Per row: loss = log_sum_exp(x) - x[target], d_x = (softmax(x) - onehot(target)) / rows counted. The
// probabilities are recomputed in the pullback from the log-sum-exp: one number per row is kept instead of a
// row.
#include <algorithm>
#include <cmath>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/loss.h"
#include "ops/common/one_device.h"
#include "ops/common/rows.h"
#include "ops/common/target.h"
#include "ops/cross_entropy/losses_on_device.h"
#include "ops/cross_entropy/targets.h"
#include "ops/softmax/softmax_math.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

/// Throws Error if shapes, dtypes or devices do not fit.
void check(const Tensor& logits, const Tensor& targets) {
  require(logits.defined() && targets.defined(), "cross_entropy: logits or targets are undefined");
  require(logits.dim() >= 1 && logits.shape().without(logits.dim() - 1) == targets.shape(),
          "cross_entropy: expected logits [..., V] and targets [...]: logits is ", logits.shape(),
          ", targets is ", targets.shape());
  detail::check_one_device("cross_entropy", logits, targets);
}

Tensor forward_on_device(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                         CrossEntropyState& state) {
  detail::count_op();
  const Shape rows{detail::row_count(logits)};
  const auto empty = [&](const Shape& shape) {
    return Tensor::empty(shape, detail::computed_in(logits.dtype()), logits.device());
  };
  Tensor losses = empty(rows), mean = empty({});
  state.log_sum_exp = empty(rows);
  state.share = empty({});
  detail::cross_entropy_on_device(logits.contiguous(), targets.contiguous(), ignore_index, state.log_sum_exp,
                                  losses, mean, state.share);
  mean.set_frozen(logits.is_frozen());
  return mean;
}

Tensor forward(const Tensor& logits, const Tensor& given, int64_t ignore_index, CrossEntropyState& state) {
  check(logits, given);
  const Tensor targets = detail::as_int32("cross_entropy", "targets", given);
  if (logits.is_cuda()) return forward_on_device(logits, targets, ignore_index, state);
  state.counted = detail::count_targets("cross_entropy", targets, logits.size(-1), ignore_index);
  detail::count_op();
  const Tensor dense = logits.contiguous(), picked = targets.contiguous();
  const int64_t rows = detail::row_count(logits), n = detail::row_length(logits);
  const DType dtype = detail::computed_in(logits.dtype());
  state.log_sum_exp = Tensor::empty({rows}, dtype);
  double total = 0;
  detail::dispatch_real("cross_entropy", logits.dtype(), [&]<class T>(T) {
    const T* const x = dense.data<T>();
    const int32_t* const target = picked.data<int32_t>();
    auto* const lse = state.log_sum_exp.data<detail::Computed<T>>();
    detail::for_each_row<T>(rows, n, 1, [&](int64_t row, const auto& memory) {
      if (target[row] == ignore_index) {
        lse[row] = 0;
        return;
      }
      const auto* const scores = detail::readable(n, x + row * n, memory[0]);
      if constexpr (std::is_same_v<T, double>) {
        lse[row] = detail::log_sum_exp(n, scores);
      } else {
        lse[row] = simd::kernels().log_sum_exp(n, scores);
      }
    });
    for (int64_t row = 0; row < rows; ++row) {
      if (target[row] != ignore_index)
        total += static_cast<double>(lse[row]) - detail::convert<double>(x[row * n + target[row]]);
    }
  });
  Tensor y = Tensor::empty({}, dtype);
  y.set_frozen(logits.is_frozen());
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
namespace simd = ::cladtorch::simd;

Tensor cross_entropy_reverse_forw(const Tensor& logits, const Tensor& targets, int64_t ignore_index,
                                  pullback_state<CrossEntropyState>& state) {
  return ::cladtorch::forward(logits, targets, ignore_index, state.data);
}

void cross_entropy_pullback(const Tensor& logits, const Tensor& targets, int64_t ignore_index, Tensor d_y,
                            Tensor* d_logits, Tensor*, pullback_state<CrossEntropyState>& state) {
  d_logits = wanted(d_logits, logits);
  if (!d_y.defined() || !d_logits) return;
  const Tensor dense = logits.contiguous(),
               picked = detail::as_int32("cross_entropy", "targets", targets).contiguous();
  if (logits.is_cuda()) {
    detail::cross_entropy_pullback_on_device(
        dense, picked, ignore_index, state.data.log_sum_exp, state.data.share, d_y,
        accumulate_into(d_logits, logits.shape(), logits.dtype(), logits.device()));
    return;
  }
  const int64_t rows = detail::row_count(logits), n = detail::row_length(logits);
  const double weight = d_y.item() / static_cast<double>(std::max<int64_t>(1, state.data.counted));
  detail::dispatch_real("cross_entropy", logits.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T* const x = dense.data<T>();
    const C* const lse = state.data.log_sum_exp.template data<C>();
    const int32_t* const index = picked.data<int32_t>();
    const auto factor = static_cast<C>(weight);
    detail::contribute<T>(d_logits, logits.shape(), [&](detail::Target<T> d_x) {
      detail::for_each_row<T>(rows, n, 2, [&](int64_t row, const auto& memory) {
        T* const out = d_x.data + row * n;
        if (index[row] == ignore_index) {
          if (!d_x.add) std::fill(out, out + n, T{});
          return;
        }
        const C* const in = detail::readable(n, x + row * n, memory[0]);
        const detail::Written<T> to(n, out, d_x.add, memory[1]);
        if constexpr (std::is_same_v<T, double>) {
          for (int64_t i = 0; i < n; ++i)
            to.data()[i] = (d_x.add ? to.data()[i] : C(0)) + factor * std::exp(in[i] - lse[row]);
        } else {
          simd::kernels().scaled_exp(n, in, lse[row], factor, to.data(), d_x.add);
        }
        to.data()[index[row]] -= factor;
      });
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
