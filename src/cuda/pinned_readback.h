// Numbers that come back through pinned memory.
#pragma once

#include "cuda/check.h"
#include "cuda/stream.h"
#include "tensor/readback.h"

namespace cladtorch::cuda {

class PinnedReadback final : public detail::Readback {
 public:
  PinnedReadback(Device device, size_t bytes) : device_(device), bytes_(bytes) {
    compute_stream(device);
    CLADTORCH_CUDA_CALL(cudaEventCreateWithFlags, &there_, cudaEventDisableTiming);
    CLADTORCH_CUDA_CALL(cudaMallocHost, &data_, bytes);
  }
  // Without checks: it may die after the runtime.
  ~PinnedReadback() override {
    cudaEventSynchronize(there_);
    cudaEventDestroy(there_);
    cudaFreeHost(data_);
  }
  PinnedReadback(const PinnedReadback&) = delete;
  PinnedReadback& operator=(const PinnedReadback&) = delete;

  void start(const void* from) override {
    const cudaStream_t stream = compute_stream(device_);
    CLADTORCH_CUDA_CALL(cudaMemcpyAsync, data_, from, bytes_, cudaMemcpyDeviceToHost, stream);
    CLADTORCH_CUDA_CALL(cudaEventRecord, there_, stream);
  }
  const void* wait() override {
    CLADTORCH_CUDA_CALL(cudaEventSynchronize, there_);
    return data_;
  }

 private:
  Device device_;
  size_t bytes_;
  void* data_ = nullptr;
  cudaEvent_t there_ = nullptr;
};

}  // namespace cladtorch::cuda
