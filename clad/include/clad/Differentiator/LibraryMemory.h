// Copies and clears of memory as plain code: more of Library.h. They go object by object, so that
// the plugin sees which objects carry derivatives.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <valarray>

namespace clad::library {

/// An array of bools on the heap, which a std::vector would pack.
struct bools : std::valarray<bool> {
  using std::valarray<bool>::valarray;
  bool* data() { return size() ? &(*this)[0] : nullptr; }
  const bool* data() const { return size() ? &(*this)[0] : nullptr; }
};

template <class T>
concept plain_memory = std::is_trivially_copyable_v<std::remove_all_extents_t<T>>;
/// The number of objects in the bytes, which may not end within an object of a class.
template <class T>
std::size_t objects_in(std::size_t bytes) {
  if constexpr (std::is_class_v<T>)
    if (bytes % sizeof(T) != 0)
      throw std::invalid_argument("clad: a part of an object is copied or cleared as memory");
  return bytes / sizeof(T);
}
/// The bytes of row `i` of an array of arrays; the last row may be partial.
template <class Row>
std::size_t row_bytes(std::size_t i, std::size_t bytes) {
  return bytes - i * sizeof(Row) < sizeof(Row) ? bytes - i * sizeof(Row) : sizeof(Row);
}
template <plain_memory T>
void memcpy(T* to, const T* from, std::size_t bytes) {
  if constexpr (std::is_array_v<T>) {
    for (std::size_t i = 0; i * sizeof(T) < bytes; ++i)
      library::memcpy(to[i], from[i], library::row_bytes<T>(i, bytes));
  } else {
    const std::size_t n = library::objects_in<T>(bytes);
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}
template <plain_memory T>
void memmove(T* to, const T* from, std::size_t bytes) {
  if constexpr (std::is_array_v<T>) {
    const std::size_t n = (bytes + sizeof(T) - 1) / sizeof(T);
    if (from < to)
      for (std::size_t i = n; i > 0; --i)
        library::memmove(to[i - 1], from[i - 1], library::row_bytes<T>(i - 1, bytes));
    else
      for (std::size_t i = 0; i < n; ++i) library::memmove(to[i], from[i], library::row_bytes<T>(i, bytes));
  } else {
    const std::size_t n = library::objects_in<T>(bytes);
    if (from < to)
      for (std::size_t i = n; i > 0; --i) to[i - 1] = from[i - 1];
    else
      for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}
/// An object whose bytes all have this value, whatever its constructors do.
template <class T>
T of_bytes(int byte) {
  std::array<unsigned char, sizeof(T)> all;
  all.fill(static_cast<unsigned char>(byte));
  return std::bit_cast<T>(all);
}
template <plain_memory T>
void memset(T* to, int byte, std::size_t bytes) {
  if constexpr (std::is_array_v<T>) {
    for (std::size_t i = 0; i * sizeof(T) < bytes; ++i)
      library::memset(to[i], byte, library::row_bytes<T>(i, bytes));
  } else {
    const std::size_t n = library::objects_in<T>(bytes);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_floating_point_v<T>)
        to[i] = 0;
      else
        to[i] = library::of_bytes<T>(byte);
    }
  }
}

}  // namespace clad::library
