#include "cladtorch/random.h"

#include <gtest/gtest.h>

namespace cladtorch {
namespace {

TEST(Philox, MatchesThePublishedTestVectors) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, ~uint64_t{0}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, SeekGoesToAnyPlaceOfTheStream) {
  Random a(5, 9), b(5, 9);
  for (int i = 0; i < 7; ++i) a();
  b.seek(7);
  EXPECT_EQ(a(), b());
  EXPECT_EQ(a.position(), 8u);
  EXPECT_EQ(random_word(5, 9, 8), a());
}

TEST(Random, StreamsAndSeedsDiffer) {
  EXPECT_NE(random_word(1, 0, 0), random_word(2, 0, 0));
  EXPECT_NE(random_word(1, 0, 0), random_word(1, 1, 0));
}

TEST(Random, BelowIsUniform) {
  Random random(1);
  std::array<int, 5> counts{};
  for (int i = 0; i < 5000; ++i) ++counts[random.below(5)];
  for (int count : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST(Random, UniformStaysInTheHalfOpenUnitInterval) {
  Random random(1);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

}  // namespace
}  // namespace cladtorch
