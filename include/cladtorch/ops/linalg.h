// Linear algebra of matrices [..., N, N] of float32 or float64, one by one over the leading dimensions, by
// LAPACK. The results do not depend on the number of threads. Link cladtorch::linalg. In a build without
// LAPACK (available() is false) each of these throws Error. The derivatives are those of Giles, "Collected
// matrix derivative results for forward and reverse mode algorithmic differentiation", 2008, where no other
// source is named.
#pragma once

#include <cmath>
#include <vector>

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/composed.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/ops/shape.h"

namespace cladtorch::linalg {

bool available();

/// The inverse. Throws Error that says which matrix is singular.
Tensor inv(const Tensor& a);

/// X with a X = b, for b [..., N, K], whose leading dimensions broadcast with those of a, or vectors b [N] or
/// of the shape [..., N] of a without its last dimension. Throws Error that says which matrix is singular.
Tensor solve(const Tensor& a, const Tensor& b);

/// The determinant [...]. The derivative at a singular matrix is an Error.
Tensor det(const Tensor& a);
/// 1, -1 or 0, and the logarithm of the determinant's absolute value: [...] each. The derivative at a
/// singular matrix, whose logarithm is -infinity, is an Error.
struct LogDeterminant {
  Tensor sign, logabsdet;
};
LogDeterminant slogdet(const Tensor& a);

/// The lower triangular L with L L^T = a, of which the lower triangle is read. The gradient is symmetric.
/// Throws Error that says which matrix is not positive definite. Source of the derivative: Murray,
/// "Differentiation of the Cholesky decomposition", 2016.
Tensor cholesky(const Tensor& a);
/// If `upper`, U with U^T U = a.
inline Tensor cholesky(const Tensor& a, bool upper) {
  if (upper) return cholesky(a).transpose(-2, -1);
  return cholesky(a);
}

/// The eigenvalues [..., N] of symmetric matrices in ascending order, and the eigenvectors as columns; the
/// lower triangle is read. The gradient is symmetric. The sign of a vector is arbitrary, so what is computed
/// from them must not depend on it; vectors of equal eigenvalues have no derivative, which is an Error.
struct Eigen {
  Tensor eigenvalues, eigenvectors;
};
Eigen eigh(const Tensor& a);
inline Tensor eigvalsh(const Tensor& a) { return eigh(a).eigenvalues; }

/// a [..., M, N] = Q R with M >= N, orthonormal columns of Q [..., M, N] and upper triangular R [..., N, N],
/// as PyTorch's mode="reduced". Source of the derivative: Walter and Lehmann, "Algorithmic differentiation of
/// linear algebra functions with application in optimum experimental design", 2010.
struct QR {
  Tensor Q, R;
};
QR qr(const Tensor& a);

/// The singular values of a [..., M, N] in descending order.
Tensor svdvals(const Tensor& a);

/// a [..., M, N] = U diag(S) Vh with orthonormal columns of U [..., M, K] and rows of Vh [..., K, N] for
/// K = min(M, N), and S [..., K] in descending order: PyTorch's full_matrices=False. The signs of a column of
/// U and a row of Vh are arbitrary together, so what is computed from them must not depend on it; vectors of
/// equal singular values, and those of 0 where the matrix is not square, have no derivative, which is an
/// Error where one is asked for. Source of the derivative: Townsend, "Differentiating the singular value
/// decomposition", 2016.
struct SVD {
  Tensor U, S, Vh;
};
SVD svd(const Tensor& a);

/// The pseudoinverse [..., N, M] of Moore and Penrose, where singular values of at most rtol times the
/// largest count as 0; a negative rtol stands for max(M, N) times the precision of the dtype. The derivative
/// takes the rank to be constant. Source of the derivative: Golub and Pereyra, "The differentiation of
/// pseudo-inverses and nonlinear least squares problems whose variables separate", 1973.
Tensor pinv(const Tensor& a, double rtol = -1);
/// How many singular values are larger than that: int32 [...].
CLAD_NONDIFFERENTIABLE Tensor matrix_rank(const Tensor& a, double rtol = -1);

namespace detail {
/// Whether solve() takes b for vectors.
bool is_vector(const Shape& a, const Shape& b);
Tensor solve_triangle(const Tensor& a, const Tensor& b, bool upper, bool unitriangular);
/// Throws Error unless every R has entries on its diagonal that are not 0 but for rounding.
CLAD_NONDIFFERENTIABLE void require_full_rank(const Tensor& r, int64_t rows);
}  // namespace detail

/// X with a X = b, or with X a = b unless `left`, where a is triangular: the other triangle is not read, and
/// the diagonal is taken to be 1 if `unitriangular`. Leading dimensions broadcast. Throws Error that says
/// which matrix is singular.
inline Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true,
                               bool unitriangular = false) {
  if (left) return detail::solve_triangle(a, b, upper, unitriangular);
  return detail::solve_triangle(a.transpose(-2, -1), b.transpose(-2, -1), !upper, unitriangular)
      .transpose(-2, -1);
}

/// X that minimizes |a X - b|, for a [..., M, N] of full rank with M >= N and b [..., M, K]: by QR. Throws
/// Error that says which matrix is not of full rank.
inline Tensor lstsq(const Tensor& a, const Tensor& b) {
  const QR factors = qr(a);
  detail::require_full_rank(factors.R, a.size(-2));
  return detail::solve_triangle(factors.R, matmul(factors.Q.transpose(-2, -1), b), true, false);
}

