// Elements in order of their size along one dimension, on the CPU. NaN counts as larger than all numbers, and
// of equal elements the first comes first. Derivatives flow through the values, to the elements that they
// are.
#pragma once

#include <clad/opaque.h>

#include "cladtorch/ops/indexing.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Elements, and which entries of the dimension they were: int32.
struct ValuesAndIndices {
  Tensor values, indices;
};

/// The indices of all elements along `dim`, the smallest first, or the largest.
CLAD_NONDIFFERENTIABLE Tensor argsort(const Tensor& x, int64_t dim = -1, bool descending = false);

namespace detail {
/// The first k of argsort(x, dim, largest).
CLAD_NONDIFFERENTIABLE Tensor topk_indices(const Tensor& x, int64_t k, int64_t dim, bool largest);
/// Where the k-th smallest is, with size 1 in `dim`; k counts from 1.
CLAD_NONDIFFERENTIABLE Tensor kth_index(const Tensor& x, int64_t k, int64_t dim);
/// The same of the lower of the two in the middle, or of the first NaN.
CLAD_NONDIFFERENTIABLE Tensor median_index(const Tensor& x, int64_t dim);
/// Where the largest of the elements so far is, or the smallest; the last of equal ones.
CLAD_NONDIFFERENTIABLE Tensor running_extreme(const char* operation, const Tensor& x, int64_t dim,
                                              bool largest);

inline ValuesAndIndices at_indices(const Tensor& x, int64_t dim, const Tensor& indices) {
  return {gather(x, dim, indices), indices};
}
inline ValuesAndIndices at_index(const Tensor& x, int64_t dim, const Tensor& index, bool keepdim) {
  const Tensor values = gather(x, dim, index);
  if (keepdim) return {values, index};
  return {values.squeeze(dim), index.squeeze(dim)};
}
}  // namespace detail

/// All elements along `dim`, the smallest first, or the largest.
inline ValuesAndIndices sort(const Tensor& x, int64_t dim = -1, bool descending = false) {
  return detail::at_indices(x, dim, argsort(x, dim, descending));
}
/// The k largest along `dim`, the largest first, or the k smallest, the smallest first.
inline ValuesAndIndices topk(const Tensor& x, int64_t k, int64_t dim = -1, bool largest = true) {
  return detail::at_indices(x, dim, detail::topk_indices(x, k, dim, largest));
}

/// The k-th smallest along `dim`, which stays with size 1 if `keepdim`; k counts from 1.
inline ValuesAndIndices kthvalue(const Tensor& x, int64_t k, int64_t dim = -1, bool keepdim = false) {
  return detail::at_index(x, dim, detail::kth_index(x, k, dim), keepdim);
}
/// The one in the middle, of an even number the lower one; NaN if there is one.
inline ValuesAndIndices median(const Tensor& x, int64_t dim, bool keepdim = false) {
  return detail::at_index(x, dim, detail::median_index(x, dim), keepdim);
}
/// That of all elements. One alone has the derivative, also among equal ones.
inline Tensor median(const Tensor& x) { return median(x.flatten(), 0).values; }

/// The largest and the smallest of the elements so far along `dim`; of equal ones the last, and from the
/// first NaN on NaN.
inline ValuesAndIndices cummax(const Tensor& x, int64_t dim) {
  return detail::at_indices(x, dim, detail::running_extreme("cummax", x, dim, true));
}
inline ValuesAndIndices cummin(const Tensor& x, int64_t dim) {
  return detail::at_indices(x, dim, detail::running_extreme("cummin", x, dim, false));
}

}  // namespace cladtorch
