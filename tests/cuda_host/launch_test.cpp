// Limits of a launch, and dynamic shared memory.
#include <cmath>

#include "support.h"

namespace {
using namespace cuda_host::testing;

__global__ void nothing() {}
__global__ void nothing_either() {}

TEST(CudaHostLaunch, ShapesThatTheHardwareRefuses) {
  expect_success(launch({dim3(1), dim3(1024)}, nothing));
  expect_success(launch({dim3(1), dim3(1, 1, 64)}, nothing));
  EXPECT_EQ(launch({dim3(1), dim3(1025)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(1), dim3(32, 33)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(1), dim3(1, 1, 65)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(1), dim3(0)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(0), dim3(32)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(1, 65536), dim3(32)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(1, 1, 65536), dim3(32)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(1u << 31), dim3(32)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  expect_success(cudaDeviceSynchronize());
  expect_success(launch({dim3(100000, 1, 2), dim3(1)}, nothing));
  expect_success(cudaDeviceSynchronize());
}

TEST(CudaHostLaunch, AKernelAsksForMoreThan48KilobytesOfSharedMemory) {
  expect_success(launch({dim3(1), dim3(1), 48 * 1024}, nothing));
  EXPECT_EQ(launch({dim3(1), dim3(1), 48 * 1024 + 1}, nothing), cudaErrorInvalidValue);
  expect_success(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  expect_success(launch({dim3(1), dim3(1), 100 * 1024}, nothing));
  EXPECT_EQ(launch({dim3(1), dim3(1), 100 * 1024 + 1}, nothing), cudaErrorInvalidValue);
  EXPECT_EQ(launch({dim3(1), dim3(1), 49 * 1024}, nothing_either), cudaErrorInvalidValue);
  expect_success(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  expect_success(launch({dim3(1), dim3(1), 227 * 1024}, nothing));
  EXPECT_EQ(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1),
            cudaErrorInvalidValue);
  cudaFuncAttributes attributes{};
  expect_success(cudaFuncGetAttributes(&attributes, nothing));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 227 * 1024);
  cudaGetLastError();
}

TEST(CudaHostLaunch, AttributesThatChangeNothingAreTaken) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config{dim3(2), dim3(1), 0, nullptr, attributes, 1};
  expect_success(cudaLaunchKernelEx(&config, nothing));
  config.numAttrs = 2;
  EXPECT_EQ(cudaLaunchKernelEx(&config, nothing), cudaErrorNotSupported);
  cudaGetLastError();
}

TEST(CudaHostLaunch, AStreamThatIsNoneIsRefused) {
  int something = 0;
  EXPECT_EQ(launch({dim3(1), dim3(1), 0, reinterpret_cast<cudaStream_t>(&something)}, nothing),
            cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(CudaHostLaunch, OccupancyIsLimitedByThreadsAndSharedMemory) {
  int blocks = 0;
  expect_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing_either, 256, 0));
  EXPECT_EQ(blocks, 8);
  expect_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing_either, 33, 0));
  EXPECT_EQ(blocks, 32);
  expect_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing_either, 128, 48 * 1024));
  EXPECT_EQ(blocks, 4);
  expect_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing_either, 128, 100 * 1024));
  EXPECT_EQ(blocks, 0);
}

__global__ void look_at_shared_memory(int bytes, int* wrong) {
  const auto* memory = static_cast<const unsigned char*>(cuda_host::dynamic_shared_memory());
  if (reinterpret_cast<uintptr_t>(memory) % 128 != 0) atomicAdd(wrong, 1);
  for (int i = static_cast<int>(threadIdx.x); i < bytes; i += static_cast<int>(blockDim.x)) {
    if (memory[i] != 0xFF) atomicAdd(wrong, 1);
  }
  __syncthreads();
  auto* floats = static_cast<float*>(cuda_host::dynamic_shared_memory());
  for (int i = static_cast<int>(threadIdx.x); i < bytes / 4; i += static_cast<int>(blockDim.x)) floats[i] = 1;
}

TEST(CudaHostLaunch, DynamicSharedMemoryIsNotANumberWhenABlockStarts) {
  Buffer<int> wrong(std::vector<int>{0});
  expect_success(launch({dim3(5), dim3(64), 5000}, look_at_shared_memory, 5000, wrong.get()));
  EXPECT_EQ(wrong.values()[0], 0);
}

__global__ void write_shared(int offset) {
  static_cast<char*>(cuda_host::dynamic_shared_memory())[offset] = 1;
}

TEST(CudaHostLaunch, WritingPastDynamicSharedMemoryFailsTheLaunch) {
  expect_success(launch({dim3(1), dim3(1), 100}, write_shared, 99));
  expect_success(cudaDeviceSynchronize());
  for (const int offset : {100, 127, 100 + 1023}) {
    const std::string message = failure_of({dim3(1), dim3(1), 100}, write_shared, offset);
    EXPECT_NE(message.find("write_shared(int), block (0, 0, 0): wrote past the end of its 100 bytes"),
              std::string::npos)
        << message;
  }
  const std::string message = failure_of({dim3(1), dim3(1)}, write_shared, -1);
  EXPECT_NE(message.find("before the start"), std::string::npos) << message;
}

struct Thrown {};
__global__ void throw_something() {
  if (threadIdx.x == 3) throw Thrown{};
  __syncthreads();
}

TEST(CudaHostLaunch, AnExceptionFailsTheLaunchAndGoesNoFurther) {
  EXPECT_NE(failure_of({dim3(1), dim3(64)}, throw_something).find("thread (3, 0, 0) threw an exception"),
            std::string::npos);
}

struct Counted {
  static thread_local int alive;
  Counted() { ++alive; }
  ~Counted() { --alive; }
};
thread_local int Counted::alive = 0;

__global__ void hold_and_wait() {
  const Counted counted;
  if (threadIdx.x == 50) return;
  __syncwarp();
}

TEST(CudaHostLaunch, ThreadsOfAFailedBlockLeaveTheirKernel) {
  failure_of({dim3(3), dim3(128)}, hold_and_wait);
  EXPECT_EQ(Counted::alive, 0);
}

__global__ void deep(int depth, int* out) {
  volatile char frame[32 * 1024];
  frame[depth] = 1;
  __syncthreads();
  out[threadIdx.x] = frame[depth];
}

TEST(CudaHostLaunch, AThreadHas32KilobytesForItsArrays) {
  Buffer<int> out(64);
  expect_success(launch({dim3(1), dim3(64)}, deep, 5, out.get()));
  for (const int value : out.values()) EXPECT_EQ(value, 1);
}

TEST(CudaHostLaunch, ErrorsHaveNames) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_EQ(cudaErrorStreamCaptureUnsupported, 900);
}

TEST(CudaHostLaunch, ALastErrorIsGivenOnce) {
  cudaGetLastError();
  EXPECT_EQ(cudaSetDevice(5), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  expect_success(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
