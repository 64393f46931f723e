// Counter-based random numbers: the n-th number of a stream is a pure function of (seed, n), on any thread.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace cladtorch {

/// Philox4x32-10: four random words from a 128-bit counter and a 64-bit key.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, uint64_t key) {
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Word `index` of the stream (seed, stream), by random access without state.
constexpr uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t index) {
  const uint64_t block = index / 4;
  return philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                     static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
                    seed)[index % 4];
}

/// A sequential reader of one stream. Its whole state is three integers, so a checkpoint can store it
/// exactly. Satisfies std::uniform_random_bit_generator.
class Random {
 public:
  using result_type = uint32_t;

  explicit Random(uint64_t seed = 0, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  uint64_t seed() const { return seed_; }
  uint64_t stream() const { return stream_; }

  /// How many words have been taken; seek() goes to any place of the stream.
  uint64_t position() const { return position_; }
  void seek(uint64_t position) { position_ = position; }

  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return UINT32_MAX; }
  uint32_t operator()() {
    const uint64_t block = position_ / 4;
    if (block != cached_block_) {
      words_ = philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                           static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                          seed_);
      cached_block_ = block;
    }
    return words_[position_++ % 4];
  }

  uint64_t next64() {
    const uint64_t high = (*this)();
    return high << 32 | (*this)();
  }

  /// Uniform in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

  /// Uniform in [0, n) without bias; n > 0.
  uint64_t below(uint64_t n) {
    const uint64_t rejected = (0 - n) % n;
    uint64_t word = next64();
    while (word < rejected) word = next64();
    return word % n;
  }

  /// Standard normal; takes four words (Box-Muller, the cosine half).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

 private:
  uint64_t seed_, stream_;
  uint64_t position_ = 0;
  uint64_t cached_block_ = UINT64_MAX;
  std::array<uint32_t, 4> words_{};
};

}  // namespace cladtorch
