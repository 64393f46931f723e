// Memory of the device and of the host: what it holds, who may touch it, how much there is.
#include <cmath>
#include <cstring>
#include <numeric>

#include "support.h"
#include "tensor/sanitizers.h"

namespace {
using namespace cuda_host::testing;

std::vector<int> counted(size_t size) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(CudaHostMemory, FreshMemoryIsNotANumber) {
  Buffer<float> buffer(1000);
  for (const float value : buffer.values()) EXPECT_TRUE(std::isnan(value));
  float* pinned = nullptr;
  expect_success(cudaMallocHost(&pinned, 4 * sizeof(float)));
  EXPECT_TRUE(std::isnan(pinned[3]));
  expect_success(cudaFreeHost(pinned));
}

TEST(CudaHostMemory, AddressesAreMultiplesOf256) {
  for (const size_t bytes : {1, 255, 256, 257, 4096, 4097, 100000}) {
    Buffer<char> buffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.get()) % 256, 0u);
    EXPECT_EQ(buffer.values().size(), bytes);
  }
}

TEST(CudaHostMemory, NothingIsAllocatedForZeroBytes) {
  void* pointer = &pointer;
  expect_success(cudaMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  expect_success(cudaFree(nullptr));
}

TEST(CudaHostMemory, MoreThanThereIsIsRefused) {
  size_t free = 0, total = 0;
  expect_success(cudaMemGetInfo(&free, &total));
  void *all = nullptr, *more = nullptr;
  expect_success(cudaMalloc(&all, free));
  EXPECT_EQ(cudaMalloc(&more, 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  size_t left = 1;
  expect_success(cudaMemGetInfo(&left, &total));
  EXPECT_EQ(left, 0u);
  expect_success(cudaFree(all));
  expect_success(cudaMemGetInfo(&left, &total));
  EXPECT_EQ(left, free);
  EXPECT_EQ(cudaMalloc(&more, ~size_t{0}), cudaErrorMemoryAllocation);
  cudaGetLastError();
}

TEST(CudaHostMemory, MemoryIsFreedOnceAndByItsStart) {
  Buffer<char> buffer(512);
  EXPECT_EQ(cudaFree(buffer.get() + 256), cudaErrorInvalidValue);
  char* pointer = nullptr;
  expect_success(cudaMalloc(&pointer, 10));
  expect_success(cudaFree(pointer));
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  int on_host = 0;
  EXPECT_EQ(cudaFree(&on_host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(&on_host), cudaErrorInvalidValue);
  cudaGetLastError();
}

// A sanitizer reports a fault in words of its own.
const char* message(const char* words) {
  return CLADTORCH_ADDRESS_SANITIZER || CLADTORCH_THREAD_SANITIZER ? "" : words;
}

__global__ void nothing() {}

TEST(CudaHostMemoryDeathTest, TheHostCannotReadDeviceMemory) {
  Buffer<int> buffer(counted(4));
  volatile int* address = buffer.get();
  expect_success(launch({dim3(1), dim3(1)}, nothing));
  expect_success(cudaDeviceSynchronize());
  EXPECT_DEATH(
      { [[maybe_unused]] const int value = address[0]; },
      message("the host touched .*: device memory that is closed to the host"));
}

TEST(CudaHostMemoryDeathTest, TheHostCannotWriteDeviceMemory) {
  Buffer<int> buffer(counted(4));
  expect_success(cudaDeviceSynchronize());
  EXPECT_DEATH(std::memset(buffer.get(), 0, 4), "");
}

__global__ void write_at(char* address, ptrdiff_t offset) { address[offset] = 1; }

TEST(CudaHostMemoryDeathTest, AKernelCannotWritePastTheEnd) {
  Buffer<char> first(256), buffer(256), last(256);
  expect_success(launch({dim3(1), dim3(1)}, write_at, buffer.get(), 255));
  expect_success(cudaDeviceSynchronize());
  expect_success(launch({dim3(1), dim3(1)}, write_at, buffer.get(), 256));
  EXPECT_DEATH(
      cudaDeviceSynchronize(),
      message("write_at.*, block .0, 0, 0.: thread .0, 0, 0. touched .*: 0 bytes past the end of 256 bytes"));
  expect_success(cudaDeviceReset());
}

TEST(CudaHostMemoryDeathTest, AKernelCannotWriteBeforeTheStart) {
  Buffer<char> buffer(4096);
  expect_success(launch({dim3(1), dim3(1)}, write_at, buffer.get(), -1));
  EXPECT_DEATH(cudaDeviceSynchronize(), message("1 bytes before the start of 4096 bytes"));
  expect_success(cudaDeviceReset());
}

__global__ void overflow(int depth, char* out) {
  volatile char frame[1000000];
  for (int i = depth; i >= 0; --i) frame[i] = 1;
  out[0] = frame[depth / 2];
}

TEST(CudaHostMemoryDeathTest, AThreadWithTooManyLocalVariables) {
  Buffer<char> out(1);
  expect_success(launch({dim3(1), dim3(1)}, overflow, 999999, out.get()));
  EXPECT_DEATH(cudaDeviceSynchronize(),
               message("overflow.*has more local variables than its stack can hold"));
  expect_success(cudaDeviceReset());
}

TEST(CudaHostMemoryDeathTest, AKernelCannotTouchWhatWasFreed) {
  char* pointer = nullptr;
  expect_success(cudaMalloc(&pointer, 100));
  expect_success(cudaFree(pointer));
  Buffer<char> next(100);
  expect_success(launch({dim3(1), dim3(1)}, write_at, pointer, 0));
  EXPECT_DEATH(cudaDeviceSynchronize(), message("touched .* device memory"));
  expect_success(cudaDeviceReset());
}

TEST(CudaHostMemory, WritingALittlePastTheEndFailsTheLaunch) {
  for (const ptrdiff_t offset : {100, 255}) {
    Buffer<char> buffer(100);
    const std::string reason = failure_of({dim3(1), dim3(1)}, write_at, buffer.get(), offset);
    EXPECT_NE(reason.find("write_at(char*, long) wrote past the end of 100 bytes of device memory"),
              std::string::npos);
  }
}

__global__ void call_the_host() { cudaDeviceSynchronize(); }

TEST(CudaHostMemoryDeathTest, AKernelCannotCallTheRuntime) {
  expect_success(launch({dim3(1), dim3(1)}, call_the_host));
  EXPECT_DEATH(cudaDeviceSynchronize(), "a kernel called the runtime of the host");
  expect_success(cudaDeviceReset());
}

TEST(CudaHostMemory, CopiesInEveryDirection) {
  const auto values = counted(100);
  const size_t bytes = values.size() * sizeof(int);
  for (const bool by_default : {false, true}) {
    const auto kind = [&](cudaMemcpyKind named) { return by_default ? cudaMemcpyDefault : named; };
    Buffer<int> a(100), b(100);
    std::vector<int> back(100), again(100);
    expect_success(cudaMemcpy(a.get(), values.data(), bytes, kind(cudaMemcpyHostToDevice)));
    expect_success(cudaMemcpy(b.get(), a.get(), bytes, kind(cudaMemcpyDeviceToDevice)));
    expect_success(cudaMemcpy(back.data(), b.get(), bytes, kind(cudaMemcpyDeviceToHost)));
    expect_success(cudaMemcpy(again.data(), back.data(), bytes, kind(cudaMemcpyHostToHost)));
    EXPECT_EQ(again, values);
  }
}

TEST(CudaHostMemory, ACopyThatDoesNotFitIsRefused) {
  Buffer<char> buffer(100);
  char host[200];
  EXPECT_EQ(cudaMemcpy(buffer.get(), host, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, buffer.get() + 50, 51, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(buffer.get() + 1, 0, 100), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, buffer.get(), 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(buffer.get(), host, 10, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  expect_success(cudaMemcpy(buffer.get(), host, 0, cudaMemcpyHostToDevice));
  cudaGetLastError();
}

TEST(CudaHostMemory, RowsOfDifferentPitch) {
  const auto values = counted(5 * 8);
  Buffer<int> narrow(5 * 3);
  expect_success(cudaMemcpy2DAsync(narrow.get(), 3 * sizeof(int), values.data(), 8 * sizeof(int),
                                   3 * sizeof(int), 5, cudaMemcpyHostToDevice));
  std::vector<int> wide(5 * 6, 0);
  expect_success(cudaMemcpy2DAsync(wide.data(), 6 * sizeof(int), narrow.get(), 3 * sizeof(int),
                                   3 * sizeof(int), 5, cudaMemcpyDeviceToHost));
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 6; ++column) {
      EXPECT_EQ(wide[row * 6 + column], column < 3 ? values[row * 8 + column] : 0);
    }
  }
  EXPECT_EQ(cudaMemcpy2DAsync(narrow.get(), 4, values.data(), 32, 12, 5, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(CudaHostMemory, MemoryCanBeFilled) {
  Buffer<unsigned char> buffer(100);
  expect_success(cudaMemset(buffer.get(), 7, 100));
  expect_success(cudaMemsetAsync(buffer.get() + 10, 9, 5));
  const auto values = buffer.values();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values[i], i >= 10 && i < 15 ? 9 : 7);
}

TEST(CudaHostMemory, PointersSayWhatTheyPointTo) {
  Buffer<char> buffer(100);
  void* pinned = nullptr;
  expect_success(cudaHostAlloc(&pinned, 100, cudaHostAllocPortable));
  int pageable = 0;
  cudaPointerAttributes attributes{};
  expect_success(cudaPointerGetAttributes(&attributes, buffer.get() + 99));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  expect_success(cudaPointerGetAttributes(&attributes, static_cast<char*>(pinned) + 99));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  expect_success(cudaPointerGetAttributes(&attributes, &pageable));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  expect_success(cudaFreeHost(pinned));
}

__global__ void add_one(int* values) { ++values[threadIdx.x]; }

TEST(CudaHostMemory, MemoryOfAStreamIsFreedInTheStreamsOrder) {
  cudaStream_t stream = nullptr;
  expect_success(cudaStreamCreate(&stream));
  const auto before = cuda_host::statistics().live_allocations;
  int* values = nullptr;
  expect_success(cudaMallocAsync(&values, 8 * sizeof(int), stream));
  expect_success(cudaMemsetAsync(values, 0, 8 * sizeof(int), stream));
  expect_success(launch({dim3(1), dim3(8), 0, stream}, add_one, values));
  int* host = nullptr;
  expect_success(cudaMallocHost(&host, 8 * sizeof(int)));
  expect_success(cudaMemcpyAsync(host, values, 8 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  expect_success(cudaFreeAsync(values, stream));
  EXPECT_EQ(cuda_host::statistics().live_allocations, before + 1);
  expect_success(cudaStreamSynchronize(stream));
  EXPECT_EQ(cuda_host::statistics().live_allocations, before);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(host[i], 1);
  expect_success(cudaFreeHost(host));
  expect_success(cudaStreamDestroy(stream));
}

TEST(CudaHostMemory, APoolKnowsItsMost) {
  cudaMemPool_t pool = nullptr;
  expect_success(cudaDeviceGetDefaultMemPool(&pool, 0));
  const auto most = [&] {
    uint64_t bytes = 0;
    expect_success(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &bytes));
    return bytes;
  };
  char* values = nullptr;
  expect_success(cudaMalloc(&values, 1 << 20));
  const uint64_t with = most();
  EXPECT_GE(with, cuda_host::statistics().live_bytes);
  expect_success(cudaFree(values));
  EXPECT_EQ(most(), with);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 99), cudaErrorInvalidValue);
}

TEST(CudaHostMemory, StatisticsCount) {
  const auto before = cuda_host::statistics();
  {
    Buffer<int> buffer(counted(25));
    expect_success(launch({dim3(1), dim3(25)}, add_one, buffer.get()));
    expect_success(cudaMemset(buffer.get(), 0, 4));
    const auto during = cuda_host::statistics();
    EXPECT_EQ(during.live_allocations, before.live_allocations + 1);
    EXPECT_EQ(during.live_bytes, before.live_bytes + 100);
    EXPECT_EQ(during.kernels_launched, before.kernels_launched + 1);
    EXPECT_EQ(during.copies, before.copies + 1);
    EXPECT_EQ(during.bytes_copied, before.bytes_copied + 100);
    EXPECT_EQ(during.memory_sets, before.memory_sets + 1);
  }
  EXPECT_EQ(cuda_host::statistics().allocations, before.allocations + 1);
  EXPECT_EQ(cuda_host::statistics().live_allocations, before.live_allocations);
}

}  // namespace
