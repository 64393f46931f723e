#include "runtime/runtime.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "device/launch.h"

namespace cuda_host::detail {
namespace {
// More than so many entries of a stream wait for nobody.
constexpr size_t most_pending = 64;

int device_count() {
  const char* text = std::getenv("CLADTORCH_CUDA_HOST_DEVICES");
  return text == nullptr ? 1 : std::atoi(text);
}
}  // namespace

Runtime& runtime() {
  static Runtime state;
  return state;
}

Runtime::Runtime() : queue(memory) {
  for (int device = 0; device < device_count(); ++device) {
    auto stream = std::make_unique<CUstream_st>();
    stream->device = device;
    stream->legacy = true;
    legacy.push_back(streams.add(std::move(stream)));
  }
}

CUstream_st* Runtime::find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return legacy[static_cast<size_t>(current_device())];
  return streams.find(handle);
}

OperationPointer Runtime::enqueue(CUstream_st& stream, Work work, std::vector<OperationPointer> others) {
  others.push_back(stream.last);
  if (stream.legacy) {
    for (const auto& [number, other] : streams) {
      if (other->device == stream.device && other->blocking()) others.push_back(other->last);
    }
  } else if (stream.blocking()) {
    others.push_back(legacy[static_cast<size_t>(stream.device)]->last);
  }
  stream.last = queue.add(std::move(work), others, &stream.pending);
  const OperationPointer made = stream.last;
  if (stream.pending > most_pending) queue.finish_until(stream.pending, most_pending / 2);
  return made;
}

cudaError_t Runtime::submit(CUstream_st& stream, cudaGraphNodeType type, Work work, size_t bytes) {
  if (stream.capture == nullptr) {
    if (const cudaError_t error = refuse_implicit_wait(stream); error != cudaSuccess) return error;
    enqueue(stream, std::move(work));
    count(type, bytes);
    return cudaSuccess;
  }
  if (stream.capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  auto node = std::make_unique<CUgraphNode_st>();
  node->type = type;
  node->work = std::move(work);
  node->bytes = bytes;
  node->before = std::move(stream.frontier);
  auto& nodes = stream.capture->graph->nodes;
  stream.frontier = {nodes.size()};
  nodes.push_back(std::move(node));
  return cudaSuccess;
}

void Runtime::count(cudaGraphNodeType type, size_t bytes) {
  if (type == cudaGraphNodeTypeKernel) ++counts.kernels_launched;
  if (type == cudaGraphNodeTypeMemset) ++counts.memory_sets;
  if (type == cudaGraphNodeTypeMemcpy) {
    ++counts.copies;
    counts.bytes_copied += bytes;
  }
}

void Runtime::finish_device(int device) {
  for (const auto& [number, stream] : streams) {
    if (stream->device == device) queue.finish(stream->last);
  }
}

void require_host() {
  if (!in_kernel()) return;
  std::fprintf(stderr, "cuda_host: a kernel called the runtime of the host\n");
  std::abort();
}

void Runtime::note_failure(const std::string& message) {
  if (failure != cudaSuccess) return;
  failure = cudaErrorLaunchFailure;
  failure_message = message;
  std::fprintf(stderr, "cuda_host: %s\n", message.c_str());
}

}  // namespace cuda_host::detail
