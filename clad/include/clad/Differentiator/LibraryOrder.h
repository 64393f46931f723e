// Sorting and searching as plain code: more of Library.h. Except on a null set, the order of the elements
// does not depend on small changes of the numbers.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "clad/Differentiator/Library.h"

namespace clad::library {

template <class It>
void permute(It first, const std::vector<ptrdiff_t>& order) {
  const ptrdiff_t n = static_cast<ptrdiff_t>(order.size());
  std::vector<element<It>> before(first, first + n);
  for (ptrdiff_t i = 0; i < n; ++i) first[i] = before[order[i]];
}
/// Merges runs of doubling length.
template <class It, class Less>
void stable_sort(It first, It last, Less less) {
  const ptrdiff_t n = last - first;
  std::vector<ptrdiff_t> from(n), to(n);
  for (ptrdiff_t i = 0; i < n; ++i) from[i] = i;
  for (ptrdiff_t run = 1; run < n; run *= 2) {
    for (ptrdiff_t start = 0; start < n; start += 2 * run) {
      const ptrdiff_t middle = start + run < n ? start + run : n,
                      end = start + 2 * run < n ? start + 2 * run : n;
      ptrdiff_t a = start, b = middle;
      for (ptrdiff_t i = start; i < end; ++i) {
        bool second = a == middle;
        if (a < middle && b < end) second = less(first[from[b]], first[from[a]]);
        to[i] = second ? from[b] : from[a];
        if (second)
          ++b;
        else
          ++a;
      }
    }
    for (ptrdiff_t i = 0; i < n; ++i) from[i] = to[i];
  }
  permute(first, from);
}
template <class It>
void stable_sort(It first, It last) {
  library::stable_sort(first, last, [](const element<It>& a, const element<It>& b) { return a < b; });
}
template <class It>
void sort(It first, It last) {
  library::stable_sort(first, last);
}
template <class It, class Less>
void sort(It first, It last, Less less) {
  library::stable_sort(first, last, less);
}
// These may leave unordered elements in any order.
template <class It, class... Less>
void partial_sort(It first, It, It last, Less... less) {
  library::stable_sort(first, last, less...);
}
template <class It, class... Less>
void nth_element(It first, It, It last, Less... less) {
  library::stable_sort(first, last, less...);
}
/// Swaps elements as the library does with bidirectional iterators.
template <class It, class Predicate>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t partition(It first, It last, Predicate wanted) {
  ptrdiff_t low = 0, high = last - first;
  while (low < high) {
    if (wanted(first[low])) {
      ++low;
      continue;
    }
    --high;
    while (low < high && !wanted(first[high])) --high;
    if (low == high) break;
    std::swap(first[low], first[high]);
    ++low;
  }
  return low;
}
template <class It, class Predicate>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t stable_partition(It first, It last, Predicate wanted) {
  const ptrdiff_t n = last - first;
  std::vector<ptrdiff_t> order, others;
  for (ptrdiff_t i = 0; i < n; ++i) {
    if (wanted(first[i]))
      order.push_back(i);
    else
      others.push_back(i);
  }
  const ptrdiff_t kept = static_cast<ptrdiff_t>(order.size());
  for (ptrdiff_t i = kept; i < n; ++i) order.push_back(others[i - kept]);
  permute(first, order);
  return kept;
}
template <class It, class It2, class Out, class Less>
CLAD_FROM_ARGUMENT(4)
ptrdiff_t merge(It first, It last, It2 first2, It2 last2, Out out, Less less) {
  const ptrdiff_t n = last - first, n2 = last2 - first2;
  ptrdiff_t a = 0, b = 0;
  for (ptrdiff_t i = 0; i < n + n2; ++i) {
    bool second = a == n;
    if (a < n && b < n2) second = less(first2[b], first[a]);
    if (second) {
      out[i] = first2[b];
      ++b;
    } else {
      out[i] = first[a];
      ++a;
    }
  }
  return n + n2;
}
template <class It, class It2, class Out>
CLAD_FROM_ARGUMENT(4)
ptrdiff_t merge(It first, It last, It2 first2, It2 last2, Out out) {
  return library::merge(first, last, first2, last2, out, [](const auto& a, const auto& b) { return a < b; });
}
template <class It, class Less>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t max_element(It first, It last, Less less) {
  const ptrdiff_t n = last - first;
  ptrdiff_t best = 0;
  for (ptrdiff_t i = 1; i < n; ++i)
    if (less(first[best], first[i])) best = i;
  return best;
}
template <class It>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t max_element(It first, It last) {
  return library::max_element(first, last, [](const element<It>& a, const element<It>& b) { return a < b; });
}
template <class It, class Less>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t min_element(It first, It last, Less less) {
  return library::max_element(first, last,
                              [&](const element<It>& a, const element<It>& b) { return less(b, a); });
}
template <class It>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t min_element(It first, It last) {
  return library::max_element(first, last, [](const element<It>& a, const element<It>& b) { return b < a; });
}

// Searches.
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

}  // namespace clad::library
