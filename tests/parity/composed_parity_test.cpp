// Operations that are made of others, which the plugin differentiates here as in a user's program, against
// values and gradients of PyTorch.
#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/ops/ops.h"
#include "tests/parity/reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

struct Operands {
  Tensor a, b, c;
};
constexpr std::pair<const char*, Tensor Operands::*> places[] = {
    {"a", &Operands::a}, {"b", &Operands::b}, {"c", &Operands::c}};

/// Checks f, whose value is y, and its gradient: `gradient` is of the sum of y d_y.
template <class Value, class Gradient>
void check(const std::string& name, Value value, Gradient gradient) {
  if (!linalg::available() && (name == "lstsq" || name == "right_triangle" || name == "matrix_norms"))
    GTEST_SKIP() << "this build has no LAPACK";
  const testing::Reference reference;
  const std::string prefix = "composed_" + name + "/";
  Operands x, d;
  for (const auto& [key, place] : places)
    if (reference.contains(prefix + key)) x.*place = reference[prefix + key];
  EXPECT_LT(testing::relative_difference(value(x), reference[prefix + "y"]), 1e-5);
  gradient.execute(x, reference[prefix + "d_y"], &d);
  for (const auto& [key, place] : places) {
    ASSERT_EQ((d.*place).defined(), reference.contains(prefix + "d_" + key)) << key;
    if (!(d.*place).defined()) continue;
    EXPECT_LT(testing::relative_difference(d.*place, reference[prefix + "d_" + key]), 1e-5) << key;
  }
}

