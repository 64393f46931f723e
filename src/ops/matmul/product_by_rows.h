// Tasks are blocks of rows of c. The right operand is packed once and shared by all threads; the left one is
// read in place where its rows are dense, else each task packs its part.
#pragma once

#include "ops/matmul/product.h"

namespace cladtorch::detail {

template <class T>
class ProductByRows {
 public:
  explicit ProductByRows(const Product<T>& product) : x_(product) {}

  void run() const {
    const int64_t chunk = chunk_depth(), block = block_rows(chunk);
    T* const shared = x_.shared_memory(x_.panels() * x_.panel * chunk);
    const int64_t left_size = in_place() ? 0 : rounded_up(block, x_.left_panel) * chunk;
    const auto own_memory = [&] { return x_.own_memory(left_size + (x_.transposed ? block * x_.panel : 0)); };
    for (int64_t first = 0; first < x_.depth; first += chunk) {
      const int64_t depth = std::min(chunk, x_.depth - first);
      pack_right(first, depth, shared);
      const auto multiply_blocks = [&](int64_t from, int64_t to) {
        T* const own = own_memory();
        for (int64_t i = from; i < to; ++i) {
          const Block rows{i * block, std::min(x_.rows, (i + 1) * block), first, depth};
          if (left_size) x_.pack_left(rows.begin, rows.end, first, depth, own);
          if (x_.transposed) {
            multiply_transposed(rows, own, shared, own + left_size);
          } else {
            multiply(rows, own, shared);
          }
        }
      };
      x_.for_each(divided_up(x_.rows, block), [&] { own_memory(); }, multiply_blocks);
    }
  }

 private:
  static constexpr int64_t shared_bytes = 16 << 20;  // of the packed right operand
  static constexpr int64_t group_bytes = 768
                                         << 10;  // of its panels, that stay in a core's second-level cache
  static constexpr int64_t piece_depth = 1024;
  static constexpr int64_t bytes_to_stream = 1 << 20;  // of a result that the caches would not keep anyway

  /// Rows of c and a piece of the depth.
  struct Block {
    int64_t begin, end, first, depth;
  };

  bool in_place() const { return x_.left.column == 1; }

  int64_t chunk_depth() const {
    const int64_t most = std::max<int64_t>(256, elements<T>(shared_bytes) / x_.columns);
    return EvenSplit(x_.depth, std::min<int64_t>(most, in_place() ? 4096 : 1024)).size;
  }
  int64_t block_rows(int64_t chunk) const {
    const int64_t most = chunk >= 2048 ? 48 : 96, fair = divided_up(x_.rows, 4 * num_threads());
    return rounded_up(std::min(most, std::max(fair, x_.tile_rows)),
                      in_place() ? x_.tile_rows : x_.left_panel);
  }

  void pack_right(int64_t first, int64_t depth, T* to) const {
    x_.for_each(
        x_.panels(), [] {},
        [&](int64_t from, int64_t end) {
          for (int64_t j = from * x_.panel; j < std::min(end * x_.panel, x_.columns); j += x_.panel)
            pack_panel(x_.panel_columns(j), depth, x_.right_at(first, j), x_.right.column, x_.right.row,
                       x_.panel, to + j * depth);
        });
  }

  simd::GemmTile<T> tile_of(const Block& rows) const {
    return {.depth = rows.depth,
            .a_row = in_place() ? x_.left.row : 1,
            .a_depth = in_place() ? 1 : x_.left_panel,
            .b_depth = x_.panel};
  }
  const T* left_at(const Block& rows, int64_t i, const T* packed) const {
    return in_place() ? x_.left.data + i * x_.left.row + rows.first
                      : x_.packed_left(packed, i - rows.begin, rows.depth);
  }

  /// A few panels at a time, so that every tile of rows finds them in the cache.
  void multiply(const Block& rows, const T* left, const T* shared) const {
    const int64_t group = std::max<int64_t>(1, elements<T>(group_bytes) / (x_.panel * rows.depth)) * x_.panel;
    simd::GemmTile<T> tile = tile_of(rows);
    tile.c_row = x_.c_row;
    tile.add = x_.add || rows.first > 0;
    tile.stream = !tile.add && rows.depth == x_.depth && may_stream();
    for (int64_t group_begin = 0; group_begin < x_.columns; group_begin += group) {
      const int64_t group_end = std::min(x_.columns, group_begin + group);
      for (int64_t i = rows.begin; i < rows.end; i += x_.tile_rows) {
        tile.rows = std::min(x_.tile_rows, rows.end - i);
        tile.a = left_at(rows, i, left);
        tile.ahead = tile.a;
        for (int64_t j = group_begin; j < group_end; j += x_.panel) {
          tile.columns = x_.panel_columns(j);
          tile.b = shared + j * rows.depth;
          tile.c = x_.c + i * x_.c_row + j;
          x_.kernel().run(tile);
        }
      }
    }
    if (rows.first + rows.depth == x_.depth) x_.add_bias(rows.begin, rows.end);
  }

  /// Each panel's result is turned around on its way to c. While a tile is computed, the rows of the next are
  /// fetched: they follow in memory.
  void multiply_transposed(const Block& rows, const T* left, const T* shared, T* turned) const {
    simd::GemmTile<T> tile = tile_of(rows);
    tile.c_row = x_.panel;
    tile.ahead_step = x_.tile_rows * static_cast<int64_t>(sizeof(T));
    // One panel is computed in one go: its rows of the left operand are read once, from memory. Several are
    // computed in pieces that stay in the cache.
    const int64_t piece = x_.columns <= x_.panel ? rows.depth : piece_depth;
    for (int64_t j = 0; j < x_.columns; j += x_.panel) {
      tile.columns = x_.panel_columns(j);
      for (int64_t p = 0; p < rows.depth; p += piece) {
        tile.depth = std::min(piece, rows.depth - p);
        tile.b = shared + j * rows.depth + p * x_.panel;
        tile.add = p > 0;
        for (int64_t i = rows.begin; i < rows.end; i += x_.tile_rows) {
          tile.rows = std::min(x_.tile_rows, rows.end - i);
          tile.a = left_at(rows, i, left) + p * tile.a_depth;
          tile.ahead = tile.a + x_.tile_rows * tile.a_row;
          tile.c = turned + (i - rows.begin) * x_.panel;
          x_.kernel().run(tile);
        }
      }
      turn(rows, tile.columns, turned, x_.c + j * x_.c_row + rows.begin);
    }
  }

  void turn(const Block& rows, int64_t columns, T* turned, T* c) const {
    const int64_t count = rows.end - rows.begin;
    if (x_.bias && rows.first + rows.depth == x_.depth) {
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < columns; ++j) turned[i * x_.panel + j] += x_.bias[rows.begin + i];
    }
    if (!x_.add && rows.first == 0) {
      pack_panel<T>(count, columns, turned, x_.panel, int64_t{1}, x_.c_row, c, false);
      return;
    }
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < count; ++i) c[j * x_.c_row + i] += turned[i * x_.panel + j];
  }

  /// Whether results may be stored past the caches: too many to be found there later, and all aligned.
  bool may_stream() const {
    const int64_t lanes = x_.lanes();
    return !x_.bias && x_.rows * x_.columns >= elements<T>(bytes_to_stream) && x_.columns % lanes == 0 &&
           x_.c_row % lanes == 0 &&
           reinterpret_cast<uintptr_t>(x_.c) % (static_cast<size_t>(lanes) * sizeof(T)) == 0;
  }

  const Product<T>& x_;
};

}  // namespace cladtorch::detail
