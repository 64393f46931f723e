#include "cladtorch/ops/linalg.h"

#include "cladtorch/ops/composed.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace of = clad::custom_derivatives::cladtorch::linalg;
using testing::error_of;
using testing::normals;
using testing::relative_difference;

class Linalg : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!linalg::available()) GTEST_SKIP() << "this build has no LAPACK";
  }
  static Tensor regular(const Shape& shape) {
    return add(normals({shape})[0], scale(eye(shape.back(), DType::float64), 3));
  }
};

TEST_F(Linalg, FactorsMultiplyToTheMatrix) {
  const Tensor a = regular({2, 5, 5}), b = normals({{2, 5, 3}})[0], tall = normals({{2, 6, 4}})[0];
  const Tensor spd = matmul(a, a.transpose(-2, -1));
  EXPECT_LT(relative_difference(matmul(a, linalg::solve(a, b)), b), 1e-13);
  EXPECT_LT(relative_difference(matmul(linalg::inv(a), b), linalg::solve(a, b)), 1e-13);
  EXPECT_TRUE(linalg::inv(a).is_contiguous());
  const Tensor l = linalg::cholesky(spd), u = linalg::cholesky(spd, true);
  EXPECT_LT(relative_difference(matmul(l, l.transpose(-2, -1)), spd), 1e-14);
  EXPECT_LT(relative_difference(matmul(u.transpose(-2, -1), u), spd), 1e-14);
  const linalg::QR factors = linalg::qr(tall);
  EXPECT_LT(relative_difference(matmul(factors.Q, factors.R), tall), 1e-14);
  const linalg::Eigen e = linalg::eigh(spd);
  EXPECT_LT(
      relative_difference(
          matmul(mul(e.eigenvectors, e.eigenvalues.unsqueeze(-2)), e.eigenvectors.transpose(-2, -1)), spd),
      1e-13);
  EXPECT_LT(relative_difference(square(linalg::svdvals(a)), flip(e.eigenvalues, -1)), 1e-13);
  EXPECT_LT(relative_difference(linalg::det(spd), exp(linalg::slogdet(spd).logabsdet)), 1e-12);
  const Tensor x = linalg::lstsq(tall, normals({{2, 6, 3}})[0]);
  EXPECT_LT(
      norm(matmul(tall.transpose(-2, -1), sub(matmul(tall, x), normals({{2, 6, 3}})[0])).flatten(), 0).item(),
      1e-12);
  const Tensor right = linalg::solve_triangular(l, b.transpose(-2, -1), false, false);
  EXPECT_LT(relative_difference(matmul(right, l), b.transpose(-2, -1)), 1e-13);
}

TEST_F(Linalg, SingularValuesAndTheirVectorsMultiplyToTheMatrix) {
  for (const Shape& shape : {Shape{2, 6, 4}, Shape{3, 5}, Shape{2, 2, 3, 3}, Shape{1, 1}, Shape{0, 3, 2}}) {
    const Tensor a = normals({shape})[0];
    const linalg::SVD y = linalg::svd(a);
    EXPECT_LT(relative_difference(matmul(mul(y.U, y.S.unsqueeze(-2)), y.Vh), a), 1e-13) << shape;
    EXPECT_LT(relative_difference(y.S, linalg::svdvals(a)), 1e-13);
    const Tensor p = linalg::pinv(a);
    EXPECT_LT(relative_difference(matmul(matmul(a, p), a), a), 1e-12);
    EXPECT_LT(relative_difference(matmul(matmul(p, a), p), p), 1e-12);
  }
  EXPECT_LT(relative_difference(linalg::pinv(regular({3, 3})), linalg::inv(regular({3, 3}))), 1e-12);
}

TEST_F(Linalg, ThePseudoinverseTakesSmallSingularValuesForZero) {
  const Tensor a = from_values<double>({2, 2}, {1, 2, 2, 4}), p = linalg::pinv(a);
  EXPECT_LT(relative_difference(p, scale(a, 1.0 / 25)), 1e-14);
  EXPECT_EQ(linalg::matrix_rank(a).item(), 1);
  EXPECT_EQ(linalg::matrix_rank(zeros({3, 2})).item(), 0);
  const Tensor diagonal = diag_embed(from_values<double>({2}, {2, 0.1}));
  EXPECT_EQ(linalg::matrix_rank(diagonal).item(), 2);
  EXPECT_EQ(linalg::matrix_rank(diagonal, 0.1).item(), 1);
  EXPECT_LT(relative_difference(linalg::pinv(diagonal, 0.1), diag_embed(from_values<double>({2}, {0.5, 0}))),
            1e-15);
}

