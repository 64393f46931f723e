// Forward mode through tensors, and forward over reverse: against differences of the loss and of its
// gradient.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/nn/nn.h"
#include "cladtorch/ops/pushforward.h"

namespace {

using cladtorch::DType;
using cladtorch::Shape;
using cladtorch::Tensor;

struct Network {
  Tensor hidden, bias, gate, output;
};

double loss(const Network& n, const Tensor& x, const Tensor& target) {
  const Tensor h = cladtorch::tanh(linear(x, n.hidden, n.bias));
  const Tensor g = cladtorch::sigmoid(add(linear(x, n.gate), n.bias));
  const Tensor y = linear(mul(h, g), n.output);
  const Tensor e = sub(silu(y), scale(target, 0.5));
  return mean(mul(e, e)).item() + 0.1 * sum(mul(n.gate, n.gate)).item();
}

Tensor normals(const Shape& shape, cladtorch::Random& random) {
  Tensor t = cladtorch::zeros(shape, DType::float64);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<double>()[i] = random.normal();
  return t;
}

Network network(cladtorch::Random& random) {
  return {normals({5, 3}, random), normals({5}, random), normals({5, 3}, random), normals({2, 5}, random)};
}

constexpr Tensor Network::* parts[] = {&Network::hidden, &Network::bias, &Network::gate, &Network::output};

class TensorForward : public testing::Test {
 protected:
  cladtorch::Random random_{7};
  Network at_ = network(random_), direction_ = network(random_);
  Tensor x_ = normals({4, 3}, random_), target_ = normals({4, 2}, random_);

  Network moved(double h) const {
    Network n;
    for (const auto part : parts) n.*part = add(at_.*part, cladtorch::scale(direction_.*part, h));
    return n;
  }
};

TEST_F(TensorForward, ADirectionalDerivativeAgreesWithDifferences) {
  const auto derivative = clad::pushforward(loss, "n").execute(at_, x_, target_, &direction_);
  const double step = 1e-5;
  EXPECT_DOUBLE_EQ(derivative.value, loss(at_, x_, target_));
  EXPECT_NEAR(derivative.pushforward,
              (loss(moved(step), x_, target_) - loss(moved(-step), x_, target_)) / (2 * step), 1e-8);
}

TEST_F(TensorForward, AHessianTimesAVectorIsTheDerivativeOfTheGradient) {
  Network product, plus, minus;
  clad::hessian_vector_product(loss, "n").execute(at_, x_, target_, &direction_, &product);
  const double step = 1e-5;
  const auto gradient = clad::gradient(loss, "n");
  gradient.execute(moved(step), x_, target_, &plus);
  gradient.execute(moved(-step), x_, target_, &minus);
  for (const auto part : parts) {
    ASSERT_TRUE((product.*part).defined());
    ASSERT_EQ((product.*part).shape(), (at_.*part).shape());
    for (int64_t i = 0; i < (product.*part).numel(); ++i)
      EXPECT_NEAR((product.*part).data<double>()[i],
                  ((plus.*part).data<double>()[i] - (minus.*part).data<double>()[i]) / (2 * step), 1e-8);
  }
}

}  // namespace
