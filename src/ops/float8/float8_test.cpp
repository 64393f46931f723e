#include "cladtorch/ops/float8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"
#include "ops/float8/float8_math.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using detail::float8_to_float;
using detail::rounded_to_float8;
using testing::normals;
using testing::same_bits;
using testing::Tensors;

/// What the formats' definition says, from sign, exponent and mantissa.
double value_of(int code, int mantissa_bits, int bias) {
  const int exponent = (code & 0x7f) >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
  const double size = std::ldexp(exponent > 0 ? (1 << mantissa_bits) + mantissa : mantissa,
                                 std::max(exponent, 1) - bias - mantissa_bits);
  return code & 0x80 ? -size : size;
}

template <class Format>
struct Numbers;
template <>
struct Numbers<float8_e4m3> {
  static constexpr int mantissa_bits = 3, bias = 7, largest_code = 0x7e;
  static constexpr double largest = 448;
};
template <>
struct Numbers<float8_e5m2> {
  static constexpr int mantissa_bits = 2, bias = 15, largest_code = 0x7b;
  static constexpr double largest = 57344;
};

/// The nearest of all numbers of the format, of two that are as near the one with an even code.
template <class Format>
double nearest(double x) {
  using N = Numbers<Format>;
  double best = 0;
  for (int code = 0; code <= N::largest_code; ++code) {
    const double value = value_of(code, N::mantissa_bits, N::bias);
    const double distance = std::abs(std::abs(x) - value), of_best = std::abs(std::abs(x) - best);
    if (distance < of_best || (distance == of_best && code % 2 == 0)) best = value;
  }
  return std::copysign(best, x);
}

template <class Format>
class Float8Format : public ::testing::Test {};
using Formats = ::testing::Types<float8_e4m3, float8_e5m2>;
TYPED_TEST_SUITE(Float8Format, Formats);

TYPED_TEST(Float8Format, HasTheNumbersOfItsDefinition) {
  using N = Numbers<TypeParam>;
  for (int code = 0; code < 256; ++code) {
    const TypeParam x{static_cast<uint8_t>(code)};
    if ((code & 0x7f) > N::largest_code) {
      EXPECT_FALSE(std::isfinite(float8_to_float(x))) << code;
      continue;
    }
    EXPECT_EQ(float8_to_float(x), value_of(code, N::mantissa_bits, N::bias)) << code;
    EXPECT_EQ(int{rounded_to_float8<TypeParam>(float8_to_float(x)).bits}, code);
  }
  EXPECT_EQ(value_of(N::largest_code, N::mantissa_bits, N::bias), N::largest);
}

TYPED_TEST(Float8Format, RoundsToTheNearest) {
  using N = Numbers<TypeParam>;
  const auto check = [](float x) {
    const float y = float8_to_float(rounded_to_float8<TypeParam>(x));
    EXPECT_EQ(y, nearest<TypeParam>(static_cast<double>(x))) << x;
    EXPECT_EQ(std::signbit(y), std::signbit(x)) << x;
  };
  Random random(5);
  for (int i = 0; i < 5000; ++i)
    check(static_cast<float>(std::ldexp(random.uniform() * 2 - 1, static_cast<int>(random.below(40)) - 22)));
  for (int code = 0; code < N::largest_code; ++code) {  // where two are as near, and beside that
    const auto low = static_cast<float>(value_of(code, N::mantissa_bits, N::bias)),
               high = static_cast<float>(value_of(code + 1, N::mantissa_bits, N::bias)),
               middle = (low + high) / 2;
    for (const float x : {middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      check(x);
      check(-x);
    }
  }
  check(0.0f);
  check(-0.0f);
  check(std::numeric_limits<float>::denorm_min());
}

TYPED_TEST(Float8Format, SaturatesAndKeepsNaN) {
  using N = Numbers<TypeParam>;
  const auto rounded = [](float x) { return float8_to_float(rounded_to_float8<TypeParam>(x)); };
  for (const float x : {1.01f * static_cast<float>(N::largest), 1e9f, std::numeric_limits<float>::max()}) {
    EXPECT_EQ(rounded(x), N::largest);
    EXPECT_EQ(rounded(-x), -N::largest);
  }
  for (const float x : {NAN, -NAN, INFINITY, -INFINITY}) EXPECT_TRUE(std::isnan(rounded(x)));
}

TYPED_TEST(Float8Format, ScalesByTheLargestPowerOfTwo) {
  using N = Numbers<TypeParam>;
  const auto scale = [](float amax) { return detail::float8_scale<TypeParam>(amax); };
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const auto amax =
        static_cast<float>(std::ldexp(random.uniform() + 1e-3, static_cast<int>(random.below(150)) - 60));
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale(amax), &exponent), 0.5f);
    EXPECT_LE(double{amax} * scale(amax), N::largest) << amax;
    if (exponent - 1 < 100) EXPECT_GT(2.0 * amax * scale(amax), N::largest) << amax;
  }
  EXPECT_EQ(scale(static_cast<float>(N::largest)), 1);
  EXPECT_EQ(scale(0), 1);
  EXPECT_EQ(scale(INFINITY), 1);
  EXPECT_EQ(scale(std::numeric_limits<float>::min()), 0x1p100f);
  EXPECT_EQ(scale(std::numeric_limits<float>::denorm_min()), 0x1p100f);
}

