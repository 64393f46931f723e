// Instructions of the tensor cores, by whole warps: products of small matrices that are spread over the lanes
// as the PTX ISA says ("Matrix fragments for mma.m16n8k..."), and loading such fragments from shared memory.
#pragma once

#include <cstdint>

namespace cuda_host {

// d += a b, where a is 16 x k, b is k x 8, d is 16 x 8. A register holds elements next to each other, the
// first in its low bits. Products are exact, sums are float.
void mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]);

// The low 13 bits of an element are not looked at.
void mma_m16n8k8_tf32(float d[4], const uint32_t a[4], const uint32_t b[2]);

void mma_m16n8k32_e4m3(float d[4], const uint32_t a[4], const uint32_t b[2]);
void mma_m16n8k32_e5m2_e4m3(float d[4], const uint32_t a[4], const uint32_t b[2]);

// Load 8 x 8 matrices of 16 bits from shared memory: lane 8 i + j gives the address of row j of matrix i, a
// multiple of 16 bytes. Lane l gets elements 2 (l % 4) and the next of row l / 4; `trans`: of column l / 4.
void ldmatrix_x4(uint32_t r[4], const void* row);
void ldmatrix_x4_trans(uint32_t r[4], const void* row);
void ldmatrix_x2(uint32_t r[2], const void* row);
void ldmatrix_x2_trans(uint32_t r[2], const void* row);

}  // namespace cuda_host
