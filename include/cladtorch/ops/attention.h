// Causal self-attention as one operation.
#pragma once

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Multi-head attention in which position t sees positions 0..t.
/// qkv [B, T, 3C] holds queries, keys and values side by side, each split into n_head heads of D = C /
/// n_head; the result is softmax(q k^T / sqrt(D)) v, [B, T, C]. The T x T matrix is never stored: blocks of
/// it are recomputed in the pullback from the log-sum-exp of each row. Source: Dao et al., FlashAttention,
/// 2022.
Tensor causal_attention(const Tensor& qkv, int64_t n_head);

/// The same for separate tensors: queries q [B, T, n_head D], keys and values k and v [B, T, n_kv_head D],
/// where each n_head / n_kv_head consecutive heads of queries share one of keys and values (grouped-query
/// attention); D is free. With a window W, position t sees only positions t-W+1..t; 0 means no window. The
/// result is [B, T, n_head D]. Throws Error if shapes do not fit. Sources: Ainslie et al., "GQA", 2023; Jiang
/// et al., "Mistral 7B", 2023.
Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head,
                        int64_t window = 0);

/// The masks from which attention can be composed. The scores [..., T, S] belong to the last T of S
/// positions. Where position t would see a later one, causal_mask puts -inf and tril puts 0. Both throw Error
/// if T exceeds S.
Tensor causal_mask(const Tensor& scores);
Tensor tril(const Tensor& x);

/// For inference: writes the keys and values of qkv [B, T, 3C] to positions past..past+T of the caches
/// `keys` and `values` [B, capacity, C] and attends over positions 0..past+t. Throws Error if the capacity is
/// exceeded.
Tensor cached_attention(const Tensor& qkv, Tensor& keys, Tensor& values, int64_t past, int64_t n_head);

/// The same for separate tensors, with caches [B, capacity, n_kv_head D].
Tensor cached_attention(const Tensor& q, const Tensor& k, const Tensor& v, Tensor& keys, Tensor& values,
                        int64_t past, int64_t n_head, int64_t window = 0);

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

void causal_mask_pullback(CLAD_UNUSED const Tensor& scores, Tensor d_y, Tensor* d_scores);
void tril_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x);

Tensor causal_attention_reverse_forw(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head,
                                     int64_t window, pullback_state<AttentionState>& state);
void causal_attention_pullback(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head,
                               int64_t window, Tensor d_y, Tensor* d_q, Tensor* d_k, Tensor* d_v,
                               pullback_state<AttentionState>& state);
}  // namespace clad::custom_derivatives::cladtorch
