// clad::gradient and clad::value_and_gradient: reverse-mode derivatives, written by the compiler plugin.
//
//   double f(double x, double y) { return x * x * y; }
//   auto g = clad::gradient(f);            // or clad::gradient(f, "x")
//   double dx = 0, dy = 0;
//   g.execute(3, 4, &dx, &dy);             // adds df/dx to dx, df/dy to dy
//
// Without the plugin the calls compile, and execute() throws.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "clad/Differentiator/Adjoint.h"
#include "clad/Differentiator/BuiltinDerivatives.h"
#include "clad/Differentiator/Forward.h"
#include "clad/Differentiator/Library.h"
#include "clad/Differentiator/Revolve.h"
#include "clad/Differentiator/STLBuiltins.h"
#include "clad/Differentiator/Tape.h"
#include "clad/checkpoint.h"
#include "clad/opaque.h"

#if defined(__clang__)
#define CLAD_REQUEST(kind) [[clang::annotate(kind)]]
#else
#define CLAD_REQUEST(kind)
#endif

namespace clad {

/// A pointer and length, for adjoints of arrays.
template <class T>
class array_ref {
 public:
  array_ref(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  array_ref(T (&data)[N]) : data_(data), size_(N) {}
  T* ptr() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t size_;
};

/// Numbers on the heap: the derivative of an array whose length is known when the program runs.
template <class T>
class array {
 public:
  explicit array(std::size_t size) : values_(size) {}
  template <class U>
  array(const array_ref<U>& other) : values_(other.ptr(), other.ptr() + other.size()) {}
  T* ptr() { return values_.data(); }
  const T* ptr() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  T* begin() { return ptr(); }
  T* end() { return ptr() + size(); }
  const T* begin() const { return ptr(); }
  const T* end() const { return ptr() + size(); }
  operator array_ref<T>() { return array_ref<T>(ptr(), size()); }

