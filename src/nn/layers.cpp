#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {
namespace {

/// Drawn in double, so that float and double models of one seed are the same up to rounding.
Tensor normal(const Shape& shape, Random& random, double deviation, DType dtype) {
  return scale(randn(shape, random, DType::float64), deviation).to(dtype);
}

}  // namespace

Linear::Linear(int64_t in, int64_t out, Random& random, bool with_bias, double deviation, DType dtype)
    : weight(normal({out, in}, random, deviation, dtype)), bias(with_bias ? zeros({out}, dtype) : Tensor()) {}

Embedding::Embedding(int64_t rows, int64_t channels, Random& random, double deviation, DType dtype)
    : weight(normal({rows, channels}, random, deviation, dtype)) {}

LayerNorm::LayerNorm(int64_t channels, bool with_bias, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)),
      bias(with_bias ? zeros({channels}, dtype) : Tensor()),
      epsilon(epsilon) {}

}  // namespace cladtorch::nn
