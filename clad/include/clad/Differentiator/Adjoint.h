// Operations on adjoints of any supported type: make a zero, accumulate, take the shape of a primal.
//
// They work on floating-point numbers, opaque values (CLAD_OPAQUE: `accumulate`, default-constructed is
// zero), arrays, std::array, std::vector, std::pair, std::tuple, std::complex, std::optional, and on classes,
// whose fields the plugin enumerates in `clad_fields`.
#pragma once

#include "clad/Differentiator/Standard.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace clad {

/// The user's overloads of zero_like and zero_init for a class: generated code specializes it with members
/// `like` and `init`.
template <class T>
struct own_zero {};

namespace detail {

template <class T>
concept opaque = std::is_class_v<T> && requires(T d, T v) { d.accumulate(std::move(v)); };
template <class T>
struct is_real : std::bool_constant<std::is_floating_point_v<T>> {};
// Of those the standard's trait may not know.
#ifdef __FLT16_MANT_DIG__
template <>
struct is_real<_Float16> : std::true_type {};
#endif
#ifdef __clang__
#ifdef __SIZEOF_FLOAT128__
template <>
struct is_real<__float128> : std::true_type {};
#endif
#ifdef __SSE2__
template <>
struct is_real<__bf16> : std::true_type {};
#endif
#endif
template <class T>
concept real_number = is_real<std::remove_cv_t<T>>::value;
// Recognized by their members, so that not every program includes <complex> and <optional>.
template <class T>
concept complex = std::is_class_v<T> && requires(T z, const T& c) {
  { c.real() } -> std::same_as<typename T::value_type>;
  { c.imag() } -> std::same_as<typename T::value_type>;
  z += c;
};
template <class T>
concept makes_zero = requires(const T& primal) { own_zero<T>::like(primal); };
template <class T>
concept becomes_zero = requires(T& d) { own_zero<T>::init(d); };
template <class T>
concept optional = std::is_class_v<T> && requires(T o, const T& c) {
  { c.has_value() } -> std::same_as<bool>;
  { *o } -> std::same_as<typename T::value_type&>;
  o.reset();
};
template <class T>
concept map =
    requires(T m, const typename T::key_type& k, typename T::mapped_type& v) { m.try_emplace(k, v); };
// Smart pointers to one object.
template <class T>
concept owner = std::is_class_v<T> && requires(const T& p) {
  { p.get() } -> std::same_as<typename T::element_type*>;
  { *p } -> std::same_as<typename T::element_type&>;
};
// A vector of the language's extension: no class, and indexed all the same.
template <class T>
inline constexpr bool is_lanes =
    !std::is_class_v<T> && !std::is_array_v<T> && !std::is_pointer_v<T> && requires(T& v, const T& c) {
      v[0];
      v = c + c;
    };
struct any_visit {
  template <class A, class B>
  void operator()(A&, const B&) const {}
};
template <class T>
concept enumerated = requires(T& a, const T& b) { clad_fields(a, b, any_visit{}); };

}  // namespace detail

#if defined(__GNUC__)
/// N numbers side by side, as the language's extension has them: __m256d is lanes<double, 4>.
template <class T, int N>
using lanes __attribute__((__vector_size__(N * sizeof(T)))) = T;
#endif

/// Whether objects of the class carry no derivative. Generated code says so for classes in pairs and tuples.
template <class T>
inline constexpr bool constant_class = false;

/// The result of a function in forward mode: its value and the tangent of the value.
template <class T, class U>
struct ValueAndPushforward {
  T value;
  U pushforward;
};
/// The first argument of a constructor's custom pushforward, which names the class, and that of the function
/// that the forward sweep calls instead of the constructor.
template <class T>
struct ConstructorPushforwardTag {};
template <class T>
struct ConstructorReverseForwTag {};
/// The result of a custom `f_reverse_forw`: the result of f and, if that is a reference or a pointer, the
/// adjoint of the object to which it refers.
template <class T, class U = T>
struct ValueAndAdjoint {
  T value;
  U adjoint;
};
template <class T, class U, class Visit>
void clad_fields(ValueAndPushforward<T, U>& a, const ValueAndPushforward<T, U>& b, Visit&& visit) {
  visit(a.value, b.value);
  visit(a.pushforward, b.pushforward);
}

template <class T>
constexpr void set_zero(T& d);
template <class T>
constexpr void accumulate(T& d, const T& v);
template <class T>
void accumulate(T& d, T&& v)
  requires detail::opaque<T>
{
  d.accumulate(std::move(v));
}
template <class T>
constexpr void shape_like(T& d, const T& primal);

