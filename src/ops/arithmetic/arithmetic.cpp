#include "cladtorch/ops/arithmetic.h"

#include "cladtorch/ops/count.h"
#include "ops/common/elementwise.h"
#include "ops/common/reduce_to.h"

namespace cladtorch {
namespace {

template <class F>
Tensor binary(const char* operation, const Tensor& a, const Tensor& b, F f) {
  detail::check_operands(operation, a, b);
  detail::count_op();
  Tensor y = Tensor::empty(broadcast_shapes(operation, a.shape(), b.shape()), a.dtype());
  y.set_frozen(all_frozen(a, b));
  detail::dispatch_real(operation, a.dtype(), [&]<class T>(T) {
    detail::zip<T>(y.shape(), a, b, detail::Target<T>{y.data<T>()}, f);
  });
  return y;
}

/// *d += f(u, v), where u and v broadcast to the shape of u; summed back to `shape`.
template <class F>
void accumulate_zip(Tensor* d, const Shape& shape, const Tensor& u, const Tensor& v, F f) {
  detail::dispatch_real("pullback", u.dtype(), [&]<class T>(T) {
    if (u.shape() == shape) {
      detail::contribute<T>(d, shape,
                            [&](detail::Target<T> target) { detail::zip<T>(shape, u, v, target, f); });
    } else {
      Tensor product;
      detail::zip<T>(u.shape(), u, v, detail::target_in<detail::Computed<T>>(&product, u.shape()), f);
      detail::accumulate_reduced(d, std::move(product), shape, u.dtype());
    }
  });
}

/// What sums of several terms are formed from: bfloat16 in float.
Tensor widened(const Tensor& x) { return x.to(detail::computed_in(x.dtype())); }

constexpr auto multiply = [](auto x, auto y) { return x * y; };

template <class F>
Tensor unary(const char* operation, const Tensor& x, F f) {
  require(x.defined(), operation, ": the tensor is undefined");
  detail::count_op();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Tensor dense = x.contiguous();
  detail::dispatch_real(operation, x.dtype(),
                        [&]<class T>(T) { detail::map(x.numel(), dense.data<T>(), y.data<T>(), f); });
  return y;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  return binary("add", a, b, [](auto x, auto y) { return x + y; });
}
Tensor sub(const Tensor& a, const Tensor& b) {
  return binary("sub", a, b, [](auto x, auto y) { return x - y; });
}
Tensor mul(const Tensor& a, const Tensor& b) { return binary("mul", a, b, multiply); }
Tensor div(const Tensor& a, const Tensor& b) {
  return binary("div", a, b, [](auto x, auto y) { return x / y; });
}

Tensor scale(const Tensor& x, double factor) {
  return unary("scale", x, [factor]<class T>(T v) { return v * static_cast<T>(factor); });
}
Tensor add_scalar(const Tensor& x, double value) {
  return unary("add_scalar", x, [value]<class T>(T v) { return v + static_cast<T>(value); });
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::accumulate_zip;
using ::cladtorch::multiply;
using ::cladtorch::wanted;
using ::cladtorch::widened;
using ::cladtorch::detail::accumulate_reduced;

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
  if (d_b) accumulate_zip(d_b, state.data.b, d_y, d_y, [](auto d, auto) { return -d; });
}

void mul_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
  d_a = wanted(d_a, a);
  d_b = wanted(d_b, b);
  if (!d_y.defined()) return;
  if (d_a) accumulate_zip(d_a, a.shape(), d_y, b, multiply);
  if (d_b) accumulate_zip(d_b, b.shape(), d_y, a, multiply);
}

void div_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
  d_a = wanted(d_a, a);
  d_b = wanted(d_b, b);
  if (!d_y.defined()) return;
  const auto divide = [](auto d, auto divisor) { return d / divisor; };
  if (d_a) accumulate_zip(d_a, a.shape(), d_y, b, divide);
  if (!d_b) return;
  Tensor product, quotient;  // d_b = -d_y a / b^2
  accumulate_zip(&product, d_y.shape(), widened(d_y), widened(a), [](auto d, auto x) { return -d * x; });
  accumulate_zip(&quotient, d_y.shape(), product, widened(b), [](auto d, auto x) { return d / (x * x); });
  accumulate_reduced(d_b, std::move(quotient), b.shape(), b.dtype());
}

void scale_pullback(const Tensor& x, double factor, Tensor d_y, Tensor* d_x, double* d_factor) {
  d_x = wanted(d_x, x);
  if (!d_y.defined()) return;
  if (d_factor) {
    Tensor total;
    Tensor products;
    accumulate_zip(&products, d_y.shape(), widened(d_y), widened(x), multiply);
    accumulate_reduced(&total, products.flatten(), {});
    *d_factor += total.item();
  }
  if (d_x) {
    accumulate_zip(d_x, d_y.shape(), d_y, d_y,
                   [factor]<class T>(T d, T) { return d * static_cast<T>(factor); });
  }
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
