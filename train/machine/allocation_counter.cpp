#include "cladtorch/train/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tensor/sanitizers.h"

// ThreadSanitizer brings its own operator new, which no program may replace; there nothing is counted.
#define CLADTORCH_COUNTS_ALLOCATIONS (!CLADTORCH_THREAD_SANITIZER)

namespace {

std::atomic<int64_t> count{0};

#if CLADTORCH_COUNTS_ALLOCATIONS
/// Null if there is no memory.
void* counted(size_t bytes, size_t alignment) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  if (bytes == 0) bytes = 1;  // malloc(0) may return null
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = std::malloc(bytes);
  } else if (bytes <= SIZE_MAX - alignment) {
    // aligned_alloc wants a multiple of the alignment.
    memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  return memory;
}

void* counted_or_throw(size_t bytes, size_t alignment) {
  void* const memory = counted(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

#endif

}  // namespace

#if CLADTORCH_COUNTS_ALLOCATIONS

// All forms: AddressSanitizer brings those that are left out, with memory that must not be freed here.
void* operator new(size_t bytes) { return counted_or_throw(bytes, 1); }
void* operator new[](size_t bytes) { return counted_or_throw(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, 1); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace cladtorch::train {

int64_t heap_allocations() { return count.load(std::memory_order_relaxed); }

}  // namespace cladtorch::train
