#include "cladtorch/ops/indexing.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/reduce_to.h"
#include "tensor/dispatch.h"
#include "tensor/strided.h"

namespace cladtorch {
namespace {

void check_condition(const char* operation, const Tensor& condition) {
  require(condition.dtype() == DType::boolean, operation, ": expected a bool condition, got ",
          condition.dtype(), "; make one by a comparison such as ne(x, 0)");
}

/// The elements of a and b, of one dtype, that the condition chooses.
Tensor chosen(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape shape =
      broadcast_shapes("where", broadcast_shapes("where", condition.shape(), a.shape()), b.shape());
  Tensor y = Tensor::empty(shape, a.dtype());
  const auto strides = [&](const Tensor& x) {
    return detail::broadcast_strides(x.shape(), x.strides(), shape);
  };
  const detail::StridedLoop<4> loop(shape, {y.strides(), strides(condition), strides(a), strides(b)});
  const bool* const choice = condition.data<bool>();
  detail::dispatch_any(a.dtype(), [&]<class T>(T) {
    const T *const left = a.data<T>(), *const right = b.data<T>();
    T* const to = y.data<T>();
    loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
      const auto choose = [n, y_row = to + offsets[0], c = choice + offsets[1], u = left + offsets[2],
                           v = right + offsets[3]](auto t, auto d, auto e, auto f) {
        for (int64_t i = 0; i < n; ++i) y_row[i * t] = c[i * d] ? u[i * e] : v[i * f];
      };
      constexpr std::integral_constant<int64_t, 1> next;
      constexpr std::integral_constant<int64_t, 0> same;
      const bool dense = steps[0] == 1 && steps[1] == 1;
      if (dense && steps[2] == 1 && steps[3] == 1) return choose(next, next, next, next);
      if (dense && steps[2] == 1 && steps[3] == 0) return choose(next, next, next, same);
      if (dense && steps[2] == 0 && steps[3] == 1) return choose(next, next, same, next);
      choose(steps[0], steps[1], steps[2], steps[3]);
    });
  });
  return y;
}

Tensor number_like(const Tensor& x, double value) { return full({}, value, x.dtype(), x.device()); }

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  CLADTORCH_RECORD_STATE(WhereState, where, condition, unread(a), unread(b));
  const detail::CpuCall call("where",
                             {{"condition", condition, detail::Operand::independent}, {"a", a}, {"b", b}});
  check_condition("where", condition);
  return call.finish(chosen(condition, a, b));
}
Tensor where(const Tensor& condition, const Tensor& a, double b) {
  CLADTORCH_RECORD_STATE(WhereState, where, condition, unread(a), b);
  return where(condition, a, number_like(a, b));
}
Tensor where(const Tensor& condition, double a, const Tensor& b) {
  CLADTORCH_RECORD_STATE(WhereState, where, condition, a, unread(b));
  return where(condition, number_like(b, a), b);
}

Tensor detail::true_places(const char* operation, const Tensor& mask, const Shape& shape) {
  CpuCall(operation, {{"mask", mask}});
  check_condition(operation, mask);
  require(shape.numel() <= INT32_MAX, operation, ": expected at most 2^31 - 1 elements, got ", shape);
  const Tensor dense = mask.expand(shape).contiguous();
  const bool* const is_true = dense.data<bool>();
  const int64_t count = std::count(is_true, is_true + dense.numel(), true);
  Tensor places = Tensor::empty({count}, DType::int32);
  int32_t* to = places.data<int32_t>();
  for (int64_t i = 0; i < dense.numel(); ++i)
    if (is_true[i]) *to++ = static_cast<int32_t>(i);
  return places;
}

