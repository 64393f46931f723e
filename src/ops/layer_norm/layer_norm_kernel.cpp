#include "ops/layer_norm/layer_norm_kernel.h"

#include <algorithm>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/reduce_to.h"
#include "ops/common/rows.h"
#include "ops/layer_norm/layer_norm_math.h"
#include "simd/kernels.h"

namespace cladtorch::detail {
namespace {

int64_t pullback_grain(int64_t rows) {
  constexpr int64_t most_pieces = 32, fewest_rows = 4;
  return std::max(fewest_rows, (rows + most_pieces - 1) / most_pieces);
}
int64_t pullback_pieces(int64_t rows) {
  const int64_t grain = pullback_grain(rows);
  return (rows + grain - 1) / grain;
}

}  // namespace

template <class T>
void layer_norm(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias, double epsilon, T* y,
                T* mean, T* rstd) {
  parallel_for(rows, row_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T *const mean_out = mean ? mean + row : nullptr, *const rstd_out = rstd ? rstd + row : nullptr;
      if constexpr (std::is_same_v<T, float>) {
        simd::kernels().layer_norm_row(n, x + row * n, weight, bias, static_cast<float>(epsilon), y + row * n,
                                       mean_out, rstd_out);
      } else {
        layer_norm_row(n, x + row * n, weight, bias, static_cast<T>(epsilon), y + row * n, mean_out,
                       rstd_out);
      }
    }
  });
}

int64_t layer_norm_pullback_work(int64_t rows, int64_t n) { return 2 * pullback_pieces(rows) * n + rows; }

// Rows are shared out in pieces of fixed size; each piece sums its share of d_weight and d_bias into rows of
// its own, which are then added in order, so the sums do not depend on the number of threads.
template <class T>
void layer_norm_pullback(int64_t rows, int64_t n, const T* x, const T* weight, const T* mean, const T* rstd,
                         const T* d_y, Target<T> d_x, Target<T> d_weight, Target<T> d_bias, double* d_epsilon,
                         T* work) {
  const int64_t grain = pullback_grain(rows), pieces = pullback_pieces(rows);
  T *const weight_parts = work, *const bias_parts = work + pieces * n;
  T* const sums = d_epsilon ? work + 2 * pieces * n : nullptr;
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    T* const d_w = d_weight ? weight_parts + begin / grain * n : nullptr;
    T* const d_b = d_bias ? bias_parts + begin / grain * n : nullptr;
    if constexpr (std::is_same_v<T, float>) {
      simd::kernels().layer_norm_pullback({n, x, weight, mean, rstd, d_y, d_x.data, d_x.add, sums}, begin,
                                          end, d_w, d_b);
    } else {
      if (d_w) std::fill_n(d_w, n, T(0));
      if (d_b) std::fill_n(d_b, n, T(0));
      for (int64_t row = begin; row < end; ++row) {
        const T sum = layer_norm_pullback_row(n, x + row * n, weight, mean[row], rstd[row], d_y + row * n,
                                              d_x ? d_x.data + row * n : nullptr, d_x.add, d_w, d_b);
        if (sums) sums[row] = sum;
      }
    }
  });
  for (int64_t row = 0; sums && row < rows; ++row)
    *d_epsilon -= 0.5 * static_cast<double>(rstd[row] * rstd[row] * sums[row]);
  if (d_weight) sum_rows(pieces, n, weight_parts, d_weight);
  if (d_bias) sum_rows(pieces, n, bias_parts, d_bias);
}

template void layer_norm(int64_t, int64_t, const float*, const float*, const float*, double, float*, float*,
                         float*);
template void layer_norm(int64_t, int64_t, const double*, const double*, const double*, double, double*,
                         double*, double*);
template void layer_norm_pullback(int64_t, int64_t, const float*, const float*, const float*, const float*,
                                  const float*, Target<float>, Target<float>, Target<float>, double*, float*);
template void layer_norm_pullback(int64_t, int64_t, const double*, const double*, const double*,
                                  const double*, const double*, Target<double>, Target<double>,
                                  Target<double>, double*, double*);

}  // namespace cladtorch::detail
