#include "cladtorch/ops/reduce_dims.h"

namespace cladtorch::detail {
namespace {

/// Bit i is set if dimension i is reduced; Shape() is all of them.
unsigned mask_of(int rank, const Shape& dims) {
  if (dims.rank() == 0) return (1u << rank) - 1;
  unsigned mask = 0;
  for (int64_t dim : dims) {
    const unsigned bit = 1u << checked_dim("reduction", dim, rank);
    require(!(mask & bit), "reduction: dimension ", dim, " is named twice in ", dims);
    mask |= bit;
  }
  return mask;
}

/// The first reduced dimension if all of them are neighbours, else -1.
int first_of_neighbours(int rank, unsigned mask) {
  if (mask == 0) return -1;
  int first = 0;
  while (!(mask >> first & 1u)) ++first;
  const unsigned from_first = mask >> first;
  return (from_first & (from_first + 1)) == 0 && first < rank ? first : -1;
}

}  // namespace

Shape kept_shape(const Shape& shape, const Shape& dims) {
  const unsigned mask = mask_of(shape.rank(), dims);
  Shape kept = shape;
  for (int i = 0; i < shape.rank(); ++i)
    if (mask >> i & 1u) kept[i] = 1;
  return kept;
}

Shape left_shape(const Shape& shape, const Shape& dims, bool keepdim) {
  if (keepdim) return kept_shape(shape, dims);
  const unsigned mask = mask_of(shape.rank(), dims);
  Shape left;
  for (int i = 0; i < shape.rank(); ++i)
    if (!(mask >> i & 1u)) left.push_back(shape[i]);
  return left;
}

double element_count(const char* operation, const Shape& shape, const Shape& dims) {
  const unsigned mask = mask_of(shape.rank(), dims);
  int64_t count = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (mask >> i & 1u) count *= shape[i];
  require(count > 0, operation, ": no elements in dimensions ", dims, " of shape ", shape);
  return static_cast<double>(count);
}

Shape joined_order(int rank, const Shape& dims) {
  const unsigned mask = mask_of(rank, dims);
  Shape order;
  const bool neighbours = first_of_neighbours(rank, mask) >= 0;
  for (int i = 0; i < rank; ++i)
    if (neighbours || !(mask >> i & 1u)) order.push_back(i);
  for (int i = 0; i < rank && !neighbours; ++i)
    if (mask >> i & 1u) order.push_back(i);
  return order;
}

Shape joined_shape(const Shape& shape, const Shape& dims) {
  const unsigned mask = mask_of(shape.rank(), dims);
  const int first = first_of_neighbours(shape.rank(), mask);
  int64_t count = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (mask >> i & 1u) count *= shape[i];
  Shape joined;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i == first) joined.push_back(count);
    if (!(mask >> i & 1u)) joined.push_back(shape[i]);
  }
  if (first < 0) joined.push_back(count);
  return joined;
}

int64_t joined_place(int rank, const Shape& dims) {
  const int first = first_of_neighbours(rank, mask_of(rank, dims));
  return first >= 0 ? first : -1;
}

}  // namespace cladtorch::detail
