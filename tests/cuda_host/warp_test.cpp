// What the lanes of a warp do together, against the same written as loops, and what must fail.
#include <bit>

#include "support.h"

namespace {
using namespace cuda_host::testing;

constexpr unsigned all_lanes = 0xFFFFFFFFu;

template <typename T>
struct Shuffled {
  T index, up, down, flipped;
};

template <typename T>
__global__ void shuffle_all(Shuffled<T>* out, int argument, int width) {
  const T mine = static_cast<T>(threadIdx.x * 3 + 1);
  out[threadIdx.x] = {
      __shfl_sync(all_lanes, mine, argument, width), __shfl_up_sync(all_lanes, mine, argument, width),
      __shfl_down_sync(all_lanes, mine, argument, width), __shfl_xor_sync(all_lanes, mine, argument, width)};
}

// By the words of the programming guide: lanes form groups of `width`; a lane outside the group is not read.
template <typename T>
void check_shuffles() {
  for (const int width : {1, 2, 4, 8, 16, 32}) {
    for (int argument = 0; argument < 32; ++argument) {
      Buffer<Shuffled<T>> out(64);
      expect_success(launch({dim3(1), dim3(64)}, shuffle_all<T>, out.get(), argument, width));
      const auto result = out.values();
      for (int t = 0; t < 64; ++t) {
        const int warp = t / 32 * 32, lane = t % 32, group = lane / width;
        const auto value = [&](int of) { return static_cast<T>((warp + of) * 3 + 1); };
        ASSERT_EQ(result[t].index, value(group * width + argument % width));
        const int above = lane - argument, below = lane + argument, flipped = lane ^ argument;
        ASSERT_EQ(result[t].up, value(above >= group * width ? above : lane));
        ASSERT_EQ(result[t].down, value(below < (group + 1) * width ? below : lane));
        ASSERT_EQ(result[t].flipped, value(flipped / width <= group ? flipped : lane));
      }
    }
  }
}

TEST(CudaHostWarp, ShufflesOfInt) { check_shuffles<int>(); }
TEST(CudaHostWarp, ShufflesOfUnsigned) { check_shuffles<unsigned>(); }
TEST(CudaHostWarp, ShufflesOfFloat) { check_shuffles<float>(); }
TEST(CudaHostWarp, ShufflesOfDouble) { check_shuffles<double>(); }
TEST(CudaHostWarp, ShufflesOf64Bits) {
  check_shuffles<long long>();
  check_shuffles<unsigned long long>();
}

__global__ void shuffle_within(unsigned mask, int* out) {
  if ((mask >> threadIdx.x & 1) == 0) return;
  out[threadIdx.x] = __shfl_xor_sync(mask, static_cast<int>(threadIdx.x), 1);
}

TEST(CudaHostWarp, ALaneOutsideTheMaskGivesNothing) {
  Buffer<int> out(32);
  expect_success(launch({dim3(1), dim3(32)}, shuffle_within, 0x0000000Eu, out.get()));
  const auto result = out.values();
  EXPECT_EQ(result[1], -1);  // lane 0 takes no part
  EXPECT_EQ(result[2], 3);
  EXPECT_EQ(result[3], 2);
}

__global__ void two_halves(int* out) {
  const unsigned mask = threadIdx.x < 16 ? 0x0000FFFFu : 0xFFFF0000u;
  int sum = static_cast<int>(threadIdx.x);
  for (int distance = 8; distance > 0; distance /= 2) sum += __shfl_xor_sync(mask, sum, distance);
  out[threadIdx.x] = sum;
}

TEST(CudaHostWarp, LanesOfDifferentMasksDoNotWaitForEachOther) {
  Buffer<int> out(32);
  expect_success(launch({dim3(1), dim3(32)}, two_halves, out.get()));
  const auto result = out.values();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(result[i], i < 16 ? 120 : 376);
}

struct Votes {
  unsigned ballot;
  int any, all, none, active;
};

__global__ void vote(Votes* out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = {__ballot_sync(all_lanes, lane % 5 == 0), __any_sync(all_lanes, lane == 7),
               __all_sync(all_lanes, lane < 32), __all_sync(all_lanes, lane != 9),
               static_cast<int>(__activemask() >> lane & 1)};
}

TEST(CudaHostWarp, Votes) {
  Buffer<Votes> out(32);
  expect_success(launch({dim3(1), dim3(32)}, vote, out.get()));
  unsigned expected = 0;
  for (int lane = 0; lane < 32; lane += 5) expected |= 1u << lane;
  for (const Votes& votes : out.values()) {
    EXPECT_EQ(votes.ballot, expected);
    EXPECT_EQ(votes.any, 1);
    EXPECT_EQ(votes.all, 1);
    EXPECT_EQ(votes.none, 0);
    EXPECT_EQ(votes.active, 1);
  }
}

struct Reduced {
  int sum, smallest, largest;
  unsigned unsigned_sum, unsigned_smallest, unsigned_largest, conjunction, disjunction, parity;
};

__global__ void reduce(unsigned mask, const int* values, Reduced* out) {
  if ((mask >> threadIdx.x & 1) == 0) return;
  const int v = values[threadIdx.x];
  const auto u = static_cast<unsigned>(v);
  out[threadIdx.x] = {__reduce_add_sync(mask, v), __reduce_min_sync(mask, v), __reduce_max_sync(mask, v),
                      __reduce_add_sync(mask, u), __reduce_min_sync(mask, u), __reduce_max_sync(mask, u),
                      __reduce_and_sync(mask, u), __reduce_or_sync(mask, u),  __reduce_xor_sync(mask, u)};
}

TEST(CudaHostWarp, Reductions) {
  std::vector<int> values(32);
  for (int i = 0; i < 32; ++i) values[i] = (i * 7919 % 1000 - 500) * 2000000;
  for (const unsigned mask : {all_lanes, 0x0F0F00F1u, 0x80000000u}) {
    Reduced expected{0, INT32_MAX, INT32_MIN, 0, UINT32_MAX, 0, all_lanes, 0, 0};
    for (int i = 0; i < 32; ++i) {
      if ((mask >> i & 1) == 0) continue;
      const auto u = static_cast<unsigned>(values[i]);
      expected.unsigned_sum += u;
      expected.smallest = std::min(expected.smallest, values[i]);
      expected.largest = std::max(expected.largest, values[i]);
      expected.unsigned_smallest = std::min(expected.unsigned_smallest, u);
      expected.unsigned_largest = std::max(expected.unsigned_largest, u);
      expected.conjunction &= u;
      expected.disjunction |= u;
      expected.parity ^= u;
    }
    expected.sum = static_cast<int>(expected.unsigned_sum);
    Buffer<int> in(values);
    Buffer<Reduced> out(32);
    expect_success(launch({dim3(1), dim3(32)}, reduce, mask, in.get(), out.get()));
    const Reduced result = out.values()[static_cast<size_t>(std::countr_zero(mask))];
    EXPECT_EQ(result.sum, expected.sum);
    EXPECT_EQ(result.smallest, expected.smallest);
    EXPECT_EQ(result.largest, expected.largest);
    EXPECT_EQ(result.unsigned_sum, expected.unsigned_sum);
    EXPECT_EQ(result.unsigned_smallest, expected.unsigned_smallest);
    EXPECT_EQ(result.unsigned_largest, expected.unsigned_largest);
    EXPECT_EQ(result.conjunction, expected.conjunction);
    EXPECT_EQ(result.disjunction, expected.disjunction);
    EXPECT_EQ(result.parity, expected.parity);
  }
}

void reverse_lanes(void** lanes) {
  for (int i = 0; i < 16; ++i) std::swap(*static_cast<int*>(lanes[i]), *static_cast<int*>(lanes[31 - i]));
}

__global__ void reverse(int* out) {
  int mine = static_cast<int>(threadIdx.x);
  cuda_host::warp_collective(all_lanes, &mine, reverse_lanes);
  out[threadIdx.x] = mine;
}

TEST(CudaHostWarp, ACollectiveOfOnesOwn) {
  Buffer<int> out(32);
  expect_success(launch({dim3(1), dim3(32)}, reverse, out.get()));
  const auto result = out.values();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(result[i], 31 - i);
}

void expect_contains(const std::string& text, const char* part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

__global__ void one_lane_returns(int* out) {
  if (threadIdx.x == 3) return;
  out[threadIdx.x] = __shfl_sync(all_lanes, 1, 0);
}

TEST(CudaHostWarpFailures, ALaneOfTheMaskHasReturned) {
  Buffer<int> out(32);
  const std::string message = failure_of({dim3(1), dim3(32)}, one_lane_returns, out.get());
  expect_contains(message, "one_lane_returns(int*), block (0, 0, 0): thread (0, 0, 0)");
  expect_contains(message,
                  "waits forever at __shfl_sync with mask 0xffffffff for lane 3, which has returned");
}

__global__ void one_lane_at_the_barrier() {
  if (threadIdx.x == 40) __syncthreads();
  __syncwarp();
  if (threadIdx.x != 40) __syncthreads();
}

TEST(CudaHostWarpFailures, ALaneOfTheMaskWaitsForTheBlock) {
  expect_contains(failure_of({dim3(1), dim3(64)}, one_lane_at_the_barrier),
                  "at __syncwarp with mask 0xffffffff for lane 8, which waits at __syncthreads");
}

__global__ void different_primitives() {
  if (threadIdx.x < 30) {
    __any_sync(all_lanes, 1);
  } else {
    __ballot_sync(all_lanes, 1);
  }
}

TEST(CudaHostWarpFailures, LanesCallDifferentPrimitives) {
  expect_contains(failure_of({dim3(1), dim3(32)}, different_primitives),
                  "for lane 30, which waits at __ballot_sync");
}

__global__ void different_masks() { __syncwarp(threadIdx.x < 16 ? all_lanes : 0xFFFF0000u); }

TEST(CudaHostWarpFailures, LanesCallWithDifferentMasks) {
  expect_contains(failure_of({dim3(1), dim3(32)}, different_masks), "for lane 16, which has returned");
}

__global__ void mask_without_oneself() { __syncwarp(0x1); }

TEST(CudaHostWarpFailures, TheMaskDoesNotNameTheCaller) {
  expect_contains(failure_of({dim3(1), dim3(2)}, mask_without_oneself),
                  "thread (1, 0, 0) calls __syncwarp with mask 0x00000001, which does not name it");
}

__global__ void full_mask_in_half_a_warp() { __syncwarp(); }

TEST(CudaHostWarpFailures, TheMaskNamesLanesThatTheBlockDoesNotHave) {
  expect_contains(failure_of({dim3(1), dim3(16)}, full_mask_in_half_a_warp),
                  "for lane 16, which the block does not have");
}

__global__ void odd_width(int width) { __shfl_sync(all_lanes, 1, 0, width); }

TEST(CudaHostWarpFailures, TheWidthOfAShuffleIsAPowerOfTwo) {
  for (const int width : {0, 3, 33, 64}) {
    expect_contains(failure_of({dim3(1), dim3(32)}, odd_width, width),
                    "shuffles with a width that is no power of two");
  }
}

TEST(CudaHostWarp, SmallIntegersAreShuffledAsInt) {
  static_assert(std::is_same_v<decltype(__shfl_sync(0u, true, 0)), int>);
  static_assert(std::is_same_v<decltype(__shfl_xor_sync(0u, short{1}, 0)), int>);
  static_assert(std::is_same_v<decltype(__shfl_up_sync(0u, 1.0f, 0)), float>);
}

TEST(CudaHostWarpFailures, EveryCallFailsUntilTheDeviceIsReset) {
  expect_success(launch({dim3(1), dim3(16)}, full_mask_in_half_a_warp));
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  expect_success(cudaDeviceReset());
  expect_success(cudaGetLastError());
  EXPECT_STREQ(cuda_host::last_failure(), "");
}

}  // namespace
