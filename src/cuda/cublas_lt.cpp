#include "cuda/cublas_lt.h"

#include <array>
#include <mutex>

#include "cladtorch/error.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail("cuda: ", call, " failed: ", cublasLtGetStatusString(status), " (", cublasLtGetStatusName(status),
       ")");
}

cublasLtHandle_t cublas_lt(Device device) {
  // Kept to the end of the process: a destructor would run after the runtime's own.
  static std::array<cublasLtHandle_t, 64> handles{};
  static std::mutex making;
  compute_stream(device);  // also says if there is no such device
  cublasLtHandle_t& handle = handles.at(static_cast<size_t>(device.index));
  const std::scoped_lock lock(making);
  if (handle == nullptr) CLADTORCH_CUBLAS_CALL(cublasLtCreate, &handle);
  return handle;
}

cudaDataType_t cublas_type(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return CUDA_R_64F;
    case DType::bfloat16:
      return CUDA_R_16BF;
    case DType::float32:
      return CUDA_R_32F;
    case DType::float8_e4m3:
      return CUDA_R_8F_E4M3;
    case DType::float8_e5m2:
      return CUDA_R_8F_E5M2;
    default:
      fail("matmul: expected a floating dtype, got ", dtype);
  }
}

}  // namespace cladtorch::cuda
