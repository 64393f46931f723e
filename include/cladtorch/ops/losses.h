// More losses that are made of other operations, in the names and with the defaults of PyTorch. Targets of 1
// and -1 are tensors of the dtype of the operands.
#pragma once

#include <cmath>
#include <numbers>

#include "cladtorch/ops/composed.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch {

struct CrossEntropyOptions {
  Tensor weight{};  ///< of each class, [V]; undefined: all are 1
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;  ///< the mean is divided by the sum of the targets' weights
  double label_smoothing =
      0;  ///< this share of the target is spread over all classes. Source: Szegedy et al., 2016
};

namespace detail {
/// 1 at the target's place among `classes`, else 0: [..., classes], with zeros for ignored targets. The
/// second is 1 for each target that counts, else 0: [...]. Throw Error for a target that is out of range.
CLAD_NONDIFFERENTIABLE Tensor targets_one_hot(const char* operation, const Tensor& targets, int64_t classes,
                                              int64_t ignore_index, DType dtype);
CLAD_NONDIFFERENTIABLE Tensor targets_counted(const Tensor& targets, int64_t ignore_index, DType dtype);
/// 1 for each class that targets [..., C] name in front of their first -1, else 0.
CLAD_NONDIFFERENTIABLE Tensor named_classes(const Tensor& targets, const Shape& scores, DType dtype);

/// The sum of losses divided by that of weights; 0 if there are none.
inline Tensor weighted_mean(const Tensor& losses, const Tensor& weights) {
  return sum(losses) / clamp(sum(weights), 1e-38, INFINITY);
}
}  // namespace detail

/// -log softmax(logits)[target] of each row: logits [..., V], int32 targets [...]. The derivative is by the
/// logits, the weights and the smoothing. cross_entropy(logits, targets) is faster where these options are
/// not needed.
inline Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  const Tensor x = logits.to(logits.dtype() == DType::float64 ? DType::float64 : DType::float32);
  const int64_t classes = x.size(-1);
  const Tensor places =
      detail::targets_one_hot("cross_entropy", targets, classes, options.ignore_index, x.dtype());
  Tensor counted = detail::targets_counted(targets, options.ignore_index, x.dtype());
  Tensor surprise = -log_softmax(x);
  const Tensor all = counted;
  if (options.weight.defined()) {
    require(options.weight.dim() == 1 && options.weight.size(0) == classes,
            "cross_entropy: expected weights [", classes, "], got ", options.weight.shape());
    const Tensor weight = options.weight.to(x.dtype());
    surprise = surprise * weight;
    counted = sum(places * weight, -1);
  }
  const double epsilon = options.label_smoothing;
  const Tensor losses = sum(places * surprise, -1) * (1 - epsilon) +
                        sum(surprise, -1) * all * (epsilon / static_cast<double>(classes));
  if (options.reduction == Reduction::mean) return detail::weighted_mean(losses, counted);
  return reduced(losses, options.reduction);
}

/// x where y is 1, max(margin - x, 0) where y is -1.
inline Tensor hinge_embedding_loss(const Tensor& x, const Tensor& y, double margin = 1,
                                   Reduction reduction = Reduction::mean) {
  return reduced(x * (1 + y) * 0.5 + relu(margin - x) * (1 - y) * 0.5, reduction);
}

/// max(margin - y (x1 - x2), 0): y is 1 if x1 should be the larger one, else -1.
inline Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& y, double margin = 0,
                                  Reduction reduction = Reduction::mean) {
  return reduced(relu(margin - y * (x1 - x2)), reduction);
}

/// log(1 + exp(-y x)), without overflow.
inline Tensor soft_margin_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean) {
  return reduced(-logsigmoid(y * x), reduction);
}

