// Walking several strided operands of one shape together.
#pragma once

#include <array>
#include <cstdint>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/shape.h"

namespace cladtorch::detail {

/// Operand strides of a `shape`-shaped loop over a tensor that broadcasts to it: stretched dimensions get
/// stride 0.
inline Shape broadcast_strides(const Shape& tensor, const Shape& strides, const Shape& shape) {
  Shape result = shape;
  const int missing = shape.rank() - tensor.rank();
  for (int i = 0; i < shape.rank(); ++i)
    result[i] = i < missing || tensor[i - missing] == 1 ? 0 : strides[i - missing];
  return result;
}

/// A loop nest over N operands with neighbouring dimensions merged where all operands allow it.
template <int N>
struct StridedLoop {
  Shape shape;
  std::array<Shape, N> strides;

  StridedLoop(const Shape& full_shape, const std::array<Shape, N>& full_strides) {
    for (int dim = 0; dim < full_shape.rank(); ++dim) {
      if (full_shape[dim] == 1) continue;
      if (shape.rank() > 0 && merges(full_shape[dim], full_strides, dim)) {
        const int last = shape.rank() - 1;
        shape[last] *= full_shape[dim];
        for (int i = 0; i < N; ++i) strides[i][last] = full_strides[i][dim];
      } else {
        shape.push_back(full_shape[dim]);
        for (int i = 0; i < N; ++i) strides[i].push_back(full_strides[i][dim]);
      }
    }
    if (shape.rank() == 0) {
      shape.push_back(1);
      for (int i = 0; i < N; ++i) strides[i].push_back(1);
    }
  }

  int64_t row_length() const { return shape.back(); }
  int64_t rows() const { return row_length() == 0 ? 0 : shape.numel() / row_length(); }

  /// Offsets of the first element of row `row` in each operand.
  std::array<int64_t, N> row_offsets(int64_t row) const {
    std::array<int64_t, N> offsets{};
    for (int dim = shape.rank() - 2; dim >= 0; --dim) {
      const int64_t index = row % shape[dim];
      row /= shape[dim];
      for (int i = 0; i < N; ++i) offsets[i] += index * strides[i][dim];
    }
    return offsets;
  }

  /// Calls body(offsets, length, steps) for pieces of rows, in parallel.
  template <class Body>
  void for_each_row(Body&& body) const {
    constexpr int64_t grain = 1 << 14;
    std::array<int64_t, N> steps{};
    for (int i = 0; i < N; ++i) steps[i] = strides[i].back();
    const int64_t length = row_length();
    if (rows() == 1) {
      parallel_for(length, grain, [&](int64_t begin, int64_t end) {
        std::array<int64_t, N> offsets{};
        for (int i = 0; i < N; ++i) offsets[i] = begin * steps[i];
        body(offsets, end - begin, steps);
      });
      return;
    }
    parallel_for(rows(), length >= grain ? 1 : grain / (length ? length : 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) body(row_offsets(row), length, steps);
                 });
  }

 private:
  bool merges(int64_t extent, const std::array<Shape, N>& full_strides, int dim) const {
    for (int i = 0; i < N; ++i)
      if (strides[i].back() != full_strides[i][dim] * extent) return false;
    return true;
  }
};

}  // namespace cladtorch::detail
