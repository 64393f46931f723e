// What kernels call, and the variables that they read.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cuda_host/async_copy.h"
#include "cuda_host/threads.h"
#include "cuda_host/warp.h"
#include "device/address_spaces.h"
#include "device/block.h"

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

namespace cuda_host {

namespace detail {

Block*& current_block() {
  thread_local Block* block = nullptr;
  return block;
}

Block& block_of(const char* function) {
  Block* block = current_block();
  if (block == nullptr) {
    std::fprintf(stderr, "cuda_host: %s is called outside a kernel\n", function);
    std::abort();
  }
  return *block;
}

}  // namespace detail

using detail::block_of;

int synchronize_block(Barrier kind, int predicate) {
  return block_of("__syncthreads").synchronize(kind, predicate != 0);
}

void* dynamic_shared_memory() { return block_of("dynamic_shared_memory").dynamic_memory(); }

void fail_kernel(const char* reason) { block_of("fail_kernel").fail_thread(reason); }

bool in_kernel() { return detail::in_kernel(); }

void warp_collective(unsigned mask, void* mine, void (*compute)(void** lanes), const char* name) {
  block_of(name).collective(mask, mine, compute, name);
}

unsigned lane_index() { return block_of("lane_index").lane().number; }

void no_operation(void**) {}

namespace {
// Each lane brings whether its predicate holds, and takes the bits of all.
void collect_ballot(void** lanes) {
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (lanes[lane] != nullptr && *static_cast<const unsigned*>(lanes[lane]) != 0) bits |= 1u << lane;
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes[lane] != nullptr) *static_cast<unsigned*>(lanes[lane]) = bits;
  }
}
}  // namespace

unsigned ballot(unsigned mask, bool predicate, const char* name) {
  unsigned bits = predicate;
  warp_collective(mask, &bits, collect_ballot, name);
  return bits;
}

void cp_async_16(void* shared, const void* global, int source_bytes) {
  detail::require_shared(shared, "cp_async_16");
  if (source_bytes < 0 || source_bytes > 16) fail_kernel("calls cp_async_16 for other than 0 to 16 bytes");
  // Where nothing is read, the address may be any.
  if (source_bytes > 0 && !detail::is_global(global))
    fail_kernel("calls cp_async_16 with a source that is not global memory");
  if (reinterpret_cast<uintptr_t>(global) % 16 != 0) {
    fail_kernel("calls cp_async_16 with a global address that is not a multiple of 16");
  }
  block_of("cp_async_16").async_copies().add(shared, global, source_bytes);
}

void cp_async_commit() { block_of("cp_async_commit").async_copies().commit(); }

void cp_async_wait_groups(int groups) {
  block_of("cp_async_wait").async_copies().finish_all_but(static_cast<size_t>(groups));
}

void cp_async_wait_all() {
  cp_async_commit();
  cp_async_wait_groups(0);
}

}  // namespace cuda_host
