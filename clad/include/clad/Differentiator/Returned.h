// Finds the object to which a function returned a reference or a pointer: the argument, or the part of one,
// that has the address. Also makes the arguments that a custom `f_reverse_forw` gets instead of adjoints,
// which do not exist yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "clad/Differentiator/Adjoint.h"

namespace clad {

template <class T>
std::uintptr_t address(const T& object) {
  return reinterpret_cast<std::uintptr_t>(std::addressof(object));
}
template <class T>
std::uintptr_t address_in(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
/// The address of an object that a function returned by reference.
template <class T, class U>
std::uintptr_t address(const ValueAndAdjoint<T&, U>& returned) {
  return address(returned.value);
}
template <class T, class U>
std::uintptr_t address(const ValueAndPushforward<T&, U>& returned) {
  return address(returned.value);
}
template <class T, class U>
std::uintptr_t address_in(const ValueAndAdjoint<T*, U>& returned) {
  return address_in(returned.value);
}
template <class T, class U>
std::uintptr_t address_in(const ValueAndPushforward<T*, U>& returned) {
  return address_in(returned.value);
}

/// The index of the element that contains the address, in an array that begins at the pointer.
template <class T>
std::ptrdiff_t index_from(std::uintptr_t at, const T* begin) {
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  const auto bytes = static_cast<std::ptrdiff_t>(at - address_in(begin));
  return bytes >= 0 ? bytes / size : -((-bytes + size - 1) / size);
}
/// The index of the element that contains the address, or -1.
template <class C>
std::ptrdiff_t index_in(std::uintptr_t at, const C& container) {
  const std::ptrdiff_t i = index_from(at, std::data(container));
  return i >= 0 && static_cast<std::size_t>(i) < std::size(container) ? i : -1;
}
/// The pointer that is the last one before the address, in whose memory the address then is.
template <class... T>
int nearest(std::uintptr_t at, const T*... pointers) {
  int best = -1, k = 0;
  std::uintptr_t distance = 0;
  const auto look = [&](std::uintptr_t begin) {
    if (begin != 0 && begin <= at && (best < 0 || at - begin < distance)) {
      best = k;
      distance = at - begin;
    }
    ++k;
  };
  (look(address_in(pointers)), ...);
  return best;
}
[[noreturn]] inline int no_argument(const char* function) {
  throw std::logic_error("clad: what '" + std::string(function) +
                         "' returned is none of its arguments and no part of one: it has no adjoint");
}

/// An array of zeros, whatever the constructors of its elements do.
template <class T>
struct zeros {
  T value{};
  zeros() { clad::set_zero(value); }
};
/// A temporary that lives as long as the call to which it is passed.
template <class T>
T& lend(T&& object) {
  return object;
}

}  // namespace clad
