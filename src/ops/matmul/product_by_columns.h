// Tasks are blocks of columns of c. The left operand is packed once and shared by all threads; the right one
// is read in place if it is used for few rows, else each task packs the part it is about to use.
//
// A task reads whole rows of its block of the right operand, a few at a time, so that memory is read front to
// back. With few rows of c the depth is cut into slices too, to give every thread a part: the first slice
// writes to c, the others to memory of their own that is added at the end, in order.
#pragma once

#include "ops/matmul/product.h"

namespace cladtorch::detail {

template <class In, class Out, class Operand>
class ProductByColumns {
  using X = Product<In, Out, Operand>;
  using Sum = typename X::Sum;

 public:
  explicit ProductByColumns(const X& product) : x_(product) {
    block_rows_ = rounded_up(EvenSplit(x_.rows, most_block_rows).size, x_.tile_rows);
    row_blocks_ = divided_up(x_.rows, block_rows_);
    const int64_t most_slices = std::max<int64_t>(1, slices_times_rows / x_.rows);
    slice_depth_ = rounded_up(divided_up(x_.depth, most_slices), packed_depth);
    slices_ = divided_up(x_.depth, slice_depth_);
    if (slices_ == 1) {
      const int64_t most = elements<Operand>(shared_bytes) / x_.rows;
      chunk_depth_ = rounded_up(EvenSplit(x_.depth, std::max(most, packed_depth)).size, packed_depth);
      slice_depth_ = chunk_depth_;
    } else {
      chunk_depth_ = x_.depth;  // few rows: the packed operand is small
    }
    const int64_t wanted = divided_up(3 * num_threads(), row_blocks_ * slices_);
    const int64_t fair = std::clamp(divided_up(x_.columns, wanted), least_block_columns, most_block_columns);
    block_columns_ = rounded_up(EvenSplit(x_.columns, fair).size, x_.panel);
    column_blocks_ = divided_up(x_.columns, block_columns_);
    in_place_ = x_.right_in_place() && x_.rows < rows_to_repay_packing;
    parts_ = slices_ - slice_in_c;
  }

  void run() const {
    const int64_t left_size = rounded_up(x_.rows, x_.left_panel) * chunk_depth_;
    Operand* const left = X::template shared_memory<Operand>(left_size + parts_ * x_.rows * x_.columns);
    const auto parts = reinterpret_cast<Sum*>(left + left_size);
    for (int64_t first = 0; first < x_.depth; first += chunk_depth_)
      add_chunk(first, std::min(chunk_depth_, x_.depth - first), left, parts);
    if (slices_ > 1) add_slices(parts);
  }

 private:
  static constexpr int64_t packed_depth = 128;       // rows of a panel that stay in the first-level cache
  static constexpr int64_t slices_times_rows = 128;  // slices cost memory for as many results
  static constexpr int64_t least_block_columns = 192, most_block_columns = 768, most_block_rows = 256;
  static constexpr int64_t rows_to_repay_packing = 128;
  static constexpr int64_t shared_bytes = 16 << 20;  // of the packed left operand

  static constexpr int64_t slice_in_c = X::rounds ? 0 : 1;  // whether the first one's sums lie in c

  /// A part of c and of the chunk's depth.
  struct Block {
    int64_t row_begin, row_end, column_begin, column_end, depth_begin, depth_end;
  };
  /// The packed left operand of a chunk.
  struct Left {
    const Operand* data;
    int64_t first, depth;
  };
  /// The sums of one slice.
  struct Output {
    Sum* data;
    int64_t row;
    bool add;
    Sum* at(int64_t i, int64_t j) const { return data + i * row + j; }
  };

  Output output_of(int64_t slice, int64_t first, Sum* parts) const {
    if constexpr (!X::rounds) {
      if (slice == 0) return {x_.c, x_.c_row, x_.add || first > 0};
    }
    return {parts + (slice - slice_in_c) * x_.rows * x_.columns, x_.columns, first > 0};
  }

  /// The depth [first, first + depth): all of it if it is cut into slices.
  void add_chunk(int64_t first, int64_t depth, Operand* left, Sum* parts) const {
    const auto pack = [&](int64_t from, int64_t end) {
      const int64_t begin = from * x_.left_panel;
      x_.pack_left(begin, std::min(x_.rows, end * x_.left_panel), first, depth, left + begin * depth);
    };
    x_.for_each(divided_up(x_.rows, x_.left_panel), [] {}, pack);

    const auto own_memory = [&] {
      return in_place_ ? nullptr : X::template own_memory<Operand>(block_columns_ * packed_depth);
    };
    const auto multiply_blocks = [&](int64_t from, int64_t end) {
      Operand* const own = own_memory();
      for (int64_t i = from; i < end; ++i) {
        const int64_t slice = i / (row_blocks_ * column_blocks_);
        Block block = block_of(i % (row_blocks_ * column_blocks_));
        block.depth_begin = slice * slice_depth_;
        block.depth_end = std::min(depth, block.depth_begin + slice_depth_);
        const Output c = output_of(slice, first, parts);
        multiply(block, {left, first, depth}, own, c);
        if (slices_ == 1 && first + depth == x_.depth)
          x_.finish(block.row_begin, block.row_end, block.column_begin, block.column_end,
                    c.at(block.row_begin, block.column_begin), c.row);
      }
    };
    x_.for_each(slices_ * row_blocks_ * column_blocks_, [&] { own_memory(); }, multiply_blocks);
  }

