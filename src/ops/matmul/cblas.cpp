#include "ops/matmul/cblas.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace cladtorch::detail {
namespace {

constexpr int64_t smallest_product = 1 << 18;  // multiply-adds
constexpr int64_t largest_extent = std::numeric_limits<int>::max();

struct Operand {
  CBLAS_TRANSPOSE transpose;
  int stride;
};

/// How CBLAS is told of a row-major matrix [rows, columns], which must be dense along one dimension.
template <class T>
std::optional<Operand> operand_of(MatrixView<T> x, int64_t rows, int64_t columns) {
  if (x.column == 1 && x.row >= columns && x.row <= largest_extent)
    return Operand{CblasNoTrans, static_cast<int>(x.row)};
  if (x.row == 1 && x.column >= rows && x.column <= largest_extent)
    return Operand{CblasTrans, static_cast<int>(x.column)};
  return std::nullopt;
}

constexpr auto product_of(float) { return cblas_sgemm; }
constexpr auto product_of(double) { return cblas_dgemm; }

}  // namespace

template <class T>
bool gemm_by_cblas(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row,
                   bool add, const T* bias) {
  const std::optional<Operand> left = operand_of(a, m, k), right = operand_of(b, k, n);
  if (!left || !right || m * n * k < smallest_product || std::max({m, n, k, c_row}) > largest_extent)
    return false;
  product_of(T())(CblasRowMajor, left->transpose, right->transpose, static_cast<int>(m), static_cast<int>(n),
                  static_cast<int>(k), T(1), a.data, left->stride, b.data, right->stride, T(add ? 1 : 0), c,
                  static_cast<int>(c_row));
  if (!bias) return true;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * c_row + j] += bias[j];
  return true;
}

template bool gemm_by_cblas(int64_t, int64_t, int64_t, MatrixView<float>, MatrixView<float>, float*, int64_t,
                            bool, const float*);
template bool gemm_by_cblas(int64_t, int64_t, int64_t, MatrixView<double>, MatrixView<double>, double*,
                            int64_t, bool, const double*);

}  // namespace cladtorch::detail