namespace detail {
/// std::vector and std::deque.
template <class T>
concept growing = requires(T v) {
  v.push_back(v[0]);
  v.pop_back();
  v.erase(v.begin(), v.end());
} && !requires { typename T::traits_type; };
}  // namespace detail

// All overloads are declared first: they call each other.
template <class A, class B>
void set_zero(std::pair<A, B>& d);
template <class A, class B>
void accumulate(std::pair<A, B>& d, const std::pair<A, B>& v);
template <class A, class B>
void shape_like(std::pair<A, B>& d, const std::pair<A, B>& primal);
template <class... T>
void set_zero(std::tuple<T...>& d);
template <class... T>
void accumulate(std::tuple<T...>& d, const std::tuple<T...>& v);
template <class... T>
void shape_like(std::tuple<T...>& d, const std::tuple<T...>& primal);
template <class T, std::size_t N>
void set_zero(std::array<T, N>& d);
template <class T, std::size_t N>
void accumulate(std::array<T, N>& d, const std::array<T, N>& v);
template <class T, std::size_t N>
void shape_like(std::array<T, N>& d, const std::array<T, N>& primal);
template <template <class, class> class Sequence, class T, class Allocator>
  requires detail::growing<Sequence<T, Allocator>>
void set_zero(Sequence<T, Allocator>& d);
template <template <class, class> class Sequence, class T, class Allocator>
  requires detail::growing<Sequence<T, Allocator>>
void accumulate(Sequence<T, Allocator>& d, const Sequence<T, Allocator>& v);
template <template <class, class> class Sequence, class T, class Allocator>
  requires detail::growing<Sequence<T, Allocator>>
void shape_like(Sequence<T, Allocator>& d, const Sequence<T, Allocator>& primal);
template <template <class, class> class Sequence, class T, class Allocator>
  requires(detail::growing<Sequence<T, Allocator>> && (detail::owner<T> || !std::is_copy_constructible_v<T>))
void shape_like(Sequence<T, Allocator>& d, const Sequence<T, Allocator>& primal);

/// The type of a constant in derivatives, which is never const itself.
template <class T>
T& as_mutable(const T& object) {
  return const_cast<T&>(object);
}
template <class T>
T* as_mutable(const T* const& object) {
  return const_cast<T*>(object);
}

template <class A, class B>
void set_zero(std::pair<A, B>& d) {
  clad::set_zero(clad::as_mutable(d.first));
  clad::set_zero(clad::as_mutable(d.second));
}
template <class A, class B>
void accumulate(std::pair<A, B>& d, const std::pair<A, B>& v) {
  clad::accumulate(clad::as_mutable(d.first), v.first);
  clad::accumulate(clad::as_mutable(d.second), v.second);
}
template <class A, class B>
void shape_like(std::pair<A, B>& d, const std::pair<A, B>& primal) {
  clad::shape_like(d.first, primal.first);
  clad::shape_like(d.second, primal.second);
}
template <class... T>
void set_zero(std::tuple<T...>& d) {
  std::apply([](T&... e) { (clad::set_zero(e), ...); }, d);
}
namespace detail {
template <class... T, class Visit, std::size_t... I>
void each_pair(std::tuple<T...>& a, const std::tuple<T...>& b, Visit visit, std::index_sequence<I...>) {
  (visit(std::get<I>(a), std::get<I>(b)), ...);
}
}  // namespace detail
template <class... T>
void accumulate(std::tuple<T...>& d, const std::tuple<T...>& v) {
  detail::each_pair(
      d, v, [](auto& e, const auto& o) { clad::accumulate(e, o); }, std::index_sequence_for<T...>{});
}
template <class... T>
void shape_like(std::tuple<T...>& d, const std::tuple<T...>& primal) {
  detail::each_pair(
      d, primal, [](auto& e, const auto& o) { clad::shape_like(e, o); }, std::index_sequence_for<T...>{});
}
template <class T, std::size_t N>
void set_zero(std::array<T, N>& d) {
  for (T& e : d) clad::set_zero(e);
}
template <class T, std::size_t N>
void accumulate(std::array<T, N>& d, const std::array<T, N>& v) {
  for (std::size_t i = 0; i < N; ++i) clad::accumulate(d[i], v[i]);
}
template <class T, std::size_t N>
void shape_like(std::array<T, N>& d, const std::array<T, N>& primal) {
  for (std::size_t i = 0; i < N; ++i) clad::shape_like(d[i], primal[i]);
}
template <template <class, class> class Sequence, class T, class Allocator>
  requires detail::growing<Sequence<T, Allocator>>
