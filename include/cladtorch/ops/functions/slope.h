// Derivatives of pointwise functions, of those in functions.h and of any other F: a class with an operator()
// of a T, which is float, double or a Dual number of them, and of a vector of floats where the library has
// it.
#pragma once

#include <type_traits>

#include "cladtorch/ops/functions/derivatives.h"

namespace cladtorch::functions {

/// The functions of functions.h are numbered.
enum class Index : int {
#define CLADTORCH_INDEX(F) F,
  CLADTORCH_FUNCTIONS(CLADTORCH_INDEX) count
#undef CLADTORCH_INDEX
};
template <class F>
inline constexpr int index_of = -1;
#define CLADTORCH_INDEX_OF(F) \
  template <>                 \
  inline constexpr int index_of<F> = static_cast<int>(Index::F);
CLADTORCH_FUNCTIONS(CLADTORCH_INDEX_OF)
#undef CLADTORCH_INDEX_OF

/// Whether F is a function of functions_of_two.h.
template <class F>
inline constexpr bool is_of_two = false;
#define CLADTORCH_IS_OF_TWO(F) \
  template <>                  \
  inline constexpr bool is_of_two<F> = true;
CLADTORCH_FUNCTIONS_OF_TWO(CLADTORCH_IS_OF_TWO)
#undef CLADTORCH_IS_OF_TWO

/// The derivative of f at x: the one that f has, the one that the plugin wrote, or that of Dual numbers.
template <class F, class T>
CLADTORCH_HOST_DEVICE inline T slope(const F& f, T x) {
  if constexpr (requires { f.slope(x); }) {
    return f.slope(x);
  } else if constexpr (requires { pushforward(f, x, x); }) {
    return pushforward(f, x, T(1)).pushforward;
  } else {
    return f(Dual<T>{x, T(1)}).pushforward;
  }
}

/// The second derivative.
template <class F, class T>
CLADTORCH_HOST_DEVICE inline T curvature(const F& f, T x) {
  return slope(f, Dual<T>{x, T(1)}).pushforward;
}

/// The derivatives of a function of two elements, as the plugin wrote them or by Dual numbers.
template <class F, class T>
CLADTORCH_HOST_DEVICE inline T first_slope(const F& f, T a, T b) {
  if constexpr (requires { first_pushforward(f, a, b, a); }) {
    return first_pushforward(f, a, b, T(1)).pushforward;
  } else {
    return f(Dual<T>{a, T(1)}, Dual<T>{b, T(0)}).pushforward;
  }
}
template <class F, class T>
CLADTORCH_HOST_DEVICE inline T second_slope(const F& f, T a, T b) {
  if constexpr (requires { second_pushforward(f, a, b, b); }) {
    return second_pushforward(f, a, b, T(1)).pushforward;
  } else {
    return f(Dual<T>{a, T(0)}, Dual<T>{b, T(1)}).pushforward;
  }
}

/// How many parameters F has: its members, which are doubles.
template <class F>
inline constexpr int parameter_count = std::is_empty_v<F> ? 0 : static_cast<int>(sizeof(F) / sizeof(double));

/// An F whose parameter of this number is 1, the others 0: what the derivative by it takes.
template <class F>
CLADTORCH_HOST_DEVICE constexpr F direction(int parameter) {
  static_assert(sizeof(F) % sizeof(double) == 0 && std::is_aggregate_v<F>,
                "the members of F must be doubles");
  if constexpr (parameter_count<F> == 1) return F{1};
  if constexpr (parameter_count<F> == 2) return parameter == 0 ? F{1, 0} : F{0, 1};
}

/// Whether the backward pass of F needs its value, and not x.
template <class F>
concept HasSlopeOfResult = requires(const F& f, double y) { f.slope_of_result(y); };

/// The derivative as the backward pass computes it: `at` is x, or y where F has a slope of that.
template <class F, class T>
CLADTORCH_HOST_DEVICE inline T slope_at(const F& f, T at) {
  if constexpr (HasSlopeOfResult<F>) {
    return f.slope_of_result(at);
  } else {
    return slope(f, at);
  }
}

}  // namespace cladtorch::functions
