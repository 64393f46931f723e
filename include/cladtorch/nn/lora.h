// Low-rank adapters of linear layers. Source: Hu et al., "LoRA: low-rank adaptation of large language
// models", 2021.
#pragma once

#include <string>

#include "cladtorch/nn/layers.h"

namespace cladtorch {

/// Whether the parameter `name` of a model belongs to an adapter.
inline bool is_lora_parameter(const std::string& name) {
  return name.ends_with(".lora_A") || name.ends_with(".lora_B");
}

namespace nn {

struct LoRAOptions {
  int64_t rank = 8;
  double scale = 1;    ///< alpha / rank, or alpha / sqrt(rank) with rsLoRA
  double dropout = 0;  ///< of the adapter's input, while training
};

/// A Linear that may have an adapter, and then adds scale (dropout(x) A^T) B^T to what a Linear gives. The
/// parameters have the names that they have in a Linear, and lora_A and lora_B.
struct LoRALinear : Linear {
  Tensor lora_A;  ///< [rank, in], or undefined: no adapter
  Tensor lora_B;  ///< [out, rank]
  CLAD_CONSTANT double lora_scale = 1;
  Dropout lora_dropout;

  using Linear::Linear;

  bool has_lora() const { return lora_A.defined(); }
  Tensor forward(const Tensor& x) const {
    if (has_lora()) return Linear::forward(x) + adapter(x);
    return Linear::forward(x);
  }
  Tensor operator()(const Tensor& x) const { return forward(x); }

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

}  // namespace nn
}  // namespace cladtorch
