// The transposed product where the left operand's columns are dense: gradients dx^T = W^T dy^T. A task owns
// some rows and columns of the result and goes down the depth in short pieces, whose part of the left operand
// is read in place, or converted row by row: the rows of W from which it comes are long stretches of memory.
// The next piece is fetched while one is computed. The result is turned around when it is complete.
//
// With few columns the depth is cut into slices too, to give every thread a part. Their sums go to memory of
// their own and are added at the end, in order, to the first slice's.
#pragma once

#include "ops/matmul/product.h"

namespace cladtorch::detail {

template <class In, class Out, class Operand>
class ProductInPieces {
  using X = Product<In, Out, Operand>;
  using Sum = typename X::Sum;

 public:
  /// Sums that are rounded must be complete: then all of the right operand is packed at once.
  static bool suits(const X& x) {
    return x.transposed && x.left.row == 1 &&
           (!X::rounds || x.depth * x.columns <= elements<Operand>(shared_bytes));
  }

  explicit ProductInPieces(const X& product) : x_(product) {
    piece_depth_ = x_.columns <= 32 ? 32 : 64;
    slice_depth_ = rounded_up(divided_up(x_.depth, x_.columns <= 64 ? 2 : 1), piece_depth_);
    slices_ = divided_up(x_.depth, slice_depth_);
    if (slices_ == 1 && !X::rounds) {
      const int64_t most = elements<Operand>(shared_bytes) / x_.columns;
      slice_depth_ = rounded_up(EvenSplit(x_.depth, std::max(most, piece_depth_)).size, piece_depth_);
    }
    chunk_depth_ = slices_ == 1 ? slice_depth_ : x_.depth;  // few columns: the packed operand is small
    const int64_t panels = std::max<int64_t>(1, most_block_columns / x_.panel);
    block_columns_ = EvenSplit(x_.panels(), panels).size * x_.panel;
    column_blocks_ = divided_up(x_.columns, block_columns_);
    const int64_t wanted = divided_up(num_threads(), column_blocks_ * slices_);
    const int64_t fair = std::clamp(divided_up(x_.rows, wanted), least_block_rows, most_block_rows);
    block_rows_ = rounded_up(EvenSplit(x_.rows, fair).size, x_.tile_rows);
    row_blocks_ = divided_up(x_.rows, block_rows_);
  }

  void run() const {
    const int64_t right_size = x_.panels() * x_.panel * chunk_depth_;
    const int64_t parts_size = slices_ > 1 ? slices_ * x_.rows * x_.columns : 0;
    Operand* const right = X::template shared_memory<Operand>(right_size + parts_size);
    const auto parts = reinterpret_cast<Sum*>(right + right_size);
    for (int64_t first = 0; first < x_.depth; first += chunk_depth_)
      add_chunk(first, std::min(chunk_depth_, x_.depth - first), right, parts);
    if (slices_ > 1) add_slices(parts);
  }

 private:
  // Long stretches of memory are read faster: blocks have fewer rows only where there are more threads.
  static constexpr int64_t least_block_rows = 96, most_block_rows = 768, most_block_columns = 128;
  static constexpr int64_t turned_columns = 16;      // that are turned around at once
  static constexpr int64_t shared_bytes = 16 << 20;  // of the packed right operand
  static constexpr bool in_place = std::is_same_v<In, Operand>;
  static_assert(sizeof(Operand) == sizeof(Sum), "they share memory");

  struct Block {
    int64_t row_begin, row_end, column_begin, column_end, depth_begin, depth_end;
    int64_t rows() const { return row_end - row_begin; }
    int64_t columns() const { return column_end - column_begin; }
  };
  /// The packed right operand of a chunk.
  struct Right {
    const Operand* data;
    int64_t first, depth;
  };

  /// The depth [first, first + depth): all of it if it is cut into slices.
  void add_chunk(int64_t first, int64_t depth, Operand* right, Sum* parts) const {
    x_.for_each(
        x_.panels(), [] {},
        [&](int64_t from, int64_t end) {
          for (int64_t j = from * x_.panel; j < std::min(end * x_.panel, x_.columns); j += x_.panel)
            x_.pack_right_panel(j, first, depth, right + j * depth);
        });
    const int64_t sums_size = block_rows_ * (block_columns_ + turned_columns);
    const auto own_memory = [&] {
      return X::template own_memory<Sum>(sums_size + (in_place ? 0 : piece_depth_ * block_rows_));
    };
    const auto multiply_blocks = [&](int64_t from, int64_t end) {
      Sum* const sums = own_memory();
      const auto left = reinterpret_cast<Operand*>(sums + sums_size);
      for (int64_t i = from; i < end; ++i) {
        const int64_t slice = i / (row_blocks_ * column_blocks_);
        Block block = block_of(i % (row_blocks_ * column_blocks_));
        block.depth_begin = slice * slice_depth_;
        block.depth_end = std::min(depth, block.depth_begin + slice_depth_);
        multiply(block, {right, first, depth}, left, sums);
        if (slices_ > 1) {
          turn_to_part(block, sums, parts + slice * x_.rows * x_.columns);
        } else {
          turn_to_c(block, sums, first > 0, first + depth == x_.depth);
        }
      }
    };
    x_.for_each(slices_ * row_blocks_ * column_blocks_, [&] { own_memory(); }, multiply_blocks);
  }

  Block block_of(int64_t index) const {
    const int64_t row = index / column_blocks_ * block_rows_,
                  column = index % column_blocks_ * block_columns_;
    return {row,    std::min(x_.rows, row + block_rows_),
            column, std::min(x_.columns, column + block_columns_),
            0,      0};
  }

