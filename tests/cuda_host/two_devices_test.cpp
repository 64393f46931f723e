// Two devices of little memory.
#include <cstdlib>
#include <cstring>

#include "support.h"

namespace {
using namespace cuda_host::testing;

const int environment =
    setenv("CLADTORCH_CUDA_HOST_DEVICES", "2", 1) + setenv("CLADTORCH_CUDA_HOST_MEMORY", "1048576", 1);

class CudaHostTwoDevices : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(environment, 0); }
  void TearDown() override {
    expect_success(cudaSetDevice(0));
    cudaGetLastError();
  }
};

__global__ void set_value(int* address, int value) { *address = value; }

TEST_F(CudaHostTwoDevices, EachIsDescribed) {
  int count = 0, current = -1, value = 0;
  expect_success(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  expect_success(cudaGetDevice(&current));
  EXPECT_EQ(current, 0);
  cudaDeviceProp properties{};
  expect_success(cudaGetDeviceProperties(&properties, 1));
  EXPECT_GT(std::strlen(properties.name), 0u);
  EXPECT_EQ(properties.totalGlobalMem, 1048576u);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, 227u * 1024);
  EXPECT_EQ(properties.warpSize, 32);
  expect_success(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 1));
  EXPECT_EQ(value, properties.major);
  expect_success(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(value, properties.multiProcessorCount);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
}

TEST_F(CudaHostTwoDevices, EachHasItsMemory) {
  size_t free = 0, total = 0;
  void *first = nullptr, *second = nullptr, *more = nullptr;
  expect_success(cudaMalloc(&first, 1000000));
  EXPECT_EQ(cudaMalloc(&more, 100000), cudaErrorMemoryAllocation);
  expect_success(cudaSetDevice(1));
  expect_success(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(free, total);
  expect_success(cudaMalloc(&second, 1000000));
  cudaPointerAttributes attributes{};
  expect_success(cudaPointerGetAttributes(&attributes, second));
  EXPECT_EQ(attributes.device, 1);
  expect_success(cudaMemcpy(second, first, 1000000, cudaMemcpyDeviceToDevice));
  expect_success(cudaDeviceSynchronize());
  expect_success(cudaFree(first));
  expect_success(cudaFree(second));
}

TEST_F(CudaHostTwoDevices, AStreamBelongsToItsDevice) {
  Buffer<int> buffer(1);
  cudaStream_t stream = nullptr;
  expect_success(cudaStreamCreate(&stream));
  expect_success(cudaSetDevice(1));
  EXPECT_EQ(launch({dim3(1), dim3(1), 0, stream}, set_value, buffer.get(), 1),
            cudaErrorInvalidResourceHandle);
  cudaEvent_t event = nullptr;
  expect_success(cudaEventCreate(&event));
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
  expect_success(cudaEventRecord(event, nullptr));
  expect_success(cudaStreamWaitEvent(stream, event));
  expect_success(cudaSetDevice(0));
  expect_success(launch({dim3(1), dim3(1), 0, stream}, set_value, buffer.get(), 3));
  EXPECT_EQ(buffer.values()[0], 3);
  expect_success(cudaEventDestroy(event));
  expect_success(cudaStreamDestroy(stream));
}

TEST_F(CudaHostTwoDevices, WaitingForOneDoesNotFinishTheOther) {
  int* pinned = nullptr;
  expect_success(cudaMallocHost(&pinned, 2 * sizeof(int)));
  pinned[0] = pinned[1] = 0;
  for (int device : {0, 1}) {
    expect_success(cudaSetDevice(device));
    expect_success(launch({dim3(1), dim3(1)}, set_value, pinned + device, 5));
  }
  expect_success(cudaDeviceSynchronize());
  EXPECT_EQ(pinned[1], 5);
  expect_success(cudaSetDevice(0));
  expect_success(cudaDeviceSynchronize());
  EXPECT_EQ(pinned[0], 5);
  expect_success(cudaFreeHost(pinned));
}

}  // namespace