#define CHECK_COMPOSED(name, call)                             \
  Tensor value_of_##name(const Operands& x) { return call; }   \
  double sum_of_##name(const Operands& x, const Tensor& d_y) { \
    return sum(mul(value_of_##name(x), d_y)).item();           \
  }                                                            \
  TEST(ComposedParity, name) { check(#name, value_of_##name, clad::gradient(sum_of_##name, "x")); }

CHECK_COMPOSED(stack, stack({x.a, x.b, x.a}, 1))
CHECK_COMPOSED(lerp, lerp(x.a, x.b, 0.3))
CHECK_COMPOSED(outer, outer(x.a.select(0, 0), x.b.select(0, 0)))
CHECK_COMPOSED(glu, glu(x.a, 0))
CHECK_COMPOSED(var, var(x.a, 1))
CHECK_COMPOSED(std, ::cladtorch::std(x.a, 0, true))
CHECK_COMPOSED(norm, norm(x.a, 1))
CHECK_COMPOSED(logsumexp, logsumexp(x.a, 0))
CHECK_COMPOSED(cosine_similarity, cosine_similarity(x.a, x.b))
CHECK_COMPOSED(l1_loss, l1_loss(x.a, x.b))
CHECK_COMPOSED(huber_loss, huber_loss(x.a, x.b, Reduction::sum, 0.3))
CHECK_COMPOSED(smooth_l1_loss, smooth_l1_loss(x.a, x.b, Reduction::none, 0.4))
CHECK_COMPOSED(binary_cross_entropy, binary_cross_entropy(x.a, x.b))
CHECK_COMPOSED(saturated, binary_cross_entropy(x.a, round(x.b), Reduction::none))
CHECK_COMPOSED(binary_cross_entropy_with_logits, binary_cross_entropy_with_logits(x.a, x.b))
CHECK_COMPOSED(kl_div, kl_div(x.a, x.b, Reduction::sum))
CHECK_COMPOSED(triplet_margin_loss, triplet_margin_loss(x.a, x.b, x.c))

Tensor int64s(const Shape& shape, std::initializer_list<int64_t> values) {
  return from_values<int64_t>(shape, values);
}
Tensor some_indices() { return int64s({3, 2}, {7, 0, 2, 2, 5, 1}); }

CHECK_COMPOSED(masked_fill, masked_fill(x.a, x.b > 0.5, 0.25))
CHECK_COMPOSED(masked_select, masked_select(x.a, x.b > 0.5))
CHECK_COMPOSED(index_select, index_select(x.a, 1, int64s({4}, {3, 0, 3, 7})))
CHECK_COMPOSED(index_add, index_add(x.a, 0, int64s({3}, {1, 4, 1}), x.b.narrow(0, 0, 3)))
CHECK_COMPOSED(take_along_dim, take_along_dim(x.a, argsort(x.b.narrow(0, 0, 1), 1), 1))
CHECK_COMPOSED(scatter_number, scatter(x.a, 1, some_indices(), 0.7))
CHECK_COMPOSED(sort, sort(x.a, 1, true).values)
CHECK_COMPOSED(topk, topk(x.a, 3, 1).values)
CHECK_COMPOSED(topk_smallest, topk(x.a, 2, 0, false).values)
CHECK_COMPOSED(kthvalue, kthvalue(x.a, 2, 0, true).values)
CHECK_COMPOSED(median, median(x.a, 1).values)
CHECK_COMPOSED(median_of_all, median(x.a))
CHECK_COMPOSED(cummax, cummax(x.a, 1).values)
CHECK_COMPOSED(cummin, cummin(x.a, 0).values)
CHECK_COMPOSED(prod, prod(x.a, 1, true))
CHECK_COMPOSED(prod_with_zeros, prod(where(x.b > 0.15, x.a, 0), 1))
CHECK_COMPOSED(prod_of_all, prod(x.a))
CHECK_COMPOSED(cumprod_with_zeros, cumprod(where(x.b > 0.15, x.a, 0), 1))
CHECK_COMPOSED(embedding_bag, embedding_bag(int64s({3, 2}, {5, 0, 2, 2, 4, 1}), x.a))
CHECK_COMPOSED(embedding_bag_sum,
               embedding_bag(int64s({5}, {3, 0, 3, 1, 5}), x.a, int64s({3}, {0, 2, 2}), BagMode::sum))
CHECK_COMPOSED(embedding_bag_mean,
               embedding_bag(int64s({5}, {3, 0, 3, 1, 5}), x.a, int64s({3}, {0, 2, 2}), BagMode::mean))

Tensor signs() { return from_values<float>({8}, {1, -1, -1, 1, 1, -1, 1, -1}); }
Tensor classes() { return from_values<int32_t>({6}, {3, 0, -100, 7, 2, 2}); }
Tensor all_classes() { return from_values<int32_t>({6}, {3, 0, 4, 7, 2, 2}); }
Tensor three(const Tensor& x) { return x.reshape({2, 3, 8}); }
Tensor product_of_pieces(const Tensor& x) {
  const std::vector<Tensor> pieces = chunk(x, 4, 1), rows = unbind(x);
  return pieces[3] * rows[1].select(0, 0) + pieces[0];
}
Tensor product_of_grid(const Tensor& a, const Tensor& b) {
  const std::vector<Tensor> grid = meshgrid({a.select(0, 0), b.select(0, 1)});
  return grid[0] * grid[1];
}
Tensor all_norms(const Tensor& x) {
  using linalg::vector_norm;
  return vector_norm(x, 1, {0, 2}) + vector_norm(x, 2, {0, 2}) + vector_norm(x, 3, {0, 2}) +
         vector_norm(x, INFINITY, {0, 2}) + vector_norm(x, -INFINITY, {0, 2});
}

CHECK_COMPOSED(roll, roll(x.a, {2, -3}, {0, 1}))
CHECK_COMPOSED(repeat, repeat(x.a, {2, 1, 3}))
CHECK_COMPOSED(tile, tile(x.a, {2}))
CHECK_COMPOSED(repeat_interleave, repeat_interleave(x.a, 3, 0))
CHECK_COMPOSED(pieces, product_of_pieces(x.a))
CHECK_COMPOSED(movedim, movedim(three(x.a), {0, 1}, {2, 0}))
CHECK_COMPOSED(flips, flip(unflatten(flatten(three(x.a)), 0, {2, 3, -1}), {0, 2}))
CHECK_COMPOSED(grid, product_of_grid(x.a, x.b))
CHECK_COMPOSED(dims, sum(three(x.a), {0, 2}) + mean(three(x.a), {-1, 0}) + var(three(x.a), {0, 2}) +
                         ::cladtorch::std(three(x.a), {0, 2}, false, 0))
CHECK_COMPOSED(extremes, amax(three(x.a), {0, 2}) - amin(three(x.a), {0, -1}) + logsumexp(three(x.a), {0, 2}))
CHECK_COMPOSED(norms, all_norms(three(x.a)))
CHECK_COMPOSED(addmm, addmm(x.c.narrow(1, 0, 6), x.a, x.b.transpose(0, 1), 0.5, 2) +
                          mv(x.a, x.b.select(0, 0)).unsqueeze(1) * dot(x.a.select(0, 0), x.b.select(0, 0)))
CHECK_COMPOSED(baddbmm,
               baddbmm(x.c.select(0, 0).narrow(0, 0, 3), three(x.a), swapaxes(three(x.b), 1, 2), 0.5, 2))
CHECK_COMPOSED(kron, kron(x.a.narrow(0, 0, 2), x.b.narrow(1, 0, 3)))
CHECK_COMPOSED(cross, cross(three(x.a), three(x.b), 1))
CHECK_COMPOSED(smoothed,
               cross_entropy(x.a, classes(), {.weight = linspace(0.2, 1.6, 8), .label_smoothing = 0.2}))
CHECK_COMPOSED(smoothed_sum,
               cross_entropy(x.a, classes(), {.reduction = Reduction::sum, .label_smoothing = 0.2}))
CHECK_COMPOSED(hinge, hinge_embedding_loss(x.a, broadcast_to(signs(), {6, 8}), 0.5))
CHECK_COMPOSED(ranking, margin_ranking_loss(x.a, x.b, signs(), 0.2))
CHECK_COMPOSED(soft_margin, soft_margin_loss(x.a, signs()))
CHECK_COMPOSED(cosine_embedding, cosine_embedding_loss(x.a, x.b, signs().narrow(0, 0, 6), 0.5))
CHECK_COMPOSED(poisson, poisson_nll_loss(x.a, 4 * x.b, {.full = true}) +
                            poisson_nll_loss(x.a, x.b, {.log_input = false, .reduction = Reduction::sum}))
CHECK_COMPOSED(gaussian, gaussian_nll_loss(x.a, x.b, x.c, {.full = true}))
CHECK_COMPOSED(multi_margin, multi_margin_loss(x.a, all_classes()) + multi_margin_loss(x.a, all_classes(), 2))
CHECK_COMPOSED(lstsq, linalg::lstsq(x.a.narrow(1, 0, 4), x.b))
CHECK_COMPOSED(right_triangle, linalg::solve_triangular(x.a.narrow(0, 0, 4).narrow(1, 0, 4) + eye(4) * 2,
                                                        x.b.narrow(1, 0, 4), true, false))

Tensor images_of(const Tensor& x) { return x.reshape({2, 3, 2, 4}); }
Tensor places_of(const Tensor& x) { return (tanh((x - 0.5) * 4) * 1.2).reshape({2, 4, 3, 2}); }
Tensor log_probabilities_of(const Tensor& x) { return log_softmax((x * 5).reshape({6, 2, 4})); }
Tensor int32s(const Shape& shape, std::initializer_list<int32_t> values) {
  return from_values<int32_t>(shape, values);
}
Tensor some_labels() {
  return int32s({6, 8}, {3, 0, -1, 2, -1, -1, -1, 1, 7, 1, 2,  3, 4,  5,  6,  0, 3, 0, -1, 2, -1, -1, -1, 1,
                         7, 1, 2,  3, 4,  5,  6,  0, 3, 0, -1, 2, -1, -1, -1, 1, 7, 1, 2,  3, 4,  5,  6,  0});
}
Tensor all_matrix_norms(const Tensor& x) {
  using linalg::matrix_norm;
  return matrix_norm(x, 2) + matrix_norm(x, 1) * matrix_norm(x, INFINITY) +
         matrix_norm(x) * matrix_norm(x, linalg::MatrixNorm::nuc);
}
Tensor both_affine_grids(const Tensor& x) {
  const Tensor theta = x.flatten().narrow(0, 0, 12).reshape({2, 2, 3});
  return sum(affine_grid(theta, {2, 3, 4, 5}), 0) + affine_grid(theta, {2, 3, 4, 5}, true).select(0, 0);
}

CHECK_COMPOSED(prod_of_dims, prod(three(x.a), {0, 2}) + prod(three(x.a), {0, 2}, true).flatten())
CHECK_COMPOSED(pairwise_distance, pairwise_distance(x.a, x.b) + pairwise_distance(x.a, x.b, 3))
CHECK_COMPOSED(cdist, cdist(three(x.a), three(x.b).narrow(1, 0, 2)) +
                          cdist(three(x.a), three(x.b).narrow(1, 0, 2), 1))
CHECK_COMPOSED(cov, cov(x.a) + corrcoef(x.a))
CHECK_COMPOSED(trace, trace(matmul(x.a, x.b.transpose(0, 1))) * vdot(x.a.select(0, 0), x.b.select(0, 0)))
CHECK_COMPOSED(nan_to_num, nan_to_num(masked_fill(x.a, x.b > 0.5, NAN), 0.25))
CHECK_COMPOSED(bincount_weights, bincount(int32s({6}, {5, 0, 2, 2, 5, 1}), x.a.select(1, 0), 7))
CHECK_COMPOSED(multilabel_soft_margin, multilabel_soft_margin_loss(x.a, round(x.b), linspace(0.2, 1.6, 8)))
CHECK_COMPOSED(multilabel_margin, multilabel_margin_loss(x.a, some_labels()))
CHECK_COMPOSED(embedding_bag_max, embedding_bag(int64s({3, 2}, {5, 0, 2, 2, 4, 1}), x.a, BagMode::max))
CHECK_COMPOSED(embedding_bag_max_offsets,
               embedding_bag(int64s({5}, {3, 0, 3, 1, 5}), x.a, int64s({3}, {0, 2, 2}), BagMode::max))
CHECK_COMPOSED(matrix_norms, all_matrix_norms(x.a))
CHECK_COMPOSED(ctc, ctc_loss(log_probabilities_of(x.a), int64s({5}, {2, 1, 1, 3, 1}), int64s({2}, {6, 4}),
                             int64s({2}, {3, 2})))
CHECK_COMPOSED(ctc_infinite,
               ctc_loss(log_probabilities_of(x.a), int64s({5}, {2, 1, 1, 3, 1}), int64s({2}, {3, 4}),
                        int64s({2}, {3, 2}), {.reduction = Reduction::sum, .zero_infinity = true}))
CHECK_COMPOSED(grid_sample, grid_sample(images_of(x.a), places_of(x.b)))
CHECK_COMPOSED(grid_sample_corners, grid_sample(images_of(x.a), places_of(x.b), {.align_corners = true}))
CHECK_COMPOSED(grid_sample_border,
               grid_sample(images_of(x.a), places_of(x.b), {.padding_mode = GridPadding::border}))
CHECK_COMPOSED(grid_sample_nearest,
               grid_sample(images_of(x.a), places_of(x.b), {.mode = Interpolation::nearest}))
CHECK_COMPOSED(affine_grid, both_affine_grids(x.a))

}  // namespace
}  // namespace cladtorch
