// Checkpointed loops that carry tensors: a recurrence with a network inside, over 200 steps.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cladtorch/nn/nn.h"
#include "cladtorch/ops/pushforward.h"

namespace {

using cladtorch::DType;
using cladtorch::Shape;
using cladtorch::Tensor;

struct Network {
  Tensor hidden, bias, output;
};
constexpr Tensor Network::* parts[] = {&Network::hidden, &Network::bias, &Network::output};

Tensor correction(const Network& n, const Tensor& u) {
  return linear(cladtorch::tanh(linear(u, n.hidden, n.bias)), n.output);
}

double marked(const Network& n, const Tensor& start, const Tensor& target, int steps, int snapshots) {
  Tensor u = start;
  double sum = 0;
  for (int t = 0; t < steps; ++t) {
    clad::checkpoint_loop(snapshots);
    u = add(scale(u, 0.98), scale(correction(n, u), 0.05));
    const Tensor off = sub(u, target);
    sum += mean(mul(off, off)).item();
  }
  return sum / steps;
}
double unmarked(const Network& n, const Tensor& start, const Tensor& target, int steps) {
  Tensor u = start;
  double sum = 0;
  for (int t = 0; t < steps; ++t) {
    u = add(scale(u, 0.98), scale(correction(n, u), 0.05));
    const Tensor off = sub(u, target);
    sum += mean(mul(off, off)).item();
  }
  return sum / steps;
}

Tensor normals(const Shape& shape, cladtorch::Random& random) {
  Tensor t = cladtorch::zeros(shape, DType::float64);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<double>()[i] = random.normal();
  return t;
}

class TensorLoop : public testing::Test {
 protected:
  cladtorch::Random random_{7};
  Network at_ = network(), direction_ = network();
  Tensor start_ = normals({2, 6}, random_), target_ = normals({2, 6}, random_);

  Network network() { return {normals({8, 6}, random_), normals({8}, random_), normals({6, 8}, random_)}; }
  Network moved(double h) const {
    Network n;
    for (const auto part : parts) n.*part = add(at_.*part, cladtorch::scale(direction_.*part, h));
    return n;
  }
  double along_direction(const Network& d) const {
    double sum = 0;
    for (const auto part : parts) sum += cladtorch::sum(mul(d.*part, direction_.*part)).item();
    return sum;
  }
  static void expect_same(const Tensor& a, const Tensor& b, double relative) {
    ASSERT_TRUE(a.defined() && b.defined());
    for (int64_t i = 0; i < a.numel(); ++i) {
      const double x = a.data<double>()[i], y = b.data<double>()[i];
      ASSERT_NEAR(x, y, relative * std::max(1.0, std::fabs(y)));
    }
  }
};

TEST_F(TensorLoop, TheGradientThrough200StepsIsThatWithoutTheMark) {
  Network expected;
  Tensor d_start;
  clad::gradient(unmarked, "n, start").execute(at_, start_, target_, 200, &expected, &d_start);
  for (const int snapshots : {1, 8, 200}) {
    Network d;
    Tensor d_u;
    clad::gradient(marked, "n, start").execute(at_, start_, target_, 200, snapshots, &d, &d_u);
    for (const auto part : parts) expect_same(d.*part, expected.*part, 1e-13);
    expect_same(d_u, d_start, 1e-13);
  }
}

TEST_F(TensorLoop, TheGradientAgreesWithDifferences) {
  Network d;
  clad::gradient(marked, "n").execute(at_, start_, target_, 30, 4, &d);
  const double step = 1e-5;
  const double plus = marked(moved(step), start_, target_, 30, 4);
  const double minus = marked(moved(-step), start_, target_, 30, 4);
  EXPECT_NEAR(along_direction(d), (plus - minus) / (2 * step), 1e-7 * std::fabs(along_direction(d)));
}

TEST_F(TensorLoop, AHessianTimesAVectorIsThatWithoutTheMark) {
  Network product, expected;
  clad::hessian_vector_product(marked, "n").execute(at_, start_, target_, 20, 3, &direction_, &product);
  clad::hessian_vector_product(unmarked, "n").execute(at_, start_, target_, 20, &direction_, &expected);
  for (const auto part : parts) expect_same(product.*part, expected.*part, 1e-12);
}

// Masks, noise and indices in buffers that each step fills again.
void choose(Tensor& rows, int t) { rows.data<int32_t>()[0] = t % 3; }
struct Buffers {
  Tensor mask, rows;
};
double refilled(const Tensor& w, const Tensor& x) {
  Tensor mask = cladtorch::zeros({1, 6}, DType::float64);
  Buffers b{cladtorch::zeros({1, 6}, DType::float64), cladtorch::zeros({1}, DType::int32)};
  double s = 0;
  for (int t = 0; t < 4; ++t) {
    mask.fill_(t);
    b.mask.copy_from(cladtorch::scale(mask, 0.5));
    choose(b.rows, t);
    const Tensor row = cladtorch::embedding(b.rows, w);
    s += sum(mul(mul(row, mask), x)).item() + sum(mul(mul(x, b.mask), x)).item();
  }
  return s;
}
double fresh(const Tensor& w, const Tensor& x) {
  double s = 0;
  for (int t = 0; t < 4; ++t) {
    Tensor mask = cladtorch::zeros_like(x);
    mask.fill_(t);
    const Tensor half = cladtorch::scale(mask, 0.5);
    Tensor rows = cladtorch::zeros({1}, DType::int32);
    rows.data<int32_t>()[0] = t % 3;
    const Tensor row = cladtorch::embedding(rows, w);
    s += sum(mul(mul(row, mask), x)).item() + sum(mul(mul(x, half), x)).item();
  }
  return s;
}
TEST_F(TensorLoop, BuffersThatAreFilledAgainAreAsGoodAsFreshOnes) {
  const Tensor w = normals({3, 6}, random_), x = normals({1, 6}, random_);
  Tensor d_w, d_x, expected_w, expected_x;
  clad::gradient(refilled).execute(w, x, &d_w, &d_x);
  clad::gradient(fresh).execute(w, x, &expected_w, &expected_x);
  expect_same(d_w, expected_w, 1e-13);
  expect_same(d_x, expected_x, 1e-13);
}

/// Of the vector's elements, one is a constant, pushed in a branch of its own.
double of_mixed(const Tensor& x, const Tensor& constant, int place) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 3; ++i) {
    if (i == place) {
      parts.push_back(constant);
    } else {
      parts.push_back(cladtorch::scale(x, i + 1));
    }
  }
  const Tensor y = cladtorch::cat(parts);
  return sum(mul(y, y)).item();
}

TEST_F(TensorLoop, AVectorMayHoldConstantsBesideWhatHasDerivatives) {
  auto gradient = clad::gradient(of_mixed, "x");
  for (int place = 0; place < 3; ++place) {
    Tensor d;
    gradient.execute(start_, target_, place, &d);
    const double factor = 2.0 * ((place == 0 ? 0 : 1) + (place == 1 ? 0 : 4) + (place == 2 ? 0 : 9));
    const Tensor off = sub(d, cladtorch::scale(start_, factor));
    EXPECT_LT(sum(mul(off, off)).item(), 1e-20) << place;
  }
}

}  // namespace
