// Functions of pairs of elements, which broadcast: as pointwise.h has those of one.
#pragma once

#include <type_traits>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {
namespace detail {

struct PairwiseCode;
/// The code of F: for the functions of the library it is in the library, for others see pairwise_code.h.
template <class F>
const PairwiseCode& pairwise_code();

/// By which operand a derivative is, or by which two.
enum class PairSlope { first, second, first_first, first_second, second_second };

Tensor pairwise(const PairwiseCode& code, const Tensor& a, const Tensor& b);
/// *d += d_y times the derivative at a and b, summed to the shape `of`; d_y and *d may be undefined.
void pairwise_slope(const PairwiseCode& code, PairSlope slope, const Tensor& a, const Tensor& b,
                    const Tensor& d_y, Tensor* d, const Shape& of);
/// Both gradients; what is null or belongs to a frozen operand is not computed.
void pairwise_pullback(const PairwiseCode& code, const Tensor& a, const Tensor& b, const Tensor& d_y,
                       Tensor* d_a, Tensor* d_b);

}  // namespace detail

/// f of the elements of a and b, of one floating dtype, which broadcast by PyTorch's rules; F is a class of
/// functions_of_two.h, or one of the same form. Throws Error that names both shapes or dtypes.
template <class F>
Tensor pairwise(const F&, const Tensor& a, const Tensor& b) {
  static_assert(std::is_empty_v<F>, "a function of two elements has no parameters");
  return detail::pairwise(detail::pairwise_code<F>(), a, b);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Tensor;

template <class F>
void pairwise_pullback(const F&, const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
  ::cladtorch::detail::pairwise_pullback(::cladtorch::detail::pairwise_code<F>(), a, b, d_y, d_a, d_b);
}
}  // namespace clad::custom_derivatives::cladtorch
