// Rotary embedding of one position: each pair (a, b) of a head becomes (a cos - b sin, b cos + a sin). The
// derivative turns the cotangent back, by the negative angle. The reference for float and double.
#pragma once

#include <cstdint>

namespace cladtorch::detail {

/// `table` holds the cosines of the `half` pairs, then their sines.
template <class T>
void rotate(int64_t heads, int64_t half, const T* x, const float* table, bool back, T* y, bool add) {
  for (int64_t h = 0; h < heads; ++h, x += 2 * half, y += 2 * half) {
    for (int64_t i = 0; i < half; ++i) {
      const T cosine = table[i], sine = back ? -table[half + i] : table[half + i];
      const T first = x[i] * cosine - x[half + i] * sine, second = x[half + i] * cosine + x[i] * sine;
      y[i] = add ? y[i] + first : first;
      y[half + i] = add ? y[half + i] + second : second;
    }
  }
}

}  // namespace cladtorch::detail
