// Reference-counted memory behind tensors. Users see Tensor; this header exists because handles are inline.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch {

class Workspace;
struct Float8Scaling;

/// Hears when gradient buffers are written; see Tensor::set_listener. Each has a number.
class GradientListener {
 public:
  virtual ~GradientListener() = default;
  /// A contribution to a buffer is about to be written. It is not if this throws.
  virtual void begins(size_t buffer) = 0;
  /// It is written; on a CUDA device, it is queued.
  virtual void written(size_t buffer) noexcept = 0;
};

/// Brings the values of tensors; see Tensor::set_arrival. Each has a number.
class TensorArrival {
 public:
  virtual ~TensorArrival() = default;
  /// Somebody asks for the data of a tensor: returns when its values are there. Several threads may call it.
  virtual void wait_for(size_t tensor) = 0;
};

namespace detail {

/// One block of memory and its bookkeeping. Headers come from a process-wide pool, so a recycled one costs no
/// heap allocation.
struct Storage {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  std::atomic<int> references{1};
  Device device;
  bool gradient_buffer = false;  ///< contributions are added in place even when handles are shared
  bool zero = false;             ///< stands for zero whatever the bytes say; the first contribution is stored
  bool frozen = false;           ///< has no derivatives; see Tensor::set_frozen
  bool sink = false;             ///< a gradient buffer without memory that drops what is added
  bool squares_wanted = false;   ///< writers should sum squares; see Tensor::want_squares
  double squares = unknown;      ///< sum of the squares of all elements, if the last writer stored it
  std::shared_ptr<const Float8Scaling> float8;  ///< see Tensor::set_float8_scaling
  std::byte* data = nullptr;
  size_t bytes = 0;
  Workspace* workspace = nullptr;        ///< notified when the block is released; null once the block left it
  int64_t sequence = -1;                 ///< number of this allocation within the workspace's step
  bool in_arena = false;                 ///< data belongs to the workspace's arena, not to the heap
  Storage* owner = nullptr;              ///< data is a part of this one's, which it keeps alive
  std::shared_ptr<void> foreign;         ///< keeps data alive, which is another library's
  GradientListener* listener = nullptr;  ///< hears of contributions to this gradient buffer
  size_t listened_as = 0;                ///< its number there
  std::atomic<TensorArrival*> arrival{nullptr};  ///< brings the values, which are not there yet
  size_t arrives_as = 0;                         ///< its number there
  Storage* next_free = nullptr;
};

/// A contribution to a buffer, from its beginning until this is destroyed.
class GradientWrite {
 public:
  GradientWrite() = default;
  explicit GradientWrite(const Storage& storage) : listener_(storage.listener), buffer_(storage.listened_as) {
    if (listener_) listener_->begins(buffer_);
  }
  GradientWrite(GradientWrite&& other) noexcept
      : listener_(std::exchange(other.listener_, nullptr)), buffer_(other.buffer_) {}
  GradientWrite& operator=(GradientWrite&& other) noexcept {
    std::swap(listener_, other.listener_);
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~GradientWrite() {
    if (listener_) listener_->written(buffer_);
  }

 private:
  GradientListener* listener_ = nullptr;
  size_t buffer_ = 0;
};

/// A block of at least `bytes` (64-byte aligned, contents undefined) with one reference, from the thread's
/// open workspace step or else from the heap.
Storage* allocate_storage(size_t bytes, Device device);
/// The storage of a gradient sink, which has no memory.
Storage* sink_storage(Device device);
/// The `bytes` at `data`, which lie in `owner` and keep it alive, as a block with its own marks.
Storage* part_of_storage(Storage* owner, std::byte* data, size_t bytes);
/// The `bytes` at `data`, which are another library's and live as long as `keeper`.
Storage* foreign_storage(std::shared_ptr<void> keeper, std::byte* data, size_t bytes, Device device);
void free_storage(Storage* storage) noexcept;

/// Shared owner of a Storage.
class StorageHandle {
 public:
  StorageHandle() = default;
  explicit StorageHandle(Storage* adopted) : storage_(adopted) {}
  StorageHandle(const StorageHandle& other) : storage_(other.storage_) {
    if (storage_) storage_->references.fetch_add(1, std::memory_order_relaxed);
  }
  StorageHandle(StorageHandle&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageHandle& operator=(StorageHandle other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageHandle() {
    if (storage_ && storage_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) free_storage(storage_);
  }

  Storage* get() const { return storage_; }
  Storage* operator->() const { return storage_; }
  explicit operator bool() const { return storage_ != nullptr; }
  /// Whether nobody else sees what is written.
  bool unique() const {
    return storage_ && storage_->references.load(std::memory_order_acquire) == 1 && !storage_->foreign;
  }

 private:
  Storage* storage_ = nullptr;
};

}  // namespace detail
}  // namespace cladtorch
