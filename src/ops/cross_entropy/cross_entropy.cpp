// Per row: loss = log_sum_exp(x) - x[target], d_x = (softmax(x) - onehot(target)) / rows counted. The
// probabilities are recomputed in the pullback from the log-sum-exp: one number per row is kept instead of a
// row.
#include <algorithm>
#include <cmath>

#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/rows.h"
#include "ops/cross_entropy/losses_on_device.h"
#include "ops/cross_entropy/targets.h"
#include "ops/softmax/softmax_math.h"
#include "simd/kernels.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

Tensor forward(const Tensor& logits, const Tensor& given, int64_t ignore_index, CrossEntropyState& state) {
  const detail::Call call("cross_entropy",
                          {{"logits", logits}, {"targets", given, detail::Operand::independent}});
  require(logits.dim() >= 1 && logits.shape().without(logits.dim() - 1) == given.shape(),
          "cross_entropy: expected logits [..., V] and targets [...]: logits is ", logits.shape(),
          ", targets is ", given.shape());
  const Tensor targets = detail::as_int32("cross_entropy", "targets", given).contiguous(),
               dense = logits.contiguous();
  const int64_t rows = detail::row_count(logits), n = detail::row_length(logits);
  Tensor mean = call.result({}, detail::computed_in(logits.dtype()));
  state.log_sum_exp = call.sums({rows});
  const auto on_device = [&] {
    Tensor losses = call.sums({rows});
    state.share = call.sums({});
    detail::cross_entropy_on_device(dense, targets, ignore_index, state.log_sum_exp, losses, mean,
                                    state.share);
  };
  detail::run_where("cross_entropy", logits, on_device, [&]<class T>(T) {
    state.counted = detail::count_targets("cross_entropy", targets, n, ignore_index);
    const T* const x = dense.data<T>();
    const int32_t* const target = targets.data<int32_t>();
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
    double total = 0;
    for (int64_t row = 0; row < rows; ++row) {
      if (target[row] != ignore_index)
        total += static_cast<double>(lse[row]) - detail::convert<double>(x[row * n + target[row]]);
    }
    mean.fill_(state.counted == 0 ? 0 : total / static_cast<double>(state.counted));
  });
  return mean;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  CLADTORCH_RECORD_STATE(CrossEntropyState, cross_entropy, logits, targets, ignore_index);
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
  const int64_t rows = detail::row_count(logits), n = detail::row_length(logits);
  const CrossEntropyState& kept = state.data;
  const auto on_device = [&](const GradientTarget& to) {
    detail::cross_entropy_pullback_on_device(dense, picked, ignore_index, kept.log_sum_exp, kept.share, d_y,
                                             to);
  };
  detail::add_gradient("cross_entropy", d_logits, logits, on_device, [&]<class T>(detail::Target<T> d_x) {
    using C = detail::Computed<T>;
    const T* const x = dense.data<T>();
    const C* const lse = kept.log_sum_exp.data<C>();
    const int32_t* const index = picked.data<int32_t>();
    const auto factor = static_cast<C>(d_y.item() / static_cast<double>(std::max<int64_t>(1, kept.counted)));
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
}

}  // namespace clad::custom_derivatives::cladtorch
