#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "simd/kernels.h"

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
#endif

const Kernels* find_kernels(const char* name) {
#if defined(CLADTORCH_X86)
  if (!std::strcmp(name, "avx512")) {
    const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return runs ? &avx512::table : nullptr;
  }
  if (!std::strcmp(name, "avx2")) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2::table : nullptr;
  }
#endif
  return std::strcmp(name, "portable") ? nullptr : &portable::table;
}

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
    if (const char* wanted = std::getenv("CLADTORCH_SIMD")) {
      if (const Kernels* found = find_kernels(wanted)) return *found;
    }
    for (const char* name : {"avx512", "avx2"}) {
      if (const Kernels* found = find_kernels(name)) return *found;
    }
    return portable::table;
  }();
  return chosen;
}

}  // namespace cladtorch::simd
