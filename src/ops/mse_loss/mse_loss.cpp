#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/mse_loss/mse_loss_on_device.h"

namespace cladtorch {

Tensor mse_loss(const Tensor& prediction, const Tensor& target) {
  CLADTORCH_RECORD(mse_loss, prediction, target);
  const detail::Call call("mse_loss", {{"prediction", prediction}, {"target", target}});
  require(prediction.shape() == target.shape() && prediction.numel() > 0,
          "mse_loss: expected equal, non-empty shapes: prediction is ", prediction.shape(), ", target is ",
          target.shape());
  const Tensor p = prediction.contiguous(), t = target.contiguous();
  Tensor y = call.result({}, detail::computed_in(p.dtype()));
  const auto on_device = [&] {
    Tensor sums = call.sums({detail::mse_loss_parts(p.numel())});
    detail::mse_loss_on_device(p, t, sums, y);
  };
  detail::run_where("mse_loss", p, on_device, [&]<class T>(T) {
    const T *const a = p.data<T>(), *const b = t.data<T>();
    double sum = 0;
    for (int64_t i = 0; i < p.numel(); ++i) {
      const double difference = detail::convert<double>(a[i]) - detail::convert<double>(b[i]);
      sum += difference * difference;
    }
    y.fill_(sum / static_cast<double>(p.numel()));
  });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void mse_loss_pullback(const Tensor& prediction, const Tensor& target, Tensor d_y, Tensor* d_prediction,
                       Tensor* d_target) {
  d_prediction = wanted(d_prediction, prediction);
  d_target = wanted(d_target, target);
  if (!d_y.defined()) return;
  const Tensor p = prediction.contiguous(), t = target.contiguous();
  const auto accumulate = [&](Tensor* d, double sign) {
    if (!d) return;
    const double factor = sign * 2 / static_cast<double>(p.numel());
    detail::add_gradient(
        "mse_loss", d, p,
        [&](const GradientTarget& to) { detail::mse_loss_pullback_on_device(p, t, factor, d_y, to); },
        [&]<class T>(detail::Target<T> to) {
          using C = detail::Computed<T>;
          const auto weight = static_cast<C>(sign * 2 * d_y.item() / static_cast<double>(p.numel()));
          detail::map2(p.numel(), p.data<T>(), t.data<T>(), to,
                       [weight](C a, C b) { return weight * (a - b); });
        });
  };
  accumulate(d_prediction, 1);
  accumulate(d_target, -1);
}

}  // namespace clad::custom_derivatives::cladtorch
