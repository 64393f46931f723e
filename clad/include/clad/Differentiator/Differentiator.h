// clad::gradient and clad::value_and_gradient: reverse-mode derivatives, written by the compiler plugin.
//
//   double f(double x, double y) { return x * x * y; }
//   auto g = clad::gradient(f);            // or clad::gradient(f, "x")
//   double dx = 0, dy = 0;
//   g.execute(3, 4, &dx, &dy);             // adds df/dx to dx, df/dy to dy
//
// Without the plugin the calls compile, for tools that read the source, and the program does not link, unless
// derivatives were exported (docs/export.md).
#pragma once

#include "clad/Differentiator/Standard.h"

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "clad/Differentiator/Adjoint.h"
#include "clad/Differentiator/BuiltinDerivatives.h"
#include "clad/Differentiator/CallFrame.h"
#include "clad/Differentiator/Exported.h"
#include "clad/Differentiator/Forward.h"
#include "clad/Differentiator/LibraryArrays.h"
#include "clad/Differentiator/LibraryComplex.h"
#include "clad/Differentiator/LibraryContainers.h"
#include "clad/Differentiator/LibraryCopies.h"
#include "clad/Differentiator/LibraryMemory.h"
#include "clad/Differentiator/LibraryOrder.h"
#include "clad/Differentiator/LibrarySearch.h"
#include "clad/Differentiator/NumericalDiff.h"
#include "clad/Differentiator/Parallel.h"
#include "clad/Differentiator/Returned.h"
#include "clad/Differentiator/Revolve.h"
#include "clad/Differentiator/STLBuiltins.h"
#include "clad/Differentiator/Signature.h"
#include "clad/Differentiator/SpecialFunctions.h"
#include "clad/Differentiator/Tape.h"
#include "clad/checkpoint.h"
#include "clad/opaque.h"

#if defined(__clang__)
#define CLAD_REQUEST(kind) [[clang::annotate(kind)]]
#else
#define CLAD_REQUEST(kind)
#endif

