// A blocked product. What decides its speed is which operand is read where it lies, because for a few tokens
// the weights are used once or twice and copying them costs as much as multiplying by them:
//
//   forward    y = x W^T      W stays in place as the left operand of y^T = W x^T; x^T is packed
//   gradient   dx = dy W      for few tokens W stays in place as the right operand and dy is packed; for
//                             more, as the left one of dx^T = W^T dy^T, and dy^T is packed
//   gradient   dW = dy^T x    both operands are packed, dW is written front to back, past the caches
//
// The left operand of a tile is broadcast element by element, so it may have any strides; the right one is
// read by vectors along its columns. Three loops follow from that: over blocks of rows with the packed right
// operand shared by all threads, over panels of columns with the packed left operand shared, and down the
// depth in pieces with the left operand in place.
#include "ops/matmul/gemm.h"

#include <limits>

#include "ops/matmul/cblas.h"
#include "ops/matmul/product_by_columns.h"
#include "ops/matmul/product_by_rows.h"
#include "ops/matmul/product_in_pieces.h"

namespace cladtorch::detail {
namespace {

constexpr int64_t rows_without_packing = 4;      // so few rows are memory-bound: plain dot products
constexpr int64_t rows_to_repay_packing = 1024;  // of dy: then W is packed too

/// Rows of dy from which dx is computed transposed, in pieces. The processors with pairs of bfloat16, AMD's
/// Zen 4 and 5, read W slowly by vectors of a few rows: for 16 rows and GPT-2's layers 18 ms, and 14 in
/// pieces.
int64_t rows_for_pieces() { return simd::kernels().gemm_pairs.run ? 8 : 24; }

/// A few rows of A times the transpose of a row-major matrix, without packing: memory-bound.
template <class In, class Out>
void multiply_by_dots(int64_t m, int64_t n, int64_t k, MatrixView<In> a, MatrixView<In> b, Out* c,
                      int64_t c_row, bool add, const In* bias) {
  const simd::Kernels& kernels = simd::kernels();
  thread_local Scratch scratch;
  const float* rows = nullptr;  // of A, k apart, if they had to be widened
  if constexpr (std::is_same_v<In, bfloat16>) {
    float* const widened = scratch.get<float>(m * k);
    kernels.widen(m, k, a.data, a.row, widened, k);
    rows = widened;
  }
  parallel_for(n, 64, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        Out& out = c[i * c_row + j];
        float value = 0;
        if constexpr (std::is_same_v<In, bfloat16>) {
          value = kernels.dot_widened(k, rows + i * k, b.data + j * b.column);
        } else {
          value = kernels.dot(k, a.data + i * a.row, b.data + j * b.column);
        }
        out = static_cast<Out>((add ? static_cast<float>(out) : 0.0f) + value +
                               (bias ? static_cast<float>(bias[j]) : 0.0f));
      }
    }
  });
}

template <class Operand, class In, class Out>
void multiply_blocks(int64_t m, int64_t n, int64_t k, MatrixView<In> a, MatrixView<In> b, Out* c,
                     int64_t c_row, bool add, const In* bias, double* squares) {
  using P = Product<In, Out, Operand>;
  const auto transposed = [&] {
    return P(n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row}, c, c_row, add, bias, true);
  };
  if (m >= rows_for_pieces() && m < n && a.column == 1 && b.column == 1) {
    const P product = transposed();
    if (m >= rows_to_repay_packing) return ProductByRows<In, Out, Operand>(product).run(squares);
    if (ProductInPieces<In, Out, Operand>::suits(product))
      return ProductInPieces<In, Out, Operand>(product).run();
  }
  // The product of the transposes spares packing the larger operand against its grain.
  const bool straight = b.column == 1 || (a.row != 1 && m > n);
  const P product = straight ? P(m, n, k, a, b, c, c_row, add, bias, false) : transposed();
  const int64_t output = product.rows * product.columns;
  const bool output_is_largest = output >= product.rows * k && output >= product.columns * k;
  if (product.transposed || product.rows >= product.columns || output_is_largest) {
    ProductByRows<In, Out, Operand>(product).run(squares);
  } else {
    ProductByColumns<In, Out, Operand>(product).run();
  }
}

}  // namespace

template <class In, class Out>
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<In> a, MatrixView<In> b, Out* c, int64_t c_row,
          bool add, const In* bias, double* squares) {
  if (squares) *squares = std::numeric_limits<double>::quiet_NaN();
  if (m == 0 || n == 0) return;
  if (k == 0) {
    gemm_reference(m, n, k, a, b, c, c_row, add, bias);
    return;
  }
  if constexpr (!std::is_same_v<In, bfloat16>) {
    if (gemm_by_cblas(m, n, k, a, b, c, c_row, add, bias)) return;
  }
  if constexpr (!std::is_same_v<In, double>) {
    if (m <= rows_without_packing && a.column == 1 && b.row == 1)
      return multiply_by_dots(m, n, k, a, b, c, c_row, add, bias);
  }
  if constexpr (!std::is_same_v<In, bfloat16>) {
    multiply_blocks<In>(m, n, k, a, b, c, c_row, add, bias, squares);
  } else if (simd::kernels().gemm_pairs.run) {
    multiply_blocks<simd::BfloatPair>(m, n, k, a, b, c, c_row, add, bias, squares);
  } else {
    multiply_blocks<float>(m, n, k, a, b, c, c_row, add, bias, squares);
  }
}

#define CLADTORCH_GEMM(In, Out)                                                                      \
  template void gemm(int64_t, int64_t, int64_t, MatrixView<In>, MatrixView<In>, Out*, int64_t, bool, \
                     const In*, double*)
CLADTORCH_GEMM(float, float);
CLADTORCH_GEMM(double, double);
CLADTORCH_GEMM(bfloat16, float);
CLADTORCH_GEMM(bfloat16, bfloat16);

}  // namespace cladtorch::detail