  /// Elements between the rows of a block's sums: whole panels.
  int64_t width_of(const Block& block) const { return rounded_up(block.columns(), x_.panel); }

  /// Spreads the fetching of a piece of the left operand over the tiles computed before it, line by line.
  class Ahead {
   public:
    Ahead(const In* from, int64_t stride, int64_t length, int64_t count, int64_t tiles)
        : from_(from),
          stride_(stride),
          lines_(divided_up(length, line)),
          step_(divided_up(count * lines_, tiles)) {}
    /// Gives the next tile its share.
    void share_with(typename X::Tile& tile) {
      tile.ahead = from_ + position_ / lines_ * stride_ + position_ % lines_ * line;
      tile.ahead_step = divided_up(step_ * line * static_cast<int64_t>(sizeof(In)), tile.depth);
      position_ += step_;
    }

   private:
    static constexpr int64_t line = elements<In>(64);  // of the cache
    const In* from_;
    int64_t stride_, lines_, step_, position_ = 0;
  };

  void multiply(const Block& block, const Right& right, Operand* left, Sum* sums) const {
    const int64_t width = width_of(block);
    const int64_t tiles = width / x_.panel * divided_up(block.rows(), x_.tile_rows);
    for (int64_t p = block.depth_begin; p < block.depth_end; p += piece_depth_) {
      const int64_t depth = std::min(piece_depth_, block.depth_end - p);
      const int64_t next = std::min(piece_depth_, block.depth_end - p - depth);
      const int64_t first = right.first + p;
      Ahead ahead(x_.left_at(block.row_begin, next ? first + depth : first), x_.left.column, block.rows(),
                  next * X::per_step, tiles);
      typename X::Tile tile{.columns = x_.panel,
                            .depth = depth,
                            .a_row = 1,
                            .a_depth = in_place ? x_.left.column : block_rows_,
                            .b_depth = x_.panel,
                            .c_row = width,
                            .add = p > block.depth_begin};
      const Operand* from = left;
      if constexpr (in_place) {
        from = x_.left_at(block.row_begin, first);
      } else {
        convert_left(block, first, depth, left);
      }
      for (int64_t j = 0; j < width; j += x_.panel) {
        tile.b = right.data + (block.column_begin + j) * right.depth + p * x_.panel;
        for (int64_t i = 0; i < block.rows(); i += x_.tile_rows) {
          tile.rows = std::min(x_.tile_rows, block.rows() - i);
          tile.a = from + i;
          tile.c = sums + i * width + j;
          ahead.share_with(tile);
          x_.kernel().run(tile);
        }
      }
    }
  }

  void convert_left(const Block& block, int64_t first, int64_t depth, Operand* to) const {
    for (int64_t p = first; p < first + depth; ++p, to += block_rows_) {
      const In* const from = x_.left_at(block.row_begin, p);
      if constexpr (X::widens) {
        simd::kernels().widen(1, block.rows(), from, 0, to, 0);
      } else if constexpr (!in_place) {
        const bool has_second = x_.length_of(p, 1) == 2;
        simd::kernels().pair(1, block.rows(), from, has_second ? from + x_.left.column : nullptr, 0, to, 0);
      }
    }
  }

  /// Some columns of a block's sums, each a line of the block's rows, `line` apart.
  void turn(const Block& block, const Sum* sums, int64_t first, int64_t count, Sum* to, int64_t line) const {
    pack_lines<Sum>(block.rows(), count, sums + first, width_of(block), int64_t{1}, line, to);
  }

  void turn_to_part(const Block& block, const Sum* sums, Sum* part) const {
    turn(block, sums, 0, block.columns(), part + block.column_begin * x_.rows + block.row_begin, x_.rows);
  }

  void turn_to_c(const Block& block, Sum* sums, bool add, bool complete) const {
    const int64_t rows = block.rows();
    const In* const bias = complete && x_.bias ? x_.bias + block.row_begin : nullptr;
    Out* const to = x_.c + block.column_begin * x_.c_row + block.row_begin;
    Sum* const turned = sums + block_rows_ * block_columns_;
    for (int64_t j = 0; j < block.columns(); j += turned_columns) {
      const int64_t count = std::min(turned_columns, block.columns() - j);
      if constexpr (!X::rounds) {
        if (!bias && !x_.add && !add) {
          turn(block, sums, j, count, to + j * x_.c_row, x_.c_row);
          continue;
        }
      }
      turn(block, sums, j, count, turned, rows);
      for (int64_t k = 0; k < count; ++k)
        finish_line(rows, turned + k * rows, bias, x_.add || add, to + (j + k) * x_.c_row);
    }
  }

  void finish_line(int64_t n, Sum* sums, const In* bias, [[maybe_unused]] bool add, Out* to) const {
    if (bias) x_.add_line(n, bias, sums);
    if constexpr (X::rounds) {
      x_.store_line(n, sums, to);
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = add ? to[i] + sums[i] : sums[i];
    }
  }

  void add_slices(Sum* parts) const {
    const auto finish = [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        Sum* const sums = parts + j * x_.rows;
        for (int64_t slice = 1; slice < slices_; ++slice)
          x_.add_line(x_.rows, sums + slice * x_.rows * x_.columns, sums);
        finish_line(x_.rows, sums, x_.bias, x_.add, x_.c + j * x_.c_row);
      }
    };
    x_.for_each(x_.columns, [] {}, finish);
  }

  const X& x_;
  int64_t piece_depth_, block_rows_, row_blocks_, block_columns_, column_blocks_, slice_depth_, slices_,
      chunk_depth_;
};

}  // namespace cladtorch::detail
