// The interface between execute() and the generated code: arguments, and the places of derivatives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "clad/Differentiator/Adjoint.h"
#include "clad/Differentiator/Array.h"
#include "clad/Differentiator/Forward.h"
#include "clad/Differentiator/InPlace.h"
#include "clad/Differentiator/Tape.h"

namespace clad {

namespace detail {

/// One address per type, which tells whether an adjoint argument points to the type that the derivative
/// writes.
template <class T>
inline constexpr char type_tag = 0;

}  // namespace detail

struct adjoint_argument {
  void* pointer;
  const void* tag;         ///< null: a null pointer literal
  std::size_t size = 0;    ///< of an array, if the caller gives it
  bool of_object = false;  ///< its type is that of the object and of no parameter
};

/// The arguments that execute() passes to the generated code.
struct call_frame {
  void* const* primals;
  const adjoint_argument* adjoints;
  std::size_t n_adjoints;
  void* result;
};
/// Runs the derivative; with a null frame returns its source.
using entry_point = const char* (*)(const call_frame*);

/// Runs the derivative of the function that overrides one of Base, whose object is the first of N arguments.
template <class Base, class Derived, std::size_t N>
const char* entry_of_derived(entry_point entry, const call_frame& frame) {
  void* primals[N];
  for (std::size_t i = 0; i < N; ++i) primals[i] = frame.primals[i];
  primals[0] = dynamic_cast<Derived*>(static_cast<Base*>(primals[0]));
  call_frame derived = frame;
  derived.primals = primals;
  return entry(&derived);
}

inline constexpr std::size_t adjoint_of_object = static_cast<std::size_t>(-1);

inline void check_adjoints(const call_frame& frame, std::size_t wanted, bool has_object,
                           const char* function) {
  if (!has_object && frame.n_adjoints > 0 && frame.adjoints[0].of_object)
    throw std::invalid_argument("clad: execute() of the derivative of '" + std::string(function) +
                                "' takes no adjoint of the object itself");
  if (frame.n_adjoints <= wanted + (has_object ? 1 : 0)) return;
  throw std::invalid_argument("clad: execute() of the derivative of '" + std::string(function) + "' takes " +
                              std::to_string(wanted) + " adjoint arguments, got " +
                              std::to_string(frame.n_adjoints));
}

/// The weight of the rounding of a stored number in an error estimate. To first order it adds adjoint * value
/// * epsilon to the result, with the epsilon of float, as if the program ran in float.
inline double rounding_error(double adjoint, double value) {
  return std::fabs(adjoint * value) * std::numeric_limits<float>::epsilon();
}

/// The last of the adjoint arguments, of type T.
template <class T>
T& last_argument(const call_frame& frame, const char* function) {
  const adjoint_argument* last = frame.n_adjoints > 0 ? &frame.adjoints[frame.n_adjoints - 1] : nullptr;
  if (last && last->pointer && last->tag == &detail::type_tag<T>) return *static_cast<T*>(last->pointer);
  throw std::invalid_argument("clad: the last argument of execute() of the error estimate of '" +
                              std::string(function) + "' must be a variable of type double");
}
inline call_frame without_last(const call_frame& frame) {
  call_frame rest = frame;
  if (rest.n_adjoints > 0) --rest.n_adjoints;
  return rest;
}

namespace detail {

/// Whether (1) or not (0) the first adjoint argument is that of the object itself. This follows from the
/// number of arguments or, if others are left out, from its type.
inline std::size_t object_adjoints(const call_frame& frame, std::size_t wanted) {
  return frame.n_adjoints > wanted || (frame.n_adjoints > 0 && frame.adjoints[0].of_object) ? 1 : 0;
}
/// The adjoint argument for parameter `index`.
inline const adjoint_argument* find_adjoint(const call_frame& frame, std::size_t index, std::size_t wanted) {
  const std::size_t of_object = object_adjoints(frame, wanted);
  if (index == adjoint_of_object) return of_object ? &frame.adjoints[0] : nullptr;
  const std::size_t position = index + of_object;
  return position < frame.n_adjoints ? &frame.adjoints[position] : nullptr;
}

template <class T>
T* adjoint_or_null(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name) {
  const adjoint_argument* a = find_adjoint(frame, index, wanted);
  if (!a || !a->pointer) return nullptr;
  if (a->tag != &type_tag<T> && a->tag != &type_tag<std::remove_all_extents_t<T>>)  // rows: by their elements
    throw std::invalid_argument("clad: the adjoint argument for parameter '" + std::string(name) +
                                "' points to a different type");
  return static_cast<T*>(a->pointer);
}

template <class T>
constexpr std::pair<const void*, const void*> tags_of(const T&) {
  return {&type_tag<T>, &type_tag<std::remove_all_extents_t<T>>};
}
template <class T>
constexpr std::pair<const void*, const void*> tags_of(T* const&) {
  return {&type_tag<T*>, &type_tag<std::remove_const_t<T>>};
}

/// A lambda's captured variable, at its place in the closure object.
template <class T, bool ByReference>
T* capture(void* closure, std::size_t offset) {
  char* place = static_cast<char*>(closure) + offset;
  if constexpr (ByReference)
    return *reinterpret_cast<T**>(place);
  else
    return reinterpret_cast<T*>(place);
}

}  // namespace detail

/// The place of one parameter's adjoint among the adjoint arguments.
struct adjoint_place {
  std::pair<const void*, const void*> tags;  ///< of the types that may be given
  bool active;                               ///< whether the parameter carries a derivative
  const char* name;
};
template <class T>
constexpr adjoint_place place_of(const T& primal, bool active, const char* name) {
  return {detail::tags_of(primal), active, name};
}
/// Whether the argument may have the place of a parameter without a derivative, to which nothing is added.
inline bool fits(const adjoint_argument& a, const adjoint_place& place) {
  return !a.pointer || a.tag == place.tags.first || a.tag == place.tags.second;
}
[[noreturn]] inline void misplaced(const adjoint_place& place, const std::string& others) {
  throw std::invalid_argument("clad: the adjoint argument for parameter '" + std::string(place.name) +
                              "' points to a different type: the parameter carries no derivative, so pass "
                              "nullptr there" +
                              (others.empty() ? "" : ", or name those that do, \"" + others + "\""));
}
inline void check_adjoint_of_object(const call_frame& frame, std::size_t wanted, const adjoint_place& place) {
  const adjoint_argument* a = detail::find_adjoint(frame, adjoint_of_object, wanted);
  if (a && !fits(*a, place)) misplaced(place, "");
}

/// The adjoint arguments of a function some of whose parameters carry no derivative. The caller gives these
/// places nullptr or a pointer to their own type, which is not used. Otherwise, if there are as many adjoints
/// as parameters with a derivative, they belong to those.
template <std::size_t N>
class placed_adjoints {
 public:
  placed_adjoints(const call_frame& given, const adjoint_place (&places)[N], const char* others)
      : frame_(given) {
    const std::size_t object = detail::object_adjoints(given, N);
    const adjoint_place* wrong = nullptr;
    for (std::size_t i = 0; i < N && !wrong && i + object < given.n_adjoints; ++i)
      if (!places[i].active && !fits(given.adjoints[i + object], places[i])) wrong = &places[i];
    if (!wrong) return;
    const auto expected = std::count_if(places, places + N, [](const adjoint_place& p) { return p.active; });
    if (given.n_adjoints != object + static_cast<std::size_t>(expected)) misplaced(*wrong, others);
    const adjoint_argument* next = given.adjoints;
    if (object) own_[0] = *next++;
    for (std::size_t i = 0; i < N; ++i)
      if (places[i].active) own_[i + object] = *next++;
    frame_.adjoints = own_;
    frame_.n_adjoints = N + object;
  }
  placed_adjoints(const placed_adjoints&) = delete;
  const call_frame& frame() const { return frame_; }

