// Algorithms that copy, replace, permute and leave out elements as plain code: more of Library.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "clad/Differentiator/Library.h"
#include "clad/Differentiator/LibraryOrder.h"
#include "clad/Differentiator/LibrarySearch.h"

namespace clad::library {

template <class It, class Predicate>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t remove_if(It first, It last, Predicate unwanted) {
  const ptrdiff_t n = last - first;
  ptrdiff_t kept = 0;
  for (ptrdiff_t i = 0; i < n; ++i) {
    if (unwanted(first[i])) continue;
    if (kept != i) first[kept] = first[i];
    ++kept;
  }
  return kept;
}
template <class It, class T>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t remove(It first, It last, const T& unwanted) {
  const ptrdiff_t n = last - first;
  ptrdiff_t kept = 0;
  for (ptrdiff_t i = 0; i < n; ++i) {
    if (first[i] == unwanted) continue;
    if (kept != i) first[kept] = first[i];
    ++kept;
  }
  return kept;
}
template <class T, class U, class Allocator>
std::size_t erase(std::vector<T, Allocator>& v, const U& unwanted) {
  const ptrdiff_t n = static_cast<ptrdiff_t>(v.size());
  const ptrdiff_t kept = library::remove(v.begin(), v.end(), unwanted);
  for (ptrdiff_t i = kept; i < n; ++i) v.pop_back();
  return static_cast<std::size_t>(n - kept);
}
template <class It, comparison... Same>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t unique(It first, It last, Same... same) {
  const ptrdiff_t n = last - first;
  if (n == 0) return 0;
  ptrdiff_t kept = 1;
  for (ptrdiff_t i = 1; i < n; ++i) {
    if (library::coincides(first[kept - 1], first[i], same...)) continue;
    if (kept != i) first[kept] = first[i];
    ++kept;
  }
  return kept;
}
template <class It, class Out, class Predicate>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t copy_if(It first, It last, Out out, Predicate wanted) {
  ptrdiff_t n = 0;
  for (; first != last; ++first)
    if (wanted(*first)) out[n++] = *first;
  return n;
}
template <class It, class Predicate, class T>
void replace_if(It first, It last, Predicate unwanted, const T& by) {
  const T value = by;
  for (; first != last; ++first)
    if (unwanted(*first)) *first = value;
}
template <class It, class Out, class Predicate, class T>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t replace_copy_if(It first, It last, Out out, Predicate unwanted, const T& by) {
  const ptrdiff_t n = last - first;
  const T value = by;
  for (ptrdiff_t i = 0; i < n; ++i) {
    if (unwanted(first[i]))
      out[i] = value;
    else
      out[i] = first[i];
  }
  return n;
}
template <class It, class T>
void replace(It first, It last, const T& unwanted, const T& by) {  // which may be elements
  for (; first != last; ++first)
    if (*first == unwanted) *first = by;
}
template <class It, class Out, class T>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t replace_copy(It first, It last, Out&& out, const T& unwanted, const T& by) {
  ptrdiff_t n = 0;
  for (; first != last; ++first) library::put(out, n++, *first == unwanted ? by : *first);
  return n;
}
template <class It, class Out, class T>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t remove_copy(It first, It last, Out&& out, const T& unwanted) {
  const T old = unwanted;
  ptrdiff_t n = 0;
  for (; first != last; ++first)
    if (!(*first == old)) library::put(out, n++, *first);
  return n;
}
template <class It, class Out, class Predicate>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t remove_copy_if(It first, It last, Out&& out, Predicate unwanted) {
  ptrdiff_t n = 0;
  for (; first != last; ++first)
    if (!unwanted(*first)) library::put(out, n++, *first);
  return n;
}
template <class It, class Out, comparison... Same>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t unique_copy(It first, It last, Out&& out, Same... same) {
  const ptrdiff_t length = last - first;
  ptrdiff_t n = 0, kept = 0;
  for (ptrdiff_t i = 0; i < length; ++i) {
    if (i > 0 && library::coincides(first[kept], first[i], same...)) continue;
    library::put(out, n++, first[i]);
    kept = i;
  }
  return n;
}
template <class It, class Out, class Out2, class Predicate>
  requires(std::indirectly_writable<Out, element<It>> && std::indirectly_writable<Out2, element<It>>)
std::pair<Out, Out2> partition_copy(It first, It last, Out yes, Out2 no, Predicate wanted) {
  for (; first != last; ++first) {
    if (wanted(*first)) {
      *yes = *first;
      ++yes;
    } else {
      *no = *first;
      ++no;
    }
  }
  return {yes, no};
}
template <class It, class Out, class... Less>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t partial_sort_copy(It first, It last, Out out, Out out_last, Less... less) {
  std::vector<element<It>> sorted(first, last);
  library::stable_sort(sorted.begin(), sorted.end(), less...);
  const ptrdiff_t n = last - first, room = out_last - out, kept = n < room ? n : room;
  for (ptrdiff_t i = 0; i < kept; ++i) out[i] = sorted[i];
  return kept;
}
template <class It, class Out>
  requires std::is_trivially_copyable_v<element<It>>  // of others something is left behind
CLAD_FROM_ARGUMENT(2) ptrdiff_t move(It first, It last, Out&& out) {
  ptrdiff_t n = 0;
  for (; first != last; ++first) library::put(out, n++, *first);
  return n;
}
template <class It, class Out>
  requires std::is_trivially_copyable_v<element<It>>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t move_backward(It first, It last, Out out) {
  return library::copy_backward(first, last, out);
}
template <class It>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t shift_left(It first, It last, ptrdiff_t by) {
  const ptrdiff_t n = last - first;
  if (by <= 0) return n;
  for (ptrdiff_t i = 0; i + by < n; ++i) first[i] = first[i + by];
  return by < n ? n - by : 0;
}
template <class It>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t shift_right(It first, It last, ptrdiff_t by) {
  const ptrdiff_t n = last - first;
  if (by <= 0) return 0;
  for (ptrdiff_t i = n - 1; i >= by; --i) first[i] = first[i - by];
  return by < n ? by : n;
}
template <class It, class Out, class Op, class F>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t transform_inclusive_scan(It first, It last, Out&& out, Op op, F f) {
  using T = std::remove_cvref_t<decltype(f(*first))>;
  T sum{};
  ptrdiff_t n = 0;
  for (; first != last; ++first) {
    const T value = f(*first);
    sum = n == 0 ? value : op(sum, value);
    library::put(out, n++, sum);
  }
  return n;
}
template <class It, class Out, class Op, class F, class T>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t transform_inclusive_scan(It first, It last, Out&& out, Op op, F f, T sum) {
  ptrdiff_t n = 0;
  for (; first != last; ++first) {
    sum = op(sum, f(*first));
    library::put(out, n++, sum);
  }
  return n;
}
template <class It, class Out, class T, class Op, class F>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t transform_exclusive_scan(It first, It last, Out&& out, T sum, Op op, F f) {
  ptrdiff_t n = 0;
  for (; first != last; ++first) {
    const T value = f(*first);
    library::put(out, n++, sum);
    sum = op(sum, value);
  }
  return n;
}

/// What is exchanged, or taken, does not depend on the elements.
template <class It, class Generator>
void shuffle(It first, It last, Generator&& generator) {
  std::vector<ptrdiff_t> order(last - first);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<ptrdiff_t>(i);
  std::shuffle(order.begin(), order.end(), generator);
  permute(first, order);
}
/// Which of `all` numbers are taken.
template <class Generator>
std::vector<ptrdiff_t> sampled(ptrdiff_t all, ptrdiff_t n, Generator& generator) {
  std::vector<ptrdiff_t> numbers(all), taken(all);
  for (ptrdiff_t i = 0; i < all; ++i) numbers[i] = i;
  taken.erase(std::sample(numbers.begin(), numbers.end(), taken.begin(), n, generator), taken.end());
  return taken;
}
template <class It, class Out, class Count, class Generator>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t sample(It first, It last, Out&& out, Count n, Generator&& generator) {
  const std::vector<ptrdiff_t> taken = library::sampled(last - first, n, generator);
  ptrdiff_t count = 0;
  for (const ptrdiff_t i : taken) library::put(out, count++, first[i]);
  return count;
}

}  // namespace clad::library
