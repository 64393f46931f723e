#include "cuda/check.h"

#include "cladtorch/error.h"

namespace cladtorch::cuda {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // else the next call would report this one
  const bool lasts = cudaPeekAtLastError() != cudaSuccess;
  fail("cuda: ", call, " failed: ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")",
       lasts ? "; a kernel that was launched before may be at fault" : "");
}

}  // namespace cladtorch::cuda
