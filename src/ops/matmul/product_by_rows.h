// Tasks are blocks of rows of c. The right operand is packed once and shared by all threads; the left one is
// read in place where its rows are dense, else each task packs its part. Dense rows that must be widened keep
// their order: that takes no transposition.
#pragma once

#include "ops/matmul/product.h"

namespace cladtorch::detail {

template <class In, class Out, class Operand>
class ProductByRows {
  using X = Product<In, Out, Operand>;
  using Sum = typename X::Sum;

 public:
  explicit ProductByRows(const X& product) : x_(product) {
    left_ = x_.left_in_place()                 ? Left::in_place
            : X::widens && x_.left.column == 1 ? Left::widened
                                               : Left::packed;
    const int64_t most_depth = std::max<int64_t>(256, elements<Operand>(shared_bytes) / x_.columns);
    chunk_ = EvenSplit(x_.depth, std::min<int64_t>(most_depth, left_ == Left::packed ? 1024 : 4096)).size;
    const int64_t most = chunk_ >= 2048 ? 48 : 96, fair = divided_up(x_.rows, 4 * num_threads());
    block_ = rounded_up(std::min(most, std::max(fair, x_.tile_rows)),
                        left_ == Left::packed ? x_.left_panel : x_.tile_rows);
    group_ = std::max<int64_t>(1, elements<Operand>(group_bytes) / (x_.panel * chunk_)) * x_.panel;
    keeps_sums_ = X::rounds && chunk_ < x_.depth;
  }

  /// *squares as gemm has it, unless null.
  void run(double* squares = nullptr) {
    if (!squares || x_.transposed || X::rounds || x_.bias) return multiply_all();
    thread_local Scratch scratch;
    const int64_t tiles = divided_up(x_.rows, x_.tile_rows) * x_.panels();
    tile_squares_ = scratch.get<double>(tiles);
    multiply_all();
    *squares = 0;
    for (int64_t i = 0; i < tiles; ++i) *squares += tile_squares_[i];
  }

 private:
  void multiply_all() const {
    const int64_t right_size = right_columns() * chunk_;
    Operand* const right =
        X::template shared_memory<Operand>(right_size + (keeps_sums_ ? x_.rows * right_columns() : 0));
    const auto kept = reinterpret_cast<Sum*>(right + right_size);
    const auto own_memory = [&] { return X::template own_memory<Operand>(left_size() + own_sums()); };
    for (int64_t first = 0; first < x_.depth; first += chunk_) {
      const int64_t depth = std::min(chunk_, x_.depth - first);
      pack_right(first, depth, right);
      const auto multiply_blocks = [&](int64_t from, int64_t to) {
        Operand* const left = own_memory();
        const auto own = reinterpret_cast<Sum*>(left + left_size());
        for (int64_t i = from; i < to; ++i) {
          const Block rows{i * block_, std::min(x_.rows, (i + 1) * block_), first, depth};
          if (left_ == Left::packed) x_.pack_left(rows.begin, rows.end, first, depth, left);
          if (left_ == Left::widened && !one_panel()) widen_left(rows.begin, rows.end, first, depth, left);
          if (x_.transposed) {
            multiply_transposed(rows, left, right, own, kept);
          } else {
            multiply(rows, left, right, own, kept);
          }
        }
      };
      x_.for_each(divided_up(x_.rows, block_), [&] { own_memory(); }, multiply_blocks);
    }
  }

  static constexpr int64_t shared_bytes = 16 << 20;  // of the packed right operand
  static constexpr int64_t group_bytes = 768
                                         << 10;  // of its panels, that stay in a core's second-level cache
  static constexpr int64_t piece_depth = 1024;
  static constexpr int64_t widened_depth = 256;  // of a tile's rows, that stay in the first-level cache
  static constexpr int64_t skew = 16;  // between widened rows, which else begin in the same set of that cache
  static constexpr int64_t bytes_to_stream = 1 << 20;  // of a result that the caches would not keep anyway

  enum class Left { in_place, widened, packed };

  /// Rows of c and a piece of the depth.
  struct Block {
    int64_t begin, end, first, depth;
  };