void set_zero(Sequence<T, Allocator>& d) {
  for (T& e : d) clad::set_zero(e);
}
/// An empty adjoint is a zero of any length.
template <template <class, class> class Sequence, class T, class Allocator>
  requires detail::growing<Sequence<T, Allocator>>
void accumulate(Sequence<T, Allocator>& d, const Sequence<T, Allocator>& v) {
  if (d.size() < v.size()) {
    std::size_t old = d.size();
    d.insert(d.end(), v.begin() + static_cast<std::ptrdiff_t>(old), v.end());
    for (std::size_t i = 0; i < old; ++i) clad::accumulate(d[i], v[i]);
    return;
  }
  for (std::size_t i = 0; i < v.size(); ++i) clad::accumulate(d[i], v[i]);
}
/// Owned objects are not made here: they must exist already and have the same classes.
[[noreturn]] inline void no_owned_adjoint() {
  throw std::invalid_argument(
      "clad: the adjoint of a vector of owners must own as many objects, of the same classes");
}
template <detail::owner T>
void shape_like_owned(T& d, const T& primal) {
  if (!primal) return;
  if (!d) clad::no_owned_adjoint();
  using object = typename T::element_type;
#ifdef __cpp_rtti
  if constexpr (std::is_polymorphic_v<object>) {
    const object &own = *d, &of = *primal;
    if (typeid(own) != typeid(of)) clad::no_owned_adjoint();
  }
#endif
  if constexpr (!std::is_const_v<object>) clad::shape_like(*d, *primal);
}
template <template <class, class> class Sequence, class T, class Allocator>
  requires(detail::growing<Sequence<T, Allocator>> && (detail::owner<T> || !std::is_copy_constructible_v<T>))
void shape_like(Sequence<T, Allocator>& d, const Sequence<T, Allocator>& primal) {
  if (d.size() != primal.size()) clad::no_owned_adjoint();
  for (std::size_t i = 0; i < d.size(); ++i) {
    if constexpr (detail::owner<T>)
      clad::shape_like_owned(d[i], primal[i]);
    else
      clad::shape_like(d[i], primal[i]);
  }
}
template <template <class, class> class Sequence, class T, class Allocator>
  requires detail::growing<Sequence<T, Allocator>>
void shape_like(Sequence<T, Allocator>& d, const Sequence<T, Allocator>& primal) {
  if (d.size() == primal.size()) {
    for (std::size_t i = 0; i < d.size(); ++i) clad::shape_like(d[i], primal[i]);
    return;
  }
  std::size_t old = d.size();
  if (old > primal.size()) {
    d.erase(d.begin() + static_cast<std::ptrdiff_t>(primal.size()), d.end());
    return;
  }
  d.insert(d.end(), primal.begin() + static_cast<std::ptrdiff_t>(old), primal.end());
  for (std::size_t i = old; i < d.size(); ++i) clad::set_zero(d[i]);
}

/// d = 0, keeping its shape.
template <class T>
constexpr void set_zero(T& d) {
  if constexpr (detail::real_number<T>) {
    d = 0;
  } else if constexpr (detail::becomes_zero<T>) {
    own_zero<T>::init(d);
  } else if constexpr (detail::makes_zero<T>) {
    d = own_zero<T>::like(d);
  } else if constexpr (std::is_array_v<T>) {
    for (auto& e : d) clad::set_zero(e);
  } else if constexpr (detail::opaque<T> || detail::complex<T> || detail::is_lanes<T>) {
    d = T{};
  } else if constexpr (detail::optional<T>) {
    if (d.has_value()) clad::set_zero(*d);
  } else if constexpr (detail::enumerated<T>) {
    clad_fields(d, d, [](auto& field, const auto&) { clad::set_zero(field); });
  } else {
    static_assert(!std::is_aggregate_v<T> || constant_class<T>,
                  "clad: no rule makes a zero of this class here; take clad::zero_init");
  }
}

