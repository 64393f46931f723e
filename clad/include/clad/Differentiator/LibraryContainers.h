// Member functions of containers as plain code, with the container as their first argument. If a
// differentiated function calls v.insert(at, x), the plugin differentiates clad::library::member_insert(v,
// at, x).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <vector>

#include "clad/Differentiator/Library.h"

namespace clad::library {

template <class T, class Allocator>
using position = typename std::vector<T, Allocator>::const_iterator;

/// Moves the last `n` elements to `at`.
template <class T, class Allocator>
void bring_forward(std::vector<T, Allocator>& v, ptrdiff_t at, ptrdiff_t n) {
  std::rotate(v.begin() + at, v.end() - n, v.end());
}
template <class T, class Allocator>
CLAD_FROM_ARGUMENT(1)
ptrdiff_t
    member_insert(std::vector<T, Allocator>& v, position<T, Allocator> at, const std::type_identity_t<T>& x) {
  const ptrdiff_t i = at - v.cbegin();
  v.push_back(x);
  bring_forward(v, i, 1);
  return 0;
}
template <class T, class Allocator>
CLAD_FROM_ARGUMENT(1)
ptrdiff_t member_emplace(std::vector<T, Allocator>& v, position<T, Allocator> at,
                         const std::type_identity_t<T>& x) {
  return member_insert(v, at, x);
}
template <class T, class Allocator>
CLAD_FROM_ARGUMENT(1)
ptrdiff_t member_insert(std::vector<T, Allocator>& v, position<T, Allocator> at, std::size_t n,
                        const std::type_identity_t<T>& x) {
  const ptrdiff_t i = at - v.cbegin();
  const T value = x;
  for (std::size_t k = 0; k < n; ++k) v.push_back(value);
  bring_forward(v, i, static_cast<ptrdiff_t>(n));
  return 0;
}
template <class T, std::input_iterator It, class Allocator>
CLAD_FROM_ARGUMENT(1)
ptrdiff_t member_insert(std::vector<T, Allocator>& v, position<T, Allocator> at, It first, It last) {
  const ptrdiff_t i = at - v.cbegin(), n = last - first;
  for (; first != last; ++first) v.push_back(*first);
  bring_forward(v, i, n);
  return 0;
}
template <class T, class Allocator>
CLAD_FROM_ARGUMENT(1)
ptrdiff_t
    member_insert(std::vector<T, Allocator>& v, position<T, Allocator> at, std::initializer_list<T> list) {
  const ptrdiff_t i = at - v.cbegin();
  for (const T& x : list) v.push_back(x);
  bring_forward(v, i, static_cast<ptrdiff_t>(list.size()));
  return 0;
}
template <class T, class Allocator>
CLAD_FROM_ARGUMENT(1)
ptrdiff_t
    member_erase(std::vector<T, Allocator>& v, position<T, Allocator> first, position<T, Allocator> last) {
  const ptrdiff_t i = first - v.cbegin(), n = last - first;
  const ptrdiff_t kept = static_cast<ptrdiff_t>(v.size()) - n;
  for (ptrdiff_t k = i; k < kept; ++k) v[k] = v[k + n];
  for (ptrdiff_t k = 0; k < n; ++k) v.pop_back();
  return 0;
}
template <class T, class Allocator>
CLAD_FROM_ARGUMENT(1)
ptrdiff_t member_erase(std::vector<T, Allocator>& v, position<T, Allocator> at) {
  const ptrdiff_t i = at - v.cbegin(), kept = static_cast<ptrdiff_t>(v.size()) - 1;
  for (ptrdiff_t k = i; k < kept; ++k) v[k] = v[k + 1];
  v.pop_back();
  return 0;
}
/// A vector made of a range.
template <class It>
std::vector<element<It>> copied(It first, It last) {
  std::vector<element<It>> v;
  for (; first != last; ++first) v.push_back(*first);
  return v;
}
template <class T, std::input_iterator It, class Allocator>
void member_assign(std::vector<T, Allocator>& v, It first, It last) {
  v.clear();
  for (; first != last; ++first) v.push_back(*first);
}
template <class T, class Allocator>
void member_assign(std::vector<T, Allocator>& v, std::initializer_list<T> list) {
  v.clear();
  for (const T& x : list) v.push_back(x);
}
template <class T, std::size_t N>
void member_fill(std::array<T, N>& a, const std::type_identity_t<T>& x) {
  const T value = x;
  for (std::size_t i = 0; i < N; ++i) a[i] = value;
}
template <class T, class Predicate, class Allocator>
std::size_t erase_if(std::vector<T, Allocator>& v, Predicate unwanted) {
  std::size_t kept = 0;
  const std::size_t n = v.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (unwanted(v[i])) continue;
    if (kept != i) v[kept] = v[i];
    ++kept;
  }
  for (std::size_t i = kept; i < n; ++i) v.pop_back();
  return n - kept;
}

// Algorithms that append to a vector, through std::back_inserter.
template <class It, class T, class Allocator>
void copy_back(It first, It last, std::vector<T, Allocator>& out) {
  for (; first != last; ++first) out.push_back(*first);
}
template <class It, class N, class T, class Allocator>
void copy_n_back(It first, N n, std::vector<T, Allocator>& out) {
  for (N i = 0; i < n; ++i) out.push_back(first[i]);
}
template <class It, class T, class Predicate, class Allocator>
void copy_if_back(It first, It last, std::vector<T, Allocator>& out, Predicate wanted) {
  for (; first != last; ++first)
    if (wanted(*first)) out.push_back(*first);
}
template <class T, class N, class U, class Allocator>
void fill_n_back(std::vector<T, Allocator>& out, N n, const U& value) {
  for (N i = 0; i < n; ++i) out.push_back(value);
}
template <class T, class N, class G, class Allocator>
void generate_n_back(std::vector<T, Allocator>& out, N n, G next) {
  for (N i = 0; i < n; ++i) out.push_back(next());
}
template <class It, class T, class F, class Allocator>
void transform_back(It first, It last, std::vector<T, Allocator>& out, F f) {
  for (; first != last; ++first) out.push_back(f(*first));
}
template <class It, class It2, class T, class F, class Allocator>
void transform_back(It first, It last, It2 second, std::vector<T, Allocator>& out, F f) {
  for (; first != last; ++first, ++second) out.push_back(f(*first, *second));
}
template <class It, class It2, class T, class Less, class Allocator>
void merge_back(It first, It last, It2 first2, It2 last2, std::vector<T, Allocator>& out, Less less) {
  const ptrdiff_t n = last - first, n2 = last2 - first2;
  ptrdiff_t a = 0, b = 0;
  for (ptrdiff_t i = 0; i < n + n2; ++i) {
    bool second = a == n;
    if (a < n && b < n2) second = less(first2[b], first[a]);
    if (second) {
      out.push_back(first2[b]);
      ++b;
    } else {
      out.push_back(first[a]);
      ++a;
    }
  }
}
template <class It, class It2, class T, class Allocator>
void merge_back(It first, It last, It2 first2, It2 last2, std::vector<T, Allocator>& out) {
  library::merge_back(first, last, first2, last2, out, [](const T& a, const T& b) { return a < b; });
}
template <class It, class T, class Allocator>
void partial_sum_back(It first, It last, std::vector<T, Allocator>& out) {
  if (first == last) return;
  T sum = *first;
  out.push_back(sum);
  for (++first; first != last; ++first) {
    sum = sum + *first;
    out.push_back(sum);
  }
}

}  // namespace clad::library
