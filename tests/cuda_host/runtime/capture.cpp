// Capturing streams into graphs, and what captures forbid.
#include "runtime/capture.h"

#include <algorithm>
#include <utility>

#include "runtime/runtime.h"

namespace cuda_host::detail {
namespace {
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// Whether a capture forbids unsafe calls to this thread.
bool forbids_unsafe_calls(const Capture& capture) {
  if (capture.mode == cudaStreamCaptureModeRelaxed || thread_mode == cudaStreamCaptureModeRelaxed)
    return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return capture.mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal;
}
}  // namespace

bool reaches_all(const CUgraph_st& graph, const NodeSet& last) {
  std::vector<bool> needed(graph.nodes.size());
  for (const size_t node : last) needed[node] = true;
  for (size_t node = graph.nodes.size(); node-- > 0;) {
    if (!needed[node]) return false;
    for (const size_t other : graph.nodes[node]->before) needed[other] = true;
  }
  return true;
}

cudaError_t Runtime::refuse_unsafe() {
  bool refused = false;
  for (const auto& [number, stream] : streams) {
    if (stream->capture == nullptr || !forbids_unsafe_calls(*stream->capture)) continue;
    stream->capture->invalidated = true;
    refused = true;
  }
  return refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t Runtime::refuse_device_wait(int device) {
  bool refused = false;
  for (const auto& [number, stream] : streams) {
    if (stream->capture == nullptr || stream->device != device) continue;
    stream->capture->invalidated = true;
    refused = true;
  }
  return refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t Runtime::refuse_in_capture(CUstream_st& stream) {
  if (stream.capture == nullptr) return refuse_implicit_wait(stream);
  stream.capture->invalidated = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t Runtime::refuse_implicit_wait(const CUstream_st& stream) {
  if (!stream.legacy) return cudaSuccess;
  bool refused = false;
  for (const auto& [number, other] : streams) {
    if (other->capture == nullptr || other->device != stream.device || !other->blocking()) continue;
    other->capture->invalidated = true;
    refused = true;
  }
  return refused ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

namespace {
// Takes all streams out of a capture; true if those that joined it were joined back.
bool end(Runtime& state, const std::shared_ptr<Capture>& capture, const NodeSet& last) {
  for (const auto& [number, stream] : state.streams) {
    if (stream->capture != capture) continue;
    stream->capture = nullptr;
    stream->frontier.clear();
  }
  return reaches_all(*capture->graph, last);
}
}  // namespace
}  // namespace cuda_host::detail

using namespace cuda_host::detail;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call_on(handle, [&](Runtime&, CUstream_st& stream) {
    if (stream.legacy) return cudaErrorStreamCaptureUnsupported;
    if (stream.capture != nullptr) return cudaErrorIllegalState;
    stream.capture = std::make_shared<Capture>();
    stream.capture->origin = &stream;
    stream.capture->mode = mode;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call_on(handle, [&](Runtime& state, CUstream_st& stream) {
    *graph = nullptr;
    const std::shared_ptr<Capture> capture = stream.capture;
    if (capture == nullptr) return cudaErrorIllegalState;
    if (capture->origin != &stream) {
      capture->invalidated = true;
      return cudaErrorStreamCaptureUnmatched;
    }
    const bool other_thread = capture->thread != std::this_thread::get_id();
    if (other_thread && capture->mode != cudaStreamCaptureModeRelaxed)
      return cudaErrorStreamCaptureWrongThread;
    const bool joined = end(state, capture, NodeSet(stream.frontier));
    std::unique_ptr<CUgraph_st> made = std::move(capture->graph);
    if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
    if (!joined) return cudaErrorStreamCaptureUnjoined;
    *graph = state.graphs.add(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return call_on(handle, [&](Runtime& state, CUstream_st& stream) {
    if (const cudaError_t error = state.refuse_implicit_wait(stream); error != cudaSuccess) return error;
    *status = stream.capture == nullptr     ? cudaStreamCaptureStatusNone
              : stream.capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                            : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(thread_mode, *mode);
  return cudaSuccess;
}