 private:
  call_frame frame_;
  adjoint_argument own_[N + 1] = {};
};

/// The adjoint that the caller gave, or our own zero if none is wanted.
template <class T>
class adjoint_holder {
 public:
  template <class P>
  adjoint_holder(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name, P& primal)
      : given_(detail::adjoint_or_null<T>(frame, index, wanted, name)) {
    if (given_)
      clad::shape_like(*given_, primal);
    else
      own_.emplace(clad::zero_like<T>(primal));
  }
  T* get() { return given_ ? given_ : &*own_; }

 private:
  T* given_;
  slot<T> own_;
};
inline bool gives_adjoint(const call_frame& frame, std::size_t index, std::size_t wanted) {
  const adjoint_argument* a = detail::find_adjoint(frame, index, wanted);
  return a && a->pointer;
}
/// The adjoint of an object that holds pointers. Our own zero would hold the pointers of the primal.
template <class T, class... Derived, class P>
T* given_adjoint(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name,
                 P& primal) {
  T* given = detail::adjoint_or_null<T>(frame, index, wanted, name);
  if (!given)
    throw std::invalid_argument("clad: parameter '" + std::string(name) +
                                "' holds pointers, so its adjoint must be given");
  if constexpr (sizeof...(Derived) > 0)
    clad::shape_like_class_of<T, Derived...>(*given, primal);
  else
    clad::shape_like(*given, primal);
  return given;
}
/// The adjoint of an object that may be of one of several classes, see zero_of_class_of().
template <class T, class... Derived>
class object_adjoint_holder {
 public:
  template <class P>
  object_adjoint_holder(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name,
                        P& primal)
      : given_(detail::adjoint_or_null<T>(frame, index, wanted, name)) {
    if (given_) {
      clad::shape_like_class_of<T, Derived...>(*given_, primal);
      return;
    }
    own_ = clad::zero_of_class_of<T, Derived...>(primal);
    if (!own_)
      throw std::invalid_argument("clad: the adjoint of parameter '" + std::string(name) +
                                  "' must be given: none can be made for an object of its class");
  }
  T* get() { return given_ ? given_ : own_.get(); }

