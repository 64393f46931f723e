// Marks on a library's types and pullbacks, with which the compiler plugin can differentiate programs that
// use them.
#pragma once

#include "clad/Differentiator/Standard.h"

#if defined(__clang__)
/// Put on a class: an opaque differentiable value. The plugin never looks inside it: copy, move and
/// assignment are primitive, and its adjoint has the same type. A default-constructed object is the symbolic
/// zero of any shape, and `void accumulate(const T& d)` adds a cotangent. With `bool
/// shares_storage_with(const T&) const`, a gradient refuses an adjoint that leads to the memory of its
/// argument. If copies of the class share their contents, `T snapshot() const` and `void restore(const T&
/// snapshot)` let the reverse sweep restore contents that a call has changed in place.
#define CLAD_OPAQUE [[clang::annotate("clad::opaque")]]
/// Put on a primal parameter that the pullback does not read: the value is not kept until the reverse sweep,
/// and a default-constructed one is passed.
#define CLAD_UNUSED [[clang::annotate("clad::unused")]]
/// Put on a member of a class through which no derivative flows, such as the epsilon of a normalization. Its
/// place in an adjoint or tangent means nothing.
#define CLAD_CONSTANT [[clang::annotate("clad::constant")]]
/// The same for a class, a member or a function, with Clad's name.
#define CLAD_NONDIFFERENTIABLE __attribute__((annotate("non_differentiable")))
/// Put on a function that has no derivative: what the plugin tells those who call it in differentiated code,
/// as in CLAD_INSTEAD("it changes x in place; assign full(x.shape(), 1)"). Put on an opaque class: the same
/// for calls of its functions that return a pointer or a reference to numbers in it.
#define CLAD_INSTEAD(way_out) [[clang::annotate("clad::instead", way_out)]]
/// Put on a member function template that names the members through which derivatives flow, with the name of
/// what wrote it: another member that holds an opaque value is an error, unless it is a CLAD_CONSTANT.
#define CLAD_MEMBERS(list) [[clang::annotate("clad::members", list)]]
#else
#define CLAD_MEMBERS(list)
#define CLAD_OPAQUE
#define CLAD_INSTEAD(way_out)
#define CLAD_CONSTANT
#define CLAD_NONDIFFERENTIABLE
#define CLAD_UNUSED [[maybe_unused]]
#endif

namespace clad {

/// Names a class. If `clad::custom_derivatives::nondifferentiable(clad::Tag<T>)` is declared before its use,
/// objects of class T carry no derivative.
template <class T>
struct Tag {};

/// x as a constant: no derivative flows through it.
template <class T>
CLAD_NONDIFFERENTIABLE constexpr T stop_gradient(const T& x) {
  return x;
}

/// Carries the results of `f_reverse_forw` to `f_pullback`; the reverse sweep owns one per executed call.
template <class S>
struct pullback_state {
  S data{};
};

}  // namespace clad
