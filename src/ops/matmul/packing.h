// Operands rearranged into panels that a tile reads front to back.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cladtorch/tensor/dtype.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

inline int64_t divided_up(int64_t n, int64_t step) { return (n + step - 1) / step; }
inline int64_t rounded_up(int64_t n, int64_t step) { return divided_up(n, step) * step; }

/// How many parts of at most `most` cover n, and the size of all but the last: as even as possible.
struct EvenSplit {
  int64_t count, size;
  EvenSplit(int64_t n, int64_t most)
      : count(divided_up(n, most)), size(count ? divided_up(n, count) : most) {}
};

/// The tiles of products of C, float or double.
template <class C>
inline const simd::GemmKernel<C>& kernel_of() {
  if constexpr (std::is_same_v<C, double>) {
    return simd::kernels().gemm_double;
  } else {
    return simd::kernels().gemm_float;
  }
}

/// One panel: to[p * panel + i] = from[i * line + p * step] for i < lines, p < depth.
template <class T>
void pack_lines(int64_t lines, int64_t depth, const T* from, int64_t line, int64_t step, int64_t panel,
                T* to) {
  if (line == 1) {
    if (lines < 16) {
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < lines; ++i) to[p * panel + i] = from[p * step + i];
    } else {
      for (int64_t p = 0; p < depth; ++p)
        std::memcpy(to + p * panel, from + p * step, static_cast<size_t>(lines) * sizeof(T));
    }
  } else if (sizeof(T) == sizeof(float) && step == 1) {
    simd::kernels().transpose(lines, depth, reinterpret_cast<const float*>(from), line,
                              reinterpret_cast<float*>(to), panel);
  } else {
    for (int64_t p = 0; p < depth; ++p)
      for (int64_t i = 0; i < lines; ++i) to[p * panel + i] = from[i * line + p * step];
  }
}

/// The same, converted.
inline void pack_lines(int64_t lines, int64_t depth, const bfloat16* from, int64_t line, int64_t step,
                       int64_t panel, float* to) {
  if (line == 1) {
    simd::kernels().widen(depth, lines, from, step, to, panel);
  } else if (step == 1) {
    simd::kernels().transpose_widened(lines, depth, from, line, to, panel);
  } else {
    for (int64_t p = 0; p < depth; ++p)
      for (int64_t i = 0; i < lines; ++i) to[p * panel + i] = static_cast<float>(from[i * line + p * step]);
  }
}

/// Whether elements from here on can be read as pairs.
inline bool holds_pairs(const bfloat16* from) {
  return reinterpret_cast<uintptr_t>(from) % alignof(simd::BfloatPair) == 0;
}

/// The same in pairs: to[p * panel + i] holds the steps 2 p and 2 p + 1; the last half is zero if depth is
/// odd.
inline void pack_lines(int64_t lines, int64_t depth, const bfloat16* from, int64_t line, int64_t step,
                       int64_t panel, simd::BfloatPair* to) {
  int64_t pairs = depth / 2;
  if (line == 1) {
    for (int64_t p = 0; p < pairs; ++p, to += panel)
      simd::kernels().pair(1, lines, from + 2 * p * step, from + (2 * p + 1) * step, 0, to, 0);
  } else if (step == 1 && line % 2 == 0 && holds_pairs(from)) {
    // Neighbours lie as they shall: they are moved as one float.
    simd::kernels().transpose(lines, pairs, reinterpret_cast<const float*>(from), line / 2,
                              reinterpret_cast<float*>(to), panel);
    to += pairs * panel;
  } else {
    for (int64_t p = 0; p < pairs; ++p, to += panel) {
      for (int64_t i = 0; i < lines; ++i) {
        const bfloat16* const x = from + i * line + 2 * p * step;
        to[i].bits = x[0].bits | uint32_t{x[step].bits} << 16;
      }
    }
  }
  if (depth % 2 == 0) return;
  for (int64_t i = 0; i < lines; ++i) to[i].bits = from[i * line + (depth - 1) * step].bits;
}

}  // namespace cladtorch::detail
