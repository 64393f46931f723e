// Tangents of operations on images.
#pragma once

#include "cladtorch/ops/batch_norm.h"
#include "cladtorch/ops/convolution.h"
#include "cladtorch/ops/pooling.h"
#include "cladtorch/ops/pushforward/arithmetic.h"
#include "cladtorch/ops/pushforward/layers.h"

namespace clad::custom_derivatives::cladtorch {

// Convolutions are linear in x, in the weight and in the bias.
#define CLADTORCH_CONVOLUTION_TANGENT(function, Options)                                                   \
  inline Tangent function##_pushforward(const Tensor& x, const Tensor& weight, const Tensor& bias,         \
                                        const Options& options, const Tensor& d_x, const Tensor& d_weight, \
                                        const Tensor& d_bias) {                                            \
    const Tensor y = ops::function(x, weight, bias, options);                                              \
    Tensor d_y;                                                                                            \
    if (d_x.defined()) d_y = ops::function(d_x, weight, d_bias, options);                                  \
    if (d_x.defined() && d_weight.defined()) {                                                             \
      d_y = ops::add(d_y, ops::function(x, d_weight, Tensor(), options));                                  \
    } else if (d_weight.defined()) {                                                                       \
      d_y = ops::function(x, d_weight, d_bias, options);                                                   \
    } else if (!d_x.defined() && d_bias.defined()) {                                                       \
      d_y = ops::function(ops::zeros(x.shape(), x.dtype()), weight, d_bias, options);                      \
    }                                                                                                      \
    return {y, d_y};                                                                                       \
  }
CLADTORCH_CONVOLUTION_TANGENT(conv1d, ConvOptions)
CLADTORCH_CONVOLUTION_TANGENT(conv2d, ConvOptions)
CLADTORCH_CONVOLUTION_TANGENT(conv3d, ConvOptions)
CLADTORCH_CONVOLUTION_TANGENT(conv_transpose1d, ConvTransposeOptions)
CLADTORCH_CONVOLUTION_TANGENT(conv_transpose2d, ConvTransposeOptions)
CLADTORCH_CONVOLUTION_TANGENT(conv_transpose3d, ConvTransposeOptions)
#undef CLADTORCH_CONVOLUTION_TANGENT

inline Tangent max_pool1d_pushforward(const Tensor& x, const PerDimension& window, const PoolOptions& options,
                                      const Tensor& d_x) {
  const Tensor y = ops::max_pool1d(x, window, options);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::tangents::of_max_pool(1, x, window, options, d_x)};
}
inline Tangent max_pool2d_pushforward(const Tensor& x, const PerDimension& window, const PoolOptions& options,
                                      const Tensor& d_x) {
  const Tensor y = ops::max_pool2d(x, window, options);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::tangents::of_max_pool(2, x, window, options, d_x)};
}

inline Tangent avg_pool1d_pushforward(const Tensor& x, const PerDimension& window,
                                      const AvgPoolOptions& options, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::avg_pool1d(x, window, options), Tensor()};
  return {ops::avg_pool1d(x, window, options), ops::avg_pool1d(d_x, window, options)};
}
inline Tangent avg_pool2d_pushforward(const Tensor& x, const PerDimension& window,
                                      const AvgPoolOptions& options, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::avg_pool2d(x, window, options), Tensor()};
  return {ops::avg_pool2d(x, window, options), ops::avg_pool2d(d_x, window, options)};
}
inline Tangent adaptive_avg_pool1d_pushforward(const Tensor& x, const PerDimension& size, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::adaptive_avg_pool1d(x, size), Tensor()};
  return {ops::adaptive_avg_pool1d(x, size), ops::adaptive_avg_pool1d(d_x, size)};
}
inline Tangent adaptive_avg_pool2d_pushforward(const Tensor& x, const PerDimension& size, const Tensor& d_x) {
  if (!d_x.defined()) return {ops::adaptive_avg_pool2d(x, size), Tensor()};
  return {ops::adaptive_avg_pool2d(x, size), ops::adaptive_avg_pool2d(d_x, size)};
}
inline Tangent interpolate_pushforward(const Tensor& x, const PerDimension& size, Interpolation mode,
                                       bool align_corners, const Tensor& d_x) {
  const Tensor y = ops::interpolate(x, size, mode, align_corners);
  if (!d_x.defined()) return {y, Tensor()};
  return {y, ops::interpolate(d_x, size, mode, align_corners)};
}

}  // namespace clad::custom_derivatives::cladtorch

