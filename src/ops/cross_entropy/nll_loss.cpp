#include <algorithm>

#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/rows.h"
#include "ops/cross_entropy/losses_on_device.h"
#include "ops/cross_entropy/targets.h"
#include "tensor/indices.h"

namespace cladtorch {

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& given, int64_t ignore_index) {
  CLADTORCH_RECORD(nll_loss, log_probabilities, given, ignore_index);
  const detail::Call call("nll_loss", {{"log_probabilities", log_probabilities},
                                       {"targets", given, detail::Operand::independent}});
  require(log_probabilities.dim() >= 1 &&
              log_probabilities.shape().without(log_probabilities.dim() - 1) == given.shape(),
          "nll_loss: expected log_probabilities [..., V] and targets [...]: log_probabilities is ",
          log_probabilities.shape(), ", targets is ", given.shape());
  const Tensor targets = detail::as_int32("nll_loss", "targets", given).contiguous(),
               dense = log_probabilities.contiguous();
  const int64_t rows = detail::row_count(dense), n = detail::row_length(dense);
  Tensor mean = call.result({}, detail::computed_in(dense.dtype()));
  const auto on_device = [&] {
    Tensor losses = call.sums({rows}), share = call.sums({});
    detail::nll_loss_on_device(dense, targets, ignore_index, losses, mean, share);
  };
  detail::run_where("nll_loss", dense, on_device, [&]<class T>(T) {
    const int64_t counted = detail::count_targets("nll_loss", targets, n, ignore_index);
    const T* const x = dense.data<T>();
    const auto* const target = targets.data<int32_t>();
    double total = 0;
    for (int64_t row = 0; row < rows; ++row)
      if (target[row] != ignore_index) total -= detail::convert<double>(x[row * n + target[row]]);
    mean.fill_(counted == 0 ? 0 : total / static_cast<double>(counted));
  });
  return mean;
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
  const Tensor& x = log_probabilities;
  const int64_t rows = detail::row_count(x), n = detail::row_length(x);
  const auto on_device = [&](const GradientTarget& to) {
    Tensor share = Tensor::empty({}, detail::computed_in(x.dtype()), x.device());
    detail::nll_loss_pullback_on_device(x.dtype(), n, picked, ignore_index, d_y, share, to);
  };
  detail::add_gradient("nll_loss", d_x, x, on_device, [&]<class T>(detail::Target<T> to) {
    const auto* const target = picked.data<int32_t>();
    const int64_t counted = rows - std::count(target, target + rows, ignore_index);
    const double share = d_y.item() / static_cast<double>(std::max<int64_t>(1, counted));
    if (!to.add) std::fill_n(to.data, rows * n, T{});
    for (int64_t row = 0; row < rows; ++row) {
      if (target[row] == ignore_index) continue;
      T& d = to.data[row * n + target[row]];
      d = detail::convert<T>(detail::convert<double>(d) - share);
    }
  });
}

}  // namespace clad::custom_derivatives::cladtorch
