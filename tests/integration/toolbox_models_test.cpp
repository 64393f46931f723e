// Small programs of operations and optimizers that users of PyTorch expect: a spatial transformer, alignment
// by CTC, L-BFGS on a network that solves an equation. Their gradients against differences, and what they
// learn.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include <vector>

#include "cladtorch/cladtorch.h"
#include "examples/heat_network/heat.h"

namespace {

using namespace cladtorch;

/// Turns an image so that a linear layer can read it. Source: Jaderberg et al., "Spatial transformer
/// networks", 2015.
struct SpatialTransformer {
  nn::Linear seen, turn, out;

  explicit SpatialTransformer(Random& random)
      : seen(64, 16, random, true, 0.2), turn(16, 6, random, true, 0.01), out(64, 2, random, true, 0.1) {
    turn.bias.copy_from(from_values<float>({6}, {1, 0, 0, 0, 1, 0}));
  }
  Tensor forward(const Tensor& x) const {
    const Tensor theta = turn(cladtorch::tanh(seen(flatten(x, 1)))).reshape({x.size(0), 2, 3});
    const Tensor turned = grid_sample(x, affine_grid(theta, x.shape()));
    return out(flatten(turned, 1));
  }
  CLADTORCH_PARAMETERS(seen, turn, out)
};
double loss_of_turned(const SpatialTransformer& model, const Tensor& x, const Tensor& labels) {
  return cross_entropy(model.forward(x), labels).item();
}

/// Bars that stand or lie, at places of their own.
struct Bars {
  Tensor images = zeros({40, 1, 8, 8}), labels = zeros({40}, DType::int32);

  Bars() {
    for (int64_t i = 0; i < 40; ++i) {
      labels.data<int32_t>()[i] = static_cast<int32_t>(i % 2);
      for (int64_t k = 0; k < 5; ++k) {
        const int64_t along = i / 2 % 4 + k, across = i / 8 + 1;
        images.data<float>()[i * 64 + (i % 2 == 0 ? along * 8 + across : across * 8 + along)] = 1;
      }
    }
  }
};

TEST(SpatialTransformer, GradientsMatchDifferences) {
  Random random(3);
  const SpatialTransformer model(random);
  const Tensor x = randn({3, 1, 8, 8}, random, DType::float64), labels = from_values<int32_t>({3}, {1, 0, 1});
  auto step = clad::gradient(loss_of_turned, "model");
  EXPECT_TRUE(gradcheck(
      model, [&](const SpatialTransformer& net) { return loss_of_turned(net, x, labels); },
      [&](const SpatialTransformer& net, SpatialTransformer* d) { step.execute(net, x, labels, d); }));
}

TEST(SpatialTransformer, LearnsToTellBarsApart) {
  Random random(4);
  SpatialTransformer model(random), gradient = like(model);
  const Bars bars;
  const double before = loss_of_turned(model, bars.images, bars.labels);
  auto step = clad::value_and_gradient(loss_of_turned, "model");
  NAdam optimizer(model, {.lr = 0.01});
  for (int i = 0; i < 150; ++i) {
    step.execute(model, bars.images, bars.labels, &gradient);
    optimizer.step(gradient);
  }
  EXPECT_LT(loss_of_turned(model, bars.images, bars.labels), 0.1 * before);
  EXPECT_EQ(accuracy(model.forward(bars.images), bars.labels), 1);
}

/// Scores of four labels and a blank at each of ten steps, which are learned by themselves.
struct Aligner {
  nn::Linear in, out;

  explicit Aligner(Random& random) : in(6, 24, random, true, 0.3), out(24, 5, random, true, 0.1) {}
  Tensor forward(const Tensor& x) const { return log_softmax(out(cladtorch::tanh(in(x)))); }
  CLADTORCH_PARAMETERS(in, out)
};
double loss_of_aligned(const Aligner& model, const Tensor& x, const Tensor& targets, const Tensor& steps,
                       const Tensor& counts) {
  return ctc_loss(model.forward(x), targets, steps, counts).item();
}

class Alignment : public ::testing::Test {
 protected:
  Random random_{5};
  Aligner model_{random_};
  Tensor x_ = randn({10, 3, 6}, random_);
  Tensor targets_ = from_values<int32_t>({3, 3}, {1, 2, 2, 4, 3, 0, 3, 1, 4});
  Tensor steps_ = from_values<int32_t>({3}, {10, 8, 9}), counts_ = from_values<int32_t>({3}, {3, 2, 3});
};

TEST_F(Alignment, GradientsMatchDifferences) {
  const Tensor x = x_.to(DType::float64);
  auto step = clad::gradient(loss_of_aligned, "model");
  EXPECT_TRUE(gradcheck(
      model_, [&](const Aligner& model) { return loss_of_aligned(model, x, targets_, steps_, counts_); },
      [&](const Aligner& model, Aligner* d) { step.execute(model, x, targets_, steps_, counts_, d); }));
}

TEST_F(Alignment, LearnsToSpellTheLabels) {
  Aligner gradient = like(model_);
  auto step = clad::value_and_gradient(loss_of_aligned, "model");
  Adam optimizer(model_, {.lr = 0.02});
  for (int i = 0; i < 200; ++i) {
    step.execute(model_, x_, targets_, steps_, counts_, &gradient);
    optimizer.step(gradient);
  }
  const Tensor best = argmax(model_.forward(x_), 2);
  for (int64_t n = 0; n < 3; ++n) {
    const int32_t steps = steps_.data<int32_t>()[n];
    const UniqueElements runs = unique_consecutive(best.select(1, n).narrow(0, 0, steps));
    const Tensor spelled = masked_select(runs.output, ne(runs.output, 0));
    EXPECT_TRUE(allclose(spelled, targets_.select(0, n).narrow(0, 0, counts_.data<int32_t>()[n]))) << spelled;
  }
}

TEST(LBFGS, SolvesTheHeatEquation) {
  heat::Network network = heat::make_network(1);
  const Tensor weights = zeros({heat::Network::count}, DType::float64);
  const auto read = [&] {
    std::copy_n(weights.data<double>(), heat::Network::count, network.weights.begin());
  };
  std::copy(network.weights.begin(), network.weights.end(), Tensor(weights).data<double>());
  TensorList parameters(std::vector<NamedTensor>{{"weights", weights}}),
      gradients(std::vector<NamedTensor>{{"weights", gradient_buffer_like(weights)}});
  auto gradient = clad::value_and_gradient(heat::loss, "n");
  const auto closure = [&] {
    heat::Network d{};
    read();
    const double loss = gradient.execute(network, 8, &d);
    gradients[0].tensor.accumulate(
        from_values<double>({heat::Network::count}, std::span<const double>(d.weights)));
    return loss;
  };
  const double error = heat::error(network);
  LBFGS optimizer(parameters, {.max_iter = 150, .max_eval = 250, .line_search_fn = LineSearch::strong_wolfe});
  const double first = optimizer.step(gradients, closure);
  read();
  const double last = heat::loss(network, 8);
  EXPECT_LT(last, 1e-3 * first);
  EXPECT_LT(heat::error(network), 0.1 * error);
  RecordProperty("loss", std::to_string(last));
  RecordProperty("evaluations", std::to_string(optimizer.evaluations()));
}

}  // namespace
