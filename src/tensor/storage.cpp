#include "cladtorch/tensor/storage.h"

#include <mutex>
#include <new>
#include <vector>

#include "cladtorch/error.h"
#include "tensor/allocation.h"
#include "tensor/device_memory.h"
#include "tensor/step_memory.h"

namespace cladtorch::detail {
namespace {

/// Recycles headers. Never destroyed: tensors of static lifetime may be released after any destructor of
/// ours.
class HeaderPool {
 public:
  static HeaderPool& instance() {
    static auto* pool = new HeaderPool;
    return *pool;
  }

  Storage* take() {
    const std::scoped_lock lock(mutex_);
    if (!free_) {
      blocks_.push_back(new Storage[headers_per_block]);
      for (size_t i = 0; i < headers_per_block; ++i) push(&blocks_.back()[i]);
    }
    Storage* storage = free_;
    free_ = storage->next_free;
    return storage;
  }

  void give(Storage* storage) {
    const std::scoped_lock lock(mutex_);
    push(storage);
  }

 private:
  static constexpr size_t headers_per_block = 256;

  void push(Storage* storage) {
    storage->next_free = free_;
    free_ = storage;
  }

  std::mutex mutex_;
  Storage* free_ = nullptr;
  std::vector<Storage*> blocks_;  // keeps the headers reachable for leak checkers
};

Storage* make_header(size_t bytes, Device device) {
  Storage* storage = HeaderPool::instance().take();
  storage->references.store(1, std::memory_order_relaxed);
  storage->device = device;
  storage->gradient_buffer = storage->zero = storage->frozen = storage->sink = storage->in_arena = false;
  storage->squares_wanted = false;
  storage->squares = Storage::unknown;
  storage->bytes = bytes;
  storage->workspace = nullptr;
  storage->data = nullptr;
  storage->owner = nullptr;
  storage->listener = nullptr;
  storage->arrival.store(nullptr, std::memory_order_relaxed);
  return storage;
}

}  // namespace

std::byte* allocate_heap(Device device, size_t bytes) {
  return device.type == DeviceType::cpu ? allocate_bytes(bytes) : allocate_on(device, bytes);
}

void free_heap(Device device, std::byte* data, size_t bytes) noexcept {
  if (device.type == DeviceType::cpu) {
    free_bytes(data, bytes);
  } else {
    free_on(device, data);
  }
}

Storage* allocate_storage(size_t bytes, Device device) {
  Storage* storage = make_header(bytes, device);
  try {
    if (Workspace* workspace = current_workspace()) {
      workspace->implementation_->memory_of(device).allocate(*storage, workspace);
    } else {
      storage->data = allocate_heap(device, bytes);
    }
  } catch (const std::bad_alloc&) {
    HeaderPool::instance().give(storage);
    fail("allocate: out of memory: ", bytes, " bytes requested");
  } catch (const Error&) {
    HeaderPool::instance().give(storage);
    throw;
  }
  return storage;
}

Storage* sink_storage(Device device) {
  Storage* storage = make_header(0, device);
  storage->gradient_buffer = storage->zero = storage->sink = true;
  return storage;
}

Storage* part_of_storage(Storage* owner, std::byte* data, size_t bytes) {
  Storage* storage = make_header(bytes, owner->device);
  owner->references.fetch_add(1, std::memory_order_relaxed);
  storage->owner = owner;
  storage->data = data;
  return storage;
}

Storage* foreign_storage(std::shared_ptr<void> keeper, std::byte* data, size_t bytes, Device device) {
  Storage* storage = make_header(bytes, device);
  storage->foreign = std::move(keeper);
  storage->data = data;
  return storage;
}

void free_storage(Storage* storage) noexcept {
  storage->float8.reset();
  if (storage->workspace) storage->workspace->implementation_->memory_of(storage->device).release(*storage);
  if (storage->owner) {
    const StorageHandle released(storage->owner);
  } else if (storage->foreign) {
    storage->foreign.reset();
  } else if (!storage->in_arena) {
    free_heap(storage->device, storage->data, storage->bytes);
  }
  HeaderPool::instance().give(storage);
}

}  // namespace cladtorch::detail
