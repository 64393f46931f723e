// The tangent of every operation, and the gradient of that tangent, against differences of the function and
// of its gradient.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/ops/pushforward.h"

namespace {

using cladtorch::DType;
using cladtorch::Shape;
using cladtorch::Tensor;

struct Inputs {
  Tensor a, b, c;
  double scalar = 0;
};
constexpr Tensor Inputs::* kTensors[] = {&Inputs::a, &Inputs::b, &Inputs::c};

/// A number that depends on every element, and not linearly.
double energy(const Tensor& y) { return sum(mul(y, add_scalar(y, 0.3))).item(); }

Tensor indices() { return cladtorch::from_values<int32_t>({2, 3}, {1, 0, 3, -100, 2, 1}); }
Tensor angles() { return cladtorch::rotary_table(cladtorch::RotaryFrequencies({}, 4), 0, 3); }

double of_add(const Inputs& x) { return energy(add(x.a, x.b)); }
double of_sub(const Inputs& x) { return energy(sub(x.a, x.b)); }
double of_mul(const Inputs& x) { return energy(mul(x.a, x.b)); }
double of_div(const Inputs& x) { return energy(div(x.a, add_scalar(mul(x.b, x.b), 1))); }
double of_scale(const Inputs& x) { return energy(scale(x.a, x.scalar)); }
double of_add_scalar(const Inputs& x) { return energy(add_scalar(x.a, x.scalar)); }
double of_matmul(const Inputs& x) { return energy(matmul(x.a, x.b)); }
double of_linear(const Inputs& x) { return energy(linear(x.a, x.b)); }
double of_biased(const Inputs& x) { return energy(linear(x.a, x.b, x.c)); }
double of_sums(const Inputs& x) {
  return energy(sum(x.a, 0)) + energy(mean(x.a, -1, true)) + energy(sum_to(x.a, {1, 3}));
}
double of_totals(const Inputs& x) { return energy(sum(x.a)) * energy(mean(x.b)); }
double of_relu(const Inputs& x) { return energy(relu(x.a)); }
double of_tanh(const Inputs& x) { return energy(cladtorch::tanh(x.a)); }
double of_sigmoid(const Inputs& x) { return energy(sigmoid(x.a)); }
double of_silu(const Inputs& x) { return energy(silu(x.a)); }
double of_swiglu(const Inputs& x) { return energy(swiglu(x.a, x.b)); }
double of_gelu_tanh(const Inputs& x) { return energy(gelu_tanh(x.a)); }
double of_gelu_erf(const Inputs& x) { return energy(gelu_erf(x.a)); }
double of_exp(const Inputs& x) { return energy(cladtorch::exp(x.a)); }
double of_log(const Inputs& x) { return energy(cladtorch::log(add_scalar(mul(x.a, x.a), 1))); }
double of_roots(const Inputs& x) {
  const Tensor y = add_scalar(mul(x.a, x.a), 1);
  return energy(cladtorch::sqrt(y)) + energy(rsqrt(y));
}
/// Functions of one element whose parameters are differentiated too.
double of_parameters(const Inputs& x) {
  return energy(leaky_relu(x.a, x.scalar)) + energy(elu(x.a, x.scalar)) + energy(pow(square(x.a), x.scalar));
}
double of_pairs(const Inputs& x) { return energy(atan2(x.a, exp(x.b))) + energy(maximum(x.a, x.b)); }
double of_joined(const Inputs& x) {
  return energy(mul(cladtorch::cat({x.a, x.b}), cladtorch::cat({x.b, x.a}))) +
         energy(cladtorch::stack({x.a, x.b}, 1)) + energy(cladtorch::cat(std::vector<Tensor>{x.a, x.b}, 1));
}
double of_extremes(const Inputs& x) { return energy(amax(x.a, 1)) + energy(amin(x.a, 0, true)); }
double of_lines(const Inputs& x) { return energy(mul(cumsum(x.a, 1), flip(x.a, 0))); }
double of_statistics(const Inputs& x) {
  return energy(var(x.a, 1)) + energy(norm(x.a, 0)) + energy(logsumexp(x.a, -1));
}
double of_losses(const Inputs& x) {
  return energy(huber_loss(x.a, x.b)) + energy(binary_cross_entropy_with_logits(x.a, sigmoid(x.b)));
}
double of_erf(const Inputs& x) { return energy(cladtorch::erf(x.a)); }
double of_softmax(const Inputs& x) { return energy(softmax(x.a)); }
double of_log_softmax(const Inputs& x) { return energy(log_softmax(x.a)); }
double of_convolutions(const Inputs& x) {
  return energy(conv2d(x.a, x.b, x.c, {.stride = 2, .padding = 1})) +
         energy(conv_transpose2d(x.a, x.b, {}, {.stride = 2}));
}
double of_poolings(const Inputs& x) {
  return energy(max_pool2d(x.a, 2)) + energy(avg_pool2d(x.a, 3, {.stride = 1, .padding = 1})) +
         energy(adaptive_avg_pool2d(x.a, {3, 2})) +
         energy(interpolate(x.a, {5, 7}, cladtorch::Interpolation::bilinear));
}
double of_channel_norms(const Inputs& x) {
  return energy(batch_norm(x.a, {}, {}, x.b, x.c, true)) + energy(group_norm(x.a, 2, x.b, x.c)) +
         energy(instance_norm(x.a, x.b, {}));
}
double of_lstm_cell(const Inputs& x) {
  const cladtorch::LstmStep y = lstm_cell(x.a, x.b, x.c);
  return energy(y.h) + energy(y.c);
}
double of_gru_cell(const Inputs& x) { return energy(gru_cell(x.a, x.b, x.c)); }
/// In both directions, with sequences of different lengths.
double of_lstm_sequence(const Inputs& x) {
  const Tensor lengths = cladtorch::from_values<int32_t>({2}, {3, 1});
  const cladtorch::RecurrentResult y = lstm_sequence(x.a, x.b, sum(x.b, 1), x.c, {}, lengths, true),
                                   z = lstm_sequence(x.a, x.b, {}, {}, x.c);
  return energy(y.output) + energy(y.h) + energy(y.c) + energy(z.output) + energy(z.c);
}
double of_gru_sequence(const Inputs& x) {
  const Tensor lengths = cladtorch::from_values<int32_t>({2}, {3, 1});
  const cladtorch::RecurrentResult y = gru_sequence(x.a, x.b, sum(x.b, 1), x.c, lengths, false),
                                   z = gru_sequence(x.a, x.b, {}, {}, {}, true);
  return energy(y.output) + energy(y.h) + energy(z.output) + energy(z.h);
}
double of_rnn_sequence(const Inputs& x) {
  const cladtorch::RecurrentResult y = rnn_sequence(x.a, x.b, sum(x.b, 1), x.c);
  return energy(y.output) + energy(y.h);
}
double of_running_statistics(const Inputs& x) {
  return energy(batch_norm(x.a, x.b, add_scalar(square(x.c), 0.5), x.c, x.b, false));
}
double of_tril(const Inputs& x) { return energy(tril(x.a)) + energy(softmax(causal_mask(x.a))); }
double of_linear_gelu_tanh(const Inputs& x) { return energy(linear_gelu_tanh(x.a, x.b, x.c)); }
double of_mlp_gelu_tanh(const Inputs& x) {
  return energy(mlp_gelu_tanh(x.a, x.b, sum(x.b, -1), x.c, sum(x.c, -1)));
}
double of_add_layer_norm(const Inputs& x) {
  const cladtorch::NormalizedSum y = add_layer_norm(x.a, x.b, x.c, Tensor(), x.scalar);
  return energy(y.normalized) + 0.2 * energy(y.sum);
}
double of_add_rms_norm(const Inputs& x) {
  const cladtorch::NormalizedSum y = add_rms_norm(x.a, x.b, x.c, x.scalar);
  return energy(y.normalized) + 0.2 * energy(y.sum);
}
double of_layer_norm(const Inputs& x) { return energy(layer_norm(x.a, x.b, x.c, x.scalar)); }
double of_layer_norm_without_bias(const Inputs& x) { return energy(layer_norm(x.a, x.b, Tensor(), 1e-5)); }
double of_rms_norm(const Inputs& x) { return energy(rms_norm(x.a, x.b, x.scalar)); }
double of_embedding(const Inputs& x) {
  return energy(embedding(cladtorch::from_values<int32_t>({4}, {1, 0, 3, 1}), x.a));
}
double of_choices(const Inputs& x) {
  return energy(where(x.a > 0.1, x.a, x.b)) + energy(where(x.b < 0, x.a, x.scalar)) +
         energy(where(x.b < 0, x.scalar, x.a)) + energy(masked_fill(x.a, x.b > 0.2, 2)) +
         energy(masked_select(x.a, x.a > 0)) * energy(x.b);
}
double of_gathered(const Inputs& x) {
  const Tensor index = cladtorch::from_values<int64_t>({2, 3}, {1, 0, 3, 0, 2, 1});
  return energy(gather(x.a, 1, index)) + energy(index_select(x.b, 1, index.select(0, 0))) +
         energy(take_along_dim(x.a, index, 1));
}
double of_scattered(const Inputs& x) {
  const Tensor index = cladtorch::from_values<int32_t>({2, 3}, {1, 0, 1, 0, 2, 1});
  return energy(scatter_add(x.a, 1, index, x.b)) + energy(scatter(x.a, 1, index, x.b)) +
         energy(scatter(x.a, 1, index, x.scalar)) + energy(index_add(x.a, 1, index.select(0, 0), x.b));
}
double of_sorted(const Inputs& x) {
  return energy(topk(x.a, 2, 1).values) * energy(sort(x.a, 0, true).values) +
         energy(median(x.a, 1).values) * energy(kthvalue(x.a, 2, 0, true).values) +
         energy(cummax(x.a, 1).values) + energy(cummin(x.a, 0).values);
}
double of_products(const Inputs& x) {
  return energy(cumprod(x.a, 1)) + energy(prod(x.a, 0)) + energy(prod(x.a));
}
double of_bags(const Inputs& x) {
  const Tensor ids = cladtorch::from_values<int32_t>({2, 3}, {1, 0, 3, 0, 2, 1});
  return energy(embedding_bag(ids, x.a)) +
         energy(embedding_bag(ids.flatten(), x.a, cladtorch::from_values<int32_t>({3}, {0, 1, 4})));
}
double of_padding(const Inputs& x) {
  using cladtorch::PadMode;
  return energy(pad(x.a, {1, 2, -1, 1}, PadMode::constant, x.scalar)) +
         energy(pad(x.a, {2, 1}, PadMode::reflect)) + energy(pad(x.a, {1, 3}, PadMode::circular));
}
double of_triangles(const Inputs& x) {
  return energy(mul(tril(x.a, 1), triu(x.a))) + energy(diagonal(x.a, 1, 1, 2)) + energy(diag_embed(x.a));
}
double of_windows(const Inputs& x) {
  const Tensor columns = unfold(x.a, 2, {.padding = 1});
  return energy(columns) + energy(fold(mul(columns, columns), {3, 4}, 2, {.padding = 1}));
}
double of_moves(const Inputs& x) {
  return energy(mul(roll(x.a, 1, 1), repeat_interleave(x.a, 2, 0).narrow(0, 1, 3))) +
         energy(mul(cladtorch::tile(x.a, {2, 1}), repeat(movedim(x.a, 0, 1), {1, 2}).transpose(0, 1)));
}
double of_einsum(const Inputs& x) {
  return energy(cladtorch::einsum("bij,jk,...k->i...b", {x.a, x.b, x.c})) +
         energy(cladtorch::einsum("bii->bi", {x.a}));
}
double of_dims(const Inputs& x) {
  return energy(sum(x.a, {0, 2})) + energy(var(x.a, {1, 2})) + energy(amax(x.a, {0, 2})) +
         energy(logsumexp(x.a, {0, 1})) + energy(cladtorch::linalg::vector_norm(x.a, 3, {0, 2}));
}
double of_products_of_vectors(const Inputs& x) {
  return energy(cross(x.a, x.b)) + energy(kron(x.a, x.b)) + energy(addmm(x.a, x.a, x.b, x.scalar, 2));
}
/// A matrix that is far from singular, and a symmetric positive one.
Tensor regular(const Tensor& x) { return add(x, cladtorch::eye(3, DType::float64) * 4); }
Tensor positive(const Tensor& x) { return regular(matmul(x, x.transpose(-2, -1))); }
double of_solve(const Inputs& x) {
  namespace linalg = cladtorch::linalg;
  return energy(linalg::solve(regular(x.a), x.b)) + energy(linalg::inv(regular(x.a))) +
         energy(linalg::solve(regular(x.a), x.b.select(-1, 0))) +
         energy(linalg::solve_triangular(regular(x.a), x.b, true, true, true)) +
         energy(linalg::solve_triangular(regular(x.a), x.b.transpose(-2, -1), false, false));
}
double of_determinants(const Inputs& x) {
  const cladtorch::linalg::LogDeterminant y = cladtorch::linalg::slogdet(regular(x.a));
  return energy(cladtorch::linalg::det(regular(x.a))) * 0.01 + energy(y.logabsdet);
}
double of_decompositions(const Inputs& x) {
  namespace linalg = cladtorch::linalg;
  const linalg::QR factors = linalg::qr(x.b);
  const linalg::Eigen eigen = linalg::eigh(positive(x.a));
  return energy(linalg::cholesky(positive(x.a))) + energy(factors.Q) + energy(factors.R) +
         energy(eigen.eigenvalues) * 0.1 + energy(square(eigen.eigenvectors)) + energy(linalg::svdvals(x.b)) +
         energy(linalg::lstsq(x.b, x.b.select(-1, 0).unsqueeze(-1) + 1));
}
double of_singular_vectors(const Inputs& x) {
  namespace linalg = cladtorch::linalg;
  const linalg::SVD tall = linalg::svd(x.a), wide = linalg::svd(x.b);
  return energy(square(tall.U)) + energy(tall.S) + energy(square(tall.Vh)) + energy(matmul(wide.U, wide.Vh)) +
         energy(linalg::pinv(x.a)) + energy(linalg::pinv(x.b));
}
double of_toolbox(const Inputs& x) {
  return energy(unique(x.a).output) + energy(cdist(x.a, x.b)) + energy(prod(x.a, {0, 1})) +
         energy(nan_to_num(x.a)) + energy(cov(x.a)) + energy(cladtorch::linalg::matrix_norm(x.a));
}
double of_grid_sample(const Inputs& x) {
  return energy(grid_sample(x.a, cladtorch::tanh(x.b))) +
         energy(grid_sample(x.a, affine_grid(x.c, x.a.shape()),
                            {.padding_mode = cladtorch::GridPadding::border}));
}
double of_losses_with_options(const Inputs& x) {
  const Tensor targets = cladtorch::from_values<int32_t>({4}, {1, -100, 3, 0});
  return energy(cross_entropy(x.a, targets, {.weight = square(x.b), .label_smoothing = x.scalar})) +
         energy(gaussian_nll_loss(x.a, x.b, add_scalar(square(x.b), 0.5))) +
         energy(poisson_nll_loss(x.a, x.b));
}
double of_dropout(const Inputs& x) { return energy(dropout(x.a, 0.4)) + energy(dropout(x.a, 0.4)); }
double of_rotary_embedding(const Inputs& x) { return energy(rotary_embedding(x.a, angles())); }
double of_causal_attention(const Inputs& x) { return energy(causal_attention(x.a, 2)); }
double of_grouped_attention(const Inputs& x) { return energy(causal_attention(x.a, x.b, x.c, 4, 2)); }
double of_cross_entropy(const Inputs& x) { return cross_entropy(x.a, indices()).item(); }
double of_linear_cross_entropy(const Inputs& x) { return linear_cross_entropy(x.a, x.b, indices()).item(); }
double of_nll_loss(const Inputs& x) { return nll_loss(mul(x.a, x.a), indices()).item(); }
double of_mse_loss(const Inputs& x) { return mse_loss(x.a, x.b).item(); }
double of_split(const Inputs& x) {
  const std::vector<Tensor> parts = x.a.split(2, 1);
  return energy(mul(parts[0], parts[2])) + energy(parts[1]);
}
double of_views(const Inputs& x) {
  const Tensor y = x.a.reshape({3, 4}).transpose(0, 1).narrow(0, 1, 2);
  const Tensor z = y.unsqueeze(1).expand({2, 3, 3}).permute({2, 0, 1}).contiguous().clone();
  const Tensor w = z.select(0, 1).slice(1, 0, 2).flatten().unsqueeze(0).squeeze(0);
  return energy(w) + energy(x.a.to(DType::float32).to(DType::float64)) * 0;
}

class Pushforward : public testing::Test {
 protected:
  Tensor normals(const Shape& shape) {
    Tensor t = cladtorch::zeros(shape, DType::float64);
    for (int64_t i = 0; i < t.numel(); ++i) t.data<double>()[i] = random_.normal();
    return t;
  }

