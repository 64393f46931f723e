#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
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

const Kernels& choose_kernels(const char* wanted) {
  if (wanted != nullptr && *wanted != '\0') {
    constexpr std::string_view names[] = {"portable", "avx2", "avx512", "avx512bf16"};
    require(std::ranges::find(names, wanted) != std::end(names), "CLADTORCH_SIMD is ", in_quotes(wanted),
            ", expected portable, avx2, avx512 or avx512bf16");
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
}

const Kernels& kernels() {
  static const Kernels& chosen = choose_kernels(std::getenv("CLADTORCH_SIMD"));
  return chosen;
}

}  // namespace cladtorch::simd
