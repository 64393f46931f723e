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

/// Memory of the calling thread for one head.
template <class T>
T* head_scratch(int64_t elements) {
  thread_local detail::Scratch scratch;
  return scratch.get<T>(elements);
}

/// Calls head(b, h, scratch) for every head of every sequence, in parallel, with `elements` of T to work in.
template <class T, class Head>
void for_each_head(const Layout& x, int64_t elements, Head&& head) {
  parallel_for(
      x.batch * x.heads, 1, [&] { head_scratch<T>(elements); },
      [&](int64_t begin, int64_t end) {
        T* const memory = head_scratch<T>(elements);
        for (int64_t i = begin; i < end; ++i) head(i / x.heads, i % x.heads, memory);
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
    constexpr bool fast = std::is_same_v<T, float>;
    const int64_t elements = fast ? simd::kernels().attention_scratch(x.length, x.head_size) : x.length;
    for_each_head<T>(x, elements, [&](int64_t b, int64_t h, T* scratch) {
      const T* const q = in + x.qkv_offset(b, h);
      T *const y_head = out + x.y_offset(b, h), *const lse_head =
                                                    lse ? lse + (b * x.heads + h) * x.length : nullptr;
      if constexpr (fast) {
        simd::kernels().attention({x.length, x.head_size, x.row(), x.channels}, q, q + x.channels,
                                  q + 2 * x.channels, y_head, lse_head, scratch);
      } else {
        detail::attention_head(x.length, x.head_size, x.row(), x.channels, q, q + x.channels,
                               q + 2 * x.channels, y_head, lse_head, scratch);
      }
    });
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
    constexpr bool fast = std::is_same_v<T, float>;
    const int64_t elements = fast ? simd::kernels().attention_scratch(x.length, x.head_size) : 0;
    if (!fast && !target.add()) std::fill_n(d_in, qkv.numel(), T(0));
    ::cladtorch::for_each_head<T>(x, elements, [&](int64_t b, int64_t h, [[maybe_unused]] T* scratch) {
      const T *const q = in + x.qkv_offset(b, h), *const k = q + x.channels, *const v = k + x.channels;
      const T *const y_head = out + x.y_offset(b, h), *const d_head = d_out + x.y_offset(b, h);
      const T* const lse_head = lse + (b * x.heads + h) * x.length;
      T *const d_q = d_in + x.qkv_offset(b, h), *const d_k = d_q + x.channels, *const d_v = d_k + x.channels;
      if constexpr (fast) {
        simd::kernels().attention_pullback({x.length, x.head_size, x.row(), x.channels}, q, k, v, y_head,
                                           lse_head, d_head, d_q, d_k, d_v, target.add(), scratch);
      } else {
        detail::attention_head_pullback(x.length, x.head_size, x.row(), x.channels, q, k, v, y_head, lse_head,
                                        d_head, d_q, d_k, d_v);
      }
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
