#include <algorithm>

#include "cuda/pointwise.cuh"
#include "cuda/reduction.cuh"
#include "ops/reduce/reduce_on_device.h"
#include "ops/reduce/summed_dimensions.h"

namespace cladtorch::cuda {
namespace {

/// Blocks that keep any device busy. Not a property of the device: sums would differ from one to another.
constexpr int64_t enough_blocks = 512;

/// How many blocks share one sum of `count` terms where there are `others` beside it.
int64_t parts_of(int64_t count, int64_t others, int64_t fewest_terms) {
  return std::clamp(enough_blocks / std::max<int64_t>(others, 1), int64_t{1},
                    std::max<int64_t>(ceil_div(count, fewest_terms), 1));
}

constexpr int sum_threads = 256;

/// parts [gridDim.y, outputs]: block (o, p) sums the p-th piece of the terms of output o.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(const T* x, StridedIndex<1> kept, StridedIndex<1> summed, int64_t count, double* parts) {
  int64_t start[1], offset[1];
  kept.find(blockIdx.x, start);
  const int64_t piece = ceil_div(count, gridDim.y), begin = blockIdx.y * piece;
  const int64_t end = begin + piece < count ? begin + piece : count;
  double sum[1] = {};
  for (int64_t i = begin + threadIdx.x; i < end; i += sum_threads) {
    summed.find(i, offset);
    sum[0] += static_cast<double>(read(x[start[0] + offset[0]]));
  }
  BlockPerRow::reduce<Sum>(sum);
  if (threadIdx.x == 0) parts[int64_t{blockIdx.y} * gridDim.x + blockIdx.x] = sum[0];
}

constexpr int column_threads = 32, row_threads = 8;

/// parts [gridDim.y, n]: each block sums a piece of the rows of 32 columns. Reads every element once.
template <class T>
__global__ void __launch_bounds__(column_threads* row_threads)
    sum_rows_kernel(int64_t rows, int64_t n, const T* x, double* parts) {
  auto* const shared = reinterpret_cast<double*>(dynamic_shared_memory());
  const int64_t column = int64_t{blockIdx.x} * column_threads + threadIdx.x;
  const int64_t piece = ceil_div(rows, gridDim.y), begin = blockIdx.y * piece;
  const int64_t end = begin + piece < rows ? begin + piece : rows;
  double sum = 0;
  if (column < n) {
    Computed<T> some = 0;  // a few terms in the type of the elements, for devices whose doubles are slow
    int terms = 0;
    for (int64_t row = begin + threadIdx.y; row < end; row += row_threads) {
      some += read(x[row * n + column]);
      if (++terms % 16 == 0) {
        sum += static_cast<double>(some);
        some = 0;
      }
    }
    sum += static_cast<double>(some);
  }
  shared[threadIdx.y * column_threads + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= n) return;
  for (int i = 1; i < row_threads; ++i) sum += shared[i * column_threads + threadIdx.x];
  parts[blockIdx.y * n + column] = sum;
}

/// Output i is at place `places.find(i)`.
template <Write write, class Out>
__global__ void __launch_bounds__(pointwise_threads)
    add_parts_kernel(int64_t parts, int64_t n, const double* from, double factor, StridedIndex<1> places,
                     Out* out) {
  const int64_t i = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int64_t part = 0; part < parts; ++part) sum += from[part * n + i];
  int64_t place[1];
  places.find(i, place);
  put<write>(out[place[0]], static_cast<Computed<Out>>(sum * factor));
}

void sum_to(const Tensor& x, const Shape& shape, double factor, const GradientTarget& out) {
  const detail::SummedDimensions dims(x, shape);
  const detail::StridedLoop<1> kept(dims.kept, {dims.kept_strides}),
      places(dims.kept, {dims.kept_out_strides}), summed(dims.summed, {dims.summed_strides});
  const int64_t n = dims.kept.numel(), count = dims.summed.numel();
  const bool dense_rows = kept.shape.rank() == 1 && kept.strides[0][0] == 1 && summed.shape.rank() == 1 &&
                          summed.strides[0][0] == n && n > 1;
  const int64_t column_blocks = ceil_div(n, column_threads);
  const int64_t parts =
      dense_rows ? parts_of(count, column_blocks, 64) : parts_of(count, n, int64_t{16} * sum_threads);
  Tensor sums = Tensor::empty({parts, n}, DType::float64, x.device());
  double* const to = sums.device_data<double>();
  detail::dispatch_real("sum_to", x.dtype(), [&]<class T>(T) {
    const T* const from = x.device_data<T>();
    if (dense_rows) {
      const dim3 blocks(static_cast<unsigned>(column_blocks), static_cast<unsigned>(parts)),
          threads(column_threads, row_threads);
      launch(x.device(), sum_rows_kernel<T>,
             Grid(blocks, threads, sizeof(double) * column_threads * row_threads), count, n, from, to);
    } else {
      launch(x.device(), sum_kernel<T>,
             Grid(dim3(static_cast<unsigned>(n), static_cast<unsigned>(parts)), dim3(sum_threads)), from,
             StridedIndex<1>(kept), StridedIndex<1>(summed), count, to);
    }
    detail::write_to<T>(out, [&]<class Out>(Out* result, bool add) {
      with_write(add, [&](auto write) {
        launch(x.device(), add_parts_kernel<decltype(write)::value, Out>,
               Grid(ceil_div(n, pointwise_threads), pointwise_threads), parts, n, to, factor,
               StridedIndex<1>(places), result);
      });
    });
  });
}

const detail::DeviceFunctionCode code(detail::sum_to_on_device, sum_to);

}  // namespace
}  // namespace cladtorch::cuda
