// wgmma.mma_async: products of bfloat16 by 128 threads, whose operands are read, and whose sums are written,
// some time between their start and the wait for their group. The sums are NaN meanwhile. Reading or changing
// what a product still needs fails the launch, as far as it can be seen: README.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_host {

// d [64, columns] = or += a [64, 16] b [16, columns]. Warp w of the four has rows 16 w and on. Of its rows a
// lane holds a as for mma_m16n8k16_bf16, and 4 sums of each 8 columns as that has them. Descriptors are those
// of the PTX ISA, with a swizzle of 128 bytes; "transposed" is MN-major.
struct WarpgroupProduct {
  int columns;
  float* d;
  const uint32_t* a_registers;  // null: a is in shared memory
  uint64_t a, b;
  bool a_transposed, b_transposed;
  bool accumulate;
};

void warpgroup_multiply(const WarpgroupProduct& product);
// Must come between other uses of the registers, their wait included, and the products.
void warpgroup_fence();
void warpgroup_commit();
// Does the products of all groups but the last `groups`.
void warpgroup_wait_groups(int groups);

// How many were started since the process began, each counted once by each warp.
size_t warpgroup_products();

// Lets products see what this thread has written or copied to shared memory before.
void fence_proxy_async();

// Where dynamic shared memory lies among the addresses that descriptors have. It begins at a multiple of 128.
uint32_t shared_address(const void* pointer);

}  // namespace cuda_host
