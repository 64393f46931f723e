// Sums of the columns of a matrix: gradients of a bias. A block adds 8 rows at a time of a part of the rows,
// a second kernel adds the parts in their order. Reads each element once; what is written between is a
// hundredth of that.
#include "cuda/partial_sums.cuh"
#include "ops/matmul/matmul_on_device.h"

namespace cladtorch::cuda {
namespace {

constexpr int row_lanes = 8;

template <int N, class T>
__global__ void __launch_bounds__(warp_size* row_lanes)
    sum_part_kernel(int64_t rows, int64_t n, int64_t part_rows, const T* x, Computed<T>* parts) {
  using C = Computed<T>;
  __shared__ C shared[row_lanes][warp_size * N];
  const int64_t column = (int64_t{blockIdx.x} * warp_size + threadIdx.x) * N;
  const int64_t begin = int64_t{blockIdx.y} * part_rows, end = std::min(rows, begin + part_rows);
  C sums[N] = {};
  if (column < n) {
#pragma unroll 4
    for (int64_t row = begin + threadIdx.y; row < end; row += row_lanes) {
      const auto pack = *reinterpret_cast<const Pack<T, N>*>(x + row * n + column);
#pragma unroll
      for (int i = 0; i < N; ++i) sums[i] += read(pack.values[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) shared[threadIdx.y][i * warp_size + threadIdx.x] = sums[i];
  __syncthreads();
  if (threadIdx.y > 0 || column >= n) return;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    C sum = 0;
    for (int lane = 0; lane < row_lanes; ++lane) sum += shared[lane][i * warp_size + threadIdx.x];
    parts[int64_t{blockIdx.y} * n + column + i] = sum;
  }
}

template <int N, class T>
void sum_parts(const Tensor& x, Tensor& parts) {
  const int64_t rows = x.size(0), n = x.size(1), count = parts.size(0);
  const int64_t part_rows = std::max<int64_t>(1, ceil_div(rows, count));
  const dim3 blocks(static_cast<unsigned>(ceil_div(n, warp_size * N)), static_cast<unsigned>(count));
  launch(x.device(), sum_part_kernel<N, T>, Grid(blocks, dim3(warp_size, row_lanes)), rows, n, part_rows,
         x.device_data<T>(), parts.device_data<Computed<T>>());
}

void column_sums(const Tensor& x, const GradientTarget& to, Tensor& parts) {
  const int64_t n = x.size(1);
  detail::dispatch_real("sum", x.dtype(), [&]<class T>(T) {
    constexpr int N = pack_size<T>;
    if (n % N == 0 && is_aligned<N>(x.device_data<T>())) {
      sum_parts<N, T>(x, parts);
    } else {
      sum_parts<1, T>(x, parts);
    }
    add_parts<T>(x.device(), parts.size(0), n, parts.device_data<Computed<T>>(), to);
  });
}

const detail::DeviceFunctionCode code(detail::column_sums_on_device, column_sums);

}  // namespace
}  // namespace cladtorch::cuda