/// A linear layer [48, 32] of 16 rows.
struct Layer {
  Tensor x, weight, bias, d_y;

  explicit Layer(DType dtype, int64_t rows = 16) {
    const Tensors made = normals({{rows, 32}, {48, 32}, {48}, {rows, 48}});
    x = made[0].to(dtype);
    weight = made[1].to(dtype);
    bias = made[2].to(dtype);
    d_y = (made[3] * 1e-6).to(dtype);
  }
  Tensor forward() const { return linear(x, weight, bias); }
  Tensors gradients() const {
    Tensors d(3);
    pullbacks::linear_pullback(x, weight, bias, d_y, &d[0], &d[1], &d[2]);
    return d;
  }
};

double largest(const Tensor& x) {
  const Tensor wide = x.to(DType::float64).contiguous();
  double found = 0;
  for (int64_t i = 0; i < wide.numel(); ++i) found = std::max(found, std::abs(wide.data<double>()[i]));
  return found;
}

/// Rounded by the definition, in double, where the largest is `amax`; too large ones saturate.
template <class Format>
Tensor expected_rounding(const Tensor& x, double amax) {
  const double scale = std::exp2(std::floor(std::log2(Numbers<Format>::largest / amax)));
  Tensor y = x.to(DType::float64).contiguous().clone();
  for (double& value : std::span(y.data<double>(), static_cast<size_t>(y.numel())))
    value = nearest<Format>(value * scale) / scale;
  return y;
}
template <class Format>
Tensor expected_rounding(const Tensor& x) {
  return expected_rounding<Format>(x, largest(x));
}

constexpr DType dtypes[] = {DType::float32, DType::bfloat16};
double tolerance(DType dtype) { return dtype == DType::float32 ? 1e-6 : 8e-3; }

TEST(Float8Linear, MultipliesRoundedOperands) {
  for (const DType dtype : dtypes) {
    const Layer layer(dtype);
    const Tensor exact = layer.forward();
    const Float8Layers float8({layer.weight});
    const Tensor expected =
        linear(expected_rounding<float8_e4m3>(layer.x), expected_rounding<float8_e4m3>(layer.weight),
               layer.bias.to(DType::float64));
    EXPECT_LT(testing::relative_difference(layer.forward(), expected), tolerance(dtype));
    EXPECT_GT(testing::relative_difference(exact, expected), 1e-2);
  }
}

TEST(Float8Linear, GradientsAreProductsOfRoundedOperands) {
  for (const DType dtype : dtypes) {
    const Layer layer(dtype);
    const Float8Layers float8({layer.weight});
    const Tensor d_y = expected_rounding<float8_e5m2>(layer.d_y), x = expected_rounding<float8_e4m3>(layer.x),
                 weight = expected_rounding<float8_e4m3>(layer.weight);
    const Tensors d = layer.gradients();
    EXPECT_LT(testing::relative_difference(d[0], matmul(d_y, weight)), tolerance(dtype));
    EXPECT_LT(testing::relative_difference(d[1], matmul(d_y.transpose(0, 1), x)), tolerance(dtype));
    EXPECT_LT(testing::relative_difference(d[2], sum(layer.d_y.to(DType::float64), 0)), tolerance(dtype));
  }
}

TEST(Float8Linear, IsScaledByTheStepsBefore) {
  Layer layer(DType::float32);
  Float8Layers float8({layer.weight});
  const double first = largest(layer.x);
  const auto train = [&] {
    const TrainingScope training(1, 0);
    const Tensor y = layer.forward();
    layer.gradients();
    return y;
  };
  const auto expected = [&](double amax) {
    return linear(expected_rounding<float8_e4m3>(layer.x, amax), expected_rounding<float8_e4m3>(layer.weight),
                  layer.bias.to(DType::float64));
  };
  const auto remembered = [&](int64_t operand, int64_t step) {
    return float8.amax().select(0, 0).select(0, operand).select(0, step).item();
  };
  EXPECT_LT(testing::relative_difference(train(), expected(first)), 1e-6);
  EXPECT_EQ(remembered(0, 0), first);
  EXPECT_EQ(remembered(1, 0), largest(layer.weight));
  EXPECT_EQ(remembered(2, 0), largest(layer.d_y));
  float8.finish_step();
  EXPECT_EQ(remembered(0, 0), 0);
  EXPECT_EQ(remembered(0, 1), first);

  layer.x = layer.x * 100;  // grows beyond what was seen
  EXPECT_LT(testing::relative_difference(train(), expected(first)), 1e-6);
  const double second = largest(layer.x);
  EXPECT_EQ(remembered(0, 0), second);
  float8.finish_step();
  EXPECT_LT(testing::relative_difference(train(), expected(second)), 1e-6);

  layer.x = layer.x * 0.01;  // what was seen is forgotten in time
  for (int64_t step = 1; step < Float8Scaling::steps; ++step) {
    EXPECT_LT(testing::relative_difference(train(), expected(second)), 1e-6) << step;
    float8.finish_step();
  }
  float8.finish_step();
  EXPECT_LT(testing::relative_difference(train(), expected(largest(layer.x))), 1e-6);
}

