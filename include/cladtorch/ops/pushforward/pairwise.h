// Tangents of functions of two elements: each operand's tangent times its slope.
#pragma once

#include "cladtorch/ops/pairwise.h"
#include "cladtorch/ops/pushforward/arithmetic.h"

namespace cladtorch::detail {

Tensor along_pair(const PairwiseCode& code, PairSlope slope, const Tensor& a, const Tensor& b,
                  const Tensor& d);
void along_pair_pullback(const PairwiseCode& code, PairSlope slope, const Tensor& a, const Tensor& b,
                         const Tensor& d, const Tensor& d_y, Tensor* a_share, Tensor* b_share,
                         Tensor* d_share);

}  // namespace cladtorch::detail

namespace cladtorch::tangents {

/// d_a times the derivative of f by a, at a and b, in their shape together.
template <class F>
Tensor along_first(const F&, const Tensor& a, const Tensor& b, const Tensor& d_a) {
  return detail::along_pair(detail::pairwise_code<F>(), detail::PairSlope::first, a, b, d_a);
}
template <class F>
Tensor along_second(const F&, const Tensor& a, const Tensor& b, const Tensor& d_b) {
  return detail::along_pair(detail::pairwise_code<F>(), detail::PairSlope::second, a, b, d_b);
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch::tangents {

template <class F>
void along_first_pullback(const F&, const Tensor& a, const Tensor& b, const Tensor& d_a, Tensor d_y,
                          Tensor* a_share, Tensor* b_share, Tensor* d_a_share) {
  ::cladtorch::detail::along_pair_pullback(::cladtorch::detail::pairwise_code<F>(),
                                           ::cladtorch::detail::PairSlope::first, a, b, d_a, d_y, a_share,
                                           b_share, d_a_share);
}
template <class F>
void along_second_pullback(const F&, const Tensor& a, const Tensor& b, const Tensor& d_b, Tensor d_y,
                           Tensor* a_share, Tensor* b_share, Tensor* d_b_share) {
  ::cladtorch::detail::along_pair_pullback(::cladtorch::detail::pairwise_code<F>(),
                                           ::cladtorch::detail::PairSlope::second, a, b, d_b, d_y, a_share,
                                           b_share, d_b_share);
}

}  // namespace clad::custom_derivatives::cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

template <class F>
Tangent pairwise_pushforward(const F& f, const Tensor& a, const Tensor& b, const Tensor& d_a,
                             const Tensor& d_b) {
  return {ops::pairwise(f, a, b), ops::tangents::plus(ops::tangents::along_first(f, a, b, d_a),
                                                      ops::tangents::along_second(f, a, b, d_b))};
}

}  // namespace clad::custom_derivatives::cladtorch
