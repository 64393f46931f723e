// Devices: which there are, what they can do, waiting for one and resetting it.
#include <cstdio>

#include "device/limits.h"
#include "runtime/runtime.h"

namespace cuda_host::detail {
namespace {
thread_local int chosen_device = 0;
}  // namespace

int current_device() { return chosen_device; }

namespace {
bool exists(const Runtime& state, int device) {
  return device >= 0 && static_cast<size_t>(device) < state.legacy.size();
}

cudaDeviceProp properties_of(const Runtime& state) {
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof(p.name), "CUDA imitated on the host");
  p.totalGlobalMem = state.memory.capacity();
  p.sharedMemPerBlock = shared_bytes_without_asking;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = most_threads_per_block;
  p.maxThreadsDim[2] = most_threads_z;
  p.maxGridSize[0] = static_cast<int>(most_blocks_x);
  p.maxGridSize[1] = p.maxGridSize[2] = static_cast<int>(most_blocks_yz);
  p.totalConstMem = 64 * 1024;
  p.major = state.capability_major;
  p.minor = state.capability_minor;
  p.multiProcessorCount = multiprocessors;
  p.concurrentKernels = p.unifiedAddressing = p.streamPrioritiesSupported = p.memoryPoolsSupported = 1;
  p.asyncEngineCount = 3;
  p.memoryBusWidth = 5120;
  p.l2CacheSize = 4 << 20;
  p.maxThreadsPerMultiProcessor = most_threads_per_multiprocessor;
  p.sharedMemPerMultiprocessor = shared_bytes_per_multiprocessor;
  p.sharedMemPerBlockOptin = most_shared_bytes;
  p.maxBlocksPerMultiProcessor = most_blocks_per_multiprocessor;
  p.reservedSharedMemPerBlock = reserved_shared_bytes_per_block;
  return p;
}

// An attribute by its number, -1 for one that there is not.
int attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return static_cast<int>(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxRegistersPerBlock:
      return p.regsPerBlock;
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrIntegrated:
      return p.integrated;
    case cudaDevAttrConcurrentKernels:
      return p.concurrentKernels;
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount:
      return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing:
      return p.unifiedAddressing;
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrStreamPrioritiesSupported:
      return p.streamPrioritiesSupported;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory:
      return p.managedMemory;
    case cudaDevAttrPageableMemoryAccess:
      return p.pageableMemoryAccess;
    case cudaDevAttrCooperativeLaunch:
      return p.cooperativeLaunch;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return static_cast<int>(p.reservedSharedMemPerBlock);
    case cudaDevAttrMemoryPoolsSupported:
      return p.memoryPoolsSupported;
    case cudaDevAttrClusterLaunch:
      return p.clusterLaunch;
  }
  return -1;
}
}  // namespace
}  // namespace cuda_host::detail

using namespace cuda_host::detail;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(runtime().legacy.size());
  return call([](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaSetDevice(int device) {
  return call([&](Runtime& state) {
    if (!exists(state, device)) return cudaErrorInvalidDevice;
    chosen_device = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&](Runtime&) {
    *device = chosen_device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&](Runtime& state) {
    if (!exists(state, device)) return cudaErrorInvalidDevice;
    *properties = properties_of(state);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&](Runtime& state) {
    if (!exists(state, device)) return cudaErrorInvalidDevice;
    const int found = attribute_of(properties_of(state), attribute);
    if (found < 0) return cudaErrorInvalidValue;
    *value = found;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([](Runtime& state) {
    ++state.counts.waits;
    if (const cudaError_t error = state.refuse_device_wait(chosen_device); error != cudaSuccess) return error;
    state.finish_device(chosen_device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  Runtime& state = runtime();
  const std::lock_guard lock(state.mutex);
  state.queue.drop_all();
  state.memory.free_all(chosen_device);
  state.streams.remove_if([](const CUstream_st& s) { return s.device == chosen_device && !s.legacy; });
  state.events.remove_if([](const CUevent_st& event) { return event.device == chosen_device; });
  state.graphs.remove_if([](const CUgraph_st&) { return true; });
  state.executables.remove_if([](const CUgraphExec_st&) { return true; });
  state.failure = cudaSuccess;
  state.failure_message.clear();
  exchange_last_error(cudaSuccess);
  return cudaSuccess;
}

void cuda_host::set_compute_capability(int major, int minor) {
  Runtime& state = runtime();
  const std::lock_guard lock(state.mutex);
  state.capability_major = major;
  state.capability_minor = minor;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
