// Counts of elements, and places in sorted numbers, on the CPU. Counts and places are int32.
#pragma once

#include <clad/opaque.h>

#include "cladtorch/ops/indexing.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch {

namespace detail {
/// Of each distinct element where the first one is, which of them each element is, and how many there are.
struct UniquePlaces {
  Tensor first, inverse, counts;
};
CLAD_NONDIFFERENTIABLE UniquePlaces unique_places(const char* operation, const Tensor& x, bool sorted);
/// How many counts there are of `x`, which must not be negative: one more than the largest, at least
/// `minlength`.
CLAD_NONDIFFERENTIABLE int64_t bin_count(const Tensor& x, int64_t minlength);
}  // namespace detail

/// Distinct elements, which of them each element of x is, in the shape of x, and how many there are of each.
struct UniqueElements {
  Tensor output, inverse_indices, counts;
};
/// The distinct elements of x, the smallest first. Each NaN is one of its own, and they come last. The
/// derivative goes to the first of equal elements.
inline UniqueElements unique(const Tensor& x) {
  const detail::UniquePlaces places = detail::unique_places("unique", x, true);
  return {index_select(x.flatten(), 0, places.first), places.inverse, places.counts};
}
/// The same without sorting: one of each run of equal elements, in their order.
inline UniqueElements unique_consecutive(const Tensor& x) {
  const detail::UniquePlaces places = detail::unique_places("unique_consecutive", x, false);
  return {index_select(x.flatten(), 0, places.first), places.inverse, places.counts};
}

/// How often each of 0, 1, ... up to the largest is in the integers x [n], and zeros up to `minlength`
/// counts.
CLAD_NONDIFFERENTIABLE Tensor bincount(const Tensor& x, int64_t minlength = 0);
/// The sums of their weights [n], in whose dtype and with their derivative.
inline Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength = 0) {
  return index_add(zeros({detail::bin_count(x, minlength)}, weights.dtype()), 0, x, weights);
}

/// How many elements of x are in each of `bins` equal parts of [min, max], in the dtype of x: the last part
/// has its end, and what is outside counts nowhere. If min is max they are the smallest and the largest
/// element.
CLAD_NONDIFFERENTIABLE Tensor histc(const Tensor& x, int64_t bins = 100, double min = 0, double max = 0);

/// For each of `values` [..., K] how many elements of the ascending sequence [..., N] are smaller, or if
/// `right`, smaller or equal: where it would be inserted. The leading dimensions are equal, or the sequence
/// has one dimension and serves values of any shape. NaN comes behind all. It does not check the order.
CLAD_NONDIFFERENTIABLE Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values,
                                           bool right = false);
/// The same with the operands the other way round, for boundaries [N].
CLAD_NONDIFFERENTIABLE inline Tensor bucketize(const Tensor& x, const Tensor& boundaries,
                                               bool right = false) {
  require(boundaries.defined() && boundaries.dim() == 1, "bucketize: expected boundaries [N], got ",
          boundaries.shape());
  return searchsorted(boundaries, x, right);
}

}  // namespace cladtorch
