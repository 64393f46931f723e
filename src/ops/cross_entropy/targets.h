// What the classification losses demand of their targets.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

/// How many int32 targets differ from `ignore_index`. Throws Error naming `operation` if one that counts is
/// outside [0, classes).
inline int64_t count_targets(const char* operation, const Tensor& targets, int64_t classes,
                             int64_t ignore_index) {
  const Tensor dense = targets.contiguous();
  const int32_t* target = dense.data<int32_t>();
  int64_t counted = 0;
  for (int64_t i = 0; i < targets.numel(); ++i) {
    if (target[i] == ignore_index) continue;
    require(target[i] >= 0 && target[i] < classes, operation, ": target ", target[i], " is outside the ",
            classes, " classes; ignore_index is ", ignore_index);
    ++counted;
  }
  return counted;
}

}  // namespace cladtorch::detail
