// The memory of devices other than the CPU. The library of a device brings the code; without it every use
// says so.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cladtorch/tensor/device.h"
#include "tensor/device_graph.h"
#include "tensor/readback.h"

namespace cladtorch::detail {

/// Everything is ordered with the kernels that are launched from this thread.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual int device_count() const = 0;
  virtual std::string name(Device device) = 0;
  virtual DeviceCapacity capacity(Device device) = 0;
  virtual size_t most_reserved(Device device) = 0;
  /// Throws Error when there is not as much.
  virtual std::byte* allocate(Device device, size_t bytes) = 0;
  virtual void free(Device device, std::byte* data) noexcept = 0;
  /// From memory of the host, which may be reused at once.
  virtual void upload(Device device, std::byte* to, const void* from, size_t bytes) = 0;
  /// To memory of the host; waits until it is there.
  virtual void download(Device device, void* to, const std::byte* from, size_t bytes) = 0;
  virtual void copy(Device device, std::byte* to, const std::byte* from, size_t bytes) = 0;
  virtual void clear(Device device, std::byte* to, size_t bytes) = 0;
  virtual void synchronize(Device device) = 0;
  virtual std::unique_ptr<Readback> make_readback(Device device, size_t bytes) = 0;
  virtual std::unique_ptr<DeviceGraph> capture(Device device, ThreadBody work) = 0;
};

/// Called by the library of CUDA devices before main().
void register_cuda_memory(DeviceMemory* memory);

/// Whether the code of CUDA devices is in this program, whether or not there is such a device.
bool built_with_cuda();

// What the layers above call. Each throws Error if the device is not there; in a DryRun they do nothing, and
// what is allocated has no memory.
std::byte* allocate_on(Device device, size_t bytes);
void free_on(Device device, std::byte* data) noexcept;
void upload(Device device, void* to, const void* from, size_t bytes);
void download(Device device, void* to, const void* from, size_t bytes);
void copy_on(Device device, void* to, const void* from, size_t bytes);
void clear_on(Device device, void* to, size_t bytes);

}  // namespace cladtorch::detail
