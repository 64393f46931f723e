// Arrays whose length is known at run time, to which derivatives are written, and arithmetic on them.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "clad/Differentiator/ArrayRef.h"

namespace clad {

/// Numbers on the heap.
template <class T>
class array {
 public:
  using value_type = T;
  explicit array(std::size_t size) : values_(size) {}
  array(std::initializer_list<T> values) : values_(values) {}
  template <class U>
  array(const array_ref<U>& other) : values_(other.ptr(), other.ptr() + other.size()) {}
  T* ptr() { return values_.data(); }
  const T* ptr() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  T* begin() { return ptr(); }
  T* end() { return ptr() + size(); }
  const T* begin() const { return ptr(); }
  const T* end() const { return ptr() + size(); }

 private:
  std::vector<T> values_;
};

namespace detail {

template <class A>
inline constexpr bool is_clad_array = false;
template <class T>
inline constexpr bool is_clad_array<array<T>> = true;
template <class T>
inline constexpr bool is_clad_array<array_ref<T>> = true;
template <class A>
concept clad_array = is_clad_array<std::remove_cvref_t<A>>;
template <class A>
concept clad_operand = clad_array<A> || std::is_arithmetic_v<std::remove_cvref_t<A>>;

template <clad_operand A>
auto element(const A& a, [[maybe_unused]] std::size_t i) {
  if constexpr (clad_array<A>)
    return a[i];
  else
    return a;
}

/// Applies `op` to the elements of two operands, one of which may be a number. Throws std::invalid_argument
/// if they are arrays of different lengths.
template <clad_operand A, clad_operand B, class Op>
auto elementwise(const A& a, const B& b, Op op) {
  std::size_t n = 0;
  if constexpr (clad_array<A>) n = a.size();
  if constexpr (clad_array<B>) {
    if (clad_array<A> && n != b.size())
      throw std::invalid_argument("clad: arithmetic on arrays of " + std::to_string(n) + " and " +
                                  std::to_string(b.size()) + " elements");
    n = b.size();
  }
  array<decltype(op(element(a, 0), element(b, 0)))> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = op(element(a, i), element(b, i));
  return out;
}

template <clad_array A, class T>
A& put(A& to, const array<T>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = values[i];
  return to;
}

}  // namespace detail

template <detail::clad_operand A, detail::clad_operand B>
  requires(detail::clad_array<A> || detail::clad_array<B>)
auto operator+(const A& a, const B& b) {
  return detail::elementwise(a, b, [](auto x, auto y) { return x + y; });
}
template <detail::clad_operand A, detail::clad_operand B>
  requires(detail::clad_array<A> || detail::clad_array<B>)
auto operator-(const A& a, const B& b) {
  return detail::elementwise(a, b, [](auto x, auto y) { return x - y; });
}
template <detail::clad_operand A, detail::clad_operand B>
  requires(detail::clad_array<A> || detail::clad_array<B>)
auto operator*(const A& a, const B& b) {
  return detail::elementwise(a, b, [](auto x, auto y) { return x * y; });
}
template <detail::clad_operand A, detail::clad_operand B>
  requires(detail::clad_array<A> || detail::clad_array<B>)
auto operator/(const A& a, const B& b) {
  return detail::elementwise(a, b, [](auto x, auto y) { return x / y; });
}
template <detail::clad_array A>
auto operator-(const A& a) {
  return detail::elementwise(a, 0, [](auto x, int) { return -x; });
}
template <detail::clad_array A, detail::clad_operand B>
A& operator+=(A& a, const B& b) {
  return detail::put(a, a + b);
}
template <detail::clad_array A, detail::clad_operand B>
A& operator-=(A& a, const B& b) {
  return detail::put(a, a - b);
}
template <detail::clad_array A, detail::clad_operand B>
A& operator*=(A& a, const B& b) {
  return detail::put(a, a * b);
}
template <detail::clad_array A, detail::clad_operand B>
A& operator/=(A& a, const B& b) {
  return detail::put(a, a / b);
}

}  // namespace clad
