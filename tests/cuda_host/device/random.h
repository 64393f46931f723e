// Random numbers that decide every order the imitation is
// free to choose; CLADTORCH_CUDA_HOST_SEED starts them.
#pragma once

#include <cstdint>

namespace cuda_host::detail {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t operator()() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }

  // 0 to bound - 1; the bias of the remainder does not matter for an order.
  uint64_t below(uint64_t bound) { return (*this)() % bound; }

 private:
  uint64_t state_;
};

// What CLADTORCH_CUDA_HOST_SEED says, 0 if nothing.
uint64_t seed();

}  // namespace cuda_host::detail
