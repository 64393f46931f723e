// What the tests share: launching in one line, and memory of the device that frees itself.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

namespace cuda_host::testing {

inline void expect_success(cudaError_t error) {
  EXPECT_EQ(error, cudaSuccess) << cudaGetErrorName(error) << ": " << last_failure();
}

struct Shape {
  dim3 grid, block;
  size_t dynamic_bytes = 0;
  cudaStream_t stream = nullptr;
};

// Like kernel<<<grid, block, dynamic_bytes, stream>>>(arguments...).
template <typename... Parameters, typename... Arguments>
cudaError_t launch(const Shape& shape, void (*kernel)(Parameters...), Arguments&&... arguments) {
  const cudaLaunchConfig_t config{shape.grid, shape.block, shape.dynamic_bytes, shape.stream, nullptr, 0};
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t size) : size_(size) { expect_success(cudaMalloc(&data_, size * sizeof(T))); }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    expect_success(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* get() const { return data_; }
  size_t size() const { return size_; }

  // After all that is queued before it in streams that the default stream waits for.
  std::vector<T> values() const {
    std::vector<T> host(size_);
    expect_success(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

// Runs a kernel that is expected to fail, and returns what is said of it; the device is reset.
template <typename... Parameters, typename... Arguments>
std::string failure_of(const Shape& shape, void (*kernel)(Parameters...), Arguments&&... arguments) {
  expect_success(launch(shape, kernel, std::forward<Arguments>(arguments)...));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  const std::string message = last_failure();
  expect_success(cudaDeviceReset());
  return message;
}

}  // namespace cuda_host::testing