Tensor nonzero(const Tensor& x) {
  const detail::CpuCall call("nonzero", {{"x", x, detail::Operand::independent}});
  const Tensor flat = detail::true_places("nonzero", x.to(DType::boolean), x.shape());
  Tensor places = Tensor::empty({flat.size(0), x.dim()}, DType::int32);
  for (int64_t i = 0; i < flat.size(0); ++i) {
    int64_t place = flat.data<int32_t>()[i];
    for (int dim = x.dim() - 1; dim >= 0; --dim) {
      places.data<int32_t>()[i * x.dim() + dim] = static_cast<int32_t>(place % x.size(dim));
      place /= x.size(dim);
    }
  }
  return call.finish(std::move(places));
}

double detail::largest_number(DType dtype) {
  if (dtype == DType::float64) return std::numeric_limits<double>::max();
  if (dtype == DType::bfloat16) return 0x1.fep127;
  return std::numeric_limits<float>::max();
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Shape;
using ::cladtorch::wanted;
namespace detail = ::cladtorch::detail;

namespace {

/// *d += d_y where the condition is `taken`, summed to `shape`.
void pull(Tensor* d, const Tensor& condition, bool taken, const Tensor& d_y, const Shape& shape) {
  if (!d) return;
  const Tensor seed = d_y.shape() == shape ? d_y : d_y.to(detail::computed_in(d_y.dtype()));
  const Tensor zero = ::cladtorch::number_like(seed, 0);
  Tensor part =
      taken ? ::cladtorch::chosen(condition, seed, zero) : ::cladtorch::chosen(condition, zero, seed);
  detail::accumulate_reduced(d, std::move(part), shape, d_y.dtype());
}

void pull(double* d, const Tensor& condition, bool taken, const Tensor& d_y) {
  if (!d) return;
  Tensor sum;
  pull(&sum, condition, taken, d_y.to(detail::computed_in(d_y.dtype())), {});
  *d += sum.item();
}

}  // namespace

Tensor where_reverse_forw(const Tensor& condition, const Tensor& a, const Tensor& b,
                          pullback_state<WhereState>& state) {
  state.data = {a.shape(), b.shape(), a.is_frozen(), b.is_frozen()};
  return ::cladtorch::where(condition, a, b);
}
void where_pullback(const Tensor& condition, const Tensor&, const Tensor&, Tensor d_y, Tensor*, Tensor* d_a,
                    Tensor* d_b, pullback_state<WhereState>& state) {
  d_a = wanted(d_a, state.data.a_frozen);
  d_b = wanted(d_b, state.data.b_frozen);
  if (!d_y.defined()) return;
  pull(d_a, condition, true, d_y, state.data.a);
  pull(d_b, condition, false, d_y, state.data.b);
}

Tensor where_reverse_forw(const Tensor& condition, const Tensor& a, double b,
                          pullback_state<WhereState>& state) {
  state.data = {a.shape(), {}, a.is_frozen(), false};
  return ::cladtorch::where(condition, a, b);
}
void where_pullback(const Tensor& condition, const Tensor&, double, Tensor d_y, Tensor*, Tensor* d_a,
                    double* d_b, pullback_state<WhereState>& state) {
  d_a = wanted(d_a, state.data.a_frozen);
  if (!d_y.defined()) return;
  pull(d_a, condition, true, d_y, state.data.a);
  pull(d_b, condition, false, d_y);
}

Tensor where_reverse_forw(const Tensor& condition, double a, const Tensor& b,
                          pullback_state<WhereState>& state) {
  state.data = {{}, b.shape(), false, b.is_frozen()};
  return ::cladtorch::where(condition, a, b);
}
void where_pullback(const Tensor& condition, double, const Tensor&, Tensor d_y, Tensor*, double* d_a,
                    Tensor* d_b, pullback_state<WhereState>& state) {
  d_b = wanted(d_b, state.data.b_frozen);
  if (!d_y.defined()) return;
  pull(d_a, condition, true, d_y);
  pull(d_b, condition, false, d_y, state.data.b);
}

}  // namespace clad::custom_derivatives::cladtorch
