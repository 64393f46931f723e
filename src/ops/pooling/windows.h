// Windows that move over images.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "cladtorch/ops/pooling.h"

namespace cladtorch::detail {

struct PooledDimension {
  int64_t in = 1, out = 1;
  int64_t window = 1, stride = 1, padding = 0, dilation = 1;

  struct Range {
    int64_t begin, end;
  };
  /// Elements of x under window o, every dilation-th of them.
  Range range(int64_t o) const {
    int64_t begin = o * stride - padding;
    const int64_t end = std::min(begin + (window - 1) * dilation + 1, in);
    if (begin < 0) begin += (dilation - begin - 1) / dilation * dilation;
    return {begin, end};
  }
};
using PooledDimensions = std::array<PooledDimension, 2>;  ///< height, width

/// Throws Error naming `operation` unless x [N, C, ...] or [C, ...] has `rank` dimensions that the windows
/// fit.
PooledDimensions pooled_dimensions(const char* operation, int rank, const Shape& x,
                                   const PerDimension& window, const PerDimension& stride,
                                   const PerDimension& padding, const PerDimension& dilation, bool ceil_mode);

/// Throws Error naming `operation` unless shape x has `rank` dimensions after one or two others.
void check_image(const char* operation, int rank, const Shape& x);

/// Elements of the last `rank` dimensions.
int64_t image_size(const Shape& shape, int rank);
/// How many images a tensor of this shape has.
int64_t image_count(const Shape& shape, int rank);

/// to [n] = or += sums, rounded once.
template <class C, class Out>
void write_sums(int64_t n, const C* sums, bool add, Out* to) {
  if (add) {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(static_cast<C>(to[i]) + sums[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(sums[i]);
  }
}

}  // namespace cladtorch::detail
