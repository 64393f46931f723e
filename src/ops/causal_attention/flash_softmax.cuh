// What becomes of scores in registers, spread over a warp as both kinds of tensor cores have them.
#pragma once

#include "ops/causal_attention/flash_tiles.cuh"
#include "ops/common/scalar_exp.h"

namespace cladtorch::cuda::flash {

/// Makes nothing of the scores of keys that a query does not see. `query` and `key` are the positions of the
/// fragment's first element; queries lie along rows or, where the scores are transposed, along columns.
template <bool transposed = false, int N>
__device__ __forceinline__ void hide_unseen(Strip<N>& scores, int query, int key, int window) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = i / 2 * 8, column = 8 * n + i % 2;
      if (!sees(query + (transposed ? column : row), key + (transposed ? row : column), window))
        scores[n][i] = -std::numeric_limits<float>::infinity();
    }
}

/// The largest score of a row, and the sum of exponentials relative to it that this lane has seen.
struct RowState {
  float largest = -std::numeric_limits<float>::infinity(), total = 0;
};

/// Replaces the scores of row half `half` by their exponentials relative to the largest so far; returns what
/// earlier exponentials are to be multiplied by. `scale` is that of the scores times log2(e).
template <int N>
__device__ __forceinline__ float exponentiate(Strip<N>& scores, int half, float scale, RowState& row) {
  const detail::ScalarExp2 exp2;
  float largest = row.largest;
#pragma unroll
  for (int n = 0; n < N; ++n) largest = fmaxf(largest, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
  largest = fmaxf(largest, __shfl_xor_sync(whole_warp, largest, 1));
  largest = fmaxf(largest, __shfl_xor_sync(whole_warp, largest, 2));
  const float shift = largest == -std::numeric_limits<float>::infinity() ? 0 : largest * scale;
  const float factor = exp2(row.largest * scale - shift);
  row.total *= factor;
  row.largest = largest;
#pragma unroll
  for (int n = 0; n < N; ++n) {
#pragma unroll
    for (int i = 2 * half; i < 2 * half + 2; ++i) {
      scores[n][i] = exp2(scores[n][i] * scale - shift);
      row.total += scores[n][i];
    }
  }
  return factor;
}

/// From scores q k to weights, and from the products d_y v to gradients of scores, of one pair each.
/// `statistic` is the query's log-sum-exp times log2(e) and its delta.
__device__ __forceinline__ void weigh(float& score, float& d_weight, bool seen, float scale,
                                      float2 statistic) {
  score = seen ? detail::ScalarExp2{}(score * scale - statistic.x) : 0;
  d_weight = score * (d_weight - statistic.y);
}

struct Statistics {
  const float *log_sum_exp, *delta;

  __device__ Statistics(const AttentionSizes& x, const AttentionBackward<bfloat16>& p, int64_t b, int head)
      : log_sum_exp(p.log_sum_exp + (b * x.heads + head) * x.length),
        delta(p.delta + (b * x.heads + head) * x.length) {}
  __device__ float2 of(int t, int length) const {
    return t < length ? make_float2(log_sum_exp[t] * log2_e, delta[t]) : make_float2(0, 0);
  }
};

}  // namespace cladtorch::cuda::flash
