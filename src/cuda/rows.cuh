// Rows of dense memory in kernels: which elements of a row each of the threads that share it has.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "cuda/reduction.cuh"

namespace cladtorch::cuda {

template <int N, class T>
__device__ __forceinline__ Pack<T, N> load(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}
template <int N, class T>
__device__ __forceinline__ void store(T* to, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

// Rows that start anywhere are cut into packs at multiples of 16 bytes. The first column of the first pack is
// then -shift, and the first and the last pack hold elements outside the row.

/// How many elements the row starts after a multiple of N.
template <int N, class T>
__device__ __forceinline__ int shift_of(const T* row) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(row) / sizeof(T) % N);
}

/// The pack at `column` of a row of n elements, with `outside` for those that are not in the row.
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_within(const T* row, int column, int n, T outside) {
  if (column >= 0 && column + N <= n) return load<N>(row + column);
  Pack<T, N> pack;
#pragma unroll
  for (int i = 0; i < N; ++i) pack.values[i] = column + i >= 0 && column + i < n ? row[column + i] : outside;
  return pack;
}
template <int N, class T>
__device__ __forceinline__ void store_within(T* row, int column, int n, const Pack<T, N>& pack) {
  if (column >= 0 && column + N <= n) return store<N>(row + column, pack);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (column + i >= 0 && column + i < n) row[column + i] = pack.values[i];
}

/// A row of T that its threads hold in registers: each up to `elements`, in packs of N, neighbours in
/// neighbouring threads.
template <class T, class RowTeam, int PackSize, int elements_per_thread>
struct HeldRow {
  using Team = RowTeam;
  static constexpr int N = PackSize, elements = elements_per_thread, packs = elements / N;
  static constexpr bool by_warp = std::is_same_v<Team, WarpPerRow>;
  /// At most, so that there are registers for what is held beside.
  static constexpr int block_threads = by_warp                    ? WarpPerRow::block_threads
                                       : N == 1 || sizeof(T) == 8 ? 512
                                                                  : 1024;
  static constexpr int longest = elements * (by_warp ? warp_size : block_threads);

  /// f(k, column) for each pack of this thread in a row of n elements, the first of which is at `column`.
  template <class F>
  __device__ __forceinline__ static void for_each_pack(int n, F&& f) {
    for_each_pack(n, 0, f);
  }
  template <class F>
  __device__ __forceinline__ static void for_each_pack(int n, int shift, F&& f) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const int column = (k * Team::size() + Team::rank()) * N - shift;
      if (column < n) f(k, column);
    }
  }
};

/// The blocks and threads of a kernel on rows.
struct RowGrid {
  int threads;         ///< of a block
  int rows_per_block;  ///< at once

  int64_t blocks(int64_t rows) const { return ceil_div(rows, rows_per_block); }
};

inline constexpr RowGrid warps_grid{WarpPerRow::block_threads, WarpPerRow::block_rows};

/// For kernels that walk rows which are too long to be held.
inline constexpr int long_row_threads = 512;

/// f(pack, column) for each pack of this thread in a row of any length. Several are read before the first is
/// used.
template <class Team, int N, class T, class F>
__device__ __forceinline__ void walk_row(const T* row, int n, T outside, F&& f) {
  constexpr int at_once = 4;
  const int shift = shift_of<N>(row), step = Team::size() * N;
  for (int first = Team::rank() * N - shift; first < n; first += at_once * step) {
    Pack<T, N> packs[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (first + k * step < n) packs[k] = load_within<N>(row, first + k * step, n, outside);
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (first + k * step < n) f(packs[k], first + k * step);
  }
}

/// Calls f(HeldRow<...>{}, grid) with what suits rows of n elements of T, and returns true; or returns false
/// if they are too long. Packs are of 16 bytes if the rows are aligned for them, else single elements. A warp
/// holds a row of up to `longest_of_warp`, at most 32 elements in each lane. The threads of a block hold
/// eight each: with fewer threads too few bytes would be on the way at once.
template <class T, int longest_of_warp, class F>
bool with_held_row(int64_t n, bool aligned, F&& f) {
  constexpr int N = 16 / sizeof(T);
  const auto fits = [&]<class Row>(Row row) {
    if (n > Row::longest) return false;
    const auto threads = static_cast<int>(ceil_div(n, Row::elements * warp_size)) * warp_size;
    f(row, Row::by_warp ? warps_grid : RowGrid{threads, 1});
    return true;
  };
  constexpr int most = longest_of_warp / warp_size;
  if (!aligned) return fits(HeldRow<T, WarpPerRow, 1, most>{}) || fits(HeldRow<T, BlockPerRow, 1, 8>{});
  if (fits(HeldRow<T, WarpPerRow, N, 8>{})) return true;
  if constexpr (most > 16)
    if (fits(HeldRow<T, WarpPerRow, N, 16>{})) return true;
  if constexpr (most > 24)
    if (fits(HeldRow<T, WarpPerRow, N, 24>{})) return true;
  return fits(HeldRow<T, WarpPerRow, N, most>{}) || fits(HeldRow<T, BlockPerRow, N, 8>{});
}

/// Whether rows of n that start at each of `data`, where not null, can be accessed by packs of 16 bytes of T;
/// wider elements of another type lie in wider packs.
template <class T, class... Data>
bool rows_aligned(int64_t n, const Data*... data) {
  constexpr int N = 16 / sizeof(T);
  return n % N == 0 && (is_aligned<N>(data) && ...);
}

/// Whether all of `data`, of T or wider elements, start equally many elements after what packs of 16 bytes of
/// T need, so that their rows of any length can be cut into packs at the same columns.
template <class T, class First, class... Data>
bool equally_aligned(const First* first, const Data*... data) {
  constexpr int N = 16 / sizeof(T);
  const auto shift = []<class Element>(const Element* at) {
    return reinterpret_cast<uintptr_t>(at) / sizeof(Element) % N;
  };
  return ((shift(data) == shift(first)) && ...);
}

}  // namespace cladtorch::cuda
