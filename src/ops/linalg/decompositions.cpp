// Cholesky, QR and eigenvalues.
#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/linalg/matrices.h"

namespace cladtorch::linalg {

namespace lapack = cladtorch::detail::lapack;
using cladtorch::detail::dispatch_floating;

Tensor divided_by_gaps(const char* operation, const char* what, const Tensor& x, const Tensor& values,
                       bool of_squares) {
  const int64_t n = values.size(-1);
  const Tensor numerators = x.to(DType::float64).contiguous(), dense = values.to(DType::float64).contiguous();
  Tensor y = Tensor::empty(x.shape(), DType::float64);
  const double *const from = numerators.data<double>(), *const v = dense.data<double>();
  double* const to = y.data<double>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double other = v[i / n * n + j], gap = (other - v[i]) * (of_squares ? other + v[i] : 1);
      const double numerator = i % n == j ? 0 : from[i * n + j];
      require(numerator == 0 || gap != 0, operation, ": ", what, " ", i % n, " and ", j, " of matrix ", i / n,
              " are equal, so their vectors have no derivative");
      to[i * n + j] = numerator == 0 ? 0 : numerator / gap;
    }
  }
  return y.to(values.dtype());
}

Tensor cholesky(const Tensor& a) {
  CLADTORCH_RECORD_STATE(MatrixState, cholesky, unread(a));
  const auto call = call_of_square("cholesky", a);
  const int64_t n = a.size(-1);
  Tensor y = tril(a, 0);
  dispatch_floating("cholesky", a.dtype(), [&]<class T>(T) {
    T* const data = y.data<T>();
    for_each_matrix("cholesky", "is not positive definite", batch_of(a.shape()).numel(),
                    [&](int64_t i) { return lapack::cholesky(static_cast<int>(n), data + i * n * n); });
  });
  return call.finish(std::move(y));
}

Eigen eigh(const Tensor& a) {
  CLADTORCH_RECORD_STATE(Eigen, eigh, unread(a));
  const auto call = call_of_square("eigh", a);
  const int64_t n = a.size(-1);
  Tensor vectors = a.clone(), values = Tensor::empty(a.shape().without(a.dim() - 1), a.dtype());
  dispatch_floating("eigh", a.dtype(), [&]<class T>(T) {
    T *const data = vectors.data<T>(), *const s = values.data<T>();
    for_each_matrix(
        "eigh", "has no eigenvalues that LAPACK finds", batch_of(a.shape()).numel(),
        [&](int64_t i) { return lapack::eigen(static_cast<int>(n), data + i * n * n, s + i * n); });
  });
  call.freeze(vectors);
  return {call.finish(std::move(values)), transposed(vectors)};
}

QR qr(const Tensor& a) {
  CLADTORCH_RECORD_STATE(QR, qr, unread(a));
  const auto call = call_of("qr", a);
  const int64_t m = a.size(-2), n = a.size(-1);
  require(m >= n, "qr: expected at least as many rows as columns, got ", a.shape());
  const Shape batch = batch_of(a.shape());
  Tensor q = transposed(a).clone(), r = Tensor::empty(matrices(batch, n, n), a.dtype());
  dispatch_floating("qr", a.dtype(), [&]<class T>(T) {
    T *const q_data = q.data<T>(), *const r_data = r.data<T>();
    for_each_matrix("qr", "has no factors that LAPACK finds", batch.numel(), [&](int64_t i) {
      return lapack::qr(static_cast<int>(m), static_cast<int>(n), q_data + i * m * n, r_data + i * n * n);
    });
  });
  call.freeze(r);
  return {transposed(call.finish(std::move(q))), r};
}

}  // namespace cladtorch::linalg

namespace clad::custom_derivatives::cladtorch::linalg {
using ::cladtorch::add;
using ::cladtorch::mul;
using ::cladtorch::scale;
using ::cladtorch::sub;
using ::cladtorch::tril;
using ::cladtorch::wanted;
namespace internal = ::cladtorch::linalg;
using internal::transposed;

static Tensor symmetric(const Tensor& x) { return scale(add(x, transposed(x)), 0.5); }

Tensor cholesky_reverse_forw(const Tensor& a, pullback_state<MatrixState>& state) {
  return state.data.y = cholesky(a);
}
void cholesky_pullback(const Tensor&, Tensor d_y, Tensor* d_a, pullback_state<MatrixState>& state) {
  const Tensor& l = state.data.y;
  if (!wanted(d_a, l) || !d_y.defined()) return;
  const auto by_transposed = [&](const Tensor& x) {
    return internal::solved_triangle("cholesky", l, x, false, true, false);
  };
  // The lower triangle with half of the diagonal.
  const Tensor product = matmul(transposed(l), d_y);
  const Tensor lower = scale(add(tril(product, 0), tril(product, -1)), 0.5);
  d_a->accumulate(symmetric(by_transposed(transposed(by_transposed(lower)))));
}

Eigen eigh_reverse_forw(const Tensor& a, pullback_state<Eigen>& state) { return state.data = eigh(a); }
void eigh_pullback(const Tensor&, Eigen d_y, Tensor* d_a, pullback_state<Eigen>& state) {
  const auto& [values, vectors] = state.data;
  if (!wanted(d_a, values) || (!d_y.eigenvalues.defined() && !d_y.eigenvectors.defined())) return;
  Tensor inner;
  if (d_y.eigenvalues.defined()) inner = ::cladtorch::diag_embed(d_y.eigenvalues);
  if (d_y.eigenvectors.defined()) {
    const Tensor turned = internal::divided_by_gaps(
        "eigh", "eigenvalues", matmul(transposed(vectors), d_y.eigenvectors), values, false);
    inner = inner.defined() ? add(inner, turned) : turned;
  }
  d_a->accumulate(symmetric(matmul(matmul(vectors, inner), transposed(vectors))));
}

QR qr_reverse_forw(const Tensor& a, pullback_state<QR>& state) { return state.data = qr(a); }
void qr_pullback(const Tensor&, QR d_y, Tensor* d_a, pullback_state<QR>& state) {
  const auto& [q, r] = state.data;
  if (!wanted(d_a, r) || (!d_y.Q.defined() && !d_y.R.defined())) return;
  // (d_Q + Q S) R^-T, where S is the lower triangle of R d_R^T - d_Q^T Q, mirrored at the diagonal.
  Tensor m;
  if (d_y.R.defined()) m = matmul(r, transposed(::cladtorch::triu(d_y.R)));
  if (d_y.Q.defined()) {
    const Tensor product = matmul(transposed(d_y.Q), q);
    m = m.defined() ? sub(m, product) : scale(product, -1);
  }
  Tensor sum = matmul(q, add(tril(m, 0), transposed(tril(m, -1))));
  if (d_y.Q.defined()) sum = add(sum, d_y.Q);
  d_a->accumulate(transposed(internal::solved_triangle("qr", r, transposed(sum), true, false, false)));
}

}  // namespace clad::custom_derivatives::cladtorch::linalg
