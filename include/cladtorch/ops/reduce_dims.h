// Reductions over several dimensions, written as a list: sum(x, {0, -1}). An empty Shape() stands for all of
// them. With `keepdim` they stay, with size 1. A dimension that does not exist or is named twice is an Error.
#pragma once

#include "cladtorch/ops/along.h"
#include "cladtorch/ops/composed.h"
#include "cladtorch/ops/cumulative.h"
#include "cladtorch/ops/reduce.h"

namespace cladtorch {

namespace detail {
// The shape of the result with and without the dimensions, how many elements become one, and how x is viewed
// so that one dimension holds all of `dims`: permuted by `order`, which changes nothing where they are
// neighbours, then reshaped.
Shape kept_shape(const Shape& shape, const Shape& dims);
Shape left_shape(const Shape& shape, const Shape& dims, bool keepdim);
double element_count(const char* operation, const Shape& shape, const Shape& dims);
Shape joined_order(int rank, const Shape& dims);
Shape joined_shape(const Shape& shape, const Shape& dims);
int64_t joined_place(int rank, const Shape& dims);

inline Tensor joined(const Tensor& x, const Shape& dims) {
  return x.permute(joined_order(x.dim(), dims)).reshape(joined_shape(x.shape(), dims));
}
}  // namespace detail

inline Tensor sum(const Tensor& x, const Shape& dims, bool keepdim = false) {
  const Tensor y = sum_to(x, detail::kept_shape(x.shape(), dims));
  if (keepdim) return y;
  return y.reshape(detail::left_shape(x.shape(), dims, false));
}
/// The mean over no elements is an Error.
inline Tensor mean(const Tensor& x, const Shape& dims, bool keepdim = false) {
  return scale(sum(x, dims, keepdim), 1 / detail::element_count("mean", x.shape(), dims));
}

/// The sum of the squares of x - mean(x), divided by n - correction for n elements.
inline Tensor var(const Tensor& x, const Shape& dims, bool keepdim = false, double correction = 1) {
  const double divisor = detail::element_count("var", x.shape(), dims) - correction;
  return sum(square(x - mean(x, dims, true)), dims, keepdim) * (1 / divisor);
}
inline Tensor std(const Tensor& x, const Shape& dims, bool keepdim = false, double correction = 1) {
  return detail::root(var(x, dims, keepdim, correction));
}
/// Of all elements.
inline Tensor var(const Tensor& x) { return var(x, Shape()); }
inline Tensor std(const Tensor& x) { return std(x, Shape()); }

/// The largest and the smallest element; equal ones share the derivative evenly.
inline Tensor amax(const Tensor& x, const Shape& dims, bool keepdim = false) {
  return amax(detail::joined(x, dims), detail::joined_place(x.dim(), dims))
      .reshape(detail::left_shape(x.shape(), dims, keepdim));
}
inline Tensor amin(const Tensor& x, const Shape& dims, bool keepdim = false) {
  return amin(detail::joined(x, dims), detail::joined_place(x.dim(), dims))
      .reshape(detail::left_shape(x.shape(), dims, keepdim));
}
/// Of all elements.
inline Tensor amax(const Tensor& x) { return amax(x, Shape()); }
inline Tensor amin(const Tensor& x) { return amin(x, Shape()); }

/// The product. There must be an element.
inline Tensor prod(const Tensor& x, const Shape& dims, bool keepdim = false) {
  return prod(detail::joined(x, dims), detail::joined_place(x.dim(), dims))
      .reshape(detail::left_shape(x.shape(), dims, keepdim));
}

/// log(sum(exp(x))), with the maximum subtracted first.
inline Tensor logsumexp(const Tensor& x, const Shape& dims, bool keepdim = false) {
  return logsumexp(detail::joined(x, dims), detail::joined_place(x.dim(), dims))
      .reshape(detail::left_shape(x.shape(), dims, keepdim));
}

/// The square root of the sum of squares, whose derivative at 0 is 0.
inline Tensor norm(const Tensor& x, const Shape& dims, bool keepdim = false) {
  return detail::root(sum(square(x), dims, keepdim));
}

namespace linalg {
/// (sum |x|^order)^(1 / order): order 1 is the sum of absolute values, 2 the length, infinity the largest
/// absolute value and -infinity the smallest, 0 the number of elements that are not 0. The derivative by the
/// order is not computed: it must be a constant.
inline Tensor vector_norm(const Tensor& x, double order, const Shape& dims, bool keepdim = false) {
  if (order == 2) return norm(x, dims, keepdim);
  if (order == 1) return sum(abs(x), dims, keepdim);
  if (order == 0) return sum(abs(sign(x)), dims, keepdim);
  if (order == INFINITY) return amax(abs(x), dims, keepdim);
  if (order == -INFINITY) return amin(abs(x), dims, keepdim);
  const Tensor total = sum(pow(abs(x), order), dims, keepdim);
  return total * pow(clamp(total, 1e-38, INFINITY), 1 / order - 1);  // as detail::root
}
/// Of all elements.
inline Tensor vector_norm(const Tensor& x, double order = 2) { return vector_norm(x, order, Shape()); }
}  // namespace linalg

}  // namespace cladtorch
