// Packing blocks with known lifetimes into one range of addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cladtorch::detail {

/// A block alive during [begin, end) of some clock.
struct Lifetime {
  int64_t begin = 0, end = 0;
  size_t bytes = 0;
  size_t fixed_offset = SIZE_MAX;  ///< where it must lie, if anywhere; fixed blocks must not overlap
};

struct MemoryPlan {
  std::vector<size_t> offsets;  ///< per block, multiples of data_alignment
  size_t bytes = 0;             ///< end of the highest block
};

/// Most bytes alive at once, each block rounded up to the alignment: no plan is smaller.
size_t peak_live_bytes(std::span<const Lifetime> blocks);

/// Offsets such that blocks alive at the same time do not overlap. Finding the smallest plan is NP-hard; this
/// takes the best of a few greedy orders.
MemoryPlan plan_memory(std::span<const Lifetime> blocks);

}  // namespace cladtorch::detail
