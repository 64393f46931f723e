// Stacks of transformer layers, and the whole transformer, as torch.nn.TransformerEncoder, TransformerDecoder
// and Transformer with batch_first=True and the names of their parameters.
#pragma once

#include <vector>

#include "cladtorch/nn/attention.h"

namespace cladtorch::nn {

/// Encoder layers one after the other, and a normalization behind them unless it is undefined.
struct TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers;
  LayerNorm norm;

  TransformerEncoder() = default;
  TransformerEncoder(int64_t count, int64_t channels, int64_t heads, Random& random,
                     const TransformerLayerOptions& options = {}, bool with_norm = false);

  /// Of x [N, T, C]; the mask is that of each layer's attention.
  Tensor forward(const Tensor& x, const Tensor& mask = {}) const {
    Tensor y = x;
    for (const TransformerEncoderLayer& layer : layers) y = layer.forward(y, mask);
    if (norm.weight.defined()) return norm(y);
    return y;
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(layers, norm)
};

/// The same of decoder layers.
struct TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers;
  LayerNorm norm;

  TransformerDecoder() = default;
  TransformerDecoder(int64_t count, int64_t channels, int64_t heads, Random& random,
                     const TransformerLayerOptions& options = {}, bool with_norm = false);

  Tensor forward(const Tensor& x, const Tensor& memory, const Tensor& mask = {},
                 const Tensor& memory_mask = {}) const {
    Tensor y = x;
    for (const TransformerDecoderLayer& layer : layers) y = layer.forward(y, memory, mask, memory_mask);
    if (norm.weight.defined()) return norm(y);
    return y;
  }
  CLADTORCH_PARAMETERS(layers, norm)
};

struct TransformerOptions {
  int64_t encoder_layers = 6, decoder_layers = 6;
  TransformerLayerOptions layer{};
};

/// An encoder of a source sequence and a decoder of a target sequence that attends to it, each with a
/// normalization at its end. Matrices start as Xavier's uniform ones. Source: Vaswani et al., "Attention is
/// all you need", 2017.
struct Transformer {
  TransformerEncoder encoder;
  TransformerDecoder decoder;

  Transformer() = default;
  Transformer(int64_t channels, int64_t heads, Random& random, const TransformerOptions& options = {});

  /// Of source [N, S, C] and target [N, T, C]: [N, T, C]. The masks are those of attention inside the source,
  /// inside the target, and of the target to the source.
  Tensor forward(const Tensor& source, const Tensor& target, const Tensor& source_mask = {},
                 const Tensor& target_mask = {}, const Tensor& memory_mask = {}) const {
    return decoder.forward(target, encoder.forward(source, source_mask), target_mask, memory_mask);
  }
  CLADTORCH_PARAMETERS(encoder, decoder)
};

}  // namespace cladtorch::nn
