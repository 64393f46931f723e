// Searches and comparisons of ranges as plain code: more of Library.h.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

#include "clad/Differentiator/Library.h"
#include "clad/Differentiator/LibraryOrder.h"

namespace clad::library {

template <class F>
concept comparison = !std::input_or_output_iterator<F>;

/// How far std::ranges::next and prev go, which stop at an end.
template <class It>
ptrdiff_t next_steps(It first, ptrdiff_t n, It last) {
  const ptrdiff_t most = last - first;
  return n < most ? n : most;
}
template <class It>
ptrdiff_t prev_steps(It last, ptrdiff_t n, It first) {
  const ptrdiff_t most = last - first;
  return n < most ? n : most;
}

/// Whether two numbers are taken for the same.
template <class A, class B>
bool coincides(const A& a, const B& b) {
  return a == b;
}
template <class A, class B, comparison Same>
bool coincides(const A& a, const B& b, Same same) {
  return same(a, b);
}

template <class It, class T, class Less>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t lower_bound(It first, It last, const T& value, Less less) {
  ptrdiff_t low = 0, n = last - first;
  while (n > 0) {
    const ptrdiff_t half = n / 2;
    if (less(first[low + half], value)) {
      low += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return low;
}
template <class It, class T>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t lower_bound(It first, It last, const T& value) {
  return library::lower_bound(first, last, value, [](const auto& a, const auto& b) { return a < b; });
}
template <class It, class T, class Less>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t upper_bound(It first, It last, const T& value, Less less) {
  ptrdiff_t low = 0, n = last - first;
  while (n > 0) {
    const ptrdiff_t half = n / 2;
    if (!less(value, first[low + half])) {
      low += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return low;
}
template <class It, class T>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t upper_bound(It first, It last, const T& value) {
  return library::upper_bound(first, last, value, [](const auto& a, const auto& b) { return a < b; });
}
template <class It, class T>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t find(It first, It last, const T& value) {
  ptrdiff_t i = 0;
  for (; first != last && !(*first == value); ++first) ++i;
  return i;
}
template <class It, class F>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t find_if(It first, It last, F f) {
  ptrdiff_t i = 0;
  for (; first != last; ++first, ++i)
    if (f(*first)) break;
  return i;
}
template <class It, class F>
ptrdiff_t count_if(It first, It last, F f) {
  ptrdiff_t n = 0;
  for (; first != last; ++first)
    if (f(*first)) ++n;
  return n;
}
template <class It, class F>
bool any_of(It first, It last, F f) {
  for (; first != last; ++first)
    if (f(*first)) return true;
  return false;
}
template <class It, class F>
bool all_of(It first, It last, F f) {
  for (; first != last; ++first)
    if (!f(*first)) return false;
  return true;
}
template <class It, class F>
bool none_of(It first, It last, F f) {
  for (; first != last; ++first)
    if (f(*first)) return false;
  return true;
}
template <class It, class F>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t find_if_not(It first, It last, F f) {
  ptrdiff_t i = 0;
  for (; first != last; ++first, ++i)
    if (!f(*first)) break;
  return i;
}
template <class It, class F>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t partition_point(It first, It last, F f) {
  return library::find_if_not(first, last, f);
}
template <class It, class F>
bool is_partitioned(It first, It last, F f) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = library::find_if_not(first, last, f); i < n; ++i)
    if (f(first[i])) return false;
  return true;
}
template <class It, class... Same>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t adjacent_find(It first, It last, Same... same) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i + 1 < n; ++i)
    if (library::coincides(first[i], first[i + 1], same...)) return i;
  return n;
}
/// Whether the second range is found in the first one at an index.
template <class It, class It2, class... Same>
bool is_found_at(ptrdiff_t at, It first, It last, It2 first2, It2 last2, Same... same) {
  const ptrdiff_t n = last - first, n2 = last2 - first2;
  if (n - at < n2) return false;
  for (ptrdiff_t i = 0; i < n2; ++i)
    if (!library::coincides(first[at + i], first2[i], same...)) return false;
  return true;
}
template <class It, class It2, class... Same>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t search(It first, It last, It2 first2, It2 last2, Same... same) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i < n; ++i)
    if (library::is_found_at(i, first, last, first2, last2, same...)) return i;
  return n;
}
template <class It, class It2, class... Same>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t find_end(It first, It last, It2 first2, It2 last2, Same... same) {
  const ptrdiff_t n = last - first;
  if (first2 == last2) return n;
  for (ptrdiff_t i = n - 1; i >= 0; --i)
    if (library::is_found_at(i, first, last, first2, last2, same...)) return i;
  return n;
}
template <class It, class It2, class... Same>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t find_first_of(It first, It last, It2 first2, It2 last2, Same... same) {
  const ptrdiff_t n = last - first, n2 = last2 - first2;
  for (ptrdiff_t i = 0; i < n; ++i)
    for (ptrdiff_t k = 0; k < n2; ++k)
      if (library::coincides(first[i], first2[k], same...)) return i;
  return n;
}
template <class It, class N, class T, class... Same>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t search_n(It first, It last, N wanted, const T& value, Same... same) {
  const ptrdiff_t n = last - first, run = static_cast<ptrdiff_t>(wanted);
  ptrdiff_t found = 0;
  for (ptrdiff_t i = 0; i < n && found < run; ++i) {
    found = library::coincides(first[i], value, same...) ? found + 1 : 0;
    if (found == run) return i + 1 - run;
  }
  return run > 0 ? n : 0;
}
template <class It, class T, class... Less>
bool binary_search(It first, It last, const T& value, Less... less) {
  return library::lower_bound(first, last, value, less...) !=
         library::upper_bound(first, last, value, less...);
}
template <class It, class T, class... Less>
std::pair<It, It> equal_range(It first, It last, const T& value, Less... less) {
  const ptrdiff_t low = library::lower_bound(first, last, value, less...);
  const ptrdiff_t high = library::upper_bound(first, last, value, less...);
  return {first + low, first + high};
}
template <class It, class... Less>
std::pair<It, It> minmax_element(It first, It last, Less... less) {
  const ptrdiff_t n = last - first;
  ptrdiff_t low = 0, high = 0;
  for (ptrdiff_t i = 1; i < n; ++i) {
    if (library::precedes(first[i], first[low], less...)) low = i;
    if (!library::precedes(first[i], first[high], less...)) high = i;
  }
  return {first + low, first + high};
}
/// Of a list alone: of two objects the result refers to them.
template <class T, class... Less>
std::pair<T, T> minmax(std::initializer_list<T> list, Less... less) {
  const auto [low, high] = library::minmax_element(list.begin(), list.end(), less...);
  return {*low, *high};
}
template <class It, class It2, comparison... Same>
ptrdiff_t length_of_match(It first, It last, It2 first2, ptrdiff_t n2, Same... same) {
  const ptrdiff_t n = last - first;
  ptrdiff_t i = 0;
  while (i < n && i < n2 && library::coincides(first[i], first2[i], same...)) ++i;
  return i;
}
template <class It, class It2, comparison... Same>
std::pair<It, It2> mismatch(It first, It last, It2 second, Same... same) {
  const ptrdiff_t i = library::length_of_match(first, last, second, last - first, same...);
  return {first + i, second + i};
}
template <class It, class It2, comparison... Same>
std::pair<It, It2> mismatch(It first, It last, It2 first2, It2 last2, Same... same) {
  const ptrdiff_t i = library::length_of_match(first, last, first2, last2 - first2, same...);
  return {first + i, first2 + i};
}
template <class It, class It2, comparison... Same>
bool equal(It first, It last, It2 second, Same... same) {
  return library::length_of_match(first, last, second, last - first, same...) == last - first;
}
template <class It, class It2, comparison... Same>
bool equal(It first, It last, It2 first2, It2 last2, Same... same) {
  const ptrdiff_t n = last - first, n2 = last2 - first2;
  return n == n2 && library::length_of_match(first, last, first2, n2, same...) == n;
}
template <class It, class It2, class... Less>
bool lexicographical_compare(It first, It last, It2 first2, It2 last2, Less... less) {
  for (; first != last && first2 != last2; ++first, ++first2) {
    if (library::precedes(*first, *first2, less...)) return true;
    if (library::precedes(*first2, *first, less...)) return false;
  }
  return first == last && first2 != last2;
}
template <class It, class T>
ptrdiff_t count(It first, It last, const T& value) {
  ptrdiff_t n = 0;
  for (; first != last; ++first)
    if (*first == value) ++n;
  return n;
}
template <class It, class It2, comparison... Same>
bool is_permutation(It first, It last, It2 first2, It2 last2, Same... same) {
  const ptrdiff_t n = last - first;
  if (last2 - first2 != n) return false;
  for (ptrdiff_t i = 0; i < n; ++i) {
    ptrdiff_t here = 0, there = 0;
    for (ptrdiff_t k = 0; k < n; ++k) {
      if (library::coincides(first[k], first[i], same...)) ++here;
      if (library::coincides(first2[k], first[i], same...)) ++there;
    }
    if (here != there) return false;
  }
  return true;
}
template <class It, class It2, comparison... Same>
bool is_permutation(It first, It last, It2 second, Same... same) {
  return library::is_permutation(first, last, second, second + (last - first), same...);
}

}  // namespace clad::library
