#include "cladtorch/ops/convolution.h"

#include "cladtorch/ops/count.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/common/one_device.h"
#include "ops/convolution/correlation.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch {

PerDimension::PerDimension(std::initializer_list<int64_t> values) : count_(static_cast<int>(values.size())) {
  require(count_ >= 1 && count_ <= 3, "convolution: expected a number for each of 1 to 3 dimensions, got ",
          values.size());
  std::copy(values.begin(), values.end(), values_);
}

namespace {

/// A convolution from `in_channels` to `out_channels`, both of one group.
struct Geometry {
  int64_t batch = 1, groups = 1, in_channels = 0, out_channels = 0;
  detail::ConvolvedDimensions dimensions = {};

  int64_t taps() const { return dimensions[0].kernel * dimensions[1].kernel * dimensions[2].kernel; }
};

void check_operands(const char* operation, int rank, const Tensor& x, const Tensor& weight,
                    const Tensor& bias, int64_t out_channels) {
  detail::check_operands(operation, x, weight);
  detail::require_cpu(operation, x);
  require(!bias.defined() || (bias.shape() == Shape{out_channels} && bias.dtype() == x.dtype()), operation,
          ": expected bias [", out_channels, "] of ", x.dtype(), ", got ", bias.shape(), " of ",
          bias.dtype());
  require(weight.dim() == rank + 2 && (x.dim() == rank + 1 || x.dim() == rank + 2), operation,
          ": expected x of rank ", rank + 2, " or ", rank + 1, " and a weight of rank ", rank + 2, ": x is ",
          x.shape(), ", weight is ", weight.shape());
}

void check_numbers(const char* operation, int rank, const char* name, const PerDimension& numbers,
                   int64_t least) {
  require(numbers.count() == 1 || numbers.count() == rank, operation, ": expected one ", name, " or ", rank,
          ", got ", numbers.count());
  for (int i = 0; i < rank; ++i)
    require(numbers[i] >= least, operation, ": expected ", name, " of ", least, " or more, got ", numbers[i]);
}

template <class Options>
void check_options(const char* operation, int rank, const Options& options, int64_t channels) {
  check_numbers(operation, rank, "stride", options.stride, 1);
  check_numbers(operation, rank, "padding", options.padding, 0);
  check_numbers(operation, rank, "dilation", options.dilation, 1);
  require(options.groups >= 1 && channels % options.groups == 0, operation, ": ", channels,
          " channels cannot be divided into ", options.groups, " groups");
}

template <class Options>
Geometry geometry_of(int rank, const Tensor& x, const Tensor& weight, const Options& options) {
  Geometry g{.batch = x.dim() == rank + 2 ? x.size(0) : 1, .groups = options.groups};
  for (int i = 0; i < rank; ++i) {
    detail::ConvolvedDimension& d = g.dimensions[static_cast<size_t>(3 - rank + i)];
    d.kernel = weight.shape()[2 + i];
    d.stride = options.stride[i];
    d.padding = options.padding[i];
    d.dilation = options.dilation[i];
  }
  return g;
}

/// Of a convolution of x.
Geometry convolved(const char* operation, int rank, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvOptions& options) {
  check_operands(operation, rank, x, weight, bias, weight.dim() ? weight.size(0) : 0);
  const int64_t channels = x.size(-rank - 1);
  check_options(operation, rank, options, weight.size(0));
  require(channels == weight.size(1) * options.groups, operation, ": expected x [N, ",
          weight.size(1) * options.groups, ", ...] for weight ", weight.shape(), " and ", options.groups,
          options.groups == 1 ? " group" : " groups", ", got ", x.shape());
  Geometry g = geometry_of(rank, x, weight, options);
  g.in_channels = weight.size(1);
  g.out_channels = weight.size(0) / options.groups;
  for (int i = 0; i < rank; ++i) {
    detail::ConvolvedDimension& d = g.dimensions[static_cast<size_t>(3 - rank + i)];
    d.in = x.size(i - rank);
    const int64_t reach = d.dilation * (d.kernel - 1) + 1;
    require(d.kernel > 0 && d.in + 2 * d.padding >= reach, operation, ": a kernel that reaches over ", reach,
            " elements does not fit into ", d.in, " with padding ", d.padding, ": x is ", x.shape(),
            ", weight is ", weight.shape());
    d.out = (d.in + 2 * d.padding - reach) / d.stride + 1;
  }
  return g;
}

/// Of the convolution whose transpose takes x: `out` are x's extents.
Geometry transposed(const char* operation, int rank, const Tensor& x, const Tensor& weight,
                    const Tensor& bias, const ConvTransposeOptions& options) {
  check_operands(operation, rank, x, weight, bias, weight.dim() > 1 ? weight.size(1) * options.groups : 0);
  check_options(operation, rank, options, weight.size(0));
  check_numbers(operation, rank, "output_padding", options.output_padding, 0);
  require(x.size(-rank - 1) == weight.size(0), operation, ": expected x [N, ", weight.size(0),
          ", ...] for weight ", weight.shape(), ", got ", x.shape());
  Geometry g = geometry_of(rank, x, weight, options);
  g.in_channels = weight.size(1);
  g.out_channels = weight.size(0) / options.groups;
  for (int i = 0; i < rank; ++i) {
    detail::ConvolvedDimension& d = g.dimensions[static_cast<size_t>(3 - rank + i)];
    const int64_t more = options.output_padding[i];
    require(more < std::max(d.stride, d.dilation), operation, ": expected output_padding below the stride ",
            d.stride, " or the dilation ", d.dilation, ", got ", more);
    d.out = x.size(i - rank);
    d.in = (d.out - 1) * d.stride - 2 * d.padding + d.dilation * (d.kernel - 1) + more + 1;
    require(d.kernel > 0 && d.out > 0 && d.in > 0, operation, ": there is no result for x ", x.shape(),
            ", weight ", weight.shape(), " and padding ", d.padding);
  }
  return g;
}

/// x's shape with other channels and other extents.
Shape shape_like(const Tensor& x, int rank, int64_t channels, const detail::ConvolvedDimensions& dimensions,
                 int64_t detail::ConvolvedDimension::* extent) {
  Shape shape = x.shape();
  shape[x.dim() - rank - 1] = channels;
  for (int i = 0; i < rank; ++i)
    shape[x.dim() - rank + i] = dimensions[static_cast<size_t>(3 - rank + i)].*extent;
  return shape;
}

/// Elements of the weight from one tap to the next, by dimension.
std::array<int64_t, 3> tap_steps(const detail::ConvolvedDimensions& d) {
  return {d[1].kernel * d[2].kernel, d[2].kernel, 1};
}

/// The result of the convolution.
template <class T, class Out>
void correlate(const Geometry& g, const T* x, const T* weight, const T* bias, Out* y, bool add) {
  const auto steps = tap_steps(g.dimensions);
  detail::Correlation<T, Out> c{.batch = g.batch,
                                .groups = g.groups,
                                .in_channels = g.in_channels,
                                .out_channels = g.out_channels,
                                .axes = {},
                                .source = x,
                                .weight = weight,
                                .weight_group = g.out_channels * g.in_channels * g.taps(),
                                .weight_out = g.in_channels * g.taps(),
                                .weight_in = g.taps(),
                                .bias = bias,
                                .result = y,
                                .add = add};
  for (size_t i = 0; i < 3; ++i) c.axes[i] = detail::result_axis(g.dimensions[i], steps[i]);
  c.run();
}

/// Its transpose: from the results to the operand.
template <class T, class Out>
void correlate_back(const Geometry& g, const T* y, const T* weight, const T* bias, Out* x, bool add) {
  const auto steps = tap_steps(g.dimensions);
  const auto& d = g.dimensions;
  detail::Correlation<T, Out> c{.batch = g.batch,
                                .groups = g.groups,
                                .in_channels = g.out_channels,
                                .out_channels = g.in_channels,
                                .axes = {},
                                .source = y,
                                .weight = weight,
                                .weight_group = g.out_channels * g.in_channels * g.taps(),
                                .weight_out = g.taps(),
                                .weight_in = g.in_channels * g.taps(),
                                .bias = bias,
                                .result = x,
                                .add = add};
  // Places that are a stride apart see the same elements of the kernel.
  for (int64_t i = 0; i < std::min(d[0].stride, d[0].in); ++i) {
    c.axes[0] = detail::operand_axis(d[0], steps[0], i);
    for (int64_t j = 0; j < std::min(d[1].stride, d[1].in); ++j) {
      c.axes[1] = detail::operand_axis(d[1], steps[1], j);
      for (int64_t k = 0; k < std::min(d[2].stride, d[2].in); ++k) {
        c.axes[2] = detail::operand_axis(d[2], steps[2], k);
        c.run();
      }
    }
  }
}

/// d_bias [channels] += the sums of d_y [batch, channels, places], each in the order of images and places.
void add_bias_gradient(Tensor* d_bias, const Tensor& d_y, int64_t batch, int64_t channels) {
  if (channels == 0) return;
  detail::dispatch_real("convolution", d_y.dtype(), [&]<class T>(T) {
    const T* const from = d_y.data<T>();
    const int64_t n = batch ? d_y.numel() / (batch * channels) : 0;
    detail::contribute_sum<T>(d_bias, Shape{channels}, [&](auto target) {
      parallel_for(channels, (1 << 15) / (batch * n + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          double sum = 0;
          for (int64_t i = 0; i < batch; ++i) {
            const T* const at = from + (i * channels + c) * n;
            if constexpr (std::is_same_v<T, float>) {
              sum += simd::kernels().sum(n, at);
            } else {
              for (int64_t j = 0; j < n; ++j)
                sum += static_cast<double>(static_cast<detail::Computed<T>>(at[j]));
            }
          }
          using Out = std::remove_reference_t<decltype(target.data[c])>;
          target.data[c] = static_cast<Out>((target.add ? static_cast<double>(target.data[c]) : 0) + sum);
        }
      });
    });
  });
}

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

