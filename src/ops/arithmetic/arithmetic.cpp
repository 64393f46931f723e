#include "cladtorch/ops/arithmetic.h"

#include "cladtorch/tensor/recorder.h"
#include "ops/arithmetic/arithmetic_functions.h"
#include "ops/common/elementwise.h"
#include "ops/common/pointwise_on_device.h"
#include "ops/common/reduce_to.h"

namespace cladtorch {
namespace {

template <class F>
Tensor binary(const Tensor& a, const Tensor& b, F f) {
  const detail::Call call(F::name, {{"a", a}, {"b", b}});
  const Shape shape = broadcast_shapes(F::name, a.shape(), b.shape());
  return call.result(
      shape, [&](const GradientTarget& y) { detail::zip_on_device<F>(f, shape, a, b, y); },
      [&]<class T>(detail::Target<T> y) { detail::zip<T>(shape, a, b, y, f); });
}

/// *d += f(u, v), where u and v broadcast to the shape of u; summed back to `shape`.
template <class F>
void accumulate_zip(Tensor* d, const Shape& shape, const Tensor& u, const Tensor& v, F f) {
  detail::add_reduced_gradient(
      "pullback", d, shape, u,
      [&](const GradientTarget& to) { detail::zip_on_device<F>(f, u.shape(), u, v, to); },
      [&]<class T>(T, auto to) { detail::zip<T>(u.shape(), u, v, to, f); });
}

/// What sums of several terms are formed from: bfloat16 in float.
Tensor widened(const Tensor& x) { return x.to(detail::computed_in(x.dtype())); }

/// Not a constant where x is one, because the number may have a derivative.
template <class F>
Tensor unary(const Tensor& x, F f) {
  const detail::Call call(F::name, {{"x", x, detail::Operand::independent}});
  const Tensor dense = x.contiguous();
  return call.result(
      x.shape(), [&](const GradientTarget& y) { detail::map_on_device<F>(f, dense, y); },
      [&]<class T>(detail::Target<T> y) { detail::map(x.numel(), dense.data<T>(), y.data, f); });
}

/// *d += f(x).
template <class F>
void accumulate_map(Tensor* d, const Tensor& x, F f) {
  detail::add_gradient(
      F::name, d, x, [&](const GradientTarget& to) { detail::map_on_device<F>(f, x.contiguous(), to); },
      [&]<class T>(detail::Target<T> to) {
        detail::zip<T>(x.shape(), x, x, to, [f](auto v, auto) { return f(v); });
      });
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  CLADTORCH_RECORD_STATE(BroadcastState, add, unread(a), unread(b));
  return binary(a, b, detail::Add{});
}
Tensor sub(const Tensor& a, const Tensor& b) {
  CLADTORCH_RECORD_STATE(BroadcastState, sub, unread(a), unread(b));
  return binary(a, b, detail::Subtract{});
}
Tensor mul(const Tensor& a, const Tensor& b) {
  CLADTORCH_RECORD(mul, a, b);
  return binary(a, b, detail::Multiply{});
}
Tensor div(const Tensor& a, const Tensor& b) {
  CLADTORCH_RECORD(div, a, b);
  return binary(a, b, detail::Divide{});
}

Tensor scale(const Tensor& x, double factor) {
  CLADTORCH_RECORD(scale, x, factor);
  return unary(x, detail::Scale{factor});
}
Tensor add_scalar(const Tensor& x, double value) {
  CLADTORCH_RECORD(add_scalar, unread(x), value);
  return unary(x, detail::AddScalar{value});
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::accumulate_map;
using ::cladtorch::accumulate_zip;
using ::cladtorch::wanted;
using ::cladtorch::widened;
using ::cladtorch::detail::accumulate_reduced;
namespace detail = ::cladtorch::detail;

Tensor add_reverse_forw(const Tensor& a, const Tensor& b, pullback_state<BroadcastState>& state) {
  state.data = {a.shape(), b.shape(), a.is_frozen(), b.is_frozen()};
  return ::cladtorch::add(a, b);
}

void add_pullback(const Tensor&, const Tensor&, Tensor d_y, Tensor* d_a, Tensor* d_b,
                  pullback_state<BroadcastState>& state) {
  accumulate_reduced(wanted(d_a, state.data.a_frozen), d_y, state.data.a);
  accumulate_reduced(wanted(d_b, state.data.b_frozen), std::move(d_y), state.data.b);
}

Tensor sub_reverse_forw(const Tensor& a, const Tensor& b, pullback_state<BroadcastState>& state) {
  state.data = {a.shape(), b.shape(), a.is_frozen(), b.is_frozen()};
  return ::cladtorch::sub(a, b);
}

void sub_pullback(const Tensor&, const Tensor&, Tensor d_y, Tensor* d_a, Tensor* d_b,
                  pullback_state<BroadcastState>& state) {
  d_a = wanted(d_a, state.data.a_frozen);
  d_b = wanted(d_b, state.data.b_frozen);
  if (!d_y.defined()) return;
  accumulate_reduced(d_a, d_y, state.data.a);
  if (!d_b) return;
  if (d_y.shape() == state.data.b) {
    accumulate_map(d_b, d_y, detail::Negate{});
  } else {
    Tensor negative;
    accumulate_map(&negative, widened(d_y), detail::Negate{});
    accumulate_reduced(d_b, std::move(negative), state.data.b, d_y.dtype());
  }
}

void mul_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
  d_a = wanted(d_a, a);
  d_b = wanted(d_b, b);
  if (!d_y.defined()) return;
  if (d_a) accumulate_zip(d_a, a.shape(), d_y, b, detail::Multiply{});
  if (d_b) accumulate_zip(d_b, b.shape(), d_y, a, detail::Multiply{});
}

void div_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
  d_a = wanted(d_a, a);
  d_b = wanted(d_b, b);
  if (!d_y.defined()) return;
  if (d_a) accumulate_zip(d_a, a.shape(), d_y, b, detail::Divide{});
  if (!d_b) return;
  Tensor product, quotient;  // d_b = -d_y a / b^2
  accumulate_zip(&product, d_y.shape(), widened(d_y), widened(a), detail::NegativeProduct{});
  accumulate_zip(&quotient, d_y.shape(), product, widened(b), detail::DivideBySquare{});
  accumulate_reduced(d_b, std::move(quotient), b.shape(), b.dtype());
}

void scale_pullback(const Tensor& x, double factor, Tensor d_y, Tensor* d_x, double* d_factor) {
  d_x = wanted(d_x, x);
  if (!d_y.defined()) return;
  if (d_factor) {
    Tensor total;
    Tensor products;
    accumulate_zip(&products, d_y.shape(), widened(d_y), widened(x), detail::Multiply{});
    accumulate_reduced(&total, products.flatten(), {});
    *d_factor += total.item();
  }
  if (d_x) accumulate_map(d_x, d_y, detail::Scale{factor});
}

void add_scalar_pullback(const Tensor&, double, Tensor d_y, Tensor* d_x, double* d_value) {
  if (!d_y.defined()) return;
  if (d_value) {
    Tensor total;
    accumulate_reduced(&total, widened(d_y.flatten()), {});
    *d_value += total.item();
  }
  if (d_x) d_x->accumulate(std::move(d_y));
}

}  // namespace clad::custom_derivatives::cladtorch
