// A machine without a device.
#include <cstdlib>

#include "support.h"

namespace {
using namespace cuda_host::testing;

const int environment = setenv("CLADTORCH_CUDA_HOST_DEVICES", "0", 1);

__global__ void nothing() {}

TEST(CudaHostNoDevice, EveryCallSaysSo) {
  ASSERT_EQ(environment, 0);
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorNoDevice);
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaErrorNoDevice);
  EXPECT_EQ(launch({dim3(1), dim3(1)}, nothing), cudaErrorNoDevice);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNoDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
