// A blocked product. The depth is cut into chunks; for each, the operand with fewer rows is packed as a whole
// and shared by all threads, while blocks of the other are packed by the thread that multiplies them. Packing
// makes the tile kernel read both operands in order; it costs one pass over an operand that is used hundreds
// of times. Rows of A that are dense in memory are in order already: the kernel reads those where they are.
#include "ops/matmul/gemm.h"

#include <algorithm>
#include <cstring>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/scratch.h"
#include "simd/kernels.h"

namespace cladtorch::detail {
namespace {

constexpr int64_t depth_chunk = 384;         // two panels of it fit the second-level cache with room to spare
constexpr int64_t block_panels = 2;          // panels of B, or 8 times as many of A, that one task packs
constexpr int64_t narrow_panel = 6;          // rows of A: too few for a call of memcpy
constexpr int64_t rows_without_packing = 4;  // so few rows would not repay packing the other operand

template <class T>
const simd::GemmTile<T>& tile_kernel() {
  if constexpr (sizeof(T) == 4) {
    return simd::kernels().gemm_float;
  } else {
    return simd::kernels().gemm_double;
  }
}

/// Lays out `count` lines of `depth` elements as panels of `panel` lines, line index fastest, zero-padded.
/// Line i, element p is from[i * line + p * step].
template <class T>
void pack(int64_t count, int64_t depth, const T* from, int64_t line, int64_t step, int64_t panel, T* to) {
  for (int64_t first = 0; first < count; first += panel, to += panel * depth) {
    const int64_t lines = std::min(panel, count - first);
    const T* source = from + first * line;
    if (lines < panel) std::memset(to, 0, static_cast<size_t>(panel * depth) * sizeof(T));
    if (line == 1 && lines == narrow_panel) {
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < narrow_panel; ++i) to[p * panel + i] = source[p * step + i];
    } else if (line == 1) {
      for (int64_t p = 0; p < depth; ++p)
        std::memcpy(to + p * panel, source + p * step, static_cast<size_t>(lines) * sizeof(T));
    } else if (sizeof(T) == sizeof(float) && step == 1) {
      simd::kernels().transpose(lines, depth, reinterpret_cast<const float*>(source), line,
                                reinterpret_cast<float*>(to), panel);
    } else {
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < lines; ++i) to[p * panel + i] = source[i * line + p * step];
    }
  }
}

template <class T>
struct Product {
  int64_t m, n, k;
  MatrixView<T> a, b;
  T* c;
  int64_t c_row;
  bool add;
  const T* bias;

  void run() const {
    thread_local Scratch shared_scratch;
    const int64_t most = std::min(k, depth_chunk);
    const bool share_a = m <= n;
    T* const shared =
        shared_scratch.get<T>(share_a ? padded(m, tile().rows) * most : padded(n, tile().columns) * most);
    for (int64_t p = 0; p < k; p += depth_chunk) {
      const int64_t depth = std::min(depth_chunk, k - p);
      if (share_a) {
        if (!a_in_place()) {
          pack_all(m, depth, a.data + p * a.column, a.row, a.column, tile().rows, shared);
        }
        multiply_columns(shared, p, depth);
      } else {
        pack_all(n, depth, b.data + p * b.row, b.column, b.row, tile().columns, shared);
        multiply_rows(shared, p, depth);
      }
    }
  }

