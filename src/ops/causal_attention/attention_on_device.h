// Causal attention on CUDA devices.
#pragma once

#include <array>

#include "cladtorch/tensor/gradient_target.h"
#include "ops/causal_attention/attention_kernel.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// q [B, T, n_head D], k and v [B, S, n_kv_head D]. On a CUDA device the elements of a position are adjacent,
/// else any strides; on a CPU all are dense, or parts of one dense tensor.
struct AttentionOperands {
  Tensor q, k, v;
};

/// Where a gradient goes, in the operands' dtype; sequences lie behind each other.
struct AttentionGradientPlace {
  void* data = nullptr;  ///< null if it is not wanted
  int64_t row = 0;       ///< elements from one position to the next
  bool add = false;
};

/// y [B, T, n_head D] and, unless it is undefined, log_sum_exp [B, n_head, T]. Position t of q is position
/// past + t of k and v.
inline constinit DeviceFunction<void(const AttentionLayout& layout, const AttentionOperands& in, int64_t past,
                                     Tensor& y, Tensor& log_sum_exp)>
    attention_on_device{"causal_attention"};

/// The gradients of q, k and v, of which at least one is wanted; y and d_y are dense. Deterministic.
inline constinit DeviceFunction<void(const AttentionLayout& layout, const AttentionOperands& in,
                                     const Tensor& y, const Tensor& log_sum_exp, const Tensor& d_y,
                                     const std::array<AttentionGradientPlace, 3>& to)>
    attention_pullback_on_device{"causal_attention"};

/// Dense copies of those that are not so.
AttentionOperands attention_operands(const Tensor& q, const Tensor& k, const Tensor& v);
/// Queries, keys and values that lie side by side.
AttentionOperands packed_attention_operands(const Tensor& qkv);

/// The pullbacks of both forms; gradients that are not wanted are null.
void packed_attention_pullback(const AttentionLayout& layout, const Tensor& qkv, const Tensor& y,
                               const Tensor& log_sum_exp, const Tensor& d_y, Tensor* d_qkv);
void separate_attention_pullback(const AttentionLayout& layout, const AttentionOperands& in, const Tensor& y,
                                 const Tensor& log_sum_exp, const Tensor& d_y,
                                 const std::array<Tensor*, 3>& d);

}  // namespace cladtorch::detail
