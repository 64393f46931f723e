// The layout of named blocks in one piece of memory.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "cladtorch/tensor/shape.h"

namespace cladtorch::kernels {

/// A named place, in elements from the start of the memory.
struct Block {
  std::string name;
  Shape shape;
  int64_t offset = 0;

  int64_t count() const { return shape.numel(); }
};

/// Consecutive blocks. Each starts at a multiple of 16 elements, which is a cache line for floats.
class Layout {
 public:
  /// Appends a block and returns its number.
  size_t add(std::string name, const Shape& shape);

  const std::vector<Block>& blocks() const { return blocks_; }
  /// The number of elements, including the gaps between blocks.
  int64_t size() const { return size_; }

 private:
  std::vector<Block> blocks_;
  int64_t size_ = 0;
};

/// A table: the offset and the size of each block in elements, its shape and name.
std::ostream& operator<<(std::ostream& out, const Layout& layout);

}  // namespace cladtorch::kernels
