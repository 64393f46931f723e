// Causal attention on raw memory.
#pragma once

#include <cstdint>

#include "ops/common/target.h"

namespace cladtorch::detail {

/// Where the heads lie in packed qkv [batch, length, 3 channels] and y [batch, length, channels].
struct AttentionLayout {
  int64_t batch, length, channels, heads;

  int64_t head_size() const { return channels / heads; }
  int64_t row() const { return 3 * channels; }
  /// Offset of the first query of a head; keys follow after `channels`, values after twice that.
  int64_t qkv_offset(int64_t b, int64_t h) const { return b * length * row() + h * head_size(); }
  int64_t y_offset(int64_t b, int64_t h) const { return b * length * channels + h * head_size(); }
  /// Log-sum-exps: one for each query of each head.
  int64_t statistics() const { return batch * heads * length; }
};

/// log_sum_exp [batch, heads, length] may be null. T is float or double.
template <class T>
void attention(const AttentionLayout& layout, const T* qkv, T* y, T* log_sum_exp);

/// Attends to keys and values [batch, capacity, channels], of which `past` were there before `length` ones.
template <class T>
void cached_attention(const AttentionLayout& layout, const T* qkv, const T* keys, const T* values,
                      int64_t past, int64_t capacity, T* y);

/// `work` holds statistics() elements.
template <class T>
void attention_pullback(const AttentionLayout& layout, const T* qkv, const T* y, const T* log_sum_exp,
                        const T* d_y, Target<T> d_qkv, T* work);

}  // namespace cladtorch::detail
