// Aligned memory for tensor data.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::detail {

inline constexpr size_t data_alignment = 64;  // one cache line, one AVX-512 vector
inline constexpr size_t huge_page = size_t{2} << 20;

inline std::align_val_t alignment_of(size_t bytes) {
  return std::align_val_t{bytes >= huge_page ? huge_page : data_alignment};
}

/// Throws std::bad_alloc. Big blocks ask for huge pages: they save page faults on first touch and TLB misses
/// later.
inline std::byte* allocate_bytes(size_t bytes) {
  void* data = ::operator new(bytes ? bytes : 1, alignment_of(bytes));
  if (bytes >= huge_page) ::madvise(data, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(data);
}

/// Gives whole pages of this memory back to the system, which gives them again, with zeros, when they are
/// used.
inline void release_pages(std::byte* data, size_t bytes) {
  constexpr uintptr_t page = 4096;
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  if (begin < end) ::madvise(data + (begin - address), end - begin, MADV_DONTNEED);
}

inline void free_bytes(std::byte* data, size_t bytes) noexcept {
  ::operator delete(data, alignment_of(bytes));
}

/// Memory of either kind of device. Throws std::bad_alloc, or on a device other than the CPU an Error.
std::byte* allocate_heap(Device device, size_t bytes);
void free_heap(Device device, std::byte* data, size_t bytes) noexcept;

}  // namespace cladtorch::detail
