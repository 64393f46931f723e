// Sums of squares of rows and of their difference, by blocks; the host adds what the blocks have.
#include "ops/causal_attention/row_difference.h"

#include <cmath>

#include "cladtorch/tensor/factories.h"
#include "cuda/reduction.cuh"

namespace cladtorch::cuda {
namespace {

constexpr int threads = 256;
constexpr int64_t most_blocks = 512;

template <class T>
__global__ void __launch_bounds__(threads)
    row_difference_kernel(int64_t rows, int64_t columns, const T* got, int64_t got_row, const T* expected,
                          int64_t expected_row, double* sums) {
  double of_block[2] = {0, 0};
  for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
    for (int64_t j = threadIdx.x; j < columns; j += threads) {
      const double a = converted<double>(got[i * got_row + j]),
                   b = converted<double>(expected[i * expected_row + j]);
      of_block[0] += (a - b) * (a - b);
      of_block[1] += b * b;
    }
  }
  BlockPerRow::reduce<Sum>(of_block);
  if (threadIdx.x != 0) return;
  sums[2 * blockIdx.x] = of_block[0];
  sums[2 * blockIdx.x + 1] = of_block[1];
}

}  // namespace

double relative_difference_on_device(Device device, const ComparedRows& got, const ComparedRows& expected) {
  const int64_t blocks = std::min(got.rows, most_blocks);
  if (blocks == 0) return 0;
  Tensor sums = Tensor::empty({blocks, 2}, DType::float64, device);
  detail::dispatch_real("causal_attention", got.dtype, [&]<class T>(T) {
    launch(device, row_difference_kernel<T>, Grid(blocks, threads), got.rows, got.columns,
           static_cast<const T*>(got.data), got.row, static_cast<const T*>(expected.data), expected.row,
           sums.device_data<double>());
  });
  const Tensor here = sums.to(Device{});
  double difference = 0, size = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    difference += here.data<double>()[2 * i];
    size += here.data<double>()[2 * i + 1];
  }
  if (!std::isfinite(difference) || !std::isfinite(size)) return NAN;
  return difference == 0 ? 0 : std::sqrt(difference / size);  // infinite where all should be 0
}

}  // namespace cladtorch::cuda
