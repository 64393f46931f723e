// The state behind the host's calls, and what they are made of.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_host/graphs.h"
#include "cuda_host/launch.h"
#include "cuda_host/runtime_api.h"
#include "cuda_host/statistics.h"
#include "runtime/capture.h"
#include "runtime/device_memory.h"
#include "runtime/queue.h"
#include "runtime/registry.h"

struct CUevent_st {
  int device = 0;
  unsigned flags = cudaEventDefault;
  cuda_host::detail::OperationPointer recorded;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;  // null before it is recorded

  // If it was recorded in a stream that captured: after which nodes.
  std::shared_ptr<cuda_host::detail::Capture> capture;
  cuda_host::detail::NodeSet nodes;
};

struct CUstream_st {
  int device = 0;
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  bool legacy = false;
  size_t pending = 0;
  cuda_host::detail::OperationPointer last;

  // While it captures: the nodes that its next one comes after.
  std::shared_ptr<cuda_host::detail::Capture> capture;
  cuda_host::detail::NodeSet frontier;

  bool blocking() const { return !legacy && (flags & cudaStreamNonBlocking) == 0; }
};

namespace cuda_host::detail {

class Runtime {
 public:
  Runtime();
  // Drops what nobody waited for: queued operations hold each other.
  ~Runtime() { queue.drop_all(); }

  // The stream that a handle stands for, null if it is none.
  CUstream_st* find(cudaStream_t handle);

  // Queues work in a stream, or records it where the stream captures; counts it.
  cudaError_t submit(CUstream_st& stream, cudaGraphNodeType type, Work work, size_t bytes = 0);
  // Queues it, after `others` too.
  OperationPointer enqueue(CUstream_st& stream, Work work, std::vector<OperationPointer> others = {});
  void count(cudaGraphNodeType type, size_t bytes);

  // What captures forbid; each spoils the captures in whose way the call is. `unsafe`: what CUDA calls so
  // (allocations, copies that wait) while this thread captures, or another does in global mode. `in_capture`:
  // what does not work on a stream that captures, or on a default stream that would wait for one.
  // `device_wait`: waiting for all of a device.
  cudaError_t refuse_unsafe();
  cudaError_t refuse_in_capture(CUstream_st& stream);
  cudaError_t refuse_device_wait(int device);
  cudaError_t refuse_implicit_wait(const CUstream_st& stream);

  // Runs all that is queued on a device.
  void finish_device(int device);

  bool is_pinned(const void* pointer, size_t bytes) const;

  // What a kernel did wrong is every call's error from now on.
  void note_failure(const std::string& message);

  std::mutex mutex;
  DeviceMemory memory;
  Queue queue;
  std::vector<CUstream_st*> legacy;  // the default stream of each device
  Registry<CUstream_st> streams;     // those too
  Registry<CUevent_st> events;
  Registry<CUgraph_st> graphs;
  Registry<CUgraphExec_st> executables;
  std::map<const void*, size_t> shared_memory_limits;  // of kernels that asked for more
  std::map<uintptr_t, size_t> pinned;                  // memory of the host, by start
  Statistics counts;
  int capability_major = 9, capability_minor = 0;
  cudaError_t failure = cudaSuccess;
  std::string failure_message;
};

Runtime& runtime();
int current_device();

// Keeps an error for cudaGetLastError and returns it.
cudaError_t remember(cudaError_t error);
// Puts another in its place and returns it.
cudaError_t exchange_last_error(cudaError_t error);

// Ends the process if a kernel runs on this thread: kernels cannot call the runtime.
void require_host();

// The frame of every call: one at a time, not after a failure, not without a device.
template <typename Body>
cudaError_t call(Body body) {
  require_host();
  Runtime& state = runtime();
  const std::lock_guard lock(state.mutex);
  if (state.failure != cudaSuccess) return state.failure;
  if (state.legacy.empty()) return remember(cudaErrorNoDevice);
  const cudaError_t error = body(state);
  // What the call waited for may have failed.
  return state.failure != cudaSuccess ? state.failure : remember(error);
}

// The same for a call on a stream.
template <typename Body>
cudaError_t call_on(cudaStream_t handle, Body body) {
  return call([&](Runtime& state) {
    CUstream_st* stream = state.find(handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(state, *stream);
  });
}

}  // namespace cuda_host::detail
