// CUDA's keywords, as a C++ compiler for the host can read them.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline
// Empty, so that the `__attribute__((__noinline__))` of the standard library stays what it is.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))

// All threads of a block run on one thread of the host, so they share what that thread has.
#define __shared__ static thread_local
