// Owns the objects that handles stand for, and knows which handles are alive. They are gone through in the
// order in which they were made, so that the same seed gives the same run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace cuda_host::detail {

template <typename T>
class Registry {
 public:
  T* add(std::unique_ptr<T> object) {
    T* handle = object.get();
    numbers_.emplace(handle, next_);
    objects_.emplace(next_++, std::move(object));
    return handle;
  }

  T* find(T* handle) const { return numbers_.contains(handle) ? handle : nullptr; }

  bool remove(T* handle) {
    const auto found = numbers_.find(handle);
    if (found == numbers_.end()) return false;
    objects_.erase(found->second);
    numbers_.erase(found);
    return true;
  }

  template <typename Condition>
  void remove_if(Condition condition) {
    for (auto it = objects_.begin(); it != objects_.end();) {
      T* handle = (it++)->second.get();
      if (condition(*handle)) remove(handle);
    }
  }

  auto begin() const { return objects_.begin(); }
  auto end() const { return objects_.end(); }

 private:
  std::map<uint64_t, std::unique_ptr<T>> objects_;
  std::unordered_map<T*, uint64_t> numbers_;
  uint64_t next_ = 0;
};

}  // namespace cuda_host::detail