 private:
  std::vector<T> values_;
};

namespace detail {

/// One address per type: tells whether an adjoint argument points to what the derivative writes.
template <class T>
inline constexpr char type_tag = 0;

}  // namespace detail

struct adjoint_argument {
  void* pointer;
  const void* tag;       ///< null: a null pointer literal
  std::size_t size = 0;  ///< of an array, if the caller says it
};

/// How execute() hands its arguments to the generated code.
struct call_frame {
  void* const* primals;
  const adjoint_argument* adjoints;
  std::size_t n_adjoints;
  void* result;
};
/// Runs the derivative; with a null frame returns its source.
using entry_point = const char* (*)(const call_frame*);

inline constexpr std::size_t adjoint_of_object = static_cast<std::size_t>(-1);

inline void check_adjoints(const call_frame& frame, std::size_t wanted, bool has_object,
                           const char* function) {
  if (frame.n_adjoints <= wanted + (has_object ? 1 : 0)) return;
  throw std::invalid_argument("clad: execute() of the gradient of '" + std::string(function) + "' takes " +
                              std::to_string(wanted) + " adjoint arguments, got " +
                              std::to_string(frame.n_adjoints));
}

/// How an error estimate weighs the rounding of a stored number: to first order it adds adjoint * value *
/// epsilon to the result, where epsilon is that of float, as if the program were to be run in it.
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

/// The adjoint argument for parameter `index`; an object's own adjoint, if given, comes first.
inline const adjoint_argument* find_adjoint(const call_frame& frame, std::size_t index, std::size_t wanted) {
  bool object_given = frame.n_adjoints > wanted;
  if (index == adjoint_of_object) return object_given ? &frame.adjoints[0] : nullptr;
  std::size_t position = index + (object_given ? 1 : 0);
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

/// The adjoint the caller gave, or a zero of our own where none is wanted.
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
/// An array's adjoint is given as a pointer to its first element.
template <class T>
  requires std::is_array_v<T>
class adjoint_holder<T> {
 public:
  template <class P>
  adjoint_holder(const call_frame& frame, std::size_t index, std::size_t wanted, const char* name, P&)
      : given_(detail::adjoint_or_null<std::remove_all_extents_t<T>>(frame, index, wanted, name)) {
    if (!given_) clad::clear(own_);
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

/// Before a derivative that replaces what its target holds: the caller must say how long the array is.
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

template <class F>
struct signature;
template <class R, class... A>
struct signature<R (*)(A...)> {
  using result = R;
  using arguments = std::tuple<A...>;
};
template <class R, class... A>
struct signature<R (*)(A...) noexcept> : signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct signature<R (C::*)(A...)> {
  using result = R;
  using arguments = std::tuple<C&, A...>;
  using plain = std::tuple<A...>;
};
template <class R, class C, class... A>
struct signature<R (C::*)(A...) const> {
  using result = R;
  using arguments = std::tuple<const C&, A...>;
  using plain = std::tuple<A...>;
};
template <class R, class C, class... A>
struct signature<R (C::*)(A...) noexcept> : signature<R (C::*)(A...)> {};
template <class R, class C, class... A>
struct signature<R (C::*)(A...) const noexcept> : signature<R (C::*)(A...) const> {};
template <class F>
concept function_object = std::is_class_v<F> && requires { &F::operator(); };
/// Of a pointer to a function object, the object's class.
template <class F>
struct pointee {
  using type = F;
};
template <class F>
  requires std::is_class_v<F>
struct pointee<F*> {
  using type = std::remove_const_t<F>;
};

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

enum class derivative_kind { gradient, value_and_gradient, error_estimate, pushforward, derivative };

/// The order of a derivative, and options, given together: differentiate<clad::order::second>(f, "x").
enum order : unsigned { first = 1, second = 2, third = 3 };
enum opts : unsigned {
  vector_mode = 1U << 9,  ///< of forward mode: all parameters in one run
  enable_tbr = 1U << 10,  ///< this and those of the same kind change nothing: the analyses are always on
  disable_tbr = 1U << 11,
  enable_va = 1U << 14,
  disable_va = 1U << 15,
  enable_ua = 1U << 16,
  disable_ua = 1U << 17,
  diagonal_only = 1U << 13,  ///< of a Hessian, only the diagonal
};

/// The derivative of one function. execute() takes the function's arguments (for a member function the object
/// first), then one pointer per differentiated parameter, in the order they were named, to which the
/// derivative is added. A member function may be given a pointer to the object's adjoint before the others.
/// Trailing pointers may be left out. Afterwards every argument is what it was before: what the function
/// changes through references and pointers is put back. Globals, and objects that cannot be copied, are not.
/// Throws std::logic_error if the program was compiled without the plugin,
/// std::invalid_argument if an adjoint argument has the wrong type.
template <class F, derivative_kind Kind>
class derivative {
  using object = typename detail::pointee<F>::type;
  static constexpr bool kFunctor = detail::function_object<object>;
  template <class G>
  struct select {
    using type = detail::signature<G>;
  };
  template <class G>
    requires detail::function_object<G>
  struct select<G> {
    using type = detail::signature<decltype(&G::operator())>;
  };
  using signature = typename select<object>::type;
  using result_type = typename signature::result;
  template <class S>
  struct primal_types {
    using type = typename S::arguments;
  };
  template <class S>
    requires kFunctor
  struct primal_types<S> {
    using type = typename S::plain;
  };
  using primals = typename primal_types<signature>::type;
  /// What execute() returns.
  template <class R, derivative_kind K>
  struct returned {
    using type = void;
  };
  template <class R>
  struct returned<R, derivative_kind::value_and_gradient> {
    using type = R;
  };
  template <class R>
  struct returned<R, derivative_kind::derivative> {
    using type = std::remove_cvref_t<R>;
  };
  template <class R>
    requires(!std::is_void_v<R>)
  struct returned<R, derivative_kind::pushforward> {
    using type = ValueAndPushforward<std::remove_cvref_t<R>, std::remove_cvref_t<R>>;
  };
  using result = typename returned<result_type, Kind>::type;
  static constexpr std::size_t kPrimals = std::tuple_size_v<primals>;

 public:
  derivative(F f, entry_point entry) : function_(f), entry_(entry) {}

  template <class... A>
  result execute(A&&... args) const {
    static_assert(sizeof...(A) >= kPrimals,
                  "execute() takes all arguments of the function, then pointers to adjoints");
    return run(std::make_index_sequence<kPrimals>{}, std::make_index_sequence<sizeof...(A) - kPrimals>{},
               std::forward_as_tuple(std::forward<A>(args)...));
  }
  /// The generated C++.
  const char* getCode() const { return entry_ ? entry_(nullptr) : ""; }
  void dump() const { std::printf("The code is:\n%s\n", getCode()); }
  /// Whether the plugin wrote a derivative.
  explicit operator bool() const { return entry_ != nullptr; }

 private:
  /// A primal argument as the function takes it: by reference, or converted to the parameter's type.
  template <class P>
  struct held {
    template <class A>
    explicit held(A&& a) : value(static_cast<P>(std::forward<A>(a))) {}
    void* address() { return const_cast<void*>(static_cast<const void*>(&value)); }
    std::remove_cv_t<P> value;
  };
  template <class P>
  struct held<P&> {
    template <class A>
    explicit held(A&& a) : value(&static_cast<P&>(a)) {}
    void* address() { return const_cast<void*>(static_cast<const void*>(value)); }
    P* value;
  };
  template <class P>
  struct held<P&&> : held<P> {
    using held<P>::held;
  };

  /// An adjoint is given by a pointer, the error of an estimate by the variable itself.
  template <class A>
  static adjoint_argument given(A& argument) {
    if constexpr (Kind == derivative_kind::error_estimate && std::is_floating_point_v<A>)
      return detail::as_adjoint(&argument);
    else
      return detail::as_adjoint(argument);
  }

  template <std::size_t... I, std::size_t... J, class T>
  result run(std::index_sequence<I...>, std::index_sequence<J...>, T args) const {
    if (!entry_)
      throw std::logic_error(
          "clad: this program was compiled without the clad plugin, so no derivative exists");
    std::tuple<held<std::tuple_element_t<I, primals>>...> values(std::get<I>(std::move(args))...);
    void* addresses[kPrimals + 2] = {};
    std::size_t n = 0;
    if constexpr (kFunctor && std::is_pointer_v<F>)
      addresses[n++] = const_cast<void*>(static_cast<const void*>(function_));
    else if constexpr (kFunctor)
      addresses[n++] = const_cast<void*>(static_cast<const void*>(&function_));
    ((addresses[n++] = std::get<I>(values).address()), ...);
    adjoint_argument adjoints[sizeof...(J) + 1] = {given(std::get<kPrimals + J>(args))...};
    if constexpr (!std::is_void_v<result>) {
      result out{};
      call_frame frame{addresses, adjoints, sizeof...(J), &out};
      entry_(&frame);
      return out;
    } else {
      call_frame frame{addresses, adjoints, sizeof...(J), nullptr};
      entry_(&frame);
    }
  }

  F function_;
  entry_point entry_;
};

/// Of an object whose operator() is a template, overloaded or missing: the plugin reports it.
template <class F, derivative_kind Kind>
  requires(std::is_class_v<typename detail::pointee<F>::type> &&
           !detail::function_object<typename detail::pointee<F>::type>)
class derivative<F, Kind> {
 public:
  derivative(const F&, entry_point) {}
  template <class... A>
  std::conditional_t<Kind == derivative_kind::gradient, void, double> execute(A&&...) const {
    throw std::logic_error("clad: no derivative exists of an object without exactly one operator()");
  }
  const char* getCode() const { return ""; }
  void dump() const {}
  explicit operator bool() const { return false; }
};

/// The gradient of `f` with respect to the named parameters ("x, y"; without a list, all).
template <unsigned... Options, class F>
CLAD_REQUEST("clad::gradient")
inline auto gradient(F f, [[maybe_unused]] const char* parameters = "", entry_point entry = nullptr) {
  return derivative<F, derivative_kind::gradient>(f, entry);
}

/// Likewise; execute() returns the value of `f` too, at no second evaluation.
template <class F>
CLAD_REQUEST("clad::value_and_gradient")
inline auto value_and_gradient(F f, [[maybe_unused]] const char* parameters = "",
                               entry_point entry = nullptr) {
  return derivative<F, derivative_kind::value_and_gradient>(f, entry);
}

/// The gradient of `f`, and to first order the error that rounding brings into its value: execute() takes
/// what that of the gradient takes, and after it a double, to which the estimate is added. Each number that
/// is stored counts as if it were rounded to float.
template <class F>
CLAD_REQUEST("clad::estimate_error")
inline auto estimate_error(F f, [[maybe_unused]] const char* parameters = "", entry_point entry = nullptr) {
  return derivative<F, derivative_kind::error_estimate>(f, entry);
}

/// The directional derivative of `f`, by forward mode. execute() takes the function's arguments, then for
/// each named parameter a pointer to its tangent, the direction; it returns {value, pushforward}, the value
/// and its derivative in that direction. The tangents of what `f` changes through references and pointers are
/// changed with it. A parameter whose tangent is left out has the tangent zero.
template <class F>
CLAD_REQUEST("clad::pushforward")
inline auto pushforward(F f, [[maybe_unused]] const char* parameters = "", entry_point entry = nullptr) {
  return derivative<F, derivative_kind::pushforward>(f, entry);
}

/// The derivative of `f` with respect to one number, by forward mode: a parameter ("x", or its index) or an
/// element of one ("p[2]"). execute() takes the function's arguments and returns the derivative, of the order
/// given as in differentiate<2>(f, "x"). differentiate<clad::opts::vector_mode>(f, "x, y") takes several
/// numbers; its execute() takes the arguments and then a pointer for each, which receive the derivatives.
template <unsigned... Options, class F, class P = const char*>
CLAD_REQUEST("clad::differentiate")
inline auto differentiate(F f, [[maybe_unused]] P parameter = {}, entry_point entry = nullptr) {
  constexpr bool several = ((Options & opts::vector_mode) | ... | 0U) != 0;
  return derivative<F, several ? derivative_kind::gradient : derivative_kind::derivative>(f, entry);
}

/// The matrix of first derivatives of what `f` writes through pointers and references, and of what it
/// returns: a row for each output, a column for each of the named parameters and elements (without a list,
/// all numbers that `f` only reads). execute() takes the function's arguments, then a pointer to a
/// clad::matrix or to the first of as many numbers.
template <class F>
CLAD_REQUEST("clad::jacobian")
inline auto jacobian(F f, [[maybe_unused]] const char* parameters = "", entry_point entry = nullptr) {
  return derivative<F, derivative_kind::gradient>(f, entry);
}

/// The matrix of second derivatives of `f` with respect to the named parameters and elements ("x, p[0:2]";
/// without a list, all numbers). execute() takes the function's arguments, then a pointer to the n * n
/// numbers, row after row; or to n numbers, the diagonal, with hessian<clad::opts::diagonal_only>(f).
template <unsigned... Options, class F>
CLAD_REQUEST("clad::hessian")
inline auto hessian(F f, [[maybe_unused]] const char* parameters = "", entry_point entry = nullptr) {
  return derivative<F, derivative_kind::gradient>(f, entry);
}

/// The Hessian of `f` times a vector, at the cost of a few gradients. execute() takes the function's
/// arguments, then for each named parameter a pointer to its part of the vector, and then for each a pointer
/// to which its part of the product is added.
template <class F>
CLAD_REQUEST("clad::hessian_vector_product")
inline auto hessian_vector_product(F f, [[maybe_unused]] const char* parameters = "",
                                   entry_point entry = nullptr) {
  return derivative<F, derivative_kind::gradient>(f, entry);
}

}  // namespace clad
