// The code of a function of two elements, made of its class. A project includes it beside a class of its own,
// and calls pairwise() with that; its loops are then on the CPU.
#pragma once

#include <array>
#include <cstdint>

#include "cladtorch/ops/functions/slope.h"
#include "cladtorch/ops/pairwise.h"
#include "cladtorch/tensor/gradient_target.h"

namespace cladtorch::detail {

/// A row of operands, whose elements are `a_step` and `b_step` apart, and of dense y, d_y and d.
template <class T>
struct PairRow {
  int64_t n;
  const T* a;
  int64_t a_step;
  const T* b;
  int64_t b_step;
};
struct PairwiseValue {
  void (*of_float)(const PairRow<float>& row, float* y);
  void (*of_double)(const PairRow<double>& row, double* y);
};
/// d = or += d_y times a derivative.
struct PairwiseSlope {
  void (*of_float)(const PairRow<float>& row, const float* d_y, float* d, bool add);
  void (*of_double)(const PairRow<double>& row, const double* d_y, double* d, bool add);
};

struct PairwiseCode {
  const char* name;
  PairwiseValue value;
  std::array<PairwiseSlope, 5> slopes;  ///< by PairSlope
  // Null without code for devices. y, d_y and d are dense and of one shape, to which a and b broadcast.
  void (*value_on_device)(const Tensor& a, const Tensor& b, const Shape& shape, const GradientTarget& y);
  void (*slope_on_device)(PairSlope slope, const Tensor& a, const Tensor& b, const Tensor& d_y,
                          const GradientTarget& d);
};

/// d_y times the derivative, as a function of elements.
template <class F, PairSlope slope>
struct PairSlopeOf {
  static constexpr const char* name = F::name;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b, T d_y) const {
    using functions::Dual;
    const F f;
    if constexpr (slope == PairSlope::first) {
      return d_y * functions::first_slope(f, a, b);
    } else if constexpr (slope == PairSlope::second) {
      return d_y * functions::second_slope(f, a, b);
    } else if constexpr (slope == PairSlope::first_first) {
      return d_y * functions::first_slope(f, Dual<T>{a, T(1)}, Dual<T>{b, T(0)}).pushforward;
    } else if constexpr (slope == PairSlope::first_second) {
      return d_y * functions::first_slope(f, Dual<T>{a, T(0)}, Dual<T>{b, T(1)}).pushforward;
    } else {
      return d_y * functions::second_slope(f, Dual<T>{a, T(0)}, Dual<T>{b, T(1)}).pushforward;
    }
  }
};

template <class F, class T>
void pair_values(const PairRow<T>& row, T* y) {
  const F f;
  for (int64_t i = 0; i < row.n; ++i) y[i] = f(row.a[i * row.a_step], row.b[i * row.b_step]);
}
template <class G, class T>
void pair_slopes(const PairRow<T>& row, const T* d_y, T* d, bool add) {
  const G g;
  for (int64_t i = 0; i < row.n; ++i) {
    const T share = g(row.a[i * row.a_step], row.b[i * row.b_step], d_y[i]);
    d[i] = add ? d[i] + share : share;
  }
}

template <class F, PairSlope slope>
inline constexpr PairwiseSlope pair_slope_loops = {pair_slopes<PairSlopeOf<F, slope>, float>,
                                                   pair_slopes<PairSlopeOf<F, slope>, double>};

template <class F>
constexpr PairwiseCode pair_code_of_loops() {
  return {F::name,
          {pair_values<F, float>, pair_values<F, double>},
          {pair_slope_loops<F, PairSlope::first>, pair_slope_loops<F, PairSlope::second>,
           pair_slope_loops<F, PairSlope::first_first>, pair_slope_loops<F, PairSlope::first_second>,
           pair_slope_loops<F, PairSlope::second_second>},
          nullptr,
          nullptr};
}

/// The code of a function of the library, in the library.
template <class F>
const PairwiseCode& library_pair_code();

template <class F>
const PairwiseCode& pairwise_code() {
  if constexpr (functions::is_of_two<F>) {
    return library_pair_code<F>();
  } else {
    static constexpr PairwiseCode code = pair_code_of_loops<F>();
    return code;
  }
}

}  // namespace cladtorch::detail