  /// Then each row of the left operand is used for one tile, and widened just before.
  bool one_panel() const { return x_.transposed && x_.columns <= x_.panel; }
  int64_t right_columns() const { return x_.panels() * x_.panel; }

  int64_t widened_row() const { return (one_panel() ? widened_depth : chunk_) + skew; }
  int64_t left_size() const {
    if (left_ == Left::in_place) return 0;
    if (left_ == Left::packed) return rounded_up(block_, x_.left_panel) * chunk_;
    return (one_panel() ? x_.tile_rows : block_) * widened_row();
  }
  /// A task's memory for sums on their way to c: of a panel to be turned, or of a group of panels.
  int64_t own_sums() const {
    if (x_.transposed) return (keeps_sums_ ? 0 : block_ * x_.panel) + (X::rounds ? block_ * x_.panel : 0);
    return X::rounds && !keeps_sums_ ? block_ * group_ : 0;
  }

  void pack_right(int64_t first, int64_t depth, Operand* to) const {
    x_.for_each(
        x_.panels(), [] {},
        [&](int64_t from, int64_t end) {
          for (int64_t j = from * x_.panel; j < std::min(end * x_.panel, x_.columns); j += x_.panel)
            x_.pack_right_panel(j, first, depth, to + j * depth);
        });
  }
  void widen_left(int64_t begin, int64_t end, int64_t first, int64_t depth, Operand* to) const {
    if constexpr (X::widens)
      simd::kernels().widen(end - begin, depth, x_.left_at(begin, first), x_.left.row, to, widened_row());
  }

  typename X::Tile tile_of(const Block& rows) const {
    typename X::Tile tile{.depth = rows.depth, .a_row = 1, .a_depth = 1};
    if (left_ == Left::in_place) tile.a_row = x_.left.row / X::per_step;
    if (left_ == Left::widened) tile.a_row = widened_row();
    if (left_ == Left::packed) tile.a_depth = x_.left_panel;
    tile.b_depth = x_.panel;
    return tile;
  }
  /// Row i, depth p of the block.
  const Operand* left_at(const Block& rows, int64_t i, int64_t p, const Operand* own) const {
    if (left_ == Left::packed) return x_.packed_left(own, i - rows.begin, rows.depth) + p * x_.left_panel;
    if (left_ == Left::widened) return own + (i - rows.begin) * widened_row() + p;
    return reinterpret_cast<const Operand*>(x_.left_at(i, rows.first + p));
  }

  /// A few panels at a time, so that every tile of rows finds them in the cache.
  void multiply(const Block& rows, const Operand* left, const Operand* right, Sum* own, Sum* kept) const {
    typename X::Tile tile = tile_of(rows);
    const bool last = rows.first + rows.depth == x_.depth;
    tile.add = rows.first > 0;
    if constexpr (!X::rounds) {
      tile.add = tile.add || x_.add;
      tile.stream = !tile.add && rows.depth == x_.depth && may_stream();
    }
    for (int64_t begin = 0; begin < x_.columns; begin += group_) {
      const int64_t end = std::min(x_.columns, begin + group_);
      Sum* sums = keeps_sums_ ? kept + rows.begin * right_columns() + begin : own;
      tile.c_row = keeps_sums_ ? right_columns() : group_;
      if constexpr (!X::rounds) {
        sums = x_.c + rows.begin * x_.c_row + begin;
        tile.c_row = x_.c_row;
      }
      for (int64_t i = rows.begin; i < rows.end; i += x_.tile_rows) {
        tile.rows = std::min(x_.tile_rows, rows.end - i);
        tile.a = left_at(rows, i, 0, left);
        tile.ahead = tile.a;
        for (int64_t j = begin; j < end; j += x_.panel) {
          tile.columns = x_.panel_columns(j);
          tile.b = right + j * rows.depth;
          tile.c = sums + (i - rows.begin) * tile.c_row + j - begin;
          if (tile_squares_ && last)
            tile.squares = tile_squares_ + i / x_.tile_rows * x_.panels() + j / x_.panel;
          x_.kernel().run(tile);
        }
      }
      if (last) x_.finish(rows.begin, rows.end, begin, end, sums, tile.c_row);
    }
  }

