// Tiny models for tests.
#pragma once

#include <vector>

#include "cladtorch/models/llama.h"

namespace cladtorch::testing {

inline LlamaConfig small_llama(DType dtype = DType::float64, int64_t layers = 2) {
  return {.vocab_size = 11,
          .hidden_size = 8,
          .intermediate_size = 10,
          .num_hidden_layers = layers,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .max_position_embeddings = 8,
          .dtype = dtype};
}

/// Odd configurations: each differs from small_llama() in something.
inline std::vector<LlamaConfig> odd_llamas() {
  std::vector<LlamaConfig> configs(9, small_llama());
  configs[1].num_key_value_heads = 1;
  configs[1].head_dim = 6;
  configs[1].attention_bias = configs[1].mlp_bias = true;
  configs[2].tie_word_embeddings = true;
  configs[3].sliding_window = 2;
  configs[4].num_attention_heads = 1;
  configs[4].num_key_value_heads = 0;
  configs[4].num_hidden_layers = 1;
  configs[5].rope = {.theta = 10, .scaling = RotaryScaling::llama3, .factor = 4, .original_positions = 16};
  configs[6].rope = {.theta = 100, .scaling = RotaryScaling::linear, .factor = 3};
  configs[6].num_key_value_heads = 4;
  configs[7].rope = {.theta = 100, .scaling = RotaryScaling::yarn, .factor = 4, .original_positions = 8};
  configs[7].head_dim = 6;
  configs[7].rope.beta_fast = 1;
  configs[7].rope.beta_slow = 0.05;
  configs[8].rope = {.theta = 100, .scaling = RotaryScaling::dynamic, .factor = 4};
  configs[8].num_attention_heads = 2;
  return configs;
}

}  // namespace cladtorch::testing
