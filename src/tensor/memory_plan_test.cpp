#include "tensor/memory_plan.h"

#include <gtest/gtest.h>

#include "cladtorch/random.h"
#include "tensor/allocation.h"

namespace cladtorch::detail {
namespace {

/// First pair of blocks that overlap in time and in memory, or "".
std::string conflict(const std::vector<Lifetime>& blocks, const MemoryPlan& plan) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (plan.offsets[i] % data_alignment) return "unaligned " + std::to_string(i);
    if (plan.offsets[i] + blocks[i].bytes > plan.bytes) return "outside " + std::to_string(i);
    for (size_t j = 0; j < i; ++j) {
      const bool in_time = blocks[i].begin < blocks[j].end && blocks[j].begin < blocks[i].end;
      const bool in_memory = plan.offsets[i] < plan.offsets[j] + blocks[j].bytes &&
                             plan.offsets[j] < plan.offsets[i] + blocks[i].bytes;
      if (in_time && in_memory) return std::to_string(i) + " and " + std::to_string(j);
    }
  }
  return "";
}

TEST(MemoryPlan, TheConflictCheckerFindsConflicts) {
  const std::vector<Lifetime> blocks = {{0, 2, 64}, {1, 3, 64}};
  EXPECT_NE(conflict(blocks, {{0, 0}, 64}), "");
  EXPECT_NE(conflict(blocks, {{0, 64}, 64}), "");
  EXPECT_NE(conflict(blocks, {{0, 65}, 256}), "");
  EXPECT_EQ(conflict(blocks, {{0, 64}, 128}), "");
}

TEST(MemoryPlan, BlocksThatNeverMeetShareMemory) {
  const std::vector<Lifetime> blocks = {{0, 1, 1000}, {1, 2, 1000}, {2, 3, 500}};
  const MemoryPlan plan = plan_memory(blocks);
  EXPECT_EQ(conflict(blocks, plan), "");
  EXPECT_EQ(plan.bytes, 1024u);
  EXPECT_EQ(peak_live_bytes(blocks), 1024u);
}

TEST(MemoryPlan, NestedLifetimesOfAForwardAndBackwardPassNeedNoMoreThanTheirPeak) {
  std::vector<Lifetime> blocks;
  for (int64_t i = 0; i < 50; ++i) blocks.push_back({i, 100 - i, static_cast<size_t>(64 * (1 + i % 7))});
  const MemoryPlan plan = plan_memory(blocks);
  EXPECT_EQ(conflict(blocks, plan), "");
  EXPECT_EQ(plan.bytes, peak_live_bytes(blocks));
}

TEST(MemoryPlan, RandomLifetimesNeverConflictAndStayNearThePeak) {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<Lifetime> blocks;
    for (int i = 0; i < 200; ++i) {
      const auto begin = static_cast<int64_t>(random.below(400));
      blocks.push_back({begin, begin + 1 + static_cast<int64_t>(random.below(60)), random.below(5000)});
    }
    const MemoryPlan plan = plan_memory(blocks);
    ASSERT_EQ(conflict(blocks, plan), "");
    EXPECT_LE(static_cast<double>(plan.bytes), 1.25 * static_cast<double>(peak_live_bytes(blocks)));
  }
}

TEST(MemoryPlan, FixedBlocksStayAndTheOthersGoAround) {
  Random random(4);
  for (int round = 0; round < 20; ++round) {
    std::vector<Lifetime> blocks;
    for (int i = 0; i < 100; ++i) {
      const auto begin = static_cast<int64_t>(random.below(200));
      blocks.push_back({begin, begin + 1 + static_cast<int64_t>(random.below(60)), random.below(5000)});
    }
    const MemoryPlan first = plan_memory(blocks);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i % 3 == 0) {
        blocks[i].fixed_offset = first.offsets[i];
      } else {
        blocks[i].bytes = random.below(9000);
      }
    }
    const MemoryPlan second = plan_memory(blocks);
    ASSERT_EQ(conflict(blocks, second), "");
    for (size_t i = 0; i < blocks.size(); i += 3) ASSERT_EQ(second.offsets[i], first.offsets[i]);
  }
}

TEST(MemoryPlan, NoBlocksNeedNoMemory) { EXPECT_EQ(plan_memory({}).bytes, 0u); }

}  // namespace
}  // namespace cladtorch::detail
