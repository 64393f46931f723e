// Sums, means and maxima of rows of a table, as a layer.
#pragma once

#include "cladtorch/nn/layers.h"
#include "cladtorch/ops/embedding_bag.h"

namespace cladtorch::nn {

/// The sum, the mean or the maximum of the rows of each bag.
struct EmbeddingBag {
  Tensor weight;  ///< [rows, C]
  CLAD_CONSTANT BagMode mode = BagMode::mean;

  EmbeddingBag() = default;
  EmbeddingBag(int64_t rows, int64_t channels, Random& random, BagMode mode = BagMode::mean,
               double deviation = 0.02, DType dtype = DType::float32)
      : weight(initial_weights({rows, channels}, random, deviation, dtype)), mode(mode) {}

  /// Of indices [B, L].
  Tensor forward(const Tensor& indices) const { return embedding_bag(indices, weight, mode); }
  /// Of indices [N], whose bags begin at the offsets.
  Tensor forward(const Tensor& indices, const Tensor& offsets) const {
    return embedding_bag(indices, weight, offsets, mode);
  }
  Tensor operator()(const Tensor& indices) const { return forward(indices); }
  Tensor operator()(const Tensor& indices, const Tensor& offsets) const { return forward(indices, offsets); }
  CLADTORCH_PARAMETERS(weight)
};

}  // namespace cladtorch::nn
