// Tangents of linear algebra. Sources: as of the pullbacks, in ops/linalg.h.
#pragma once

#include "cladtorch/ops/linalg.h"
#include "cladtorch/ops/pushforward/arithmetic.h"
#include "cladtorch/ops/reduce_dims.h"

namespace cladtorch::tangents {

/// trace(x^T y) of each matrix.
inline Tensor inner_product(const Tensor& x, const Tensor& y) { return sum(mul(x, y), Shape{-2, -1}); }
/// The lower triangle with half of the diagonal.
inline Tensor lower_half(const Tensor& x) { return scale(add(tril(x, 0), tril(x, -1)), 0.5); }
inline Tensor symmetric(const Tensor& x) { return scale(add(x, x.transpose(-2, -1)), 0.5); }

}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch::linalg {
using Tangent = ::clad::ValueAndPushforward<Tensor, Tensor>;
namespace ops = ::cladtorch;

inline Tangent inv_pushforward(const Tensor& a, const Tensor& d_a) {
  const Tensor y = ops::linalg::inv(a);
  if (!d_a.defined()) return {y, Tensor()};
  return {y, ops::scale(ops::matmul(ops::matmul(y, d_a), y), -1)};
}
inline Tangent solve_pushforward(const Tensor& a, const Tensor& b, const Tensor& d_a, const Tensor& d_b) {
  const Tensor x = ops::linalg::solve(a, b);
  Tensor d = d_b;
  if (d_a.defined()) {
    if (ops::linalg::detail::is_vector(a.shape(), b.shape())) {
      d = ops::tangents::minus(d_b, ops::matmul(d_a, x.unsqueeze(-1)).squeeze(-1));
    } else {
      d = ops::tangents::minus(d_b, ops::matmul(d_a, x));
    }
  }
  if (!d.defined()) return {x, Tensor()};
  return {x, ops::linalg::solve(a, d)};
}

inline Tangent det_pushforward(const Tensor& a, const Tensor& d_a) {
  const Tensor y = ops::linalg::det(a);
  if (!d_a.defined()) return {y, Tensor()};
  return {y, ops::mul(y, ops::tangents::inner_product(ops::linalg::inv(a).transpose(-2, -1), d_a))};
}
inline ValueAndPushforward<LogDeterminant, LogDeterminant> slogdet_pushforward(const Tensor& a,
                                                                               const Tensor& d_a) {
  const LogDeterminant y = ops::linalg::slogdet(a);
  if (!d_a.defined()) return {y, LogDeterminant()};
  return {y, {Tensor(), ops::tangents::inner_product(ops::linalg::inv(a).transpose(-2, -1), d_a)}};
}

inline Tangent cholesky_pushforward(const Tensor& a, const Tensor& d_a) {
  const Tensor l = ops::linalg::cholesky(a);
  if (!d_a.defined()) return {l, Tensor()};
  const Tensor half = ops::linalg::solve_triangular(l, ops::tangents::symmetric(d_a), false);
  const Tensor whole = ops::linalg::solve_triangular(l, half.transpose(-2, -1), false);
  return {l, ops::matmul(l, ops::tangents::lower_half(whole))};
}

inline ValueAndPushforward<Eigen, Eigen> eigh_pushforward(const Tensor& a, const Tensor& d_a) {
  const Eigen y = ops::linalg::eigh(a);
  if (!d_a.defined()) return {y, Eigen()};
  const Tensor vectors = y.eigenvectors, values = y.eigenvalues;
  const Tensor turned =
      ops::matmul(ops::matmul(vectors.transpose(-2, -1), ops::tangents::symmetric(d_a)), vectors);
  const Tensor ones = ops::eye(values.size(-1), values.dtype());
  const Tensor gaps = ops::sub(values.unsqueeze(-2), values.unsqueeze(-1));
  const Tensor reciprocals = ops::sub(ops::reciprocal(ops::add(gaps, ones)), ones);
  return {y, {ops::diagonal(turned, 0, -2, -1), ops::matmul(vectors, ops::mul(turned, reciprocals))}};
}

inline ValueAndPushforward<QR, QR> qr_pushforward(const Tensor& a, const Tensor& d_a) {
  const QR y = ops::linalg::qr(a);
  if (!d_a.defined()) return {y, QR()};
  const Tensor q = y.Q, r = y.R;
  const Tensor w = ops::linalg::solve_triangular(r, d_a, true, false);
  const Tensor c = ops::matmul(q.transpose(-2, -1), w);
  const Tensor below = ops::tril(c, -1);
  const Tensor upper = ops::add(ops::sub(c, below), below.transpose(-2, -1));
  return {y, {ops::sub(w, ops::matmul(q, upper)), ops::matmul(upper, r)}};
}

inline Tangent svdvals_pushforward(const Tensor& a, const Tensor& d_a) {
  const Tensor y = ops::linalg::svdvals(a);
  if (!d_a.defined()) return {y, Tensor()};
  Tensor tall = a, d = d_a;
  if (a.size(-2) < a.size(-1)) {
    tall = a.transpose(-2, -1);
    d = d_a.transpose(-2, -1);
  }
  const Eigen squares = ops::linalg::eigh(ops::matmul(tall.transpose(-2, -1), tall));
  const Tensor vectors = squares.eigenvectors;
  const Tensor slopes = ops::sum(ops::mul(ops::matmul(tall, vectors), ops::matmul(d, vectors)), -2);
  const Tensor d_y = ops::mul(slopes, ops::rsqrt(ops::clamp(squares.eigenvalues, 1e-38, INFINITY)));
  return {y, ops::flip(d_y, -1)};
}

inline ValueAndPushforward<SVD, SVD> svd_pushforward(const Tensor& a, const Tensor& d_a) {
  const SVD y = ops::linalg::svd(a);
  if (!d_a.defined()) return {y, SVD()};
  const Tensor u = y.U, s = y.S, v = y.Vh.transpose(-2, -1), columns = s.unsqueeze(-2),
               rows = s.unsqueeze(-1);
  const Tensor turned = ops::matmul(ops::matmul(u.transpose(-2, -1), d_a), v);
  const Tensor ones = ops::eye(s.size(-1), s.dtype());
  const Tensor gaps = ops::mul(ops::sub(columns, rows), ops::add(columns, rows));
  const Tensor reciprocals = ops::sub(ops::reciprocal(ops::add(gaps, ones)), ones);
  const Tensor right = ops::mul(turned, columns), left = ops::mul(rows, turned);
  Tensor d_u = ops::matmul(u, ops::mul(reciprocals, ops::add(right, right.transpose(-2, -1))));
  Tensor d_v = ops::matmul(v, ops::mul(reciprocals, ops::add(left, left.transpose(-2, -1))));
  if (u.size(-2) > s.size(-1)) {
    const Tensor image = ops::div(ops::matmul(d_a, v), columns);
    d_u = ops::add(d_u, ops::sub(image, ops::matmul(u, ops::matmul(u.transpose(-2, -1), image))));
  }
  if (v.size(-2) > s.size(-1)) {
    const Tensor image = ops::div(ops::matmul(d_a.transpose(-2, -1), u), columns);
    d_v = ops::add(d_v, ops::sub(image, ops::matmul(v, ops::matmul(v.transpose(-2, -1), image))));
  }
  return {y, {d_u, ops::diagonal(turned, 0, -2, -1), d_v.transpose(-2, -1)}};
}

inline Tangent pinv_pushforward(const Tensor& a, double rtol, const Tensor& d_a, double) {
  const Tensor p = ops::linalg::pinv(a, rtol);
  if (!d_a.defined()) return {p, Tensor()};
  const Tensor p_t = p.transpose(-2, -1), d_t = d_a.transpose(-2, -1);
  const Tensor left = ops::matmul(ops::matmul(p, p_t), d_t), right = ops::matmul(ops::matmul(d_t, p_t), p);
  const Tensor outside = ops::add(ops::sub(left, ops::matmul(ops::matmul(left, a), p)),
                                  ops::sub(right, ops::matmul(p, ops::matmul(a, right))));
  return {p, ops::sub(outside, ops::matmul(ops::matmul(p, d_a), p))};
}

namespace detail {
inline Tangent solve_triangle_pushforward(const Tensor& a, const Tensor& b, bool upper, bool unitriangular,
                                          const Tensor& d_a, const Tensor& d_b) {
  const Tensor x = ops::linalg::detail::solve_triangle(a, b, upper, unitriangular);
  Tensor d = d_b;
  if (d_a.defined()) {
    int64_t skipped = 0;
    if (unitriangular) skipped = 1;
    if (upper) {
      d = ops::tangents::minus(d_b, ops::matmul(ops::triu(d_a, skipped), x));
    } else {
      d = ops::tangents::minus(d_b, ops::matmul(ops::tril(d_a, -skipped), x));
    }
  }
  if (!d.defined()) return {x, Tensor()};
  return {x, ops::linalg::detail::solve_triangle(a, d, upper, unitriangular)};
}
}  // namespace detail

}  // namespace clad::custom_derivatives::cladtorch::linalg
