// Sums, means and maxima of rows of a table.
#pragma once

#include <clad/opaque.h>

#include "cladtorch/ops/along.h"
#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/embedding.h"
#include "cladtorch/ops/indexing.h"
#include "cladtorch/ops/reduce.h"

namespace cladtorch {

enum class BagMode { sum, mean, max };

namespace detail {
/// The bag of each of `count` indices, of those that begin at offsets [bags]: int32 [count].
CLAD_NONDIFFERENTIABLE Tensor bag_of_each(const Tensor& offsets, int64_t count);
/// 1 / how many indices each bag has, or 1: [bags, 1].
CLAD_NONDIFFERENTIABLE Tensor bag_shares(const Tensor& offsets, int64_t count, DType dtype);
/// The indices of each bag as rows of one length, filled up by the first of them, or by 0 in an empty bag:
/// int32 [bags, L]; and whether each bag has one, bool [bags, 1].
CLAD_NONDIFFERENTIABLE Tensor padded_bags(const Tensor& indices, const Tensor& offsets);
CLAD_NONDIFFERENTIABLE Tensor filled_bags(const Tensor& offsets, int64_t count);

/// The largest element of rows [B, L, C] along L; the derivative goes to the first of equal ones.
inline Tensor largest_of_rows(const Tensor& rows) {
  return gather(rows, 1, argmax(rows, 1, true)).squeeze(1);
}
}  // namespace detail

/// The sums, means or maxima of the rows of weight [V, C] that the indices [B, L] select for each of B bags:
/// [B, C].
inline Tensor embedding_bag(const Tensor& indices, const Tensor& weight, BagMode mode = BagMode::mean) {
  require(indices.dim() == 2, "embedding_bag: expected indices [B, L], or [N] with offsets, got ",
          indices.shape());
  const Tensor rows = embedding(indices, weight);
  if (mode == BagMode::max && indices.size(1) > 0) return detail::largest_of_rows(rows);
  if (mode == BagMode::sum || indices.size(1) == 0) return sum(rows, 1);
  return mean(rows, 1);
}

/// The same for bags of different sizes: bag i has those of indices [N] from offsets[i] to offsets[i + 1], or
/// to the end. An empty bag is 0. CPU only.
inline Tensor embedding_bag(const Tensor& indices, const Tensor& weight, const Tensor& offsets,
                            BagMode mode = BagMode::mean) {
  require(indices.dim() == 1, "embedding_bag: expected indices [N] with offsets, got ", indices.shape());
  const int64_t count = indices.size(0);
  if (mode == BagMode::max && count > 0) {
    const Tensor rows = embedding(detail::padded_bags(indices, offsets), weight);
    return where(detail::filled_bags(offsets, count), detail::largest_of_rows(rows), 0);
  }
  const Tensor bags = detail::bag_of_each(offsets, count);
  const Tensor total = index_add(zeros({offsets.size(0), weight.size(1)}, weight.dtype()), 0, bags,
                                 embedding(indices, weight));
  if (mode == BagMode::sum) return total;
  return mul(total, detail::bag_shares(offsets, count, weight.dtype()));
}

}  // namespace cladtorch
