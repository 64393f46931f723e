// Errors of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

namespace cladtorch::cuda {

/// Throws Error that names the call and what the runtime says, unless `status` is cudaSuccess.
void check(cudaError_t status, const char* call);

}  // namespace cladtorch::cuda

/// Makes a call of the runtime and checks it.
#define CLADTORCH_CUDA_CALL(function, ...) ::cladtorch::cuda::check(function(__VA_ARGS__), #function)
