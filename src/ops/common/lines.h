// Tensors as the lines along one dimension.
#pragma once

#include <algorithm>
#include <array>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/tensor.h"
#include "tensor/strided.h"

namespace cladtorch::detail {

/// Elements of lines that a thread takes at a time.
inline constexpr int64_t line_grain = 1 << 14;

/// A dense tensor as [outer, n, inner], where n is the extent of the dimension.
struct Lines {
  int64_t outer = 1, n, inner = 1;

  Lines(const Shape& shape, int dim) : n(shape[dim]) {
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (int i = dim + 1; i < shape.rank(); ++i) inner *= shape[i];
  }

  /// Calls body(number of the line, its first element) for each line, in parallel.
  template <class Body>
  void for_each(Body&& body) const {
    const int64_t grain = std::max<int64_t>(1, line_grain / std::max<int64_t>(n, 1));
    parallel_for(outer * inner, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) body(line, line / inner * n * inner + line % inner);
    });
  }
};

/// The lines of N strided operands, at equal places in the other dimensions.
template <int N>
class StridedLines {
 public:
  /// `shape` without its dimension `dim` is that of the lines; what `strides` say of `dim` does not matter.
  StridedLines(const Shape& shape, int dim, const std::array<Shape, N>& strides)
      : lines_(shape.without(dim), without(strides, dim)) {}

  int64_t count() const { return lines_.shape.numel(); }
  /// Whether elements of neighbouring lines are neighbours in memory, or the same.
  bool side_by_side() const {
    return std::all_of(lines_.strides.begin(), lines_.strides.end(),
                       [](const Shape& strides) { return strides.back() <= 1; });
  }

  /// Calls body(offsets of the first, count, steps to the next) for neighbouring lines, in parallel. A line
  /// has `length` elements.
  template <class Body>
  void for_each(int64_t length, Body&& body) const {
    const int64_t row = lines_.row_length();
    // A cache line of each element at least.
    const int64_t grain =
        std::max<int64_t>(side_by_side() ? 64 : 1, line_grain / std::max<int64_t>(length, 1));
    std::array<int64_t, N> steps{};
    for (int i = 0; i < N; ++i) steps[i] = lines_.strides[i].back();
    parallel_for(count(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin, lines = 0; line < end; line += lines) {
        lines = std::min(row - line % row, end - line);
        auto offsets = lines_.row_offsets(line / row);
        for (int i = 0; i < N; ++i) offsets[i] += line % row * steps[i];
        body(offsets, lines, steps);
      }
    });
  }

 private:
  static std::array<Shape, N> without(std::array<Shape, N> strides, int dim) {
    for (Shape& of_one : strides) of_one = of_one.without(dim);
    return strides;
  }
  StridedLoop<N> lines_;
};

/// The dimension `dim`, counted from the first. Throws Error naming `operation` if there is none or no
/// tensor.
inline int line_dim(const char* operation, const Tensor& x, int64_t dim) {
  require(x.defined(), operation, ": the tensor is undefined");
  return checked_dim(operation, dim, x.dim());
}

/// The shape of one element for each line.
inline Shape without_line(const Shape& shape, int dim, bool keepdim) {
  return keepdim ? shape.with(dim, 1) : shape.without(dim);
}

}  // namespace cladtorch::detail
