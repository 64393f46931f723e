// The extents of a tensor, stored inline without heap memory.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

namespace cladtorch {

inline constexpr int max_rank = 8;

/// Up to eight non-negative extents. Rank 0 is a scalar with one element.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  /// Throws Error for more than `max_rank` extents.
  explicit Shape(std::span<const int64_t> extents);

  int rank() const { return rank_; }
  int64_t operator[](int dim) const { return extents_[dim]; }
  int64_t& operator[](int dim) { return extents_[dim]; }
  const int64_t* begin() const { return extents_.data(); }
  const int64_t* end() const { return extents_.data() + rank_; }

  /// Product of the extents.
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t extent : *this) n *= extent;
    return n;
  }

  /// The last extent; rank must not be 0.
  int64_t back() const { return extents_[rank_ - 1]; }

  void push_back(int64_t extent);
  Shape with(int dim, int64_t extent) const {
    Shape changed = *this;
    changed.extents_[dim] = extent;
    return changed;
  }
  Shape without(int dim) const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a.extents_[i] != b.extents_[i]) return false;
    return true;
  }

 private:
  std::array<int64_t, max_rank> extents_{};
  int rank_ = 0;
};

/// Writes [2,3,4].
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// Element strides of a dense row-major tensor.
Shape contiguous_strides(const Shape& shape);

/// The shape to which both broadcast by PyTorch's rules: aligned at the right, extents equal or 1.
/// Throws Error naming `operation` and both shapes.
Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b);

/// Dimension index with negative counting from the end; throws Error naming `operation` if out of range.
int checked_dim(const char* operation, int64_t dim, int rank);

}  // namespace cladtorch
