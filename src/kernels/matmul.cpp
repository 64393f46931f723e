#include "cladtorch/kernels/matmul.h"

#include "kernels/support.h"
#include "ops/common/reduce_to.h"
#include "ops/matmul/gemm.h"

namespace cladtorch::kernels {

template <class T>
void matmul_forward(T* out, const T* inp, const T* weight, const T* bias, int64_t N, int64_t C, int64_t OC) {
  cladtorch::detail::gemm<T>(N, OC, C, {inp, C, 1}, {weight, 1, C}, out, OC, false, bias);
}

template void matmul_forward(float*, const float*, const float*, const float*, int64_t, int64_t, int64_t);
template void matmul_forward(double*, const double*, const double*, const double*, int64_t, int64_t, int64_t);

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {
using namespace ::cladtorch::kernels;
namespace detail = ::cladtorch::detail;

template <class T>
void matmul_forward_pullback(T*, const T* inp, const T* weight, const T* bias, int64_t N, int64_t C,
                             int64_t OC, T* d_out, T* d_inp, T* d_weight, T* d_bias) {
  if (is_zero(d_out, N * OC)) return;
  constexpr const char* kernel = "matmul_forward";
  if (const auto d = target_at(kernel, d_weight, OC * C, d_out))
    detail::gemm<T>(OC, C, N, {d_out, 1, OC}, {inp, C, 1}, d.data, C, d.add);
  if (const auto d = target_at(kernel, d_inp, N * C, d_out))
    detail::gemm<T>(N, C, OC, {d_out, OC, 1}, {weight, C, 1}, d.data, C, d.add);
  if (const auto d = target_at(kernel, bias ? d_bias : nullptr, OC, d_out)) detail::sum_rows(N, OC, d_out, d);
  clear_cotangent(d_out, N * OC);
}

template void matmul_forward_pullback(float*, const float*, const float*, const float*, int64_t, int64_t,
                                      int64_t, float*, float*, float*, float*);
template void matmul_forward_pullback(double*, const double*, const double*, const double*, int64_t, int64_t,
                                      int64_t, double*, double*, double*, double*);

}  // namespace clad::custom_derivatives::cladtorch::kernels
