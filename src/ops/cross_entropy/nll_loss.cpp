#include <algorithm>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/loss.h"
#include "ops/common/one_device.h"
#include "ops/common/rows.h"
#include "ops/common/target.h"
#include "ops/cross_entropy/losses_on_device.h"
#include "ops/cross_entropy/targets.h"
#include "tensor/dispatch.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

/// Throws Error if shapes, dtypes or devices do not fit.
void check(const Tensor& x, const Tensor& targets) {
  require(x.defined() && targets.defined(), "nll_loss: log_probabilities or targets are undefined");
  require(x.dim() >= 1 && x.shape().without(x.dim() - 1) == targets.shape(),
          "nll_loss: expected log_probabilities [..., V] and targets [...]: log_probabilities is ", x.shape(),
          ", targets is ", targets.shape());
  detail::check_one_device("nll_loss", x, targets);
}

Tensor forward_on_device(const Tensor& x, const Tensor& targets, int64_t ignore_index) {
  detail::count_op();
  const auto empty = [&](const Shape& shape) {
    return Tensor::empty(shape, detail::computed_in(x.dtype()), x.device());
  };
  Tensor losses = empty({detail::row_count(x)}), mean = empty({}), share = empty({});
  detail::nll_loss_on_device(x.contiguous(), targets.contiguous(), ignore_index, losses, mean, share);
  mean.set_frozen(x.is_frozen());
  return mean;
}

}  // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& given, int64_t ignore_index) {
  check(log_probabilities, given);
  const Tensor targets = detail::as_int32("nll_loss", "targets", given);
  if (log_probabilities.is_cuda()) return forward_on_device(log_probabilities, targets, ignore_index);
  const int64_t counted =
      detail::count_targets("nll_loss", targets, log_probabilities.size(-1), ignore_index);
  detail::count_op();
  const Tensor dense = log_probabilities.contiguous(), picked = targets.contiguous();
  const int64_t rows = detail::row_count(dense), n = detail::row_length(dense);
  const auto* const target = picked.data<int32_t>();
  double total = 0;
  detail::dispatch_real("nll_loss", dense.dtype(), [&]<class T>(T) {
    const T* const x = dense.data<T>();
    for (int64_t row = 0; row < rows; ++row)
      if (target[row] != ignore_index) total -= detail::convert<double>(x[row * n + target[row]]);
  });
  Tensor y = Tensor::empty({}, detail::computed_in(dense.dtype()));
  y.set_frozen(log_probabilities.is_frozen());
  y.fill_(counted == 0 ? 0 : total / static_cast<double>(counted));
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void nll_loss_pullback(const Tensor& log_probabilities, const Tensor& targets, int64_t ignore_index,
                       Tensor d_y, Tensor* d_log_probabilities, Tensor*) {
  Tensor* const d_x = wanted(d_log_probabilities, log_probabilities);
  if (!d_y.defined() || !d_x) return;
  const Tensor picked = detail::as_int32("nll_loss", "targets", targets).contiguous();
  if (log_probabilities.is_cuda()) {
    const Tensor& x = log_probabilities;
    Tensor share = Tensor::empty({}, detail::computed_in(x.dtype()), x.device());
    detail::nll_loss_pullback_on_device(x.dtype(), x.size(-1), picked, ignore_index, d_y, share,
                                        accumulate_into(d_x, x.shape(), x.dtype(), x.device()));
    return;
  }
  const int64_t rows = detail::row_count(log_probabilities), n = detail::row_length(log_probabilities);
  const auto* const target = picked.data<int32_t>();
  const int64_t counted = rows - std::count(target, target + rows, ignore_index);
  const double share = d_y.item() / static_cast<double>(std::max<int64_t>(1, counted));
  detail::dispatch_real("nll_loss", log_probabilities.dtype(), [&]<class T>(T) {
    detail::contribute<T>(d_x, log_probabilities.shape(), [&](detail::Target<T> to) {
      if (!to.add) std::fill_n(to.data, rows * n, T{});
      for (int64_t row = 0; row < rows; ++row) {
        if (target[row] == ignore_index) continue;
        T& d = to.data[row * n + target[row]];
        d = detail::convert<T>(detail::convert<double>(d) - share);
      }
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
