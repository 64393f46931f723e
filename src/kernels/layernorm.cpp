#include "cladtorch/kernels/layernorm.h"

#include "kernels/support.h"
#include "ops/norm/norm_kernel.h"

namespace cladtorch::kernels {

template <class T>
void layernorm_forward(T* out, T* mean, T* rstd, const T* inp, const T* weight, const T* bias, int64_t N,
                       int64_t C, double epsilon) {
  cladtorch::detail::normalize<T>({.rows = N,
                                   .n = C,
                                   .x = inp,
                                   .weight = weight,
                                   .bias = bias,
                                   .epsilon = epsilon,
                                   .y = out,
                                   .mean = mean,
                                   .rstd = rstd});
}

template void layernorm_forward(float*, float*, float*, const float*, const float*, const float*, int64_t,
                                int64_t, double);
template void layernorm_forward(double*, double*, double*, const double*, const double*, const double*,
                                int64_t, int64_t, double);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {
using namespace ::cladtorch::kernels;
namespace detail = ::cladtorch::detail;

template <class T>
void layernorm_forward_pullback(T*, T* mean, T* rstd, const T* inp, const T* weight, const T* bias, int64_t N,
                                int64_t C, double, T* d_out, T* d_mean, T* d_rstd, T* d_inp, T* d_weight,
                                T* d_bias, double* d_epsilon) {
  require_no_cotangent("layernorm_forward: mean", d_mean, N);
  require_no_cotangent("layernorm_forward: rstd", d_rstd, N);
  if (is_zero(d_out, N * C)) return;
  constexpr const char* kernel = "layernorm_forward";
  detail::norm_pullback<T>(N, C, inp, weight, mean, rstd, d_out, target_at(kernel, d_inp, N * C, d_out),
                           target_at(kernel, d_weight, C, d_out),
                           target_at(kernel, bias ? d_bias : nullptr, C, d_out), d_epsilon,
                           pullback_work<T>(detail::norm_pullback_work(N, C)));
  clear_cotangent(d_out, N * C);
}

template void layernorm_forward_pullback(float*, float*, float*, const float*, const float*, const float*,
                                         int64_t, int64_t, double, float*, float*, float*, float*, float*,
                                         float*, double*);
template void layernorm_forward_pullback(double*, double*, double*, const double*, const double*,
                                         const double*, int64_t, int64_t, double, double*, double*, double*,
                                         double*, double*, double*, double*);

}  // namespace clad::custom_derivatives::cladtorch::kernels
