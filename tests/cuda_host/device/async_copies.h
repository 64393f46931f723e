// The copies that one thread has started by cp.async and not yet waited for.
#pragma once

#include <cstddef>
#include <vector>

namespace cuda_host::detail {

class AsyncCopies {
 public:
  void add(void* target, const void* source, int bytes) { copies_.push_back({target, source, bytes}); }
  void commit() { groups_.push_back(copies_.size()); }

  // Does the copies of all but the last `groups` closed groups.
  void finish_all_but(size_t groups);
  void clear();

 private:
  struct Copy {
    void* target;
    const void* source;
    int bytes;
  };

  std::vector<Copy> copies_;    // in the order of their start
  std::vector<size_t> groups_;  // how many copies there are up to the end of each closed group
};

}  // namespace cuda_host::detail
