// Operands rearranged into panels that a tile reads front to back.
#pragma once

#include <cstdint>
#include <cstring>

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

/// One panel: to[p * panel + i] = from[i * line + p * step] for i < lines, p < depth; zero for i up to
/// `panel` if `fill`.
template <class T>
void pack_panel(int64_t lines, int64_t depth, const T* from, int64_t line, int64_t step, int64_t panel, T* to,
                bool fill = true) {
  if (fill && lines < panel) std::memset(to, 0, static_cast<size_t>(panel * depth) * sizeof(T));
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

}  // namespace cladtorch::detail
