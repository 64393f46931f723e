// Products of vectors, matrices and batches of them, in the names of PyTorch.
#pragma once

#include <string>
#include <vector>

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/ops/shape.h"

namespace cladtorch {

/// The sum of products that `equation` writes with a letter for each dimension: "bij,bjk->bik". Letters that
/// are not in the result are summed over; a letter that an operand has twice takes its diagonal; "..." stands
/// for leading dimensions that broadcast. Without "->" the result has the letters that appear once, in the
/// order of the alphabet. Operands are multiplied from the left to the right. Throws Error that names the
/// letter that does not fit.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

/// a [B, M, K] times b [B, K, N].
inline Tensor bmm(const Tensor& a, const Tensor& b) {
  require(a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0), "bmm: expected [B,M,K] and [B,K,N]: a is ",
          a.shape(), ", b is ", b.shape());
  return matmul(a, b);
}
/// matrix [M, K] times vector [K].
inline Tensor mv(const Tensor& matrix, const Tensor& vector) {
  require(matrix.dim() == 2 && vector.dim() == 1, "mv: expected [M,K] and [K]: they are ", matrix.shape(),
          " and ", vector.shape());
  return matmul(matrix, vector.unsqueeze(1)).squeeze(1);
}
/// The sum of a[i] b[i].
inline Tensor dot(const Tensor& a, const Tensor& b) {
  require(a.dim() == 1 && a.shape() == b.shape(), "dot: expected vectors of one length: a is ", a.shape(),
          ", b is ", b.shape());
  return sum(mul(a, b));
}

/// The same of real vectors, by its other name.
inline Tensor vdot(const Tensor& a, const Tensor& b) { return dot(a, b); }
/// The sum of the diagonal of a matrix.
inline Tensor trace(const Tensor& x) {
  require(x.dim() == 2, "trace: expected a matrix, got ", x.shape());
  return sum(diagonal(x));
}

/// input + a b, or beta input + alpha a b, of matrices; the input broadcasts.
inline Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b) {
  require(a.dim() == 2 && b.dim() == 2, "addmm: expected matrices: a is ", a.shape(), ", b is ", b.shape());
  return input + matmul(a, b);
}
inline Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha) {
  return addmm(input * beta, a * alpha, b);
}
/// The same of batches of matrices.
inline Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b) { return input + bmm(a, b); }
inline Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta, double alpha) {
  return baddbmm(input * beta, a * alpha, b);
}

namespace detail {
/// The extents of an operand of kron with one of 1 after or before each, or the result's extents.
enum class KronShape { first, second, result };
Shape kron_shape(const Shape& a, const Shape& b, KronShape which);
}  // namespace detail

/// The product of Kronecker: blocks a[i, j] b, of any rank up to four.
inline Tensor kron(const Tensor& a, const Tensor& b) {
  const Shape first = detail::kron_shape(a.shape(), b.shape(), detail::KronShape::first);
  const Shape second = detail::kron_shape(a.shape(), b.shape(), detail::KronShape::second);
  return mul(a.reshape(first), b.reshape(second))
      .reshape(detail::kron_shape(a.shape(), b.shape(), detail::KronShape::result));
}

/// The vector product along `dim`, which has size 3.
inline Tensor cross(const Tensor& a, const Tensor& b, int64_t dim = -1) {
  require(a.size(dim) == 3 && b.size(dim) == 3, "cross: expected size 3 in dimension ", dim, ": a is ",
          a.shape(), ", b is ", b.shape());
  return roll(a, 2, dim) * roll(b, 1, dim) - roll(a, 1, dim) * roll(b, 2, dim);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Tensor;

void einsum_pullback(const std::string& equation, const std::vector<Tensor>& operands, Tensor d_y,
                     std::vector<Tensor>* d_operands);
}  // namespace clad::custom_derivatives::cladtorch
