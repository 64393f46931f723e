#include "cladtorch/nn/attention.h"

#include <cmath>
#include <limits>

#include "nn/initial.h"

namespace cladtorch::nn {

MultiheadAttention::MultiheadAttention(int64_t channels, int64_t heads, Random& random, double dropout,
                                       DType dtype)
    : heads(heads), dropout{dropout} {
  require(heads > 0 && channels % heads == 0, "MultiheadAttention: ", channels,
          " channels cannot be divided into ", heads, " heads");
  // As PyTorch: Xavier for the three projections together.
  in_proj_weight = initial_uniform({3 * channels, channels}, random,
                                   std::sqrt(6 / static_cast<double>(4 * channels)), dtype);
  in_proj_bias = zeros({3 * channels}, dtype);
  out_proj.weight =
      initial_uniform({channels, channels}, random, 1 / std::sqrt(static_cast<double>(channels)), dtype);
  out_proj.bias = zeros({channels}, dtype);
}

namespace {

/// Uniform in +-1 / sqrt(in), the bias too, as in PyTorch.
Linear uniform_linear(int64_t in, int64_t out, Random& random, DType dtype) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  Linear layer;
  layer.weight = initial_uniform({out, in}, random, bound, dtype);
  layer.bias = initial_uniform({out}, random, bound, dtype);
  return layer;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t channels, int64_t heads, Random& random,
                                                 const TransformerLayerOptions& options)
    : self_attn(channels, heads, random, options.dropout, options.dtype),
      linear1(uniform_linear(channels, options.hidden, random, options.dtype)),
      linear2(uniform_linear(options.hidden, channels, random, options.dtype)),
      norm1(channels, true, 1e-5, options.dtype),
      norm2(channels, true, 1e-5, options.dtype),
      dropout{options.dropout},
      gelu(options.gelu),
      norm_first(options.norm_first) {}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t channels, int64_t heads, Random& random,
                                                 const TransformerLayerOptions& options)
    : self_attn(channels, heads, random, options.dropout, options.dtype),
      multihead_attn(channels, heads, random, options.dropout, options.dtype),
      linear1(uniform_linear(channels, options.hidden, random, options.dtype)),
      linear2(uniform_linear(options.hidden, channels, random, options.dtype)),
      norm1(channels, true, 1e-5, options.dtype),
      norm2(channels, true, 1e-5, options.dtype),
      norm3(channels, true, 1e-5, options.dtype),
      dropout{options.dropout},
      gelu(options.gelu),
      norm_first(options.norm_first) {}

namespace {

/// value(row, column), [rows, columns].
template <class Value>
Tensor table(int64_t rows, int64_t columns, DType dtype, Value value) {
  Tensor x = Tensor::empty({rows, columns}, DType::float64);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) x.data<double>()[i * columns + j] = value(i, j);
  return x.to(dtype);
}
constexpr double hidden = -std::numeric_limits<double>::infinity();

}  // namespace

Tensor square_subsequent_mask(int64_t length, DType dtype) {
  return table(length, length, dtype, [](int64_t i, int64_t j) { return j > i ? hidden : 0.0; });
}

Tensor padding_mask(const Tensor& lengths, int64_t length, DType dtype) {
  require(lengths.defined() && lengths.dtype() == DType::int32 && lengths.dim() == 1,
          "padding_mask: expected lengths int32 [N], got ", lengths.dtype(), " ", lengths.shape());
  const Tensor dense = lengths.contiguous();
  return table(lengths.size(0), length, dtype,
               [&](int64_t i, int64_t j) { return j >= dense.data<int32_t>()[i] ? hidden : 0.0; })
      .reshape({lengths.size(0), 1, 1, length});
}

Tensor sinusoidal_positions(int64_t length, int64_t channels, DType dtype) {
  return table(length, channels, dtype, [&](int64_t t, int64_t i) {
    const double angle = static_cast<double>(t) *
                         std::pow(1e4, -static_cast<double>(i - i % 2) / static_cast<double>(channels));
    return i % 2 == 0 ? std::sin(angle) : std::cos(angle);
  });
}

}  // namespace cladtorch::nn