namespace clad {

/// Only exported files define it. Where it is missing, the linker reports it: its name is the message.
namespace this_file_was_compiled_without_the_clad_plugin {
entry_point call_clad_differentiate_for_its_target_in_CMake_or_compile_with_fplugin();
}

namespace detail {

/// The plugin puts its function in this place. Without the plugin the program does not link.
constexpr entry_point written_by_plugin() {
  if (std::is_constant_evaluated()) return nullptr;
  return this_file_was_compiled_without_the_clad_plugin::
      call_clad_differentiate_for_its_target_in_CMake_or_compile_with_fplugin();
}
/// No constant expression may call it; docs/differentiating.md says which derivatives they can execute.
inline void no_derivative_for_constant_expressions() {}

}  // namespace detail

enum class derivative_kind { gradient, value_and_gradient, error_estimate, pushforward, derivative };

/// The order of a derivative and options, combined: differentiate<clad::order::second>(f, "x").
enum order : unsigned { first = 1, second = 2, third = 3 };
enum opts : unsigned {
  vector_mode = 1U << 9,  ///< for forward mode: all parameters in one run
  enable_tbr = 1U << 10,  ///< this and similar options change nothing, because the analyses are always on
  disable_tbr = 1U << 11,
  enable_va = 1U << 14,
  disable_va = 1U << 15,
  enable_ua = 1U << 16,
  disable_ua = 1U << 17,
  enable_loop_analysis = 1U << 18,
  disable_loop_analysis = 1U << 19,
  enable_tbr_analysis = enable_tbr,
  disable_tbr_analysis = disable_tbr,
  enable_activity_analysis = enable_va,
  disable_activity_analysis = disable_va,
  enable_useful_analysis = enable_ua,
  disable_useful_analysis = disable_ua,
  diagonal_only = 1U << 13,  ///< for a Hessian: only the diagonal
};
/// Changes nothing: the place of a call decides whether its derivative is executed while the program is
/// compiled.
inline constexpr unsigned immediate_mode = 1U << 20;

/// The derivative of one function. execute() takes the function's arguments (for a member function the object
/// first), then one pointer per differentiated parameter, in the order they were named, to which the
/// derivative is added. A member function may be given a pointer to the object's adjoint before the others;
/// after setObject() the object is left out.
/// Trailing pointers may be left out; a first one of the object's class is then the object's adjoint, unless
/// the first parameter could be meant (with a list, any parameter). Afterwards every argument has its old
/// value: changes that the function makes through references and pointers are undone. Globals, and objects
/// that cannot be copied, are not restored. In a constant expression, execute() works where
/// docs/differentiating.md says; it then takes all pointers. Throws std::logic_error if there is
/// no derivative (docs/export.md), std::invalid_argument if an adjoint argument has the wrong type.
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
  /// The result of execute().
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
  /// The generated function itself, as constant expressions call it, with objects passed by reference.
  template <class A>
  using passed = std::conditional_t<std::is_class_v<A>, const A&, A>;
  template <class A>
  using adjoint_of = std::remove_const_t<std::remove_pointer_t<std::remove_cvref_t<A>>>*;
  template <class S, derivative_kind K>
  struct called_directly {
    using type = void (*)();
  };
  template <class... A>
  struct called_directly<std::tuple<A...>, derivative_kind::derivative> {
    using type = result (*)(passed<A>...);
  };
  template <class... A>
  struct called_directly<std::tuple<A...>, derivative_kind::gradient> {
    using type = void (*)(passed<A>..., adjoint_of<A>...);
  };
  static constexpr std::size_t kPrimals = std::tuple_size_v<primals>;
  static constexpr bool kMember = std::is_member_function_pointer_v<F>;
  template <class S>
  struct object_of {
    using type = object;
  };
  template <class S>
    requires kMember
  struct object_of<S> {
    using type = typename S::object;
  };
  /// The class whose object is differentiated; unused for a plain function.
  using object_class = typename object_of<signature>::type;
  template <class First = void, class...>
  static constexpr bool kBeginsWithObject = std::is_convertible_v<First, const volatile object_class&>;
  /// For a function object, whether another one is given before the arguments, which operator() could not
  /// take as its first argument.
  template <class First>
  static constexpr bool takes_first() {
    if constexpr (kPrimals == 0)
      return false;
    else
      return std::is_convertible_v<First, std::tuple_element_t<0, primals>>;
  }
  /// Whether an adjoint of the object's class may be meant for a parameter: the first, or any of them.
  template <bool Any, class... P>
  static constexpr bool could_be_of(std::type_identity<std::tuple<P...>>) {
    constexpr bool is[] = {detail::is_or_points_to<object_class, P>..., false};
    for (std::size_t i = kMember ? 1 : 0; i < sizeof...(P); ++i)
      if (is[i])
        return true;
      else if (!Any)
        return false;
    return false;
  }
  template <class First = void, class...>
  static constexpr bool kGivesObject = kBeginsWithObject<First> && !takes_first<First>();

 public:
  using direct_function = typename called_directly<primals, Kind>::type;

  /// The value of a variable may be computed before the plugin sets `entry`, so only `direct` makes a
  /// constant.
  constexpr derivative(F f, entry_point entry, const request& asked, direct_function direct = nullptr)
      : function_(f), entry_(entry), direct_(direct), asked_(asked) {
    if constexpr (kFunctor && std::is_pointer_v<F>) object_ = const_cast<object_class*>(f);
    if (!direct) detail::no_derivative_for_constant_expressions();
  }

  /// Executes for this object from now on, and the execute() of a member function then takes only its
  /// arguments. For a function object, the object that was differentiated is set from the start.
  void setObject(object_class* object)
    requires(kMember || kFunctor)
  {
    object_ = object;
  }
  void setObject(object_class& object)
    requires(kMember || kFunctor)
  {
    object_ = &object;
  }
  void clearObject() { object_ = nullptr; }

