#include "cladtorch/ops/attention.h"
#include "cladtorch/ops/count.h"
#include "ops/causal_attention/attention_bfloat16.h"
#include "ops/causal_attention/attention_kernel.h"
#include "ops/causal_attention/attention_on_device.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

using detail::AttentionInputs;
using detail::AttentionLayout;

AttentionLayout layout_of(const char* operation, const Tensor& qkv, int64_t n_head) {
  require(qkv.defined() && qkv.dim() == 3 && n_head > 0 && qkv.size(2) % (3 * n_head) == 0, operation,
          ": expected qkv [B, T, 3C] with C a multiple of n_head: qkv is ", qkv.shape(), ", n_head is ",
          n_head);
  return AttentionLayout::packed(qkv.size(0), qkv.size(1), qkv.size(2) / 3, n_head);
}

AttentionLayout layout_of(const char* operation, const Tensor& q, const Tensor& k, const Tensor& v,
                          int64_t n_head, int64_t window) {
  require(q.defined() && k.defined() && v.defined(), operation, ": an operand is undefined");
  require(q.dim() == 3 && n_head > 0 && q.size(2) > 0 && q.size(2) % n_head == 0, operation,
          ": expected q [B, T, n_head D]: q is ", q.shape(), ", n_head is ", n_head);
  const int64_t head_size = q.size(2) / n_head;
  require(k.dim() == 3 && k.shape() == v.shape() && k.size(0) == q.size(0) && k.size(1) == q.size(1) &&
              k.size(2) > 0 && k.size(2) % head_size == 0 && n_head % (k.size(2) / head_size) == 0,
          operation, ": expected k and v [B, T, n_kv_head D] with D = ", head_size,
          " and n_kv_head a divisor of ", n_head, ": q is ", q.shape(), ", k is ", k.shape(), ", v is ",
          v.shape());
  require(k.device() == q.device() && v.device() == q.device(), operation, ": devices differ: q is on ",
          q.device(), ", k is on ", k.device(), ", v is on ", v.device());
  require(k.dtype() == q.dtype() && v.dtype() == q.dtype(), operation, ": dtypes differ: q is ", q.dtype(),
          ", k is ", k.dtype(), ", v is ", v.dtype());
  require(window >= 0, operation, ": the window must not be negative, got ", window);
  return AttentionLayout::separate(q.size(0), q.size(1), n_head, k.size(2) / head_size, head_size, window);
}

/// Counts the operation, and the products of the queries with the `past` keys and values before them and
/// those of the positions themselves that they see.
void count_attention(const AttentionLayout& x, int64_t past) {
  detail::count_op();
  int64_t pairs = 0;
  for (int64_t t = past; t < past + x.length; ++t) pairs += t + 1 - x.first_seen(t);
  detail::count_flops(4 * x.batch * x.heads * x.head_size * pairs);
}

/// y of dense operands; `inputs(T{})` points to them.
template <class Inputs>
Tensor attend(const AttentionLayout& x, DType dtype, Inputs&& inputs, Tensor* log_sum_exp) {
  count_attention(x, 0);
  Tensor y = Tensor::empty({x.batch, x.length, x.y_row()}, dtype);
  if (log_sum_exp) *log_sum_exp = Tensor::empty({x.batch, x.heads, x.length}, detail::computed_in(dtype));
  detail::dispatch_real("causal_attention", dtype, [&]<class T>(T element) {
    detail::attention(x, inputs(element), y.data<T>(),
                      log_sum_exp ? log_sum_exp->data<detail::Computed<T>>() : nullptr);
  });
  return y;
}

Tensor attend_on_device(const AttentionLayout& x, const detail::AttentionOperands& in, int64_t past,
                        Tensor* log_sum_exp) {
  count_attention(x, past);
  const DType dtype = in.q.dtype();
  const Device device = in.q.device();
  Tensor y = Tensor::empty({x.batch, x.length, x.y_row()}, dtype, device), statistics;
  if (log_sum_exp)
    *log_sum_exp = statistics =
        Tensor::empty({x.batch, x.heads, x.length}, detail::computed_in(dtype), device);
  detail::attention_on_device(x, in, past, y, statistics);
  return y;
}

Tensor forward(const Tensor& qkv, int64_t n_head, Tensor* log_sum_exp) {
  const AttentionLayout x = layout_of("causal_attention", qkv, n_head);
  if (qkv.is_cuda()) {
    Tensor y = attend_on_device(x, detail::packed_attention_operands(qkv), 0, log_sum_exp);
    y.set_frozen(qkv.is_frozen());
    return y;
  }
  const Tensor dense = qkv.contiguous();
  Tensor y = attend(
      x, qkv.dtype(),
      [&]<class T>(T) { return AttentionInputs<T>::packed(dense.data<T>(), qkv.size(2) / 3); }, log_sum_exp);
  y.set_frozen(qkv.is_frozen());
  return y;
}

/// Dense operands that are tensors of their own.
struct Separate {
  Tensor q, k, v;

