// Events: marks in a stream that other streams and the host can wait for.
#include <utility>

#include "runtime/runtime.h"

using namespace cuda_host::detail;

namespace {
template <typename Body>
cudaError_t call_with(cudaEvent_t handle, Body body) {
  return call([&](Runtime& state) {
    CUevent_st* event = state.events.find(handle);
    return event == nullptr ? cudaErrorInvalidResourceHandle : body(state, *event);
  });
}

// An event of a capture stands for no work that the host could wait for.
cudaError_t refuse_captured(Runtime& state, CUevent_st& event) {
  if (event.capture == nullptr) return state.refuse_unsafe();
  event.capture->invalidated = true;
  return cudaErrorCapturedEvent;
}

// A stream waits for an event that was recorded in a capture, and becomes part of it.
cudaError_t join_capture(CUstream_st& stream, const CUevent_st& event) {
  if (event.capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (event.capture->graph == nullptr) return cudaErrorCapturedEvent;  // that capture has ended
  if (stream.capture != nullptr && stream.capture != event.capture) {
    stream.capture->invalidated = event.capture->invalidated = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (stream.legacy) return cudaErrorStreamCaptureImplicit;
  stream.capture = event.capture;
  stream.frontier.insert(event.nodes.begin(), event.nodes.end());
  return cudaSuccess;
}
}  // namespace

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](Runtime& state) {
    if ((flags & ~(cudaEventBlockingSync | cudaEventDisableTiming)) != 0) return cudaErrorInvalidValue;
    auto made = std::make_unique<CUevent_st>();
    made->device = current_device();
    made->flags = flags;
    *event = state.events.add(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call_with(handle, [](Runtime& state, CUevent_st& event) {
    state.events.remove(&event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
  return call_with(handle, [&](Runtime& state, CUevent_st& event) {
    CUstream_st* stream = state.find(stream_handle);
    if (stream == nullptr || stream->device != event.device) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    if (stream->capture != nullptr) {
      if (stream->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
      event.capture = stream->capture;
      event.nodes = stream->frontier;
      return cudaSuccess;
    }
    if (const cudaError_t error = state.refuse_implicit_wait(*stream); error != cudaSuccess) return error;
    event.capture = nullptr;
    event.time = std::make_shared<std::chrono::steady_clock::time_point>();
    event.recorded = state.enqueue(*stream, [time = event.time] {
      *time = std::chrono::steady_clock::now();
      return true;
    });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle, unsigned flags) {
  return call_with(handle, [&](Runtime& state, CUevent_st& event) {
    CUstream_st* stream = state.find(stream_handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    if (event.capture != nullptr) return join_capture(*stream, event);
    if (stream->capture != nullptr) {
      if (event.time == nullptr) return cudaSuccess;
      stream->capture->invalidated = true;
      return cudaErrorStreamCaptureIsolation;
    }
    if (const cudaError_t error = state.refuse_implicit_wait(*stream); error != cudaSuccess) return error;
    if (event.time != nullptr) state.enqueue(*stream, [] { return true; }, {event.recorded});
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call_with(handle, [](Runtime& state, CUevent_st& event) {
    if (const cudaError_t error = refuse_captured(state, event); error != cudaSuccess) return error;
    if (event.time == nullptr) return cudaSuccess;
    state.queue.advance(event.recorded);
    return event.recorded->done ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call_with(handle, [](Runtime& state, CUevent_st& event) {
    ++state.counts.waits;
    if (const cudaError_t error = refuse_captured(state, event); error != cudaSuccess) return error;
    state.queue.finish(event.recorded);
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  return call_with(start_handle, [&](Runtime& state, CUevent_st& start) {
    const CUevent_st* end = state.events.find(end_handle);
    if (end == nullptr || start.time == nullptr || end->time == nullptr)
      return cudaErrorInvalidResourceHandle;
    if (((start.flags | end->flags) & cudaEventDisableTiming) != 0) return cudaErrorInvalidResourceHandle;
    if (start.capture != nullptr || end->capture != nullptr) return cudaErrorCapturedEvent;
    if (!start.recorded->done || !end->recorded->done) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(*end->time - *start.time).count();
    return cudaSuccess;
  });
}
