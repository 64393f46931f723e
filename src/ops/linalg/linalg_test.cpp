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
  EXPECT_EQ(error_of([&] { of::eigh_pullback({}, {{}, same}, &d_a, eigen_state); }),
            "eigh: eigenvalues 0 and 1 of matrix 0 are equal, so their vectors have no derivative");
  of::eigh_pullback({}, {ones({2}, DType::float64), {}}, &d_a, eigen_state);
  EXPECT_LT(relative_difference(d_a, same), 1e-14);
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
