#include "cladtorch/tensor/shape.h"

#include <algorithm>

#include "cladtorch/error.h"

namespace cladtorch {

Shape::Shape(std::span<const int64_t> extents) : rank_(static_cast<int>(extents.size())) {
  require(extents.size() <= max_rank, "Shape: at most ", max_rank, " dimensions, got ", extents.size());
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

void Shape::push_back(int64_t extent) {
  require(rank_ < max_rank, "Shape: at most ", max_rank, " dimensions, cannot add one to ", *this);
  extents_[rank_++] = extent;
}

Shape Shape::without(int dim) const {
  Shape result = *this;
  std::copy(extents_.begin() + dim + 1, extents_.begin() + rank_, result.extents_.begin() + dim);
  --result.rank_;
  return result;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.rank(); ++i) out << (i ? "," : "") << shape[i];
  return out << ']';
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  for (int i = 1; i <= shorter.rank(); ++i) {
    const int64_t x = longer[longer.rank() - i], y = shorter[shorter.rank() - i];
    require(x == y || x == 1 || y == 1, operation, ": shapes do not broadcast: a is ", a, ", b is ", b);
    result[result.rank() - i] = x == 1 ? y : x;
  }
  return result;
}

int checked_dim(const char* operation, int64_t dim, int rank) {
  require(dim >= -rank && dim < rank, operation, ": dimension ", dim,
          " is out of range for a tensor of rank ", rank);
  return static_cast<int>(dim < 0 ? dim + rank : dim);
}

}  // namespace cladtorch
