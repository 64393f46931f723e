// The properties of a function that follow from its type: its result, and its arguments as execute() takes
// them.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace clad::detail {

/// The properties of a function type with any qualifiers. `called_for<C>` is the arguments of a member
/// function of class C, the object first. `&&` and C's ellipsis change nothing: the object of execute()
/// outlives the call, and there are no more arguments than parameters.
template <class F>
struct function_type;
#define CLAD_FUNCTION_TYPE(CV, QUALIFIERS, ...)                                           \
  template <class R, bool NoThrow, class... A>                                            \
  struct function_type<R(A... __VA_OPT__(, ) __VA_ARGS__) QUALIFIERS noexcept(NoThrow)> { \
    using result = R;                                                                     \
    using arguments = std::tuple<A...>;                                                   \
    template <class C>                                                                    \
    using called_for = std::tuple<C CV&, A...>;                                           \
  };
#define CLAD_FUNCTION_TYPES(CV)    \
  CLAD_FUNCTION_TYPE(CV, CV)       \
  CLAD_FUNCTION_TYPE(CV, CV&)      \
  CLAD_FUNCTION_TYPE(CV, CV&&)     \
  CLAD_FUNCTION_TYPE(CV, CV, ...)  \
  CLAD_FUNCTION_TYPE(CV, CV&, ...) \
  CLAD_FUNCTION_TYPE(CV, CV&&, ...)
CLAD_FUNCTION_TYPES()
CLAD_FUNCTION_TYPES(const)
CLAD_FUNCTION_TYPES(volatile)
CLAD_FUNCTION_TYPES(const volatile)
#undef CLAD_FUNCTION_TYPES
#undef CLAD_FUNCTION_TYPE

template <class F>
struct signature;
template <class F>
struct signature<F*> {
  using result = typename function_type<F>::result;
  using arguments = typename function_type<F>::arguments;
};
template <class F, class C>
struct signature<F C::*> {
  using object = C;
  using result = typename function_type<F>::result;
  using arguments = typename function_type<F>::template called_for<C>;
  using plain = typename function_type<F>::arguments;
};

template <class F>
concept function_object = std::is_class_v<F> && requires { &F::operator(); };
/// For a pointer to a function object, the object's class.
template <class F>
struct pointee {
  using type = F;
};
template <class F>
  requires std::is_class_v<F>
struct pointee<F*> {
  using type = std::remove_cv_t<F>;
};
/// Whether derivatives of an F can be taken.
template <class F>
concept function_like = function_object<typename pointee<F>::type> || std::is_member_function_pointer_v<F> ||
                        std::is_function_v<std::remove_pointer_t<F>>;
/// What a derivative keeps of its function: the address of a named function object, so that it sees later
/// changes, and a copy of anything else.
template <class F>
constexpr auto callable(F&& f) {
  if constexpr (std::is_lvalue_reference_v<F> && std::is_class_v<std::remove_cvref_t<F>>)
    return std::addressof(f);
  else
    return std::decay_t<F>(std::forward<F>(f));
}
template <class F>
using callable_t = decltype(callable(std::declval<F>()));

/// The class that a parameter of type P is of, refers to or points to.
template <class P>
using plain_class =
    std::remove_cv_t<std::remove_all_extents_t<std::remove_pointer_t<std::remove_cvref_t<P>>>>;
/// Whether an adjoint argument of type A is a pointer to an object of class C or of one derived from it, and
/// whether one for a parameter of type P could be too.
template <class C, class A>
inline constexpr bool points_to = std::is_pointer_v<std::remove_cvref_t<A>> &&
                                  std::is_base_of_v<C, std::remove_pointer_t<std::remove_cvref_t<A>>>;
template <class C, class P>
inline constexpr bool is_or_points_to = std::is_base_of_v<C, plain_class<P>>;

}  // namespace clad::detail