/// d += v.
template <class T>
constexpr void accumulate(T& d, const T& v) {
  if constexpr (detail::real_number<T>) {
    d += v;
  } else if constexpr (std::is_array_v<T>) {
    for (std::size_t i = 0; i < std::extent_v<T>; ++i) clad::accumulate(d[i], v[i]);
  } else if constexpr (detail::opaque<T>) {
    d.accumulate(T(v));
  } else if constexpr (detail::complex<T> || detail::is_lanes<T>) {
    d += v;
  } else if constexpr (detail::optional<T>) {
    if (!v.has_value()) return;
    if (d.has_value())
      clad::accumulate(*d, *v);
    else
      d = v;
  } else if constexpr (detail::enumerated<T>) {
    clad_fields(d, v, [](auto& field, const auto& other) { clad::accumulate(field, other); });
  } else {
    static_assert(!std::is_class_v<T> || constant_class<T>, "clad: no rule adds cotangents of this class");
  }
}

/// Gives the vectors inside `d` the lengths that they have in `primal`, and its optionals a value if they
/// have one there; new elements are zero.
template <class T>
constexpr void shape_like(T& d, const T& primal) {
  if constexpr (std::is_array_v<T>) {
    for (std::size_t i = 0; i < std::extent_v<T>; ++i) clad::shape_like(d[i], primal[i]);
  } else if constexpr (detail::optional<T>) {
    if (!primal.has_value())
      d.reset();
    else if (d.has_value())
      clad::shape_like(*d, *primal);
    else
      clad::set_zero(d.emplace(*primal));
  } else if constexpr (!detail::real_number<T> && !detail::opaque<T> && !detail::is_lanes<T> &&
                       detail::enumerated<T>) {
    clad_fields(d, primal, [](auto& field, const auto& other) { clad::shape_like(field, other); });
  }
}

namespace detail {

/// A value that may lead to memory that another one leads to as well.
template <class T>
concept sharing = requires(const T& a, const T& b) { a.shares_storage_with(b); } || std::is_pointer_v<T> ||
                  owner<T> || (enumerated<T> && !opaque<T>);
template <class T>
concept sequence = std::is_class_v<T> && requires(T& v) {
  { v[0] } -> std::same_as<typename T::value_type&>;
  { v.size() } -> std::same_as<std::size_t>;
};
/// Whether adding to the adjoint would change the argument.
template <class T>
bool shares(T& d, const T& primal) {
  if constexpr (requires { d.shares_storage_with(primal); }) {
    return d.shares_storage_with(primal);
  } else if constexpr (std::is_pointer_v<T>) {
    return d && d == primal;
  } else if constexpr (owner<T>) {
    return d && d.get() == primal.get();
  } else if constexpr (std::is_array_v<T>) {
    if constexpr (sharing<std::remove_all_extents_t<T>>)
      for (std::size_t i = 0; i < std::extent_v<T>; ++i)
        if (detail::shares(d[i], primal[i])) return true;
  } else if constexpr (sequence<T>) {
    if constexpr (sharing<typename T::value_type> || sequence<typename T::value_type>)
      for (std::size_t i = 0; i < d.size() && i < primal.size(); ++i)
        if (detail::shares(d[i], primal[i])) return true;
  } else if constexpr (optional<T>) {
    if constexpr (sharing<typename T::value_type>)
      return d.has_value() && primal.has_value() && detail::shares(*d, *primal);
  } else if constexpr (!opaque<T> && enumerated<T>) {
    bool found = false;
    clad_fields(d, primal,
                [&](auto& field, const auto& other) { found = found || detail::shares(field, other); });
    return found;
  }
  return false;
}

}  // namespace detail

[[noreturn]] inline void not_apart(const char* name) {
  throw std::invalid_argument(
      "clad: the adjoint of parameter '" + std::string(name) +
      "' shares memory with the argument, to which the derivative would be added: give it "
      "memory of its own, as with a model's like(model)");
}
/// Throws if an adjoint is the argument itself, or a copy of it that leads to the same memory.
template <class T>
void check_apart(T* d, const T& primal, const char* name) {
  if (d == std::addressof(primal) || detail::shares(*d, primal)) not_apart(name);
}
template <class T>
void check_apart(T* d, const T* primal, const char* name) {
  if (d && d == primal) not_apart(name);
}
template <class D, class T>
void check_apart(const D&, const T&, const char*) {}  // of other types

/// A zero with the shape of `primal`.
template <class T>
constexpr T zero_like(const T& primal) {
  if constexpr (detail::makes_zero<T>) {
    return own_zero<T>::like(primal);
  } else if constexpr (detail::opaque<T> || detail::real_number<T>) {
    return T{};
  } else {
    T d = primal;
    clad::set_zero(d);
    return d;
  }
}

/// A zero for an object that may not exist.
template <class Slot, class T>
void make_zero(Slot& d, const T* primal) {
  if (primal) d.emplace(clad::zero_like(*primal));
}

