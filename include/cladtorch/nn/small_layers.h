// Layers of PyTorch with few parameters: products of two inputs, slopes that are learned, single steps of
// recurrent networks.
#pragma once

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

/// Returns its input.
struct Identity {
  Tensor forward(const Tensor& x) const { return x; }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

/// y_o = x1^T W_o x2 + b_o, of x1 [..., in1] and x2 [..., in2]. New weights and biases are uniform in
/// +-1 / sqrt(in1), as in PyTorch.
struct Bilinear {
  Tensor weight;  ///< [out, in1, in2]
  Tensor bias;    ///< [out], or undefined

  Bilinear() = default;
  Bilinear(int64_t in1, int64_t in2, int64_t out, Random& random, bool with_bias = true,
           DType dtype = DType::float32);

  Tensor forward(const Tensor& x1, const Tensor& x2) const {
    const Tensor y = einsum("...i,oij,...j->...o", {x1, weight, x2});
    if (bias.defined()) return y + bias;
    return y;
  }
  CLADTORCH_PARAMETERS(weight, bias)
};

namespace detail {
/// `count` extents behind a leading dimension of `rank` others: [C, 1, 1] for x [N, C, H, W].
Shape channels_of(int64_t count, int rank);
}  // namespace detail

/// x where x > 0, else weight x: one weight, or one for each channel of x [N, C, ...]. Source: He et al.,
/// "Delving deep into rectifiers", 2015.
struct PReLU {
  Tensor weight;  ///< [1] or [C], 0.25 at first

  explicit PReLU(int64_t count = 1, double first = 0.25, DType dtype = DType::float32)
      : weight(full({count}, first, dtype)) {}

  Tensor forward(const Tensor& x) const {
    return prelu(x, weight.reshape(detail::channels_of(weight.size(0), x.dim())));
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight)
};

/// One step of an LSTM for x [N, in] and states [N, H]. New weights are uniform in +-1 / sqrt(H).
struct LSTMCell {
  Tensor weight_ih, weight_hh;  ///< [4 H, in] and [4 H, H]
  Tensor bias_ih, bias_hh;      ///< [4 H], or undefined

  LSTMCell() = default;
  LSTMCell(int64_t in, int64_t hidden, Random& random, bool with_bias = true, DType dtype = DType::float32);

  LstmStep forward(const Tensor& x, const Tensor& h, const Tensor& c) const {
    return lstm_cell(linear(x, weight_ih, bias_ih), linear(h, weight_hh, bias_hh), c);
  }
  CLADTORCH_PARAMETERS(weight_ih, weight_hh, bias_ih, bias_hh)
};

/// One step of a GRU.
struct GRUCell {
  Tensor weight_ih, weight_hh;  ///< [3 H, in] and [3 H, H]
  Tensor bias_ih, bias_hh;      ///< [3 H], or undefined

  GRUCell() = default;
  GRUCell(int64_t in, int64_t hidden, Random& random, bool with_bias = true, DType dtype = DType::float32);

  Tensor forward(const Tensor& x, const Tensor& h) const {
    return gru_cell(linear(x, weight_ih, bias_ih), linear(h, weight_hh, bias_hh), h);
  }
  CLADTORCH_PARAMETERS(weight_ih, weight_hh, bias_ih, bias_hh)
};

}  // namespace cladtorch::nn
