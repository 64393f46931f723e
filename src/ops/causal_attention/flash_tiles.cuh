// Tiles of queries, keys and values in shared memory, and their products by tensor cores. A warp computes R
// strips of 16 rows of a product; its block, 64 R rows. With two strips what is loaded for the right side is
// used twice: with one, the loads from shared memory take as long as the products.
#pragma once

#include "cuda/tensor_core.cuh"
#include "ops/causal_attention/attention_heads.cuh"

namespace cladtorch::cuda::flash {

constexpr int block_warps = 4, block_threads = block_warps * warp_size;
constexpr int strip_rows = 16;
template <int R>
constexpr int block_rows = block_warps * R * strip_rows;
constexpr float log2_e = 1.4426950408889634f;

__device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
/// Of strip r of this warp, in the block.
template <int R>
__device__ __forceinline__ int first_row_of_strip(int r) {
  return (static_cast<int>(threadIdx.x) / warp_size * R + r) * strip_rows;
}
/// The row of a fragment's elements 0 and 1; that of 2 and 3 is 8 below.
__device__ __forceinline__ int fragment_row() { return lane() / 4; }
/// The column of elements 0 and 2; those of 1 and 3 are next.
__device__ __forceinline__ int fragment_column() { return lane() % 4 * 2; }

/// Rows of D elements. The pieces of 16 bytes of a row are permuted by the row, so that the eight rows that
/// ldmatrix reads at once lie in different banks.
template <int D>
struct Tile {
  bfloat16* data;

  __device__ bfloat16* address(int row, int column) const {
    return data + row * D + ((column / 8) ^ (row % 8)) * 8;
  }

  /// Begins to copy `rows` rows of a head from `first` on, with zeros where there are none from `end` on.
  template <int rows>
  __device__ void load(const bfloat16* head, int64_t stride, int first, int end) const {
    constexpr int pieces = D / 8, rows_at_once = block_threads / pieces;
    static_assert(rows_at_once % 8 == 0 && rows % rows_at_once == 0);
    const int row = static_cast<int>(threadIdx.x) / pieces,
              column = static_cast<int>(threadIdx.x) % pieces * 8;
    bfloat16* to = address(row, column);
    const bfloat16* from = head + (first + row) * stride + column;
#pragma unroll 1
    for (int i = 0; i < rows; i += rows_at_once) {
      const bool exists = first + row + i < end;
      cp_async_16(to, exists ? from : head, exists ? 16 : 0);
      to += rows_at_once * D;
      from += rows_at_once * stride;
    }
  }

  /// A left operand: rows [row, row + 16), columns [column, column + 16).
  __device__ void load_left(uint32_t (&fragment)[4], int row, int column) const {
    ldmatrix_x4(fragment, address(row + lane() % 16, column + lane() / 16 * 8));
  }
  /// Two right operands, 8 columns each, that are the transposes of rows [row, row + 16).
  __device__ void load_right_of_rows(uint32_t (&fragments)[4], int row, int column) const {
    ldmatrix_x4(fragments, address(row + lane() % 8 + lane() / 16 * 8, column + lane() / 8 % 2 * 8));
  }
  /// Two right operands: columns [column, column + 8) and the next 8 of rows [row, row + 16).
  __device__ void load_right(uint32_t (&fragments)[4], int row, int column) const {
    ldmatrix_x4_trans(fragments, address(row + lane() % 16, column + lane() / 16 * 8));
  }
};

/// A strip of a product with 8 N columns, as it is spread over a warp.
template <int N>
using Strip = float[N][4];

/// c [16 R, 8 N] = a b^T, where a [16 R, D] are this warp's rows of a tile and b the first 8 N rows of
/// another.
template <int D, int R, int N>
__device__ __forceinline__ void multiply_rows(Strip<N> (&c)[R], const Tile<D>& a, const Tile<D>& b) {
#pragma unroll
  for (auto& strip : c)
    for (auto& column : strip)
      for (float& value : column) value = 0;
#pragma unroll
  for (int k = 0; k < D / 16; ++k) {
    uint32_t left[R][4], right[4];
#pragma unroll
    for (int r = 0; r < R; ++r) a.load_left(left[r], first_row_of_strip<R>(r), 16 * k);
#pragma unroll
    for (int n = 0; n < N; n += 2) {
      b.load_right_of_rows(right, 8 * n, 16 * k);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        mma_m16n8k16_bf16(c[r][n], left[r], right);
        mma_m16n8k16_bf16(c[r][n + 1], left[r], right + 2);
      }
    }
  }
}

/// c [16 R, D] += a b, where a [16 R, 8 N] is rounded to bfloat16 and b is the first 8 N rows of a tile.
template <int D, int R, int N>
__device__ __forceinline__ void multiply_columns(Strip<D / 8> (&c)[R], const Strip<N> (&a)[R],
                                                 const Tile<D>& b) {
#pragma unroll
  for (int k = 0; k < N / 2; ++k) {
    uint32_t left[R][4], right[4];
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* const pair = a[r][2 * k + i / 2] + i % 2 * 2;
        left[r][i] = packed_bfloat16(pair[0], pair[1]);
      }
    }
#pragma unroll
    for (int n = 0; n < D / 8; n += 2) {
      b.load_right(right, 16 * k, 8 * n);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        mma_m16n8k16_bf16(c[r][n], left[r], right);
        mma_m16n8k16_bf16(c[r][n + 1], left[r], right + 2);
      }
    }
  }
}

/// The rows of a head that begin with row `row` = or += factors[0] (for the upper 8) or factors[1] times c;
/// rows from `end` on are left.
template <int D>
__device__ __forceinline__ void write_strip(const Strip<D / 8>& c, const float (&factors)[2], bfloat16* head,
                                            int64_t stride, int row, int end, bool add) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int at = row + fragment_row() + 8 * half;
    if (at >= end) continue;
    bfloat16* const to = head + at * stride + fragment_column();
#pragma unroll
    for (int n = 0; n < D / 8; ++n) {
      auto& pair = *reinterpret_cast<Pack<bfloat16, 2>*>(to + 8 * n);
      float values[2] = {factors[half] * c[n][2 * half], factors[half] * c[n][2 * half + 1]};
      if (add)
        for (int i = 0; i < 2; ++i) values[i] += widened(pair.values[i]);
      pair = {{narrowed(values[0]), narrowed(values[1])}};
    }
  }
}

/// Whether the query at position `query` of the keys sees key `key`.
__device__ __forceinline__ bool sees(int query, int key, int window) {
  return key <= query && query - key < window;
}

/// What all kernels are launched for: see attention_heads.cuh.
inline bool suits(const Tensor& x) {
  const bfloat16* const data = x.device_data<bfloat16>();
  return is_aligned<8>(data) && x.strides()[0] % 8 == 0 && x.strides()[1] % 8 == 0;
}
inline bool suits(const detail::AttentionLayout& x, const detail::AttentionOperands& in) {
  return in.q.dtype() == DType::bfloat16 && (x.head_size == 64 || x.head_size == 128) && suits(in.q) &&
         suits(in.k) && suits(in.v);
}

}  // namespace cladtorch::cuda::flash
