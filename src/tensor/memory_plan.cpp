#include "tensor/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "tensor/allocation.h"

namespace cladtorch::detail {
namespace {

/// Above this many blocks the quadratic orders would take seconds, and only the order of allocation is tried.
constexpr size_t most_blocks_for_all_orders = 8192;

size_t rounded(size_t bytes) {
  return (std::max<size_t>(bytes, 1) + data_alignment - 1) / data_alignment * data_alignment;
}

bool is_fixed(const Lifetime& block) { return block.fixed_offset != SIZE_MAX; }

bool overlap(const Lifetime& a, const Lifetime& b) { return a.begin < b.end && b.begin < a.end; }

/// Places fixed blocks where they must lie and then the others in the given order, each into the smallest gap
/// between those alive at the same time that holds it.
MemoryPlan place(std::span<const Lifetime> blocks, std::span<const size_t> order) {
  MemoryPlan plan;
  plan.offsets.resize(blocks.size());
  std::vector<size_t> placed;  // by offset
  const auto put = [&](size_t block, size_t offset) {
    plan.offsets[block] = offset;
    plan.bytes = std::max(plan.bytes, offset + rounded(blocks[block].bytes));
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [&](size_t value, size_t other) { return value < plan.offsets[other]; });
    placed.insert(position, block);
  };
  for (size_t block = 0; block < blocks.size(); ++block) {
    if (is_fixed(blocks[block])) put(block, blocks[block].fixed_offset);
  }
  for (size_t block : order) {
    if (is_fixed(blocks[block])) continue;
    const size_t bytes = rounded(blocks[block].bytes);
    size_t low = 0, best = SIZE_MAX, best_gap = SIZE_MAX;
    for (size_t other : placed) {
      if (!overlap(blocks[block], blocks[other])) continue;
      const size_t offset = plan.offsets[other];
      if (offset > low && offset - low >= bytes && offset - low < best_gap) {
        best_gap = offset - low;
        best = low;
      }
      low = std::max(low, offset + rounded(blocks[other].bytes));
    }
    put(block, best == SIZE_MAX ? low : best);
  }
  return plan;
}

}  // namespace

size_t peak_live_bytes(std::span<const Lifetime> blocks) {
  std::vector<std::pair<int64_t, int64_t>>
      changes;  // at equal times frees sort first: lifetimes are half-open
  for (const Lifetime& block : blocks) {
    const auto bytes = static_cast<int64_t>(rounded(block.bytes));
    changes.emplace_back(block.begin, bytes);
    changes.emplace_back(block.end, -bytes);
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0, peak = 0;
  for (const auto& [time, bytes] : changes) peak = std::max(peak, live += bytes);
  return static_cast<size_t>(peak);
}

MemoryPlan plan_memory(std::span<const Lifetime> blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  MemoryPlan best = place(blocks, order);
  if (blocks.size() > most_blocks_for_all_orders) return best;

  const auto try_order = [&](auto key) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const double key_a = key(blocks[a]), key_b = key(blocks[b]);
      return key_a != key_b ? key_a > key_b : a < b;
    });
    MemoryPlan plan = place(blocks, order);
    if (plan.bytes < best.bytes) best = std::move(plan);
  };
  try_order([](const Lifetime& block) { return static_cast<double>(block.bytes); });
  try_order([](const Lifetime& block) {
    return static_cast<double>(block.bytes) * static_cast<double>(block.end - block.begin);
  });
  try_order([](const Lifetime& block) { return static_cast<double>(block.end - block.begin); });
  return best;
}

}  // namespace cladtorch::detail
