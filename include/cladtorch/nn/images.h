// Layers for images and sequences of channels: x is [N, C, L], [N, C, H, W] or [N, C, D, H, W].
#pragma once

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

namespace detail {
/// Weights [first, second, kernel...] of `dims` dimensions, and a bias [n] for them, uniform in
/// +-1 / sqrt(second * kernel).
Tensor kernel_weights(int64_t first, int64_t second, int dims, const PerDimension& kernel, Random& random,
                      DType dtype);
Tensor kernel_bias(int64_t n, const Tensor& weight, Random& random);
}  // namespace detail

/// A convolution of `dims` dimensions; new weights and biases are uniform in +-1 / sqrt(C / groups * kernel),
/// as in PyTorch.
template <int dims>
struct Conv {
  Tensor weight;  ///< [out, in / groups, kernel...]
  Tensor bias;    ///< [out], or undefined
  CLAD_CONSTANT ConvOptions options;

  Conv() = default;
  Conv(int64_t in, int64_t out, const PerDimension& kernel, Random& random, const ConvOptions& options = {},
       bool with_bias = true, DType dtype = DType::float32)
      : options(options) {
    require(options.groups > 0 && in % options.groups == 0, "Conv", dims, "d: ", in,
            " channels cannot be divided into ", options.groups, " groups");
    weight = detail::kernel_weights(out, in / options.groups, dims, kernel, random, dtype);
    if (with_bias) bias = detail::kernel_bias(out, weight, random);
  }

  Tensor forward(const Tensor& x) const {
    if constexpr (dims == 1) return conv1d(x, weight, bias, options);
    if constexpr (dims == 2) return conv2d(x, weight, bias, options);
    if constexpr (dims == 3) return conv3d(x, weight, bias, options);
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight, bias)
};
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

/// A transposed convolution; new weights are uniform in +-1 / sqrt(out / groups * kernel).
template <int dims>
struct ConvTranspose {
  Tensor weight;  ///< [in, out / groups, kernel...]
  Tensor bias;    ///< [out], or undefined
  CLAD_CONSTANT ConvTransposeOptions options;

  ConvTranspose() = default;
  ConvTranspose(int64_t in, int64_t out, const PerDimension& kernel, Random& random,
                const ConvTransposeOptions& options = {}, bool with_bias = true, DType dtype = DType::float32)
      : options(options) {
    require(options.groups > 0 && out % options.groups == 0, "ConvTranspose", dims, "d: ", out,
            " channels cannot be divided into ", options.groups, " groups");
    weight = detail::kernel_weights(in, out / options.groups, dims, kernel, random, dtype);
    if (with_bias) bias = detail::kernel_bias(out, weight, random);
  }

  Tensor forward(const Tensor& x) const {
    if constexpr (dims == 1) return conv_transpose1d(x, weight, bias, options);
    if constexpr (dims == 2) return conv_transpose2d(x, weight, bias, options);
    if constexpr (dims == 3) return conv_transpose3d(x, weight, bias, options);
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight, bias)
};
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

/// Normalizes each channel of x [N, C, ...]: by the batch inside a TrainingScope, else by the running
/// statistics. These are frozen tensors among the parameters, so that they are saved and loaded with them but
/// not trained.
struct BatchNorm {
  Tensor weight;        ///< [C], ones at first, or undefined
  Tensor bias;          ///< [C], zeros at first, or undefined
  Tensor running_mean;  ///< [C], zeros at first
  Tensor running_var;   ///< [C], ones at first
  CLAD_CONSTANT double momentum = 0.1;
  CLAD_CONSTANT double epsilon = 1e-5;

  BatchNorm() = default;
  explicit BatchNorm(int64_t channels, double epsilon = 1e-5, double momentum = 0.1, bool affine = true,
                     DType dtype = DType::float32);

  Tensor forward(const Tensor& x) const {
    return batch_norm(x, running_mean, running_var, weight, bias, TrainingScope::is_active(), momentum,
                      epsilon);
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight, bias, running_mean, running_var)
};
using BatchNorm1d = BatchNorm;
using BatchNorm2d = BatchNorm;
using BatchNorm3d = BatchNorm;

