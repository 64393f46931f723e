#include "ops/causal_attention/attention_bfloat16.h"

#include <algorithm>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/causal_attention/causal_attention_math.h"
#include "ops/common/rows.h"

namespace cladtorch::detail {
namespace {

/// A head of keys, with the heads of queries that share it, is widened once for all its tiles. Some of them
/// together are a group, large enough to keep the threads busy; more would only take memory. It lies as a
/// batch of sequences with one head of keys each.
class HeadGroups {
 public:
  explicit HeadGroups(const AttentionLayout& x) : all_(x) {
    constexpr int64_t elements = 1 << 20;  // of y in one group
    const int64_t of_head = std::max<int64_t>(1, x.length * query_size());
    most_ = std::max<int64_t>(elements / of_head, 2 * num_threads());
  }

  /// Calls body(first, layout) for every group: its first head of keys among all, and its own layout.
  template <class Body>
  void for_each(Body&& body) const {
    const int64_t heads = all_.batch * all_.key_heads;
    for (int64_t first = 0; first < heads; first += most_)
      body(first, AttentionLayout::separate(std::min(most_, heads - first), all_.length, all_.group(), 1,
                                            all_.head_size, all_.window));
  }

  /// Elements of a position that belong to one head of keys: in q and y, and in k and v.
  int64_t query_size() const { return all_.group() * all_.head_size; }
  int64_t key_size() const { return all_.head_size; }

  /// The group's part of `from`, whose positions lie `row` apart and have `size` elements for a head of keys.
  Tensor widened(int64_t first, const AttentionLayout& group, const bfloat16* from, int64_t row,
                 int64_t size) const {
    Tensor result = empty({group.batch, all_.length, size});
    float* const to = result.data<float>();
    for_each_piece(first, group, row, size, [&](int64_t i, int64_t j) { widen(size, from + i, to + j); });
    return result;
  }

  /// Rounds the group's part to its place, or adds it.
  void narrow_to(int64_t first, const AttentionLayout& group, const float* from, Target<bfloat16> to,
                 int64_t row, int64_t size) const {
    for_each_piece(first, group, row, size, [&](int64_t i, int64_t j) {
      bfloat16* const out = to.data + i;
      if (!to.add) return narrow(size, from + j, out);
      for (int64_t k = 0; k < size; ++k) out[k] = bfloat16(static_cast<float>(out[k]) + from[j + k]);
    });
  }

 private:
  /// Calls move(i, j) for every piece of `size` elements: it starts at i in the tensor of all heads, and at j
  /// in the group's. In parallel.
  template <class Move>
  void for_each_piece(int64_t first, const AttentionLayout& group, int64_t row, int64_t size,
                      Move&& move) const {
    parallel_for(group.batch * all_.length, row_grain(size), [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t head = first + at / all_.length, t = at % all_.length;
        move((head / all_.key_heads * all_.length + t) * row + head % all_.key_heads * size, at * size);
      }
    });
  }

  AttentionLayout all_;
  int64_t most_;
};

struct WideInputs {
  Tensor q, k, v;

  WideInputs(const HeadGroups& groups, const AttentionLayout& x, int64_t first, const AttentionLayout& group,
             const AttentionInputs<bfloat16>& in)
      : q(groups.widened(first, group, in.q, x.q_row, groups.query_size())),
        k(groups.widened(first, group, in.k, x.k_row, groups.key_size())),
        v(groups.widened(first, group, in.v, x.k_row, groups.key_size())) {}
  AttentionInputs<float> pointers() const {
    const Tensor &a = q, &b = k, &c = v;
    return {a.data<float>(), b.data<float>(), c.data<float>()};
  }
};

}  // namespace

void attention(const AttentionLayout& x, const AttentionInputs<bfloat16>& in, bfloat16* y,
               float* log_sum_exp) {
  const HeadGroups groups(x);
  groups.for_each([&](int64_t first, const AttentionLayout& group) {
    const WideInputs wide(groups, x, first, group, in);
    Tensor out = empty({group.batch, x.length, groups.query_size()});
    float* const result = out.data<float>();
    attention<float>(group, wide.pointers(), result,
                     log_sum_exp ? log_sum_exp + first * x.group() * x.length : nullptr);
    groups.narrow_to(first, group, result, {y}, x.y_row(), groups.query_size());
  });
}

void attention_pullback(const AttentionLayout& x, const AttentionInputs<bfloat16>& in, const bfloat16* y,
                        const float* log_sum_exp, const bfloat16* d_y, const AttentionTargets<bfloat16>& to,
                        float* work) {
  const HeadGroups groups(x);
  groups.for_each([&](int64_t first, const AttentionLayout& group) {
    const WideInputs wide(groups, x, first, group, in);
    const Tensor out = groups.widened(first, group, y, x.y_row(), groups.query_size());
    const Tensor d_out = groups.widened(first, group, d_y, x.y_row(), groups.query_size());
    Tensor d_q = empty(wide.q.shape()), d_k = empty(wide.k.shape()), d_v = empty(wide.v.shape());
    float *const of_q = d_q.data<float>(), *const of_k = d_k.data<float>(), *const of_v = d_v.data<float>();
    attention_pullback<float>(group, wide.pointers(), out.data<float>(),
                              log_sum_exp + first * x.group() * x.length, d_out.data<float>(),
                              {{of_q}, {of_k}, {of_v}}, work);
    groups.narrow_to(first, group, of_q, to.q, x.q_row, groups.query_size());
    groups.narrow_to(first, group, of_k, to.k, x.k_row, groups.key_size());
    groups.narrow_to(first, group, of_v, to.v, x.k_row, groups.key_size());
  });
}

void cached_attention(const AttentionLayout& x, const bfloat16* q, const bfloat16* keys,
                      const bfloat16* values, int64_t past, int64_t capacity, bfloat16* y) {
  const int64_t size = x.head_size, seen = past + x.length, row = x.key_heads * size;
  // Scores, the head's keys and values, one query and its result; for the longest cache, so that a thread's
  // memory is not taken anew for every token.
  const auto memory = [&] { return thread_scratch<float>(capacity + 2 * (capacity + 1) * size); };
  parallel_for(x.batch * x.key_heads, 1, memory, [&](int64_t head, int64_t) {
    const int64_t b = head / x.key_heads, key_head = head % x.key_heads;
    float *const scores = memory(), *const k = scores + capacity, *const v = k + capacity * size;
    float *const query = v + capacity * size, *const result = query + size;
    for (int64_t i = x.first_seen(past); i < seen; ++i) {
      const int64_t from = (b * capacity + i) * row + key_head * size;
      widen(size, keys + from, k + i * size);
      widen(size, values + from, v + i * size);
    }
    for (int64_t h = key_head * x.group(); h < (key_head + 1) * x.group(); ++h) {
      for (int64_t t = 0; t < x.length; ++t) {
        const int64_t first = x.first_seen(past + t);
        widen(size, q + x.q_offset(b, h) + t * x.q_row, query);
        attend_row(past + t + 1 - first, size, query, k + first * size, v + first * size, size, scores,
                   result);
        narrow(size, result, y + x.y_offset(b, h) + t * x.y_row());
      }
    }
  });
}

}  // namespace cladtorch::detail
