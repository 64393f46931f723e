// Arguments of functions under test, and the numbers in them.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace clad::test {

/// What a pointer parameter points to.
template <class T>
struct buffer {
  std::vector<T> values;
  buffer(std::initializer_list<T> list) : values(list) {}
};

/// A class that stands for a number specializes this.
template <class T>
inline constexpr bool is_number = std::is_floating_point_v<T>;

template <class T, class Visit>
void each_real(T& x, Visit&& visit) {
  if constexpr (is_number<T>)
    visit(x);
  else if constexpr (requires { x.reals(visit); })
    x.reals(visit);
}
template <class T, class Visit>
void each_real(buffer<T>& x, Visit&& visit);
template <class T, std::size_t N, class Visit>
void each_real(T (&x)[N], Visit&& visit) {
  for (T& e : x) each_real(e, visit);
}
template <class T, class Visit>
void each_real(std::vector<T>& x, Visit&& visit) {
  for (T& e : x) each_real(e, visit);
}
template <class T, std::size_t N, class Visit>
void each_real(std::array<T, N>& x, Visit&& visit) {
  for (T& e : x) each_real(e, visit);
}
template <class A, class B, class Visit>
void each_real(std::pair<A, B>& x, Visit&& visit) {
  each_real(x.first, visit);
  each_real(x.second, visit);
}
template <class... T, class Visit>
void each_real(std::tuple<T...>& x, Visit&& visit) {
  std::apply([&](auto&... part) { (each_real(part, visit), ...); }, x);
}
template <class T, class Visit>
void each_real(buffer<T>& x, Visit&& visit) {
  each_real(x.values, visit);
}

template <class T>
T& as_argument(T& x) {
  return x;
}
template <class T>
T* as_argument(buffer<T>& x) {
  return x.values.data();
}
template <class T>
auto as_adjoint(T& x) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    return nullptr;
  else
    return &x;
}
template <class T>
T* as_adjoint(buffer<T>& x) {
  return x.values.data();
}

/// All numbers of all arguments, in order.
template <class Tuple>
std::vector<long double> flatten(Tuple arguments) {
  std::vector<long double> out;
  std::apply([&](auto&... a) { (each_real(a, [&](auto& x) { out.push_back(x); }), ...); }, arguments);
  return out;
}
template <class Tuple>
void add_to(Tuple& arguments, std::size_t index, long double step) {
  std::size_t i = 0;
  auto visit = [&](auto& x) {
    if (i++ == index) x = static_cast<std::remove_reference_t<decltype(x)>>(x + step);
  };
  std::apply([&](auto&... a) { (each_real(a, visit), ...); }, arguments);
}

}  // namespace clad::test
