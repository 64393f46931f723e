// bfloat16 elements as kernels see them: floats in memory that is small enough for the first-level cache.
#pragma once

#include <cstdint>

#include "tensor/bfloat16_kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch::detail {

/// n elements to read: where they lie, or bfloat16 widened into `memory`.
template <class T>
const T* readable(int64_t /*n*/, const T* x, const T* /*memory*/) {
  return x;
}
inline const float* readable(int64_t n, const bfloat16* x, float* memory) {
  widen(n, x, memory);
  return memory;
}

/// The same for elements `step` apart.
inline const float* readable(int64_t n, const bfloat16* x, int64_t step, float* memory) {
  if (step == 1) return readable(n, x, memory);
  for (int64_t i = 0; i < n; ++i) memory[i] = static_cast<float>(x[i * step]);
  return memory;
}

/// n elements to write, or to add to: where they lie, or for bfloat16 in `memory`, from which they are
/// rounded to their place at the end of this object's life.
template <class T>
class Written {
 public:
  Written(int64_t /*n*/, T* to, bool /*add*/, const T* /*memory*/) : to_(to) {}
  T* data() const { return to_; }

 private:
  T* to_;
};

template <>
class Written<bfloat16> {
 public:
  Written(int64_t n, bfloat16* to, bool add, float* memory) : n_(n), to_(to), memory_(memory) {
    if (add) widen(n, to, memory);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { narrow(n_, memory_, to_); }
  float* data() const { return memory_; }

 private:
  int64_t n_;
  bfloat16* to_;
  float* memory_;
};

}  // namespace cladtorch::detail
