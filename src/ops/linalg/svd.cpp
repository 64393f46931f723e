// Singular values, and what is made of them.
#include <cmath>
#include <limits>

#include "cladtorch/ops/comparison.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/linalg/matrices.h"

namespace cladtorch::linalg {
namespace {

namespace lapack = cladtorch::detail::lapack;
using cladtorch::detail::dispatch_floating;

/// With U and Vh if `vectors`.
SVD factors_of_singular(const char* operation, const Tensor& a, bool vectors) {
  const auto call = call_of(operation, a);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Shape batch = batch_of(a.shape());
  Tensor work = a.clone();
  Shape shape = batch;
  shape.push_back(k);
  SVD y;
  y.S = call.result(shape);
  if (vectors) {
    y.U = call.empty(matrices(batch, m, k));
    y.Vh = call.empty(matrices(batch, k, n));
    call.freeze(y.U);
    call.freeze(y.Vh);
  }
  dispatch_floating(operation, a.dtype(), [&]<class T>(T) {
    T *const data = work.data<T>(), *const s = y.S.data<T>();
    T *const u = vectors ? y.U.data<T>() : nullptr, *const vh = vectors ? y.Vh.data<T>() : nullptr;
    for_each_matrix(operation, "has no singular values that LAPACK finds", batch.numel(), [&](int64_t i) {
      return lapack::singular(static_cast<int>(m), static_cast<int>(n), data + i * m * n, s + i * k,
                              u ? u + i * m * k : nullptr, vh ? vh + i * k * n : nullptr);
    });
  });
  return y;
}

/// 1 / s for each singular value of more than rtol times the largest, else 0.
Tensor reciprocals(const Tensor& values, double rtol) {
  const int64_t n = values.size(-1);
  Tensor y = values.to(DType::float64).clone();
  double* const s = y.data<double>();
  for (int64_t i = 0; i < y.numel(); i += n) {
    const double least = n > 0 ? rtol * s[i] : 0;
    for (int64_t j = i; j < i + n; ++j) s[j] = s[j] > least ? 1 / s[j] : 0;
  }
  return y.to(values.dtype());
}

double default_rtol(const Tensor& a) {
  return static_cast<double>(std::max(a.size(-2), a.size(-1))) *
         (a.dtype() == DType::float64 ? std::numeric_limits<double>::epsilon()
                                      : std::numeric_limits<float>::epsilon());
}

/// x[..., i, j] / values[j]. Throws Error for a value of 0 where x is not 0.
Tensor divided_by(const Tensor& x, const Tensor& values) {
  const Tensor numerators = x.to(DType::float64).contiguous(), dense = values.to(DType::float64).contiguous();
  const int64_t rows = x.size(-2), n = values.size(-1);
  Tensor y = Tensor::empty(x.shape(), DType::float64);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int64_t matrix = i / (rows * n);
    const double numerator = numerators.data<double>()[i], s = dense.data<double>()[matrix * n + i % n];
    require(numerator == 0 || s != 0, "svd: singular value ", i % n, " of matrix ", matrix,
            " is 0, so its vectors have no derivative");
    y.data<double>()[i] = numerator == 0 ? 0 : numerator / s;
  }
  return y.to(values.dtype());
}

}  // namespace

SVD svd(const Tensor& a) {
  CLADTORCH_RECORD_STATE(SVD, svd, unread(a));
  return factors_of_singular("svd", a, true);
}

Tensor svdvals(const Tensor& a) {
  CLADTORCH_RECORD_STATE(SVD, svdvals, unread(a));
  return factors_of_singular("svdvals", a, false).S;
}

Tensor pinv(const Tensor& a, double rtol) {
  CLADTORCH_RECORD_STATE(MatrixState, pinv, a, rtol);
  const SVD y = factors_of_singular("pinv", a, true);
  const Tensor scaled =
      mul(transposed(y.Vh), reciprocals(y.S, rtol < 0 ? default_rtol(a) : rtol).unsqueeze(-2));
  Tensor p = matmul(scaled, transposed(y.U));
  p.set_frozen(a.is_frozen());
  return p;
}

