// The code of a pointwise function, made of its class. A project includes it beside a class of its own, and
// calls pointwise() with that: the loops are then of single elements and on the CPU. The functions of the
// library have vectors and devices besides.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "cladtorch/ops/functions/slope.h"
#include "cladtorch/ops/pointwise.h"
#include "cladtorch/tensor/gradient_target.h"

namespace cladtorch::detail {

/// y = f(x) of n elements; `f` points to an object of the class.
struct PointwiseValue {
  void (*of_float)(const void* f, int64_t n, const float* x, float* y);
  void (*of_double)(const void* f, int64_t n, const double* x, double* y);
};
/// d_x = or += d_y times one of f's derivatives at `at`.
struct PointwiseSlope {
  void (*of_float)(const void* f, int64_t n, const float* at, const float* d_y, float* d_x, bool add);
  void (*of_double)(const void* f, int64_t n, const double* at, const double* d_y, double* d_x, bool add);
};

struct PointwiseCode {
  const char* name;
  int parameters;  ///< how many doubles an object of the class has
  PointwiseValue value;
  std::array<PointwiseSlope, 5> slopes;  ///< by Slope
  // Null without code for devices. The operands are dense.
  void (*value_on_device)(const void* f, const Tensor& x, const GradientTarget& y);
  void (*slope_on_device)(const void* f, Slope slope, const Tensor& at, const Tensor& d_y,
                          const GradientTarget& d_x);
};

// The same as functions of elements, which hold the object.

template <class F>
struct ValueOf {
  static constexpr const char* name = F::name;
  F f;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return f(x);
  }
};
/// d_y times the derivative.
template <class F, Slope slope>
struct SlopeOf {
  static constexpr const char* name = F::name;
  F f;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T at, T d_y) const {
    if constexpr (slope == Slope::of_backward) {
      return d_y * functions::slope_at(f, at);
    } else if constexpr (slope == Slope::first) {
      return d_y * functions::slope(f, at);
    } else if constexpr (slope == Slope::second) {
      return d_y * functions::curvature(f, at);
    } else {
      return d_y * pushforward(f, at,
                               functions::direction<F>(static_cast<int>(slope) -
                                                       static_cast<int>(Slope::by_parameter)))
                       .pushforward;
    }
  }
};

/// The loops of a G, which is made of an F.
template <class F, class G>
struct PointwiseLoops {
  template <class T>
  static void values(const void* f, int64_t n, const T* x, T* y) {
    const G g{*static_cast<const F*>(f)};
    for (int64_t i = 0; i < n; ++i) y[i] = g(x[i]);
  }
  template <class T>
  static void slopes(const void* f, int64_t n, const T* at, const T* d_y, T* d_x, bool add) {
    const G g{*static_cast<const F*>(f)};
    if (add) {
      for (int64_t i = 0; i < n; ++i) d_x[i] += g(at[i], d_y[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) d_x[i] = g(at[i], d_y[i]);
    }
  }
};

template <class F, Slope slope>
inline constexpr PointwiseSlope slope_loops = {PointwiseLoops<F, SlopeOf<F, slope>>::template slopes<float>,
                                               PointwiseLoops<F, SlopeOf<F, slope>>::template slopes<double>};

template <class F>
constexpr PointwiseCode code_of_loops() {
  constexpr int parameters = functions::parameter_count<F>;
  static_assert(parameters <= 2, "a function of more than two parameters");
  using Values = PointwiseLoops<F, ValueOf<F>>;
  PointwiseCode code{
      F::name,
      parameters,
      {Values::template values<float>, Values::template values<double>},
      {slope_loops<F, Slope::of_backward>, slope_loops<F, Slope::first>, slope_loops<F, Slope::second>},
      nullptr,
      nullptr};
  if constexpr (requires(F f, double x) { pushforward(f, x, f); }) {
    if constexpr (parameters > 0) code.slopes[3] = slope_loops<F, Slope::by_parameter>;
    if constexpr (parameters > 1) code.slopes[4] = slope_loops<F, Slope::by_second_parameter>;
  }
  return code;
}

/// The code of a function of the library, in the library.
template <class F>
const PointwiseCode& library_code();

template <class F>
const PointwiseCode& pointwise_code() {
  if constexpr (functions::index_of<F> >= 0) {
    return library_code<F>();
  } else {
    static constexpr PointwiseCode code = code_of_loops<F>();
    return code;
  }
}

}  // namespace cladtorch::detail
