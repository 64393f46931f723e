// A pointer and a length, with which the caller says where the derivatives of an array go.
#pragma once

#include <concepts>
#include <cstddef>

namespace clad {

template <class T>
class array;

/// A pointer and length, for adjoints of arrays.
template <class T>
class array_ref {
 public:
  array_ref() = default;
  array_ref(T* data, std::size_t size) : data_(data), size_(size) {}
  /// One number, or an array of known length as a whole.
  template <std::same_as<T*> P>
  array_ref(const P& number) : data_(number), size_(1) {}
  template <std::size_t N>
  array_ref(T (&data)[N]) : data_(data), size_(N) {}
  array_ref(array<T>& other) : data_(other.ptr()), size_(other.size()) {}
  T* ptr() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  T& operator*() const { return *data_; }
  /// The `length` elements from `offset`.
  array_ref slice(std::size_t offset, std::size_t length) const { return array_ref(data_ + offset, length); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace clad
