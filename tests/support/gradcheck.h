// The public gradient checks as GoogleTest assertions, and operands for them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cladtorch/testing/gradcheck.h"

namespace cladtorch::testing {

/// What check() returns, or the message of the Error that it throws.
template <class Check>
::testing::AssertionResult passes(Check check) {
  try {
    if (check()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "the check returned false";
  } catch (const Error& error) {
    return ::testing::AssertionFailure() << error.what();
  }
}

/// EXPECT_TRUE(gradients_match(forward, pullback, inputs)); inputs are float64.
inline ::testing::AssertionResult gradients_match(Forward forward, Pullback pullback, Tensors x,
                                                  uint64_t seed = 1) {
  return passes([&] { return gradcheck(std::move(forward), std::move(pullback), std::move(x), seed); });
}

/// Standard normal operands of the given shapes.
inline Tensors normals(std::initializer_list<Shape> shapes, uint64_t seed = 5) {
  Random random(seed);
  Tensors result;
  for (const Shape& shape : shapes) result.push_back(randn(shape, random, DType::float64));
  return result;
}

/// The message of the Error that f throws, or "no error".
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace cladtorch::testing
