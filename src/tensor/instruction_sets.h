// What this processor runs, for code that is compiled once per instruction set.
#pragma once

namespace cladtorch::detail {

/// With fused multiply-add.
inline bool runs_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// The parts that every processor with 512-bit vectors since Skylake has: F, BW, DQ and VL.
inline bool runs_avx512() {
#if defined(__x86_64__)
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

/// How many of {portable, avx2, avx512} run here.
inline int vector_sets() { return runs_avx512() ? 3 : runs_avx2() ? 2 : 1; }

}  // namespace cladtorch::detail
