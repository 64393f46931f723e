// Causal attention of one head, one query row at a time: the reference for float and double. With s(t) the
// first position that t sees,
//   p_tj = exp(q_t k_j / sqrt(D) - lse_t) for s(t) <= j <= t,   y_t = sum_j p_tj v_j
//   dp_tj = d_y_t v_j,   ds_tj = p_tj (dp_tj - d_y_t y_t)
//   d_q_t = sum_j ds_tj k_j / sqrt(D),   d_k_j = sum_t ds_tj q_t / sqrt(D),   d_v_j = sum_t p_tj d_y_t
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/causal_attention/attention_kernel.h"
#include "ops/softmax/softmax_math.h"

namespace cladtorch::detail {

template <class T>
T dot(int64_t n, const T* a, const T* b) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// One query against keys 0..count-1, whose rows lie `row` apart. `scores` holds `count` elements and
/// receives the probabilities; y may not overlap the inputs. Returns the log-sum-exp of the scores.
template <class T>
T attend_row(int64_t count, int64_t head_size, const T* q, const T* k, const T* v, int64_t row, T* scores,
             T* y) {
  const T scale = T(1) / std::sqrt(static_cast<T>(head_size));
  for (int64_t j = 0; j < count; ++j) scores[j] = scale * dot(head_size, q, k + j * row);
  const T shift = log_sum_exp(count, scores);
  for (int64_t d = 0; d < head_size; ++d) y[d] = 0;
  for (int64_t j = 0; j < count; ++j) {
    scores[j] = std::exp(scores[j] - shift);
    for (int64_t d = 0; d < head_size; ++d) y[d] += scores[j] * v[j * row + d];
  }
  return shift;
}

/// `in` and y point to the head. `scratch` holds `length` elements.
template <class T>
void attention_head(const AttentionLayout& x, const AttentionInputs<T>& in, T* y, T* log_sum_exp_out,
                    T* scratch) {
  for (int64_t t = 0; t < x.length; ++t) {
    const int64_t first = x.first_seen(t), skipped = first * x.k_row;
    const T shift = attend_row(t + 1 - first, x.head_size, in.q + t * x.q_row, in.k + skipped, in.v + skipped,
                               x.k_row, scratch, y + t * x.y_row());
    if (log_sum_exp_out) log_sum_exp_out[t] = shift;
  }
}

/// Adds to d_q, d_k and d_v, laid out as q, k and v.
template <class T>
void attention_head_pullback(const AttentionLayout& x, const AttentionInputs<T>& in, const T* y,
                             const T* log_sum_exp_in, const T* d_y, T* d_q, T* d_k, T* d_v) {
  const int64_t head_size = x.head_size;
  const T scale = T(1) / std::sqrt(static_cast<T>(head_size));
  for (int64_t t = 0; t < x.length; ++t) {
    const T *const q_t = in.q + t * x.q_row, *const d_y_t = d_y + t * x.y_row();
    T* const d_q_t = d_q + t * x.q_row;
    const T delta = dot(head_size, d_y_t, y + t * x.y_row());
    for (int64_t j = x.first_seen(t); j <= t; ++j) {
      const int64_t at = j * x.k_row;
      const T p = std::exp(scale * dot(head_size, q_t, in.k + at) - log_sum_exp_in[t]);
      const T d_score = scale * p * (dot(head_size, d_y_t, in.v + at) - delta);
      for (int64_t d = 0; d < head_size; ++d) {
        d_q_t[d] += d_score * in.k[at + d];
        d_k[at + d] += d_score * q_t[d];
        d_v[at + d] += p * d_y_t[d];
      }
    }
  }
}

}  // namespace cladtorch::detail