Tensor conv(const char* operation, int rank, const Tensor& x, const Tensor& weight, const Tensor& bias,
            const ConvOptions& options) {
  const Geometry g = convolved(operation, rank, x, weight, bias, options);
  detail::count_op();
  Tensor y = Tensor::empty(
      shape_like(x, rank, g.groups * g.out_channels, g.dimensions, &detail::ConvolvedDimension::out),
      x.dtype());
  detail::count_flops(2 * y.numel() * g.in_channels * g.taps());
  y.set_frozen(all_frozen(x, weight, bias));
  const Tensor from = x.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
    correlate(g, from.data<T>(), w.data<T>(), data_or_null<T>(b), y.data<T>(), false);
  });
  return y;
}

Tensor conv_transpose(const char* operation, int rank, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const ConvTransposeOptions& options) {
  const Geometry g = transposed(operation, rank, x, weight, bias, options);
  detail::count_op();
  detail::count_flops(2 * x.numel() * g.in_channels * g.taps());
  Tensor y = Tensor::empty(
      shape_like(x, rank, g.groups * g.in_channels, g.dimensions, &detail::ConvolvedDimension::in),
      x.dtype());
  y.set_frozen(all_frozen(x, weight, bias));
  const Tensor from = x.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
    correlate_back(g, from.data<T>(), w.data<T>(), data_or_null<T>(b), y.data<T>(), false);
  });
  return y;
}

