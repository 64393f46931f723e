// What a kernel knows of its thread and block, and where the threads of a block wait for each other.
#pragma once

#include "cuda_host/vector_types.h"

extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
constexpr int warpSize = 32;

namespace cuda_host {

enum class Barrier { plain, count, all, any };

// Waits until all threads of the block that have not returned are here. What it returns is what the kind says
// of the threads whose predicate is not zero.
int synchronize_block(Barrier kind, int predicate);

// The block's dynamic shared memory: as many bytes as the launch asked for, NaN when the block starts.
// Writing past its end fails the launch.
void* dynamic_shared_memory();

// Fails the launch with cudaErrorLaunchFailure; `reason`
// is what the message says after kernel, block and thread.
[[noreturn]] void fail_kernel(const char* reason);

// Whether a kernel is running on this thread of the host.
bool in_kernel();

}  // namespace cuda_host

inline void __syncthreads() { cuda_host::synchronize_block(cuda_host::Barrier::plain, 0); }
inline int __syncthreads_count(int predicate) {
  return cuda_host::synchronize_block(cuda_host::Barrier::count, predicate);
}
inline int __syncthreads_and(int predicate) {
  return cuda_host::synchronize_block(cuda_host::Barrier::all, predicate);
}
inline int __syncthreads_or(int predicate) {
  return cuda_host::synchronize_block(cuda_host::Barrier::any, predicate);
}

[[noreturn]] inline void __trap() { cuda_host::fail_kernel("called __trap"); }

// Fibers switch only where they wait, so that memory is in order at once.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// A kernel starts when the one before it is done, so that there is nothing to wait for.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
