// Streams, and waiting for them.
#include <utility>

#include "runtime/runtime.h"

using namespace cuda_host::detail;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](Runtime& state) {
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    auto made = std::make_unique<CUstream_st>();
    made->device = current_device();
    made->flags = flags;
    made->priority = priority;
    *stream = state.streams.add(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call_on(handle, [](Runtime& state, CUstream_st& stream) {
    if (stream.legacy) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = state.refuse_in_capture(stream); error != cudaSuccess) return error;
    state.queue.finish(stream.last);
    state.streams.remove(&stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call_on(handle, [](Runtime& state, CUstream_st& stream) {
    if (const cudaError_t error = state.refuse_in_capture(stream); error != cudaSuccess) return error;
    state.queue.advance(stream.last);
    return stream.pending > 0 ? cudaErrorNotReady : cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call_on(handle, [](Runtime& state, CUstream_st& stream) {
    ++state.counts.waits;
    if (const cudaError_t error = state.refuse_in_capture(stream); error != cudaSuccess) return error;
    state.queue.finish(stream.last);
    // The default stream is done only when those are that it waits for.
    if (stream.legacy) {
      for (const auto& [number, other] : state.streams) {
        if (other->blocking() && other->device == stream.device) state.queue.finish(other->last);
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return call_on(handle, [&](Runtime&, CUstream_st& stream) {
    *flags = stream.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return call_on(handle, [&](Runtime&, CUstream_st& stream) {
    *priority = stream.priority;
    return cudaSuccess;
  });
}
