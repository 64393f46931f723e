#include "ops/causal_attention/attention_kernel.h"

#include <algorithm>

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

/// The same for every head of every sequence: head(b, h, scratch).
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

void forward_tiles(const AttentionLayout& x, const float* in, float* out, float* lse) {
  const simd::Kernels& kernels = simd::kernels();
  const int64_t tile = kernels.attention_tile, tiles = (x.length + tile - 1) / tile;
  const simd::AttentionShape shape = {x.length, x.head_size(), x.row(), x.channels};
  const int64_t heads = x.batch * x.heads, scratch_size = kernels.attention_scratch(x.head_size());
  const auto attend = [&](int64_t head, int64_t query, float* scratch) {
    const int64_t b = head / x.heads, h = head % x.heads;
    const float* const q = in + x.qkv_offset(b, h);
    kernels.attention(shape, query, q, q + x.channels, q + 2 * x.channels, out + x.y_offset(b, h),
                      lse ? lse + head * x.length : nullptr, scratch);
  };
  for_each_task<float>(heads * tiles, scratch_size, [&](int64_t i, float* scratch) {
    attend(i / tiles, (tiles - 1 - i % tiles) * tile, scratch);  // the last has most to do
  });
}

/// `first` describes the first head of the first sequence.
void pullback_tiles(const AttentionLayout& x, const float* y, float* delta,
                    const simd::AttentionGradient& first) {
  const simd::Kernels& kernels = simd::kernels();
  const int64_t tile = kernels.attention_tile, tiles = (x.length + tile - 1) / tile;
  const int64_t heads = x.batch * x.heads, scratch_size = kernels.attention_pullback_scratch(x.head_size());
  const auto head = [&](int64_t i) {
    const int64_t b = i / x.heads, h = i % x.heads, in = x.qkv_offset(b, h), out = x.y_offset(b, h);
    simd::AttentionGradient g = first;
    for (const float** p : {&g.q, &g.k, &g.v}) *p += in;
    for (float** p : {&g.d_q, &g.d_k, &g.d_v}) *p += in;
    g.d_y += out;
    g.delta = delta + i * x.length;
    g.log_sum_exp += i * x.length;
    return g;
  };
  const auto find_delta = [&](int64_t i, int64_t query) {
    const int64_t out = x.y_offset(i / x.heads, i % x.heads);
    kernels.attention_delta(first.shape, query, y + out, first.d_y + out, delta + i * x.length);
  };
  if (heads_suffice(heads, tiles)) {
    for_each_task<float>(heads, scratch_size, [&](int64_t i, float* scratch) {
      for (int64_t query = 0; query < x.length; query += tile) find_delta(i, query);
      for (int64_t key = 0; key < x.length; key += tile)
        kernels.attention_pullback_keys(head(i), key, true, scratch);
    });
    return;
  }
  parallel_for(heads * tiles, 1, [&](int64_t i, int64_t) { find_delta(i / tiles, i % tiles * tile); });
  for_each_task<float>(2 * heads * tiles, scratch_size, [&](int64_t i, float* scratch) {
    const int64_t of_head = i % (2 * tiles), position = of_head / 2 * tile;
    if (of_head % 2) {
      kernels.attention_pullback_queries(head(i / (2 * tiles)), (tiles - 1) * tile - position, scratch);
    } else {
      kernels.attention_pullback_keys(head(i / (2 * tiles)), position, false, scratch);
    }
  });
}

}  // namespace

template <class T>
void attention(const AttentionLayout& x, const T* qkv, T* y, T* log_sum_exp) {
  if constexpr (std::is_same_v<T, float>) {
    forward_tiles(x, qkv, y, log_sum_exp);
  } else {
    for_each_head<T>(x, x.length, [&](int64_t b, int64_t h, T* scratch) {
      const T* const q = qkv + x.qkv_offset(b, h);
      attention_head(x.length, x.head_size(), x.row(), x.channels, q, q + x.channels, q + 2 * x.channels,
                     y + x.y_offset(b, h), log_sum_exp ? log_sum_exp + (b * x.heads + h) * x.length : nullptr,
                     scratch);
    });
  }
}

template <class T>
void cached_attention(const AttentionLayout& x, const T* qkv, const T* keys, const T* values, int64_t past,
                      int64_t capacity, T* y) {
  for_each_head<T>(x, capacity, [&](int64_t b, int64_t h, T* scores) {
    const int64_t cache = b * capacity * x.channels + h * x.head_size();
    for (int64_t t = 0; t < x.length; ++t) {
      attend_row(past + t + 1, x.head_size(), qkv + x.qkv_offset(b, h) + t * x.row(), keys + cache,
                 values + cache, x.channels, scores, y + x.y_offset(b, h) + t * x.channels);
    }
  });
}

template <class T>
void attention_pullback(const AttentionLayout& x, const T* qkv, const T* y, const T* log_sum_exp,
                        const T* d_y, Target<T> d_qkv, T* work) {
  T* const d_in = d_qkv.data;
  if constexpr (std::is_same_v<T, float>) {
    pullback_tiles(x, y, work,
                   {{x.length, x.head_size(), x.row(), x.channels},
                    qkv,
                    qkv + x.channels,
                    qkv + 2 * x.channels,
                    d_y,
                    log_sum_exp,
                    nullptr,
                    d_in,
                    d_in + x.channels,
                    d_in + 2 * x.channels,
                    d_qkv.add});
  } else {
    if (!d_qkv.add) std::fill_n(d_in, x.batch * x.length * x.row(), T(0));
    for_each_head<T>(x, 0, [&](int64_t b, int64_t h, T*) {
      const T *const q = qkv + x.qkv_offset(b, h), *const k = q + x.channels, *const v = k + x.channels;
      T *const d_q = d_in + x.qkv_offset(b, h), *const d_k = d_q + x.channels;
      attention_head_pullback(x.length, x.head_size(), x.row(), x.channels, q, k, v, y + x.y_offset(b, h),
                              log_sum_exp + (b * x.heads + h) * x.length, d_y + x.y_offset(b, h), d_q, d_k,
                              d_k + x.channels);
    });
  }
}

template void attention(const AttentionLayout&, const float*, float*, float*);
template void attention(const AttentionLayout&, const double*, double*, double*);
template void cached_attention(const AttentionLayout&, const float*, const float*, const float*, int64_t,
                               int64_t, float*);
template void cached_attention(const AttentionLayout&, const double*, const double*, const double*, int64_t,
                               int64_t, double*);
template void attention_pullback(const AttentionLayout&, const float*, const float*, const float*,
                                 const float*, Target<float>, float*);
template void attention_pullback(const AttentionLayout&, const double*, const double*, const double*,
                                 const double*, Target<double>, double*);

}  // namespace cladtorch::detail
