// Functions of the standard library as plain code. If a differentiated function calls std::accumulate on
// numbers that carry derivatives, the plugin differentiates the function of the same name in clad::library.
//
// An algorithm that returns an iterator returns here its distance from the argument that the annotation
// names.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__clang__)
#define CLAD_FROM_ARGUMENT(k) [[clang::annotate("clad::from " #k)]]
#else
#define CLAD_FROM_ARGUMENT(k)
#endif

namespace clad::library {

using std::ptrdiff_t;
template <class It>
using element = std::iter_value_t<It>;

// std::min, std::max and std::clamp, for uses that refer to one of their arguments.
template <class T>
const T& min_object(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T, class Less>
const T& min_object(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <class T>
const T& max_object(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T, class Less>
const T& max_object(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}
template <class T>
const T& clamp_object(const T& a, const T& low, const T& high) {
  const T& top = high < a ? high : a;
  return a < low ? low : top;
}
template <class T, class Less>
const T& clamp_object(const T& a, const T& low, const T& high, Less less) {
  const T& top = less(high, a) ? high : a;
  return less(a, low) ? low : top;
}
// The same, for numbers that are read and functions that compare them.
template <class T, class Less>
T min_value(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <class T, class Less>
T max_value(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}
template <class T, class Less>
T clamp_value(const T& a, const T& low, const T& high, Less less) {
  return less(a, low) ? low : less(high, a) ? high : a;
}

// Sums.
template <class It, class T>
T accumulate(It first, It last, T init) {
  for (; first != last; ++first) init = init + *first;
  return init;
}
template <class It, class T, class Op>
T accumulate(It first, It last, T init, Op op) {
  for (; first != last; ++first) init = op(init, *first);
  return init;
}
template <class It>
element<It> reduce(It first, It last) {
  element<It> sum{};
  for (; first != last; ++first) sum = sum + *first;
  return sum;
}
template <class It, class T>
T reduce(It first, It last, T init) {
  for (; first != last; ++first) init = init + *first;
  return init;
}
template <class It, class T, class Op>
T reduce(It first, It last, T init, Op op) {
  for (; first != last; ++first) init = op(init, *first);
  return init;
}
template <class It, class It2, class T>
T inner_product(It first, It last, It2 second, T init) {
  for (; first != last; ++first, ++second) init = init + *first * *second;
  return init;
}
template <class It, class It2, class T, class Op, class Op2>
T inner_product(It first, It last, It2 second, T init, Op op, Op2 op2) {
  for (; first != last; ++first, ++second) init = op(init, op2(*first, *second));
  return init;
}
template <class It, class It2, class T>
T transform_reduce(It first, It last, It2 second, T init) {
  for (; first != last; ++first, ++second) init = init + *first * *second;
  return init;
}
template <class It, class It2, class T, class Op, class Op2>
T transform_reduce(It first, It last, It2 second, T init, Op op, Op2 op2) {
  for (; first != last; ++first, ++second) init = op(init, op2(*first, *second));
  return init;
}
template <class It, class T, class Op, class F>
T transform_reduce(It first, It last, T init, Op op, F f) {
  for (; first != last; ++first) init = op(init, f(*first));
  return init;
}

/// Of each number in a vector.
template <class T>
T lane_sqrt(T x) {
  return std::sqrt(x);
}

// Calls of functions that are passed as arguments.
/// The result of a call, which is a reference only if its object may be changed.
template <class T>
using given =
    std::conditional_t<std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>, T,
                       std::remove_cvref_t<T>>;
template <class F, class... Args>
  requires std::is_pointer_v<F>
auto invoke(F f, Args&&... args) -> given<decltype(f(std::forward<Args>(args)...))> {
  return f(std::forward<Args>(args)...);
}
template <class F, class... Args>
  requires std::is_class_v<std::remove_cvref_t<F>>
auto invoke(F&& f, Args&&... args) -> given<decltype(f(std::forward<Args>(args)...))> {
  return f(std::forward<Args>(args)...);
}
/// Of a member by way of a smart pointer.
template <class M, class P, class... Args>
  requires(std::is_member_pointer_v<M> &&
           requires(std::remove_const_t<P>& p) {
             *p;
             p.get();
             p.reset();
           })
decltype(auto) invoke(M member, P& pointer, Args&&... args) {
  return std::invoke(member, *pointer, std::forward<Args>(args)...);
}
/// The argument of a call with this number, from 1.
template <int Number, class First, class... Rest>
  requires(Number == 1)
First& argument(First& first, Rest&...) {
  return first;
}
template <int Number, class First, class... Rest>
  requires(Number > 1)
decltype(auto) argument(First&, Rest&... rest) {
  return argument<Number - 1>(rest...);
}
/// What a function gets for a value that std::bind was given, where the result is called with `given`.
template <class T, class... Given>
T& bound(T& value, Given&...) {
  return value;
}
template <class T, class... Given>
  requires std::is_pointer_v<std::remove_const_t<T>>
std::remove_const_t<T> bound(T& value, Given&...) {
  return value;
}
template <class T, class... Given>
  requires std::is_same_v<std::unwrap_reference_t<std::remove_const_t<T>>&,
                          decltype(std::declval<T&>().get())>
decltype(auto) bound(T& value, Given&...) {
  return value.get();
}
template <class T, class... Given>
  requires(std::is_placeholder_v<std::remove_const_t<T>> > 0)
decltype(auto) bound(T&, Given&... given) {
  return argument<std::is_placeholder_v<std::remove_const_t<T>>>(given...);
}
template <class T, class... Given>
  requires std::is_bind_expression_v<std::remove_const_t<T>>
decltype(auto) bound(T& value, Given&... given) {
  return value(given...);
}
/// An argument as the functions below hand it on: what is not the caller's object cannot be changed.
template <class T>
using handed = std::conditional_t<std::is_lvalue_reference_v<T>, T, const std::remove_reference_t<T>&>;
template <class Bound, class... Given>
using bound_result = decltype(library::bound(std::declval<const Bound&>(), std::declval<handed<Given>>()...));
template <class F, class... Bound>
auto bind(F f, Bound... values) {
  return [f, values...]<class... Given>(Given&&... given) -> decltype(auto)
           requires std::is_invocable_v<const F&, bound_result<Bound, Given&&...>...>
  { return std::invoke(f, library::bound(values, static_cast<handed<Given&&>>(given)...)...); };
}
template <class F, class... Bound>
auto bind_front(F f, Bound... values) {
  return [f, values...]<class... Given>(Given&&... given) -> decltype(auto)
           requires std::is_invocable_v<const F&, const Bound&..., handed<Given&&>...>
  { return std::invoke(f, values..., static_cast<handed<Given&&>>(given)...); };
}
template <class F>
auto mem_fn(F member) {
  return [member]<class... Given>(Given&&... given) -> decltype(auto)
           requires std::is_invocable_v<const F&, handed<Given&&>...>
  { return std::invoke(member, static_cast<handed<Given&&>>(given)...); };
}
/// What a std::function stands for that is given an object of a class, whose calls change it or not.
template <class F>
auto function(F f) {
  return [f]<class... Given>(Given&&... given) -> decltype(auto)
           requires std::is_invocable_v<const F&, handed<Given&&>...>
  { return f(static_cast<handed<Given&&>>(given)...); };
}
template <class F>
auto function_with_state(F f) {
  return [f]<class... Given>(Given&&... given) mutable -> decltype(auto)
           requires std::is_invocable_v<F&, handed<Given&&>...>
  { return f(static_cast<handed<Given&&>>(given)...); };
}
template <class F>
auto not_fn(F f) {
  return [f]<class... Given>(Given&&... given) -> bool
           requires std::is_invocable_v<const F&, handed<Given&&>...>
  { return !std::invoke(f, static_cast<handed<Given&&>>(given)...); };
}
template <class F, class Tuple, std::size_t... I>
  requires std::is_pointer_v<F>
auto apply_at(F f, Tuple&& t, std::index_sequence<I...>)
    -> given<decltype(f(std::get<I>(std::forward<Tuple>(t))...))> {
  return f(std::get<I>(std::forward<Tuple>(t))...);
}
template <class F, class Tuple, std::size_t... I>
  requires std::is_class_v<std::remove_cvref_t<F>>
auto apply_at(F&& f, Tuple&& t, std::index_sequence<I...>)
    -> given<decltype(f(std::get<I>(std::forward<Tuple>(t))...))> {
  return f(std::get<I>(std::forward<Tuple>(t))...);
}
template <class Tuple>
using parts = std::make_index_sequence<std::tuple_size_v<std::remove_reference_t<Tuple>>>;
template <class F, class Tuple>
  requires std::is_pointer_v<F>
decltype(auto) apply(F f, Tuple&& t) {
  return library::apply_at(f, std::forward<Tuple>(t), parts<Tuple>());
}
template <class F, class Tuple>
  requires std::is_class_v<std::remove_cvref_t<F>>
decltype(auto) apply(F&& f, Tuple&& t) {
  return library::apply_at(std::forward<F>(f), std::forward<Tuple>(t), parts<Tuple>());
}

// Tuples, pairs and arrays one after the other.
template <class A>
A tuple_cat(const A& a) {
  return a;
}
template <class A, class B>
auto tuple_cat(const A& a, const B& b) {
  return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
    return std::tuple<std::tuple_element_t<I, A>..., std::tuple_element_t<J, B>...>(std::get<I>(a)...,
                                                                                    std::get<J>(b)...);
  }(std::make_index_sequence<std::tuple_size_v<A>>{}, std::make_index_sequence<std::tuple_size_v<B>>{});
}
template <class A, class B, class... More>
  requires(sizeof...(More) > 0)
auto tuple_cat(const A& a, const B& b, const More&... more) {
  return library::tuple_cat(library::tuple_cat(a, b), more...);
}

// Functions of the C library with two results.
template <class T>
void sincos(T x, T* sine, T* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
template <class T>
T modf(T x, T* whole) {
  *whole = std::trunc(x);
  return x - *whole;
}
template <class T>
T frexp(T x, int* exponent) {
  *exponent = x == 0 ? 0 : std::ilogb(x) + 1;
  return std::ldexp(x, -*exponent);
}

CLAD_NONDIFFERENTIABLE int quotient_of(auto x, auto y) {
  int quotient = 0;
  std::remquo(x, y, &quotient);
  return quotient;
}
template <class A, class B>
auto remquo(A x, B y, int* quotient) {
  *quotient = library::quotient_of(x, y);
  return std::remainder(x, y);
}

/// What a projection makes of an element: a member, or what a function returns.
template <class Projection, class T>
  requires std::is_member_object_pointer_v<Projection>
auto&& projection_of(const Projection& member, T& element) {
  return element.*member;
}
template <class Projection, class T>
  requires(!std::is_member_object_pointer_v<Projection>)
decltype(auto) projection_of(Projection& projection, T& element) {
  return std::invoke(projection, element);
}
/// A function of what a projection makes of its arguments, as the algorithms of std::ranges take it.
template <class F, class Projection>
auto projected(F f, Projection projection) {
  return [f, projection]<class... Given>(Given&... given) mutable -> decltype(auto) {
    return f(library::projection_of(projection, given)...);
  };
}

// Algorithms that write ranges.
/// The next element of what is written: one of a range, or a new one of a vector that std::back_inserter was
/// given.
template <class Out, class T>
void put(Out out, ptrdiff_t n, const T& value) {
  out[n] = value;
}
template <class T, class Allocator>
void put(std::vector<T, Allocator>& out, ptrdiff_t, const std::type_identity_t<T>& value) {
  out.push_back(value);
}
template <class It, class F>
void for_each(It first, It last, F f) {
  for (; first != last; ++first) f(*first);
}
template <class It, class F>
F for_each_object(It first, It last, F f) {  // f may have changed
  for (; first != last; ++first) f(*first);
  return f;
}
template <class It, class N, class F>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t for_each_n(It first, N n, F f) {
  for (N i = 0; i < n; ++i) f(first[i]);
  return n;
}
template <class It, class Out, class F>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t transform(It first, It last, Out out, F f) {
  const ptrdiff_t n = last - first;
  for (; first != last; ++first, ++out) *out = f(*first);
  return n;
}
template <class It, class It2, class Out, class F>
CLAD_FROM_ARGUMENT(3)
ptrdiff_t transform(It first, It last, It2 second, Out out, F f) {
  const ptrdiff_t n = last - first;
  for (; first != last; ++first, ++second, ++out) *out = f(*first, *second);
  return n;
}
template <class It, class It2, class Out, class F>
void transform(It first, It last, It2 first2, It2 last2, Out out, F f) {
  for (; first != last && first2 != last2; ++first, ++first2, ++out) *out = f(*first, *first2);
}
template <class It, class T>
void fill(It first, It last, const T& value) {
  const T kept = value;
  for (; first != last; ++first) *first = kept;
}
template <class It, class N, class T>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t fill_n(It first, N n, const T& value) {
  const T kept = value;
  for (N i = 0; i < n; ++i) first[i] = kept;
  return n;
}
template <class It, class F>
void generate(It first, It last, F f) {
  for (; first != last; ++first) *first = f();
}
template <class It, class N, class F>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t generate_n(It first, N n, F f) {
  for (N i = 0; i < n; ++i) first[i] = f();
  return n;
}
template <class It, class Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t copy(It first, It last, Out out) {
  const ptrdiff_t n = last - first;
  for (; first != last; ++first, ++out) *out = *first;
  return n;
}
template <class It, class N, class Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t copy_n(It first, N n, Out out) {
  for (N i = 0; i < n; ++i) out[i] = first[i];
  return n;
}
template <class It, class Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t copy_backward(It first, It last, Out out) {
  const ptrdiff_t n = last - first;
  while (first != last) *--out = *--last;
  return -n;
}
template <class It, class T>
void iota(It first, It last, T value) {
  for (; first != last; ++first) {
    *first = value;
    value = value + 1;
  }
}
template <class It, class Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t partial_sum(It first, It last, Out out) {
  const ptrdiff_t n = last - first;
  element<It> sum{};
  for (ptrdiff_t i = 0; i < n; ++i) {
    sum = i == 0 ? first[0] : sum + first[i];
    out[i] = sum;
  }
  return n;
}
template <class It, class Out, class Op>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t partial_sum(It first, It last, Out out, Op op) {
  const ptrdiff_t n = last - first;
  element<It> sum{};
  for (ptrdiff_t i = 0; i < n; ++i) {
    if (i == 0)
      sum = first[0];
    else
      sum = op(sum, first[i]);
    out[i] = sum;
  }
  return n;
}
template <class It, class Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t adjacent_difference(It first, It last, Out out) {
  const ptrdiff_t n = last - first;
  element<It> before{};
  for (ptrdiff_t i = 0; i < n; ++i) {
    const element<It> now = first[i];
    out[i] = i == 0 ? now : now - before;
    before = now;
  }
  return n;
}
template <class It, class Out, class Op>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t adjacent_difference(It first, It last, Out out, Op op) {
  const ptrdiff_t n = last - first;
  element<It> before{};
  for (ptrdiff_t i = 0; i < n; ++i) {
    const element<It> now = first[i];
    if (i == 0)
      out[i] = now;
    else
      out[i] = op(now, before);
    before = now;
  }
  return n;
}
template <class It, class Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t inclusive_scan(It first, It last, Out out) {
  return library::partial_sum(first, last, out);
}
template <class It, class Out, class Op>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t inclusive_scan(It first, It last, Out out, Op op) {
  return library::partial_sum(first, last, out, op);
}
template <class It, class Out, class Op, class T>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t inclusive_scan(It first, It last, Out out, Op op, T sum) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i < n; ++i) {
    sum = op(sum, first[i]);
    out[i] = sum;
  }
  return n;
}
template <class It, class Out, class T>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t exclusive_scan(It first, It last, Out out, T sum) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i < n; ++i) {
    const element<It> now = first[i];
    out[i] = sum;
    sum = sum + now;
  }
  return n;
}
template <class It, class Out, class T, class Op>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t exclusive_scan(It first, It last, Out out, T sum, Op op) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i < n; ++i) {
    const element<It> now = first[i];
    out[i] = sum;
    sum = op(sum, now);
  }
  return n;
}
template <class It, class It2>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t swap_ranges(It first, It last, It2 second) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i < n; ++i) std::swap(first[i], second[i]);
  return n;
}
template <class It, class It2>
void swap_ranges(It first, It last, It2 first2, It2 last2) {
  for (; first != last && first2 != last2; ++first, ++first2) std::swap(*first, *first2);
}
template <class It, class It2>
void iter_swap(It a, It2 b) {
  std::swap(*a, *b);
}
template <class It>
void reverse(It first, It last) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i < n / 2; ++i) std::swap(first[i], first[n - 1 - i]);
}
template <class It, class Out>
CLAD_FROM_ARGUMENT(2)
ptrdiff_t reverse_copy(It first, It last, Out out) {
  const ptrdiff_t n = last - first;
  for (ptrdiff_t i = 0; i < n; ++i) out[i] = first[n - 1 - i];
  return n;
}
template <class It, class Out>
CLAD_FROM_ARGUMENT(3)
ptrdiff_t rotate_copy(It first, It middle, It last, Out out) {
  const ptrdiff_t n = last - first, by = middle - first;
  for (ptrdiff_t i = 0; i < n; ++i) out[i] = first[(i + by) % n];
  return n;
}
template <class It>
CLAD_FROM_ARGUMENT(0)
ptrdiff_t rotate(It first, It middle, It last) {
  const ptrdiff_t n = last - first, by = middle - first;
  std::vector<element<It>> before(first, last);
  for (ptrdiff_t i = 0; i < n; ++i) first[i] = before[(i + by) % n];
  return n - by;
}
template <class T, class U>
T exchange(T& object, U&& value) {
  T old = object;
  object = value;
  return old;
}

// Numbers.
template <class T>
T lerp(T a, T b, T t) {
  return a + t * (b - a);
}
template <class T>
T midpoint(T a, T b) {
  return (a + b) / 2;
}

}  // namespace clad::library