 private:
  T* given_;
  std::shared_ptr<T> own_;
};
/// An array's adjoint is given as a pointer to its first element.
template <class T>
  requires std::is_array_v<T>
class adjoint_holder<T> {
 public:
  template <class P>
  adjoint_holder(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name, P& primal)
      : given_(detail::adjoint_or_null<std::remove_all_extents_t<T>>(frame, index, wanted, name)) {
    if (!given_) clad::zero_as<T>(own_, primal);
  }
  T* get() { return given_ ? reinterpret_cast<T*>(given_) : &own_; }

 private:
  std::remove_all_extents_t<T>* given_;
  T own_;
};

template <class T>
T* adjoint_pointer(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name) {
  T* p = detail::adjoint_or_null<T>(frame, index, wanted, name);
  if (!p)
    throw std::invalid_argument("clad: parameter '" + std::string(name) +
                                "' is a pointer, so its adjoint array must be given");
  return p;
}

/// The named elements of a parameter and, for a pointer, how many the function reaches.
struct named_elements {
  std::size_t first, count, length = 0;
};
/// How hand_over() changes the caller's elements. A tangent also starts with them.
enum class handed_over { added, replaced, tangent };
/// The adjoint (or tangent) of an array some of whose elements are named. It covers the whole array; the
/// caller's array, which must reach to the last named element, gets the named ones.
template <class T>
class named_part {
 public:
  template <class P>
  named_part(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name, P& primal,
             const named_elements& named, handed_over how)
      : given_(frame, index, wanted, name, primal), named_(named), how_(how) {
    if constexpr (requires { primal.size(); })
      if (primal.size() < named.first + named.count)
        throw std::out_of_range("clad: '" + std::string(name) + "' has " + std::to_string(primal.size()) +
                                " elements");
    if constexpr (std::is_array_v<T>)
      clad::zero_as<T>(own_, primal);
    else
      own_ = clad::zero_like<T>(primal);
    if (how != handed_over::tangent) return;
    for (std::size_t k = named.first; k < named.first + named.count; ++k) own_[k] = (*given_.get())[k];
  }
  T* get() { return &own_; }
  void hand_over() {
    for (std::size_t k = named_.first; k < named_.first + named_.count; ++k)
      (*given_.get())[k] = own_[k] + (how_ == handed_over::added ? (*given_.get())[k] : 0);
  }

 private:
  adjoint_holder<T> given_;
  T own_;
  named_elements named_;
  handed_over how_;
};
/// The object that a pointer points to.
template <class T>
class named_part<T*> {
 public:
  named_part(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name,
             const named_elements& named, handed_over how)
      : given_(adjoint_pointer<T>(frame, index, wanted, name)),
        own_(std::max(named.length, named.first + named.count)),
        named_(named),
        how_(how) {
    if (how != handed_over::tangent) return;
    for (std::size_t k = named.first; k < named.first + named.count; ++k) own_[k] = given_[k];
  }
  T* get() { return own_.data(); }
  void hand_over() {
    for (std::size_t k = named_.first; k < named_.first + named_.count; ++k)
      given_[k] = own_[k] + (how_ == handed_over::added ? given_[k] : 0);
  }

 private:
  T* given_;
  std::vector<T> own_;
  named_elements named_;
  handed_over how_;
};

/// Called before a derivative that overwrites its target: the caller must say how long the array is.
template <class T>
void set_array_to_zero(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name,
                       T* adjoint) {
  const adjoint_argument* given = detail::find_adjoint(frame, index, wanted);
  if (given->size == 0)
    throw std::invalid_argument("clad: the derivatives with respect to '" + std::string(name) +
                                "' need the length of the array: pass them as a clad::array_ref");
  for (std::size_t i = 0; i < given->size; ++i) clad::set_zero(adjoint[i]);
}

/// The last argument of execute() of a Jacobian.
template <class T>
jacobian_target<T> matrix_argument(const call_frame& frame, const char* function) {
  const adjoint_argument* given = frame.n_adjoints == 1 ? &frame.adjoints[0] : nullptr;
  if (given && given->pointer && given->tag == &detail::type_tag<T>)
    return jacobian_target<T>(static_cast<T*>(given->pointer));
  if (given && given->pointer && given->tag == &detail::type_tag<matrix<T>>)
    return jacobian_target<T>(static_cast<matrix<T>*>(given->pointer));
  throw std::invalid_argument(
      "clad: execute() of the Jacobian of '" + std::string(function) +
      "' takes a pointer to a clad::matrix or to numbers of the type of the parameters");
}

namespace detail {

template <class T>
adjoint_argument as_adjoint(T* p) {
  return {const_cast<std::remove_const_t<T>*>(p), &type_tag<std::remove_const_t<T>>, 0};
}
template <class T, std::size_t N>
adjoint_argument as_adjoint(T (*p)[N]) {
  return as_adjoint(&(*p)[0]);
}
inline adjoint_argument as_adjoint(std::nullptr_t) { return {nullptr, nullptr, 0}; }
template <class T>
adjoint_argument as_adjoint(const array_ref<T>& a) {
  adjoint_argument argument = as_adjoint(a.ptr());
  argument.size = a.size();
  return argument;
}
template <class T>
adjoint_argument as_adjoint(array<T>& a) {
  return as_adjoint(array_ref<T>(a));
}

}  // namespace detail

}  // namespace clad
