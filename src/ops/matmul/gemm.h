// General matrix product on raw memory.
#pragma once

#include <cstdint>

#include "tensor/dispatch.h"

namespace cladtorch::detail {

/// Element (i, j) is data[i * row + j * column].
template <class T>
struct MatrixView {
  const T* data;
  int64_t row, column;
};

/// c [m, n] (rows c_row apart, columns adjacent) = or += a [m, k] b [k, n], plus bias [n] unless null.
/// Parallel. Every element is summed in an order that depends on the sizes alone, so the result does not
/// depend on the number of threads (unless the library was built with CLADTORCH_CBLAS, which leaves larger
/// products of float and double to another library). In is float or double, and Out the same; or In is
/// bfloat16, sums are in float, and Out is float or bfloat16, to which the finished sum is rounded once.
///
/// If `squares` is not null, it gets the sum of the squares of c's elements where that costs next to nothing,
/// else NaN. Gradients of weights for fewer tokens than a weight has rows or columns have it.
template <class In, class Out>
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<In> a, MatrixView<In> b, Out* c, int64_t c_row,
          bool add, const In* bias = nullptr, double* squares = nullptr);

/// The same by three plain loops: what gemm is tested against.
template <class In, class Out>
void gemm_reference(int64_t m, int64_t n, int64_t k, MatrixView<In> a, MatrixView<In> b, Out* c,
                    int64_t c_row, bool add, const In* bias = nullptr) {
  using Sum = Computed<In>;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Sum sum =
          (add ? static_cast<Sum>(c[i * c_row + j]) : Sum(0)) + (bias ? static_cast<Sum>(bias[j]) : Sum(0));
      for (int64_t p = 0; p < k; ++p)
        sum += static_cast<Sum>(a.data[i * a.row + p * a.column]) *
               static_cast<Sum>(b.data[p * b.row + j * b.column]);
      c[i * c_row + j] = static_cast<Out>(sum);
    }
  }
}

}  // namespace cladtorch::detail
