#include "cladtorch/nn/encoder_decoder.h"

#include "cladtorch/nn/init.h"

namespace cladtorch::nn {

TransformerEncoder::TransformerEncoder(int64_t count, int64_t channels, int64_t heads, Random& random,
                                       const TransformerLayerOptions& options, bool with_norm) {
  for (int64_t i = 0; i < count; ++i) layers.emplace_back(channels, heads, random, options);
  if (with_norm) norm = LayerNorm(channels, true, 1e-5, options.dtype);
}

TransformerDecoder::TransformerDecoder(int64_t count, int64_t channels, int64_t heads, Random& random,
                                       const TransformerLayerOptions& options, bool with_norm) {
  for (int64_t i = 0; i < count; ++i) layers.emplace_back(channels, heads, random, options);
  if (with_norm) norm = LayerNorm(channels, true, 1e-5, options.dtype);
}

Transformer::Transformer(int64_t channels, int64_t heads, Random& random, const TransformerOptions& options)
    : encoder(options.encoder_layers, channels, heads, random, options.layer, true),
      decoder(options.decoder_layers, channels, heads, random, options.layer, true) {
  for (NamedTensor& parameter : named_parameters(*this))
    if (parameter.tensor.dim() > 1) init::xavier_uniform_(parameter.tensor, random);
}

}  // namespace cladtorch::nn
