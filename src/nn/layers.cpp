#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {
Linear::Linear(int64_t in, int64_t out, Random& random, bool with_bias, double deviation, DType dtype)
    : weight(normal({out, in}, random, 0, deviation, dtype)),
      bias(with_bias ? zeros({out}, dtype) : Tensor()) {}

Embedding::Embedding(int64_t rows, int64_t channels, Random& random, double deviation, DType dtype)
    : weight(normal({rows, channels}, random, 0, deviation, dtype)) {}

LayerNorm::LayerNorm(int64_t channels, bool with_bias, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)),
      bias(with_bias ? zeros({channels}, dtype) : Tensor()),
      epsilon(epsilon) {}

RMSNorm::RMSNorm(int64_t channels, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)), epsilon(epsilon) {}

}  // namespace cladtorch::nn
