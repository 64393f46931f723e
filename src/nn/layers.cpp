#include "cladtorch/nn/layers.h"

#include <cmath>

#include "nn/initial.h"

namespace cladtorch::nn {
namespace {

thread_local int skipping = 0;

}  // namespace

SkipInitialization::SkipInitialization() { ++skipping; }
SkipInitialization::~SkipInitialization() { --skipping; }

Tensor initial_weights(const Shape& shape, Random& random, double deviation, DType dtype) {
  return skipping > 0 ? empty(shape, dtype) : normal(shape, random, 0, deviation, dtype);
}
Tensor initial_uniform(const Shape& shape, Random& random, double bound, DType dtype) {
  return skipping > 0 ? empty(shape, dtype) : (rand(shape, random) * (2 * bound) - bound).to(dtype);
}

Linear::Linear(int64_t in, int64_t out, Random& random, bool with_bias, double deviation, DType dtype)
    : weight(initial_weights({out, in}, random, deviation, dtype)),
      bias(with_bias ? zeros({out}, dtype) : Tensor()) {}

void Linear::add_lora(const LoRAOptions& options, Random& random) {
  require(!lora_A.defined(), "add_lora: the layer has an adapter already");
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

void Linear::merge_lora() {
  if (!lora_A.defined()) return;
  const DType wide = weight.dtype() == DType::bfloat16 ? DType::float32 : weight.dtype();
  const Tensor update = matmul(lora_B.to(wide), lora_A.to(wide)) * lora_scale;
  weight.copy_from(weight.to(wide) + update);
  remove_lora();
}

Embedding::Embedding(int64_t rows, int64_t channels, Random& random, double deviation, DType dtype)
    : weight(initial_weights({rows, channels}, random, deviation, dtype)) {}

LayerNorm::LayerNorm(int64_t channels, bool with_bias, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)),
      bias(with_bias ? zeros({channels}, dtype) : Tensor()),
      epsilon(epsilon) {}

RMSNorm::RMSNorm(int64_t channels, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)), epsilon(epsilon) {}

}  // namespace cladtorch::nn
