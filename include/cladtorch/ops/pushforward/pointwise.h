// Tangents of pointwise functions: d_x times the slope.
#pragma once

#include "cladtorch/ops/pushforward/arithmetic.h"

namespace cladtorch::detail {

Tensor along(const PointwiseCode& code, const void* f, const Tensor& x, const Tensor& d_x);
void along_pullback(const PointwiseCode& code, const void* f, const Tensor& x, const Tensor& d_x,
                    const Tensor& d_y, Tensor* x_share, Tensor* d_x_share);
Tensor along_parameters(const PointwiseCode& code, const void* f, const Tensor& x, const void* direction);
/// Throws Error unless there is nothing to add, because the direction is 0.
void refuse_second_derivative(const PointwiseCode& code, const void* direction, const Tensor& d_y);

}  // namespace cladtorch::detail

namespace cladtorch::tangents {

/// d_x times the derivative of f at x.
template <class F>
Tensor along(const F& f, const Tensor& x, const Tensor& d_x) {
  return detail::along(detail::pointwise_code<F>(), &f, x, d_x);
}
/// The derivative of f by its parameters at x in the direction d_f; undefined where that is 0.
template <class F>
Tensor along_parameters(const F& f, const Tensor& x, const F& d_f) {
  return detail::along_parameters(detail::pointwise_code<F>(), &f, x, &d_f);
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch::tangents {

template <class F>
  requires std::is_empty_v<F>
void along_pullback(const F& f, const Tensor& x, const Tensor& d_x, Tensor d_y, Tensor* x_share,
                    Tensor* d_x_share) {
  ::cladtorch::detail::along_pullback(::cladtorch::detail::pointwise_code<F>(), &f, x, d_x, d_y, x_share,
                                      d_x_share);
}
/// Of a function with parameters. A second derivative by one of them throws Error.
template <class F>
  requires(!std::is_empty_v<F>)
void along_pullback(const F& f, const Tensor& x, const Tensor& d_x, Tensor d_y, F* f_share, Tensor* x_share,
                    Tensor* d_x_share) {
  const auto& code = ::cladtorch::detail::pointwise_code<F>();
  if (f_share) ::cladtorch::detail::refuse_second_derivative(code, nullptr, d_x);
  ::cladtorch::detail::along_pullback(code, &f, x, d_x, d_y, x_share, d_x_share);
}
template <class F>
void along_parameters_pullback(const F&, const Tensor&, const F& d_f, Tensor d_y, F*, Tensor*, F*) {
  ::cladtorch::detail::refuse_second_derivative(::cladtorch::detail::pointwise_code<F>(), &d_f, d_y);
}

}  // namespace clad::custom_derivatives::cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

template <class F>
  requires std::is_empty_v<F>
Tangent pointwise_pushforward(const F& f, const Tensor& x, const Tensor& d_x) {
  return {ops::pointwise(f, x), ops::tangents::along(f, x, d_x)};
}
template <class F>
  requires(!std::is_empty_v<F>)
Tangent pointwise_pushforward(const F& f, const Tensor& x, const F& d_f, const Tensor& d_x) {
  const Tensor of_parameters = ops::tangents::along_parameters(f, x, d_f);
  return {ops::pointwise(f, x), ops::tangents::plus(ops::tangents::along(f, x, d_x), of_parameters)};
}
template <class F>
Tangent pointwise_of_result_pushforward(const F& f, const Tensor& x, const Tensor& d_x) {
  return {ops::pointwise_of_result(f, x), ops::tangents::along(f, x, d_x)};
}

/// With s = silu(gate): s d_up + up times the tangent of s.
inline Tangent swiglu_pushforward(const Tensor& gate, const Tensor& up, const Tensor& d_gate,
                                  const Tensor& d_up) {
  const Tensor d_s = ops::tangents::along(::cladtorch::functions::Silu{}, gate, d_gate);
  return {ops::swiglu(gate, up),
          ops::tangents::plus(ops::tangents::times(d_s, up), ops::tangents::times(d_up, ops::silu(gate)))};
}

}  // namespace clad::custom_derivatives::cladtorch
