#include "ops/causal_attention/attention_kernel.h"

#include "cladtorch/tensor/parallel.h"
#include "ops/causal_attention/causal_attention_math.h"
#include "ops/common/scratch.h"
#include "simd/kernels.h"

namespace cladtorch::detail {
namespace {

/// Calls task(i, scratch) for i < count, in parallel, with `elements` of T to work in.
template <class T, class Task>
void for_each_task(int64_t count, int64_t elements, Task&& task) {
  parallel_for(
      count, 1, [&] { thread_scratch<T>(elements); },
      [&](int64_t begin, int64_t end) {
        T* const memory = thread_scratch<T>(elements);
        for (int64_t i = begin; i < end; ++i) task(i, memory);
      });
}

/// The same for every head of q in every sequence: head(b, h, scratch).
template <class T, class Head>
void for_each_head(const AttentionLayout& x, int64_t elements, Head&& head) {
  for_each_task<T>(x.batch * x.heads, elements,
                   [&](int64_t i, T* memory) { head(i / x.heads, i % x.heads, memory); });
}

/// Whether heads alone keep the threads busy: then each is one task. In the pullback that takes five products
/// of a block; with tiles of keys and tiles of queries as tasks, scores and their cotangents are formed
/// twice: seven products, the same result bit for bit.
bool heads_suffice(int64_t heads, int64_t tiles) {
  const int64_t threads = num_threads(), rounds = (heads + threads - 1) / threads;
  return tiles == 1 || 5 * rounds * threads <= 7 * heads;
}

simd::AttentionShape shape_of(const AttentionLayout& x) {
  return {x.length, x.head_size, x.q_row, x.k_row, x.y_row(), x.window};
}

/// Head h of sequence b.
template <class T>
AttentionInputs<T> head_of(const AttentionLayout& x, const AttentionInputs<T>& in, int64_t b, int64_t h) {
  const int64_t key = x.k_offset(b, h / x.group());
  return {in.q + x.q_offset(b, h), in.k + key, in.v + key};
}

void forward_tiles(const AttentionLayout& x, const AttentionInputs<float>& in, float* out, float* lse) {
  const simd::Kernels& kernels = simd::kernels();
  const int64_t tile = kernels.attention_tile, tiles = (x.length + tile - 1) / tile;
  const simd::AttentionShape shape = shape_of(x);
  const int64_t heads = x.batch * x.heads, scratch_size = kernels.attention_scratch(x.head_size);
  const auto attend = [&](int64_t head, int64_t query, float* scratch) {
    const int64_t b = head / x.heads, h = head % x.heads;
    const AttentionInputs<float> at = head_of(x, in, b, h);
    kernels.attention(shape, query, at.q, at.k, at.v, out + x.y_offset(b, h),
                      lse ? lse + head * x.length : nullptr, scratch);
  };
  for_each_task<float>(heads * tiles, scratch_size, [&](int64_t i, float* scratch) {
    attend(i / tiles, (tiles - 1 - i % tiles) * tile, scratch);  // the last has most to do
  });
}

/// The pullback in tiles. Heads are counted over all sequences.
class PullbackTiles {
 public:
  /// `first` describes the first head of the first sequence; delta holds x.statistics() elements.
  PullbackTiles(const AttentionLayout& x, const float* y, float* delta, const simd::AttentionGradient& first)
      : x_(x),
        y_(y),
        delta_(delta),
        first_(first),
        kernels_(simd::kernels()),
        tile_(kernels_.attention_tile),
        tiles_((x.length + tile_ - 1) / tile_) {}

  void run() const {
    const int64_t key_heads = x_.batch * x_.key_heads;
    const int64_t scratch_size = kernels_.attention_pullback_scratch(x_.head_size);
    if (heads_suffice(key_heads, tiles_)) {
      for_each_task<float>(key_heads, scratch_size,
                           [&](int64_t i, float* scratch) { whole_head(i, scratch); });
      return;
    }
    parallel_for(x_.batch * x_.heads * tiles_, 1,
                 [&](int64_t i, int64_t) { find_delta(i / tiles_, i % tiles_ * tile_); });
    const int64_t tasks = 1 + x_.group();  // of a tile: its keys, and the queries of each head
    for_each_task<float>(key_heads * tiles_ * tasks, scratch_size, [&](int64_t i, float* scratch) {
      tile_of_head(i / tasks / tiles_, i / tasks % tiles_ * tile_, i % tasks, scratch);
    });
  }

 private:
  void whole_head(int64_t key_head, float* scratch) const {
    const int64_t group = x_.group(), head = key_head * group;
    for (int64_t i = head; i < head + group; ++i)
      for (int64_t query = 0; query < x_.length; query += tile_) find_delta(i, query);
    for (int64_t key = 0; key < x_.length; key += tile_)
      kernels_.attention_pullback_keys(gradient(head), group, key, true, scratch);
  }

  void tile_of_head(int64_t key_head, int64_t position, int64_t task, float* scratch) const {
    const int64_t group = x_.group(), head = key_head * group;
    if (task == 0) {
      kernels_.attention_pullback_keys(gradient(head), group, position, false, scratch);
    } else {
      kernels_.attention_pullback_queries(gradient(head + task - 1), (tiles_ - 1) * tile_ - position,
                                          scratch);
    }
  }

