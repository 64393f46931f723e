#include "cladtorch/ops/attention.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/causal_attention/attention_bfloat16.h"
#include "ops/causal_attention/attention_kernel.h"
#include "ops/causal_attention/attention_on_device.h"
#include "ops/common/call.h"

namespace cladtorch {
namespace {

using detail::AttentionInputs;
using detail::AttentionLayout;
using detail::AttentionOperands;
using detail::Call;

AttentionLayout layout_of(const char* operation, const Tensor& qkv, int64_t n_head) {
  require(qkv.dim() == 3 && n_head > 0 && qkv.size(2) % (3 * n_head) == 0, operation,
          ": expected qkv [B, T, 3C] with C a multiple of n_head: qkv is ", qkv.shape(), ", n_head is ",
          n_head);
  return AttentionLayout::packed(qkv.size(0), qkv.size(1), qkv.size(2) / 3, n_head);
}

AttentionLayout layout_of(const char* operation, const Tensor& q, const Tensor& k, const Tensor& v,
                          int64_t n_head, int64_t window) {
  require(q.dim() == 3 && n_head > 0 && q.size(2) > 0 && q.size(2) % n_head == 0, operation,
          ": expected q [B, T, n_head D]: q is ", q.shape(), ", n_head is ", n_head);
  const int64_t head_size = q.size(2) / n_head;
  require(k.dim() == 3 && k.shape() == v.shape() && k.size(0) == q.size(0) && k.size(1) == q.size(1) &&
              k.size(2) > 0 && k.size(2) % head_size == 0 && n_head % (k.size(2) / head_size) == 0,
          operation, ": expected k and v [B, T, n_kv_head D] with D = ", head_size,
          " and n_kv_head a divisor of ", n_head, ": q is ", q.shape(), ", k is ", k.shape(), ", v is ",
          v.shape());
  require(window >= 0, operation, ": the window must not be negative, got ", window);
  return AttentionLayout::separate(q.size(0), q.size(1), n_head, k.size(2) / head_size, head_size, window);
}

/// Counts the products of the queries with the `past` keys and values before them and those of the positions
/// themselves that they see.
void count_products(const AttentionLayout& x, int64_t past) {
  int64_t pairs = 0;
  for (int64_t t = past; t < past + x.length; ++t) pairs += t + 1 - x.first_seen(t);
  detail::count_flops(4 * x.batch * x.heads * x.head_size * pairs);
}

template <class T>
AttentionInputs<T> pointers_to(const AttentionOperands& in) {
  return {in.q.data<T>(), in.k.data<T>(), in.v.data<T>()};
}

Tensor attend(const Call& call, const AttentionLayout& x, const AttentionOperands& in, Tensor* log_sum_exp) {
  count_products(x, 0);
  Tensor y = call.result({x.batch, x.length, x.y_row()}), statistics;
  if (log_sum_exp) *log_sum_exp = statistics = call.sums({x.batch, x.heads, x.length});
  detail::run_where(
      call.operation(), y, [&] { detail::attention_on_device(x, in, 0, y, statistics); },
      [&]<class T>(T) {
        detail::attention(x, pointers_to<T>(in), y.data<T>(),
                          log_sum_exp ? statistics.data<detail::Computed<T>>() : nullptr);
      });
  return y;
}

Tensor forward(const Tensor& qkv, int64_t n_head, Tensor* log_sum_exp) {
  const Call call("causal_attention", {{"qkv", qkv}});
  const AttentionLayout x = layout_of(call.operation(), qkv, n_head);
  return attend(call, x, detail::packed_attention_operands(qkv), log_sum_exp);
}

Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head, int64_t window,
               Tensor* log_sum_exp) {
  const Call call("causal_attention", {{"q", q}, {"k", k}, {"v", v}});
  const AttentionLayout x = layout_of(call.operation(), q, k, v, n_head, window);
  return attend(call, x, detail::attention_operands(q, k, v), log_sum_exp);
}

}  // namespace

Tensor causal_attention(const Tensor& qkv, int64_t n_head) {
  CLADTORCH_RECORD_STATE(AttentionState, causal_attention, qkv, n_head);
  return forward(qkv, n_head, nullptr);
}

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head, int64_t window) {
  CLADTORCH_RECORD_STATE(AttentionState, causal_attention, q, k, v, n_head, window);
  return forward(q, k, v, n_head, window, nullptr);
}

