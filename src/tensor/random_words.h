// Philox4x32-10 (see cladtorch/random.h) for many counters at once, in loops that the compiler vectorizes for
// the instruction set of the function into which they are inlined.
#pragma once

#include <stdint.h>

namespace cladtorch::detail {

constexpr int philox_lanes = 16;

/// The words of philox_lanes blocks of a stream, as philox4x32 gives them: from block `first` on.
[[gnu::always_inline]] static inline void random_words(uint64_t seed, uint64_t stream, uint64_t first,
                                                       uint32_t* words) {
  uint32_t a[philox_lanes], b[philox_lanes], c[philox_lanes], d[philox_lanes];
  for (int i = 0; i < philox_lanes; ++i) {
    const uint64_t block = first + static_cast<uint64_t>(i);
    a[i] = static_cast<uint32_t>(block);
    b[i] = static_cast<uint32_t>(block >> 32);
    c[i] = static_cast<uint32_t>(stream);
    d[i] = static_cast<uint32_t>(stream >> 32);
  }
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {  // as philox4x32
    for (int i = 0; i < philox_lanes; ++i) {
      const uint64_t product0 = uint64_t{0xD2511F53u} * a[i], product1 = uint64_t{0xCD9E8D57u} * c[i];
      a[i] = static_cast<uint32_t>(product1 >> 32) ^ b[i] ^ key0;
      b[i] = static_cast<uint32_t>(product1);
      c[i] = static_cast<uint32_t>(product0 >> 32) ^ d[i] ^ key1;
      d[i] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int i = 0; i < philox_lanes; ++i) {
    words[4 * i] = a[i];
    words[4 * i + 1] = b[i];
    words[4 * i + 2] = c[i];
    words[4 * i + 3] = d[i];
  }
}

}  // namespace cladtorch::detail