/// Normalizes groups of channels of each image.
struct GroupNorm {
  Tensor weight;  ///< [C], ones at first
  Tensor bias;    ///< [C], zeros at first
  CLAD_CONSTANT int64_t groups = 1;
  CLAD_CONSTANT double epsilon = 1e-5;

  GroupNorm() = default;
  GroupNorm(int64_t groups, int64_t channels, double epsilon = 1e-5, DType dtype = DType::float32);

  Tensor forward(const Tensor& x) const { return group_norm(x, groups, weight, bias, epsilon); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight, bias)
};

/// Normalizes each channel of each image.
struct InstanceNorm {
  Tensor weight;  ///< [C], or undefined, as in PyTorch unless `affine`
  Tensor bias;    ///< [C], or undefined
  CLAD_CONSTANT double epsilon = 1e-5;

  InstanceNorm() = default;
  explicit InstanceNorm(int64_t channels, bool affine = false, double epsilon = 1e-5,
                        DType dtype = DType::float32);

  Tensor forward(const Tensor& x) const { return instance_norm(x, weight, bias, epsilon); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight, bias)
};
using InstanceNorm1d = InstanceNorm;
using InstanceNorm2d = InstanceNorm;

// Layers without parameters.

struct MaxPool1d {
  CLAD_CONSTANT PerDimension window = 2;
  CLAD_CONSTANT PoolOptions options = {};

  Tensor forward(const Tensor& x) const { return max_pool1d(x, window, options); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};
struct MaxPool2d {
  CLAD_CONSTANT PerDimension window = 2;
  CLAD_CONSTANT PoolOptions options = {};

  Tensor forward(const Tensor& x) const { return max_pool2d(x, window, options); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};
struct AvgPool1d {
  CLAD_CONSTANT PerDimension window = 2;
  CLAD_CONSTANT AvgPoolOptions options = {};

  Tensor forward(const Tensor& x) const { return avg_pool1d(x, window, options); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};
struct AvgPool2d {
  CLAD_CONSTANT PerDimension window = 2;
  CLAD_CONSTANT AvgPoolOptions options = {};

  Tensor forward(const Tensor& x) const { return avg_pool2d(x, window, options); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};
struct AdaptiveAvgPool1d {
  CLAD_CONSTANT PerDimension size = 1;

  Tensor forward(const Tensor& x) const { return adaptive_avg_pool1d(x, size); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};
struct AdaptiveAvgPool2d {
  CLAD_CONSTANT PerDimension size = 1;

  Tensor forward(const Tensor& x) const { return adaptive_avg_pool2d(x, size); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

/// x [N, C, L] or [N, C, H, W] with each extent `scale` times as large.
struct Upsample {
  CLAD_CONSTANT int64_t scale = 2;
  CLAD_CONSTANT Interpolation mode = Interpolation::nearest;

  Tensor forward(const Tensor& x) const {
    if (x.dim() == 3) return interpolate(x, x.size(2) * scale, mode);
    return interpolate(x, {x.size(2) * scale, x.size(3) * scale}, mode);
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

/// Drops whole channels of x [N, C, ...], inside a TrainingScope. Source: Tompson et al., 2014.
struct Dropout2d {
  CLAD_CONSTANT double probability = 0.5;

  Tensor forward(const Tensor& x) const {
    Shape shape{x.size(0), x.size(1)};
    for (int i = 2; i < x.dim(); ++i) shape.push_back(1);
    return x * dropout(ones(shape, x.dtype()), probability);
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

/// [N, C factor^2, H, W] as [N, C, H factor, W factor]. Source: Shi et al., 2016.
struct PixelShuffle {
  CLAD_CONSTANT int64_t factor = 2;

  Tensor forward(const Tensor& x) const {
    const int64_t channels = x.size(1) / (factor * factor);
    return x.reshape({x.size(0), channels, factor, factor, x.size(2), x.size(3)})
        .permute({0, 1, 4, 2, 5, 3})
        .reshape({x.size(0), channels, x.size(2) * factor, x.size(3) * factor});
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

/// [N, ...] as [N, C].
struct Flatten {
  Tensor forward(const Tensor& x) const { return x.reshape({x.size(0), -1}); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

}  // namespace cladtorch::nn
