#include "cladtorch/ops/pointwise.h"

#include "cladtorch/ops/pushforward/pointwise.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/common/reduce_to.h"
#include "ops/pointwise/pointwise_kernel.h"

namespace cladtorch::detail {
namespace {

Slope by_parameter(int number) { return static_cast<Slope>(static_cast<int>(Slope::by_parameter) + number); }

void require_code(const PointwiseCode& code, const Tensor& x) {
  if (!code.value_on_device) require_cpu(code.name, x);
}

/// The function with its own copy of the object that f points to.
struct Held {
  const PointwiseCode& code;
  std::array<double, 2> parameters = {};

  Held(const PointwiseCode& code, const void* f) : code(code) {
    if (f) std::copy_n(static_cast<const double*>(f), code.parameters, parameters.begin());
  }
};

}  // namespace

Tensor pointwise(const PointwiseCode& code, const void* f, const Tensor& x) {
  if (Recorder* const graph = recorder_of(x)) [[unlikely]]
    return recorded(
        *graph, code.name, [&](const Tensor& operand) { return pointwise(code, f, operand); },
        [held = Held(code, f)](const Tensor& operand, const Tensor& d_y, Tensor* d_x) {
          pointwise_pullback(held.code, held.parameters.data(), operand, d_y, d_x);
        },
        x);
  const Call call(code.name, {{"x", x}});
  require_code(code, x);
  const Tensor dense = x.contiguous();
  return call.result(
      x.shape(), [&](const GradientTarget& y) { code.value_on_device(f, dense, y); },
      [&]<class T>(Target<T> y) { run_value(code, f, x.numel(), dense.data<T>(), y.data); });
}

Tensor pointwise_of_result(const PointwiseCode& code, const void* f, const Tensor& x) {
  Recorder* const graph = recorder_of(x);
  if (!graph) [[likely]]
    return pointwise(code, f, x);
  return recorded<OutputState>(
      *graph, code.name,
      [&](const Tensor& operand, OutputState& state) { return state.y = pointwise(code, f, operand); },
      [held = Held(code, f)](const Tensor&, const Tensor& d_y, Tensor* d_x, const OutputState& state) {
        pointwise_pullback(held.code, held.parameters.data(), state.y, d_y, d_x);
      },
      unread(x));
}

void pointwise_slope(const PointwiseCode& code, const void* f, Slope slope, const Tensor& at,
                     const Tensor& d_y, Tensor* d_x) {
  if (!d_y.defined()) return;
  require_code(code, at);
  require(code.slopes[static_cast<std::size_t>(slope)].of_double != nullptr, code.name,
          ": there is no derivative by a parameter of this function; make the parameter a constant");
  const Tensor dense = at.contiguous(), d = d_y.contiguous();
  add_gradient(
      code.name, d_x, at, [&](const GradientTarget& to) { code.slope_on_device(f, slope, dense, d, to); },
      [&]<class T>(Target<T> to) {
        run_slope(code, f, slope, at.numel(), dense.data<T>(), d.data<T>(), to);
      });
}

void pointwise_pullback(const PointwiseCode& code, const void* f, const Tensor& at, const Tensor& d_y,
                        Tensor* d_x) {
  if (Tensor* const d = wanted(d_x, at)) pointwise_slope(code, f, Slope::of_backward, at, d_y, d);
}

void pointwise_parameters(const PointwiseCode& code, const void* f, const Tensor& x, const Tensor& d_y,
                          double* d_parameters) {
  refuse_lost(code.name, d_parameters, d_y, x.is_frozen());
  if (!d_y.defined()) return;
  const DType computed = computed_in(x.dtype());
  const Tensor at = x.to(computed), d = d_y.to(computed);
  for (int i = 0; i < code.parameters; ++i) {
    Tensor share;
    pointwise_slope(code, f, by_parameter(i), at, d, &share);
    Tensor total;
    accumulate_reduced(&total, share.flatten(), {});
    d_parameters[i] += total.item();
  }
}

Tensor along(const PointwiseCode& code, const void* f, const Tensor& x, const Tensor& d_x) {
  Tensor d_y;
  pointwise_slope(code, f, Slope::first, x, d_x, &d_y);
  return d_y;
}

void along_pullback(const PointwiseCode& code, const void* f, const Tensor& x, const Tensor& d_x,
                    const Tensor& d_y, Tensor* x_share, Tensor* d_x_share) {
  if (!d_y.defined() || !d_x.defined()) return;
  if (d_x_share) pointwise_slope(code, f, Slope::first, x, d_y, d_x_share);
  if (x_share) pointwise_slope(code, f, Slope::second, x, mul(d_y, d_x), x_share);
}

Tensor along_parameters(const PointwiseCode& code, const void* f, const Tensor& x, const void* direction) {
  Tensor d_y;
  for (int i = 0; i < code.parameters; ++i) {
    const double along = static_cast<const double*>(direction)[i];
    if (along != 0)
      pointwise_slope(code, f, by_parameter(i), x, full(x.shape(), along, x.dtype(), x.device()), &d_y);
  }
  return d_y;
}

void refuse_second_derivative(const PointwiseCode& code, const void* direction, const Tensor& d_y) {
  bool moves = direction == nullptr;
  for (int i = 0; !moves && i < code.parameters; ++i) moves = static_cast<const double*>(direction)[i] != 0;
  require(!moves || !d_y.defined(), code.name,
          ": there is no second derivative by a parameter; make the parameter a constant");
}

}  // namespace cladtorch::detail
