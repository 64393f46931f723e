#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "simd/kernels.h"
#include "tensor/instruction_sets.h"

namespace cladtorch::simd {

namespace portable {
extern const Kernels table;
}
#if defined(CLADTORCH_X86)
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
namespace avx512bf16 {
extern const GemmKernel<BfloatPair, float> gemm_pairs;

/// AVX-512's kernels, with products of bfloat16 by vdpbf16ps.
const Kernels& table() {
  static const Kernels extended = [] {
    Kernels kernels = avx512::table;
    kernels.name = "avx512bf16";
    kernels.gemm_pairs = gemm_pairs;
    return kernels;
  }();
  return extended;
}

/// Whether vdpbf16ps multiplies faster than widening and float arithmetic. AMD's Zen 4 and 5 start as many of
/// them per cycle as multiply-adds of floats, so they do twice the work. Intel's Sapphire and Emerald Rapids
/// start a quarter as many: 92 GFLOP/s a thread beside 187. The maker decides, not a measurement, so that
/// a processor computes the same bits in every run.
bool is_fast() { return __builtin_cpu_is("amd"); }
}  // namespace avx512bf16
#endif

const Kernels* find_kernels(const char* name) {
#if defined(CLADTORCH_X86)
  if (!std::strcmp(name, "avx512")) return detail::runs_avx512() ? &avx512::table : nullptr;
  if (!std::strcmp(name, "avx512bf16")) {
    return detail::runs_avx512() && __builtin_cpu_supports("avx512bf16") ? &avx512bf16::table() : nullptr;
  }
  if (!std::strcmp(name, "avx2")) return detail::runs_avx2() ? &avx2::table : nullptr;
#endif
  return std::strcmp(name, "portable") ? nullptr : &portable::table;
}

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
    if (const char* wanted = std::getenv("CLADTORCH_SIMD")) {
      if (const Kernels* found = find_kernels(wanted)) return *found;
    }
#if defined(CLADTORCH_X86)
    if (avx512bf16::is_fast()) {
      if (const Kernels* found = find_kernels("avx512bf16")) return *found;
    }
#endif
    for (const char* name : {"avx512", "avx2"}) {
      if (const Kernels* found = find_kernels(name)) return *found;
    }
    return portable::table;
  }();
  return chosen;
}

}  // namespace cladtorch::simd
