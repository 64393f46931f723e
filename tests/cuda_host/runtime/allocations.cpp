// Calls that allocate and free memory of the device and pinned memory of the host.
#include <cstring>
#include <new>

#include "cuda_host/memory.h"
#include "runtime/runtime.h"

using namespace cuda_host::detail;

namespace {
constexpr std::align_val_t pinned_alignment{4096};

cudaError_t allocate(Runtime& state, void** pointer, size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  *pointer = state.memory.allocate(bytes, current_device());
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  ++state.counts.allocations;
  return cudaSuccess;
}
}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return call([&](Runtime& state) {
    if (const cudaError_t error = state.refuse_unsafe(); error != cudaSuccess) return error;
    return allocate(state, pointer, bytes);
  });
}

cudaError_t cudaFree(void* pointer) {
  return call([&](Runtime& state) {
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = state.refuse_unsafe(); error != cudaSuccess) return error;
    state.queue.finish_all();
    return state.memory.free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// The stream's order is that of its use; the memory is there at once.
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t handle) {
  return call_on(handle, [&](Runtime& state, CUstream_st& stream) {
    if (const cudaError_t error = state.refuse_in_capture(stream); error != cudaSuccess) return error;
    return allocate(state, pointer, bytes);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  return call_on(handle, [&](Runtime& state, CUstream_st& stream) {
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = state.refuse_in_capture(stream); error != cudaSuccess) return error;
    const DeviceMemory::Allocation* found = state.memory.find(pointer, 0);
    if (found == nullptr || found->start != pointer) return cudaErrorInvalidValue;
    state.enqueue(stream, [&state, pointer] {
      if (!state.memory.free(pointer)) state.note_failure("memory that was freed is freed again in a stream");
      return state.failure == cudaSuccess;
    });
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&](Runtime& state) {
    if (pool == nullptr || device < 0 || device >= static_cast<int>(state.legacy.size()))
      return cudaErrorInvalidValue;
    *pool = reinterpret_cast<cudaMemPool_t>(uintptr_t{1} + static_cast<uintptr_t>(device));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&](Runtime& state) {
    const auto number = reinterpret_cast<uintptr_t>(pool);
    if (number < 1 || number > state.legacy.size() || value == nullptr ||
        attribute != cudaMemPoolAttrReservedMemHigh)
      return cudaErrorInvalidValue;
    *static_cast<uint64_t*>(value) = state.memory.most_used(static_cast<int>(number - 1));
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return call([&](Runtime& state) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (const cudaError_t error = state.refuse_unsafe(); error != cudaSuccess) return error;
    if (bytes == 0) return cudaSuccess;
    *pointer = ::operator new(bytes, pinned_alignment, std::nothrow);
    if (*pointer == nullptr) return cudaErrorMemoryAllocation;
    std::memset(*pointer, 0xFF, bytes);
    state.pinned.emplace(reinterpret_cast<uintptr_t>(*pointer), bytes);
    ++state.counts.pinned_allocations;
    return cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call([&](Runtime& state) {
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = state.refuse_unsafe(); error != cudaSuccess) return error;
    state.queue.finish_all();
    if (state.pinned.erase(reinterpret_cast<uintptr_t>(pointer)) == 0) return cudaErrorInvalidValue;
    ::operator delete(pointer, pinned_alignment);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](Runtime& state) {
    *total = state.memory.capacity();
    *free = *total - state.memory.used(current_device());
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&](Runtime& state) {
    void* address = const_cast<void*>(pointer);
    if (const DeviceMemory::Allocation* found = state.memory.find(pointer, 0); found != nullptr) {
      *attributes = {cudaMemoryTypeDevice, found->device, address, nullptr};
    } else if (state.is_pinned(pointer, 0)) {
      *attributes = {cudaMemoryTypeHost, current_device(), address, address};
    } else {
      *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, address};
    }
    return cudaSuccess;
  });
}

namespace cuda_host {

Statistics statistics() {
  Runtime& state = runtime();
  const std::lock_guard lock(state.mutex);
  Statistics counts = state.counts;
  counts.live_allocations = state.memory.live().size();
  for (const auto& [start, allocation] : state.memory.live()) counts.live_bytes += allocation.bytes;
  return counts;
}

}  // namespace cuda_host
