// General matrix product on raw memory.
#pragma once

#include <cstdint>

namespace cladtorch::detail {

/// Element (i, j) is data[i * row + j * column].
template <class T>
struct MatrixView {
  const T* data;
  int64_t row, column;
};

/// c [m, n] (rows c_row apart, columns adjacent) = or += a [m, k] b [k, n], plus bias [n] unless null.
/// Parallel. Every element is summed in an order that depends on the sizes alone, so the result does not
/// depend on the number of threads. T is float or double.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row, bool add,
          const T* bias = nullptr);

/// The same by three plain loops: what gemm is tested against.
template <class T>
void gemm_reference(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row,
                    bool add, const T* bias = nullptr) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T sum = (add ? c[i * c_row + j] : T(0)) + (bias ? bias[j] : T(0));
      for (int64_t p = 0; p < k; ++p)
        sum += a.data[i * a.row + p * a.column] * b.data[p * b.row + j * b.column];
      c[i * c_row + j] = sum;
    }
  }
}

}  // namespace cladtorch::detail
