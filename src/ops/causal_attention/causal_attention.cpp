#include "cladtorch/ops/attention.h"
#include "cladtorch/ops/count.h"
#include "ops/causal_attention/attention_bfloat16.h"
#include "ops/causal_attention/attention_kernel.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

using detail::AttentionLayout;

AttentionLayout layout_of(const char* operation, const Tensor& qkv, int64_t n_head) {
  require(qkv.defined() && qkv.dim() == 3 && n_head > 0 && qkv.size(2) % (3 * n_head) == 0, operation,
          ": expected qkv [B, T, 3C] with C a multiple of n_head: qkv is ", qkv.shape(), ", n_head is ",
          n_head);
  return {qkv.size(0), qkv.size(1), qkv.size(2) / 3, n_head};
}

Tensor forward(const Tensor& qkv, int64_t n_head, Tensor* log_sum_exp) {
  const AttentionLayout x = layout_of("causal_attention", qkv, n_head);
  detail::count_op();
  const Tensor dense = qkv.contiguous();
  Tensor y = Tensor::empty({x.batch, x.length, x.channels}, qkv.dtype());
  if (log_sum_exp)
    *log_sum_exp = Tensor::empty({x.batch, x.heads, x.length}, detail::computed_in(qkv.dtype()));
  detail::dispatch_real("causal_attention", qkv.dtype(), [&]<class T>(T) {
    detail::attention(x, dense.data<T>(), y.data<T>(),
                      log_sum_exp ? log_sum_exp->data<detail::Computed<T>>() : nullptr);
  });
  return y;
}

}  // namespace

Tensor causal_attention(const Tensor& qkv, int64_t n_head) { return forward(qkv, n_head, nullptr); }

Tensor cached_attention(const Tensor& qkv, Tensor& keys, Tensor& values, int64_t past, int64_t n_head) {
  const AttentionLayout x = layout_of("cached_attention", qkv, n_head);
  require(keys.dim() == 3 && keys.shape() == values.shape() && keys.size(0) == x.batch &&
              keys.size(2) == x.channels && keys.is_contiguous() && values.is_contiguous() &&
              keys.dtype() == qkv.dtype() && values.dtype() == qkv.dtype(),
          "cached_attention: expected dense ", qkv.dtype(), " caches [", x.batch, ", capacity, ", x.channels,
          "], got ", keys.shape(), " of ", keys.dtype(), " and ", values.shape(), " of ", values.dtype());
  require(past >= 0 && past + x.length <= keys.size(1), "cached_attention: ", past, " cached and ", x.length,
          " new positions exceed the capacity of ", keys.size(1));
  detail::count_op();
  keys.narrow(1, past, x.length).copy_from(qkv.narrow(2, x.channels, x.channels));
  values.narrow(1, past, x.length).copy_from(qkv.narrow(2, 2 * x.channels, x.channels));
  const Tensor dense = qkv.contiguous();
  Tensor y = Tensor::empty({x.batch, x.length, x.channels}, qkv.dtype());
  const Tensor all_keys = keys, all_values = values;
  detail::dispatch_real("cached_attention", qkv.dtype(), [&]<class T>(T) {
    detail::cached_attention(x, dense.data<T>(), all_keys.data<T>(), all_values.data<T>(), past, keys.size(1),
                             y.data<T>());
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
  const Tensor &y = state.data.y, &log_sum_exp = state.data.log_sum_exp;
  Tensor work = Tensor::empty({x.statistics()}, log_sum_exp.dtype());
  detail::dispatch_real("causal_attention", qkv.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    detail::contribute<T>(d_qkv, qkv.shape(), [&](detail::Target<T> target) {
      detail::attention_pullback(x, dense.data<T>(), y.data<T>(), log_sum_exp.data<C>(), d.data<T>(), target,
                                 work.data<C>());
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
