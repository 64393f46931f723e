// std::valarray as plain code. In derivatives, a valarray and an expression of valarrays are std::vectors of
// the same numbers; these are their operators and functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "clad/Differentiator/Library.h"

namespace clad::library {

#define CLAD_ELEMENTWISE_OPERATOR(word, op)                                                   \
  template <class T>                                                                          \
  std::vector<T> operator_##word(const std::vector<T>& a, const std::vector<T>& b) {          \
    const std::size_t n = a.size();                                                           \
    std::vector<T> out(n);                                                                    \
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] op b[i];                                \
    return out;                                                                               \
  }                                                                                           \
  template <class T>                                                                          \
  std::vector<T> operator_##word(const std::vector<T>& a, const std::type_identity_t<T>& b) { \
    const std::size_t n = a.size();                                                           \
    std::vector<T> out(n);                                                                    \
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] op b;                                   \
    return out;                                                                               \
  }                                                                                           \
  template <class T>                                                                          \
  std::vector<T> operator_##word(const std::type_identity_t<T>& a, const std::vector<T>& b) { \
    const std::size_t n = b.size();                                                           \
    std::vector<T> out(n);                                                                    \
    for (std::size_t i = 0; i < n; ++i) out[i] = a op b[i];                                   \
    return out;                                                                               \
  }                                                                                           \
  template <class T>                                                                          \
  void operator_##word##_equal(std::vector<T>& a, const std::vector<T>& b) {                  \
    const std::size_t n = a.size();                                                           \
    for (std::size_t i = 0; i < n; ++i) a[i] = a[i] op b[i];                                  \
  }                                                                                           \
  template <class T>                                                                          \
  void operator_##word##_equal(std::vector<T>& a, const std::type_identity_t<T>& b) {         \
    const T value = b;                                                                        \
    const std::size_t n = a.size();                                                           \
    for (std::size_t i = 0; i < n; ++i) a[i] = a[i] op value;                                 \
  }
CLAD_ELEMENTWISE_OPERATOR(plus, +)
CLAD_ELEMENTWISE_OPERATOR(minus, -)
CLAD_ELEMENTWISE_OPERATOR(star, *)
CLAD_ELEMENTWISE_OPERATOR(slash, /)
#undef CLAD_ELEMENTWISE_OPERATOR

#define CLAD_ELEMENTWISE_FUNCTION(name)                           \
  template <class T>                                              \
  std::vector<T> name(const std::vector<T>& a) {                  \
    const std::size_t n = a.size();                               \
    std::vector<T> out(n);                                        \
    for (std::size_t i = 0; i < n; ++i) out[i] = std::name(a[i]); \
    return out;                                                   \
  }
CLAD_ELEMENTWISE_FUNCTION(abs)
CLAD_ELEMENTWISE_FUNCTION(acos)
CLAD_ELEMENTWISE_FUNCTION(asin)
CLAD_ELEMENTWISE_FUNCTION(atan)
CLAD_ELEMENTWISE_FUNCTION(cos)
CLAD_ELEMENTWISE_FUNCTION(cosh)
CLAD_ELEMENTWISE_FUNCTION(exp)
CLAD_ELEMENTWISE_FUNCTION(log)
CLAD_ELEMENTWISE_FUNCTION(log10)
CLAD_ELEMENTWISE_FUNCTION(sin)
CLAD_ELEMENTWISE_FUNCTION(sinh)
CLAD_ELEMENTWISE_FUNCTION(sqrt)
CLAD_ELEMENTWISE_FUNCTION(tan)
CLAD_ELEMENTWISE_FUNCTION(tanh)
#undef CLAD_ELEMENTWISE_FUNCTION

#define CLAD_ELEMENTWISE_FUNCTION(name)                                            \
  template <class T>                                                               \
  std::vector<T> name(const std::vector<T>& a, const std::vector<T>& b) {          \
    const std::size_t n = a.size();                                                \
    std::vector<T> out(n);                                                         \
    for (std::size_t i = 0; i < n; ++i) out[i] = std::name(a[i], b[i]);            \
    return out;                                                                    \
  }                                                                                \
  template <class T>                                                               \
  std::vector<T> name(const std::vector<T>& a, const std::type_identity_t<T>& b) { \
    const std::size_t n = a.size();                                                \
    std::vector<T> out(n);                                                         \
    for (std::size_t i = 0; i < n; ++i) out[i] = std::name(a[i], b);               \
    return out;                                                                    \
  }                                                                                \
  template <class T>                                                               \
  std::vector<T> name(const std::type_identity_t<T>& a, const std::vector<T>& b) { \
    const std::size_t n = b.size();                                                \
    std::vector<T> out(n);                                                         \
    for (std::size_t i = 0; i < n; ++i) out[i] = std::name(a, b[i]);               \
    return out;                                                                    \
  }
CLAD_ELEMENTWISE_FUNCTION(atan2)
CLAD_ELEMENTWISE_FUNCTION(pow)
#undef CLAD_ELEMENTWISE_FUNCTION

template <class T>
std::vector<T> operator_plus(const std::vector<T>& a) {
  return a;
}
template <class T>
std::vector<T> operator_minus(const std::vector<T>& a) {
  const std::size_t n = a.size();
  std::vector<T> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = -a[i];
  return out;
}
template <class T>
void operator_equal(std::vector<T>& a, const std::type_identity_t<T>& b) {
  const T value = b;
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) a[i] = value;
}

template <class T>
T array_sum(const std::vector<T>& a) {
  T sum = a[0];
  const std::size_t n = a.size();
  for (std::size_t i = 1; i < n; ++i) sum += a[i];
  return sum;
}
/// libstdc++ sums an expression of arrays from its end.
template <class T>
T array_sum_from_end(const std::vector<T>& a) {
  std::size_t i = a.size() - 1;
  T sum = a[i];
  while (i != 0) sum += a[--i];
  return sum;
}
template <class T>
T array_max(const std::vector<T>& a) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < a.size(); ++i)
    if (a[best] < a[i]) best = i;
  return a[best];
}
template <class T>
T array_min(const std::vector<T>& a) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < a.size(); ++i)
    if (a[i] < a[best]) best = i;
  return a[best];
}
template <class T, class Function>
std::vector<T> array_apply(const std::vector<T>& a, Function f) {
  const std::size_t n = a.size();
  std::vector<T> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = f(a[i]);
  return out;
}
template <class T>
std::vector<T> array_shift(const std::vector<T>& a, int by) {
  const ptrdiff_t n = static_cast<ptrdiff_t>(a.size());
  std::vector<T> out(a.size());
  for (ptrdiff_t i = 0; i < n; ++i)
    if (i + by >= 0 && i + by < n) out[i] = a[i + by];
  return out;
}
template <class T>
std::vector<T> array_cshift(const std::vector<T>& a, int by) {
  const ptrdiff_t n = static_cast<ptrdiff_t>(a.size());
  std::vector<T> out(a.size());
  for (ptrdiff_t i = 0; i < n; ++i) out[i] = a[((i + by) % n + n) % n];
  return out;
}
template <class T>
void array_resize(std::vector<T>& a, std::size_t n) {
  a.assign(n, T{});
}
template <class T>
void array_resize(std::vector<T>& a, std::size_t n, const std::type_identity_t<T>& x) {
  a.assign(n, x);
}

}  // namespace clad::library
