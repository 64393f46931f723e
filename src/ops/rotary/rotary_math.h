// Rotary embedding of one position: each pair (a, b) of a head becomes (a cos - b sin, b cos + a sin). The
// derivative turns the cotangent back, by the negative angle. The reference for float and double, and the
// formula that kernels for devices share.
#pragma once

#include <cstdint>

#include "cladtorch/tensor/host_device.h"

namespace cladtorch::detail {

/// The pair (a, b), turned in place.
template <class T>
CLADTORCH_HOST_DEVICE inline void rotate_pair(T& a, T& b, T cosine, T sine) {
  const T first = a * cosine - b * sine, second = b * cosine + a * sine;
  a = first;
  b = second;
}

/// `table` holds the cosines of the `half` pairs, then their sines.
template <class T>
void rotate(int64_t heads, int64_t half, const T* x, const float* table, bool back, T* y, bool add) {
  for (int64_t h = 0; h < heads; ++h, x += 2 * half, y += 2 * half) {
    for (int64_t i = 0; i < half; ++i) {
      const T cosine = table[i], sine = back ? -table[half + i] : table[half + i];
      T first = x[i], second = x[half + i];
      rotate_pair(first, second, cosine, sine);
      y[i] = add ? y[i] + first : first;
      y[half + i] = add ? y[half + i] + second : second;
    }
  }
}

}  // namespace cladtorch::detail
