// A blocked product. What decides its speed is which operand is read where it lies, because for a few tokens
// the weights are used once or twice and copying them costs as much as multiplying by them:
//
//   forward    y = x W^T      W stays in place as the left operand of y^T = W x^T; x^T is packed
//   gradient   dx = dy W      W stays in place as the right operand; dy is packed
//   gradient   dW = dy^T x    both operands are packed, dW is written front to back, past the caches
//
// The left operand of a tile is broadcast element by element, so it may have any strides; the right one is
// read by vectors along its columns. Two loops follow from that: over blocks of rows with the packed right
// operand shared by all threads, and over panels of columns with the packed left operand shared.
#include "ops/matmul/gemm.h"

#include "ops/matmul/product_by_columns.h"
#include "ops/matmul/product_by_rows.h"

namespace cladtorch::detail {
namespace {

constexpr int64_t rows_without_packing = 4;  // so few rows are memory-bound: plain dot products

/// The product itself, or that of the transposes if this spares packing the larger operand against its grain.
template <class T>
Product<T> arranged(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row,
                    bool add, const T* bias) {
  if (b.column == 1 || (a.row != 1 && m > n)) return Product<T>(m, n, k, a, b, c, c_row, add, bias, false);
  return Product<T>(n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row}, c, c_row, add, bias, true);
}

/// A few rows of A times the transpose of a row-major matrix, without packing: memory-bound.
void gemm_by_dots(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c,
                  int64_t c_row, bool add, const float* bias) {
  const auto dot = simd::kernels().dot;
  parallel_for(n, 64, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        float& out = c[i * c_row + j];
        const float value = dot(k, a.data + i * a.row, b.data + j * b.column);
        out = (add ? out : 0.0f) + value + (bias ? bias[j] : 0.0f);
      }
    }
  });
}

}  // namespace

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row, bool add,
          const T* bias) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    gemm_reference(m, n, k, a, b, c, c_row, add, bias);
    return;
  }
  if constexpr (sizeof(T) == 4) {
    if (m <= rows_without_packing && a.column == 1 && b.row == 1)
      return gemm_by_dots(m, n, k, a, b, c, c_row, add, bias);
  }
  const Product<T> product = arranged(m, n, k, a, b, c, c_row, add, bias);
  const int64_t output = product.rows * product.columns;
  const bool output_is_largest = output >= product.rows * k && output >= product.columns * k;
  if (product.transposed || product.rows >= product.columns || output_is_largest) {
    ProductByRows<T>(product).run();
  } else {
    ProductByColumns<T>(product).run();
  }
}

template void gemm(int64_t, int64_t, int64_t, MatrixView<float>, MatrixView<float>, float*, int64_t, bool,
                   const float*);
template void gemm(int64_t, int64_t, int64_t, MatrixView<double>, MatrixView<double>, double*, int64_t, bool,
                   const double*);

}  // namespace cladtorch::detail
