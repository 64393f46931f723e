// Tiles as the products of Hopper's warpgroups read them. Each warpgroup of a block has 64 rows of a product,
// each of its warps 16 of these, spread over the lanes as a strip of flash_tiles.cuh.
#pragma once

#include "cuda/warpgroup.cuh"
#include "ops/causal_attention/flash_softmax.cuh"

namespace cladtorch::cuda::hopper {

using flash::fragment_column;
using flash::fragment_row;
using flash::log2_e;
using flash::Strip;

/// By a shuffle, which tells the compiler that whole warps have the same: products must not lie in what might
/// be divergent.
__device__ __forceinline__ int warpgroup() {
  return __shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
}
/// Of this warp's strip, in the block.
__device__ __forceinline__ int first_row_of_strip() {
  return static_cast<int>(threadIdx.x) / warp_size * flash::strip_rows;
}

/// What a kernel of `threads` is compiled for. Where it has no code, its image says so by one warp.
constexpr int threads_with_code(int threads) { return has_warpgroup_products ? threads : warp_size; }

constexpr int tile_alignment = 1024;
/// The block's dynamic shared memory from a multiple of tile_alignment on, which costs as many bytes.
__device__ __forceinline__ bfloat16* tile_memory() {
  std::byte* const memory = dynamic_shared_memory();
  return reinterpret_cast<bfloat16*>(memory + (-shared_address(memory) & (tile_alignment - 1)));
}
constexpr size_t tile_bytes(int head_size, int rows) {
  return sizeof(bfloat16) * static_cast<size_t>(head_size) * static_cast<size_t>(rows);
}

/// Rows of D elements, in columns of 64 that follow each other: 128 bytes of each row, whose pieces of 16 are
/// permuted by the row.
template <int D, int rows>
struct Tile {
  static_assert(D % 64 == 0 && rows % 8 == 0);
  static constexpr int elements = rows * D;
  static constexpr uint32_t row_bytes = 128, column_bytes = rows * row_bytes;
  bfloat16* data;

  /// Begins to copy rows of a head from `first` on, with zeros where there are none from `end` on; by all
  /// `threads` of the block.
  template <int threads>
  __device__ __forceinline__ void load(const bfloat16* head, int64_t stride, int first, int end) const {
    constexpr int pieces = D / 8, rows_at_once = threads / pieces;
    static_assert(rows_at_once % 8 == 0);
    const int piece = static_cast<int>(threadIdx.x) % pieces, row = static_cast<int>(threadIdx.x) / pieces;
    bfloat16* const to = data + piece / 8 * (rows * 64) + row * 64 + (piece % 8 ^ row % 8) * 8;
    const bfloat16* from = head + (first + row) * stride + piece * 8;
#pragma unroll 1  // by registers
    for (int i = 0; i < rows; i += rows_at_once) {
      if (rows % rows_at_once != 0 && row + i >= rows) break;
      const bool exists = first + row + i < end;
      cp_async_16(to + i * 64, exists ? from : head, exists ? 16 : 0);
      from += rows_at_once * stride;
    }
  }

  /// An operand of which D is the depth: rows from `row` on, columns [16 k, 16 k + 16).
  __device__ __forceinline__ uint64_t by_rows(int row, int k) const {
    return operand_descriptor(shared_address(data) + row * row_bytes + k / 4 * column_bytes + k % 4 * 32, 0);
  }
  /// A right operand of which rows are the depth: rows [16 k, 16 k + 16), all columns.
  __device__ __forceinline__ uint64_t by_columns(int k) const {
    return operand_descriptor(shared_address(data) + k * 16 * row_bytes, column_bytes);
  }
};

/// Begins c = a b^T for this warpgroup's rows of a, which are those from `row` on, and all rows of b.
template <int D, int rows_a, int rows_b>
__device__ __forceinline__ void multiply_rows(Strip<rows_b / 8>& c, const Tile<D, rows_a>& a, int row,
                                              const Tile<D, rows_b>& b) {
#pragma unroll
  for (int k = 0; k < D / 16; ++k)
    multiply_shared<Major::depth>(c, a.by_rows(row, k), b.by_rows(0, k), k > 0);
  warpgroup_commit();
}

/// A strip of 8 N columns, rounded to bfloat16, as left operands.
template <int N>
using Left = uint32_t[N / 2][4];
template <int N>
__device__ __forceinline__ void round_strip(uint32_t (&left)[N / 2][4], const Strip<N>& strip) {
#pragma unroll
  for (int k = 0; k < N / 2; ++k)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* const pair = strip[2 * k + i / 2] + i % 2 * 2;
      left[k][i] = packed_bfloat16(pair[0], pair[1]);
    }
}

/// Begins c += a b, where a has as many columns as b has rows.
template <int D, int rows_b>
__device__ __forceinline__ void multiply_columns(Strip<D / 8>& c, const uint32_t (&a)[rows_b / 16][4],
                                                 const Tile<D, rows_b>& b) {
#pragma unroll
  for (int k = 0; k < rows_b / 16; ++k) multiply_registers<Major::other>(c, a[k], b.by_columns(k), true);
  warpgroup_commit();
}

/// Until what this thread and the others of the block began to copy is there for products.
__device__ __forceinline__ void wait_for_tiles() {
  cp_async_commit();
  cp_async_wait<0>();
  fence_proxy_async();
  __syncthreads();
}

/// Whether the device runs code of Hopper, and the program has this kernel's. An image for another
/// architecture has none in it, as threads_with_code says.
template <class... Parameters>
bool has_code(void (*kernel)(Parameters...), int threads, Device device) {
  int major = 0;
  CLADTORCH_CUDA_CALL(cudaDeviceGetAttribute, &major, cudaDevAttrComputeCapabilityMajor, device.index);
  if (major != 9) return false;
  compute_stream(device);  // the kernel's image is that of the current device
  cudaFuncAttributes attributes{};
  CLADTORCH_CUDA_CALL(cudaFuncGetAttributes, &attributes, reinterpret_cast<const void*>(kernel));
  return attributes.maxThreadsPerBlock >= threads;
}

}  // namespace cladtorch::cuda::hopper
