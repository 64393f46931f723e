// What a pullback on raw memory needs to know about the memory of gradients.
#pragma once

#include <cstdint>

#include "cladtorch/tensor/storage.h"

namespace cladtorch::kernels {

/// Where a pullback writes, and whether it adds to the old value or replaces it. It must live until that is
/// written.
template <class T>
struct Contribution {
  T* data;  ///< null if the gradient is not wanted
  bool add;
  ::cladtorch::detail::GradientWrite write{};
};

/// Prepares d [count] for a contribution that covers it: stored if `d` is a whole block of a GradientArena
/// that is marked zero, added otherwise. `d` may be null. T is float or double, here and below.
template <class T>
Contribution<T> contribute_to(T* d, int64_t count);

/// Whether the cotangent d [count] is null or marked zero, so that there is nothing to pull back.
template <class T>
bool is_zero(T* d, int64_t count);

/// Ends the pullback of a kernel that wrote a result whose cotangent is d [count]. Before that kernel ran,
/// the memory of the result held something else, whose cotangent is zero. Marks a whole block, which costs
/// nothing, or writes zeros into other memory.
template <class T>
void clear_cotangent(T* d, int64_t count);

/// Throws Error unless the cotangent d [count] is zero: for results that have no derivative.
template <class T>
void require_no_cotangent(const char* result, T* d, int64_t count);

}  // namespace cladtorch::kernels
