// Products of bfloat16 by warpgroups of 128 threads, Hopper's wgmma. They run beside the threads: between
// their start and the wait nobody touches their sums, a left operand in registers, or the tiles that they
// read.
#pragma once

#include "cuda/tensor_core.cuh"

#ifndef __CUDACC__
#include "cuda_host/warpgroup.h"
#endif

namespace cladtorch::cuda {

constexpr int warpgroup_threads = 4 * warp_size, warpgroup_rows = 64;

/// Whether the code that is being compiled may have these instructions: those of architecture 90a alone.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDACC__)
constexpr bool has_warpgroup_products = true;
#else
constexpr bool has_warpgroup_products = false;
#endif

/// Which elements of an operand in shared memory are adjacent: those of its depth, or of its other dimension.
enum class Major { depth = 0, other = 1 };

/// Of an operand in rows of 128 bytes, eight of which make a group of 1024; the pieces of 16 bytes are
/// permuted by the row. `address` is that of its first element; for Major::other 16 of depth are two groups,
/// and `leading` bytes lead to the next 64 columns.
__device__ __forceinline__ uint64_t operand_descriptor(uint32_t address, uint32_t leading) {
  constexpr uint64_t swizzle_of_128_bytes = uint64_t{1} << 62;
  constexpr uint64_t stride = uint64_t{1024 >> 4} << 32;
  return swizzle_of_128_bytes | stride | uint64_t{leading >> 4} << 16 | uint64_t{(address & 0x3FFFF) >> 4};
}

#ifdef __CUDACC__

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ __forceinline__ void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int groups>
__device__ __forceinline__ void warpgroup_wait_groups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Eight sums, of 16 columns from column 8 i on; and 32, of 64 columns.
#define CLADTORCH_SUMS_8(d, i)                                                                      \
  "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3]), "+f"(d[i + 1][0]), "+f"(d[i + 1][1]), \
      "+f"(d[i + 1][2]), "+f"(d[i + 1][3])
#define CLADTORCH_SUMS_32(d, i) \
  CLADTORCH_SUMS_8(d, i), CLADTORCH_SUMS_8(d, i + 2), CLADTORCH_SUMS_8(d, i + 4), CLADTORCH_SUMS_8(d, i + 6)

template <Major major_b>
__device__ __forceinline__ void multiply_shared(float (&d)[8][4], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, %35;\n}"
      : CLADTORCH_SUMS_32(d, 0)
      : "l"(a), "l"(b), "r"(int{add}), "n"(static_cast<int>(major_b)));
}
template <Major major_b>
__device__ __forceinline__ void multiply_shared(float (&d)[16][4], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, %67;\n}"
      : CLADTORCH_SUMS_32(d, 0), CLADTORCH_SUMS_32(d, 8)
      : "l"(a), "l"(b), "r"(int{add}), "n"(static_cast<int>(major_b)));
}
template <Major major_b>
__device__ __forceinline__ void multiply_registers(float (&d)[8][4], const uint32_t (&a)[4], uint64_t b,
                                                   bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}"
      : CLADTORCH_SUMS_32(d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int{add}), "n"(static_cast<int>(major_b)));
}
template <Major major_b>
__device__ __forceinline__ void multiply_registers(float (&d)[16][4], const uint32_t (&a)[4], uint64_t b,
                                                   bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1, %70;\n}"
      : CLADTORCH_SUMS_32(d, 0), CLADTORCH_SUMS_32(d, 8)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int{add}), "n"(static_cast<int>(major_b)));
}

#undef CLADTORCH_SUMS_8
#undef CLADTORCH_SUMS_32

#else

// For other architectures kernels are compiled without what is behind has_warpgroup_products, but are read.
__device__ void warpgroup_fence();
__device__ void warpgroup_commit();
template <int groups>
__device__ void warpgroup_wait_groups();
__device__ void fence_proxy_async();
template <Major major_b, int N>
__device__ void multiply_shared(float (&d)[N][4], uint64_t a, uint64_t b, bool add);
template <Major major_b, int N>
__device__ void multiply_registers(float (&d)[N][4], const uint32_t (&a)[4], uint64_t b, bool add);

#endif

/// Keeps the compiler from moving what is done with registers across the fence or the wait beside this.
template <int N>
__device__ __forceinline__ void pin(float (&d)[N][4]) {
#pragma unroll
  for (auto& column : d)
#pragma unroll
    for (float& value : column) asm volatile("" : "+f"(value)::"memory");
}
template <int N>
__device__ __forceinline__ void pin(uint32_t (&a)[N][4]) {
#pragma unroll
  for (auto& step : a)
#pragma unroll
    for (uint32_t& value : step) asm volatile("" : "+r"(value)::"memory");
}

#else

using cuda_host::fence_proxy_async;
using cuda_host::shared_address;
using cuda_host::warpgroup_commit;
using cuda_host::warpgroup_fence;
template <int groups>
void warpgroup_wait_groups() {
  cuda_host::warpgroup_wait_groups(groups);
}
template <Major major_b, int N>
void multiply_shared(float (&d)[N][4], uint64_t a, uint64_t b, bool add) {
  cuda_host::warpgroup_multiply({8 * N, d[0], nullptr, a, b, false, major_b == Major::other, add});
}
template <Major major_b, int N>
void multiply_registers(float (&d)[N][4], const uint32_t (&a)[4], uint64_t b, bool add) {
  cuda_host::warpgroup_multiply({8 * N, d[0], a, 0, b, false, major_b == Major::other, add});
}
template <class Registers>
void pin(Registers&) {}

#endif

/// Before products: what was done with these registers is done.
template <class... Registers>
__device__ __forceinline__ void begin_products(Registers&... registers) {
  (pin(registers), ...);
  warpgroup_fence();
}
/// Until all groups of products but the last `groups` are done, which gave `sums` to read.
template <int groups, class... Sums>
__device__ __forceinline__ void wait_for_products(Sums&... sums) {
  warpgroup_wait_groups<groups>();
  (pin(sums), ...);
}

}  // namespace cladtorch::cuda