  simd::AttentionGradient gradient(int64_t head) const {
    const int64_t b = head / x_.heads, h = head % x_.heads;
    const int64_t query = x_.q_offset(b, h), key = x_.k_offset(b, h / x_.group());
    simd::AttentionGradient g = first_;
    g.q += query;
    g.d_q += query;
    for (const float** p : {&g.k, &g.v}) *p += key;
    for (float** p : {&g.d_k, &g.d_v}) *p += key;
    g.d_y += x_.y_offset(b, h);
    g.delta = delta_ + head * x_.length;
    g.log_sum_exp += head * x_.length;
    return g;
  }

  void find_delta(int64_t head, int64_t query) const {
    const int64_t out = x_.y_offset(head / x_.heads, head % x_.heads);
    kernels_.attention_delta(first_.shape, query, y_ + out, first_.d_y + out, delta_ + head * x_.length);
  }

  const AttentionLayout& x_;
  const float* y_;
  float* delta_;
  const simd::AttentionGradient& first_;
  const simd::Kernels& kernels_;
  int64_t tile_, tiles_;
};

template <class T>
void clear_unless_added(const Target<T>& to, int64_t length, int64_t row, int64_t size) {
  for (int64_t t = 0; !to.add && t < length; ++t) std::fill_n(to.data + t * row, size, T(0));
}

/// All heads that share keys and values, by rows.
template <class T>
void pullback_of_group(const AttentionLayout& x, const AttentionInputs<T>& in, const T* y,
                       const T* log_sum_exp, const T* d_y, const AttentionTargets<T>& to, int64_t b,
                       int64_t key_head) {
  const int64_t first = key_head * x.group(), query = x.q_offset(b, first), key = x.k_offset(b, key_head);
  const Target<T> d_q{to.q.data + query, to.q.add}, d_k{to.k.data + key, to.k.add},
      d_v{to.v.data + key, to.v.add};
  clear_unless_added(d_q, x.length, x.q_row, x.group() * x.head_size);
  clear_unless_added(d_k, x.length, x.k_row, x.head_size);
  clear_unless_added(d_v, x.length, x.k_row, x.head_size);
  for (int64_t h = first; h < first + x.group(); ++h) {
    const int64_t out = x.y_offset(b, h);
    attention_head_pullback(x, head_of(x, in, b, h), y + out, log_sum_exp + (b * x.heads + h) * x.length,
                            d_y + out, d_q.data + (h - first) * x.head_size, d_k.data, d_v.data);
  }
}

}  // namespace

template <class T>
void attention(const AttentionLayout& x, const AttentionInputs<T>& in, T* y, T* log_sum_exp) {
  if constexpr (std::is_same_v<T, float>) {
    forward_tiles(x, in, y, log_sum_exp);
  } else {
    for_each_head<T>(x, x.length, [&](int64_t b, int64_t h, T* scratch) {
      attention_head(x, head_of(x, in, b, h), y + x.y_offset(b, h),
                     log_sum_exp ? log_sum_exp + (b * x.heads + h) * x.length : nullptr, scratch);
    });
  }
}

template <class T>
void cached_attention(const AttentionLayout& x, const T* q, const T* keys, const T* values, int64_t past,
                      int64_t capacity, T* y) {
  const int64_t row = x.key_heads * x.head_size;
  for_each_head<T>(x, capacity, [&](int64_t b, int64_t h, T* scores) {
    const int64_t cache = b * capacity * row + h / x.group() * x.head_size;
    for (int64_t t = 0; t < x.length; ++t) {
      const int64_t first = x.first_seen(past + t), skipped = cache + first * row;
      attend_row(past + t + 1 - first, x.head_size, q + x.q_offset(b, h) + t * x.q_row, keys + skipped,
                 values + skipped, row, scores, y + x.y_offset(b, h) + t * x.y_row());
    }
  });
}

template <class T>
void attention_pullback(const AttentionLayout& x, const AttentionInputs<T>& in, const T* y,
                        const T* log_sum_exp, const T* d_y, const AttentionTargets<T>& to,
                        [[maybe_unused]] T* work) {
  if constexpr (std::is_same_v<T, float>) {
    const simd::AttentionGradient first{shape_of(x), in.q,     in.k,      in.v,      d_y,
                                        log_sum_exp, nullptr,  to.q.data, to.k.data, to.v.data,
                                        to.q.add,    to.k.add, to.v.add};
    PullbackTiles(x, y, work, first).run();
  } else {
    for_each_task<T>(x.batch * x.key_heads, 0, [&](int64_t i, T*) {
      pullback_of_group(x, in, y, log_sum_exp, d_y, to, i / x.key_heads, i % x.key_heads);
    });
  }
}

#define CLADTORCH_ATTENTION(T)                                                                            \
  template void attention(const AttentionLayout&, const AttentionInputs<T>&, T*, T*);                     \
  template void cached_attention(const AttentionLayout&, const T*, const T*, const T*, int64_t, int64_t,  \
                                 T*);                                                                     \
  template void attention_pullback(const AttentionLayout&, const AttentionInputs<T>&, const T*, const T*, \
                                   const T*, const AttentionTargets<T>&, T*);
CLADTORCH_ATTENTION(float)
CLADTORCH_ATTENTION(double)

}  // namespace cladtorch::detail
