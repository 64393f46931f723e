// The gradient blocks of the process, found by address.
#pragma once

#include <cstddef>
#include <vector>

#include "cladtorch/kernels/layout.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::kernels::detail {

/// The blocks of one arena. Known to find() as long as it lives.
class GradientBlocks {
 public:
  GradientBlocks(const Tensor& memory, const Layout& layout);
  ~GradientBlocks();
  GradientBlocks(const GradientBlocks&) = delete;
  GradientBlocks& operator=(const GradientBlocks&) = delete;

  std::vector<Tensor>& all() { return blocks_; }
  /// Calls visit(block, its first byte) for every block that has bytes in [begin, end).
  template <class Visit>
  void for_each_in(const std::byte* begin, const std::byte* end, Visit visit) {
    size_t first = 0, last = starts_.size();
    while (last - first > 1) {
      const size_t middle = (first + last) / 2;
      (starts_[middle] <= begin ? first : last) = middle;
    }
    for (; first < starts_.size() && starts_[first] < end; ++first) {
      if (starts_[first] + blocks_[first].nbytes() > begin) visit(blocks_[first], starts_[first]);
    }
  }

  /// The arena that `address` lies in, or null.
  static GradientBlocks* find(const void* address);

 private:
  const std::byte *begin_, *end_;
  std::vector<Tensor> blocks_;
  std::vector<const std::byte*> starts_;
};

}  // namespace cladtorch::kernels::detail
