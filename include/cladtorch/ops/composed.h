// Operations that are made of others, in the names of PyTorch: the compiler differentiates them like a user's
// code.
#pragma once

#include <clad/opaque.h>

#include <cmath>
#include <vector>

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/along.h"
#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/dropout.h"
#include "cladtorch/ops/loss.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/ops/reduce.h"

namespace cladtorch {

/// Tensors of one shape along a new dimension.
inline Tensor stack(const std::vector<Tensor>& parts, int64_t dim = 0) {
  std::vector<Tensor> expanded;
  expanded.reserve(parts.size());
  for (const Tensor& part : parts) expanded.push_back(part.unsqueeze(dim));
  return cat(expanded, dim);
}
template <size_t N>
Tensor stack(const Tensor (&parts)[N], int64_t dim = 0) {
  Tensor expanded[N];
  for (size_t i = 0; i < N; ++i) expanded[i] = parts[i].unsqueeze(dim);
  return cat(expanded, dim);
}

/// start + weight (end - start).
inline Tensor lerp(const Tensor& start, const Tensor& end, double weight) {
  return start + (end - start) * weight;
}

/// a[i] b[j] for vectors a and b.
inline Tensor outer(const Tensor& a, const Tensor& b) { return a.unsqueeze(1) * b.unsqueeze(0); }

/// softmax(q k^T / sqrt(D) + mask) v for q [..., T, D], k [..., S, D] and v [..., S, E]: [..., T, E]. The
/// mask broadcasts to the scores [..., T, S], and -infinity hides a position; undefined, it hides none.
/// Inside a TrainingScope weights are dropped. The scores are stored; causal_attention does not store them.
inline Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const Tensor& mask = {}, double dropout_p = 0) {
  Tensor scores = matmul(q * (1 / std::sqrt(static_cast<double>(q.size(-1)))), k.transpose(-1, -2));
  if (mask.defined()) scores = scores + mask;
  return matmul(dropout(softmax(scores), dropout_p), v);
}

/// The first half of x along `dim` times the sigmoid of the second. Source: Dauphin et al., 2016.
inline Tensor glu(const Tensor& x, int64_t dim = -1) {
  const int64_t half = x.size(dim) / 2;
  require(x.size(dim) == 2 * half, "glu: expected an even extent, got ", x.size(dim), " in dimension ", dim);
  return x.narrow(dim, 0, half) * sigmoid(x.narrow(dim, half, half));
}

namespace detail {
/// sqrt(x) of a sum of squares, whose derivative at 0 is taken to be finite: that of its terms is 0.
inline Tensor root(const Tensor& x) { return x * rsqrt(clamp(x, 1e-38, INFINITY)); }
}  // namespace detail

/// The mean of the squares of x - mean(x) along `dim`, of which there are n; the divisor is n - correction.
inline Tensor var(const Tensor& x, int64_t dim, bool keepdim = false, double correction = 1) {
  const double divisor = static_cast<double>(x.size(dim)) - correction;
  return sum(square(x - mean(x, dim, true)), dim, keepdim) * (1 / divisor);
}
inline Tensor std(const Tensor& x, int64_t dim, bool keepdim = false, double correction = 1) {
  return detail::root(var(x, dim, keepdim, correction));
}

/// The square root of the sum of squares, whose derivative at 0 is 0: of all elements or along one dimension.
inline Tensor norm(const Tensor& x) { return detail::root(sum(square(x))); }
inline Tensor norm(const Tensor& x, int64_t dim, bool keepdim = false) {
  return detail::root(sum(square(x), dim, keepdim));
}

/// x divided by its norm along `dim`, or by eps if that is larger. As torch.nn.functional.normalize.
inline Tensor normalize(const Tensor& x, int64_t dim = 1, double eps = 1e-12) {
  return x / clamp(norm(x, dim, true), eps, INFINITY);
}

/// log(sum(exp(x))) along `dim`, with the maximum subtracted first.
inline Tensor logsumexp(const Tensor& x, int64_t dim, bool keepdim = false) {
  const double most = x.dtype() == DType::float64 ? 1e308 : 3e38;  // an infinite maximum is not subtracted
  const Tensor shift = clad::stop_gradient(clamp(amax(x, dim, true), -most, most));
  const Tensor y = log(sum(exp(x - shift), dim, true)) + shift;
  if (keepdim) return y;
  return y.squeeze(dim);
}

/// a . b / (max(|a|, epsilon) max(|b|, epsilon)) along `dim`.
inline Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t dim = 1, double epsilon = 1e-8) {
  const Tensor lengths = clamp(norm(a, dim), epsilon, INFINITY) * clamp(norm(b, dim), epsilon, INFINITY);
  return sum(a * b, dim) / lengths;
}

/// What becomes of the losses of single elements.
enum class Reduction { mean, sum, none };
inline Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  if (reduction == Reduction::sum) return sum(losses);
  return mean(losses);
}

/// |prediction - target|.
inline Tensor l1_loss(const Tensor& prediction, const Tensor& target, Reduction reduction = Reduction::mean) {
  return reduced(abs(prediction - target), reduction);
}

/// Half the square of an error of at most delta, and a straight line from there. Source: Huber, 1964.
inline Tensor huber_loss(const Tensor& prediction, const Tensor& target,
                         Reduction reduction = Reduction::mean, double delta = 1) {
  const Tensor error = abs(prediction - target), bent = clamp(error, -INFINITY, delta);
  return reduced(bent * (error - bent * 0.5), reduction);
}
/// huber_loss(prediction, target) / beta, with beta for delta; l1_loss if that is 0.
inline Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target,
                             Reduction reduction = Reduction::mean, double beta = 1) {
  if (beta == 0) return l1_loss(prediction, target, reduction);
  return huber_loss(prediction, target, reduction, beta) * (1 / beta);
}

/// -(t log p + (1 - t) log(1 - p)) for probabilities p; logarithms are at least -100.
inline Tensor binary_cross_entropy(const Tensor& p, const Tensor& target,
                                   Reduction reduction = Reduction::mean) {
  const Tensor yes = pointwise(functions::BoundedLog{}, p), no = pointwise(functions::BoundedLog{}, 1 - p);
  return reduced(-(target * yes + (1 - target) * no), reduction);
}
/// The same of p = sigmoid(x), without overflow.
inline Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                               Reduction reduction = Reduction::mean) {
  return reduced((1 - target) * x - logsigmoid(x), reduction);
}

/// target (log target - x) for log-probabilities x: the divergence of Kullback and Leibler. PyTorch's
/// "batchmean" is the sum divided by the number of rows.
inline Tensor kl_div(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean) {
  return reduced(xlogy(target, target) - target * x, reduction);
}

/// max(|anchor - positive| - |anchor - negative| + margin, 0) of rows [..., C]. Source: Balntas et al., 2016.
inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                  double margin = 1, Reduction reduction = Reduction::mean) {
  const double epsilon = 1e-6;  // PyTorch adds it to each difference
  const Tensor near = norm(anchor - positive + epsilon, -1), far = norm(anchor - negative + epsilon, -1);
  return reduced(relu(near - far + margin), reduction);
}

}  // namespace cladtorch
