#include "cuda_host/errors.h"

#include <utility>

#include "runtime/runtime.h"

namespace cuda_host {
namespace detail {
namespace {
thread_local cudaError_t last_error = cudaSuccess;
}  // namespace

cudaError_t remember(cudaError_t error) {
  // Work that is not done yet is no error.
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t exchange_last_error(cudaError_t error) { return std::exchange(last_error, error); }
}  // namespace detail

const char* last_failure() {
  detail::Runtime& state = detail::runtime();
  const std::lock_guard lock(state.mutex);
  thread_local std::string text;
  text = state.failure_message;
  return text.c_str();
}

}  // namespace cuda_host

using namespace cuda_host::detail;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
#define CUDA_HOST_NAME(name, value, text) \
  case cudaError##name:                   \
    return "cudaError" #name;
      CUDA_HOST_ERRORS(CUDA_HOST_NAME)
#undef CUDA_HOST_NAME
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
#define CUDA_HOST_TEXT(name, value, text) \
  case cudaError##name:                   \
    return text;
      CUDA_HOST_ERRORS(CUDA_HOST_TEXT)
#undef CUDA_HOST_TEXT
  }
  return "unrecognized error code";
}

cudaError_t cudaGetLastError() {
  Runtime& state = runtime();
  const std::lock_guard lock(state.mutex);
  const cudaError_t last = exchange_last_error(cudaSuccess);
  return state.failure != cudaSuccess ? state.failure : last;
}

cudaError_t cudaPeekAtLastError() {
  Runtime& state = runtime();
  const std::lock_guard lock(state.mutex);
  const cudaError_t last = exchange_last_error(cudaSuccess);
  exchange_last_error(last);
  return state.failure != cudaSuccess ? state.failure : last;
}
