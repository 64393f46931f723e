// Distances between vectors, and how variables vary together. The compiler differentiates them like a user's
// code.
#pragma once

#include "cladtorch/ops/products.h"
#include "cladtorch/ops/reduce_dims.h"

namespace cladtorch {

/// |x1 - x2 + eps| of vectors [..., C], whose leading dimensions broadcast: the norm of order p. PyTorch adds
/// eps to each difference.
inline Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                                bool keepdim = false) {
  return linalg::vector_norm(x1 - x2 + eps, p, {-1}, keepdim);
}

/// The distance of order p of each of P vectors x1 [..., P, C] to each of R vectors x2 [..., R, C]:
/// [..., P, R]. All P R C differences are stored. The derivative at a distance of 0 is 0.
inline Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2) {
  require(x1.dim() >= 2 && x2.dim() >= 2 && x1.size(-1) == x2.size(-1),
          "cdist: expected [..., P, C] and [..., R, C]: x1 is ", x1.shape(), ", x2 is ", x2.shape());
  return linalg::vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, {-1});
}

/// The covariances [C, C] of C variables, of which x [C, N] has N observations; or the variance of x [N]. The
/// divisor is N - correction.
inline Tensor cov(const Tensor& x, double correction = 1) {
  require(x.dim() == 1 || x.dim() == 2, "cov: expected [C, N] or [N], got ", x.shape());
  if (x.dim() == 1) return var(x, 0, false, correction);
  const Tensor centered = x - mean(x, 1, true);
  return matmul(centered, centered.transpose(0, 1)) * (1 / (static_cast<double>(x.size(1)) - correction));
}

/// Their correlations: covariances divided by both deviations.
inline Tensor corrcoef(const Tensor& x) {
  require(x.dim() == 2, "corrcoef: expected [C, N], got ", x.shape());
  const Tensor covariances = cov(x), scales = rsqrt(diagonal(covariances));
  return covariances * scales.unsqueeze(0) * scales.unsqueeze(1);
}

}  // namespace cladtorch
