// Token sequences for tests of models.
#pragma once

#include "cladtorch/random.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::testing {

/// Uniform int32 tokens in [0, vocabulary).
inline Tensor random_tokens(const Shape& shape, int64_t vocabulary, uint64_t seed) {
  Random random(seed);
  Tensor tokens = Tensor::empty(shape, DType::int32);
  for (int64_t i = 0; i < tokens.numel(); ++i)
    tokens.data<int32_t>()[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary)));
  return tokens;
}

}  // namespace cladtorch::testing
