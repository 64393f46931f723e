#include "cladtorch/ops/rotary.h"

#include <algorithm>
#include <numbers>

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;

void pullback(const Tensor& x, const Tensor& table, Tensor d_y, Tensor* d_x) {
  (void)x;
  pullbacks::rotary_embedding_pullback({}, table, std::move(d_y), d_x, nullptr);
}

double at(const Tensor& x, int64_t i) { return x.flatten().select(0, i).item(); }

TEST(RotaryFrequencies, FallFromOneToTheInverseOfTheta) {
  const RotaryFrequencies plain({.theta = 10000}, 4), linear({10000, RotaryScaling::linear, 4}, 4);
  EXPECT_EQ(plain.pairs(), 2);
  EXPECT_FLOAT_EQ(plain[0], 1);
  EXPECT_FLOAT_EQ(plain[1], 0.01f);
  EXPECT_FLOAT_EQ(linear[0], 0.25f);
  EXPECT_FLOAT_EQ(linear[1], 0.0025f);
}

TEST(RotaryFrequencies, OfLlama3KeepShortWavesAndStretchLongOnes) {
  constexpr double theta = 500000, factor = 8, low = 1, high = 4, original = 8192;
  const RotaryConfig config{theta, RotaryScaling::llama3, factor, low, high, 8192};
  const RotaryFrequencies plain({.theta = theta}, 128), scaled(config, 128);
  int kept = 0, stretched = 0, between = 0;
  for (int64_t i = 0; i < 64; ++i) {
    const double wave = 2 * std::numbers::pi / plain[i];
    if (wave < original / high) {
      EXPECT_EQ(scaled[i], plain[i]);
      ++kept;
    } else if (wave > original / low) {
      EXPECT_FLOAT_EQ(scaled[i], plain[i] / 8);
      ++stretched;
    } else {
      const double smooth = (original / wave - low) / (high - low);
      EXPECT_NEAR(scaled[i], (1 - smooth) * plain[i] / factor + smooth * plain[i], 1e-6 * plain[i]);
      ++between;
    }
  }
  EXPECT_GT(kept, 20);
  EXPECT_GT(stretched, 20);
  EXPECT_GT(between, 2);
}

TEST(RotaryFrequencies, OfYarnKeepPairsThatTurnOftenAndStretchThoseThatHardlyTurn) {
  constexpr double factor = 16;
  RotaryConfig config{.theta = 10000, .scaling = RotaryScaling::yarn, .factor = factor};
  config.original_positions = 4096;
  const RotaryFrequencies plain({.theta = 10000}, 128), scaled(config, 128);
  // 128 ln(4096 / (32 2 pi)) / (2 ln 10000) = 20.94 and, for one turn, 45.03.
  for (int64_t i = 0; i < 64; ++i) {
    const double stretched = std::clamp((static_cast<double>(i) - 20) / (46 - 20), 0.0, 1.0);
    const double expected = stretched * plain[i] / factor + (1 - stretched) * plain[i];
    EXPECT_NEAR(scaled[i], expected, 1e-6 * plain[i]) << i;
  }
  EXPECT_FLOAT_EQ(scaled.magnitude(), 0.1f * std::log(16.0f) + 1);
  config.attention_factor = 0.7;
  const RotaryFrequencies smaller(config, 128);
  EXPECT_FLOAT_EQ(smaller.magnitude(), 0.7f);
  const Tensor table = rotary_table(smaller, 5, 1);
  EXPECT_FLOAT_EQ(table.data<float>()[0], 0.7f * std::cos(5.0f));
  EXPECT_FLOAT_EQ(table.data<float>()[64], 0.7f * std::sin(5.0f));
}

TEST(RotaryFrequencies, OfDynamicAreThePlainOnes) {
  const RotaryFrequencies plain({.theta = 500}, 8), dynamic({500, RotaryScaling::dynamic, 4}, 8);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(plain[i], dynamic[i]);
}

TEST(RotaryFrequencies, WrongConfigurationsAreNamed) {
  EXPECT_EQ(error_of([] { RotaryFrequencies({}, 3); }),
            "RotaryFrequencies: the head size must be even, got 3");
  EXPECT_EQ(error_of([] { RotaryFrequencies({.theta = 0}, 4); }),
            "RotaryConfig: theta must be positive, got 0");
  EXPECT_EQ(error_of([] { RotaryFrequencies({1e4, RotaryScaling::llama3, 8, 4, 1, 100}, 4); }),
            "RotaryConfig: high_frequency_factor must be above low_frequency_factor, got 1 and 4");
  EXPECT_EQ(error_of([] { RotaryFrequencies({1, RotaryScaling::yarn, 8}, 4); }),
            "RotaryConfig: theta must be above 1 for yarn, got 1");
  EXPECT_EQ(error_of([] { rotary_table({}, 0, 2); }), "rotary_table: the frequencies are undefined");
}

