// What the scores of any model must be.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cladtorch/nn/parameters.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch::testing {

/// `single` and `exact` are one model, in float32 and float64.
template <class Model>
void expect_the_same_values(const Model& single, const Model& exact) {
  const int64_t vocabulary = single.config.vocab_size;
  const Tensor tokens = random_tokens({2, 7}, vocabulary, 1), targets = random_tokens({2, 7}, vocabulary, 2);
  EXPECT_NEAR(loss(single, tokens, targets), loss(exact, tokens, targets), 1e-6);
  EXPECT_LT(relative_difference(single.logits(tokens), exact.logits(tokens)), 1e-5);
}

/// Decodes `length` tokens into the empty `cache`, the first four at once.
template <class Model, class Cache>
void expect_decoding_equals_the_forward_pass(const Model& model, Cache& cache, int64_t length,
                                             double tolerance) {
  const Tensor tokens = random_tokens({2, length}, model.config.vocab_size, 1),
               expected = model.logits(tokens);
  Tensor scores = model.decode(tokens.narrow(1, 0, 4), cache);
  EXPECT_LT(relative_difference(scores, expected.select(1, 3)), tolerance);
  for (int64_t t = 4; t < length; ++t) {
    scores = model.decode(tokens.narrow(1, t, 1), cache);
    ASSERT_LT(relative_difference(scores, expected.select(1, t)), tolerance) << t;
  }
  EXPECT_EQ(cache.length, length);
}

/// `narrow` is `wide` converted to bfloat16.
template <class Cache, class Model>
void expect_bfloat16_near_float32(const Model& wide, const Model& narrow) {
  for_each_parameter(narrow, [](const std::string& name, const Tensor& p) {
    EXPECT_EQ(p.dtype(), DType::bfloat16) << name;
  });
  const Tensor ids = random_tokens({2, 9}, wide.config.vocab_size, 1), scores = narrow.logits(ids);
  EXPECT_EQ(scores.dtype(), DType::bfloat16);
  EXPECT_LT(relative_difference(scores, wide.logits(ids)), 0.03);
  Cache cache(narrow.config, 2);
  narrow.decode(ids.narrow(1, 0, 8), cache);
  EXPECT_LT(relative_difference(narrow.decode(ids.narrow(1, 8, 1), cache), scores.select(1, 8)), 0.03);
}

}  // namespace cladtorch::testing
