#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/count.h"
#include "ops/common/pointwise_on_device.h"
#include "ops/gelu_erf/gelu_erf_kernel.h"

namespace cladtorch {

Tensor gelu_erf(const Tensor& x) {
  require(x.defined(), "gelu_erf: the tensor is undefined");
  detail::count_op();
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
  y.set_frozen(x.is_frozen());
  if (x.is_cuda()) {
    detail::map_on_device<detail::GeluErf>({}, dense, store_into(y));
    return y;
  }
  detail::dispatch_real("gelu_erf", x.dtype(),
                        [&]<class T>(T) { detail::gelu_erf(x.numel(), dense.data<T>(), y.data<T>()); });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void gelu_erf_pullback(const Tensor& x, Tensor d_y, Tensor* d_x) {
  d_x = wanted(d_x, x);
  if (!d_y.defined() || !d_x) return;
  const Tensor dense = x.contiguous(), d = d_y.contiguous();
  if (x.is_cuda()) {
    detail::map2_on_device<detail::GeluErfPullback>({}, dense, d,
                                                    accumulate_into(d_x, x.shape(), x.dtype(), x.device()));
    return;
  }
  detail::dispatch_real("gelu_erf", x.dtype(), [&]<class T>(T) {
    detail::contribute<T>(d_x, x.shape(), [&](detail::Target<T> target) {
      detail::gelu_erf_pullback(x.numel(), dense.data<T>(), d.data<T>(), target);
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
