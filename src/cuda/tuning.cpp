#include "cuda/tuning.h"

#include "cuda/check.h"
#include "cuda/stream.h"
#include "tensor/switch.h"

namespace cladtorch::cuda {

bool tuning_is_on() { return detail::is_switched_on("CLADTORCH_CUDA_TUNING"); }

bool is_capturing(Device device) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CLADTORCH_CUDA_CALL(cudaStreamIsCapturing, compute_stream(device), &status);
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace cladtorch::cuda
