// What both ways to compute a product share. Private to gemm.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/scratch.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/packing.h"
#include "simd/kernels.h"
#include "tensor/bfloat16_kernels.h"

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
///
/// Tiles multiply Operands: elements of In as they are; floats to which bfloat16 is widened where it is
/// packed; or pairs of bfloat16 along the depth. They write Sums: to c if it holds such, else to memory from
/// where finish() rounds them to c.
template <class In, class Out, class Operand>
struct Product {
  using Sum = Computed<In>;
  using Tile = simd::GemmTile<Operand, Sum>;
  static constexpr bool widens = std::is_same_v<In, bfloat16> && std::is_same_v<Operand, float>;
  static constexpr bool rounds = !std::is_same_v<Out, Sum>;
  static constexpr int64_t per_step = std::is_same_v<Operand, simd::BfloatPair> ? 2 : 1;  // of the depth

  int64_t rows, columns, length;  // length: elements of In along the depth
  int64_t depth;                  // in Operands
  MatrixView<In> left, right;
  Out* c;
  int64_t c_row;
  bool add;
  const In* bias;      // per column; per row if `transposed`
  bool transposed;     // c is stored as [columns, rows]
  int64_t panel;       // columns of a panel; the last may have fewer
  int64_t tile_rows;   // rows of a tile; the last may have fewer
  int64_t left_panel;  // rows that are packed together: lines long enough to be moved by whole vectors

  Product(int64_t rows, int64_t columns, int64_t length, MatrixView<In> left, MatrixView<In> right, Out* c,
          int64_t c_row, bool add, const In* bias, bool transposed)
      : rows(rows),
        columns(columns),
        length(length),
        depth(divided_up(length, per_step)),
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

  static const simd::GemmKernel<Operand, Sum>& kernel() {
    if constexpr (std::is_same_v<Operand, float>) {
      return simd::kernels().gemm_float;
    } else if constexpr (std::is_same_v<Operand, double>) {
      return simd::kernels().gemm_double;
    } else {
      return simd::kernels().gemm_pairs;
    }
  }
  static int64_t lanes() { return kernel().lanes; }
  int64_t panels() const { return divided_up(columns, panel); }
  int64_t panel_columns(int64_t first) const { return std::min(panel, columns - first); }
  const In* left_at(int64_t i, int64_t p) const {
    return left.data + i * left.row + p * per_step * left.column;
  }
  const In* right_at(int64_t p, int64_t j) const {
    return right.data + p * per_step * right.row + j * right.column;
  }
  /// Elements in the depth [first, first + count).
  int64_t length_of(int64_t first, int64_t count) const {
    return std::min(count * per_step, length - first * per_step);
  }

  /// Whether a tile can read the left operand where it lies; widening needs a copy in any case.
  bool left_in_place() const {
    const bool whole_pairs =
        per_step == 1 || (left.row % 2 == 0 && length % 2 == 0 && holds_pairs_at(left.data));
    return !widens && left.column == 1 && whole_pairs;
  }
  /// The same for the right one. Whole vectors of adjacent columns can be read in place; a partial one would
  /// read past the end.
  bool right_in_place() const {
    return std::is_same_v<In, Operand> && right.column == 1 && columns % lanes() == 0;
  }

  /// Memory of the calling thread for what all threads of this product read, and for what it alone needs.
  template <class T>
  static T* shared_memory(int64_t count) {
    thread_local Scratch scratch;
    return scratch.get<T>(count);
  }
  template <class T>
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
  void pack_left(int64_t begin, int64_t end, int64_t first, int64_t count, Operand* to) const {
    for (int64_t i = begin; i < end; i += left_panel)
      pack_panel(std::min(left_panel, end - i), length_of(first, count), left_at(i, first), left.row,
                 left.column, left_panel, to + (i - begin) * count);
  }
  /// Row i of what pack_left packed for `count` steps of depth from row 0 on; i is a multiple of tile_rows.
  const Operand* packed_left(const Operand* packed, int64_t i, int64_t count) const {
    return packed + i / left_panel * left_panel * count + i % left_panel;
  }

  /// Packs the panel of the right operand that starts at column j.
  void pack_right_panel(int64_t j, int64_t first, int64_t count, Operand* to) const {
    pack_panel(panel_columns(j), length_of(first, count), right_at(first, j), right.column, right.row, panel,
               to);
  }

  /// The finished sums of a block of c that is not transposed, `from` its first: adds the bias, and takes
  /// them to c if they lie elsewhere.
  void finish(int64_t row_begin, int64_t row_end, int64_t column_begin, int64_t column_end, Sum* from,
              int64_t from_row) const {
    const int64_t n = column_end - column_begin;
    for (int64_t i = row_begin; i < row_end; ++i, from += from_row) {
      if (bias) add_line(n, bias + column_begin, from);
      if constexpr (rounds) store_line(n, from, c + i * c_row + column_begin);
    }
  }
  /// c = or += sums, rounded: one line of n.
  void store_line(int64_t n, Sum* sums, Out* to) const {
    if (add) add_line(n, to, sums);
    narrow(n, sums, to);
  }
  template <class T>
  static void add_line(int64_t n, const T* x, Sum* sums) {
    if constexpr (std::is_same_v<T, Sum>) {
      for (int64_t j = 0; j < n; ++j) sums[j] += x[j];
    } else {
      add_to(n, x, sums);
    }
  }

 private:
  static bool holds_pairs_at(const In* from) {
    if constexpr (std::is_same_v<In, bfloat16>) return holds_pairs(from);
    return false;
  }
  /// pack_lines, and zero behind the last of fewer lines than the panel has.
  static void pack_panel(int64_t lines, int64_t length, const In* from, int64_t line, int64_t step,
                         int64_t panel, Operand* to) {
    if (lines < panel) std::fill_n(to, divided_up(length, per_step) * panel, Operand{});
    pack_lines(lines, length, from, line, step, panel, to);
  }
};

}  // namespace cladtorch::detail
