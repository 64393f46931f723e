#include "cladtorch/ops/activation.h"

#include <optional>

#include "cladtorch/tensor/recorder.h"
#include "ops/common/pointwise_on_device.h"
#include "ops/swiglu/swiglu_kernel.h"
#include "ops/swiglu/swiglu_on_device.h"

namespace cladtorch {

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  CLADTORCH_RECORD(swiglu, gate, up);
  const detail::Call call("swiglu", {{"gate", gate}, {"up", up}});
  require(gate.shape() == up.shape(), "swiglu: shapes differ: gate is ", gate.shape(), ", up is ",
          up.shape());
  const Tensor g = gate.contiguous(), u = up.contiguous();
  return call.result(
      gate.shape(), [&](const GradientTarget& y) { detail::map2_on_device<detail::Swiglu>({}, g, u, y); },
      [&]<class T>(detail::Target<T> y) { detail::swiglu(gate.numel(), g.data<T>(), u.data<T>(), y.data); });
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void swiglu_pullback(const Tensor& gate, const Tensor& up, Tensor d_y, Tensor* d_gate, Tensor* d_up) {
  d_gate = wanted(d_gate, gate);
  d_up = wanted(d_up, up);
  if (!d_y.defined() || (!d_gate && !d_up)) return;
  if (d_gate == d_up) {  // swiglu(x, x): one after the other, each adds
    swiglu_pullback(gate, up, d_y, d_gate, nullptr);
    return swiglu_pullback(gate, up, d_y, nullptr, d_up);
  }
  const Tensor g = gate.contiguous(), u = up.contiguous(), d = d_y.contiguous();
  const auto on_device = [&] {
    const auto target = [&](Tensor* d_x) -> std::optional<GradientTarget> {
      if (!d_x) return std::nullopt;
      return accumulate_into(d_x, gate.shape(), gate.dtype(), gate.device());
    };
    const std::optional<GradientTarget> to_gate = target(d_gate), to_up = target(d_up);
    detail::swiglu_pullback_on_device(g, u, d, to_gate ? &*to_gate : nullptr, to_up ? &*to_up : nullptr);
  };
  detail::run_where("swiglu", gate, on_device, [&]<class T>(T) {
    detail::contribute<T>(d_gate, gate.shape(), [&](detail::Target<T> to_gate) {
      detail::contribute<T>(d_up, up.shape(), [&](detail::Target<T> to_up) {
        detail::swiglu_pullback(gate.numel(), g.data<T>(), u.data<T>(), d.data<T>(), to_gate, to_up);
      });
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
