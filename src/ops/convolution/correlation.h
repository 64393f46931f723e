// The geometry of convolutions, and the products that they are made of.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "ops/common/target.h"

namespace cladtorch::detail {

/// One spatial dimension of a convolution.
struct ConvolvedDimension {
  int64_t in = 1, out = 1, kernel = 1;
  int64_t stride = 1, padding = 0, dilation = 1;
};
using ConvolvedDimensions = std::array<ConvolvedDimension, 3>;  ///< depth, height, width

/// One dimension of a correlation. Result o is the sum over taps t of the source at
/// o * stride + first + t * step, which is zero outside of [0, in).
struct Axis {
  int64_t in, out;
  int64_t stride, taps, first, step;
  int64_t weight_first, weight_step;
  /// Result o is element place_first + o * place_step of `places`.
  int64_t places, place_first, place_step;

  int64_t lowest() const { return first + std::min<int64_t>(0, (taps - 1) * step); }
  /// From the lowest tap to the highest; 1 if there is none.
  int64_t reach() const { return std::max<int64_t>(taps - 1, 0) * std::abs(step) + 1; }
  /// In elements, of what tap t is multiplied by.
  int64_t weight_at(int64_t t) const { return weight_first + t * weight_step; }
  /// Of tap t from the lowest.
  int64_t offset(int64_t t) const { return first + t * step - lowest(); }
  /// The taps with which result o reads elements inside of the source: all from the first to before the last.
  std::pair<int64_t, int64_t> inside(int64_t o) const {
    const auto is_inside = [&](int64_t t) {
      const int64_t at = o * stride + first + t * step;
      return at >= 0 && at < in;
    };
    int64_t begin = 0, end = taps;
    while (begin < end && !is_inside(begin)) ++begin;
    while (begin < end && !is_inside(end - 1)) --end;
    return {begin, end};
  }
};
using Axes = std::array<Axis, 3>;

/// That of the result of a convolution.
Axis result_axis(const ConvolvedDimension& x, int64_t weight_step);
/// That of the gradient of its operand, at the places phase, phase + stride, ...: only every stride-th
/// element of the kernel meets them.
Axis operand_axis(const ConvolvedDimension& x, int64_t weight_step, int64_t phase);

/// result [batch, groups * out_channels, places...] = or += the sum over in_channels and taps of
/// source [batch, groups * in_channels, in...] times the weights, plus the bias of each channel unless null.
/// The weight of group g, out channel o and in channel i begins at
/// weight[g * weight_group + o * weight_out + i * weight_in]. Parallel; the bits do not depend on the number
/// of threads. T is float or double and Out the same; or T is bfloat16, sums are in float, and Out is either.
template <class T, class Out>
struct Correlation {
  int64_t batch, groups, in_channels, out_channels;
  Axes axes;
  const T *source, *weight;
  int64_t weight_group, weight_out, weight_in;
  const T* bias;
  Out* result;
  bool add;

  void run() const;
};

/// weight [groups * left_channels, right_channels, kernel...] = or += the sum over images and places o of
/// left [batch, groups * left_channels, out...] at o times right [batch, groups * right_channels, in...] at
/// o * stride - padding + t * dilation: the gradient of a convolution's weight, where `left` is that of its
/// result and `right` its operand. Otherwise as Correlation.
template <class T, class Out>
struct WeightCorrelation {
  int64_t batch, groups, left_channels, right_channels;
  ConvolvedDimensions dimensions;
  const T *left, *right;
  Out* weight;
  bool add;

  void run() const;
};

}  // namespace cladtorch::detail