TEST(Float8Linear, RemembersTheLargestOfAStep) {
  Layer layer(DType::bfloat16);
  Float8Layers float8({layer.weight});
  const TrainingScope training(1, 0);
  layer.forward();
  const double first = largest(layer.x);
  layer.x = (layer.x.to(DType::float32) * 2.0).to(DType::bfloat16);
  layer.forward();
  layer.x = (layer.x.to(DType::float32) * 0.25).to(DType::bfloat16);
  layer.forward();
  EXPECT_EQ(float8.amax().narrow(1, 0, 1).narrow(2, 0, 1).item(), 2 * first);
  float8.forget_step();
  EXPECT_EQ(largest(float8.amax()), 0);
}

TEST(Float8Linear, OutsideATrainingScopeNothingIsRemembered) {
  const Layer layer(DType::float32);
  Float8Layers float8({layer.weight});
  const Tensor y = layer.forward();
  layer.gradients();
  EXPECT_EQ(largest(float8.amax()), 0);
  {
    const TrainingScope training(1, 0);
    Layer larger = layer;
    larger.x = layer.x * 1000;
    larger.forward();
    float8.finish_step();
  }
  EXPECT_TRUE(same_bits(layer.forward(), y));
}

TEST(Float8Linear, RoundsNothingThatTensorCoresCannotMultiply) {
  for (const int64_t rows : {1, 15, 17}) {
    const Layer layer(DType::bfloat16, rows);
    const Tensor y = layer.forward();
    const Tensors d = layer.gradients();
    const Float8Layers float8({layer.weight});
    EXPECT_TRUE(same_bits(layer.forward(), y)) << rows;
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(layer.gradients()[i], d[i])) << rows;
  }
  const Tensors odd = normals({{16, 24}, {48, 24}});
  const Tensor x = odd[0].to(DType::float32), weight = odd[1].to(DType::float32), y = linear(x, weight);
  const Float8Layers none({weight});
  EXPECT_EQ(none.layers(), 0);
  EXPECT_TRUE(same_bits(linear(x, weight), y));
}

TEST(Float8Linear, EndsWithTheLayers) {
  const Layer layer(DType::float32);
  const Tensor y = layer.forward();
  {
    const Float8Layers float8({layer.weight});
    EXPECT_EQ(float8.layers(), 1);
    EXPECT_FALSE(same_bits(layer.forward(), y));
    EXPECT_TRUE(same_bits(linear(layer.x, layer.weight.clone(), layer.bias), y));
  }
  EXPECT_TRUE(same_bits(layer.forward(), y));
}

TEST(Float8Linear, ReachesWhatIsFusedWithIt) {
  const Layer layer(DType::bfloat16);
  const Float8Layers float8({layer.weight});
  EXPECT_TRUE(same_bits(linear_gelu_tanh(layer.x, layer.weight, layer.bias), gelu_tanh(layer.forward())));
}

TEST(Float8Linear, WhatIsNotFiniteBecomesNaN) {
  for (const float bad : {NAN, INFINITY}) {
    Layer layer(DType::float32);
    layer.x.data<float>()[5] = bad;
    const Float8Layers float8({layer.weight});
    const Tensor y = layer.forward();
    for (int64_t i = 0; i < 48; ++i) EXPECT_TRUE(std::isnan(y.data<float>()[i]));
    for (int64_t i = 48; i < y.numel(); ++i) EXPECT_TRUE(std::isfinite(y.data<float>()[i]));
  }
}

TEST(Float8Linear, RefusesWeightsOfOtherTypes) {
  EXPECT_THROW(Float8Layers({zeros({16, 16}, DType::float64)}), Error);
}

TEST(Linear, HasGradientsWithoutChannels) {
  Tensor d_x, d_weight;
  pullbacks::linear_pullback(ones({3, 4}), ones({0, 4}), Tensor(), ones({3, 0}), &d_x, &d_weight, nullptr);
  EXPECT_TRUE(same_bits(d_x, zeros({3, 4})));
  EXPECT_EQ(d_weight.shape(), (Shape{0, 4}));
}

}  // namespace
}  // namespace cladtorch