namespace cladtorch::tangents {

/// A parameter [C] as one that broadcasts to x [N, C, ...]; undefined stays so.
inline Tensor as_channels(const Tensor& parameter, const Tensor& x) {
  if (!parameter.defined()) return parameter;
  Shape shape{parameter.size(0)};
  for (int i = 2; i < x.dim(); ++i) shape.push_back(1);
  return parameter.reshape(shape);
}

/// The sets that are normalized together as rows: groups of each image's channels, or, for 0 groups, channels
/// of all images.
inline Tensor as_sets(const Tensor& x, int64_t groups) {
  if (!x.defined()) return x;
  if (groups == 0) return x.transpose(0, 1).reshape({x.size(1), -1});
  return x.reshape({x.size(0) * groups, -1});
}
inline Tensor from_sets(const Tensor& rows, const Shape& shape, int64_t groups) {
  if (!rows.defined()) return rows;
  if (groups != 0) return rows.reshape(shape);
  Shape turned = shape;
  turned[0] = shape[1];
  turned[1] = shape[0];
  return rows.reshape(turned).transpose(0, 1);
}

/// The tangent of normal * weight + bias.
inline Tensor affine(const Tensor& normal, const Tensor& d_normal, const Tensor& weight,
                     const Tensor& d_weight, const Tensor& d_bias) {
  Tensor d_y = d_normal;
  if (weight.defined()) d_y = times(d_normal, as_channels(weight, normal));
  return plus(plus(d_y, times(as_channels(d_weight, normal), normal)),
              shaped(as_channels(d_bias, normal), normal));
}

/// That of a normalization by statistics of x itself.
inline Tensor normalized_sets(const Tensor& x, int64_t groups, const Tensor& weight, double eps,
                              const Tensor& d_x, const Tensor& d_weight, const Tensor& d_bias, double d_eps) {
  const Tensor c = centered(as_sets(x, groups));
  const Tensor r = reciprocal_rms(c, eps);
  const Tensor n = mul(c, r);
  const Tensor d_n = of_normalized(n, r, centered(as_sets(d_x, groups)), d_eps);
  return affine(from_sets(n, x.shape(), groups), from_sets(d_n, x.shape(), groups), weight, d_weight, d_bias);
}

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {

/// The result does not depend on the momentum, nor on the running statistics while training.
inline Tangent batch_norm_pushforward(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                                      const Tensor& weight, const Tensor& bias, bool training,
                                      double momentum, double eps, const Tensor& d_x,
                                      const Tensor& d_running_mean, const Tensor& d_running_var,
                                      const Tensor& d_weight, const Tensor& d_bias, double, double d_eps) {
  const Tensor y = ops::batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps);
  if (training) return {y, ops::tangents::normalized_sets(x, 0, weight, eps, d_x, d_weight, d_bias, d_eps)};
  const Tensor r = ops::tangents::as_channels(ops::rsqrt(ops::add_scalar(running_var, eps)), x);
  const Tensor n = ops::mul(ops::sub(x, ops::tangents::as_channels(running_mean, x)), r);
  const Tensor d_c =
      ops::tangents::minus(ops::tangents::shaped(d_x, x), ops::tangents::as_channels(d_running_mean, x));
  const Tensor d_v = ops::tangents::as_channels(
      ops::tangents::plus(d_running_var, ops::scale(ops::ones(running_var.shape(), x.dtype()), d_eps)), x);
  const Tensor d_n = ops::tangents::minus(ops::tangents::times(d_c, r),
                                          ops::scale(ops::mul(ops::mul(n, ops::mul(r, r)), d_v), 0.5));
  return {y, ops::tangents::affine(n, d_n, weight, d_weight, d_bias)};
}
inline Tangent group_norm_pushforward(const Tensor& x, int64_t groups, const Tensor& weight,
                                      const Tensor& bias, double eps, const Tensor& d_x,
                                      const Tensor& d_weight, const Tensor& d_bias, double d_eps) {
  return {ops::group_norm(x, groups, weight, bias, eps),
          ops::tangents::normalized_sets(x, groups, weight, eps, d_x, d_weight, d_bias, d_eps)};
}
inline Tangent instance_norm_pushforward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                         double eps, const Tensor& d_x, const Tensor& d_weight,
                                         const Tensor& d_bias, double d_eps) {
  return {ops::instance_norm(x, weight, bias, eps),
          ops::tangents::normalized_sets(x, x.size(1), weight, eps, d_x, d_weight, d_bias, d_eps)};
}

}  // namespace clad::custom_derivatives::cladtorch