TEST_F(Linalg, NormsOfMatrices) {
  const Tensor a = from_values<double>({2, 2}, {3, 0, 0, -4});
  using linalg::matrix_norm;
  EXPECT_NEAR(matrix_norm(a).item(), 5, 1e-14);
  EXPECT_NEAR(matrix_norm(a, linalg::MatrixNorm::nuc).item(), 7, 1e-14);
  for (const double order : {1.0, 2.0, HUGE_VAL}) {
    EXPECT_NEAR(matrix_norm(a, order).item(), 4, 1e-14);
    EXPECT_NEAR(matrix_norm(a, -order).item(), 3, 1e-14);
  }
  EXPECT_EQ(matrix_norm(ones({4, 3, 2}), 1).shape(), (Shape{4}));
  EXPECT_EQ(error_of([&] { matrix_norm(a, 3); }),
            "matrix_norm: expected an order of 1, 2 or infinity or one of them negated, got 3");
}

TEST_F(Linalg, SignsOfDeterminants) {
  const Tensor swap = from_values<double>({2, 2}, {0, 2, 3, 0});
  EXPECT_NEAR(linalg::det(swap).item(), -6, 1e-14);
  EXPECT_EQ(linalg::slogdet(swap).sign.item(), -1);
  const Tensor singular = ones({2, 2}, DType::float64);
  EXPECT_EQ(linalg::det(singular).item(), 0);
  EXPECT_EQ(linalg::slogdet(singular).sign.item(), 0);
  EXPECT_EQ(linalg::slogdet(singular).logabsdet.item(), -INFINITY);
  EXPECT_EQ(linalg::det(zeros({0, 0})).item(), 1);
}

TEST_F(Linalg, ErrorsSayWhichMatrixDoesNotFit) {
  Tensor a = eye(3).expand({4, 3, 3}).clone();
  a.select(0, 2).select(0, 1).select(0, 1).fill_(0);
  EXPECT_EQ(error_of([&] { linalg::inv(a); }), "inv: matrix 2 is singular");
  EXPECT_EQ(error_of([&] { linalg::solve(a, ones({4, 3, 1})); }), "solve: matrix 2 is singular");
  EXPECT_EQ(error_of([&] { linalg::cholesky(a); }), "cholesky: matrix 2 is not positive definite");
  EXPECT_EQ(error_of([&] { linalg::solve_triangular(a, ones({3, 1}), true); }),
            "solve_triangular: matrix 2 is singular");
  EXPECT_EQ(error_of([&] { linalg::lstsq(a, ones({4, 3, 1})); }), "lstsq: matrix 2 is not of full rank");
  EXPECT_EQ(error_of([&] { linalg::inv(zeros({2, 3})); }), "inv: expected square matrices, got [2,3]");
  EXPECT_EQ(error_of([&] { linalg::qr(zeros({2, 3})); }),
            "qr: expected at least as many rows as columns, got [2,3]");
  EXPECT_EQ(error_of([&] { linalg::solve(a, ones({4, 2, 1})); }), "solve: a is [4,3,3], b is [4,2,1]");
  EXPECT_EQ(error_of([&] { linalg::inv(zeros({2, 2}, DType::bfloat16)); }),
            "inv: expected float32 or float64, got bfloat16; convert with to()");
}

TEST_F(Linalg, DerivativesThatDoNotExistAreErrors) {
  const Tensor a = ones({1, 2, 2}, DType::float64), d = ones({1}, DType::float64);
  Tensor d_a;
  clad::pullback_state<linalg::DeterminantState> det_state, log_state;
  of::det_reverse_forw(a, det_state);
  EXPECT_EQ(error_of([&] { of::det_pullback({}, d, &d_a, det_state); }),
            "det: matrix 0 is singular, where the derivative is not computed");
  of::slogdet_reverse_forw(a, log_state);
  EXPECT_EQ(error_of([&] { of::slogdet_pullback({}, {{}, d}, &d_a, log_state); }),
            "slogdet: matrix 0 is singular, where the derivative is not computed");
  clad::pullback_state<linalg::Eigen> eigen_state;
  const Tensor same = eye(2, DType::float64);
  of::eigh_reverse_forw(same, eigen_state);
  EXPECT_EQ(error_of([&] {
              of::eigh_pullback({}, {{}, arange(4, DType::float64).reshape({2, 2})}, &d_a, eigen_state);
            }),
            "eigh: eigenvalues 0 and 1 of matrix 0 are equal, so their vectors have no derivative");
  of::eigh_pullback({}, {ones({2}, DType::float64), {}}, &d_a, eigen_state);
  EXPECT_LT(relative_difference(d_a, same), 1e-14);
}