  /// Each panel's result is turned around on its way to c. One panel is computed tile by tile: its rows of
  /// the left operand are read once, from memory, and while a tile is computed, the rows of the next are
  /// fetched: they follow. Several panels are computed in pieces of the depth that stay in the cache.
  void multiply_transposed(const Block& rows, Operand* left, const Operand* right, Sum* own,
                           Sum* kept) const {
    Sum* const straight = own + (keeps_sums_ ? 0 : block_ * x_.panel);
    const bool widens_tiles = left_ == Left::widened && one_panel();
    const int64_t piece = widens_tiles ? widened_depth : one_panel() ? rows.depth : piece_depth;
    typename X::Tile tile = tile_of(rows);
    tile.c_row = keeps_sums_ ? right_columns() : x_.panel;
    tile.ahead_step = x_.tile_rows * X::per_step * static_cast<int64_t>(sizeof(In));
    for (int64_t j = 0; j < x_.columns; j += x_.panel) {
      Sum* const sums = keeps_sums_ ? kept + rows.begin * right_columns() + j : own;
      tile.columns = x_.panel_columns(j);
      const auto run_tile = [&](int64_t i, int64_t p) {
        tile.rows = std::min(x_.tile_rows, rows.end - i);
        tile.depth = std::min(piece, rows.depth - p);
        tile.a = widens_tiles ? left : left_at(rows, i, p, left);
        if (widens_tiles) widen_left(i, i + tile.rows, rows.first + p, tile.depth, left);
        tile.ahead = reinterpret_cast<const std::byte*>(x_.left_at(i, rows.first)) +
                     x_.tile_rows * x_.left.row * static_cast<int64_t>(sizeof(In)) + p * tile.ahead_step;
        tile.b = right + j * rows.depth + p * x_.panel;
        tile.add = p > 0 || (X::rounds && rows.first > 0);
        tile.c = sums + (i - rows.begin) * tile.c_row;
        x_.kernel().run(tile);
      };
      if (one_panel()) {
        for (int64_t i = rows.begin; i < rows.end; i += x_.tile_rows)
          for (int64_t p = 0; p < rows.depth; p += piece) run_tile(i, p);
      } else {
        for (int64_t p = 0; p < rows.depth; p += piece)
          for (int64_t i = rows.begin; i < rows.end; i += x_.tile_rows) run_tile(i, p);
      }
      turn(rows, j, sums, tile.c_row, straight);
    }
  }

  /// The sums of the panel at column j to c.
  void turn(const Block& rows, int64_t j, Sum* sums, int64_t row, Sum* straight) const {
    const int64_t count = rows.end - rows.begin, columns = x_.panel_columns(j);
    const bool last = rows.first + rows.depth == x_.depth;
    if (x_.bias && last) {
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < columns; ++k) sums[i * row + k] += static_cast<Sum>(x_.bias[rows.begin + i]);
    }
    Out* const c = x_.c + j * x_.c_row + rows.begin;
    if constexpr (X::rounds) {
      if (!last) return;
      pack_lines(count, columns, sums, row, 1, count, straight);
      for (int64_t k = 0; k < columns; ++k) x_.store_line(count, straight + k * count, c + k * x_.c_row);
    } else if (!x_.add && rows.first == 0) {
      pack_lines(count, columns, sums, row, 1, x_.c_row, c);
    } else {
      for (int64_t k = 0; k < columns; ++k)
        for (int64_t i = 0; i < count; ++i) c[k * x_.c_row + i] += sums[i * row + k];
    }
  }

  /// Whether results may be stored past the caches: too many to be found there later, and all aligned.
  bool may_stream() const {
    const int64_t lanes = x_.lanes();
    return !x_.bias && x_.rows * x_.columns >= elements<Out>(bytes_to_stream) && x_.columns % lanes == 0 &&
           x_.c_row % lanes == 0 &&
           reinterpret_cast<uintptr_t>(x_.c) % (static_cast<size_t>(lanes) * sizeof(Out)) == 0;
  }

  const X& x_;
  Left left_;
  int64_t chunk_;  // of the depth
  int64_t block_;  // rows of a task
  int64_t group_;  // columns
  double* tile_squares_ = nullptr;
  bool keeps_sums_;  // from chunk to chunk, because c cannot hold them
};

}  // namespace cladtorch::detail
