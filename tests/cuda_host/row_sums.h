// The function that row_sums.cu defines.
#pragma once

#include <cuda_runtime.h>

namespace cuda_host::testing {

cudaError_t row_sums(const float* in, float* out, int rows, int columns, cudaStream_t stream);

}  // namespace cuda_host::testing