/// The norm of each matrix [..., M, N]: of Frobenius, the root of the sum of squares; or the sum of the
/// singular values.
enum class MatrixNorm { fro, nuc };
inline Tensor matrix_norm(const Tensor& a, MatrixNorm order = MatrixNorm::fro) {
  require(a.dim() >= 2, "matrix_norm: expected matrices, got ", a.shape());
  if (order == MatrixNorm::nuc) return sum(svdvals(a), -1);
  return norm(flatten(a, -2, -1), -1);
}
/// The norm of order 2 or -2, the largest or the smallest singular value; 1 or -1, the largest or the
/// smallest sum of absolute values of a column; infinity or -infinity, of a row.
inline Tensor matrix_norm(const Tensor& a, double order) {
  require(a.dim() >= 2, "matrix_norm: expected matrices, got ", a.shape());
  const double size = std::abs(order);
  require(size == 1 || size == 2 || size == INFINITY,
          "matrix_norm: expected an order of 1, 2 or infinity or one of them negated, got ", order);
  Tensor sizes;
  if (size == 2) {
    sizes = svdvals(a);
  } else if (size == 1) {
    sizes = sum(abs(a), -2);
  } else {
    sizes = sum(abs(a), -1);
  }
  if (order > 0) return amax(sizes, -1);
  return amin(sizes, -1);
}

/// The factors of LU, made of the transposed matrix, and the rows that were exchanged.
struct Factors {
  Tensor lu, pivots;
};
struct SolveState {
  Factors factors;
  Tensor x;
  Shape a, b;
  bool a_frozen = false, b_frozen = false;
};
struct TriangleState {
  Tensor x;
  Shape b;
  bool b_frozen = false;
};
struct DeterminantState {
  Factors factors;
  Tensor y;
  bool frozen = false;
};
struct MatrixState {
  Tensor y;
};

}  // namespace cladtorch::linalg

namespace clad::custom_derivatives::cladtorch::linalg {
using ::cladtorch::Tensor;
using namespace ::cladtorch::linalg;

Tensor inv_reverse_forw(const Tensor& a, pullback_state<MatrixState>& state);
void inv_pullback(CLAD_UNUSED const Tensor& a, Tensor d_y, Tensor* d_a, pullback_state<MatrixState>& state);

Tensor solve_reverse_forw(const Tensor& a, const Tensor& b, pullback_state<SolveState>& state);
void solve_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, Tensor d_x, Tensor* d_a,
                    Tensor* d_b, pullback_state<SolveState>& state);

Tensor det_reverse_forw(const Tensor& a, pullback_state<DeterminantState>& state);
void det_pullback(CLAD_UNUSED const Tensor& a, Tensor d_y, Tensor* d_a,
                  pullback_state<DeterminantState>& state);

LogDeterminant slogdet_reverse_forw(const Tensor& a, pullback_state<DeterminantState>& state);
void slogdet_pullback(CLAD_UNUSED const Tensor& a, LogDeterminant d_y, Tensor* d_a,
                      pullback_state<DeterminantState>& state);

Tensor cholesky_reverse_forw(const Tensor& a, pullback_state<MatrixState>& state);
void cholesky_pullback(CLAD_UNUSED const Tensor& a, Tensor d_y, Tensor* d_a,
                       pullback_state<MatrixState>& state);

Eigen eigh_reverse_forw(const Tensor& a, pullback_state<Eigen>& state);
void eigh_pullback(CLAD_UNUSED const Tensor& a, Eigen d_y, Tensor* d_a, pullback_state<Eigen>& state);

QR qr_reverse_forw(const Tensor& a, pullback_state<QR>& state);
void qr_pullback(CLAD_UNUSED const Tensor& a, QR d_y, Tensor* d_a, pullback_state<QR>& state);

Tensor svdvals_reverse_forw(const Tensor& a, pullback_state<SVD>& state);
void svdvals_pullback(CLAD_UNUSED const Tensor& a, Tensor d_y, Tensor* d_a, pullback_state<SVD>& state);

SVD svd_reverse_forw(const Tensor& a, pullback_state<SVD>& state);
void svd_pullback(CLAD_UNUSED const Tensor& a, SVD d_y, Tensor* d_a, pullback_state<SVD>& state);

Tensor pinv_reverse_forw(const Tensor& a, double rtol, pullback_state<MatrixState>& state);
/// The rank does not change with rtol: its gradient is left alone.
void pinv_pullback(const Tensor& a, double rtol, Tensor d_y, Tensor* d_a, double* d_rtol,
                   pullback_state<MatrixState>& state);

namespace detail {
Tensor solve_triangle_reverse_forw(const Tensor& a, const Tensor& b, bool upper, bool unitriangular,
                                   pullback_state<TriangleState>& state);
void solve_triangle_pullback(const Tensor& a, CLAD_UNUSED const Tensor& b, bool upper, bool unitriangular,
                             Tensor d_x, Tensor* d_a, Tensor* d_b, pullback_state<TriangleState>& state);
}  // namespace detail
}  // namespace clad::custom_derivatives::cladtorch::linalg