  template <class F, class Forward, class Second, class Gradient>
  void check(F f, Forward forward, Second second, Gradient gradient, std::initializer_list<Shape> shapes) {
    Inputs at{{}, {}, {}, 0.6}, direction{{}, {}, {}, 0.8};
    std::size_t used = 0;
    for (const Shape& shape : shapes) {
      at.*kTensors[used] = normals(shape);
      direction.*kTensors[used++] = normals(shape);
    }
    const auto moved = [&](double h) {
      Inputs x = at;
      for (std::size_t i = 0; i < used; ++i)
        x.*kTensors[i] = add(at.*kTensors[i], cladtorch::scale(direction.*kTensors[i], h));
      x.scalar += h * direction.scalar;
      return x;
    };
    const auto training = [](auto&& run) {  // the same masks of dropout each time
      const cladtorch::TrainingScope scope(7, 0);
      return run();
    };
    const auto value = [&](double h) { return training([&] { return f(moved(h)); }); };
    const double step = 1e-5;
    const auto derivative = training([&] { return forward.execute(at, &direction); });
    EXPECT_EQ(derivative.value, value(0));
    const double slope = (value(step) - value(-step)) / (2 * step);
    EXPECT_NEAR(derivative.pushforward, slope, 1e-7 * std::max(1.0, std::abs(slope)));
    EXPECT_NE(derivative.pushforward, 0);
    Inputs product, plus, minus;
    training([&] { second.execute(at, &direction, &product); });
    training([&] { gradient.execute(moved(step), &plus); });
    training([&] { gradient.execute(moved(-step), &minus); });
    const auto near = [&](double got, double above, double below) {
      const double expected = (above - below) / (2 * step);
      EXPECT_NEAR(got, expected, 2e-7 * std::max(1.0, std::abs(expected)));
    };
    near(product.scalar, plus.scalar, minus.scalar);
    for (std::size_t i = 0; i < used; ++i) {
      const Tensor got = (product.*kTensors[i]).contiguous(), above = (plus.*kTensors[i]).contiguous(),
                   below = (minus.*kTensors[i]).contiguous();
      ASSERT_EQ(got.shape(), above.shape());
      for (int64_t k = 0; k < got.numel(); ++k)
        near(got.data<double>()[k], above.data<double>()[k], below.data<double>()[k]);
    }
  }

