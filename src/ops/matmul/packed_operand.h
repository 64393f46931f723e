// Products of few rows with one matrix, which is packed once for many of them.
#pragma once

#include <algorithm>

#include "ops/matmul/packing.h"

namespace cladtorch::detail {

/// The right operand of products of few rows, B(p, j) = from[p * row + j * column], in panels.
template <class C>
class PackedOperand {
 public:
  PackedOperand(int64_t depth, int64_t columns, const C* from, int64_t row, int64_t column, C* memory)
      : depth_(depth), columns_(columns), panel_(panel_of(columns)), data_(memory) {
    for (int64_t j = 0; j < columns; j += panel_)
      pack_lines(std::min(panel_, columns - j), depth, from + j * column, column, row, panel_,
                 memory + j * depth);
  }

  /// Elements of memory.
  static int64_t size(int64_t depth, int64_t columns) {
    return rounded_up(columns, panel_of(columns)) * depth + kernel_of<C>().lanes;
  }

  /// Dense c [rows, columns] = or += dense a [rows, depth] B
  void multiply(int64_t rows, const C* a, C* c, bool add) const {
    const simd::GemmKernel<C>& kernel = kernel_of<C>();
    const int64_t most = EvenSplit(rows, kernel.most_rows[panel_ / kernel.lanes]).size;
    for (int64_t j = 0; j < columns_; j += panel_) {
      for (int64_t i = 0; i < rows; i += most) {
        kernel.run({.rows = std::min(most, rows - i),
                    .columns = std::min(panel_, columns_ - j),
                    .depth = depth_,
                    .a = a + i * depth_,
                    .a_row = depth_,
                    .a_depth = 1,
                    .b = data_ + j * depth_,
                    .b_depth = panel_,
                    .c = c + i * columns_ + j,
                    .c_row = columns_,
                    .add = add});
      }
    }
  }

 private:
  static int64_t panel_of(int64_t columns) {
    const simd::GemmKernel<C>& kernel = kernel_of<C>();
    return EvenSplit(divided_up(columns, kernel.lanes), kernel.vectors).size * kernel.lanes;
  }
  int64_t depth_, columns_, panel_;
  const C* data_;
};

}  // namespace cladtorch::detail
