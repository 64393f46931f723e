// CUDA's error codes, those that the imitation can return.
#pragma once

// CUDA_HOST_ERRORS(X): X(<name after cudaError>, <value>, <what cudaGetErrorString says>)
#define CUDA_HOST_ERRORS(X)                                                                                  \
  X(InvalidValue, 1, "invalid argument")                                                                     \
  X(MemoryAllocation, 2, "out of memory")                                                                    \
  X(InvalidConfiguration, 9, "invalid configuration argument")                                               \
  X(InvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                         \
  X(InvalidDeviceFunction, 98, "invalid device function")                                                    \
  X(NoDevice, 100, "no CUDA-capable device is detected")                                                     \
  X(InvalidDevice, 101, "invalid device ordinal")                                                            \
  X(InvalidResourceHandle, 400, "invalid resource handle")                                                   \
  X(IllegalState, 401, "the operation cannot be performed in the present state")                             \
  X(NotReady, 600, "device not ready")                                                                       \
  X(IllegalAddress, 700, "an illegal memory access was encountered")                                         \
  X(LaunchOutOfResources, 701, "too many resources requested for launch")                                    \
  X(LaunchFailure, 719, "unspecified launch failure")                                                        \
  X(NotSupported, 801, "operation not supported")                                                            \
  X(StreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                       \
  X(StreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")                \
  X(StreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")              \
  X(StreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")                     \
  X(StreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                        \
  X(StreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")                  \
  X(StreamCaptureImplicit, 906,                                                                              \
    "operation would make the legacy stream depend on a capturing blocking stream")                          \
  X(CapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")           \
  X(StreamCaptureWrongThread, 908,                                                                           \
    "attempt to terminate a thread-local capture sequence from another thread")                              \
  X(GraphExecUpdateFailure, 910,                                                                             \
    "the graph update was not performed because it included changes which violated constraints specific to " \
    "instantiated graph update")                                                                             \
  X(Unknown, 999, "unknown error")

#define CUDA_HOST_ENUMERATOR(name, value, text) cudaError##name = value,
enum cudaError { cudaSuccess = 0, CUDA_HOST_ERRORS(CUDA_HOST_ENUMERATOR) };
#undef CUDA_HOST_ENUMERATOR
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// The last error of this thread of the host; an error of a kernel stays until cudaDeviceReset.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

namespace cuda_host {
// What the kernel that failed last was called, and why it
// failed; empty if none did since the last cudaDeviceReset.
const char* last_failure();
}  // namespace cuda_host
