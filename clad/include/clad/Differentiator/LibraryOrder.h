// Sorting, sorted ranges and heaps as plain code: more of Library.h. Except on a null set, the order of the
// elements does not depend on small changes of the numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "clad/Differentiator/Library.h"

namespace clad::library {

/// Whether the first of two numbers comes first in a sorted range.
template <class A, class B>
bool precedes(const A& a, const B& b) {
  return a < b;
}
template <class A, class B, class Less>
bool precedes(const A& a, const B& b, Less less) {
  return less(a, b);
}

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

template <class It, class... Less>
void inplace_merge(It first, It, It last, Less... less) {
  library::stable_sort(first, last, less...);
}
template <class It, class... Less>
bool next_permutation(It first, It last, Less... less) {
  ptrdiff_t i = last - first - 1;
  while (i > 0 && !library::precedes(first[i - 1], first[i], less...)) --i;
  if (i > 0) {
    ptrdiff_t k = last - first - 1;
    while (!library::precedes(first[i - 1], first[k], less...)) --k;
    std::swap(first[i - 1], first[k]);
  }
  std::reverse(first + (i > 0 ? i : 0), last);
  return i > 0;
}
template <class It, class Less>
bool prev_permutation(It first, It last, Less less) {
  return library::next_permutation(first, last,
                                   [&](const element<It>& a, const element<It>& b) { return less(b, a); });
}
template <class It>
bool prev_permutation(It first, It last) {
  return library::next_permutation(first, last,
                                   [](const element<It>& a, const element<It>& b) { return b < a; });
}

// Operations on sorted ranges.
template <class It, class It2, class Out, class... Less>
CLAD_FROM_ARGUMENT(4)
ptrdiff_t set_union(It first, It last, It2 first2, It2 last2, Out&& out, Less... less) {
  ptrdiff_t n = 0;
  while (first != last || first2 != last2) {
    if (first2 == last2 || (first != last && library::precedes(*first, *first2, less...))) {
      library::put(out, n++, *first);
      ++first;
      continue;
    }
    if (first == last || library::precedes(*first2, *first, less...)) {
      library::put(out, n++, *first2);
    } else {
      library::put(out, n++, *first);
      ++first;
    }
    ++first2;
  }
  return n;
}
template <class It, class It2, class Out, class... Less>
CLAD_FROM_ARGUMENT(4)
ptrdiff_t set_intersection(It first, It last, It2 first2, It2 last2, Out&& out, Less... less) {
  ptrdiff_t n = 0;
  while (first != last && first2 != last2) {
    if (library::precedes(*first, *first2, less...)) {
      ++first;
      continue;
    }
    if (!library::precedes(*first2, *first, less...)) {
      library::put(out, n++, *first);
      ++first;
    }
    ++first2;
  }
  return n;
}
template <class It, class It2, class Out, class... Less>
CLAD_FROM_ARGUMENT(4)
ptrdiff_t set_difference(It first, It last, It2 first2, It2 last2, Out&& out, Less... less) {
  ptrdiff_t n = 0;
  while (first != last) {
    if (first2 == last2 || library::precedes(*first, *first2, less...)) {
      library::put(out, n++, *first);
      ++first;
      continue;
    }
    if (!library::precedes(*first2, *first, less...)) ++first;
    ++first2;
  }
  return n;
}
template <class It, class It2, class Out, class... Less>
CLAD_FROM_ARGUMENT(4)
ptrdiff_t set_symmetric_difference(It first, It last, It2 first2, It2 last2, Out&& out, Less... less) {
  ptrdiff_t n = 0;
  while (first != last || first2 != last2) {
    if (first2 == last2 || (first != last && library::precedes(*first, *first2, less...))) {
      library::put(out, n++, *first);
      ++first;
      continue;
    }
    if (first == last || library::precedes(*first2, *first, less...))
      library::put(out, n++, *first2);
    else
      ++first;
    ++first2;
  }
  return n;
}
template <class It, class It2, class... Less>
bool includes(It first, It last, It2 first2, It2 last2, Less... less) {
  while (first2 != last2) {
    if (first == last || library::precedes(*first2, *first, less...)) return false;
    if (!library::precedes(*first, *first2, less...)) ++first2;
    ++first;
  }
  return true;
}

// Heaps, whose elements are in the order in which libstdc++ leaves them.
template <class It, class T, class... Less>
void rise(It first, ptrdiff_t at, ptrdiff_t top, const T& value, Less... less) {
  while (at > top && library::precedes(first[(at - 1) / 2], value, less...)) {
    first[at] = first[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  first[at] = value;
}
template <class It, class T, class... Less>
void sink(It first, ptrdiff_t at, ptrdiff_t n, const T& value, Less... less) {
  const ptrdiff_t top = at;
  while (2 * at + 2 < n) {
    ptrdiff_t child = 2 * at + 2;
    if (library::precedes(first[child], first[child - 1], less...)) --child;
    first[at] = first[child];
    at = child;
  }
  if (2 * at + 2 == n) {
    first[at] = first[n - 1];
    at = n - 1;
  }
  library::rise(first, at, top, value, less...);
}
template <class It, class... Less>
void push_heap(It first, It last, Less... less) {
  const ptrdiff_t n = last - first;
  const element<It> value = first[n - 1];
  library::rise(first, n - 1, 0, value, less...);
}
template <class It, class... Less>
void pop_heap(It first, It last, Less... less) {
  const ptrdiff_t n = last - first - 1;
  if (n < 1) return;
  const element<It> value = first[n];
  first[n] = first[0];
  library::sink(first, 0, n, value, less...);
}
template <class It, class... Less>
void make_heap(It first, It last, Less... less) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = n / 2 - 1; i >= 0; --i) {
    const element<It> value = first[i];
    library::sink(first, i, n, value, less...);
  }
}
template <class It, class... Less>
void sort_heap(It first, It last, Less... less) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = n; i > 1; --i) library::pop_heap(first, first + i, less...);
}
template <class It, class... Less>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t is_sorted_until(It first, It last, Less... less) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 1; i < n; ++i)
    if (library::precedes(first[i], first[i - 1], less...)) return i;
  return n;
}
template <class It, class... Less>
bool is_sorted(It first, It last, Less... less) {
  return library::is_sorted_until(first, last, less...) == last - first;
}
template <class It, class... Less>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t is_heap_until(It first, It last, Less... less) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 1; i < n; ++i)
    if (library::precedes(first[(i - 1) / 2], first[i], less...)) return i;
  return n;
}
template <class It, class... Less>
bool is_heap(It first, It last, Less... less) {
  return library::is_heap_until(first, last, less...) == last - first;
}