 private:
  static const simd::GemmTile<T>& tile() { return tile_kernel<T>(); }
  static int64_t padded(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
  bool a_in_place() const { return a.column == 1; }

  /// Memory of the calling thread for its packed block.
  static T* block_scratch(int64_t count) {
    thread_local Scratch scratch;
    return scratch.get<T>(count);
  }

  static void pack_all(int64_t lines, int64_t depth, const T* from, int64_t line, int64_t step, int64_t panel,
                       T* to) {
    const int64_t panels = (lines + panel - 1) / panel;
    parallel_for(panels, std::max<int64_t>(1, (1 << 14) / (panel * depth)), [&](int64_t begin, int64_t end) {
      const int64_t first = begin * panel, count = std::min(lines, end * panel) - first;
      pack(count, depth, from + first * line, line, step, panel, to + first * depth);
    });
  }

  /// Tasks are blocks of columns: all rows of A times a block of B.
  void multiply_columns(const T* packed_a, int64_t p, int64_t depth) const {
    const auto scratch = [&] { return block_scratch(block_panels * tile().columns * depth); };
    parallel_for(n, block_panels * tile().columns, scratch, [&](int64_t begin, int64_t end) {
      T* const packed_b = scratch();
      pack(end - begin, depth, b.data + p * b.row + begin * b.column, b.column, b.row, tile().columns,
           packed_b);
      multiply(0, m, packed_a, begin, end, packed_b, p, depth);
    });
  }

  /// Tasks are blocks of rows: a block of A times all columns of B, packed.
  void multiply_rows(const T* packed_b, int64_t p, int64_t depth) const {
    constexpr int64_t panels = 8 * block_panels;
    const auto scratch = [&] { return a_in_place() ? nullptr : block_scratch(panels * tile().rows * depth); };
    parallel_for(m, panels * tile().rows, scratch, [&](int64_t begin, int64_t end) {
      T* const packed_a = scratch();
      if (packed_a) {
        pack(end - begin, depth, a.data + begin * a.row + p * a.column, a.row, a.column, tile().rows,
             packed_a);
      }
      multiply(begin, end, packed_a, 0, n, packed_b, p, depth);
    });
  }

  /// Rows and columns of c from one chunk of the depth. `packed_a` begins at row_begin, `packed_b` at
  /// column_begin.
  void multiply(int64_t row_begin, int64_t row_end, const T* packed_a, int64_t column_begin,
                int64_t column_end, const T* packed_b, int64_t p, int64_t depth) const {
    const bool accumulate = add || p > 0, in_place = a_in_place();
    const int64_t a_row = in_place ? a.row : 1, a_depth = in_place ? 1 : tile().rows;
    for (int64_t j = column_begin; j < column_end; j += tile().columns) {
      const T* const b_panel = packed_b + (j - column_begin) * depth;
      const int64_t columns = std::min(tile().columns, column_end - j);
      for (int64_t i = row_begin; i < row_end; i += tile().rows) {
        const T* const a_panel = in_place ? a.data + i * a.row + p : packed_a + (i - row_begin) * depth;
        tile().run(std::min(tile().rows, row_end - i), columns, depth, a_panel, a_row, a_depth, b_panel,
                   tile().columns, c + i * c_row + j, c_row, accumulate);
      }
    }
    if (!bias || p + depth < k) return;
    for (int64_t i = row_begin; i < row_end; ++i)
      for (int64_t j = column_begin; j < column_end; ++j) c[i * c_row + j] += bias[j];
  }
};

/// A few rows of A times the transpose of a row-major matrix, without packing: memory-bound.
void gemm_by_dots(const Product<float>& x) {
  const auto dot = simd::kernels().dot;
  parallel_for(x.n, 64, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      for (int64_t i = 0; i < x.m; ++i) {
        float& out = x.c[i * x.c_row + j];
        const float value = dot(x.k, x.a.data + i * x.a.row, x.b.data + j * x.b.column);
        out = (x.add ? out : 0.0f) + value + (x.bias ? x.bias[j] : 0.0f);
      }
    }
  });
}

}  // namespace

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row, bool add,
          const T* bias) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    gemm_reference(m, n, k, a, b, c, c_row, add, bias);
    return;
  }
  const Product<T> product{m, n, k, a, b, c, c_row, add, bias};
  if constexpr (sizeof(T) == 4) {
    if (m <= rows_without_packing && a.column == 1 && b.row == 1) return gemm_by_dots(product);
  }
  product.run();
}

template void gemm(int64_t, int64_t, int64_t, MatrixView<float>, MatrixView<float>, float*, int64_t, bool,
                   const float*);
template void gemm(int64_t, int64_t, int64_t, MatrixView<double>, MatrixView<double>, double*, int64_t, bool,
                   const double*);

}  // namespace cladtorch::detail
