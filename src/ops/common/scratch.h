// Memory that a thread keeps for its kernels, grown when a larger piece is asked for: by more than asked, so
// that a thread which meets the largest piece of a loop only after a few steps does not allocate then.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "tensor/allocation.h"

namespace cladtorch::detail {

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { free_bytes(data_, bytes_); }

  /// At least `count` elements, 64-byte aligned, contents undefined; valid until the next call.
  template <class T>
  T* get(int64_t count) {
    if (const size_t needed = static_cast<size_t>(count) * sizeof(T); needed > bytes_) {
      const size_t bytes = std::bit_ceil(needed);
      free_bytes(std::exchange(data_, nullptr), std::exchange(bytes_, 0));
      data_ = allocate_bytes(bytes);
      bytes_ = bytes;
    }
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

/// That of the calling thread.
template <class T>
T* thread_scratch(int64_t count) {
  thread_local Scratch scratch;
  return scratch.get<T>(count);
}

}  // namespace cladtorch::detail
