#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cladtorch::detail {
namespace {

TEST(Arena, PlacesBlocksInTheSmallestGapThatHoldsThem) {
  Arena arena;
  arena.reserve();
  EXPECT_EQ(arena.place(64), 0u);
  EXPECT_EQ(arena.place(256), 64u);
  EXPECT_EQ(arena.place(1), 320u);
  EXPECT_EQ(arena.place(128), 384u);
  EXPECT_EQ(arena.place(64), 512u);
  arena.remove(64);
  arena.remove(384);
  EXPECT_EQ(arena.place(100), 384u) << "two lines fit the gap of two better than the gap of four";
  EXPECT_EQ(arena.place(100), 64u);
  EXPECT_EQ(arena.place(64), 192u);
  EXPECT_EQ(arena.place(0), 256u) << "even an empty block has an address of its own";
  EXPECT_EQ(arena.touched(), 576u);
}

TEST(Arena, BlocksThatLieSomewhereAlreadyAreLeftAlone) {
  Arena arena;
  arena.reserve();
  arena.assume(128, 64);
  arena.assume(0, 64);
  EXPECT_EQ(arena.place(64), 64u);
  EXPECT_EQ(arena.place(64), 192u);
  arena.remove_all();
  EXPECT_EQ(arena.place(64), 0u);
}

TEST(Arena, MemoryPastItsSizeIsGivenBack) {
  Arena arena;
  arena.reserve();
  const size_t far = arena.place(size_t{8} << 20) + (size_t{6} << 20);
  *arena.at(far) = std::byte{7};
  *arena.at(5) = std::byte{7};
  arena.resize(size_t{2} << 20);
  EXPECT_EQ(*arena.at(far), std::byte{0}) << "a fresh page";
  EXPECT_EQ(*arena.at(5), std::byte{7});
  EXPECT_EQ(arena.touched(), size_t{2} << 20);
}

TEST(Arena, BeginsAtAHugePage) {
  Arena arena;
  arena.reserve();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.at(0)) % (size_t{2} << 20), 0u);
}

TEST(Arena, RefusesWhatItCannotHold) {
  Arena arena;
  EXPECT_EQ(arena.place(64), Arena::no_place) << "nothing is reserved yet";
  arena.reserve();
  EXPECT_EQ(arena.place(arena.reserved() + 1), Arena::no_place);
  EXPECT_EQ(arena.place(size_t{1} << 62), Arena::no_place);
  EXPECT_EQ(arena.place(64), 0u);
}

}  // namespace
}  // namespace cladtorch::detail
