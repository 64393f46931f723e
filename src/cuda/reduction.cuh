// Sums and maxima over the threads that share a row: a warp or a block. All of these threads get the same
// bits, in every run.
#pragma once

#include <limits>

#include "cuda/elements.cuh"
#include "cuda/launch.cuh"

namespace cladtorch::cuda {

struct Sum {
  template <class T>
  __device__ static T of_nothing() {
    return T(0);
  }
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// NaN is lost: what is computed beside a maximum must show it.
struct Maximum {
  template <class T>
  __device__ static T of_nothing() {
    return -std::numeric_limits<T>::infinity();
  }
  template <class T>
  __device__ T operator()(T a, T b) const {
    return max(a, b);
  }
};

/// Every lane combines the same pairs, which commute.
template <class Op, class T>
__device__ __forceinline__ T warp_reduce(T value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = Op{}(value, __shfl_xor_sync(whole_warp, value, distance));
  return value;
}

/// Threads of a kernel that work on one row together, as rank() of size(). The block has one dimension, and
/// its threads all call reduce(), which makes of each of N values that of all ranks together.
struct WarpPerRow {
  static constexpr int block_threads = 256, block_rows = block_threads / warp_size;

  __device__ static int rank() { return static_cast<int>(threadIdx.x) % warp_size; }
  __device__ static constexpr int size() { return warp_size; }
  /// Number of the row among those of the block, and how many these are.
  __device__ static int number() { return static_cast<int>(threadIdx.x) / warp_size; }
  __device__ static int count() { return static_cast<int>(blockDim.x) / warp_size; }

  template <class Op, class T, int N>
  __device__ static void reduce(T (&values)[N]) {
#pragma unroll
    for (T& value : values) value = warp_reduce<Op>(value);
  }
};

struct BlockPerRow {
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static int size() { return static_cast<int>(blockDim.x); }
  __device__ static constexpr int number() { return 0; }
  __device__ static constexpr int count() { return 1; }

  template <class Op, class T, int N>
  __device__ static void reduce(T (&values)[N]) {
    __shared__ T of_warps[N][warp_size];
    WarpPerRow::reduce<Op>(values);
    const int lane = WarpPerRow::rank(), warps = WarpPerRow::count();
    __syncthreads();  // what the last call left there has been read
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (lane == 0) of_warps[i][WarpPerRow::number()] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; ++i)
      values[i] = warp_reduce<Op>(lane < warps ? of_warps[i][lane] : Op::template of_nothing<T>());
  }
};

/// The row that the calling thread starts with, and how many rows the grid works on at once.
template <class Team>
__device__ int64_t first_row() {
  return int64_t{blockIdx.x} * Team::count() + Team::number();
}
template <class Team>
__device__ int64_t rows_at_once() {
  return int64_t{gridDim.x} * Team::count();
}

}  // namespace cladtorch::cuda
