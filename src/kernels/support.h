// What the pullbacks on raw memory share.
#pragma once

#include "cladtorch/error.h"
#include "cladtorch/kernels/contribution.h"
#include "ops/common/scratch.h"
#include "ops/common/target.h"

namespace cladtorch::kernels {

/// Where a pullback writes d [count]. Throws Error if that is the memory of the cotangent `d_out`.
template <class T>
cladtorch::detail::HeldTarget<T> target_at(const char* kernel, T* d, int64_t count, const T* d_out) {
  require(!d || d != d_out, kernel, ": the gradient of an operand lies in the cotangent of the result");
  Contribution<T> contribution = contribute_to(d, count);
  return {{contribution.data, contribution.add}, std::move(contribution.write)};
}

/// Memory of the calling thread that a pullback works in.
template <class T>
T* pullback_work(int64_t count) {
  thread_local cladtorch::detail::Scratch scratch;
  return scratch.get<T>(count);
}

}  // namespace cladtorch::kernels
