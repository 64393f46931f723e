#include "cladtorch/nn/layers.h"

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

Embedding::Embedding(int64_t rows, int64_t channels, Random& random, double deviation, DType dtype)
    : weight(initial_weights({rows, channels}, random, deviation, dtype)) {}

LayerNorm::LayerNorm(int64_t channels, bool with_bias, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)),
      bias(with_bias ? zeros({channels}, dtype) : Tensor()),
      epsilon(epsilon) {}

RMSNorm::RMSNorm(int64_t channels, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)), epsilon(epsilon) {}

}  // namespace cladtorch::nn
