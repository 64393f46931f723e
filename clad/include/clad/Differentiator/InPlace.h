// Lets the reverse sweep restore values that a call has changed in place and that copies share: opaque values
// with `T snapshot() const` and `void restore(const T& snapshot)`.
#pragma once

#include <concepts>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "clad/Differentiator/Adjoint.h"

namespace clad {
namespace detail {

template <class T>
concept shared_contents = opaque<T> && requires(T t, const T& c) {
  { c.snapshot() } -> std::same_as<T>;
  t.restore(c);
};
template <class T>
concept tuple_like = std::is_class_v<T> && requires { std::tuple_size<T>::value; };

/// Calls `visit` with the values in two objects of one structure that share contents with their copies.
template <class T, class Visit>
void with_contents(T& a, T& b, Visit&& visit) {
  if constexpr (shared_contents<T>) {
    visit(a, b);
  } else if constexpr (opaque<T>) {
    // the copy holds everything
  } else if constexpr (optional<T>) {
    if (a.has_value() && b.has_value()) detail::with_contents(*a, *b, visit);
  } else if constexpr (std::is_array_v<T> || requires { a.resize(0), std::begin(a); }) {
    auto at = std::begin(b);
    for (auto& element : a) {
      if constexpr (std::is_lvalue_reference_v<decltype(*at)>) detail::with_contents(element, *at, visit);
      if (++at == std::end(b)) return;
    }
  } else if constexpr (tuple_like<T>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (detail::with_contents(std::get<I>(a), std::get<I>(b), visit), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (enumerated<T>) {
    clad_fields(a, b, [&](auto& field, auto& other) {
      if constexpr (std::is_class_v<std::remove_cvref_t<decltype(field)>>)
        detail::with_contents(field, clad::as_mutable(other), visit);
    });
  }
}

}  // namespace detail

/// Gives a copy its own contents.
template <class T>
void unshare(T& copy) {
  detail::with_contents(copy, copy, [](auto& value, auto&) { value = value.snapshot(); });
}

/// Restores the contents that `object` shares with its copies to those of `kept`.
template <class T>
void restore(T& object, T& kept) {
  detail::with_contents(object, kept, [](auto& value, auto& before) { value.restore(before); });
}

}  // namespace clad
