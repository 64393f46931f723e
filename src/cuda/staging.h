// Pinned memory through which bytes travel between host and device, without the host waiting for uploads.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <deque>
#include <vector>

namespace cladtorch::cuda {

/// A ring: many small uploads, or a part of a large one, may be on their way while the next is written.
class Staging {
 public:
  static constexpr size_t ring_bytes = size_t{8} << 20;
  static constexpr size_t piece_bytes = ring_bytes / 2;

  /// From ordinary memory, which may be reused when this returns; ordered in `stream`.
  void upload(std::byte* to, const std::byte* from, size_t bytes, cudaStream_t stream);
  /// To ordinary memory; waits for the stream.
  void download(std::byte* to, const std::byte* from, size_t bytes, cudaStream_t stream);

 private:
  /// A part of the ring that a copy uses until `used` has happened.
  struct Piece {
    size_t begin = 0, end = 0;
    cudaEvent_t used = nullptr;
  };

  /// Waits until nobody uses as many bytes of the ring, and takes them.
  Piece& take(size_t bytes);
  void release_oldest();
  std::byte* at(const Piece& piece) const { return ring_ + piece.begin; }

  std::byte* ring_ = nullptr;
  size_t next_ = 0;
  std::deque<Piece> pieces_;  // in use, the oldest first
  std::vector<cudaEvent_t> unused_;
};

}  // namespace cladtorch::cuda
