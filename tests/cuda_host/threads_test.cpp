// Threads of a kernel: which they are, in which order they run, and how they wait for their block.
#include <algorithm>
#include <numeric>
#include <set>

#include "support.h"

namespace {
using namespace cuda_host::testing;

__global__ void write_index(uint3* threads, uint3* blocks) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  threads[i] = threadIdx;
  blocks[i] = blockIdx;
}

TEST(CudaHostThreads, EveryThreadOfEveryBlockRunsAndKnowsItsPlace) {
  const dim3 grid(3, 2, 5), block(7, 4, 2);
  const size_t threads = 7 * 4 * 2, total = 3 * 2 * 5 * threads;
  Buffer<uint3> thread(total), in_block(total);
  expect_success(launch({grid, block}, write_index, thread.get(), in_block.get()));
  const auto t = thread.values(), b = in_block.values();
  for (size_t i = 0; i < total; ++i) {
    const size_t in = i % threads, of = i / threads;
    ASSERT_EQ(t[i].x, in % 7);
    ASSERT_EQ(t[i].y, in / 7 % 4);
    ASSERT_EQ(t[i].z, in / 28);
    ASSERT_EQ(b[i].x, of % 3);
    ASSERT_EQ(b[i].y, of / 3 % 2);
    ASSERT_EQ(b[i].z, of / 6);
  }
}

__global__ void note_order(unsigned* order, unsigned* next) {
  order[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}

TEST(CudaHostThreads, BlocksAndThreadsRunInAnotherOrderEachTime) {
  std::set<std::vector<unsigned>> orders;
  for (int i = 0; i < 8; ++i) {
    Buffer<unsigned> order(256), next(std::vector<unsigned>{0});
    expect_success(launch({dim3(4), dim3(64)}, note_order, order.get(), next.get()));
    std::vector<unsigned> values = order.values();
    orders.insert(values);
    std::sort(values.begin(), values.end());
    std::vector<unsigned> all(256);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(values, all);
  }
  EXPECT_GT(orders.size(), 6u);
}

__global__ void reverse(int* values) {
  __shared__ int shared[256];
  shared[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  values[blockIdx.x * blockDim.x + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

TEST(CudaHostThreads, ABarrierLetsAllThreadsSeeWhatTheOthersWrote) {
  for (const unsigned threads : {1u, 31u, 32u, 33u, 256u}) {
    std::vector<int> values(3 * threads);
    std::iota(values.begin(), values.end(), 0);
    Buffer<int> buffer(values);
    expect_success(launch({dim3(3), dim3(threads)}, reverse, buffer.get()));
    const auto result = buffer.values();
    for (unsigned i = 0; i < 3 * threads; ++i) {
      ASSERT_EQ(result[i], static_cast<int>(i / threads * threads + threads - 1 - i % threads));
    }
  }
}

__global__ void reverse_without_barrier(int* values) {
  __shared__ int shared[256];
  shared[threadIdx.x] = values[threadIdx.x];
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

TEST(CudaHostThreads, AMissingBarrierShows) {
  std::vector<int> values(256);
  std::iota(values.begin(), values.end(), 0);
  Buffer<int> buffer(values);
  expect_success(launch({dim3(1), dim3(256)}, reverse_without_barrier, buffer.get()));
  EXPECT_NE(buffer.values(), std::vector<int>(values.rbegin(), values.rend()));
}

__global__ void many_barriers(int* sums) {
  __shared__ int shared[128];
  int sum = 0;
  for (int i = 0; i < 50; ++i) {
    shared[threadIdx.x] = i + static_cast<int>(threadIdx.x);
    __syncthreads();
    sum += shared[(threadIdx.x + i) % blockDim.x];
    __syncthreads();
  }
  sums[threadIdx.x] = sum;
}

TEST(CudaHostThreads, BarriersInALoopKeepRoundsApart) {
  Buffer<int> sums(128);
  expect_success(launch({dim3(1), dim3(128)}, many_barriers, sums.get()));
  const auto values = sums.values();
  for (int t = 0; t < 128; ++t) {
    int expected = 0;
    for (int i = 0; i < 50; ++i) expected += i + (t + i) % 128;
    EXPECT_EQ(values[t], expected);
  }
}

__global__ void leave_early(int* counts) {
  if (threadIdx.x % 3 == 0) return;
  const int here = __syncthreads_count(threadIdx.x % 2 == 0);
  const int all = __syncthreads_and(threadIdx.x < 100);
  const int some = __syncthreads_or(threadIdx.x == 97);
  counts[threadIdx.x] = here * 100 + all * 10 + some;
}

TEST(CudaHostThreads, ThreadsThatReturnedAreNotWaitedFor) {
  Buffer<int> counts(99);
  expect_success(launch({dim3(1), dim3(99)}, leave_early, counts.get()));
  const auto values = counts.values();
  for (int t = 0; t < 99; ++t) {
    if (t % 3 != 0) {
      EXPECT_EQ(values[t], 3300 + 10 + 1) << t;  // 33 of the 66 that stay are even
    }
  }
}

__global__ void return_while_others_wait(int* values) {
  if (threadIdx.x == 0) {
    __syncwarp(0x1);
    return;
  }
  __syncthreads();
  values[threadIdx.x] = 1;
}

TEST(CudaHostThreads, TheLastThreadToReturnOpensTheBarrier) {
  Buffer<int> values(64);
  expect_success(launch({dim3(1), dim3(64)}, return_while_others_wait, values.get()));
  const auto result = values.values();
  for (int i = 1; i < 64; ++i) EXPECT_EQ(result[i], 1);
}

__global__ void different_barriers() {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncthreads_or(1);
  }
}

TEST(CudaHostThreads, DifferentBarriersFailTheLaunch) {
  const std::string message = failure_of({dim3(2), dim3(32)}, different_barriers);
  EXPECT_NE(message.find("different_barriers"), std::string::npos) << message;
  EXPECT_NE(message.find("__syncthreads_or"), std::string::npos) << message;
}

__global__ void trap_in_block_two() {
  if (blockIdx.x == 2 && threadIdx.x == 5) __trap();
  __syncthreads();
}

TEST(CudaHostThreads, ATrapNamesKernelBlockAndThread) {
  const std::string message = failure_of({dim3(4), dim3(32)}, trap_in_block_two);
  EXPECT_NE(message.find("trap_in_block_two"), std::string::npos) << message;
  EXPECT_NE(message.find("block (2, 0, 0): thread (5, 0, 0) called __trap"), std::string::npos) << message;
}

struct Parameters {
  int values[1000];
};

__global__ void use_parameters(const __grid_constant__ Parameters parameters, int factor, int* out) {
  out[threadIdx.x] = parameters.values[threadIdx.x] * factor;
}

TEST(CudaHostThreads, ParametersAreCopiedWhenTheKernelIsLaunched) {
  Buffer<int> out(1000);
  Parameters parameters{};
  for (int i = 0; i < 1000; ++i) parameters.values[i] = i;
  expect_success(launch({dim3(1), dim3(1000)}, use_parameters, parameters, 3, out.get()));
  parameters = {};
  const auto values = out.values();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(values[i], 3 * i);
}

}  // namespace
