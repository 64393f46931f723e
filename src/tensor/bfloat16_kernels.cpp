#include "tensor/bfloat16_kernels.h"

#include "tensor/instruction_sets.h"

namespace cladtorch::detail {
namespace {

template <class From, class To>
[[gnu::always_inline]] inline void convert_body(int64_t n, const From* __restrict from, To* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

template <class X, class Sum>
[[gnu::always_inline]] inline void add_body(int64_t n, const X* x, Sum* sum) {
  for (int64_t i = 0; i < n; ++i)
    sum[i] = static_cast<Sum>(static_cast<float>(sum[i]) + static_cast<float>(x[i]));
}

#define CLADTORCH_BFLOAT16_KERNELS(set, target)                                                       \
  target void widen_##set(int64_t n, const bfloat16* from, float* to) { convert_body(n, from, to); }  \
  target void narrow_##set(int64_t n, const float* from, bfloat16* to) { convert_body(n, from, to); } \
  target void add_##set(int64_t n, const bfloat16* x, bfloat16* sum) { add_body(n, x, sum); }         \
  target void add_wide_##set(int64_t n, const bfloat16* x, float* sum) { add_body(n, x, sum); }       \
  constexpr Bfloat16Kernels set = {#set, widen_##set, narrow_##set, add_##set, add_wide_##set};

CLADTORCH_BFLOAT16_KERNELS(portable, )
#if defined(__x86_64__)
CLADTORCH_BFLOAT16_KERNELS(avx2, __attribute__((target("avx2"))))
CLADTORCH_BFLOAT16_KERNELS(avx512, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2"))))
#endif

}  // namespace

std::span<const Bfloat16Kernels> bfloat16_kernels() {
  static const Bfloat16Kernels all[] = {
      portable,
#if defined(__x86_64__)
      avx2,
      avx512,
#endif
  };
  static const auto count = static_cast<size_t>(vector_sets());
  return {all, count};
}

}  // namespace cladtorch::detail