/// A zero of a class, whatever its constructors do.
template <class T>
constexpr T zero_of() {
  T d{};
  clad::set_zero(d);
  return d;
}

/// Makes `d`, which may be an array, a zero with the shape of `primal`.
template <class T>
void zero_as(T& d, const T& primal) {
  if constexpr (std::is_array_v<T>) {
    for (std::size_t i = 0; i < std::extent_v<T>; ++i) clad::zero_as(d[i], primal[i]);
  } else {
    d = clad::zero_like<T>(primal);
  }
}

/// The parts of a complex number, and the value of an optional, as objects.
template <detail::complex T>
auto& real_part(T& z) {
  return reinterpret_cast<typename T::value_type(&)[2]>(z)[0];
}
template <detail::complex T>
auto& imag_part(T& z) {
  return reinterpret_cast<typename T::value_type(&)[2]>(z)[1];
}
template <detail::complex T>
const auto& real_part(const T& z) {
  return reinterpret_cast<const typename T::value_type(&)[2]>(z)[0];
}
template <detail::complex T>
const auto& imag_part(const T& z) {
  return reinterpret_cast<const typename T::value_type(&)[2]>(z)[1];
}
template <class T>
auto& value_of(T& o) {
  return *o;
}

/// Whether an object is of class Derived, or one that derives from it.
template <class Derived, class T>
bool is(const T& object) {
  if constexpr (std::is_base_of_v<Derived, T>) {
    return true;
  } else {
    const T* pointer = &object;
    return dynamic_cast<const Derived*>(pointer) != nullptr;
  }
}
#ifdef __cpp_rtti
/// Whether an object is exactly of class D.
template <class D, class T>
bool exactly(const T& object) {
  return typeid(object) == typeid(D);
}
#endif
[[noreturn]] inline void unknown_class() {
  throw std::logic_error(
      "clad: a virtual call on an object of a class that was not visible where it was differentiated");
}

#ifdef __cpp_rtti
/// Throws if the object is of none of these classes.
template <class... D, class T>
void known_class(const T& object) {
  const std::type_info& own = typeid(object);
  const std::type_info* const known[] = {nullptr, &typeid(D)...};
  for (const std::type_info* one : known)
    if (one && *one == own) return;
  clad::unknown_class();
}
#endif

/// A zero of the object's own class: T, or one of the derived classes, which are listed before their bases.
/// Null if objects of that class cannot be made.
template <class T, class... Derived>
std::shared_ptr<T> zero_of_class_of(const T& primal) {
  std::shared_ptr<T> zero;
  const auto try_class = [&]<class D>(std::type_identity<D>) {
    const D* object = zero ? nullptr : dynamic_cast<const D*>(&primal);
    if (object) zero = std::make_shared<D>(clad::zero_like(*object));
  };
  (try_class(std::type_identity<Derived>()), ...);
  if constexpr (!std::is_abstract_v<T> && std::is_copy_constructible_v<T>)
    if (!zero) zero = std::make_shared<T>(clad::zero_like(primal));
  return zero;
}
template <class T, class... Derived>
std::shared_ptr<T> make_zero_of_class_of(const T& primal) {
  std::shared_ptr<T> zero = clad::zero_of_class_of<T, Derived...>(primal);
  if (!zero) clad::unknown_class();
  return zero;
}
/// shape_like() of all members, for the class of both objects.
template <class T, class... Derived>
void shape_like_class_of(T& d, const T& primal) {
  bool done = false;
  const auto try_class = [&]<class D>(std::type_identity<D>) {
    const D* object = done ? nullptr : dynamic_cast<const D*>(&primal);
    D* shaped = object ? dynamic_cast<D*>(&d) : nullptr;
    if (!shaped) return;
    clad::shape_like(*shaped, *object);
    done = true;
  };
  (try_class(std::type_identity<Derived>()), ...);
  if (!done) clad::shape_like(d, primal);
}

/// An object as its base class, or as the derived class that it has; const if the object is.
template <class Base, class T>
auto& base(T& object) {
  using Class = std::remove_const_t<T>;
  using Wanted = std::conditional_t<std::is_const_v<T>, const Base, Base>;
  if constexpr (std::is_polymorphic_v<Class> && std::is_base_of_v<Class, Base> &&
                !std::is_same_v<Class, Base>)
#ifdef __cpp_rtti
    return dynamic_cast<Wanted&>(object);
#else
    return static_cast<Wanted&>(object);
#endif
  else if constexpr (std::is_const_v<T>)
    return static_cast<const Base&>(object);
  else
    return static_cast<Base&>(object);
}

