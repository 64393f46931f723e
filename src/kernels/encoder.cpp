#include "cladtorch/kernels/encoder.h"

#include "kernels/support.h"
#include "ops/common/reduce_to.h"
#include "ops/embedding/embedding_kernel.h"

namespace cladtorch::kernels {

template <class Real>
void encoder_forward(Real* out, const int32_t* tokens, const Real* wte, const Real* wpe, int64_t B, int64_t T,
                     int64_t C, int64_t, int64_t) {
  parallel_for(B * T, cladtorch::detail::row_grain(C), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const Real *const token = wte + tokens[row] * C, *const position = wpe + row % T * C;
      for (int64_t i = 0; i < C; ++i) out[row * C + i] = token[i] + position[i];
    }
  });
}

template void encoder_forward(float*, const int32_t*, const float*, const float*, int64_t, int64_t, int64_t,
                              int64_t, int64_t);
template void encoder_forward(double*, const int32_t*, const double*, const double*, int64_t, int64_t,
                              int64_t, int64_t, int64_t);

namespace {

/// The first rows of d_table [rows, n] += d_y [count, n].
template <class T>
void add_first_rows(int64_t count, int64_t rows, int64_t n, const T* d_y,
                    cladtorch::detail::Target<T> d_table) {
  parallel_for(rows * n, 1 << 14, [&](int64_t begin, int64_t end) {
    if (!d_table.add) std::fill(d_table.data + begin, d_table.data + end, T(0));
    for (int64_t i = begin; i < std::min(end, count * n); ++i) d_table.data[i] += d_y[i];
  });
}

}  // namespace
}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {
using namespace ::cladtorch::kernels;
namespace detail = ::cladtorch::detail;

template <class Real>
void encoder_forward_pullback(Real*, const int32_t* tokens, const Real*, const Real*, int64_t B, int64_t T,
                              int64_t C, int64_t V, int64_t positions, Real* d_out, Real* d_wte,
                              Real* d_wpe) {
  if (is_zero(d_out, B * T * C)) return;
  constexpr const char* kernel = "encoder_forward";
  if (const auto d = target_at(kernel, d_wte, V * C, d_out))
    detail::scatter_rows<Real>(B * T, V, C, tokens, d_out, d);
  if (const auto d = target_at(kernel, d_wpe, positions * C, d_out)) {
    Real* const of_position = pullback_work<Real>(T * C);
    detail::sum_rows<Real>(B, T * C, d_out, detail::Target<Real>{of_position, false});
    add_first_rows<Real>(T, positions, C, of_position, d);
  }
  clear_cotangent(d_out, B * T * C);
}

template void encoder_forward_pullback(float*, const int32_t*, const float*, const float*, int64_t, int64_t,
                                       int64_t, int64_t, int64_t, float*, float*, float*);
template void encoder_forward_pullback(double*, const int32_t*, const double*, const double*, int64_t,
                                       int64_t, int64_t, int64_t, int64_t, double*, double*, double*);

}  // namespace clad::custom_derivatives::cladtorch::kernels
