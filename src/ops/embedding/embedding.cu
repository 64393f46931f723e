// Table look-up: 4 bytes an element of bfloat16. In the pullback each row of d_y is read once, and each row
// of the table written once, or twice if it is named and the rest is cleared.
#include "cuda/partial_sums.cuh"
#include "cuda/rows.cuh"
#include "ops/embedding/sorted_positions.cuh"
#include "tensor/device_memory.h"

namespace cladtorch::cuda {
namespace {

template <int N, class T>
__global__ void __launch_bounds__(WarpPerRow::block_threads)
    gather_kernel(int64_t count, int64_t rows, int n, const int32_t* indices, const T* table, T* y) {
  using Team = WarpPerRow;
  const int64_t at = first_row<Team>();
  if (at >= count) return;
  const int32_t index = indices[at];
  T* const to = y + at * n;
  if (index >= 0 && index < rows) {
    walk_row<Team, N>(table + index * int64_t{n}, n, T{},
                      [&](const Pack<T, N>& pack, int column) { store<N>(to + column, pack); });
    return;
  }
  T unknown{};
  if constexpr (!std::is_integral_v<T>) unknown = converted<T>(std::numeric_limits<Computed<T>>::quiet_NaN());
  for (int i = Team::rank(); i < n; i += Team::size()) to[i] = unknown;
}

template <class T>
void gather(Device device, const Tensor& indices, const Tensor& table, Tensor& y) {
  constexpr int N = 16 / sizeof(T);
  const int64_t count = indices.numel(), n = table.size(1);
  const T* const from = table.device_data<T>();
  T* const to = y.device_data<T>();
  auto* const kernel = rows_aligned<T>(n, from, to) ? gather_kernel<N, T> : gather_kernel<1, T>;
  launch(device, kernel, Grid(warps_grid.blocks(count), warps_grid.threads), count, table.size(0),
         static_cast<int>(n), indices.device_data<int32_t>(), from, to);
}

void forward(const Tensor& indices, const Tensor& table, Tensor& y) {
  detail::dispatch_any(table.dtype(), [&]<class T>(T) { gather<T>(table.device(), indices, table, y); });
}

constexpr int chunk = static_cast<int>(detail::embedding_chunk);

/// Chunks of the sorted positions, and what their rows are added to. A row whose positions lie in one chunk
/// is written from there. Else each chunk leaves its sum: that of the row which goes on from the chunk before
/// in sums[chunk][0], that of the row which it begins and does not end in sums[chunk][1].
template <class T, class Out>
struct Scatter {
  using C = Computed<T>;
  SortedPositions sorted;
  int64_t count;
  int32_t rows;
  int n;
  const T* d_y;
  C* sums;
  Out* d_table;
  bool add;

