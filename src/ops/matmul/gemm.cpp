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

#include "ops/matmul/cblas.h"
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

template <class T>
void multiply_blocks(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row,
                     bool add, const T* bias) {
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

/// A dense copy in float.
MatrixView<float> widened(int64_t rows, int64_t columns, MatrixView<bfloat16> x, float* to) {
  parallel_for(rows, divided_up(1 << 14, columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < columns; ++j)
        to[i * columns + j] = static_cast<float>(x.data[i * x.row + j * x.column]);
  });
  return {to, columns, 1};
}

template <class Out>
void multiply_widened(int64_t m, int64_t n, int64_t k, MatrixView<bfloat16> a, MatrixView<bfloat16> b, Out* c,
                      int64_t c_row, bool add, const bfloat16* bias) {
  thread_local Scratch scratch;
  float* const wide = scratch.get<float>(m * k + k * n + m * n + n);
  float *const wide_b = wide + m * k, *const sums = wide_b + k * n, *const wide_bias = sums + m * n;
  if (bias) widened(1, n, {bias, n, 1}, wide_bias);
  multiply_blocks<float>(m, n, k, widened(m, k, a, wide), widened(k, n, b, wide_b), sums, n, false,
                         bias ? wide_bias : nullptr);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      Out& out = c[i * c_row + j];
      out = static_cast<Out>((add ? static_cast<float>(out) : 0.0f) + sums[i * n + j]);
    }
}

}  // namespace

template <class In, class Out>
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<In> a, MatrixView<In> b, Out* c, int64_t c_row,
          bool add, const In* bias) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    gemm_reference(m, n, k, a, b, c, c_row, add, bias);
  } else if constexpr (std::is_same_v<In, bfloat16>) {
    multiply_widened(m, n, k, a, b, c, c_row, add, bias);
  } else if (!gemm_by_cblas(m, n, k, a, b, c, c_row, add, bias)) {
    multiply_blocks(m, n, k, a, b, c, c_row, add, bias);
  }
}

#define CLADTORCH_GEMM(In, Out)                                                                      \
  template void gemm(int64_t, int64_t, int64_t, MatrixView<In>, MatrixView<In>, Out*, int64_t, bool, \
                     const In*)
CLADTORCH_GEMM(float, float);
CLADTORCH_GEMM(double, double);
CLADTORCH_GEMM(bfloat16, float);
CLADTORCH_GEMM(bfloat16, bfloat16);

}  // namespace cladtorch::detail