  template <class... A>
  constexpr result execute(A&&... args) const {
    if constexpr (requires(direct_function f) {
                    { f(std::forward<A>(args)...) } -> std::same_as<result>;
                  }) {
      if (std::is_constant_evaluated() || (direct_ && !entry_)) return direct_(std::forward<A>(args)...);
    }
    if constexpr (kMember && !kBeginsWithObject<A&...>) {
      if (!object_)
        throw std::logic_error(
            "clad: execute() of a member function needs an object, as its first argument or "
            "by setObject()");
      return execute(*object_, std::forward<A>(args)...);
    } else if constexpr (kFunctor && kGivesObject<A&...>) {
      return execute_of(std::forward<A>(args)...);
    } else if constexpr (kFunctor) {
      return execute_all(functor(), std::forward<A>(args)...);
    } else {
      return execute_all(nullptr, std::forward<A>(args)...);
    }
  }
  /// A callable that runs execute() and can outlive this object.
  auto getFunctionPtr() const {
    return [kept = *this](auto&&... args) { return kept.execute(std::forward<decltype(args)>(args)...); };
  }
  /// The generated C++.
  const char* getCode() const {
    const entry_point entry = find();
    return entry ? entry(nullptr) : "";
  }
  void dump() const { std::printf("The code is:\n%s\n", getCode()); }
  /// Whether the plugin wrote a derivative.
  explicit operator bool() const { return find() != nullptr; }

 private:
  /// A derivative may be made before the entries of an exported file are known.
  entry_point find() const { return entry_ ? entry_ : find_exported(function_, asked_); }

  /// Whether a reference to P binds to an A itself, and not to a value to which A is converted.
  template <class P, class A>
  static constexpr bool kRefersTo = std::is_convertible_v<std::remove_reference_t<A>*, P*> ||
                                    std::is_convertible_v<A, std::remove_const_t<P>&> ||
                                    requires(A&& a) { std::forward<A>(a).operator P&(); };

  /// A primal argument of type A as the function takes it: by reference, or converted to the parameter's
  /// type. A converted value is kept here, because a temporary would end before the derivative begins.
  template <class P, class A>
  struct held {
    explicit held(A&& a) : value(static_cast<P>(std::forward<A>(a))) {}
    void* address() { return const_cast<void*>(static_cast<const volatile void*>(&value)); }
    std::remove_cv_t<P> value;
  };
  template <class P, class A>
  struct held<P&, A> : held<P, A> {
    using held<P, A>::held;
  };
  template <class P, class A>
    requires(!std::is_const_v<P> || kRefersTo<P, A>)
  struct held<P&, A> {
    explicit held(A&& a) : value(&static_cast<P&>(a)) {}
    void* address() { return const_cast<void*>(static_cast<const volatile void*>(value)); }
    P* value;
  };
  template <class P, class A>
  struct held<P&&, A> : held<P, A> {
    using held<P, A>::held;
  };

  template <class O, class... A>
  result execute_of(O&& object, A&&... args) const {
    const volatile object_class& given = object;
    return execute_all(const_cast<const object_class*>(&given), std::forward<A>(args)...);
  }
  /// Whether a parameter of type P can be given an A, as above: by reference, or converted.
  template <class P, class A>
  static constexpr bool takes() {
    using plain = std::remove_reference_t<P>;
    if constexpr (!std::is_lvalue_reference_v<P>)
      return requires(A&& a) { static_cast<std::remove_cv_t<plain>>(std::forward<A>(a)); };
    else if constexpr (!std::is_const_v<plain> || kRefersTo<plain, A>)
      return requires(A&& a) { static_cast<P>(a); };
    else
      return std::is_convertible_v<A, plain>;
  }

  /// Whether an object of class T may be the adjoint of a parameter, or of the object, or all derivatives.
  template <class T, class... P>
  static constexpr bool may_be_adjoint(std::type_identity<std::tuple<P...>>) {
    const bool is[] = {std::is_same_v<T, detail::plain_class<P>>..., std::is_base_of_v<object_class, T>,
                       detail::is_matrix<T>};
    for (const bool one : is)
      if (one) return true;
    return false;
  }

