#include "cuda/stream.h"

#include <array>
#include <mutex>

#include "cladtorch/error.h"
#include "cuda/check.h"

namespace cladtorch::cuda {
namespace {

constexpr int most_devices = 64;

struct Streams {
  cudaStream_t compute = nullptr, copy = nullptr;
};

/// Made at first use and kept to the end of the process: a destructor would run after the runtime's own.
Streams& streams_of(Device device) {
  static std::array<Streams, most_devices> all;
  static std::mutex making;
  const int index = device.index;
  require(index >= 0 && index < most_devices, "cuda: there is no device ", index);
  CLADTORCH_CUDA_CALL(cudaSetDevice, index);
  Streams& streams = all[static_cast<size_t>(index)];
  const std::scoped_lock lock(making);
  if (streams.copy == nullptr) {
    CLADTORCH_CUDA_CALL(cudaStreamCreateWithFlags, &streams.compute, cudaStreamNonBlocking);
    CLADTORCH_CUDA_CALL(cudaStreamCreateWithFlags, &streams.copy, cudaStreamNonBlocking);
  }
  return streams;
}

}  // namespace

cudaStream_t compute_stream(Device device) { return streams_of(device).compute; }
cudaStream_t copy_stream(Device device) { return streams_of(device).copy; }

void synchronize(Device device) { CLADTORCH_CUDA_CALL(cudaStreamSynchronize, compute_stream(device)); }

int device_count() {
  static const int count = [] {
    int found = 0;
    if (cudaGetDeviceCount(&found) == cudaSuccess) return found;
    cudaGetLastError();  // no driver, or no device: that is not an error of the program
    return 0;
  }();
  return count;
}

}  // namespace cladtorch::cuda
