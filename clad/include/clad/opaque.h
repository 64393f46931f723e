// What a library says about its types and pullbacks so that the compiler plugin can differentiate programs
// that use them.
#pragma once

#include "clad/Differentiator/Standard.h"

#if defined(__clang__)
/// Put on a class: an opaque differentiable value. The plugin never looks inside it: copy, move and
/// assignment are primitive, and its adjoint has the same type. A default-constructed object is the symbolic
/// zero of any shape, and `void accumulate(const T& d)` adds a cotangent. A class of which copies share what
/// they hold says with `T snapshot() const` and `void restore(const T& snapshot)` how the reverse sweep puts
/// back what a call has changed in place.
#define CLAD_OPAQUE [[clang::annotate("clad::opaque")]]
/// Put on a primal parameter of a pullback that the pullback does not read: the value need not be kept until
/// the reverse sweep, and a default-constructed one is passed.
#define CLAD_UNUSED [[clang::annotate("clad::unused")]]
/// Put on a member of a class: no derivative flows through it, as through the epsilon of a normalization. Its
/// place in an adjoint or tangent means nothing.
#define CLAD_CONSTANT [[clang::annotate("clad::constant")]]
/// Put on a class, a member or a function: likewise, by Clad's name.
#define CLAD_NONDIFFERENTIABLE __attribute__((annotate("non_differentiable")))
#else
#define CLAD_OPAQUE
#define CLAD_CONSTANT
#define CLAD_NONDIFFERENTIABLE
#define CLAD_UNUSED [[maybe_unused]]
#endif

namespace clad {

/// Names a class: `clad::custom_derivatives::nondifferentiable(clad::Tag<T>)`, declared before its use, says
/// that objects of class T carry no derivative.
template <class T>
struct Tag {};

/// Carries what `f_reverse_forw` computed to `f_pullback`: the reverse sweep owns one per executed call.
template <class S>
struct pullback_state {
  S data{};
};

}  // namespace clad
