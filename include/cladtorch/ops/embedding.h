// Table look-up.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// The rows of weight [V, C] that the integer indices [...] select, as [..., C]. Throws Error for an index
/// outside [0, V). On a CUDA device the host does not check indices; such an index gives a row of NaN and no
/// gradient.
Tensor embedding(const Tensor& indices, const Tensor& weight);

struct EmbeddingState {
  Shape weight;
  DType dtype = DType::float32;
  bool frozen = false;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::EmbeddingState;
using ::cladtorch::Tensor;

Tensor embedding_reverse_forw(const Tensor& indices, const Tensor& weight,
                              pullback_state<EmbeddingState>& state);
/// Adds rows of d_y in the order of the indices, so the result does not depend on the number of threads.
/// d_indices does not change, because integers have no derivative.
void embedding_pullback(const Tensor& indices, CLAD_UNUSED const Tensor& weight, Tensor d_y,
                        Tensor* d_indices, Tensor* d_weight, pullback_state<EmbeddingState>& state);
}  // namespace clad::custom_derivatives::cladtorch