  enum class mistake { none, argument, not_pointer, other_class };
  template <std::size_t I, class A>
  static constexpr mistake mistake_of() {
    using plain = std::remove_cvref_t<A>;
    using target = std::remove_cv_t<std::remove_pointer_t<plain>>;
    if constexpr (I < kPrimals)
      return takes<std::tuple_element_t<I, primals>, A>() ? mistake::none : mistake::argument;
    else if constexpr (Kind == derivative_kind::error_estimate && std::is_floating_point_v<plain>)
      return mistake::none;
    else if constexpr (!requires(plain& a) { detail::as_adjoint(a); })
      return mistake::not_pointer;
    else if constexpr (std::is_pointer_v<plain> && std::is_class_v<target>)
      return may_be_adjoint<target>(std::type_identity<primals>{}) ? mistake::none : mistake::other_class;
    else
      return mistake::none;
  }
  template <class... A, std::size_t... I>
  static constexpr mistake first_mistake(std::index_sequence<I...>) {
    const mistake found[] = {mistake_of<I, A>()..., mistake::none};
    for (const mistake one : found)
      if (one != mistake::none) return one;
    return mistake::none;
  }

  /// `self` is the function object, or null for a function. A wrong argument is reported in one sentence,
  /// without the errors that would follow from it.
  template <class... A>
  result execute_all(const void* self, A&&... args) const {
    constexpr bool all_given = sizeof...(A) >= kPrimals;
    constexpr mistake found =
        all_given ? first_mistake<A&&...>(std::index_sequence_for<A...>{}) : mistake::none;
    constexpr bool arguments_fit = found != mistake::argument, by_pointer = found != mistake::not_pointer,
                   of_that_class = found != mistake::other_class;
    static_assert(
        all_given,
        "execute() takes all arguments of the function, and then a pointer for each derivative that "
        "is asked for");
    static_assert(
        arguments_fit,
        "an argument of execute() is not one that the function takes: the arguments of the function "
        "come first, in their order, and then the pointers to the derivatives");
    static_assert(by_pointer,
                  "execute() takes a pointer to what a derivative is added to: write &d_x for d_x");
    static_assert(
        of_that_class,
        "execute() is given a pointer to an object of another class: the derivative with respect to "
        "a parameter is an object of the parameter's class");
    if constexpr (all_given && found == mistake::none)
      return run(self, std::index_sequence_for<A...>{}, std::forward<A>(args)...);
    else
      std::abort();
  }

  /// An adjoint is passed as a pointer, the error of an estimate as the variable itself.
  template <class A>
  static adjoint_argument given(A& argument) {
    if constexpr (Kind == derivative_kind::error_estimate && std::is_floating_point_v<A>)
      return detail::as_adjoint(&argument);
    else
      return detail::as_adjoint(argument);
  }

  /// Whether the first adjoint argument, of type A, can only belong to the object.
  template <class A>
  bool only_of_object() const {
    if constexpr ((kMember || kFunctor) && detail::points_to<object_class, A>) {
      const bool list = asked_.index >= 0 || !asked_.parameters.empty();
      return !(list ? could_be_of<true>(std::type_identity<primals>{})
                    : could_be_of<false>(std::type_identity<primals>{}));
    } else {
      return false;
    }
  }

  /// Argument `I` of execute(), which stands for a parameter, or points to an adjoint.
  template <std::size_t I, class A>
  struct argument : held<std::tuple_element_t<I, primals>, A> {
    using held<std::tuple_element_t<I, primals>, A>::held;
    void put(void** addresses, adjoint_argument*) { addresses[I] = this->address(); }
  };
  template <std::size_t I, class A>
    requires(I >= kPrimals)
  struct argument<I, A> {
    explicit argument(A&& a) : adjoint(given(a)) {}
    void put(void**, adjoint_argument* adjoints) { adjoints[I - kPrimals] = adjoint; }
    adjoint_argument adjoint;
  };
  /// All arguments. There may be hundreds, for which std::tuple and folds are not made.
  template <class Indices, class... A>
  struct all_arguments;
  template <std::size_t... I, class... A>
  struct all_arguments<std::index_sequence<I...>, A...> : argument<I, A>... {
    explicit all_arguments(A&&... args) : argument<I, A>(std::forward<A>(args))... {}
    void put(void** addresses, adjoint_argument* adjoints) {
      [[maybe_unused]] const int in_order[] = {0, (argument<I, A>::put(addresses, adjoints), 0)...};
    }
  };

