// Instructions of tensor cores and of copies that run beside them, by whole warps.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/elements.cuh"

#ifndef __CUDACC__
#include "cuda_host/tensor_core.h"
#endif

namespace cladtorch::cuda {

#ifdef __CUDACC__

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/// d [16, 8] += a [16, 16] b [16, 8] of bfloat16. A register holds two elements next to each other. With
/// g = lane / 4 and i = 2 (lane % 4), those of a are (g, i), (g + 8, i), (g, i + 8), (g + 8, i + 8); of b (i,
/// g) and (i + 8, g); of d (g, i), (g, i + 1), (g + 8, i), (g + 8, i + 1).
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Four 8 x 8 matrices of 16 bits from shared memory: lane 8 i + j gives the address of row j of matrix i.
/// Lane l gets elements 2 (l % 4) and the next of row l / 4; `trans`: of column l / 4.
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

/// Copies the first source_bytes of 16 from global to shared memory, and zeros for the rest, some time before
/// the wait that covers it.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, int source_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(shared)), "l"(global), "r"(source_bytes)
               : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits for all groups of copies of this thread but the last `groups`.
template <int groups>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

#else

using cuda_host::cp_async_16;
using cuda_host::cp_async_commit;
using cuda_host::cp_async_wait;
using cuda_host::ldmatrix_x4;
using cuda_host::ldmatrix_x4_trans;
using cuda_host::mma_m16n8k16_bf16;

#endif

/// Two elements of a fragment.
__device__ __forceinline__ uint32_t packed_bfloat16(float low, float high) {
#ifdef __CUDA_ARCH__
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
#else
  return uint32_t{narrowed(low).bits} | uint32_t{narrowed(high).bits} << 16;
#endif
}

}  // namespace cladtorch::cuda
