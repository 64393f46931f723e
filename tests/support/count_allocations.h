// Counts every heap allocation of the process, operator new and malloc alike. For one source of a program.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "tensor/sanitizers.h"

/// Whether it can: the sanitizers replace malloc themselves.
#define CLADTORCH_COUNTS_ALLOCATIONS (!CLADTORCH_ADDRESS_SANITIZER && !CLADTORCH_THREAD_SANITIZER)

namespace cladtorch::testing {
inline std::atomic<long> allocations = 0;
}

#if CLADTORCH_COUNTS_ALLOCATIONS
// glibc's own entry points; operator new ends in malloc or aligned_alloc.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t n) { return ++cladtorch::testing::allocations, __libc_malloc(n); }
void* calloc(size_t n, size_t size) { return ++cladtorch::testing::allocations, __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { return ++cladtorch::testing::allocations, __libc_realloc(p, n); }
void* memalign(size_t alignment, size_t n) {
  return ++cladtorch::testing::allocations, __libc_memalign(alignment, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  return ++cladtorch::testing::allocations, __libc_memalign(alignment, n);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
  ++cladtorch::testing::allocations;
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : ENOMEM;
}
}
#endif