/// Where the three gradients of both kinds go.
struct Gradients {
  Tensor *x, *weight, *bias;

  Gradients(Tensor* d_x, const Tensor& x, Tensor* d_weight, const Tensor& weight, Tensor* d_bias,
            const Tensor& bias)
      : x(wanted(d_x, x)),
        weight(wanted(d_weight, weight)),
        bias(bias.defined() ? wanted(d_bias, bias) : nullptr) {}
};

/// `operand` and `result` are the arrays that the convolution takes from and to: x and d_y, or d_y and x of
/// its transpose.
void add_weight_gradient(const Geometry& g, const Tensor& operand, const Tensor& result, const Shape& shape,
                         Tensor* d_weight) {
  if (!d_weight) return;
  detail::dispatch_real("convolution", result.dtype(), [&]<class T>(T) {
    detail::write_to<T>(accumulate_into(d_weight, shape, result.dtype()), [&]<class Out>(Out* to, bool add) {
      detail::WeightCorrelation<T, Out>{.batch = g.batch,
                                        .groups = g.groups,
                                        .left_channels = g.out_channels,
                                        .right_channels = g.in_channels,
                                        .dimensions = g.dimensions,
                                        .left = result.data<T>(),
                                        .right = operand.data<T>(),
                                        .weight = to,
                                        .add = add}
          .run();
    });
  });
}

