#include "cladtorch/ops/attention.h"

#include <algorithm>

#include "cladtorch/ops/count.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/causal_attention/causal_attention_math.h"
#include "ops/common/scratch.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

struct Layout {
  int64_t batch, length, channels, heads, head_size;

  int64_t row() const { return 3 * channels; }
  /// Offset of the first query of a head; keys follow after `channels`, values after twice that.
  int64_t qkv_offset(int64_t b, int64_t h) const { return b * length * row() + h * head_size; }
  int64_t y_offset(int64_t b, int64_t h) const { return b * length * channels + h * head_size; }
};

Layout layout_of(const char* operation, const Tensor& qkv, int64_t n_head) {
  require(qkv.defined() && qkv.dim() == 3 && n_head > 0 && qkv.size(2) % (3 * n_head) == 0, operation,
          ": expected qkv [B, T, 3C] with C a multiple of n_head: qkv is ", qkv.shape(), ", n_head is ",
          n_head);
  const int64_t channels = qkv.size(2) / 3;
  return {qkv.size(0), qkv.size(1), channels, n_head, channels / n_head};
}

/// Memory of the calling thread.
template <class T>
T* thread_scratch(int64_t elements) {
  thread_local detail::Scratch scratch;
  return scratch.get<T>(elements);
}

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
void for_each_head(const Layout& x, int64_t elements, Head&& head) {
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

void forward_tiles(const Layout& x, const float* in, float* out, float* lse) {
  const simd::Kernels& kernels = simd::kernels();
  const int64_t tile = kernels.attention_tile, tiles = (x.length + tile - 1) / tile;
  const simd::AttentionShape shape = {x.length, x.head_size, x.row(), x.channels};
  const int64_t heads = x.batch * x.heads, scratch_size = kernels.attention_scratch(x.head_size);
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
void pullback_tiles(const Layout& x, const float* y, const simd::AttentionGradient& first) {
  const simd::Kernels& kernels = simd::kernels();
  const int64_t tile = kernels.attention_tile, tiles = (x.length + tile - 1) / tile;
  const int64_t heads = x.batch * x.heads, scratch_size = kernels.attention_pullback_scratch(x.head_size);
  Tensor delta = Tensor::empty({heads, x.length}, DType::float32);
  const auto head = [&](int64_t i) {
    const int64_t b = i / x.heads, h = i % x.heads, in = x.qkv_offset(b, h), out = x.y_offset(b, h);
    simd::AttentionGradient g = first;
    for (const float** p : {&g.q, &g.k, &g.v}) *p += in;
    for (float** p : {&g.d_q, &g.d_k, &g.d_v}) *p += in;
    g.d_y += out;
    g.delta = delta.data<float>() + i * x.length;
    g.log_sum_exp += i * x.length;
    return g;
  };
  const auto find_delta = [&](int64_t i, int64_t query) {
    const int64_t out = x.y_offset(i / x.heads, i % x.heads);
    kernels.attention_delta(first.shape, query, y + out, first.d_y + out, delta.data<float>() + i * x.length);
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

Tensor forward(const Tensor& qkv, int64_t n_head, Tensor* log_sum_exp) {
  const Layout x = layout_of("causal_attention", qkv, n_head);
  detail::count_op();
  const Tensor dense = qkv.contiguous();
  Tensor y = Tensor::empty({x.batch, x.length, x.channels}, qkv.dtype());
  if (log_sum_exp) *log_sum_exp = Tensor::empty({x.batch, x.heads, x.length}, qkv.dtype());
  detail::dispatch_floating("causal_attention", qkv.dtype(), [&]<class T>(T) {
    const T* const in = dense.data<T>();
    T *const out = y.data<T>(), *const lse = log_sum_exp ? log_sum_exp->data<T>() : nullptr;
    if constexpr (std::is_same_v<T, float>) {
      forward_tiles(x, in, out, lse);
    } else {
      for_each_head<T>(x, x.length, [&](int64_t b, int64_t h, T* scratch) {
        const T* const q = in + x.qkv_offset(b, h);
        detail::attention_head(x.length, x.head_size, x.row(), x.channels, q, q + x.channels,
                               q + 2 * x.channels, out + x.y_offset(b, h),
                               lse ? lse + (b * x.heads + h) * x.length : nullptr, scratch);
      });
    }
  });
  return y;
}

}  // namespace

Tensor causal_attention(const Tensor& qkv, int64_t n_head) { return forward(qkv, n_head, nullptr); }

Tensor cached_attention(const Tensor& qkv, Tensor& keys, Tensor& values, int64_t past, int64_t n_head) {
  const Layout x = layout_of("cached_attention", qkv, n_head);
  require(keys.dim() == 3 && keys.shape() == values.shape() && keys.size(0) == x.batch &&
              keys.size(2) == x.channels && keys.is_contiguous() && values.is_contiguous(),
          "cached_attention: expected dense caches [", x.batch, ", capacity, ", x.channels, "], got ",
          keys.shape(), " and ", values.shape());
  require(past >= 0 && past + x.length <= keys.size(1), "cached_attention: ", past, " cached and ", x.length,
          " new positions exceed the capacity of ", keys.size(1));
  detail::count_op();
  keys.narrow(1, past, x.length).copy_from(qkv.narrow(2, x.channels, x.channels));
  values.narrow(1, past, x.length).copy_from(qkv.narrow(2, 2 * x.channels, x.channels));
  const Tensor dense = qkv.contiguous();
  Tensor y = Tensor::empty({x.batch, x.length, x.channels}, qkv.dtype());
  const int64_t capacity = keys.size(1);
  detail::dispatch_floating("cached_attention", qkv.dtype(), [&]<class T>(T) {
    const T *const in = dense.data<T>(), *const k = keys.data<T>(), *const v = values.data<T>();
    T* const out = y.data<T>();
    for_each_head<T>(x, capacity, [&](int64_t b, int64_t h, T* scores) {
      const int64_t cache = b * capacity * x.channels + h * x.head_size;
      for (int64_t t = 0; t < x.length; ++t) {
        detail::attend_row(past + t + 1, x.head_size, in + x.qkv_offset(b, h) + t * x.row(), k + cache,
                           v + cache, x.channels, scores, out + x.y_offset(b, h) + t * x.channels);
      }
    });
  });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor causal_attention_reverse_forw(const Tensor& qkv, int64_t n_head,
                                     pullback_state<AttentionState>& state) {
  return state.data.y = ::cladtorch::forward(qkv, n_head, &state.data.log_sum_exp);
}

void causal_attention_pullback(const Tensor& qkv, int64_t n_head, Tensor d_y, Tensor* d_qkv,
                               pullback_state<AttentionState>& state) {
  if (!d_y.defined() || !d_qkv) return;
  const auto x = ::cladtorch::layout_of("causal_attention", qkv, n_head);
  const Tensor dense = qkv.contiguous(), d = d_y.contiguous();
  const GradientTarget target = accumulate_into(d_qkv, qkv.shape(), qkv.dtype());
  detail::dispatch_floating("causal_attention", qkv.dtype(), [&]<class T>(T) {
    const T *const in = dense.data<T>(), *const out = state.data.y.template data<T>(),
                   *const d_out = d.data<T>();
    const T* const lse = state.data.log_sum_exp.template data<T>();
    T* const d_in = target.data<T>();
    if constexpr (std::is_same_v<T, float>) {
      ::cladtorch::pullback_tiles(x, out,
                                  {{x.length, x.head_size, x.row(), x.channels},
                                   in,
                                   in + x.channels,
                                   in + 2 * x.channels,
                                   d_out,
                                   lse,
                                   nullptr,
                                   d_in,
                                   d_in + x.channels,
                                   d_in + 2 * x.channels,
                                   target.add()});
    } else {
      if (!target.add()) std::fill_n(d_in, qkv.numel(), T(0));
      ::cladtorch::for_each_head<T>(x, 0, [&](int64_t b, int64_t h, T*) {
        const T *const q = in + x.qkv_offset(b, h), *const k = q + x.channels, *const v = k + x.channels;
        T *const d_q = d_in + x.qkv_offset(b, h), *const d_k = d_q + x.channels;
        detail::attention_head_pullback(x.length, x.head_size, x.row(), x.channels, q, k, v,
                                        out + x.y_offset(b, h), lse + (b * x.heads + h) * x.length,
                                        d_out + x.y_offset(b, h), d_q, d_k, d_k + x.channels);
      });
    }
  });
}

}  // namespace clad::custom_derivatives::cladtorch