  template <class Indices, class... A>
  result run([[maybe_unused]] const void* self, Indices, A&&... args) const {
    const entry_point entry = find();
    if (!entry)
      throw std::logic_error(
          "clad: there is no derivative: the file that asks for it was compiled without the clad plugin; "
          "call "
          "clad_differentiate(<target>) in CMake, or export it (docs/export.md)");
    constexpr std::size_t given_adjoints = sizeof...(A) - kPrimals;
    all_arguments<Indices, A&&...> values(std::forward<A>(args)...);
    void* addresses[kPrimals + 2] = {const_cast<void*>(self)};
    adjoint_argument adjoints[given_adjoints + 1] = {};
    values.put(addresses + kFunctor, adjoints);
    if constexpr (given_adjoints > 0)
      adjoints[0].of_object = only_of_object<std::tuple_element_t<kPrimals, std::tuple<A...>>>();
    if constexpr (!std::is_void_v<result>) {
      result out{};
      call_frame frame{addresses, adjoints, given_adjoints, &out};
      entry(&frame);
      return out;
    } else {
      call_frame frame{addresses, adjoints, given_adjoints, nullptr};
      entry(&frame);
    }
  }

  const object* functor() const
    requires kFunctor
  {
    if (object_) return object_;
    if constexpr (std::is_pointer_v<F>)
      throw std::logic_error(
          "clad: execute() of a function object that was cleared needs one, as its first argument or by "
          "setObject()");
    else
      return &function_;
  }

  F function_;
  entry_point entry_;
  direct_function direct_;
  object_class* object_ = nullptr;
  request asked_;
};

/// For what is no function, and for an object whose operator() is a template, overloaded or missing, which
/// the plugin reports.
template <class F, derivative_kind Kind>
  requires(!detail::function_like<F>)
class derivative<F, Kind> {
 public:
  using direct_function = void (*)();
  derivative(const F&, entry_point, const request&, direct_function = nullptr) {}
  template <class... A>
  std::conditional_t<Kind == derivative_kind::gradient, void, double> execute(A&&...) const {
    throw std::logic_error(
        "clad: no derivative exists of what is no function, or has not exactly one operator()");
  }
  const char* getCode() const { return ""; }
  void dump() const {}
  explicit operator bool() const { return false; }
};

/// Clad's name: `clad::CladFunction d = clad::gradient(f);`
template <class F, derivative_kind Kind = derivative_kind::gradient>
using CladFunction = derivative<F, Kind>;

// A named function object is kept by its address: it must live as long as its derivative is executed, and the
// derivative uses its state at that time.

/// The gradient of `f` with respect to the named parameters ("x, y", or the index of one; without a list,
/// all).
template <unsigned... Options, class F, class P = const char*>
CLAD_REQUEST("clad::gradient")
constexpr auto gradient(
    F&& f, P parameters = {}, entry_point entry = detail::written_by_plugin(),
    typename derivative<detail::callable_t<F>, derivative_kind::gradient>::direct_function direct = nullptr) {
  return derivative<detail::callable_t<F>, derivative_kind::gradient>(
      detail::callable(std::forward<F>(f)), entry,
      request::of("clad::gradient", parameters, (Options | ... | 0U)), direct);
}

/// The same, but execute() also returns the value of `f`, without a second evaluation.
template <class F>
CLAD_REQUEST("clad::value_and_gradient")
inline auto value_and_gradient(F&& f, const char* parameters = "",
                               entry_point entry = detail::written_by_plugin()) {
  return derivative<detail::callable_t<F>, derivative_kind::value_and_gradient>(
      detail::callable(std::forward<F>(f)), entry, request::of("clad::value_and_gradient", parameters));
}

/// The gradient of `f`, and to first order the rounding error of its value: execute() takes the arguments of
/// a gradient, and then a double, to which the estimate is added. Each number that is stored counts as if
/// it were rounded to float.
template <class F>
CLAD_REQUEST("clad::estimate_error")
inline auto estimate_error(F&& f, const char* parameters = "",
                           entry_point entry = detail::written_by_plugin()) {
  return derivative<detail::callable_t<F>, derivative_kind::error_estimate>(
      detail::callable(std::forward<F>(f)), entry, request::of("clad::estimate_error", parameters));
}