// Sorting that is not stable. Where elements are equivalent, or may come in any order, these give that of
// libstdc++, since a program that looks at them gets no other: they take the decisions of its introsort
// (Musser, "Introspective sorting and selection algorithms", 1997), on the numbers of the elements.
/// Moves an element to its place among those before it, of which the first comes before it or is equivalent.
template <class Before>
void insert_below(std::vector<ptrdiff_t>& order, ptrdiff_t at, Before before) {
  const ptrdiff_t moved = order[at];
  while (before(moved, order[at - 1])) {
    order[at] = order[at - 1];
    --at;
  }
  order[at] = moved;
}
template <class Before>
void insertion_sort(std::vector<ptrdiff_t>& order, ptrdiff_t first, ptrdiff_t last, Before before) {
  for (ptrdiff_t i = first + 1; i < last; ++i) {
    const ptrdiff_t moved = order[i];
    if (!before(moved, order[first])) {
      library::insert_below(order, i, before);
      continue;
    }
    for (ptrdiff_t k = i; k > first; --k) order[k] = order[k - 1];
    order[first] = moved;
  }
}
/// Parts a range of more than three by the median of its second, middle and last, which becomes the first.
template <class Before>
ptrdiff_t part(std::vector<ptrdiff_t>& order, ptrdiff_t first, ptrdiff_t last, Before before) {
  const ptrdiff_t a = first + 1, b = first + (last - first) / 2, c = last - 1;
  ptrdiff_t median = 0;
  if (before(order[a], order[b]))
    median = before(order[b], order[c]) ? b : before(order[a], order[c]) ? c : a;
  else
    median = before(order[a], order[c]) ? a : before(order[b], order[c]) ? c : b;
  const ptrdiff_t pivot = order[median];
  order[median] = order[first];
  order[first] = pivot;
  ptrdiff_t low = first + 1, high = last;
  while (true) {
    while (before(order[low], pivot)) ++low;
    --high;
    while (before(pivot, order[high])) --high;
    if (low >= high) return low;
    const ptrdiff_t swapped = order[low];
    order[low] = order[high];
    order[high] = swapped;
    ++low;
  }
}
/// Twice the logarithm: how often a range may be parted before a heap sorts it.
inline ptrdiff_t most_parts(ptrdiff_t n) {
  ptrdiff_t depth = 0;
  for (; n > 1; n /= 2) depth += 2;
  return depth;
}
/// The first `middle - first` in the order, with a heap.
template <class Before>
void select_by_heap(std::vector<ptrdiff_t>& order, ptrdiff_t first, ptrdiff_t middle, ptrdiff_t last,
                    Before before) {
  library::make_heap(order.begin() + first, order.begin() + middle, before);
  for (ptrdiff_t i = middle; i < last; ++i) {
    if (!before(order[i], order[first])) continue;
    const ptrdiff_t value = order[i];
    order[i] = order[first];
    library::sink(order.begin() + first, 0, middle - first, value, before);
  }
}
template <class Before>
void sort_numbers(std::vector<ptrdiff_t>& order, Before before) {
  const ptrdiff_t n = static_cast<ptrdiff_t>(order.size());
  std::vector<ptrdiff_t> starts{0}, ends{n}, depths{library::most_parts(n)};
  while (!starts.empty()) {
    const ptrdiff_t first = starts.back();
    ptrdiff_t last = ends.back(), depth = depths.back();
    starts.pop_back();
    ends.pop_back();
    depths.pop_back();
    while (last - first > 16 && depth > 0) {
      --depth;
      const ptrdiff_t cut = library::part(order, first, last, before);
      starts.push_back(cut);
      ends.push_back(last);
      depths.push_back(depth);
      last = cut;
    }
    if (last - first > 16) {
      library::select_by_heap(order, first, last, last, before);
      library::sort_heap(order.begin() + first, order.begin() + last, before);
    }
  }
  library::insertion_sort(order, 0, n < 16 ? n : 16, before);
  for (ptrdiff_t i = 16; i < n; ++i) library::insert_below(order, i, before);
}
template <class Before>
void select_number(std::vector<ptrdiff_t>& order, ptrdiff_t nth, Before before) {
  ptrdiff_t first = 0, last = static_cast<ptrdiff_t>(order.size()), depth = library::most_parts(last);
  if (nth >= last) return;
  while (last - first > 3) {
    if (depth == 0) {
      library::select_by_heap(order, first, nth + 1, last, before);
      const ptrdiff_t swapped = order[first];
      order[first] = order[nth];
      order[nth] = swapped;
      return;
    }
    --depth;
    const ptrdiff_t cut = library::part(order, first, last, before);
    if (cut <= nth)
      first = cut;
    else
      last = cut;
  }
  library::insertion_sort(order, first, last, before);
}
template <class It>
std::vector<ptrdiff_t> numbers_of(It first, It last) {
  std::vector<ptrdiff_t> order(last - first);
  for (ptrdiff_t i = 0; i < last - first; ++i) order[i] = i;
  return order;
}
template <class It, class... Less>
void sort(It first, It last, Less... less) {
  std::vector<ptrdiff_t> order = library::numbers_of(first, last);
  library::sort_numbers(
      order, [=](ptrdiff_t a, ptrdiff_t b) { return library::precedes(first[a], first[b], less...); });
  library::permute(first, order);
}
template <class It, class... Less>
void partial_sort(It first, It middle, It last, Less... less) {
  std::vector<ptrdiff_t> order = library::numbers_of(first, last);
  const auto before = [=](ptrdiff_t a, ptrdiff_t b) {
    return library::precedes(first[a], first[b], less...);
  };
  library::select_by_heap(order, 0, middle - first, last - first, before);
  library::sort_heap(order.begin(), order.begin() + (middle - first), before);
  library::permute(first, order);
}
template <class It, class... Less>
void nth_element(It first, It nth, It last, Less... less) {
  std::vector<ptrdiff_t> order = library::numbers_of(first, last);
  library::select_number(order, nth - first, [=](ptrdiff_t a, ptrdiff_t b) {
    return library::precedes(first[a], first[b], less...);
  });
  library::permute(first, order);
}

}  // namespace clad::library
