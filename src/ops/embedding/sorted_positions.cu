// A radix sort: each pass orders the pairs by eight bits of their index, from the lowest on, and keeps the
// order of those that have the same. Tiles count their digits, a scan says where each tile puts those it has,
// and the tiles move their pairs there. 16 bytes a pair and pass, which is nothing beside the rows that are
// added.
#include "ops/embedding/sorted_positions.cuh"

#include <bit>

#include "cuda/reduction.cuh"

namespace cladtorch::cuda {
namespace {

constexpr int digits = static_cast<int>(detail::sort_digits), threads = digits;
constexpr int warps = threads / warp_size;
constexpr int tile = static_cast<int>(detail::sort_tile), rounds = tile / threads;

/// Index and position of pairs. Without positions, pair i is what lies at position i.
struct Pairs {
  const int32_t *indices, *positions;
  int64_t count;
  uint32_t rows;

  __device__ uint32_t index(int64_t i) const { return min(static_cast<uint32_t>(indices[i]), rows); }
  __device__ int32_t position(int64_t i) const { return positions ? positions[i] : static_cast<int32_t>(i); }
};

__device__ __forceinline__ int digit_of(uint32_t index, int shift) {
  return static_cast<int>(index >> shift) % digits;
}

/// counts[digit][tile]
__global__ void __launch_bounds__(threads) count_kernel(const Pairs pairs, int shift, int32_t* counts) {
  __shared__ int32_t histogram[digits];
  histogram[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    const int64_t at = int64_t{blockIdx.x} * tile + i * threads + threadIdx.x;
    if (at < pairs.count) atomicAdd(&histogram[digit_of(pairs.index(at), shift)], 1);
  }
  __syncthreads();
  counts[int64_t{threadIdx.x} * gridDim.x + blockIdx.x] = histogram[threadIdx.x];
}

/// The sum of `value` over this lane and those before it.
__device__ __forceinline__ int32_t sum_up_to_lane(int32_t value) {
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const int32_t before = __shfl_up_sync(whole_warp, value, static_cast<unsigned>(distance));
    if (WarpPerRow::rank() >= distance) value += before;
  }
  return value;
}

/// The sum of `value` over the threads of the block before this one. Called once.
__device__ int32_t sum_before_thread(int32_t value) {
  __shared__ int32_t of_warps[warps];
  const int32_t sum = sum_up_to_lane(value);
  if (WarpPerRow::rank() == warp_size - 1) of_warps[WarpPerRow::number()] = sum;
  __syncthreads();
  int32_t before = 0;
  for (int other = 0; other < WarpPerRow::number(); ++other) before += of_warps[other];
  return before + sum - value;
}

/// A warp for each digit: how many pairs of it the tiles before each tile have, instead of how many the tile
/// has itself; and how many there are.
__global__ void __launch_bounds__(WarpPerRow::block_threads)
    scan_kernel(int tiles, int32_t* counts, int32_t* totals) {
  const int64_t digit = first_row<WarpPerRow>();
  int32_t* const of_digit = counts + digit * tiles;
  int32_t done = 0;
  for (int first = 0; first < tiles; first += warp_size) {
    const int at = first + WarpPerRow::rank();
    const int32_t own = at < tiles ? of_digit[at] : 0, sum = sum_up_to_lane(own);
    if (at < tiles) of_digit[at] = done + sum - own;
    done += __shfl_sync(whole_warp, sum, warp_size - 1);
  }
  if (WarpPerRow::rank() == 0) totals[digit] = done;
}

/// The lanes of the warp with the same digit, of those that are `valid`.
__device__ unsigned lanes_with(int digit, bool valid) {
  unsigned lanes = __ballot_sync(whole_warp, valid);
#pragma unroll
  for (int bit = 1; bit < digits; bit *= 2) {
    const unsigned set = __ballot_sync(whole_warp, (digit & bit) != 0);
    lanes &= (digit & bit) != 0 ? set : ~set;
  }
  return lanes;
}

/// Each warp has neighbouring pairs of the tile.
__global__ void __launch_bounds__(threads)
    move_kernel(const Pairs pairs, int shift, const int32_t* counts, const int32_t* totals, int32_t* indices,
                int32_t* positions) {
  __shared__ int32_t places[warps][digits];  // how many a warp has so far; then where its next one goes
  const int lane = WarpPerRow::rank(), warp = WarpPerRow::number(), thread = static_cast<int>(threadIdx.x);
  for (int other = 0; other < warps; ++other) places[other][thread] = 0;
  __syncthreads();
  const int64_t first = int64_t{blockIdx.x} * tile + warp * rounds * warp_size + lane;
  int32_t before[rounds];  // of this digit in this warp
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int64_t at = first + i * warp_size;
    const bool valid = at < pairs.count;
    const int digit = valid ? digit_of(pairs.index(at), shift) : 0;
    const unsigned lanes = lanes_with(digit, valid), lower = lanes & ((1u << lane) - 1);
    before[i] = places[warp][digit] + __popc(lower);
    __syncwarp();
    if (valid && lower == 0) places[warp][digit] += __popc(lanes);
    __syncwarp();
  }
  int32_t place = sum_before_thread(totals[thread]) + counts[int64_t{thread} * gridDim.x + blockIdx.x];
  for (int other = 0; other < warps; ++other) {
    const int32_t own = places[other][thread];
    places[other][thread] = place;
    place += own;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int64_t at = first + i * warp_size;
    if (at >= pairs.count) continue;
    const uint32_t index = pairs.index(at);
    const int32_t to = places[warp][digit_of(index, shift)] + before[i];
    indices[to] = static_cast<int32_t>(index);
    positions[to] = pairs.position(at);
  }
}

}  // namespace

SortedPositions sort_positions(Device device, int64_t count, const int32_t* indices, int64_t rows,
                               detail::SortMemory memory) {
  const int64_t tiles = detail::sort_tiles(count);
  int32_t* const pairs = memory.pairs.device_data<int32_t>();
  int32_t* const counts = memory.counts.device_data<int32_t>();
  int32_t* const totals = counts + digits * tiles;
  SortedPositions sorted{indices, nullptr};
  const int bits = std::bit_width(static_cast<uint32_t>(rows)), digit_bits = std::bit_width(digits - 1u);
  // An empty table too has a pass.
  for (int shift = 0; shift == 0 || shift < bits; shift += digit_bits) {
    int32_t* const to = pairs + (shift / digit_bits % 2 == 0 ? 0 : 2 * count);
    const Pairs from{sorted.indices, sorted.positions, count, static_cast<uint32_t>(rows)};
    launch(device, count_kernel, Grid(tiles, threads), from, shift, counts);
    launch(device, scan_kernel, Grid(digits / WarpPerRow::block_rows, WarpPerRow::block_threads),
           static_cast<int>(tiles), counts, totals);
    launch(device, move_kernel, Grid(tiles, threads), from, shift, counts, totals, to, to + count);
    sorted = {to, to + count};
  }
  return sorted;
}

}  // namespace cladtorch::cuda
