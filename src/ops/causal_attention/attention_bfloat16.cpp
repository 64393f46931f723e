#include "ops/causal_attention/attention_bfloat16.h"

#include <algorithm>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/causal_attention/causal_attention_math.h"
#include "ops/common/rows.h"

namespace cladtorch::detail {
namespace {

/// A head is widened once for all its tiles. A group is large enough to keep the threads busy; more would
/// only take memory. It lies as a batch of sequences with one head each.
class HeadGroups {
 public:
  explicit HeadGroups(const AttentionLayout& x) : all_(x) {
    constexpr int64_t elements = 1 << 20;  // of y in one group
    const int64_t of_head = std::max<int64_t>(1, x.length * x.head_size());
    most_ = std::max<int64_t>(elements / of_head, 2 * num_threads());
  }

  /// Calls body(first, layout) for every group: its first head among all, and its own layout.
  template <class Body>
  void for_each(Body&& body) const {
    const int64_t heads = all_.batch * all_.heads;
    for (int64_t first = 0; first < heads; first += most_)
      body(first, AttentionLayout{std::min(most_, heads - first), all_.length, all_.head_size(), 1});
  }

  /// Calls move(n, i, j) for every piece of `parts` (3: qkv, 1: y) that is dense both in the tensor of all
  /// heads, where it starts at i, and in the group's, where it starts at j. In parallel.
  template <class Move>
  void for_each_piece(int64_t first, const AttentionLayout& group, int64_t parts, Move&& move) const {
    const int64_t size = all_.head_size(), row = parts * all_.channels;
    parallel_for(group.batch * all_.length, row_grain(parts * size), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t head = first + at / all_.length, t = at % all_.length;
        const int64_t i = (head / all_.heads * all_.length + t) * row + head % all_.heads * size;
        for (int64_t part = 0; part < parts; ++part)
          move(size, i + part * all_.channels, (at * parts + part) * size);
      }
    });
  }

  /// The group's part of `from`, a tensor of all heads.
  Tensor widened(int64_t first, const AttentionLayout& group, int64_t parts, const bfloat16* from) const {
    Tensor result = empty({group.batch, all_.length, parts * all_.head_size()});
    float* const to = result.data<float>();
    for_each_piece(first, group, parts, [&](int64_t n, int64_t i, int64_t j) { widen(n, from + i, to + j); });
    return result;
  }

 private:
  AttentionLayout all_;
  int64_t most_;
};

}  // namespace

void attention(const AttentionLayout& x, const bfloat16* qkv, bfloat16* y, float* log_sum_exp) {
  const HeadGroups groups(x);
  groups.for_each([&](int64_t first, const AttentionLayout& group) {
    const Tensor in = groups.widened(first, group, 3, qkv);
    Tensor out = empty({group.batch, x.length, x.head_size()});
    float* const result = out.data<float>();
    attention<float>(group, in.data<float>(), result, log_sum_exp ? log_sum_exp + first * x.length : nullptr);
    groups.for_each_piece(first, group, 1,
                          [&](int64_t n, int64_t i, int64_t j) { narrow(n, result + j, y + i); });
  });
}

void attention_pullback(const AttentionLayout& x, const bfloat16* qkv, const bfloat16* y,
                        const float* log_sum_exp, const bfloat16* d_y, Target<bfloat16> d_qkv, float* work) {
  const HeadGroups groups(x);
  groups.for_each([&](int64_t first, const AttentionLayout& group) {
    const Tensor in = groups.widened(first, group, 3, qkv), out = groups.widened(first, group, 1, y),
                 d_out = groups.widened(first, group, 1, d_y);
    Tensor d_in = empty(in.shape());
    float* const result = d_in.data<float>();
    attention_pullback<float>(group, in.data<float>(), out.data<float>(), log_sum_exp + first * x.length,
                              d_out.data<float>(), {result}, work);
    groups.for_each_piece(first, group, 3, [&](int64_t n, int64_t i, int64_t j) {
      bfloat16* const to = d_qkv.data + i;
      if (!d_qkv.add) return narrow(n, result + j, to);
      for (int64_t k = 0; k < n; ++k) to[k] = bfloat16(static_cast<float>(to[k]) + result[j + k]);
    });
  });
}

void cached_attention(const AttentionLayout& x, const bfloat16* qkv, const bfloat16* keys,
                      const bfloat16* values, int64_t past, int64_t capacity, bfloat16* y) {
  const int64_t size = x.head_size(), seen = past + x.length;
  // Scores, the head's keys and values, one query and its result; for the longest cache, so that a thread's
  // memory is not taken anew for every token.
  const auto memory = [&] { return thread_scratch<float>(capacity + 2 * (capacity + 1) * size); };
  parallel_for(x.batch * x.heads, 1, memory, [&](int64_t head, int64_t) {
    const int64_t b = head / x.heads, h = head % x.heads;
    float *const scores = memory(), *const k = scores + capacity, *const v = k + capacity * size;
    float *const query = v + capacity * size, *const result = query + size;
    for (int64_t i = 0; i < seen; ++i) {
      const int64_t row = (b * capacity + i) * x.channels + h * size;
      widen(size, keys + row, k + i * size);
      widen(size, values + row, v + i * size);
    }
    for (int64_t t = 0; t < x.length; ++t) {
      widen(size, qkv + x.qkv_offset(b, h) + t * x.row(), query);
      attend_row(past + t + 1, size, query, k, v, size, scores, result);
      narrow(size, result, y + x.y_offset(b, h) + t * x.channels);
    }
  });
}

}  // namespace cladtorch::detail
