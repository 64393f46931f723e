#include "cladtorch/kernels/pointwise.h"

#include "kernels/support.h"
#include "ops/common/elementwise.h"
#include "ops/pointwise/pointwise_kernel.h"

namespace cladtorch::kernels {

template <class T>
void gelu_forward(T* out, const T* inp, int64_t n) {
  cladtorch::detail::function_values(functions::GeluTanh{}, n, inp, out);
}

template <class T>
void residual_forward(T* out, const T* a, const T* b, int64_t n) {
  cladtorch::detail::map2(n, a, b, cladtorch::detail::Target<T>{out}, [](T x, T y) { return x + y; });
}

template void gelu_forward(float*, const float*, int64_t);
template void gelu_forward(double*, const double*, int64_t);
template void residual_forward(float*, const float*, const float*, int64_t);
template void residual_forward(double*, const double*, const double*, int64_t);

namespace {

/// d = or += d_out.
template <class T>
void pass_on(T* d, const T* d_out, int64_t n) {
  if (!d || d == d_out) return;
  cladtorch::detail::map2(n, d_out, d_out, target_at("residual_forward", d, n, d_out),
                          [](T x, T) { return x; });
}

}  // namespace
}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {
using namespace ::cladtorch::kernels;

template <class T>
void gelu_forward_pullback(T*, const T* inp, int64_t n, T* d_out, T* d_inp) {
  if (is_zero(d_out, n)) return;
  if (const auto d = target_at("gelu_forward", d_inp, n, d_out))
    ::cladtorch::detail::function_pullback<::cladtorch::functions::GeluTanh, T>({}, n, inp, d_out, d);
  clear_cotangent(d_out, n);
}

template <class T>
void residual_forward_pullback(T*, const T*, const T*, int64_t n, T* d_out, T* d_a, T* d_b) {
  if (is_zero(d_out, n)) return;
  ::cladtorch::require(d_a != d_out || d_b != d_out,
                       "residual_forward: the gradients of both operands lie in the cotangent of the sum");
  pass_on(d_a, d_out, n);
  pass_on(d_b, d_out, n);
  if (d_a != d_out && d_b != d_out) clear_cotangent(d_out, n);
}

template void gelu_forward_pullback(float*, const float*, int64_t, float*, float*);
template void gelu_forward_pullback(double*, const double*, int64_t, double*, double*);
template void residual_forward_pullback(float*, const float*, const float*, int64_t, float*, float*, float*);
template void residual_forward_pullback(double*, const double*, const double*, int64_t, double*, double*,
                                        double*);

}  // namespace clad::custom_derivatives::cladtorch::kernels