TEST(RotaryEmbedding, TurnsPairsOfHalvesByTheAngleOfTheirPosition) {
  const RotaryFrequencies frequencies({.theta = 100}, 4);  // 1 and 0.1
  const Tensor table = rotary_table(frequencies, 3, 2);
  const Tensor x = from_values<double>({1, 2, 4}, {1, 0, 0, 2, 0, 1, 1, 0});
  const Tensor y = rotary_embedding(x, table);
  EXPECT_NEAR(at(y, 0), std::cos(3), 1e-6);
  EXPECT_NEAR(at(y, 2), std::sin(3), 1e-6);
  EXPECT_NEAR(at(y, 1), -2 * std::sin(0.3), 1e-6);
  EXPECT_NEAR(at(y, 3), 2 * std::cos(0.3), 1e-6);
  EXPECT_NEAR(at(y, 4), -std::sin(4), 1e-6);
  EXPECT_NEAR(at(y, 5), std::cos(0.4), 1e-6);
  EXPECT_EQ(
      error_of([&] { rotary_embedding(zeros({1, 3, 4}), table); }),
      "rotary_embedding: expected x [B, T, H D] and a table [T, D] with D even: x is [1,3,4], the table "
      "is [2,4]");
}

TEST(RotaryEmbedding, ProductsDependOnTheDistanceOfPositionsAlone) {
  const RotaryFrequencies frequencies({.theta = 1000}, 8);
  const Tensors x = normals({{1, 1, 8}, {1, 1, 8}});
  const auto product = [&](int64_t s, int64_t t) {
    return testing::dot(rotary_embedding(x[0], rotary_table(frequencies, s, 1)),
                        rotary_embedding(x[1], rotary_table(frequencies, t, 1)));
  };
  EXPECT_NEAR(product(3, 10), product(40, 47), 1e-5);
  EXPECT_GT(std::abs(product(3, 10) - product(3, 11)), 1e-3);
}

TEST(RotaryEmbedding, GradientMatchesDifferences) {
  for (int64_t size : {2, 6, 32, 40}) {
    RotaryConfig config{.theta = 50, .scaling = RotaryScaling::yarn, .factor = 2};
    config.attention_factor = 1.4;
    const RotaryFrequencies frequencies(config, size);
    for (const Shape& shape : {Shape{1, 1, size}, {2, 5, 3 * size}, {0, 3, size}, {2, 0, size}}) {
      const Tensor table = rotary_table(frequencies, 2, shape[1]);
      EXPECT_TRUE(testing::gradients_match([&](const Tensors& x) { return rotary_embedding(x[0], table); },
                                           [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                             pullback(x[0], table, std::move(d_y), d[0]);
                                           },
                                           normals({shape})));
    }
  }
}

TEST(RotaryEmbedding, FloatAgreesWithDouble) {
  for (int64_t size : {2, 14, 16, 34, 64}) {
    const Tensor table = rotary_table(RotaryFrequencies({.theta = 500}, size), 0, 33);
    const Tensor x = normals({{3, 33, 2 * size}})[0], d_y = normals({{3, 33, 2 * size}}, 4)[0];
    EXPECT_LT(relative_difference(rotary_embedding(x.to(DType::float32), table), rotary_embedding(x, table)),
              1e-6);
    Tensor d, d_float;
    pullback(x, table, d_y, &d);
    pullback(x, table, d_y.to(DType::float32), &d_float);
    EXPECT_LT(relative_difference(d_float, d), 1e-6);
  }
}

TEST(RotaryEmbedding, HasNoDerivativeWithRespectToTheTable) {
  const Tensor table = rotary_table(RotaryFrequencies({}, 4), 0, 1);
  Tensor d_table;
  EXPECT_EQ(
      error_of([&] { pullbacks::rotary_embedding_pullback({}, table, zeros({1, 1, 4}), nullptr, &d_table); }),
      "rotary_embedding: no derivative with respect to the table; its angles are constants");
}

}  // namespace
}  // namespace cladtorch