  Separate(const Tensor& q, const Tensor& k, const Tensor& v)
      : q(q.contiguous()), k(k.contiguous()), v(v.contiguous()) {}
  template <class T>
  AttentionInputs<T> pointers() const {
    return {q.data<T>(), k.data<T>(), v.data<T>()};
  }
};

Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head, int64_t window,
               Tensor* log_sum_exp) {
  const AttentionLayout x = layout_of("causal_attention", q, k, v, n_head, window);
  if (q.is_cuda()) {
    Tensor y = attend_on_device(x, detail::attention_operands(q, k, v), 0, log_sum_exp);
    y.set_frozen(all_frozen(q, k, v));
    return y;
  }
  const Separate dense(q, k, v);
  Tensor y = attend(x, q.dtype(), [&]<class T>(T) { return dense.pointers<T>(); }, log_sum_exp);
  y.set_frozen(all_frozen(q, k, v));
  return y;
}

}  // namespace

Tensor causal_attention(const Tensor& qkv, int64_t n_head) { return forward(qkv, n_head, nullptr); }

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t n_head, int64_t window) {
  return forward(q, k, v, n_head, window, nullptr);
}

Tensor cached_attention(const Tensor& q, const Tensor& k, const Tensor& v, Tensor& keys, Tensor& values,
                        int64_t past, int64_t n_head, int64_t window) {
  const AttentionLayout x = layout_of("cached_attention", q, k, v, n_head, window);
  require(keys.dim() == 3 && keys.shape() == values.shape() && keys.size(0) == x.batch &&
              keys.size(2) == k.size(2) && keys.is_contiguous() && values.is_contiguous() &&
              keys.dtype() == q.dtype() && values.dtype() == q.dtype(),
          "cached_attention: expected dense ", q.dtype(), " caches [", x.batch, ", capacity, ", k.size(2),
          "], got ", keys.shape(), " of ", keys.dtype(), " and ", values.shape(), " of ", values.dtype());
  require(past >= 0 && past + x.length <= keys.size(1), "cached_attention: ", past, " cached and ", x.length,
          " new positions exceed the capacity of ", keys.size(1));
  keys.narrow(1, past, x.length).copy_from(k);
  values.narrow(1, past, x.length).copy_from(v);
  if (q.is_cuda()) return attend_on_device(x, detail::attention_operands(q, keys, values), past, nullptr);
  count_attention(x, past);
  const Tensor dense = q.contiguous(), all_keys = keys, all_values = values;
  Tensor y = Tensor::empty(q.shape(), q.dtype());
  detail::dispatch_real("cached_attention", q.dtype(), [&]<class T>(T) {
    detail::cached_attention(x, dense.data<T>(), all_keys.data<T>(), all_values.data<T>(), past, keys.size(1),
                             y.data<T>());
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
  const int64_t channels = qkv.size(2) / 3;
  const Tensor dense = qkv.contiguous(), d = d_y.contiguous();
  Tensor work = Tensor::empty({x.statistics()}, log_sum_exp.dtype());
  detail::dispatch_real("causal_attention", qkv.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::contribute<T>(d_qkv, qkv.shape(), [&](detail::Target<T> target) {
      detail::attention_pullback(x, detail::AttentionInputs<T>::packed(dense.data<T>(), channels),
                                 y.data<T>(), log_sum_exp.data<C>(), d.data<T>(),
                                 detail::AttentionTargets<T>::packed(target, channels), work.data<C>());
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
  if (q.is_cuda()) {
    detail::separate_attention_pullback(x, detail::attention_operands(q, k, v), y, log_sum_exp, d_y,
                                        {d_q, d_k, d_v});
    return;
  }
  // All three come at once, into memory of their own: one that is not wanted, or wanted of one tensor in two
  // roles, goes through a tensor here.
  Tensor own[3], *const wanted[] = {d_q, d_k, d_v};
  const auto target = [&](int i) {
    bool shared = false;
    for (int j = 0; j < 3; ++j) shared |= i != j && wanted[i] == wanted[j];
    return wanted[i] && !shared ? wanted[i] : &own[i];
  };
  const ::cladtorch::Separate dense(q, k, v);
  const Tensor d = d_y.contiguous();
  Tensor work = Tensor::empty({x.statistics()}, log_sum_exp.dtype());
  detail::dispatch_real("causal_attention", q.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::contribute<T>(target(0), q.shape(), [&](detail::Target<T> to_q) {
      detail::contribute<T>(target(1), k.shape(), [&](detail::Target<T> to_k) {
        detail::contribute<T>(target(2), v.shape(), [&](detail::Target<T> to_v) {
          detail::attention_pullback(x, dense.pointers<T>(), y.data<T>(), log_sum_exp.data<C>(), d.data<T>(),
                                     detail::AttentionTargets<T>{to_q, to_k, to_v}, work.data<C>());
        });
      });
    });
  });
  for (int i = 0; i < 3; ++i)
    if (wanted[i] && own[i].defined()) wanted[i]->accumulate(std::move(own[i]));
}

}  // namespace clad::custom_derivatives::cladtorch