Tensor cached_attention(const Tensor& q, const Tensor& k, const Tensor& v, Tensor& keys, Tensor& values,
                        int64_t past, int64_t n_head, int64_t window) {
  const Call call("cached_attention", {{"q", q}, {"k", k}, {"v", v}});
  const AttentionLayout x = layout_of(call.operation(), q, k, v, n_head, window);
  require(keys.dim() == 3 && keys.shape() == values.shape() && keys.size(0) == x.batch &&
              keys.size(2) == k.size(2) && keys.is_contiguous() && values.is_contiguous() &&
              keys.dtype() == q.dtype() && values.dtype() == q.dtype(),
          "cached_attention: expected dense ", q.dtype(), " caches [", x.batch, ", capacity, ", k.size(2),
          "], got ", keys.shape(), " of ", keys.dtype(), " and ", values.shape(), " of ", values.dtype());
  require(past >= 0 && past + x.length <= keys.size(1), "cached_attention: ", past, " cached and ", x.length,
          " new positions exceed the capacity of ", keys.size(1));
  keys.narrow(1, past, x.length).copy_from(k);
  values.narrow(1, past, x.length).copy_from(v);
  count_products(x, past);
  const AttentionOperands in = detail::attention_operands(q, keys, values);
  Tensor y = call.result(q.shape()), no_statistics;
  detail::run_where(
      call.operation(), y, [&] { detail::attention_on_device(x, in, past, y, no_statistics); },
      [&]<class T>(T) {
        const AttentionInputs<T> from = pointers_to<T>(in);
        detail::cached_attention(x, from.q, from.k, from.v, past, keys.size(1), y.data<T>());
      });
  return y;
}

Tensor cached_attention(const Tensor& qkv, Tensor& keys, Tensor& values, int64_t past, int64_t n_head) {
  layout_of("cached_attention", qkv, n_head);
  const int64_t channels = qkv.size(2) / 3;
  return cached_attention(qkv.narrow(2, 0, channels), qkv.narrow(2, channels, channels),
                          qkv.narrow(2, 2 * channels, channels), keys, values, past, n_head, 0);
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
  d_qkv = wanted(d_qkv, qkv);
  if (!d_y.defined() || !d_qkv) return;
  const auto x = ::cladtorch::layout_of("causal_attention", qkv, n_head);
  const Tensor &y = state.data.y, &log_sum_exp = state.data.log_sum_exp;
  if (qkv.is_cuda()) return detail::packed_attention_pullback(x, qkv, y, log_sum_exp, d_y, d_qkv);
  const detail::AttentionOperands in = detail::packed_attention_operands(qkv);
  const Tensor d = d_y.contiguous();
  Tensor work = Tensor::empty({x.statistics()}, log_sum_exp.dtype());
  detail::dispatch_real("causal_attention", qkv.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::contribute<T>(d_qkv, qkv.shape(), [&](detail::Target<T> target) {
      detail::attention_pullback(x, pointers_to<T>(in), y.data<T>(), log_sum_exp.data<C>(), d.data<T>(),
                                 detail::AttentionTargets<T>::packed(target, qkv.size(2) / 3),
                                 work.data<C>());
    });
  });
}

Tensor causal_attention_reverse_forw(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head,
                                     int64_t window, pullback_state<AttentionState>& state) {
  return state.data.y = ::cladtorch::forward(q, k, v, n_head, window, &state.data.log_sum_exp);
}

void causal_attention_pullback(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head,
                               int64_t window, Tensor d_y, Tensor* d_q, Tensor* d_k, Tensor* d_v,
                               pullback_state<AttentionState>& state) {
  d_q = wanted(d_q, q);
  d_k = wanted(d_k, k);
  d_v = wanted(d_v, v);
  if (!d_y.defined() || (!d_q && !d_k && !d_v)) return;
  const auto x = ::cladtorch::layout_of("causal_attention", q, k, v, n_head, window);
  const Tensor &y = state.data.y, &log_sum_exp = state.data.log_sum_exp;
  const detail::AttentionOperands in = detail::attention_operands(q, k, v);
  if (q.is_cuda()) return detail::separate_attention_pullback(x, in, y, log_sum_exp, d_y, {d_q, d_k, d_v});
  // All three come at once, into memory of their own: one that is not wanted, or wanted of one tensor in two
  // roles, goes through a tensor here.
  Tensor own[3], *const wanted[] = {d_q, d_k, d_v};
  const auto target = [&](int i) {
    bool shared = false;
    for (int j = 0; j < 3; ++j) shared |= i != j && wanted[i] == wanted[j];
    return wanted[i] && !shared ? wanted[i] : &own[i];
  };
  const Tensor d = d_y.contiguous();
  Tensor work = Tensor::empty({x.statistics()}, log_sum_exp.dtype());
  detail::dispatch_real("causal_attention", q.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::contribute<T>(target(0), q.shape(), [&](detail::Target<T> to_q) {
      detail::contribute<T>(target(1), k.shape(), [&](detail::Target<T> to_k) {
        detail::contribute<T>(target(2), v.shape(), [&](detail::Target<T> to_v) {
          detail::attention_pullback(x, pointers_to<T>(in), y.data<T>(), log_sum_exp.data<C>(), d.data<T>(),
                                     detail::AttentionTargets<T>{to_q, to_k, to_v}, work.data<C>());
        });
      });
    });
  });
  for (int i = 0; i < 3; ++i)
    if (wanted[i] && own[i].defined()) wanted[i]->accumulate(std::move(own[i]));
}

}  // namespace clad::custom_derivatives::cladtorch
