// Finds whether arrays of the caller overlap, before the reverse sweep of a parallel loop starts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace clad {

/// The integers from `low` to `high`, both included, and the results of arithmetic on them.
struct interval {
  std::ptrdiff_t low, high;
  template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
  constexpr interval(I i) : low(static_cast<std::ptrdiff_t>(i)), high(low) {}
  constexpr interval(std::ptrdiff_t a, std::ptrdiff_t b) : low(a), high(b) {}
  friend constexpr interval operator+(interval a, interval b) { return {a.low + b.low, a.high + b.high}; }
  friend constexpr interval operator-(interval a, interval b) { return {a.low - b.high, a.high - b.low}; }
  friend constexpr interval operator-(interval a) { return {-a.high, -a.low}; }
  friend constexpr interval operator*(interval a, interval b) {
    const std::ptrdiff_t corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
};
/// The values of a counter that runs from the lowest `first` to before the highest `end`.
constexpr interval between(interval first, interval end) {
  return {first.low, std::max(first.low, end.high - 1)};
}
constexpr interval both(interval a, interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// Memory to which a loop adds, and the object or array from which it counts.
struct memory {
  const char *begin, *end;
  const void* origin;
};
template <class T>
memory touched(T* p, interval index) {
  return {reinterpret_cast<const char*>(p + index.low), reinterpret_cast<const char*>(p + index.high + 1), p};
}
template <class T>
memory touched(const T& object) {
  const auto* p = reinterpret_cast<const char*>(std::addressof(object));
  return {p, p + sizeof(T), p};
}
template <class T, class Allocator>
memory touched(const std::vector<T, Allocator>& v) {
  return {reinterpret_cast<const char*>(v.data()), reinterpret_cast<const char*>(v.data() + v.size()),
          v.data()};
}
inline bool apart(const memory& a, const memory& b) {
  const std::less_equal<const char*> before;
  return before(a.end, b.begin) || before(b.end, a.begin);
}
inline bool apart_or_same(const memory& a, const memory& b) { return a.origin == b.origin || apart(a, b); }

}  // namespace clad
