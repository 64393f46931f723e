#include "device/async_copies.h"

#include <cstring>

namespace cuda_host::detail {

void AsyncCopies::finish_all_but(size_t groups) {
  if (groups_.size() <= groups) return;
  const auto closed = static_cast<ptrdiff_t>(groups_.size() - groups);
  const size_t count = groups_[static_cast<size_t>(closed) - 1];
  for (size_t i = 0; i < count; ++i) {
    char bytes[16] = {};
    if (copies_[i].bytes > 0) std::memcpy(bytes, copies_[i].source, static_cast<size_t>(copies_[i].bytes));
    std::memcpy(copies_[i].target, bytes, sizeof(bytes));
  }
  copies_.erase(copies_.begin(), copies_.begin() + static_cast<ptrdiff_t>(count));
  groups_.erase(groups_.begin(), groups_.begin() + closed);
  for (size_t& end : groups_) end -= count;
}

void AsyncCopies::clear() {
  copies_.clear();
  groups_.clear();
}

}  // namespace cuda_host::detail
