// Convolutions of one, two and three dimensions, on the CPU.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// A number for each spatial dimension, or one for all of them: 2 or {2, 1}.
class PerDimension {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): written in the place of a number
  PerDimension(int64_t all) : values_{all} {}
  /// Throws Error for none, and for more than three.
  PerDimension(std::initializer_list<int64_t> values);

  int count() const { return count_; }
  /// That of spatial dimension `dim`.
  int64_t operator[](int dim) const { return values_[count_ == 1 ? 0 : dim]; }

 private:
  int64_t values_[3];
  int count_ = 1;
};

struct ConvOptions {
  PerDimension stride = 1;
  PerDimension padding = 0;   ///< zeros at both ends of each dimension
  PerDimension dilation = 1;  ///< between neighbouring elements of the kernel
  int64_t groups = 1;         ///< of channels, of which each sees its own alone
};

struct ConvTransposeOptions {
  PerDimension stride = 1;
  PerDimension padding = 0;         ///< taken from both ends of the result
  PerDimension output_padding = 0;  ///< added to one end of the result; less than the stride or the dilation
  int64_t groups = 1;
  PerDimension dilation = 1;
};

/// y[n, o, p] = bias[o] + the sum over channels i and elements t of the kernel of
/// x[n, i, p * stride - padding + t * dilation] weight[o, i, t] for x [N, C, L], [N, C, H, W] or
/// [N, C, D, H, W], or without N, and weight [O, C / groups, kernel...]: [N, O, places...] with
/// (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1 places, rounded down. The bias [O] may be
/// undefined. All have one floating dtype, and bfloat16 is summed in float32. Throws Error that names the
/// shapes if they do not fit. As torch.nn.functional.conv2d.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});

/// The transpose of the map that a convolution is: what takes the gradient of conv2d's result to that of its
/// x, with weight [C, O / groups, kernel...]. There are
/// (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1 places. As
/// torch.nn.functional.conv_transpose2d.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::ConvOptions;
using ::cladtorch::ConvTransposeOptions;
using ::cladtorch::Tensor;

void conv1d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
                     Tensor d_y, Tensor* d_x, Tensor* d_weight, Tensor* d_bias);
void conv2d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
                     Tensor d_y, Tensor* d_x, Tensor* d_weight, Tensor* d_bias);
void conv3d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
                     Tensor d_y, Tensor* d_x, Tensor* d_weight, Tensor* d_bias);
void conv_transpose1d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias,
                               const ConvTransposeOptions& options, Tensor d_y, Tensor* d_x, Tensor* d_weight,
                               Tensor* d_bias);
void conv_transpose2d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias,
                               const ConvTransposeOptions& options, Tensor d_y, Tensor* d_x, Tensor* d_weight,
                               Tensor* d_bias);
void conv_transpose3d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias,
                               const ConvTransposeOptions& options, Tensor d_y, Tensor* d_x, Tensor* d_weight,
                               Tensor* d_bias);
}  // namespace clad::custom_derivatives::cladtorch
