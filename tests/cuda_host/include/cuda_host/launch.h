// Launching kernels: cudaLaunchKernelEx, and what limits a launch.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_host/runtime_api.h"
#include "cuda_host/vector_types.h"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8,
};

union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int maxDynamicSharedSizeBytes;
};

namespace cuda_host {

// A kernel with its arguments, which are copied when it is launched.
struct KernelCall {
  const void* function;
  std::shared_ptr<const void> arguments;
  void (*invoke)(const void* function, const void* arguments);
};

template <typename... Parameters>
void invoke_kernel(const void* function, const void* arguments) {
  const auto kernel = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(function));
  std::apply(kernel, *static_cast<const std::tuple<Parameters...>*>(arguments));
}

cudaError_t launch(const cudaLaunchConfig_t* config, KernelCall call);

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t most_active_blocks(int* blocks, const void* function, int threads, size_t dynamic_bytes);

}  // namespace cuda_host

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "a kernel's parameters are copied byte by byte");
  static_assert((sizeof(Parameters) + ... + 0) <= 32764, "a kernel has at most 32764 bytes of parameters");
  return cuda_host::launch(
      config, {reinterpret_cast<const void*>(kernel),
               std::make_shared<const std::tuple<Parameters...>>(std::forward<Arguments>(arguments)...),
               cuda_host::invoke_kernel<Parameters...>});
}

template <typename Function>
cudaError_t cudaFuncSetAttribute(Function* function, cudaFuncAttribute attribute, int value) {
  return cuda_host::set_attribute(reinterpret_cast<const void*>(function), attribute, value);
}
template <typename Function>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function* function) {
  return cuda_host::get_attributes(attributes, reinterpret_cast<const void*>(function));
}
template <typename Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int threads,
                                                          size_t dynamic_bytes) {
  return cuda_host::most_active_blocks(blocks, reinterpret_cast<const void*>(function), threads,
                                       dynamic_bytes);
}