TEST_F(Linalg, VectorsOfEqualSingularValuesHaveNoDerivative) {
  const Tensor same = eye(2, DType::float64), d = from_values<double>({2, 2}, {1, 2, 3, 4});
  clad::pullback_state<linalg::SVD> state;
  of::svd_reverse_forw(same, state);
  Tensor d_a;
  EXPECT_EQ(error_of([&] { of::svd_pullback({}, {d, {}, {}}, &d_a, state); }),
            "svd: singular values 0 and 1 of matrix 0 are equal, so their vectors have no derivative");
  of::svd_pullback({}, {{}, ones({2}, DType::float64), {}}, &d_a, state);
  EXPECT_LT(relative_difference(d_a, same), 1e-14);
  const Tensor tall = cat({diag_embed(from_values<double>({2}, {1, 0})), zeros({1, 2}, DType::float64)}, 0);
  of::svd_reverse_forw(tall, state);
  EXPECT_EQ(error_of([&] { of::svd_pullback({}, {ones({3, 2}, DType::float64), {}, {}}, &d_a, state); }),
            "svd: singular value 1 of matrix 0 is 0, so its vectors have no derivative");
}

/// Vectors that are not used may be of equal values.
TEST_F(Linalg, VectorsWithoutCotangentsMayHaveEqualValues) {
  const Tensor a = diag_embed(from_values<double>({3}, {3, 1, 1}));
  Tensor d = zeros({3, 3}, DType::float64), d_a, d_b;
  d.select(1, 0).copy_from(from_values<double>({3}, {1, 2, 3}));  // of the largest one's vector
  clad::pullback_state<linalg::SVD> state;
  of::svd_reverse_forw(a, state);
  of::svd_pullback({}, {d, {}, {}}, &d_a, state);
  EXPECT_TRUE(std::isfinite(sum(d_a).item()));
  clad::pullback_state<linalg::Eigen> eigen;
  of::eigh_reverse_forw(a, eigen);
  of::eigh_pullback({}, {{}, flip(d, 1)}, &d_b, eigen);
  EXPECT_GT(norm(d_b).item(), 1);
}

TEST_F(Linalg, FrozenOperandsGetNoGradient) {
  Tensor a = regular({3, 3}), b = normals({{3, 2}})[0];
  a.set_frozen(true);
  clad::pullback_state<linalg::SolveState> state;
  const Tensor x = of::solve_reverse_forw(a, b, state);
  EXPECT_FALSE(x.is_frozen());
  Tensor d_a, d_b;
  of::solve_pullback({}, {}, x, &d_a, &d_b, state);
  EXPECT_FALSE(d_a.defined());
  EXPECT_TRUE(d_b.defined());
  EXPECT_TRUE(linalg::inv(a).is_frozen());
  clad::pullback_state<linalg::MatrixState> inverse;
  of::inv_pullback({}, of::inv_reverse_forw(a, inverse), &d_a, inverse);
  EXPECT_FALSE(d_a.defined());
}

TEST_F(Linalg, ResultsDoNotDependOnTheNumberOfThreads) {
  const Tensor a = regular({5, 40, 40}), b = normals({{5, 40, 7}})[0];
  const int before = num_threads();
  set_num_threads(1);
  const Tensor one = linalg::solve(a, b), values = linalg::svdvals(a);
  set_num_threads(3);
  EXPECT_TRUE(testing::same_bits(linalg::solve(a, b), one));
  EXPECT_TRUE(testing::same_bits(linalg::svdvals(a), values));
  set_num_threads(before);
}

TEST(LinalgWithoutLapack, IsAnErrorThatSaysWhatToInstall) {
  if (linalg::available()) GTEST_SKIP() << "this build has LAPACK";
  EXPECT_EQ(error_of([] { linalg::inv(eye(2)); }),
            "inv: this build has no LAPACK; install liblapack-dev and configure again");
}

}  // namespace
}  // namespace cladtorch