void pull_conv(const char* operation, int rank, const Tensor& x, const Tensor& weight, const Tensor& bias,
               const ConvOptions& options, const Tensor& d_y, Tensor* d_x, Tensor* d_weight, Tensor* d_bias) {
  const Gradients d(d_x, x, d_weight, weight, d_bias, bias);
  if (!d_y.defined()) return;
  const Geometry g = convolved(operation, rank, x, weight, bias, options);
  const Tensor from = d_y.contiguous(), w = weight.contiguous();
  if (d.x) {
    detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
      detail::write_to<T>(accumulate_into(d.x, x.shape(), x.dtype()), [&](auto* to, bool add) {
        correlate_back<T>(g, from.data<T>(), w.data<T>(), nullptr, to, add);
      });
    });
  }
  add_weight_gradient(g, d.weight ? x.contiguous() : x, from, weight.shape(), d.weight);
  if (d.bias) add_bias_gradient(d.bias, from, g.batch, g.groups * g.out_channels);
}

void pull_conv_transpose(const char* operation, int rank, const Tensor& x, const Tensor& weight,
                         const Tensor& bias, const ConvTransposeOptions& options, const Tensor& d_y,
                         Tensor* d_x, Tensor* d_weight, Tensor* d_bias) {
  const Gradients d(d_x, x, d_weight, weight, d_bias, bias);
  if (!d_y.defined()) return;
  const Geometry g = transposed(operation, rank, x, weight, bias, options);
  const Tensor from = d_y.contiguous(), w = weight.contiguous();
  if (d.x) {
    detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
      detail::write_to<T>(accumulate_into(d.x, x.shape(), x.dtype()), [&](auto* to, bool add) {
        correlate<T>(g, from.data<T>(), w.data<T>(), nullptr, to, add);
      });
    });
  }
  add_weight_gradient(g, from, d.weight ? x.contiguous() : x, weight.shape(), d.weight);
  if (d.bias) add_bias_gradient(d.bias, from, g.batch, g.groups * g.in_channels);
}

}  // namespace

#define CLADTORCH_CONVOLUTION(rank)                                                         \
  Tensor conv##rank##d(const Tensor& x, const Tensor& weight, const Tensor& bias,           \
                       const ConvOptions& options) {                                        \
    CLADTORCH_RECORD(conv##rank##d, x, weight, bias, options);                              \
    return conv("conv" #rank "d", rank, x, weight, bias, options);                          \
  }                                                                                         \
  Tensor conv_transpose##rank##d(const Tensor& x, const Tensor& weight, const Tensor& bias, \
                                 const ConvTransposeOptions& options) {                     \
    CLADTORCH_RECORD(conv_transpose##rank##d, x, weight, bias, options);                    \
    return conv_transpose("conv_transpose" #rank "d", rank, x, weight, bias, options);      \
  }
CLADTORCH_CONVOLUTION(1)
CLADTORCH_CONVOLUTION(2)
CLADTORCH_CONVOLUTION(3)
#undef CLADTORCH_CONVOLUTION

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {

#define CLADTORCH_CONVOLUTION(rank)                                                                        \
  void conv##rank##d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias,                   \
                              const ConvOptions& options, Tensor d_y, Tensor* d_x, Tensor* d_weight,       \
                              Tensor* d_bias) {                                                            \
    ::cladtorch::pull_conv("conv" #rank "d", rank, x, weight, bias, options, d_y, d_x, d_weight, d_bias);  \
  }                                                                                                        \
  void conv_transpose##rank##d_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias,         \
                                        const ConvTransposeOptions& options, Tensor d_y, Tensor* d_x,      \
                                        Tensor* d_weight, Tensor* d_bias) {                                \
    ::cladtorch::pull_conv_transpose("conv_transpose" #rank "d", rank, x, weight, bias, options, d_y, d_x, \
                                     d_weight, d_bias);                                                    \
  }
CLADTORCH_CONVOLUTION(1)
CLADTORCH_CONVOLUTION(2)
CLADTORCH_CONVOLUTION(3)
#undef CLADTORCH_CONVOLUTION

}  // namespace clad::custom_derivatives::cladtorch