  cladtorch::Random random_{7};
};

#define CHECK_TANGENT(name, function, ...)                                                         \
  TEST_F(Pushforward, name) {                                                                      \
    check(function, clad::pushforward(function, "x"), clad::hessian_vector_product(function, "x"), \
          clad::gradient(function, "x"), {__VA_ARGS__});                                           \
  }

CHECK_TANGENT(Add, of_add, {2, 3}, {4, 1, 3})
CHECK_TANGENT(Sub, of_sub, {3}, {2, 3})
CHECK_TANGENT(Mul, of_mul, {2, 1}, {2, 3})
CHECK_TANGENT(Div, of_div, {2, 3}, {3})
CHECK_TANGENT(Scale, of_scale, {2, 3})
CHECK_TANGENT(AddScalar, of_add_scalar, {2, 3})
CHECK_TANGENT(Matmul, of_matmul, {2, 3, 4}, {4, 2})
CHECK_TANGENT(Linear, of_linear, {2, 3, 4}, {5, 4})
CHECK_TANGENT(LinearWithBias, of_biased, {3, 4}, {5, 4}, {5})
CHECK_TANGENT(SumsAndMeansAlongDimensions, of_sums, {2, 3})
CHECK_TANGENT(SumsAndMeans, of_totals, {2, 3}, {4})
CHECK_TANGENT(Relu, of_relu, {2, 5})
CHECK_TANGENT(Tanh, of_tanh, {2, 5})
CHECK_TANGENT(Sigmoid, of_sigmoid, {2, 5})
CHECK_TANGENT(Silu, of_silu, {2, 5})
CHECK_TANGENT(Swiglu, of_swiglu, {2, 5}, {2, 5})
CHECK_TANGENT(GeluTanh, of_gelu_tanh, {2, 5})
CHECK_TANGENT(GeluErf, of_gelu_erf, {2, 5})
CHECK_TANGENT(Exp, of_exp, {2, 5})
CHECK_TANGENT(Log, of_log, {2, 5})
CHECK_TANGENT(Roots, of_roots, {2, 5})
CHECK_TANGENT(Erf, of_erf, {2, 5})
CHECK_TANGENT(FunctionsOfTwo, of_pairs, {2, 5}, {5})
CHECK_TANGENT(Joined, of_joined, {2, 3}, {2, 3})
CHECK_TANGENT(Extremes, of_extremes, {4, 5})
CHECK_TANGENT(CumulativeSumsAndFlips, of_lines, {4, 5})
CHECK_TANGENT(Statistics, of_statistics, {4, 5})
CHECK_TANGENT(ComposedLosses, of_losses, {4, 5}, {4, 5})
CHECK_TANGENT(Convolutions, of_convolutions, {2, 3, 4, 5}, {3, 3, 3, 2}, {3})
CHECK_TANGENT(Poolings, of_poolings, {2, 3, 4, 5})
CHECK_TANGENT(ChannelNorms, of_channel_norms, {2, 4, 3}, {4}, {4})
CHECK_TANGENT(LstmCell, of_lstm_cell, {2, 12}, {2, 12}, {2, 3})
CHECK_TANGENT(GruCell, of_gru_cell, {2, 9}, {2, 9}, {2, 3})
CHECK_TANGENT(LstmSequence, of_lstm_sequence, {3, 2, 12}, {12, 3}, {2, 3})
CHECK_TANGENT(GruSequence, of_gru_sequence, {3, 2, 9}, {9, 3}, {2, 3})
CHECK_TANGENT(RnnSequence, of_rnn_sequence, {3, 2, 3}, {3, 3}, {2, 3})
CHECK_TANGENT(RunningStatistics, of_running_statistics, {2, 4, 3}, {4}, {4})
CHECK_TANGENT(Softmax, of_softmax, {2, 3, 5})
CHECK_TANGENT(LogSoftmax, of_log_softmax, {2, 3, 5})
CHECK_TANGENT(Tril, of_tril, {2, 3, 5})
CHECK_TANGENT(LinearGeluTanh, of_linear_gelu_tanh, {2, 3, 4}, {5, 4}, {5})
CHECK_TANGENT(MlpGeluTanh, of_mlp_gelu_tanh, {2, 3, 4}, {5, 4}, {3, 5})
CHECK_TANGENT(AddLayerNorm, of_add_layer_norm, {2, 3, 5}, {2, 3, 5}, {5})
CHECK_TANGENT(AddRMSNorm, of_add_rms_norm, {2, 3, 5}, {2, 3, 5}, {5})
CHECK_TANGENT(LayerNorm, of_layer_norm, {2, 3, 5}, {5}, {5})
CHECK_TANGENT(LayerNormWithoutBias, of_layer_norm_without_bias, {2, 3, 5}, {5})
CHECK_TANGENT(RMSNorm, of_rms_norm, {2, 3, 5}, {5})
CHECK_TANGENT(Embedding, of_embedding, {4, 5})
CHECK_TANGENT(Choices, of_choices, {4, 5}, {4, 5})
CHECK_TANGENT(Gathered, of_gathered, {2, 4}, {2, 4})
CHECK_TANGENT(Scattered, of_scattered, {2, 4}, {2, 3})
CHECK_TANGENT(Sorted, of_sorted, {4, 5})
CHECK_TANGENT(Products, of_products, {4, 5})
CHECK_TANGENT(EmbeddingBags, of_bags, {4, 5})
CHECK_TANGENT(Padding, of_padding, {2, 3, 4})
CHECK_TANGENT(Triangles, of_triangles, {2, 3, 4})
CHECK_TANGENT(Windows, of_windows, {2, 2, 3, 4})
CHECK_TANGENT(Moves, of_moves, {3, 4})
CHECK_TANGENT(Einsum, of_einsum, {2, 3, 3}, {3, 4}, {2, 4})
CHECK_TANGENT(SeveralDimensions, of_dims, {2, 3, 4})
CHECK_TANGENT(ProductsOfVectors, of_products_of_vectors, {3, 3}, {3, 3})
CHECK_TANGENT(LossesWithOptions, of_losses_with_options, {4, 5}, {5})
#define CHECK_TANGENT_OF_LINALG(name, function, ...)                                               \
  TEST_F(Pushforward, name) {                                                                      \
    if (!cladtorch::linalg::available()) GTEST_SKIP() << "this build has no LAPACK";               \
    check(function, clad::pushforward(function, "x"), clad::hessian_vector_product(function, "x"), \
          clad::gradient(function, "x"), {__VA_ARGS__});                                           \
  }
CHECK_TANGENT_OF_LINALG(Solve, of_solve, {2, 3, 3}, {2, 3, 3})
CHECK_TANGENT_OF_LINALG(Determinants, of_determinants, {2, 3, 3})
CHECK_TANGENT_OF_LINALG(Decompositions, of_decompositions, {2, 3, 3}, {2, 4, 3})
CHECK_TANGENT_OF_LINALG(SingularVectors, of_singular_vectors, {2, 4, 3}, {2, 5})
CHECK_TANGENT(Toolbox, of_toolbox, {4, 5}, {3, 5})
CHECK_TANGENT(GridSample, of_grid_sample, {2, 3, 4, 5}, {2, 3, 2, 2}, {2, 2, 3})
CHECK_TANGENT(Dropout, of_dropout, {4, 5})
CHECK_TANGENT(RotaryEmbedding, of_rotary_embedding, {2, 3, 8})
CHECK_TANGENT(CausalAttention, of_causal_attention, {2, 4, 18})
CHECK_TANGENT(GroupedAttentionWithAWindow, of_grouped_attention, {2, 5, 12}, {2, 5, 6}, {2, 5, 6})
CHECK_TANGENT(CrossEntropy, of_cross_entropy, {2, 3, 4})
CHECK_TANGENT(LinearCrossEntropy, of_linear_cross_entropy, {2, 3, 5}, {4, 5})
CHECK_TANGENT(NLLLoss, of_nll_loss, {2, 3, 4})
CHECK_TANGENT(MSELoss, of_mse_loss, {2, 3}, {2, 3})
CHECK_TANGENT(Split, of_split, {2, 6})
CHECK_TANGENT(Views, of_views, {2, 6})

TEST_F(Pushforward, OfAFunctionByItsParameters) {
  Inputs at{normals({2, 5}), {}, {}, 0.6}, direction{normals({2, 5}), {}, {}, 0.8}, gradient;
  const auto value = [&](double h) {
    return of_parameters(
        {add(at.a, cladtorch::scale(direction.a, h)), {}, {}, at.scalar + h * direction.scalar});
  };
  constexpr double step = 1e-6;
  const double slope = (value(step) - value(-step)) / (2 * step);
  const auto derivative = clad::pushforward(of_parameters, "x").execute(at, &direction);
  EXPECT_NEAR(derivative.pushforward, slope, 1e-7 * std::abs(slope));
  clad::gradient(of_parameters, "x").execute(at, &gradient);
  EXPECT_NEAR(sum(mul(gradient.a, direction.a)).item() + gradient.scalar * direction.scalar, slope,
              1e-7 * std::abs(slope));
}

}  // namespace
