// Causal self-attention as one operation.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Multi-head attention in which position t sees positions 0..t.
/// qkv [B, T, 3C] holds queries, keys and values side by side, each split into n_head heads of D = C /
/// n_head; the result is softmax(q k^T / sqrt(D)) v, [B, T, C]. The T x T matrix never exists: blocks of it
/// are recomputed in the pullback from the log-sum-exp of each row. Source: Dao et al., FlashAttention, 2022.
Tensor causal_attention(const Tensor& qkv, int64_t n_head);

/// Inference with a cache: writes the keys and values of qkv [B, T, 3C] to positions past..past+T of
/// keys and values [B, capacity, C] and attends over positions 0..past+t. Throws Error when the capacity is
/// exceeded.
Tensor cached_attention(const Tensor& qkv, Tensor& keys, Tensor& values, int64_t past, int64_t n_head);

struct AttentionState {
  Tensor y;            ///< the result
  Tensor log_sum_exp;  ///< [B, n_head, T]
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::AttentionState;
using ::cladtorch::Tensor;

Tensor causal_attention_reverse_forw(const Tensor& qkv, int64_t n_head,
                                     pullback_state<AttentionState>& state);
void causal_attention_pullback(const Tensor& qkv, int64_t n_head, Tensor d_y, Tensor* d_qkv,
                               pullback_state<AttentionState>& state);
}  // namespace clad::custom_derivatives::cladtorch
