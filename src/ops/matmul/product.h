// What both ways to compute a product share. Private to gemm.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/scratch.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/packing.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

constexpr int64_t small_product = 1 << 18;  // multiply-adds that are not worth handing to other threads

/// Memory for elements of T, given in bytes.
template <class T>
constexpr int64_t elements(int64_t bytes) {
  return bytes / static_cast<int64_t>(sizeof(T));
}

/// c [rows, columns] = or += left [rows, depth] right [depth, columns], cut into panels of the right
/// operand's columns and tiles of the left operand's rows. A tile reads the right operand by vectors along a
/// panel's columns and broadcasts the elements of the left one, which may therefore have any strides.
template <class T>
struct Product {
  int64_t rows, columns, depth;
  MatrixView<T> left, right;
  T* c;
  int64_t c_row;
  bool add;
  const T* bias;       // per column; per row if `transposed`
  bool transposed;     // c is stored as [columns, rows]
  int64_t panel;       // columns of a panel; the last may have fewer
  int64_t tile_rows;   // rows of a tile; the last may have fewer
  int64_t left_panel;  // rows that are packed together: lines long enough to be moved by whole vectors

  Product(int64_t rows, int64_t columns, int64_t depth, MatrixView<T> left, MatrixView<T> right, T* c,
          int64_t c_row, bool add, const T* bias, bool transposed)
      : rows(rows),
        columns(columns),
        depth(depth),
        left(left),
        right(right),
        c(c),
        c_row(c_row),
        add(add),
        bias(bias),
        transposed(transposed),
        panel(EvenSplit(divided_up(columns, lanes()), kernel().vectors).size * lanes()),
        tile_rows(EvenSplit(rows, kernel().most_rows[panel / lanes()]).size),
        left_panel(8 * tile_rows) {}

  static const simd::GemmKernel<T>& kernel() {
    if constexpr (sizeof(T) == 4) {
      return simd::kernels().gemm_float;
    } else {
      return simd::kernels().gemm_double;
    }
  }
  static int64_t lanes() { return kernel().lanes; }
  int64_t panels() const { return divided_up(columns, panel); }
  int64_t panel_columns(int64_t first) const { return std::min(panel, columns - first); }
  const T* right_at(int64_t p, int64_t j) const { return right.data + p * right.row + j * right.column; }

  /// Memory of the calling thread for what all threads of this product read, and for what it alone needs.
  static T* shared_memory(int64_t count) {
    thread_local Scratch scratch;
    return scratch.get<T>(count);
  }
  static T* own_memory(int64_t count) {
    thread_local Scratch scratch;
    return scratch.get<T>(count);
  }

  /// parallel_for over tasks, unless the whole product is too small for that.
  void for_each(int64_t tasks, ThreadBody prepare, RangeBody body) const {
    parallel_for(tasks, rows * columns * depth < small_product ? tasks : 1, prepare, body);
  }

  /// Packs rows [begin, end) of the left operand, depth [first, first + count); begin is a multiple of
  /// left_panel.
  void pack_left(int64_t begin, int64_t end, int64_t first, int64_t count, T* to) const {
    for (int64_t i = begin; i < end; i += left_panel)
      pack_panel(std::min(left_panel, end - i), count, left.data + i * left.row + first * left.column,
                 left.row, left.column, left_panel, to + (i - begin) * count);
  }
  /// Row i of what pack_left packed for `count` steps of depth from row 0 on; i is a multiple of tile_rows.
  const T* packed_left(const T* packed, int64_t i, int64_t count) const {
    return packed + i / left_panel * left_panel * count + i % left_panel;
  }

  /// Adds the bias to a finished block of c that is not transposed.
  void add_bias(int64_t row_begin, int64_t row_end) const {
    if (!bias) return;
    for (int64_t i = row_begin; i < row_end; ++i)
      for (int64_t j = 0; j < columns; ++j) c[i * c_row + j] += bias[j];
  }
};

}  // namespace cladtorch::detail
