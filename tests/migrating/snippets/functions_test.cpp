// The C++ of docs/migrating-from-pytorch.md about functions, compiled and run. guide_test.cpp checks that
// none is missing in this folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cladtorch/cladtorch.h"
#include "tests/migrating/snippets/values.h"
#include "tests/support/tokens.h"

namespace cladtorch {
using ::testing::ElementsAre;
using testing::random_tokens;
using testing::values;

namespace {

TEST(Migrating, Functions) {
  Random random(42);
  const int64_t B = 2, T = 5, C = 8, n_head = 2;
  const Tensor x = randn({B, T, C}, random), y = randn({B, T, C}, random);
  const Tensor weight = ones({C}), bias = zeros({C}), head = randn({7, C}, random);
  {
    const Tensor weight = randn({3, C}, random), bias = zeros({3}), table = randn({7, C}, random);
    const Tensor ids = random_tokens({B, T}, 7, 1);
    EXPECT_EQ(linear(x, weight, bias).shape(), (Shape{B, T, 3}));
    EXPECT_EQ(embedding(ids, table).shape(), x.shape());
    const Tensor flat = ids.flatten(), offsets = from_values<int64_t>({2}, {0, T});
    EXPECT_EQ(embedding_bag(ids, table).shape(), (Shape{B, C}));
    EXPECT_EQ(embedding_bag(flat, table, offsets, BagMode::sum).shape(), (Shape{B, C}));
    EXPECT_EQ(values(linear_gelu_tanh(x, weight, bias)), values(gelu_tanh(linear(x, weight, bias))));
    const Tensor w = weight, b = bias, p = randn({2, 3}, random), c = zeros({2});
    EXPECT_EQ(values(mlp_gelu_tanh(x, w, b, p, c)), values(linear(gelu_tanh(linear(x, w, b)), p, c)));
  }
  EXPECT_GE(values(relu(x))[0], 0);
  EXPECT_NEAR(values(silu(x))[3], values(x)[3] * values(sigmoid(x))[3], 1e-6);
  EXPECT_LE(values(tanh(x))[3], 1);
  EXPECT_NEAR(values(exp(x))[3], std::exp(values(x)[3]), 1e-6);
  {
    const Tensor x = exp(y);
    EXPECT_NEAR(values(log(x))[3], values(y)[3], 1e-5);
    EXPECT_NEAR(values(sqrt(x))[3], std::sqrt(values(x)[3]), 1e-6);
    EXPECT_NEAR(values(rsqrt(x))[3], 1 / std::sqrt(values(x)[3]), 1e-6);
  }
  EXPECT_NEAR(values(erf(x))[3], std::erf(values(x)[3]), 1e-6);
  const auto near = [](const Tensor& got, double expected) {
    EXPECT_NEAR(values(got)[3], expected, 1e-5 * (1 + std::abs(expected)));
  };
  {
    const double v = values(x)[3], e = std::exp(v), bend = std::expm1(std::fmin(v, 0));
    near(leaky_relu(x, 0.2), v > 0 ? v : 0.2 * v);
    near(elu(x), v > 0 ? v : bend);
    near(celu(x), v > 0 ? v : bend);
    near(selu(x), 1.050701 * (v > 0 ? v : 1.673263 * bend));
    near(relu6(x), std::clamp(v, 0.0, 6.0));
    near(softplus(x), std::log1p(e));
    near(logsigmoid(x), -std::log1p(1 / e));
    near(mish(x), v * std::tanh(std::log1p(e)));
    near(softsign(x), v / (1 + std::abs(v)));
    near(tanhshrink(x), v - std::tanh(v));
    near(hardtanh(x), std::clamp(v, -1.0, 1.0));
    near(clamp(x, -1, 1), std::clamp(v, -1.0, 1.0));
    near(hardsigmoid(x), std::clamp(v / 6 + 0.5, 0.0, 1.0));
    near(hardswish(x), v * std::clamp(v / 6 + 0.5, 0.0, 1.0));
    near(hardshrink(x), std::abs(v) > 0.5 ? v : 0);
    near(softshrink(x), v - std::clamp(v, -0.5, 0.5));
    near(threshold(x, 0.1, 20), v > 0.1 ? v : 20);
    near(exp2(x), std::exp2(v));
    near(expm1(x), std::expm1(v));
    near(erfc(x), std::erfc(v));
    near(square(x), v * v);
    near(reciprocal(x), 1 / v);
    near(pow(x, 3), v * v * v);
    near(abs(x), std::abs(v));
    near(sign(x), v > 0 ? 1 : -1);
    near(floor(x), std::floor(v));
    near(ceil(x), std::ceil(v));
    near(trunc(x), std::trunc(v));
    near(round(x), std::nearbyint(v));
    near(sin(x), std::sin(v));
    near(cos(x), std::cos(v));
    near(tan(x), std::tan(v));
    near(atan(x), std::atan(v));
    near(sinh(x), std::sinh(v));
    near(cosh(x), std::cosh(v));
    near(asinh(x), std::asinh(v));
  }
  {
    const Tensor x = 1 + exp(y);
    const double v = values(x)[3];
    near(log2(x), std::log2(v));
    near(log10(x), std::log10(v));
    near(log1p(x), std::log1p(v));
    near(acosh(x), std::acosh(v));
  }
  {
    const double v = values(x)[3], w = values(y)[3];
    near(maximum(x, y), std::fmax(v, w));
    near(minimum(x, y), std::fmin(v, w));
    near(atan2(x, y), std::atan2(v, w));
    near(hypot(x, y), std::hypot(v, w));
    near(logaddexp(x, y), std::log(std::exp(v) + std::exp(w)));
    near(remainder(x, y), v - w * std::floor(v / w));
    near(prelu(x, weight), v > 0 ? v : v * values(weight)[3]);
  }
  {
    const Tensor x = exp(weight + bias), y = 1 + x;
    near(pow(x, y), std::pow(values(x)[3], values(y)[3]));
    near(xlogy(x, y), values(x)[3] * std::log(values(y)[3]));
  }
  {
    const Tensor x = sigmoid(y);
    const double v = values(x)[3];
    near(asin(x), std::asin(v));
    near(acos(x), std::acos(v));
    near(atanh(x), std::atanh(v));
  }
  EXPECT_LE(values(gelu_tanh(x))[3], values(relu(x))[3]);
  EXPECT_NEAR(values(gelu_erf(x))[3], values(gelu_tanh(x))[3], 1e-3);
  {
    const Tensor x = from_values<float>({2, 2}, {0.2f, 0.9f, 0.5f, 0.3f}), y = ones({2, 2});
    const auto numbers = [](const Tensor& got, const std::vector<double>& expected) {
      const std::vector<float> found = values(got);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
    };
    numbers(cat({x, y}, 1), {0.2, 0.9, 1, 1, 0.5, 0.3, 1, 1});
    numbers(stack({x, y}), {0.2, 0.9, 0.5, 0.3, 1, 1, 1, 1});
    numbers(amax(x, 1), {0.9, 0.5});
    numbers(amin(x, -1, true), {0.2, 0.3});
    EXPECT_EQ(argmax(x, 1).select(0, 0).item(), 1);
    EXPECT_EQ(argmin(x, 1).select(0, 1).item(), 1);
    numbers(cumsum(x, 1), {0.2, 1.1, 0.5, 0.8});
    EXPECT_NEAR(prod(x).item(), 0.027, 1e-7);
    numbers(prod(x, 1), {0.18, 0.15});
    numbers(cumprod(x, 1), {0.2, 0.18, 0.5, 0.15});
    numbers(cummax(x, 1).values, {0.2, 0.9, 0.5, 0.5});
    numbers(sort(x, 1, true).values, {0.9, 0.2, 0.5, 0.3});
    EXPECT_EQ(argsort(x, 1).to_string(), "tensor([[0, 1],\n        [1, 0]], shape=[2,2], dtype=int32)");
    numbers(topk(x, 2).values, {0.9, 0.2, 0.5, 0.3});
    numbers(kthvalue(x, 2).values, {0.9, 0.5});
    numbers(median(x, 1).values, {0.2, 0.3});
    {
      EXPECT_EQ(any(x < y).item() + any(x >= 2).item() + all(eq(x, y)).item() + all(ne(x, 2)).item(), 2);
      const Tensor p = x > 0.4, q = from_values<bool>({2}, {true, false});
      numbers(logical_and(p, q).to(DType::float32), {0, 0, 1, 0});
      numbers(logical_or(p, q).to(DType::float32), {1, 1, 1, 0});
      numbers(logical_xor(p, q).to(DType::float32), {1, 1, 0, 0});
      numbers(logical_not(p).to(DType::float32), {1, 0, 0, 1});
      EXPECT_EQ(any(isnan(x)).item() + any(isinf(x)).item() + all(isfinite(x)).item(), 1);
      EXPECT_EQ(any(p).item() + any(all(p, 1)).item(), 1);
      numbers(where(p, x, y), {1, 0.9, 0.5, 1});
      numbers(where(p, x, 0), {0, 0.9, 0.5, 0});
      numbers(exp(masked_fill(x, p, -INFINITY)), {std::exp(0.2), 0, 0, std::exp(0.3)});
      numbers(masked_select(x, p), {0.9, 0.5});
      EXPECT_EQ(nonzero(p).shape(), (Shape{2, 2}));
      const Tensor i = from_values<int64_t>({2}, {1, 1}), at = i.unsqueeze(1), z = full({2, 2}, 0.1);
      numbers(index_select(x, 1, i), {0.9, 0.9, 0.3, 0.3});
      numbers(index_add(x, 1, i, z), {0.2, 1.1, 0.5, 0.5});
      numbers(gather(x, 1, at), {0.9, 0.3});
      numbers(take_along_dim(x, at, 1), {0.9, 0.3});
      numbers(scatter(x, 1, at, z), {0.2, 0.1, 0.5, 0.1});
      numbers(scatter(x, 1, at, 0.5), {0.2, 0.5, 0.5, 0.5});
      numbers(scatter_add(x, 1, at, z), {0.2, 1, 0.5, 0.4});
    }
    numbers(flip(x, 1), {0.9, 0.2, 0.3, 0.5});
    numbers(var(x, 1), {0.245, 0.02});
    numbers(cladtorch::std(x, 1), {std::sqrt(0.245), std::sqrt(0.02)});
    numbers(norm(x, 1), {std::sqrt(0.85), std::sqrt(0.34)});
    EXPECT_NEAR(norm(x).item(), std::sqrt(1.19), 1e-6);
    numbers(logsumexp(x, 1),
            {std::log(std::exp(0.2) + std::exp(0.9)), std::log(std::exp(0.5) + std::exp(0.3))});
    numbers(lerp(x, y, 0.3), {0.44, 0.93, 0.65, 0.51});
    EXPECT_NEAR(l1_loss(x, y).item(), 0.525, 1e-6);
    EXPECT_NEAR(smooth_l1_loss(x, y).item(), 0.17375, 1e-6);
    EXPECT_NEAR(huber_loss(x, y, Reduction::sum).item(), 0.695, 1e-6);
    const Tensor p = x, t = y;
    EXPECT_NEAR(binary_cross_entropy(p, t).item(), -std::log(0.2 * 0.9 * 0.5 * 0.3) / 4, 1e-6);
    EXPECT_NEAR(binary_cross_entropy_with_logits(x, t).item(), mean(softplus(-x)).item(), 1e-6);
    EXPECT_NEAR(kl_div(x, t).item(), -0.475, 1e-6);
    numbers(cosine_similarity(x, y, -1), {1.1 / std::sqrt(1.7), 0.8 / std::sqrt(0.68)});
    numbers(glu(x), {0.2 / (1 + std::exp(-0.9)), 0.5 / (1 + std::exp(-0.3))});
    const Tensor u = x.select(0, 0), v = x.select(0, 1), w = y.select(0, 0);
    numbers(outer(u, v), {0.1, 0.06, 0.45, 0.27});
    EXPECT_NEAR(triplet_margin_loss(u, v, w).item(), norm(u - v).item() - norm(u - w).item() + 1, 1e-5);
  }
  const Tensor gate = x, up = y;
  EXPECT_NEAR(values(swiglu(gate, up))[3], values(silu(gate) * up)[3], 1e-6);
  EXPECT_NEAR(sum(softmax(x)).item(), B * T, 1e-5);
  EXPECT_NEAR(values(log_softmax(x))[3], std::log(values(softmax(x))[3]), 1e-5);
  const Tensor scores = matmul(x, y.transpose(1, 2));
  EXPECT_EQ(values(causal_mask(scores))[0], values(scores)[0]);
  EXPECT_EQ(values(causal_mask(scores))[1], -INFINITY);
  {
    const Tensor x = scores;
    EXPECT_EQ(values(tril(x))[1], 0);
  }
  EXPECT_NEAR(mean(layer_norm(x, weight, bias)).item(), 0, 1e-6);
  {
    const auto [s, normalized] = add_layer_norm(x, y, weight, bias);
    EXPECT_EQ(values(s), values(x + y));
    EXPECT_EQ(values(normalized), values(layer_norm(s, weight, bias)));
  }
  {
    const double eps = 1e-6;
    const auto [s, normalized] = add_rms_norm(x, y, weight, eps);
    EXPECT_EQ(values(s), values(x + y));
    EXPECT_EQ(values(normalized), values(rms_norm(s, weight, eps)));
  }
  const Tensor normed = rms_norm(x, weight, 1e-6);
  EXPECT_NEAR(mean(normed * normed).item(), 1, 1e-5);
  EXPECT_EQ(values(dropout(x, 0.1)), values(x));
  const RotaryFrequencies frequencies(RotaryConfig{}, C / n_head);
  const Tensor q = x, k = y, v = x;
  EXPECT_EQ(values(rotary_embedding(q, rotary_table(frequencies, 0, T)))[0], values(q)[0]);
  EXPECT_EQ(values(causal_attention(q, k, v, n_head))[0], values(v)[0]);  // the first position sees itself
  const Tensor logits = linear(x, head), targets = random_tokens({B, T}, 7, 1);
  EXPECT_NEAR(cross_entropy(logits, targets).item(), linear_cross_entropy(x, head, targets).item(), 1e-5);
  const Tensor log_probabilities = log_softmax(logits);
  EXPECT_NEAR(nll_loss(log_probabilities, targets).item(), cross_entropy(logits, targets).item(), 1e-5);
  EXPECT_EQ(mse_loss(x, x).item(), 0);
  EXPECT_GT(mse_loss(x, y).item(), 0);
  EXPECT_EQ(cross_entropy(logits, from_values<int32_t>({1, 1}, {-100}).expand({B, T})).item(), 0);
}

TEST(Migrating, ProductsAndLosses) {
  Random random(42);
  const Tensor a = randn({2, 3, 4}, random), b = randn({2, 4, 5}, random), c = randn({5}, random);
  const Tensor m = a.select(0, 0), n = b.select(0, 0), u = randn({3}, random);
  EXPECT_EQ(values(einsum("bij,bjk->bik", {a, b})), values(bmm(a, b)));
  EXPECT_EQ(addmm(c, m, n).shape(), (Shape{3, 5}));
  EXPECT_EQ(baddbmm(c, a, b, 0.5, 2).shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(kron(a, b).shape(), (Shape{4, 12, 20}));
  {
    const Tensor v = randn({4}, random);
    EXPECT_EQ(mv(m, v).shape(), (Shape{3}));
  }
  const Tensor v = randn({3}, random);
  EXPECT_NEAR(dot(u, v).item(), sum(u * v).item(), 1e-5);
  EXPECT_NEAR(dot(u, cross(u, v)).item(), 0, 1e-5);

  const Tensor scores = randn({4, 3}, random), labels = random_tokens({4}, 3, 1), w = ones({3});
  const Tensor x = rand({4, 3}, random), y = rand({4, 3}, random), variance = ones({4, 3});
  EXPECT_NEAR(cross_entropy(scores, labels, {.weight = w, .label_smoothing = 0.1}).item(),
              0.9 * cross_entropy(scores, labels).item() - 0.1 * mean(log_softmax(scores)).item(), 1e-5);
  EXPECT_GE(multi_margin_loss(scores, labels).item(), 0);
  EXPECT_GE(gaussian_nll_loss(x, y, variance).item(), 0);
  EXPECT_TRUE(std::isfinite(poisson_nll_loss(x, y, {.log_input = false}).item()));
  {
    const Tensor s = ones({4, 3});
    EXPECT_NEAR(hinge_embedding_loss(x, s).item(), mean(x).item(), 1e-6);
    EXPECT_GE(margin_ranking_loss(x, y, s).item(), 0);
    EXPECT_NEAR(soft_margin_loss(x, s).item(), mean(softplus(-x)).item(), 1e-6);
  }
  const Tensor s = ones({4});
  EXPECT_NEAR(cosine_embedding_loss(x, y, s).item(), 1 - mean(cosine_similarity(x, y, -1)).item(), 1e-5);
}

TEST(Migrating, CountsAndDistances) {
  const Tensor x = from_values<float>({2, 3}, {1, 2, 2, 4, 1, 6}), y = x + 0.5,
               sequence = from_values<float>({3}, {1, 2, 6});
  EXPECT_EQ(prod(x, {0, 1}).item(), 96);
  EXPECT_THAT(values(unique(x).output), ElementsAre(1, 2, 4, 6));
  EXPECT_EQ(unique_consecutive(x).output.numel(), 5);
  const Tensor ids = from_values<int32_t>({3}, {2, 0, 2}), weights = ones({3});
  EXPECT_THAT(values(bincount(ids).to(DType::float32)), values(bincount(ids, weights)));
  EXPECT_EQ(sum(histc(x, 4)).item(), 6);
  EXPECT_EQ(searchsorted(sequence, x).shape(), x.shape());
  EXPECT_THAT(values(bucketize(x, sequence, true).to(DType::float32)), ElementsAre(1, 2, 2, 2, 1, 3));
  EXPECT_FALSE(allclose(x, y));
  EXPECT_FALSE(any(isclose(x, y)).item());
  EXPECT_EQ(values(nan_to_num(x)), values(x));
  const std::vector<float> numbers = {1, 2};
  const std::span<const float> array = numbers;
  EXPECT_EQ(values(from_values<float>({2}, array)), numbers);

  const Tensor m = matmul(x, x.transpose(0, 1)), n = m + 1, u = sequence, v = u;
  EXPECT_EQ(vdot(u, v).item(), 41);
  EXPECT_EQ(trace(m).item(), sum(square(x)).item());
  EXPECT_EQ(cdist(m, n).shape(), (Shape{2, 2}));
  EXPECT_NEAR(pairwise_distance(m, n).select(0, 0).item(), std::sqrt(2), 1e-5);
  EXPECT_EQ(cov(m).shape(), corrcoef(m).shape());
}

TEST(Migrating, PlacesAndSequences) {
  Random random(42);
  const Tensor images = randn({2, 4, 6, 6}, random);
  const Tensor theta = from_values<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0}).expand({2, 2, 3});
  const Tensor grid = affine_grid(theta, {2, 4, 6, 6});
  EXPECT_TRUE(allclose(grid_sample(images, grid, {.padding_mode = GridPadding::border}), images, 1e-4, 1e-5));
  const Tensor log_probabilities = log_softmax(randn({5, 2, 4}, random));
  const Tensor targets = from_values<int32_t>({2, 2}, {1, 2, 3, 3}),
               input_lengths = full({2}, 5, DType::int32), target_lengths = full({2}, 2, DType::int32);
  EXPECT_GT(ctc_loss(log_probabilities, targets, input_lengths, target_lengths).item(), 0);
  const Tensor scores = randn({1, 3}, random), named = from_values<int32_t>({1, 3}, {2, -1, -1});
  EXPECT_GE(multilabel_margin_loss(scores, named).item(), 0);
  const Tensor x = scores, y = zeros({1, 3});
  EXPECT_NEAR(multilabel_soft_margin_loss(x, y).item(), mean(softplus(x)).item(), 1e-5);
}

TEST(Migrating, LinearAlgebraAndMetrics) {
  const Tensor scores = from_values<float>({2, 3}, {1, 3, 2, 5, 0, 1}),
               labels = from_values<int32_t>({2}, {2, 0});
  EXPECT_EQ(accuracy(scores, labels), 0.5);
  EXPECT_EQ(topk_accuracy(scores, labels, 2), 1);
  const Tensor predictions = argmax(scores, -1);
  EXPECT_EQ(confusion_matrix(predictions, labels, 3).select(0, 2).select(0, 1).item(), 1);
  EXPECT_NEAR(class_scores(predictions, labels, 3).recall, 1 / 3.0, 1e-6);
  if (!linalg::available()) GTEST_SKIP() << "this build has no LAPACK";
  Random random(42);
  const Tensor tall = randn({4, 2}, random), b = randn({4, 1}, random), r = linalg::qr(tall).R;
  EXPECT_EQ(linalg::qr(tall).Q.shape(), tall.shape());
  EXPECT_EQ(linalg::lstsq(tall, b).shape(), (Shape{2, 1}));
  const Tensor a = from_values<float>({2, 2}, {4, 2, 2, 3});
  EXPECT_NEAR(linalg::det(a).item(), 8, 1e-5);
  EXPECT_NEAR(linalg::slogdet(a).logabsdet.item(), std::log(8.0), 1e-5);
  EXPECT_THAT(values(linalg::cholesky(a)), ElementsAre(2, 0, 1, ::testing::FloatEq(std::sqrt(2.0f))));
  EXPECT_NEAR(sum(linalg::eigh(a).eigenvalues).item(), sum(linalg::eigvalsh(a)).item(), 1e-5);
  EXPECT_EQ(linalg::svdvals(tall).shape(), linalg::svd(tall).S.shape());
  EXPECT_TRUE(allclose(matmul(linalg::pinv(tall), b), linalg::lstsq(tall, b), 1e-3, 1e-4));
  EXPECT_EQ(linalg::matrix_rank(tall).item(), 2);
  EXPECT_NEAR(linalg::matrix_norm(a).item(), std::sqrt(33.0), 1e-5);
  EXPECT_NEAR(linalg::matrix_norm(a, linalg::MatrixNorm::nuc).item(), 7, 1e-5);
  EXPECT_LE(linalg::matrix_norm(a, 2).item(), 7);
  {
    const Tensor b = ones({2, 1});
    EXPECT_NEAR(linalg::solve(a, b).select(0, 0).item(), sum(linalg::inv(a), -1).select(0, 0).item(), 1e-6);
    EXPECT_EQ(linalg::solve_triangular(r, b, true).shape(), b.shape());
  }
}

}  // namespace
}  // namespace cladtorch
