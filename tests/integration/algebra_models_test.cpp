// A model of einsum, padding, linear systems and reductions over several dimensions, whose backward pass the
// compiler writes: gradients against differences.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include "cladtorch/nn/nn.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/testing/gradcheck.h"

namespace {

using namespace cladtorch;

struct Model {
  nn::Linear in;
  Tensor mixing;   ///< [C, C]
  Tensor weights;  ///< of the classes

  explicit Model(Random& random)
      : in(3, 4, random), mixing(randn({4, 4}, random)), weights(rand({5}, random)) {
    weights.copy_from(weights + 0.5);
  }
  CLADTORCH_PARAMETERS(in, mixing, weights)
};

/// Scores of pairs of places in a padded sequence.
Tensor scores_of(const Model& model, const Tensor& x) {
  const Tensor h = cladtorch::tanh(model.in.forward(x) * 20);
  const Tensor padded = pad(h, {0, 0, 1, 2}, PadMode::circular);
  return einsum("btc,cd,bsd->bts", {padded, model.mixing, padded});
}

double loss(const Model& model, const Tensor& x, const Tensor& labels) {
  const Tensor scores = scores_of(model, x);
  const Tensor centered =
      (scores - mean(scores, {1, 2}, true)) / (cladtorch::std(scores, {1, 2}, true) + 0.1);
  const Tensor logits = chunk(centered, 2, 1)[0].narrow(2, 0, 5);
  const Tensor spread = amax(scores, {0, 2}) - amin(scores, {0, 2}) + logsumexp(scores, {0, 1});
  return cross_entropy(logits, labels, {.weight = model.weights, .label_smoothing = 0.1}).item() +
         0.1 * mean(square(spread)).item() + 0.01 * linalg::vector_norm(triu(scores, 1), 3).item();
}

/// A regression on the scores, and the determinant of its matrix.
double regression(const Model& model, const Tensor& x) {
  const Tensor scores = scores_of(model, x);
  const Tensor gram = einsum("bij,bkj->bik", {scores, scores}) * 0.1 + eye(scores.size(1), DType::float64);
  const Tensor right = roll(scores, 1, 2).narrow(2, 0, 2);
  const Tensor solution = linalg::solve(gram, right);
  const linalg::LogDeterminant determinant = linalg::slogdet(gram);
  const Tensor l = linalg::cholesky(gram);
  return mean(square(solution)).item() + 0.01 * sum(determinant.logabsdet).item() +
         0.01 * sum(diagonal(l, 0, 1, 2)).item() + 0.01 * sum(linalg::eigvalsh(gram).select(-1, 5)).item() +
         0.01 * mean(square(linalg::lstsq(gram.narrow(2, 0, 2), right))).item() +
         0.01 * mean(square(linalg::inv(gram))).item() +
         0.01 * sum(linalg::svdvals(scores).select(-1, 0)).item();
}

class AlgebraModels : public ::testing::Test {
 protected:
  Random random_{3};
  Model model_{random_};
  Tensor x_ = randn({3, 3, 3}, random_, DType::float64);
  Tensor labels_ = from_values<int32_t>({3, 3}, {4, 0, 2, 1, -100, 3, 3, 0, 1});
};

TEST_F(AlgebraModels, GradientsMatchDifferences) {
  auto step = clad::gradient(loss, "model");
  EXPECT_TRUE(gradcheck(
      model_, [&](const Model& model) { return loss(model, x_, labels_); },
      [&](const Model& model, Model* d) { step.execute(model, x_, labels_, d); }));
}

TEST_F(AlgebraModels, GradientsThroughLinearSystemsMatchDifferences) {
  if (!linalg::available()) GTEST_SKIP() << "this build has no LAPACK";
  auto step = clad::gradient(regression, "model");
  EXPECT_TRUE(gradcheck(
      model_, [&](const Model& model) { return regression(model, x_); },
      [&](const Model& model, Model* d) { step.execute(model, x_, d); }));
}

TEST_F(AlgebraModels, FrozenParametersGetNoGradient) {
  Model model = with_dtype(model_, DType::float64);
  model.mixing.set_frozen(true);
  Model gradient = like(model);
  auto step = clad::gradient(loss, "model");
  step.execute(model, x_, labels_, &gradient);
  EXPECT_TRUE(gradient.mixing.is_gradient_sink());
  EXPECT_GT(norm(gradient.in.weight).item(), 0);
}

}  // namespace
