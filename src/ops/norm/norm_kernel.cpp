#include "ops/norm/norm_kernel.h"

#include <algorithm>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/reduce_to.h"
#include "ops/common/rows.h"
#include "ops/norm/norm_math.h"
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

constexpr int64_t widened_rows = 4;  // that the kernel takes together

/// Rows [begin, end) of bfloat16, a few at a time, so that their floats stay in a cache.
void widened_pullback(const simd::LayerNormGradient& rows, const bfloat16* x, const bfloat16* d_y,
                      bfloat16* d_x, int64_t begin, int64_t end, const RowMemory<bfloat16>& memory,
                      float* d_weight, float* d_bias) {
  const int64_t n = rows.length;
  for (int64_t row = begin; row < end; row += widened_rows) {
    const int64_t count = std::min(widened_rows, end - row), elements = count * n;
    simd::LayerNormGradient part = rows;
    part.x = readable(elements, x + row * n, memory[0]);
    part.d_y = readable(elements, d_y + row * n, memory[widened_rows]);
    if (part.mean) part.mean += row;
    part.rstd += row;
    if (part.projected) part.projected += row;
    part.add_sums = row > begin;
    const Written<bfloat16> to(d_x ? elements : 0, d_x ? d_x + row * n : nullptr, rows.add,
                               memory[2 * widened_rows]);
    if (d_x) part.d_x = to.data();
    simd::kernels().layer_norm_pullback(part, 0, count, d_weight, d_bias);
  }
}

/// Row `row`, of which x and y are in memory that a kernel reads and writes.
template <class T, class C = Computed<T>>
void normalize_row(const NormRows<T>& to, int64_t row, const C* x, C* y) {
  const auto epsilon = static_cast<C>(to.epsilon);
  C *const mean = to.mean ? to.mean + row : nullptr, *const rstd = to.rstd ? to.rstd + row : nullptr;
  if constexpr (std::is_same_v<C, double>) {
    norm_row(to.centered, to.n, x, to.weight, to.bias, epsilon, y, mean, rstd);
  } else if (to.centered) {
    simd::kernels().layer_norm_row(to.n, x, to.weight, to.bias, epsilon, y, mean, rstd);
  } else {
    simd::kernels().rms_norm_row(to.n, x, to.weight, epsilon, y, rstd);
  }
}

}  // namespace

// A sum is normalized while it lies in the first-level cache.
template <class T>
void normalize(const NormRows<T>& to) {
  const int64_t n = to.n;
  for_each_row<T>(to.rows, n, to.added ? 3 : 2, [&](int64_t row, const RowMemory<T>& memory) {
    const int64_t start = row * n;
    if (to.added) add_row(n, to.x + start, to.added + start, to.sum + start, memory);
    const auto* const from = readable(n, (to.added ? to.sum : to.x) + start, memory[0]);
    const Written<T> y(n, to.y + start, false, memory[1]);
    normalize_row(to, row, from, y.data());
  });
}

int64_t norm_pullback_work(int64_t rows, int64_t n) { return 2 * pullback_pieces(rows) * n + rows; }

// Rows are shared out in pieces of fixed size; each piece sums its share of d_weight and d_bias into rows of
// its own, which are then added in order, so the sums do not depend on the number of threads.
template <class T>
void norm_pullback(int64_t rows, int64_t n, const T* x, const Computed<T>* weight, const Computed<T>* mean,
                   const Computed<T>* rstd, const T* d_y, Target<T> d_x, Target<Computed<T>> d_weight,
                   Target<Computed<T>> d_bias, double* d_epsilon, Computed<T>* work) {
  using C = Computed<T>;
  const int64_t grain = pullback_grain(rows), pieces = pullback_pieces(rows);
  C *const weight_parts = work, *const bias_parts = work + pieces * n;
  C* const sums = d_epsilon ? work + 2 * pieces * n : nullptr;
  const auto piece = [&](int64_t begin, int64_t end, [[maybe_unused]] const RowMemory<T>& memory) {
    C* const d_w = d_weight ? weight_parts + begin / grain * n : nullptr;
    C* const d_b = d_bias ? bias_parts + begin / grain * n : nullptr;
    if constexpr (std::is_same_v<T, bfloat16>) {
      widened_pullback({n, nullptr, weight, mean, rstd, nullptr, nullptr, d_x.add, sums}, x, d_y, d_x.data,
                       begin, end, memory, d_w, d_b);
    } else if constexpr (std::is_same_v<T, float>) {
      simd::kernels().layer_norm_pullback({n, x, weight, mean, rstd, d_y, d_x.data, d_x.add, sums}, begin,
                                          end, d_w, d_b);
    } else {
      if (d_w) std::fill_n(d_w, n, T(0));
      if (d_b) std::fill_n(d_b, n, T(0));
      for (int64_t row = begin; row < end; ++row) {
        T* const to = d_x ? d_x.data + row * n : nullptr;
        const T *const at = x + row * n, *const d = d_y + row * n;
        const T sum = norm_pullback_row(n, at, weight, mean ? mean + row : nullptr, rstd[row], d, to, d_x.add,
                                        d_w, d_b);
        if (sums) sums[row] = sum;
      }
    }
  };
  for_each_row_piece<T>(rows, grain, n, 3 * widened_rows, piece);
  for (int64_t row = 0; sums && row < rows; ++row)
    *d_epsilon -= 0.5 * static_cast<double>(rstd[row] * rstd[row] * sums[row]);
  if (d_weight) sum_rows(pieces, n, weight_parts, d_weight);
  if (d_bias) sum_rows(pieces, n, bias_parts, d_bias);
}

#define CLADTORCH_NORM(T, C)                                                                                 \
  template void normalize(const NormRows<T>&);                                                               \
  template void norm_pullback(int64_t, int64_t, const T*, const C*, const C*, const C*, const T*, Target<T>, \
                              Target<C>, Target<C>, double*, C*);
CLADTORCH_NORM(float, float)
CLADTORCH_NORM(double, double)
CLADTORCH_NORM(bfloat16, float)

}  // namespace cladtorch::detail
