#include "cladtorch/kernels/attention.h"

#include "kernels/support.h"
#include "ops/causal_attention/attention_kernel.h"

namespace cladtorch::kernels {

template <class Real>
void attention_forward(Real* out, Real* log_sum_exp, const Real* qkv, int64_t B, int64_t T, int64_t C,
                       int64_t NH) {
  using cladtorch::detail::AttentionInputs;
  cladtorch::detail::attention(cladtorch::detail::AttentionLayout::packed(B, T, C, NH),
                               AttentionInputs<Real>::packed(qkv, C), out, log_sum_exp);
}

template void attention_forward(float*, float*, const float*, int64_t, int64_t, int64_t, int64_t);
template void attention_forward(double*, double*, const double*, int64_t, int64_t, int64_t, int64_t);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {
using namespace ::cladtorch::kernels;
namespace detail = ::cladtorch::detail;

template <class Real>
void attention_forward_pullback(Real* out, Real* log_sum_exp, const Real* qkv, int64_t B, int64_t T,
                                int64_t C, int64_t NH, Real* d_out, Real* d_log_sum_exp, Real* d_qkv) {
  const auto layout = detail::AttentionLayout::packed(B, T, C, NH);
  require_no_cotangent("attention_forward: log_sum_exp", d_log_sum_exp, layout.statistics());
  if (is_zero(d_out, B * T * C)) return;
  if (const auto d = target_at("attention_forward", d_qkv, 3 * B * T * C, d_out)) {
    detail::attention_pullback<Real>(layout, detail::AttentionInputs<Real>::packed(qkv, C), out, log_sum_exp,
                                     d_out, detail::AttentionTargets<Real>::packed(d, C),
                                     pullback_work<Real>(layout.statistics()));
  }
  clear_cotangent(d_out, B * T * C);
}

template void attention_forward_pullback(float*, float*, const float*, int64_t, int64_t, int64_t, int64_t,
                                         float*, float*, float*);
template void attention_forward_pullback(double*, double*, const double*, int64_t, int64_t, int64_t, int64_t,
                                         double*, double*, double*);

}  // namespace clad::custom_derivatives::cladtorch::kernels
