// The memory of CUDA devices behind tensors.
#include <array>
#include <mutex>

#include "cladtorch/error.h"
#include "cuda/check.h"
#include "cuda/graph.h"
#include "cuda/pinned_readback.h"
#include "cuda/staging.h"
#include "cuda/stream.h"
#include "tensor/device_memory.h"

namespace cladtorch::cuda {
namespace {

class Memory final : public detail::DeviceMemory {
 public:
  int device_count() const override { return cuda::device_count(); }

  std::string name(Device device) override {
    cudaDeviceProp properties{};
    CLADTORCH_CUDA_CALL(cudaGetDeviceProperties, &properties, device.index);
    return properties.name;
  }

  DeviceCapacity capacity(Device device) override {
    DeviceCapacity found;
    synchronize(device);  // memory that was freed is free then
    CLADTORCH_CUDA_CALL(cudaMemGetInfo, &found.free, &found.total);
    return found;
  }

  size_t most_reserved(Device device) override {
    cudaMemPool_t pool{};
    uint64_t bytes = 0;
    CLADTORCH_CUDA_CALL(cudaDeviceGetDefaultMemPool, &pool, device.index);
    CLADTORCH_CUDA_CALL(cudaMemPoolGetAttribute, pool, cudaMemPoolAttrReservedMemHigh, &bytes);
    return bytes;
  }

  std::byte* allocate(Device device, size_t bytes) override {
    void* data = nullptr;
    const cudaStream_t stream = compute_stream(device);
    const cudaError_t status = cudaMallocAsync(&data, bytes > 0 ? bytes : 1, stream);
    if (status == cudaErrorMemoryAllocation) out_of_memory(device, bytes);
    check(status, "cudaMallocAsync");
    return static_cast<std::byte*>(data);
  }

  void free(Device device, std::byte* data) noexcept override {
    try {
      // Without a check: a tensor of static lifetime may die after the runtime.
      cudaFreeAsync(data, compute_stream(device));
    } catch (const Error&) {  // the device is gone, and its memory with it
    }
  }

  void upload(Device device, std::byte* to, const void* from, size_t bytes) override {
    const cudaStream_t stream = compute_stream(device);
    const std::scoped_lock lock(mutex_);
    staging_of(device).upload(to, static_cast<const std::byte*>(from), bytes, stream);
  }

  void download(Device device, void* to, const std::byte* from, size_t bytes) override {
    const cudaStream_t stream = compute_stream(device);
    const std::scoped_lock lock(mutex_);
    staging_of(device).download(static_cast<std::byte*>(to), from, bytes, stream);
  }

  void copy(Device device, std::byte* to, const std::byte* from, size_t bytes) override {
    CLADTORCH_CUDA_CALL(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToDevice, compute_stream(device));
  }

  void synchronize(Device device) override { cuda::synchronize(device); }

  std::unique_ptr<detail::Readback> make_readback(Device device, size_t bytes) override {
    return std::make_unique<PinnedReadback>(device, bytes);
  }

  std::unique_ptr<detail::DeviceGraph> capture(Device device, detail::ThreadBody work) override {
    return std::make_unique<Graph>(device, work);
  }

  void clear(Device device, std::byte* to, size_t bytes) override {
    CLADTORCH_CUDA_CALL(cudaMemsetAsync, to, 0, bytes, compute_stream(device));
  }

 private:
  Staging& staging_of(Device device) { return staging_[static_cast<size_t>(device.index)]; }

  [[noreturn]] static void out_of_memory(Device device, size_t bytes) {
    cudaGetLastError();
    size_t free = 0, total = 0;
    CLADTORCH_CUDA_CALL(cudaMemGetInfo, &free, &total);
    fail("out of memory on ", device, ": ", bytes >> 20, " MiB requested, ", free >> 20, " of ", total >> 20,
         " MiB free");
  }

  std::mutex mutex_;  // for the buffers
  std::array<Staging, 64> staging_;
};

/// Never destroyed, for tensors of static lifetime.
const bool registered = [] {
  detail::register_cuda_memory(new Memory);
  return true;
}();

}  // namespace
}  // namespace cladtorch::cuda