Tensor matrix_rank(const Tensor& a, double rtol) {
  const NotRecorded constant;
  const Tensor values = svdvals(a), kept = reciprocals(values, rtol < 0 ? default_rtol(a) : rtol);
  return sum(gt(kept, 0).to(DType::float32), -1).to(DType::int32);
}

}  // namespace cladtorch::linalg

namespace clad::custom_derivatives::cladtorch::linalg {
using ::cladtorch::add;
using ::cladtorch::mul;
using ::cladtorch::scale;
using ::cladtorch::sub;
using ::cladtorch::wanted;
namespace internal = ::cladtorch::linalg;
using internal::transposed;

static void add_to(Tensor& sum, const Tensor& x) { sum = sum.defined() ? add(sum, x) : x; }

SVD svd_reverse_forw(const Tensor& a, pullback_state<SVD>& state) { return state.data = svd(a); }
void svd_pullback(const Tensor&, SVD d_y, Tensor* d_a, pullback_state<SVD>& state) {
  const auto& [u, s, vh] = state.data;
  if (!wanted(d_a, s) || (!d_y.U.defined() && !d_y.S.defined() && !d_y.Vh.defined())) return;
  // U (((X - X^T) / E) S + S ((Y - Y^T) / E) + d_S) Vh with X = U^T d_U, Y = V^T d_V and the gaps E of the
  // squares of S; and what d_U and d_V have outside of the spaces of U and V.
  const auto over_gaps = [&, &s = s](const Tensor& x) {
    return internal::divided_by_gaps("svd", "singular values", sub(x, transposed(x)), s, true);
  };
  Tensor inner, d;
  if (d_y.S.defined()) inner = ::cladtorch::diag_embed(d_y.S);
  if (d_y.U.defined()) {
    const Tensor x = matmul(transposed(u), d_y.U);
    add_to(inner, mul(over_gaps(x), s.unsqueeze(-2)));
    if (u.size(-2) > s.size(-1)) d = matmul(internal::divided_by(sub(d_y.U, matmul(u, x)), s), vh);
  }
  if (d_y.Vh.defined()) {
    const Tensor d_v = transposed(d_y.Vh), x = matmul(vh, d_v);
    add_to(inner, mul(s.unsqueeze(-1), over_gaps(x)));
    if (vh.size(-1) > s.size(-1))
      add_to(d, matmul(u, transposed(internal::divided_by(sub(d_v, matmul(transposed(vh), x)), s))));
  }
  if (inner.defined()) add_to(d, matmul(matmul(u, inner), vh));
  d_a->accumulate(d);
}

Tensor svdvals_reverse_forw(const Tensor& a, pullback_state<SVD>& state) {
  state.data = internal::factors_of_singular("svdvals", a, true);
  return state.data.S;
}
void svdvals_pullback(const Tensor&, Tensor d_y, Tensor* d_a, pullback_state<SVD>& state) {
  const auto& [u, s, vh] = state.data;
  if (wanted(d_a, s) && d_y.defined()) d_a->accumulate(matmul(mul(u, d_y.unsqueeze(-2)), vh));
}

Tensor pinv_reverse_forw(const Tensor& a, double rtol, pullback_state<MatrixState>& state) {
  return state.data.y = internal::pinv(a, rtol);
}
void pinv_pullback(const Tensor& a, double, Tensor d_y, Tensor* d_a, double*,
                   pullback_state<MatrixState>& state) {
  const Tensor& p = state.data.y;
  if (!wanted(d_a, p) || !d_y.defined()) return;
  const Tensor g = transposed(d_y), p_t = transposed(p);
  // -P^T G P^T + (I - A P) G^T P P^T + P^T P G^T (I - P A)
  const Tensor left = matmul(matmul(g, p), p_t), right = matmul(matmul(p_t, p), g);
  const Tensor outside = add(sub(left, matmul(a, matmul(p, left))), sub(right, matmul(matmul(right, p), a)));
  d_a->accumulate(sub(outside, matmul(matmul(p_t, d_y), p_t)));
}

}  // namespace clad::custom_derivatives::cladtorch::linalg
