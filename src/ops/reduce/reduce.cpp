#include "cladtorch/ops/reduce.h"

#include <algorithm>

#include "cladtorch/tensor/recorder.h"
#include "ops/arithmetic/arithmetic_functions.h"
#include "ops/common/pointwise_on_device.h"
#include "ops/common/reduce_to.h"
#include "ops/reduce/reduce_on_device.h"
#include "simd/kernels.h"
#include "tensor/strided.h"

namespace cladtorch {
namespace {

/// Sums pieces of fixed length, then the pieces' sums, all in double: the order depends on n alone.
template <class T>
double sum_of(const Tensor& dense) {
  constexpr int64_t piece = 1 << 14, most_pieces = 256;
  const int64_t n = dense.numel();
  const int64_t grain = std::max(piece, (n + most_pieces - 1) / most_pieces);
  double parts[most_pieces] = {};
  const T* const data = dense.data<T>();
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    double& sum = parts[begin / grain];
    if constexpr (std::is_same_v<T, float>) {
      sum = simd::kernels().sum(end - begin, data + begin);
    } else {
      for (int64_t i = begin; i < end; ++i) sum += detail::convert<double>(data[i]);
    }
  });
  double sum = 0;
  for (double part : parts) sum += part;
  return sum;
}

Tensor reduced(const char* operation, const Tensor& x, bool divide) {
  const detail::Call call(operation, {{"x", x}});
  require(!divide || x.numel() > 0, operation, ": no elements in shape ", x.shape());
  const auto count = static_cast<double>(x.numel());
  return call.result(
      {}, [&](const GradientTarget& y) { detail::sum_to_on_device(x, {}, divide ? 1 / count : 1, y); },
      [&]<class T>(detail::Target<T> y) {
        const double total = sum_of<T>(x.contiguous());
        *y.data = detail::convert<T>(divide ? total / count : total);
      });
}

}  // namespace

Tensor sum(const Tensor& x) {
  CLADTORCH_RECORD_STATE(ShapeState, sum, unread(x));
  return reduced("sum", x, false);
}
Tensor mean(const Tensor& x) {
  CLADTORCH_RECORD_STATE(ShapeState, mean, unread(x));
  return reduced("mean", x, true);
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  CLADTORCH_RECORD_STATE(ShapeState, sum_to, unread(x), shape);
  const detail::Call call("sum_to", {{"x", x}});
  require(broadcast_shapes("sum_to", shape, x.shape()) == x.shape(), "sum_to: ", shape,
          " does not broadcast to ", x.shape());
  Tensor y;
  detail::accumulate_reduced(&y, x, shape);
  return call.finish(std::move(y));
}

Shape reduced_shape(const Shape& shape, int64_t dim) {
  return shape.with(checked_dim("sum", dim, shape.rank()), 1);
}

double mean_factor(const Shape& shape, int64_t dim) {
  const int64_t size = shape[checked_dim("mean", dim, shape.rank())];
  require(size > 0, "mean: no elements in dimension ", dim, " of shape ", shape);
  return 1.0 / static_cast<double>(size);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace {

/// *d_x += d_y / divisor at every element; d_y has one element. The first contribution is one expanded
/// number.
void spread(const Tensor& d_y, Tensor* d_x, const ShapeState& x, double divisor) {
  if (!::cladtorch::wanted(d_x) || !d_y.defined()) return;
  Tensor value = Tensor::empty({}, x.dtype, d_y.device());
  if (d_y.is_cuda()) {
    ::cladtorch::detail::map_on_device<::cladtorch::detail::Scale>({1 / divisor}, d_y, store_into(value));
  } else {
    value.fill_(d_y.item() / divisor);
  }
  d_x->accumulate(value.expand(x.shape));
}

}  // namespace

Tensor sum_reverse_forw(const Tensor& x, pullback_state<ShapeState>& state) {
  state.data = {x.shape(), x.dtype()};
  return ::cladtorch::sum(x);
}

void sum_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state) {
  spread(d_y, d_x, state.data, 1);
}

Tensor sum_to_reverse_forw(const Tensor& x, const Shape& shape, pullback_state<ShapeState>& state) {
  state.data = {x.shape(), x.dtype()};
  return ::cladtorch::sum_to(x, shape);
}

void sum_to_pullback(const Tensor&, const Shape&, Tensor d_y, Tensor* d_x,
                     pullback_state<ShapeState>& state) {
  if (!::cladtorch::wanted(d_x) || !d_y.defined()) return;
  d_x->accumulate(d_y.expand(state.data.shape));
}

Tensor mean_reverse_forw(const Tensor& x, pullback_state<ShapeState>& state) {
  state.data = {x.shape(), x.dtype()};
  return ::cladtorch::mean(x);
}

void mean_pullback(const Tensor&, Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state) {
  spread(d_y, d_x, state.data, static_cast<double>(state.data.shape.numel()));
}

}  // namespace clad::custom_derivatives::cladtorch
