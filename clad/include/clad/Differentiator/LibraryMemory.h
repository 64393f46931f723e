// Copies and clears of memory, and objects that are made in it, as plain code: more of Library.h. They go
// object by object, so that the plugin sees which objects carry derivatives.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <valarray>

#include "clad/Differentiator/Library.h"

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

/// Objects of which making one and assigning to one that is there are the same.
template <class T>
concept made_in_place = std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T>;
template <class It>
concept place_of_objects = made_in_place<std::iter_value_t<It>>;

template <made_in_place T, class... Args>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t construct_at(T* place, Args&&... args) {
  *place = T(std::forward<Args>(args)...);
  return 0;
}
template <made_in_place T>
void destroy_at(T*) {}
template <place_of_objects It>
void destroy(It, It) {}
template <place_of_objects It, class Count>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t destroy_n(It, Count n) {
  return static_cast<ptrdiff_t>(n);
}
template <class It, place_of_objects Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t uninitialized_copy(It first, It last, Out out) {
  return library::copy(first, last, out);
}
template <class It, place_of_objects Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t uninitialized_move(It first, It last, Out out) {
  return library::copy(first, last, out);
}
template <class It, class Count, place_of_objects Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t uninitialized_copy_n(It first, Count n, Out out) {
  return library::copy_n(first, n, out);
}
template <place_of_objects It, class T>
void uninitialized_fill(It first, It last, const T& x) {
  library::fill(first, last, x);
}
template <place_of_objects It, class Count, class T>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t uninitialized_fill_n(It first, Count n, const T& x) {
  return library::fill_n(first, n, x);
}
template <place_of_objects It>
void uninitialized_value_construct(It first, It last) {
  for (; first != last; ++first) *first = std::iter_value_t<It>();
}
template <place_of_objects It, class Count>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t uninitialized_value_construct_n(It first, Count n) {
  library::uninitialized_value_construct(first, first + n);
  return static_cast<ptrdiff_t>(n);
}
/// What has no constructor is left as it is: nobody may read it.
template <place_of_objects It>
void uninitialized_default_construct(It first, It last) {
  if constexpr (!std::is_trivially_default_constructible_v<std::iter_value_t<It>>)
    library::uninitialized_value_construct(first, last);
}
template <place_of_objects It, class Count>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t uninitialized_default_construct_n(It first, Count n) {
  library::uninitialized_default_construct(first, first + n);
  return static_cast<ptrdiff_t>(n);
}

template <class T, std::size_t n>
std::array<T, n> to_array(const T (&list)[n]) {
  std::array<T, n> result{};
  for (std::size_t i = 0; i < n; ++i) result[i] = list[i];
  return result;
}

}  // namespace clad::library
