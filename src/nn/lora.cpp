#include "cladtorch/nn/lora.h"

#include <cmath>

#include "nn/initial.h"

namespace cladtorch::nn {

void LoRALinear::add_lora(const LoRAOptions& options, Random& random) {
  require(!has_lora(), "add_lora: the layer has an adapter already");
  require(options.rank > 0, "add_lora: the rank must be positive, got ", options.rank);
  require(options.dropout >= 0 && options.dropout < 1, "add_lora: expected a dropout in [0, 1), got ",
          options.dropout);
  const int64_t out = weight.size(0), in = weight.size(1);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  lora_A = initial_uniform({options.rank, in}, random, bound, weight.dtype());
  lora_B = zeros({out, options.rank}, weight.dtype());
  lora_scale = options.scale;
  lora_dropout.probability = options.dropout;
}

void LoRALinear::merge_lora() {
  if (!has_lora()) return;
  const DType wide = weight.dtype() == DType::bfloat16 ? DType::float32 : weight.dtype();
  const Tensor update = matmul(lora_B.to(wide), lora_A.to(wide)) * lora_scale;
  weight.copy_from(weight.to(wide) + update);
  remove_lora();
}

}  // namespace cladtorch::nn
