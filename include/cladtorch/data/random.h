// The random numbers of this folder: small, seeded, and the same on every machine and compiler.
#pragma once

#include <cstdint>

namespace cladtorch::data {

/// SplitMix64's output function (Steele, Lea, Flood 2014): a bijection of 64-bit words that mixes all bits.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A hash of up to three words, for values that are computed from their place instead of drawn in order.
constexpr std::uint64_t hash64(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  return mix64(mix64(mix64(a + golden) + b + golden) + c + golden);
}

/// Maps 64 random bits to 0 .. bound - 1. The bias is below bound / 2^64.
constexpr std::uint64_t scale64(std::uint64_t bits, std::uint64_t bound) {
  const std::uint64_t high = bits >> 32, low = bits & 0xffffffffu;
  const std::uint64_t bound_high = bound >> 32, bound_low = bound & 0xffffffffu;
  const std::uint64_t mid = high * bound_low + ((low * bound_low) >> 32);
  const std::uint64_t mid2 = low * bound_high + (mid & 0xffffffffu);
  return high * bound_high + (mid >> 32) + (mid2 >> 32);
}

/// SplitMix64: 2^64 numbers from a counter.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(hash64(seed)) {}
  constexpr std::uint64_t bits() { return mix64(state_ += 0x9e3779b97f4a7c15u); }
  constexpr std::uint64_t below(std::uint64_t bound) { return scale64(bits(), bound); }

 private:
  std::uint64_t state_;
};

}  // namespace cladtorch::data
