// Functions of single elements: one class says what the function is (ops/functions/functions.h), and what is
// here makes operations on tensors of it.
#pragma once

#include <type_traits>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// The state of an operation whose derivative is written in terms of its result.
struct OutputState {
  Tensor y;
};

namespace detail {

struct PointwiseCode;
/// The code of F: for the functions of the library it is in the library, for others see pointwise_code.h.
template <class F>
const PointwiseCode& pointwise_code();

/// Which derivative of a function: functions::slope_at, slope, curvature, or that by one of its parameters.
enum class Slope { of_backward, first, second, by_parameter, by_second_parameter };

Tensor pointwise(const PointwiseCode& code, const void* f, const Tensor& x);
Tensor pointwise_of_result(const PointwiseCode& code, const void* f, const Tensor& x);
/// *d_x += d_y times the derivative at `at`; d_y and *d_x may be undefined.
void pointwise_slope(const PointwiseCode& code, const void* f, Slope slope, const Tensor& at,
                     const Tensor& d_y, Tensor* d_x);
/// The same with the derivative of the backward pass, unless d_x is null or x frozen.
void pointwise_pullback(const PointwiseCode& code, const void* f, const Tensor& at, const Tensor& d_y,
                        Tensor* d_x);
/// d_parameters[i] += the sum of d_y times the derivative by parameter i.
void pointwise_parameters(const PointwiseCode& code, const void* f, const Tensor& x, const Tensor& d_y,
                          double* d_parameters);

}  // namespace detail

/// f of each element of x, of float32, float64 or bfloat16; F is a class of functions.h, or one of the same
/// form, whose members are doubles. Throws Error if x is undefined or of another dtype.
template <class F>
Tensor pointwise(const F& f, const Tensor& x) {
  return detail::pointwise(detail::pointwise_code<F>(), &f, x);
}
/// The same for a function whose derivative is written in terms of its value: the backward pass keeps that,
/// and not x.
template <class F>
Tensor pointwise_of_result(const F& f, const Tensor& x) {
  return detail::pointwise_of_result(detail::pointwise_code<F>(), &f, x);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::OutputState;
using ::cladtorch::Tensor;

template <class F>
  requires std::is_empty_v<F>
void pointwise_pullback(const F& f, const Tensor& x, Tensor d_y, Tensor* d_x) {
  ::cladtorch::detail::pointwise_pullback(::cladtorch::detail::pointwise_code<F>(), &f, x, d_y, d_x);
}
template <class F>
  requires(!std::is_empty_v<F>)
void pointwise_pullback(const F& f, const Tensor& x, Tensor d_y, F* d_f, Tensor* d_x) {
  const auto& code = ::cladtorch::detail::pointwise_code<F>();
  ::cladtorch::detail::pointwise_pullback(code, &f, x, d_y, d_x);
  if (d_f) ::cladtorch::detail::pointwise_parameters(code, &f, x, d_y, reinterpret_cast<double*>(d_f));
}

template <class F>
Tensor pointwise_of_result_reverse_forw(const F& f, const Tensor& x, pullback_state<OutputState>& state) {
  return state.data.y = ::cladtorch::pointwise(f, x);
}
template <class F>
void pointwise_of_result_pullback(const F& f, CLAD_UNUSED const Tensor&, Tensor d_y, Tensor* d_x,
                                  pullback_state<OutputState>& state) {
  pointwise_pullback(f, state.data.y, std::move(d_y), d_x);
}
}  // namespace clad::custom_derivatives::cladtorch
