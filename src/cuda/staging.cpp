#include "cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "cuda/check.h"

namespace cladtorch::cuda {
namespace {
constexpr size_t alignment = 256;
}  // namespace

void Staging::release_oldest() {
  CLADTORCH_CUDA_CALL(cudaEventSynchronize, pieces_.front().used);
  unused_.push_back(pieces_.front().used);
  pieces_.pop_front();
}

Staging::Piece& Staging::take(size_t bytes) {
  if (ring_ == nullptr) {
    void* data = nullptr;
    CLADTORCH_CUDA_CALL(cudaMallocHost, &data, ring_bytes);
    ring_ = static_cast<std::byte*>(data);
  }
  const size_t size = (bytes + alignment - 1) / alignment * alignment;
  if (next_ + size > ring_bytes) next_ = 0;
  const size_t begin = next_, end = begin + size;
  const auto overlaps = [&](const Piece& piece) { return piece.begin < end && begin < piece.end; };
  while (std::ranges::any_of(pieces_, overlaps)) release_oldest();
  Piece piece{begin, end, nullptr};
  if (unused_.empty()) {
    CLADTORCH_CUDA_CALL(cudaEventCreateWithFlags, &piece.used, cudaEventDisableTiming);
  } else {
    piece.used = unused_.back();
    unused_.pop_back();
  }
  next_ = end;
  pieces_.push_back(piece);
  return pieces_.back();
}

void Staging::upload(std::byte* to, const std::byte* from, size_t bytes, cudaStream_t stream) {
  for (size_t begin = 0; begin < bytes; begin += piece_bytes) {
    const size_t count = std::min(piece_bytes, bytes - begin);
    const Piece& piece = take(count);
    std::memcpy(at(piece), from + begin, count);
    CLADTORCH_CUDA_CALL(cudaMemcpyAsync, to + begin, at(piece), count, cudaMemcpyHostToDevice, stream);
    CLADTORCH_CUDA_CALL(cudaEventRecord, piece.used, stream);
  }
}

void Staging::download(std::byte* to, const std::byte* from, size_t bytes, cudaStream_t stream) {
  for (size_t begin = 0; begin < bytes; begin += piece_bytes) {
    const size_t count = std::min(piece_bytes, bytes - begin);
    const Piece& piece = take(count);
    CLADTORCH_CUDA_CALL(cudaMemcpyAsync, at(piece), from + begin, count, cudaMemcpyDeviceToHost, stream);
    CLADTORCH_CUDA_CALL(cudaEventRecord, piece.used, stream);
    CLADTORCH_CUDA_CALL(cudaEventSynchronize, piece.used);
    std::memcpy(to + begin, at(piece), count);
  }
}

}  // namespace cladtorch::cuda
