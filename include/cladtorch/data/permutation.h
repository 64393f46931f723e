// A pseudo-random order of 0 .. n - 1 that is computed place by place, without a table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cladtorch/random.h"

namespace cladtorch::data {

/// A bijection of 0 .. n - 1 chosen by (seed, stream): a Feistel network over the next even power of two,
/// applied again until the result is below n (at most 4 times on average).
class Permutation {
 public:
  Permutation(uint64_t n, uint64_t seed, uint64_t stream) : n_(n) {
    half_bits_ = std::max(3u, (static_cast<unsigned>(std::bit_width(n > 0 ? n - 1 : 0)) + 1) / 2);
    Random random(seed, stream);
    for (uint64_t& key : keys_) key = random.next64();
    shift_ = n > 0 ? random.below(n) : 0;
  }

  uint64_t size() const { return n_; }

  /// `i` must be below size().
  uint64_t operator()(uint64_t i) const {
    do i = network(i);
    while (i >= n_);
    return i < n_ - shift_ ? i + shift_ : i - (n_ - shift_);
  }

 private:
  uint64_t network(uint64_t i) const {
    const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
    uint64_t left = i >> half_bits_, right = i & mask;
    for (uint64_t key : keys_) {
      const uint64_t old_left = left;
      left = right;
      // The top half of an odd multiple of a mixed word: each output bit depends on each input bit.
      uint64_t mixed = (right ^ key) * 0x9e3779b97f4a7c15u;
      mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93u;
      right = old_left ^ ((mixed >> 32) & mask);
    }
    return left << half_bits_ | right;
  }

  uint64_t n_;
  uint64_t shift_ = 0;  // makes every value exactly equally likely in every place, also where n is tiny
  unsigned half_bits_ = 3;
  uint64_t keys_[6];
};

}  // namespace cladtorch::data