  void add_slices(Sum* parts) const {
    const Output sums = output_of(0, 0, parts);
    const auto finish = [&](int64_t begin, int64_t end) {
      for (int64_t slice = 1; slice < slices_; ++slice) {
        const Output part = output_of(slice, 0, parts);
        for (int64_t i = begin; i < end; ++i)
          for (int64_t j = 0; j < x_.columns; ++j) *sums.at(i, j) += *part.at(i, j);
      }
      x_.finish(begin, end, 0, x_.columns, sums.at(begin, 0), sums.row);
    };
    x_.for_each(x_.rows, [] {}, finish);
  }

  /// Rows of the right operand read in place at once. The fewer, the better hardware prefetchers follow them;
  /// the more, the less often c is read and written, which counts where more of it hides behind the
  /// arithmetic.
  int64_t in_place_depth() const { return x_.rows < 48 ? 32 : 64; }

  Block block_of(int64_t index) const {
    const int64_t row = index % row_blocks_ * block_rows_, column = index / row_blocks_ * block_columns_;
    return {row,    std::min(x_.rows, row + block_rows_),
            column, std::min(x_.columns, column + block_columns_),
            0,      0};
  }

  /// Spreads the prefetching of some rows over the tiles computed before them.
  class Ahead {
   public:
    Ahead(const In* from, int64_t row, int64_t columns, int64_t rows, int64_t tiles)
        : from_(from), row_(row), columns_(columns), step_(divided_up(rows * columns, tiles)) {}
    /// Gives the next tile its share.
    void share_with(typename X::Tile& tile) {
      tile.ahead = from_ + position_ / columns_ * row_ + position_ % columns_;
      tile.ahead_step = divided_up(step_ * static_cast<int64_t>(sizeof(In)), tile.depth);
      position_ += step_;
    }

   private:
    const In* from_;
    int64_t row_, columns_, step_, position_ = 0;
  };

  void multiply(const Block& block, const Left& left, Operand* own, Output c) const {
    const int64_t step = own ? packed_depth : in_place_depth(),
                  columns = block.column_end - block.column_begin;
    const int64_t tiles =
        divided_up(columns, x_.panel) * divided_up(block.row_end - block.row_begin, x_.tile_rows);
    for (int64_t p = block.depth_begin; p < block.depth_end; p += step) {
      const int64_t depth = std::min(step, block.depth_end - p);
      const int64_t next = x_.right.column == 1 ? std::min(step, block.depth_end - p - depth) : 0;
      Ahead ahead(x_.right_at(left.first + (next ? p + depth : p), block.column_begin), x_.right.row, columns,
                  next * X::per_step, tiles);
      if (own) pack_right(block, left.first + p, depth, own);
      typename X::Tile tile{.depth = depth,
                            .a_row = 1,
                            .a_depth = x_.left_panel,
                            .b_depth = own ? x_.panel : x_.right.row,
                            .c_row = c.row,
                            .add = c.add || p > block.depth_begin};
      for (int64_t j = block.column_begin; j < block.column_end; j += x_.panel) {
        tile.columns = x_.panel_columns(j);
        if constexpr (std::is_same_v<In, Operand>) tile.b = x_.right_at(left.first + p, j);
        if (own) tile.b = own + (j - block.column_begin) * depth;
        for (int64_t i = block.row_begin; i < block.row_end; i += x_.tile_rows) {
          tile.rows = std::min(x_.tile_rows, block.row_end - i);
          tile.a = x_.packed_left(left.data, i, left.depth) + p * x_.left_panel;
          tile.c = c.at(i, j);
          ahead.share_with(tile);
          x_.kernel().run(tile);
        }
      }
    }
  }

  /// A block's rows [first, first + depth) of the right operand as panels: row by row where rows are dense.
  void pack_right(const Block& block, int64_t first, int64_t depth, Operand* to) const {
    if (x_.right.column != 1) {
      for (int64_t j = block.column_begin; j < block.column_end; j += x_.panel)
        x_.pack_right_panel(j, first, depth, to + (j - block.column_begin) * depth);
      return;
    }
    const int64_t columns = block.column_end - block.column_begin, whole = columns / x_.panel,
                  rest = columns % x_.panel;
    for (int64_t p = 0; p < depth; ++p, to += x_.panel) {
      const In* const from = x_.right_at(first + p, block.column_begin);
      const bool has_second = x_.length_of(first + p, 1) == 2;
      move(whole, x_.panel, from, has_second, to, x_.panel * depth);
      if (rest == 0) continue;
      Operand* const last = to + whole * x_.panel * depth;
      move(1, rest, from + whole * x_.panel, has_second, last, 0);
      std::fill(last + rest, last + x_.panel, Operand{});
    }
  }
  /// Takes n columns of each of some panels to lines `to_line` apart.
  void move(int64_t panels, int64_t n, const In* from, [[maybe_unused]] bool has_second, Operand* to,
            int64_t to_line) const {
    if constexpr (std::is_same_v<In, Operand>) {
      for (int64_t i = 0; i < panels; ++i) std::copy_n(from + i * n, n, to + i * to_line);
    } else if constexpr (X::widens) {
      simd::kernels().widen(panels, n, from, n, to, to_line);
    } else {
      simd::kernels().pair(panels, n, from, has_second ? from + x_.right.row : nullptr, n, to, to_line);
    }
  }

  const X& x_;
  int64_t block_rows_, row_blocks_, block_columns_, column_blocks_, slice_depth_, slices_, chunk_depth_,
      parts_;
  bool in_place_;
};

}  // namespace cladtorch::detail
