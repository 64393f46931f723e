#include "cuda/tuning.h"

#include <cstdlib>
#include <string_view>

#include "cuda/check.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {

bool tuning_is_on() {
  const char* const setting = std::getenv("CLADTORCH_CUDA_TUNING");
  return setting == nullptr || std::string_view(setting) != "off";
}

bool is_capturing(Device device) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CLADTORCH_CUDA_CALL(cudaStreamIsCapturing, compute_stream(device), &status);
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace cladtorch::cuda
