// Launching kernels, and asking what they need.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cuda_host/launch.h"
#include "device/launch.h"
#include "device/limits.h"
#include "device/symbol_name.h"
#include "fmt/format.h"
#include "runtime/runtime.h"

namespace cuda_host {
namespace {
using namespace detail;

size_t shared_memory_limit(const Runtime& state, const void* function) {
  const auto found = state.shared_memory_limits.find(function);
  return found == state.shared_memory_limits.end() ? shared_bytes_without_asking : found->second;
}

std::optional<std::string> describe_overwritten(const Runtime& state, const Launch& launch) {
  const DeviceMemory::Allocation* found = state.memory.find_overwritten();
  if (found == nullptr) return std::nullopt;
  return fmt::format("kernel {} wrote past the end of {} bytes of device memory",
                     symbol_name(launch.call.function), found->bytes);
}

cudaError_t check_attributes(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    switch (attribute.id) {
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        break;
      default:
        return cudaErrorNotSupported;
    }
  }
  return cudaSuccess;
}

cudaError_t check(const Runtime& state, const cudaLaunchConfig_t& config, const KernelCall& kernel) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  if (kernel.function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > most_blocks_x || grid.y > most_blocks_yz ||
      grid.z > most_blocks_yz) {
    return cudaErrorInvalidConfiguration;
  }
  const size_t threads = size_t{block.x} * block.y * block.z;
  if (threads == 0 || block.x > most_threads_per_block || block.y > most_threads_per_block ||
      block.z > most_threads_z || threads > most_threads_per_block) {
    return cudaErrorInvalidConfiguration;
  }
  if (config.dynamicSmemBytes > shared_memory_limit(state, kernel.function)) return cudaErrorInvalidValue;
  return check_attributes(config);
}
}  // namespace

cudaError_t launch(const cudaLaunchConfig_t* config, KernelCall kernel) {
  return call_on(config->stream, [&](Runtime& state, CUstream_st& stream) {
    if (stream.device != current_device()) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = check(state, *config, kernel); error != cudaSuccess) return error;
    const Launch launch{std::move(kernel), config->gridDim, config->blockDim, config->dynamicSmemBytes};
    return state.submit(stream, cudaGraphNodeTypeKernel, [&state, launch] {
      std::optional<std::string> failure = run(launch);
      if (!failure) failure = describe_overwritten(state, launch);
      if (failure) state.note_failure(*failure);
      return !failure;
    });
  });
}

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call([&](Runtime& state) {
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0) return cudaErrorInvalidValue;
    if (static_cast<size_t>(value) > most_shared_bytes) return cudaErrorInvalidValue;
    // Asking for less than what needs no asking changes nothing.
    state.shared_memory_limits[function] = std::max(static_cast<size_t>(value), shared_bytes_without_asking);
    return cudaSuccess;
  });
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* function) {
  return call([&](Runtime& state) {
    *attributes = {};
    attributes->maxThreadsPerBlock = most_threads_per_block;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_memory_limit(state, function));
    return cudaSuccess;
  });
}

// As far as threads and shared memory limit it: registers are not known.
cudaError_t most_active_blocks(int* blocks, const void* function, int threads, size_t dynamic_bytes) {
  return call([&](Runtime& state) {
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (threads <= 0) return cudaErrorInvalidValue;
    *blocks = 0;
    if (threads > most_threads_per_block || dynamic_bytes > shared_memory_limit(state, function)) {
      return cudaSuccess;
    }
    const int whole_warps = (threads + 31) / 32 * 32;
    const size_t by_memory =
        shared_bytes_per_multiprocessor / (dynamic_bytes + reserved_shared_bytes_per_block);
    *blocks = std::min({most_threads_per_multiprocessor / whole_warps, most_blocks_per_multiprocessor,
                        static_cast<int>(by_memory)});
    return cudaSuccess;
  });
}

}  // namespace cuda_host
