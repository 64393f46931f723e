// A kernel in a file like those of the library: the sums of rows, a block for each row.
#include "row_sums.h"

namespace cuda_host::testing {
namespace {
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = warpSize / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

template <int threads>
__global__ void __launch_bounds__(threads)
    sum_row(const float* __restrict__ in, float* __restrict__ out, int columns) {
  __shared__ float partial[threads / 32];
  const float* row = in + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += threads) sum += row[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < threads / 32 ? partial[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
}  // namespace

cudaError_t row_sums(const float* in, float* out, int rows, int columns, cudaStream_t stream) {
  const cudaLaunchConfig_t config{dim3(rows), dim3(256), 0, stream, nullptr, 0};
  return cudaLaunchKernelEx(&config, sum_row<256>, in, out, columns);
}

}  // namespace cuda_host::testing
