// Normal values from the words of a counter-based stream, many at a time.
#pragma once

#include <cstdint>
#include <span>

namespace cladtorch::detail {

/// Where in which stream the words begin, and the distribution.
struct NormalStream {
  uint64_t seed, stream, first_word;
  double mean, deviation;
};

/// out[0, n): each pair of values takes four words (Box-Muller, both halves), also the last of an odd count.
/// All variants compute in double with the same operations, so they give the same bits.
struct NormalKernels {
  const char* name;
  void (*fill_float)(const NormalStream& from, int64_t n, float* out);
  void (*fill_double)(const NormalStream& from, int64_t n, double* out);
};

/// Those that this processor runs, the fastest last.
std::span<const NormalKernels> normal_kernels();

inline void fill_normal(const NormalStream& from, int64_t n, float* out) {
  normal_kernels().back().fill_float(from, n, out);
}
inline void fill_normal(const NormalStream& from, int64_t n, double* out) {
  normal_kernels().back().fill_double(from, n, out);
}

}  // namespace cladtorch::detail
