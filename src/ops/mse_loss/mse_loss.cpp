#include "cladtorch/ops/count.h"
#include "cladtorch/ops/loss.h"
#include "ops/common/elementwise.h"

namespace cladtorch {

Tensor mse_loss(const Tensor& prediction, const Tensor& target) {
  detail::check_operands("mse_loss", prediction, target);
  require(prediction.shape() == target.shape() && prediction.numel() > 0,
          "mse_loss: expected equal, non-empty shapes: prediction is ", prediction.shape(), ", target is ",
          target.shape());
  detail::count_op();
  const Tensor p = prediction.contiguous(), t = target.contiguous();
  Tensor y = Tensor::empty({}, p.dtype());
  detail::dispatch_floating("mse_loss", p.dtype(), [&]<class T>(T) {
    const T *const a = p.data<T>(), *const b = t.data<T>();
    double sum = 0;
    for (int64_t i = 0; i < p.numel(); ++i) {
      const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
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
  if (!d_y.defined()) return;
  const Tensor p = prediction.contiguous(), t = target.contiguous();
  const double factor = 2 * d_y.item() / static_cast<double>(p.numel());
  detail::dispatch_floating("mse_loss", p.dtype(), [&]<class T>(T) {
    const auto accumulate = [&](Tensor* d, T weight) {
      if (!d) return;
      const GradientTarget to = accumulate_into(d, p.shape(), p.dtype());
      detail::map2(p.numel(), p.data<T>(), t.data<T>(), to.data<T>(), to.add(),
                   [weight](T a, T b) { return weight * (a - b); });
    };
    accumulate(d_prediction, static_cast<T>(factor));
    accumulate(d_target, static_cast<T>(-factor));
  });
}

}  // namespace clad::custom_derivatives::cladtorch
