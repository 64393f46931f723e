// Fusion rules, which say what the compiler may replace in the functions that it differentiates.
//
//   CLAD_PATTERN(linear_gelu)
//   inline Tensor gelu_of_linear(const Tensor& x, const Tensor& weight) { return gelu(linear(x, weight)); }
//
//   Tensor linear_gelu(const Tensor& x, const Tensor& weight);  // computes the same, faster
//
// The pattern is an ordinary function of declarations and one return statement. It names a function of the
// same parameters and the same result, found from its namespace outwards; where a differentiated function
// computes what the pattern does, that function is called instead, before derivatives are taken. A parameter
// of the pattern stands for any value of its type, a literal for itself. Functions that a pattern calls must
// depend only on their arguments. A pattern that returns a class of several values stands for all of them,
// even if the program uses each one elsewhere.
//
// The operands of + and * of numbers match in either order, and so do the first two arguments of a function
// that a declaration marks:
//
//   CLAD_COMMUTATIVE Tensor add(const Tensor& a, const Tensor& b);
#pragma once

#include "clad/Differentiator/Standard.h"

#if defined(__clang__)
#define CLAD_PATTERN(replacement) [[clang::annotate("clad::pattern", #replacement)]]
#define CLAD_COMMUTATIVE [[clang::annotate("clad::commutative")]]
#else
#define CLAD_PATTERN(replacement)
#define CLAD_COMMUTATIVE
#endif
