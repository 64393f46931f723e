// cp.async: nothing has arrived before the wait that covers it.
#include <cmath>

#include "support.h"

namespace {
using namespace cuda_host::testing;

__global__ void copy_twice(const float* in, float* out) {
  auto* shared = static_cast<float*>(cuda_host::dynamic_shared_memory());
  float* mine = shared + 4 * threadIdx.x;
  float* mine_too = shared + 4 * (blockDim.x + threadIdx.x);
  cuda_host::cp_async_16(mine, in + 4 * threadIdx.x);
  cuda_host::cp_async_commit();
  cuda_host::cp_async_16(mine_too, in + 4 * threadIdx.x, 8);
  cuda_host::cp_async_commit();
  float* result = out + 12 * threadIdx.x;
  result[0] = mine[0];
  cuda_host::cp_async_wait<1>();
  for (int i = 0; i < 4; ++i) result[1 + i] = mine[i];
  result[5] = mine_too[0];
  cuda_host::cp_async_wait<0>();
  for (int i = 0; i < 4; ++i) result[6 + i] = mine_too[i];
}

TEST(CudaHostAsyncCopy, AGroupArrivesAtTheWaitThatCoversIt) {
  std::vector<float> values(128);
  for (int i = 0; i < 128; ++i) values[i] = static_cast<float>(i + 1);
  Buffer<float> in(values), out(12 * 32);
  expect_success(launch({dim3(1), dim3(32), 1024}, copy_twice, in.get(), out.get()));
  const auto result = out.values();
  for (int t = 0; t < 32; ++t) {
    const float *mine = &result[12 * t], *expected = &values[4 * t];
    EXPECT_TRUE(std::isnan(mine[0]));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(mine[1 + i], expected[i]);
    EXPECT_TRUE(std::isnan(mine[5]));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(mine[6 + i], i < 2 ? expected[i] : 0.0f);  // zeros past the 8 bytes
  }
}

__global__ void copy_without_commit(const float* in, float* out) {
  auto* shared = static_cast<float*>(cuda_host::dynamic_shared_memory());
  cuda_host::cp_async_16(shared, in);
  cuda_host::cp_async_wait<0>();
  out[0] = shared[0];
  cuda_host::cp_async_wait_all();
  out[1] = shared[0];
}

TEST(CudaHostAsyncCopy, WhatIsNotCommittedIsCoveredByTheWaitForAllAlone) {
  Buffer<float> in(std::vector<float>{1, 2, 3, 4}), out(2);
  expect_success(launch({dim3(1), dim3(1), 16}, copy_without_commit, in.get(), out.get()));
  const auto result = out.values();
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 1.0f);
}

__global__ void pipeline(const float* in, float* out, int stages) {
  constexpr int depth = 3;
  auto* shared = static_cast<float*>(cuda_host::dynamic_shared_memory());
  const auto slot = [&](int stage) { return shared + 4 * (stage % depth * blockDim.x + threadIdx.x); };
  for (int stage = 0; stage < depth - 1; ++stage) {
    cuda_host::cp_async_16(slot(stage), in + 4 * (stage * blockDim.x + threadIdx.x));
    cuda_host::cp_async_commit();
  }
  float sum = 0;
  for (int stage = 0; stage < stages; ++stage) {
    cuda_host::cp_async_wait<depth - 2>();
    __syncthreads();
    const int later = stage + depth - 1;
    if (later < stages) cuda_host::cp_async_16(slot(later), in + 4 * (later * blockDim.x + threadIdx.x));
    cuda_host::cp_async_commit();
    // What the neighbour loaded.
    const float* other = shared + 4 * (stage % depth * blockDim.x + (threadIdx.x + 1) % blockDim.x);
    for (int i = 0; i < 4; ++i) sum += other[i];
  }
  out[threadIdx.x] = sum;
}

TEST(CudaHostAsyncCopy, APipelineOfThreeStages) {
  constexpr int threads = 64, stages = 10;
  std::vector<float> values(4 * threads * stages);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97);
  Buffer<float> in(values), out(threads);
  expect_success(launch({dim3(1), dim3(threads), 3 * threads * 16}, pipeline, in.get(), out.get(), stages));
  const auto result = out.values();
  for (int t = 0; t < threads; ++t) {
    float expected = 0;
    for (int stage = 0; stage < stages; ++stage) {
      for (int i = 0; i < 4; ++i) expected += values[4 * (stage * threads + (t + 1) % threads) + i];
    }
    EXPECT_EQ(result[t], expected);
  }
}

enum class Mistake { shared_offset, global_offset, bytes, spaces, source };

__global__ void misuse(Mistake mistake, float* global) {
  auto* shared = static_cast<float*>(cuda_host::dynamic_shared_memory());
  switch (mistake) {
    case Mistake::shared_offset:
      cuda_host::cp_async_16(shared + 1, global);
      break;
    case Mistake::global_offset:
      cuda_host::cp_async_16(shared, global + 2);
      break;
    case Mistake::bytes:
      cuda_host::cp_async_16(shared, global, 17);
      break;
    case Mistake::spaces:
      cuda_host::cp_async_16(global, global);
      break;
    case Mistake::source:
      cuda_host::cp_async_16(shared, shared);
      break;
  }
}

std::string failure_by(Mistake mistake) {
  Buffer<float> global(8);
  return failure_of({dim3(1), dim3(1), 64}, misuse, mistake, global.get());
}

TEST(CudaHostAsyncCopy, MisuseFailsTheLaunch) {
  EXPECT_NE(failure_by(Mistake::shared_offset).find("shared address that is not a multiple of 16"),
            std::string::npos);
  EXPECT_NE(failure_by(Mistake::global_offset).find("global address that is not a multiple"),
            std::string::npos);
  EXPECT_NE(failure_by(Mistake::bytes).find("other than 0 to 16 bytes"), std::string::npos);
  EXPECT_NE(failure_by(Mistake::spaces).find("global memory as shared memory"), std::string::npos);
  EXPECT_NE(failure_by(Mistake::source).find("source that is not global memory"), std::string::npos);
}

__global__ void only_address(float* out) {
  auto* shared = static_cast<float*>(cuda_host::dynamic_shared_memory());
  cuda_host::cp_async_16(shared, nullptr, 0);
  cuda_host::cp_async_wait_all();
  out[0] = shared[0] + shared[3];
}

TEST(CudaHostAsyncCopy, ZeroBytesReadNothing) {
  Buffer<float> out(1);
  expect_success(launch({dim3(1), dim3(1), 16}, only_address, out.get()));
  EXPECT_EQ(out.values()[0], 0.0f);
}

}  // namespace
