// Causal attention as cuDNN is told of it: tensors of four dimensions [batch, heads, positions, elements]
// with any strides, of which the last is 1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ops/causal_attention/attention_implementation.h"

namespace cladtorch::cuda {

struct CudnnTensor {
  std::array<int64_t, 4> dimensions{}, strides{};

  bool operator==(const CudnnTensor&) const = default;
};

/// Heads that lie side by side in each position.
inline CudnnTensor cudnn_heads(int64_t batch, int64_t heads, int64_t length, int64_t head_size,
                               int64_t batch_stride, int64_t row) {
  return {{batch, heads, length, head_size}, {batch_stride, head_size, row, 1}};
}

/// Element 0 of each is where its pointer points. Position t of q is position t of k and v.
struct CudnnAttentionLayout {
  CudnnTensor q, k, v, y;  ///< of bfloat16; the cotangent of y lies as y does
  CudnnTensor statistics;  ///< of float: natural logarithms of the sums of exponentials of scaled scores
  CudnnTensor d_q, d_k, d_v;
  std::optional<int64_t> window;  ///< keys that a query sees, itself the last

  explicit CudnnAttentionLayout(const AttentionProblem& problem) {
    const detail::AttentionLayout& x = problem.layout;
    const auto operand = [&](size_t i, int64_t heads) {
      return cudnn_heads(x.batch, heads, x.length, x.head_size, problem.in[i].batch, problem.in[i].row);
    };
    const auto gradient = [&](size_t i, int64_t heads) {
      const int64_t row = problem.to[i].row;
      return cudnn_heads(x.batch, heads, x.length, x.head_size, x.length * row, row);
    };
    q = operand(0, x.heads);
    k = operand(1, x.key_heads);
    v = operand(2, x.key_heads);
    y = cudnn_heads(x.batch, x.heads, x.length, x.head_size, x.length * x.y_row(), x.y_row());
    statistics = {{x.batch, x.heads, x.length, 1}, {x.heads * x.length, x.length, 1, 1}};
    d_q = gradient(0, x.heads);
    d_k = gradient(1, x.key_heads);
    d_v = gradient(2, x.key_heads);
    if (x.window < x.length) window = x.window;
  }
};

/// Whether cuDNN is asked at all. It is not for a cache of keys, whose length would make another plan at each
/// step, nor for gradients that are added to others or not all wanted.
inline bool suits_cudnn(const AttentionProblem& problem) {
  const detail::AttentionLayout& x = problem.layout;
  constexpr int64_t pack = 8;  // elements of 16 bytes
  if (problem.dtype != DType::bfloat16 || problem.past != 0 || !problem.is_packed()) return false;
  if (x.head_size % pack != 0 || x.head_size > 128 || x.length < 2) return false;
  if (problem.pass == AttentionPass::forward) return true;
  for (const AttentionProblem::Gradient& gradient : problem.to)
    if (!gradient.wanted || gradient.add || gradient.row % pack != 0) return false;
  return true;
}

}  // namespace cladtorch::cuda
