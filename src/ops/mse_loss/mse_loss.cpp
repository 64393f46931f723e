#include "cladtorch/ops/count.h"
#include "cladtorch/ops/loss.h"
#include "ops/common/elementwise.h"
#include "ops/common/one_device.h"
#include "ops/mse_loss/mse_loss_on_device.h"

namespace cladtorch {

Tensor mse_loss(const Tensor& prediction, const Tensor& target) {
  detail::check_operands("mse_loss", prediction, target);
  require(prediction.shape() == target.shape() && prediction.numel() > 0,
          "mse_loss: expected equal, non-empty shapes: prediction is ", prediction.shape(), ", target is ",
          target.shape());
  detail::check_one_device("mse_loss", prediction, target);
  detail::count_op();
  const Tensor p = prediction.contiguous(), t = target.contiguous();
  const DType dtype = detail::computed_in(p.dtype());
  Tensor y = Tensor::empty({}, dtype, p.device());
  y.set_frozen(all_frozen(prediction, target));
  if (p.is_cuda()) {
    Tensor sums = Tensor::empty({detail::mse_loss_parts(p.numel())}, dtype, p.device());
    detail::mse_loss_on_device(p, t, sums, y);
    return y;
  }
  detail::dispatch_real("mse_loss", p.dtype(), [&]<class T>(T) {
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
  if (p.is_cuda()) {
    const auto accumulate = [&](Tensor* d, double factor) {
      if (!d) return;
      detail::mse_loss_pullback_on_device(p, t, factor / static_cast<double>(p.numel()), d_y,
                                          accumulate_into(d, p.shape(), p.dtype(), p.device()));
    };
    accumulate(d_prediction, 2);
    accumulate(d_target, -2);
    return;
  }
  const double factor = 2 * d_y.item() / static_cast<double>(p.numel());
  detail::dispatch_real("mse_loss", p.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const auto accumulate = [&](Tensor* d, C weight) {
      if (!d) return;
      detail::contribute<T>(d, p.shape(), [&](detail::Target<T> to) {
        detail::map2(p.numel(), p.data<T>(), t.data<T>(), to,
                     [weight](C a, C b) { return weight * (a - b); });
      });
    };
    accumulate(d_prediction, static_cast<C>(factor));
    accumulate(d_target, static_cast<C>(-factor));
  });
}

}  // namespace clad::custom_derivatives::cladtorch
