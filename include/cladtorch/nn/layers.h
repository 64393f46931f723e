// Layers: plain structs of parameters with a forward.
#pragma once

#include "cladtorch/nn/parameters.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch::nn {

/// While an object of this class lives, layers that this thread makes draw no weights and leave their memory
/// uninitialized. This is for models whose weights are then read from a file.
class SkipInitialization {
 public:
  SkipInitialization();
  ~SkipInitialization();
  SkipInitialization(const SkipInitialization&) = delete;
  SkipInitialization& operator=(const SkipInitialization&) = delete;
};

/// Normal values for a layer's weights; undefined ones under SkipInitialization.
Tensor initial_weights(const Shape& shape, Random& random, double deviation, DType dtype);

/// Active inside a TrainingScope, else the identity.
struct Dropout {
  CLAD_CONSTANT double probability = 0;

  Tensor forward(const Tensor& x) const { return dropout(x, probability); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

/// y = x W^T + b.
struct Linear {
  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out], or undefined

  Linear() = default;
  /// Weights normal with the given deviation, bias zero.
  Linear(int64_t in, int64_t out, Random& random, bool with_bias = true, double deviation = 0.02,
         DType dtype = DType::float32);

  Tensor forward(const Tensor& x) const { return linear(x, weight, bias); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight, bias)
};

/// Selects rows of a table.
struct Embedding {
  Tensor weight;  ///< [rows, C]

  Embedding() = default;
  Embedding(int64_t rows, int64_t channels, Random& random, double deviation = 0.02,
            DType dtype = DType::float32);

  Tensor forward(const Tensor& indices) const { return embedding(indices, weight); }
  Tensor operator()(const Tensor& indices) const { return forward(indices); }
  CLADTORCH_PARAMETERS(weight)
};

/// Normalizes the last dimension.
struct LayerNorm {
  Tensor weight;  ///< [C], ones at first
  Tensor bias;    ///< [C], zeros at first, or undefined
  CLAD_CONSTANT double epsilon = 1e-5;

  LayerNorm() = default;
  explicit LayerNorm(int64_t channels, bool with_bias = true, double epsilon = 1e-5,
                     DType dtype = DType::float32);

  Tensor forward(const Tensor& x) const { return layer_norm(x, weight, bias, epsilon); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight, bias)
};

/// Divides the last dimension by its root mean square.
struct RMSNorm {
  Tensor weight;  ///< [C], ones at first
  CLAD_CONSTANT double epsilon = 1e-6;

  RMSNorm() = default;
  explicit RMSNorm(int64_t channels, double epsilon = 1e-6, DType dtype = DType::float32);

  Tensor forward(const Tensor& x) const { return rms_norm(x, weight, epsilon); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
  CLADTORCH_PARAMETERS(weight)
};

}  // namespace cladtorch::nn