/// The directional derivative of `f`, by forward mode. execute() takes the function's arguments, then for
/// each named parameter a pointer to its tangent, the direction; it returns {value, pushforward}, the value
/// and its derivative in that direction. If `f` changes values through references and pointers, their
/// tangents change too. A parameter whose tangent is left out has the tangent zero.
template <class F>
CLAD_REQUEST("clad::pushforward")
inline auto pushforward(F&& f, const char* parameters = "", entry_point entry = detail::written_by_plugin()) {
  return derivative<detail::callable_t<F>, derivative_kind::pushforward>(
      detail::callable(std::forward<F>(f)), entry, request::of("clad::pushforward", parameters));
}

namespace detail {

/// The result of clad::differentiate. With vector_mode the derivatives go to the places of a gradient.
template <class F, unsigned... Options>
using forward =
    derivative<callable_t<F>, ((Options & opts::vector_mode) | ... | 0U) != 0 ? derivative_kind::gradient
                                                                              : derivative_kind::derivative>;

}  // namespace detail

/// The derivative of `f` with respect to one number, by forward mode: a parameter ("x", or its index) or an
/// element of one ("p[2]"). execute() takes the function's arguments and returns the derivative, of the order
/// given as in differentiate<2>(f, "x"). differentiate<clad::opts::vector_mode>(f, "x, y") takes several
/// numbers; its execute() takes the arguments and then a pointer for each, which receive the derivatives.
template <unsigned... Options, class F, class P = const char*>
CLAD_REQUEST("clad::differentiate")
constexpr auto differentiate(F&& f, P parameter = {}, entry_point entry = detail::written_by_plugin(),
                             typename detail::forward<F, Options...>::direct_function direct = nullptr) {
  static_assert(
      ((Options != 0) && ...),
      "clad::differentiate<0>: a derivative of order 0 is the function itself; take order 1 or more");
  return detail::forward<F, Options...>(detail::callable(std::forward<F>(f)), entry,
                                        request::of("clad::differentiate", parameter, (Options | ... | 0U)),
                                        direct);
}

/// The matrix of first derivatives of the values that `f` writes through pointers and references, and of its
/// result. It has a row for each output and a column for each of the named parameters and elements (without a
/// list, all numbers that `f` only reads or, if there are none, those that it changes). execute() takes the
/// function's arguments, then a pointer to a clad::matrix or to the first of as many numbers.
template <unsigned... Options, class F, class P = const char*>
CLAD_REQUEST("clad::jacobian")
inline auto jacobian(F&& f, P parameters = {}, entry_point entry = detail::written_by_plugin()) {
  return derivative<detail::callable_t<F>, derivative_kind::gradient>(
      detail::callable(std::forward<F>(f)), entry,
      request::of("clad::jacobian", parameters, (Options | ... | 0U)));
}

/// The matrix of second derivatives of `f` with respect to the named parameters and elements ("x, p[0:2]";
/// without a list, all numbers). execute() takes the function's arguments, then a pointer to the n * n
/// numbers, row by row, or to n numbers, the diagonal, with hessian<clad::opts::diagonal_only>(f).
template <unsigned... Options, class F, class P = const char*>
CLAD_REQUEST("clad::hessian")
inline auto hessian(F&& f, P parameters = {}, entry_point entry = detail::written_by_plugin()) {
  return derivative<detail::callable_t<F>, derivative_kind::gradient>(
      detail::callable(std::forward<F>(f)), entry,
      request::of("clad::hessian", parameters, (Options | ... | 0U)));
}

/// The Hessian of `f` times a vector, at the cost of a few gradients. execute() takes the function's
/// arguments, then for each named parameter a pointer to its part of the vector, and then for each a pointer
/// to which its part of the product is added.
template <class F>
CLAD_REQUEST("clad::hessian_vector_product")
inline auto hessian_vector_product(F&& f, const char* parameters = "",
                                   entry_point entry = detail::written_by_plugin()) {
  return derivative<detail::callable_t<F>, derivative_kind::gradient>(
      detail::callable(std::forward<F>(f)), entry, request::of("clad::hessian_vector_product", parameters));
}

}  // namespace clad