/// 1 - cos(x1, x2) of rows [..., C] where y [...] is 1, max(cos(x1, x2) - margin, 0) where it is -1.
inline Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& y, double margin = 0,
                                    Reduction reduction = Reduction::mean) {
  const double epsilon = 1e-12;  // as PyTorch's
  const Tensor lengths = (sum(square(x1), -1) + epsilon) * (sum(square(x2), -1) + epsilon);
  const Tensor cosine = sum(x1 * x2, -1) * rsqrt(lengths);
  return reduced((1 - cosine) * (1 + y) * 0.5 + relu(cosine - margin) * (1 - y) * 0.5, reduction);
}

struct PoissonNLLOptions {
  bool log_input = true;  ///< x is the logarithm of the rate
  bool full = false;      ///< adds Stirling's approximation of log(target!) where the target exceeds 1
  double eps = 1e-8;      ///< added to a rate before its logarithm
  Reduction reduction = Reduction::mean;
};
/// exp(x) - target x, or x - target log(x + eps): -log p(target) of Poisson's distribution without a
/// constant.
inline Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNLLOptions& options = {}) {
  Tensor losses;
  if (options.log_input) {
    losses = exp(x) - target * x;
  } else {
    losses = x - target * log(x + options.eps);
  }
  if (options.full) {
    const Tensor n = clamp(target, 1, INFINITY);
    losses = losses + sign(relu(target - 1)) * (n * log(n) - n + log(n * (2 * std::numbers::pi)) * 0.5);
  }
  return reduced(losses, options.reduction);
}

struct GaussianNLLOptions {
  bool full = false;  ///< adds log(2 pi) / 2
  double eps = 1e-6;  ///< the least variance
  Reduction reduction = Reduction::mean;
};
/// (log(var) + (x - target)^2 / var) / 2 with var of at least eps. Source: Nix and Weigend, 1994.
inline Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& variance,
                                const GaussianNLLOptions& options = {}) {
  const Tensor v = clamp(variance, options.eps, INFINITY);
  Tensor losses = (log(v) + square(x - target) / v) * 0.5;
  if (options.full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return reduced(losses, options.reduction);
}

/// The sum of max(margin - x[target] + x[j], 0)^p over the other classes j, divided by their number C, for
/// scores x [..., C] and int32 targets [...]; p is 1 or 2.
inline Tensor multi_margin_loss(const Tensor& x, const Tensor& targets, int64_t p = 1, double margin = 1,
                                Reduction reduction = Reduction::mean) {
  require(p == 1 || p == 2, "multi_margin_loss: expected p of 1 or 2, got ", p);
  const int64_t classes = x.size(-1);
  const Tensor places = one_hot(targets, classes, x.dtype());
  Tensor excess = relu(x - sum(places * x, -1, true) + margin) * (1 - places);
  if (p == 2) excess = square(excess);
  return reduced(sum(excess, -1) * (1 / static_cast<double>(classes)), reduction);
}

/// The mean over C classes of binary_cross_entropy_with_logits(x, target), times the weights [C] unless they
/// are undefined: x and targets of 0 and 1 are [..., C].
inline Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                                          Reduction reduction = Reduction::mean) {
  Tensor losses = binary_cross_entropy_with_logits(x, target, Reduction::none);
  if (weight.defined()) losses = losses * weight;
  return reduced(mean(losses, -1), reduction);
}

/// The sum of max(1 - x[i] + x[j], 0) over all classes i that targets name and j that they do not, divided by
/// the number C of classes: scores x [..., C], and int32 or int64 targets [..., C], which name classes in
/// front of their first -1.
inline Tensor multilabel_margin_loss(const Tensor& x, const Tensor& targets,
                                     Reduction reduction = Reduction::mean) {
  const Tensor named = detail::named_classes(targets, x.shape(), x.dtype());
  const Tensor excess = relu(x.unsqueeze(-2) - x.unsqueeze(-1) + 1);  // [..., i, j]
  const Tensor pairs = named.unsqueeze(-1) * (1 - named.unsqueeze(-2));
  return reduced(sum(sum(excess * pairs, -1), -1) * (1 / static_cast<double>(x.size(-1))), reduction);
}

}  // namespace cladtorch
