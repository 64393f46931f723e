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

/// The adapter of a linear layer: y + scale B A dropout(x). Source: Hu et al., "LoRA: low-rank adaptation of
/// large language models", 2021.
struct LoRAOptions {
  int64_t rank = 8;
  double scale = 1;    ///< alpha / rank, or alpha / sqrt(rank) with rsLoRA
  double dropout = 0;  ///< of the adapter's input, while training
};

/// y = x W^T + b, and with a low-rank adapter y + scale (x A^T) B^T.
struct Linear {
  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out], or undefined
  Tensor lora_A;  ///< [rank, in], or undefined: no adapter
  Tensor lora_B;  ///< [out, rank]
  CLAD_CONSTANT double lora_scale = 1;
  Dropout lora_dropout;

  Linear() = default;
  /// Weights normal with the given deviation, bias zero.
  Linear(int64_t in, int64_t out, Random& random, bool with_bias = true, double deviation = 0.02,
         DType dtype = DType::float32);

  Tensor forward(const Tensor& x) const {
    if (lora_A.defined()) return linear(x, weight, bias) + adapter(x);
    return linear(x, weight, bias);
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }

  /// Whether forward() is linear(x, weight, bias).
  bool is_plain() const { return !lora_A.defined(); }
  /// What the adapter adds.
  Tensor adapter(const Tensor& x) const {
    return linear(linear(lora_dropout(x), lora_A) * lora_scale, lora_B);
  }
  /// Gives the layer an adapter that adds nothing at first: A is uniform in +-1 / sqrt(in), like a new
  /// nn.Linear of PyTorch, and B is zero. Throws Error if it already has one, or for a rank that is not
  /// positive.
  void add_lora(const LoRAOptions& options, Random& random);
  /// Adds scale B A to the weight and drops the adapter. The sum is taken in float32, or float64, and rounded
  /// once. Writes into the weight's storage.
  void merge_lora();
  void remove_lora() { lora_A = lora_B = Tensor(); }

  CLADTORCH_PARAMETERS(weight, bias, lora_A, lora_B)
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
