// Calls that copy and fill memory.
#include <cstring>
#include <utility>

#include "cuda_host/memory.h"
#include "runtime/runtime.h"

using namespace cuda_host::detail;

namespace {
enum class Place { device, pinned, pageable, nowhere };

Place place_of(const Runtime& state, const void* pointer, size_t bytes) {
  if (state.memory.owns(pointer)) {
    return state.memory.find(pointer, bytes) == nullptr ? Place::nowhere : Place::device;
  }
  return state.is_pinned(pointer, bytes) ? Place::pinned : Place::pageable;
}

// What a copy moves: `rows` rows of `width` bytes.
struct Copy {
  char* target;
  size_t target_pitch;
  const char* source;
  size_t source_pitch;
  size_t width;
  size_t rows;

  size_t bytes() const { return width * rows; }
  size_t extent(size_t pitch) const { return pitch * (rows - 1) + width; }

  void run() const {
    for (size_t row = 0; row < rows; ++row) {
      std::memmove(target + row * target_pitch, source + row * source_pitch, width);
    }
  }
};

bool fits(cudaMemcpyKind kind, bool target_on_device, bool source_on_device) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !target_on_device && !source_on_device;
    case cudaMemcpyHostToDevice:
      return target_on_device && !source_on_device;
    case cudaMemcpyDeviceToHost:
      return !target_on_device && source_on_device;
    case cudaMemcpyDeviceToDevice:
      return target_on_device && source_on_device;
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

// The bytes of the source as they are now, row behind row.
Copy staged(const Copy& copy, const std::shared_ptr<std::vector<char>>& stage) {
  stage->resize(copy.bytes());
  const Copy take{stage->data(), copy.width, copy.source, copy.source_pitch, copy.width, copy.rows};
  take.run();
  return {copy.target, copy.target_pitch, stage->data(), copy.width, copy.width, copy.rows};
}

// `waits`: the host goes on when the copy is done, unless both sides are on the device.
cudaError_t copy_in(Runtime& state, CUstream_st& stream, Copy copy, cudaMemcpyKind kind, bool waits) {
  if (copy.width == 0 || copy.rows == 0) return cudaSuccess;
  if (copy.target_pitch < copy.width || copy.source_pitch < copy.width) return cudaErrorInvalidValue;
  const Place target = place_of(state, copy.target, copy.extent(copy.target_pitch));
  const Place source = place_of(state, copy.source, copy.extent(copy.source_pitch));
  if (target == Place::nowhere || source == Place::nowhere) return cudaErrorInvalidValue;
  const bool to_device = target == Place::device, from_device = source == Place::device;
  if (!fits(kind, to_device, from_device)) return cudaErrorInvalidValue;

  // Memory that is not pinned is read before the call returns,
  // and written before it returns; a graph comes back to it.
  std::shared_ptr<std::vector<char>> stage;
  if (stream.capture == nullptr) {
    if (source == Place::pageable && to_device) {
      stage = std::make_shared<std::vector<char>>();
      copy = staged(copy, stage);
    }
    const bool touches_pageable = target == Place::pageable || (source == Place::pageable && !to_device);
    waits = touches_pageable || (waits && !(to_device && from_device));
  } else {
    waits = false;
  }
  const auto work = [copy, stage] {
    copy.run();
    return true;
  };
  const cudaError_t error = state.submit(stream, cudaGraphNodeTypeMemcpy, work, copy.bytes());
  if (error == cudaSuccess && waits) {
    ++state.counts.waits;
    state.queue.finish(stream.last);
  }
  return error;
}

Copy line(void* target, const void* source, size_t bytes) {
  return {static_cast<char*>(target), bytes, static_cast<const char*>(source), bytes, bytes, 1};
}

cudaError_t set_in(Runtime& state, CUstream_st& stream, void* target, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  const Place place = place_of(state, target, bytes);
  if (place == Place::nowhere || place == Place::pageable) return cudaErrorInvalidValue;
  return state.submit(stream, cudaGraphNodeTypeMemset, [=] {
    std::memset(target, value, bytes);
    return true;
  });
}
}  // namespace

namespace cuda_host::detail {

bool Runtime::is_pinned(const void* pointer, size_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return address - start < size && bytes <= size - (address - start);
}

}  // namespace cuda_host::detail

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return call_on(nullptr, [&](Runtime& state, CUstream_st& stream) {
    if (const cudaError_t error = state.refuse_unsafe(); error != cudaSuccess) return error;
    return copy_in(state, stream, line(target, source, bytes), kind, true);
  });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t handle) {
  return call_on(handle, [&](Runtime& state, CUstream_st& stream) {
    return copy_in(state, stream, line(target, source, bytes), kind, false);
  });
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t handle) {
  return call_on(handle, [&](Runtime& state, CUstream_st& stream) {
    const Copy copy{static_cast<char*>(target),
                    target_pitch,
                    static_cast<const char*>(source),
                    source_pitch,
                    width,
                    height};
    return copy_in(state, stream, copy, kind, false);
  });
}

cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  return call_on(nullptr, [&](Runtime& state, CUstream_st& stream) {
    if (const cudaError_t error = state.refuse_unsafe(); error != cudaSuccess) return error;
    return set_in(state, stream, target, value, bytes);
  });
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t handle) {
  return call_on(handle, [&](Runtime& state, CUstream_st& stream) {
    return set_in(state, stream, target, value, bytes);
  });
}
