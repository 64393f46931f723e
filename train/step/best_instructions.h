// Code that is compiled for several instruction sets, of which the best is chosen at run time.
#pragma once

#include "tensor/instruction_sets.h"

namespace cladtorch::train {

#if defined(__x86_64__)
template <class F>
__attribute__((target("avx2,fma"))) void with_avx2(const F& f) {
  f();
}
template <class F>
__attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma"))) void with_avx512(const F& f) {
  f();
}
#endif

/// Calls f(), which is always_inline as all that it calls, as code for the best instructions of this
/// processor.
template <class F>
void with_best_instructions(const F& f) {
#if defined(__x86_64__)
  if (detail::runs_avx512()) return with_avx512(f);
  if (detail::runs_avx2()) return with_avx2(f);
#endif
  f();
}

}  // namespace cladtorch::train
