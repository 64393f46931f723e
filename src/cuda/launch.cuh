// Launching kernels, and what every kernel uses.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cladtorch/tensor/dry_run.h"
#include "cuda/check.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {

inline constexpr int warp_size = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// How many threads a multiprocessor holds at once. A constant of the architecture that is compiled for: of
/// use in launch bounds alone.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890)
constexpr int multiprocessor_threads = 1536;
#else
constexpr int multiprocessor_threads = 2048;
#endif

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Grid {
  dim3 blocks, threads;
  size_t shared_bytes = 0;  ///< dynamic shared memory of a block

  Grid(dim3 block_count, dim3 threads_per_block, size_t shared = 0)
      : blocks(block_count), threads(threads_per_block), shared_bytes(shared) {}
  /// One dimension.
  Grid(int64_t block_count, int threads_per_block, size_t shared = 0)
      : Grid(dim3(static_cast<unsigned>(block_count)), dim3(static_cast<unsigned>(threads_per_block)),
             shared) {}
};

/// Runs the kernel on the device's compute stream, after all that was launched there before. A grid without
/// blocks does nothing, nor does a launch in a DryRun. Throws Error if it cannot be launched.
template <class... Parameters>
void launch(Device device, void (*kernel)(Parameters...), const Grid& grid,
            std::type_identity_t<Parameters>... arguments) {
  if (DryRun::active() || grid.blocks.x == 0 || grid.blocks.y == 0 || grid.blocks.z == 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = compute_stream(device);
  constexpr size_t without_asking = 48 << 10;
  if (grid.shared_bytes > without_asking) {
    CLADTORCH_CUDA_CALL(cudaFuncSetAttribute, reinterpret_cast<const void*>(kernel),
                        cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.shared_bytes));
  }
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "cudaLaunchKernelEx");
}

#ifdef __CUDACC__
/// The block's dynamic shared memory.
__device__ inline std::byte* dynamic_shared_memory() {
  extern __shared__ __align__(128) std::byte shared[];
  return shared;
}
#else
inline std::byte* dynamic_shared_memory() {
  return static_cast<std::byte*>(cuda_host::dynamic_shared_memory());
}
#endif

}  // namespace cladtorch::cuda