  __device__ bool goes_on_from_before(int64_t first, int32_t index) const {
    return first > 0 && sorted.indices[first - 1] == index;
  }
  __device__ bool goes_on_after(int64_t last, int32_t index) const {
    return last + 1 < count && sorted.indices[last + 1] == index;
  }
  __device__ C* sum(int64_t of_chunk, int which, int column) const {
    return sums + (of_chunk * 2 + which) * n + column;
  }
  template <int N>
  __device__ void write(int32_t index, int column, const Pack<C, N>& value) const {
    Out* const to = d_table + index * int64_t{n} + column;
    Pack<Out, N> result{};
    if (add) result = load<N>(to);
#pragma unroll
    for (int i = 0; i < N; ++i) result.values[i] = converted<Out>(read(result.values[i]) + value.values[i]);
    store<N>(to, result);
  }
};

template <int N, class C, class T>
__device__ __forceinline__ void add_to(Pack<C, N>& sum, const Pack<T, N>& pack) {
#pragma unroll
  for (int i = 0; i < N; ++i) sum.values[i] += read(pack.values[i]);
}

/// A block for each chunk and as many columns as it has threads for packs.
template <int N, class T, class Out>
__global__ void __launch_bounds__(pointwise_threads) add_chunks_kernel(const Scatter<T, Out> scatter) {
  using C = Computed<T>;
  constexpr int at_once = 8;
  const int column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * N;
  if (column >= scatter.n) return;
  const int64_t first = int64_t{blockIdx.x} * chunk, end = min(first + chunk, scatter.count);
  const int32_t* const indices = scatter.sorted.indices;
  int32_t index = indices[first];
  Pack<C, N> sum{};
  const auto finish = [&](int64_t last) {
    if (index == scatter.rows) return;
    if (scatter.goes_on_from_before(first, index)) {
      store<N>(scatter.sum(blockIdx.x, 0, column), sum);
    } else if (last + 1 == end && scatter.goes_on_after(last, index)) {
      store<N>(scatter.sum(blockIdx.x, 1, column), sum);
    } else {
      scatter.write(index, column, sum);
    }
  };
  for (int64_t start = first; start < end; start += at_once) {
    Pack<T, N> d[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (start + k < end)
        d[k] = load<N>(scatter.d_y + scatter.sorted.positions[start + k] * int64_t{scatter.n} + column);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (start + k >= end) continue;
      if (const int32_t next = indices[start + k]; next != index) {
        finish(start + k - 1);
        index = next;
        sum = {};
      }
      add_to(sum, d[k]);
    }
  }
  finish(end - 1);
}

/// Adds the sums of rows that lie in several chunks, by the block of the chunk in which they begin.
template <int N, class T, class Out>
__global__ void __launch_bounds__(pointwise_threads) add_sums_kernel(const Scatter<T, Out> scatter) {
  const int column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * N;
  const int64_t first = int64_t{blockIdx.x} * chunk, last = first + chunk - 1;
  if (column >= scatter.n || last >= scatter.count) return;
  const int32_t* const indices = scatter.sorted.indices;
  const int32_t index = indices[last];
  if (index == scatter.rows || scatter.goes_on_from_before(first, index) ||
      !scatter.goes_on_after(last, index)) {
    return;
  }
  int64_t inside = blockIdx.x + 1, outside = ceil_div(scatter.count, chunk);
  while (inside + 1 < outside) {  // the row goes on in chunk `inside`, and not in `outside`
    const int64_t middle = (inside + outside) / 2;
    (indices[middle * chunk] == index ? inside : outside) = middle;
  }
  Pack<Computed<T>, N> sum = load<N>(scatter.sum(blockIdx.x, 1, column));
#pragma unroll 8
  for (int64_t other = blockIdx.x + 1; other <= inside; ++other)
    add_to(sum, load<N>(scatter.sum(other, 0, column)));
  scatter.write(index, column, sum);
}

template <int N, class T, class Out>
void launch_scatter(Device device, const Scatter<T, Out>& scatter) {
  const int64_t packs = scatter.n / N, chunks = ceil_div(scatter.count, chunk);
  const int64_t threads = std::min<int64_t>(ceil_div(packs, warp_size) * warp_size, pointwise_threads);
  if (packs == 0) return;
  const dim3 blocks(static_cast<unsigned>(chunks), static_cast<unsigned>(ceil_div(packs, threads)));
  const Grid grid(blocks, dim3(static_cast<unsigned>(threads)));
  launch(device, add_chunks_kernel<N, T, Out>, grid, scatter);
  launch(device, add_sums_kernel<N, T, Out>, grid, scatter);
}

template <class T>
void scatter_rows(const detail::EmbeddingPullbackOnDevice& of) {
  constexpr int N = 16 / sizeof(T);
  const Device device = of.d_y.device();
  const int64_t count = of.indices.numel(), n = of.sums.size(2);
  Tensor sums = of.sums;
  detail::write_to<T>(of.d_table, [&]<class Out>(Out* d_table, bool add) {
    if (!add) detail::clear_on(device, d_table, static_cast<size_t>(of.rows * n) * sizeof(Out));
    if (count == 0) return;
    const Scatter<T, Out> scatter{
        sort_positions(device, count, of.indices.device_data<int32_t>(), of.rows, of.sorting),
        count,
        static_cast<int32_t>(of.rows),
        static_cast<int>(n),
        of.d_y.device_data<T>(),
        sums.device_data<Computed<T>>(),
        d_table,
        add};
    if (rows_aligned<T>(n, scatter.d_y, scatter.sums, d_table)) {
      launch_scatter<N>(device, scatter);
    } else {
      launch_scatter<1>(device, scatter);
    }
  });
}

void pullback(const detail::EmbeddingPullbackOnDevice& of) {
  detail::dispatch_real("embedding", of.d_y.dtype(), [&]<class T>(T) { scatter_rows<T>(of); });
}

const detail::DeviceFunctionCode forward_code(detail::embedding_on_device, forward);
const detail::DeviceFunctionCode pullback_code(detail::embedding_pullback_on_device, pullback);

}  // namespace
}  // namespace cladtorch::cuda
