// Causal attention on raw memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/common/target.h"

namespace cladtorch::detail {

/// Where the heads lie in q, k, v and y. Head h of a position is head_size elements from h * head_size on;
/// each `group()` consecutive heads of q share one of k and v.
struct AttentionLayout {
  int64_t batch, length, heads, key_heads, head_size;
  int64_t q_row, k_row;  ///< elements from one position to the next: of q; of k and v
  int64_t window;        ///< position t sees this many, itself the last; `unlimited`: all before it

  static constexpr int64_t unlimited = 1 << 30;

  /// Queries, keys and values side by side in each position of one tensor [batch, length, 3 channels].
  static AttentionLayout packed(int64_t batch, int64_t length, int64_t channels, int64_t heads) {
    return {batch, length, heads, heads, channels / heads, 3 * channels, 3 * channels, unlimited};
  }
  /// Tensors of their own, dense. A window of 0 is none.
  static AttentionLayout separate(int64_t batch, int64_t length, int64_t heads, int64_t key_heads,
                                  int64_t head_size, int64_t window) {
    return {batch,
            length,
            heads,
            key_heads,
            head_size,
            heads * head_size,
            key_heads * head_size,
            window > 0 ? std::min(window, unlimited) : unlimited};
  }

  int64_t group() const { return heads / key_heads; }
  int64_t y_row() const { return heads * head_size; }
  /// Offsets of the first position of a head.
  int64_t q_offset(int64_t b, int64_t h) const { return b * length * q_row + h * head_size; }
  int64_t k_offset(int64_t b, int64_t key_head) const { return b * length * k_row + key_head * head_size; }
  int64_t y_offset(int64_t b, int64_t h) const { return b * length * y_row() + h * head_size; }
  /// The first position that position t sees.
  int64_t first_seen(int64_t t) const { return std::max<int64_t>(0, t - window + 1); }
  /// Log-sum-exps: one for each query of each head.
  int64_t statistics() const { return batch * heads * length; }
};

template <class T>
struct AttentionInputs {
  const T *q, *k, *v;

  /// Of a layout that is packed.
  static AttentionInputs packed(const T* qkv, int64_t channels) {
    return {qkv, qkv + channels, qkv + 2 * channels};
  }
};

/// They lie as the inputs do. All are wanted.
template <class T>
struct AttentionTargets {
  Target<T> q, k, v;

  static AttentionTargets packed(Target<T> qkv, int64_t channels) {
    return {{qkv.data, qkv.add}, {qkv.data + channels, qkv.add}, {qkv.data + 2 * channels, qkv.add}};
  }
};

/// log_sum_exp [batch, heads, length] may be null. T is float or double.
template <class T>
void attention(const AttentionLayout& layout, const AttentionInputs<T>& in, T* y, T* log_sum_exp);

/// Attends to keys and values [batch, capacity, key_heads * head_size], of which `past` were there before
/// `length` ones. Of the layout, what says where q and y lie is used.
template <class T>
void cached_attention(const AttentionLayout& layout, const T* q, const T* keys, const T* values, int64_t past,
                      int64_t capacity, T* y);

/// `work` holds statistics() elements.
template <class T>
void attention_pullback(const AttentionLayout& layout, const AttentionInputs<T>& in, const T* y,
                        const T* log_sum_exp, const T* d_y, const AttentionTargets<T>& to, T* work);

}  // namespace cladtorch::detail