/// Value-initializes, element by element if it is an array.
template <class T>
void clear(T& object) {
  if constexpr (std::is_array_v<T>) {
    for (auto& e : object) clad::clear(e);
  } else {
    object = T{};
  }
}

/// to = from, element by element if they are arrays. What need not have a value yet is moved, not read.
template <class T>
void assign(T& to, const T& from) {
  if constexpr (std::is_array_v<T> && std::is_trivially_copyable_v<T>) {
    std::memmove(&to, &from, sizeof to);
  } else if constexpr (std::is_array_v<T>) {
    for (std::size_t i = 0; i < std::extent_v<T>; ++i) clad::assign(to[i], from[i]);
  } else {
    to = from;
  }
}

/// what = kept, in the memory of `what`: a reference to an element of a container stays valid, as the
/// program's own references do while sizes change. Elements of maps stay at their keys.
template <class T>
constexpr void put_back(T& what, T& kept) {
  if constexpr (detail::map<T>) {
    for (auto e = what.begin(); e != what.end();) e = kept.contains(e->first) ? std::next(e) : what.erase(e);
    for (auto& [key, value] : kept) {
      const auto [at, fresh] = what.try_emplace(key, value);
      if (!fresh) clad::put_back(at->second, value);
    }
  } else if constexpr (std::is_copy_assignable_v<T>) {
    what = std::as_const(kept);
  } else {
    what = std::move(kept);
  }
}

/// A bool or an enumeration that need not have a value yet: reading one that has none is undefined.
template <class T>
struct kept_bits {
  T value;
  constexpr kept_bits& operator=(const T& from) {
    if (std::is_constant_evaluated())
      value = from;
    else
      std::memcpy(&value, &from, sizeof value);
    return *this;
  }
};
template <class T>
constexpr void put_back(T& what, const kept_bits<T>& kept) {
  if (std::is_constant_evaluated())
    what = kept.value;
  else
    std::memcpy(&what, &kept.value, sizeof what);
}

/// `place` becomes a copy of `value`, by the constructor with which the program makes one, and not by an
/// assignment of its own.
template <class T, class V>
void remake(T& place, V&& value) {
  if (static_cast<const volatile void*>(std::addressof(value)) == std::addressof(place)) return;
  std::destroy_at(std::addressof(place));
  std::construct_at(std::addressof(place), std::forward<V>(value));
}

/// Swaps a and b.
template <class T>
void exchange(T& a, T& b) {
  using std::swap;
  swap(a, b);
}

namespace detail {

/// set_zero for objects that the program itself makes zero. The plugin defines it at the end of the file,
/// because only there the fields of classes are known.
template <class T>
void set_zero_later(T& d);

}  // namespace detail

/// Clad's name for making `d` zero.
template <class T>
void zero_init(T& d) {
  if constexpr (std::is_arithmetic_v<T>)
    d = 0;
  else
    detail::set_zero_later(d);
}

/// Returns the cotangent in `d` and makes `d` zero.
template <class T>
T take(T& d) {
  if constexpr (detail::opaque<T>) {
    T out = std::move(d);
    d = T{};
    return out;
  } else {
    T out = d;
    clad::set_zero(d);
    return out;
  }
}

/// d += from; from = 0.
template <class T>
void transfer(T& d, T& from) {
  if constexpr (detail::opaque<T>) {
    d.accumulate(std::move(from));
    from = T{};
  } else {
    clad::accumulate(d, from);
    clad::set_zero(from);
  }
}

/// d += sum of v: the derivative of a vector filled with one value.
template <template <class, class> class Sequence, class T, class Allocator>
void accumulate_sum(T& d, const Sequence<T, Allocator>& v) {
  for (const T& e : v) clad::accumulate(d, e);
}
/// d[i] += v[i]: the derivative of a vector copied from memory.
template <template <class, class> class Sequence, class T, class Allocator>
void accumulate_range(T* d, const Sequence<T, Allocator>& v) {
  for (std::size_t i = 0; i < v.size(); ++i) clad::accumulate(d[i], v[i]);
}

/// Stands for a primal value that a pullback never reads.
template <class T>
T& unused() {
  struct Holder {
    T value;
    Holder() : value() {}  // whose constructor may be explicit
  };
  static thread_local Holder holder;
  return holder.value;
}

}  // namespace clad
