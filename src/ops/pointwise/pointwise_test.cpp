#include "cladtorch/ops/pointwise.h"

#include <set>

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/pointwise_code.h"
#include "tests/ops/catalogue.h"
#include "tests/support/bfloat16_check.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::Tensors;

class Pointwise : public ::testing::TestWithParam<testing::Operation> {};

TEST_P(Pointwise, NamesItselfInErrors) {
  const std::string name = GetParam().name;
  EXPECT_EQ(testing::error_of([] { GetParam().forward({Tensor()}); }), name + ": x is undefined");
  EXPECT_EQ(testing::error_of([] { GetParam().forward({from_values<int32_t>({2}, {1, 2})}); }),
            name + ": expected float32 or float64, got int32; convert with to()");
}

TEST_P(Pointwise, KeepsNaN) {
  const std::set<std::string> blind = {"sign"};
  for (const DType dtype : {DType::float32, DType::float64}) {
    EXPECT_EQ(std::isnan(GetParam().forward({full({}, NAN, dtype)}).item()),
              !blind.contains(GetParam().name));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pointwise, ::testing::ValuesIn(testing::functions_of_one()),
                         [](const auto& info) { return info.param.name; });

TEST(PointwiseParameters, HaveTheDerivativesOfDifferences) {
  const auto check = []<class F>(F f, double low, double high) {
    const int count = functions::parameter_count<F>;
    Random random(4);
    Tensor x = Tensor::empty({40}, DType::float64);
    for (int64_t i = 0; i < x.numel(); ++i) x.data<double>()[i] = low + (high - low) * random.uniform();
    const Tensor d_y = testing::normals({{40}}, 6)[0];
    F d_f = {};
    Tensor d_x;
    pullbacks::pointwise_pullback(f, x, d_y, &d_f, &d_x);
    for (int i = 0; i < count; ++i) {
      constexpr double h = 6e-6;
      const auto at = [&](double step) {
        F moved = f;
        reinterpret_cast<double*>(&moved)[i] += step;
        return testing::dot(d_y, pointwise(moved, x));
      };
      EXPECT_NEAR(reinterpret_cast<double*>(&d_f)[i], (at(h) - at(-h)) / (2 * h), 1e-8)
          << F::name << ' ' << i;
    }
  };
  check(functions::Pow{2.5}, 0.2, 3);
  check(functions::Clamp{-1, 2}, -3, 3);
  check(functions::Threshold{0.3, -0.5}, -3, 3);
  check(functions::LeakyRelu{0.2}, -3, 3);
  check(functions::Elu{1.3}, -3, 3);
  check(functions::Celu{0.7}, -3, 3);
  check(functions::Softplus{1.5, 4}, -4, 4);
  check(functions::Hardshrink{0.5}, -3, 3);
  check(functions::Softshrink{0.5}, -3, 3);
}

TEST(Pointwise, ValuesAtKnownPoints) {
  const auto of = [](Tensor (*f)(const Tensor&), double x) { return f(full({}, x, DType::float64)).item(); };
  EXPECT_EQ(of(relu, -1), 0);
  EXPECT_EQ(of(sigmoid, -800), 0);
  EXPECT_EQ(of(sigmoid, 800), 1);
  EXPECT_EQ(of(logsigmoid, -800), -800);
  EXPECT_EQ(of(mish, 800), 800);
  EXPECT_EQ(of(log, 0), -INFINITY);
  EXPECT_EQ(of(rsqrt, 4), 0.5);
  EXPECT_EQ(of(round, 2.5), 2);
  EXPECT_EQ(of(round, -1.5), -2);
  EXPECT_EQ(of(trunc, -1.5), -1);
  EXPECT_TRUE(std::isnan(of(sqrt, -1)));
  for (double v : {-40.0, -3.0, -0.1, 0.0, 0.5, 2.0, 40.0}) {
    const double u = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
    EXPECT_NEAR(of(gelu_tanh, v), v / 2 * (1 + std::tanh(u)), 1e-15 * std::abs(v));
    EXPECT_NEAR(of(gelu_erf, v), v / 2 * (1 + std::erf(v / std::sqrt(2))), 1e-15 * std::abs(v));
    EXPECT_NEAR(of(silu, v), v / (1 + std::exp(-v)), 1e-15 * std::abs(v));
  }
}

TEST(Pointwise, GeluErfAndSiluKeepTheirTails) {
  for (const double v : {-5.0, -9.0, -12.0}) {
    const double expected = v / 2 * std::erfc(-v / std::sqrt(2));
    EXPECT_NEAR(gelu_erf(full({}, v, DType::float64)).item(), expected, 1e-14 * -expected);
    EXPECT_NEAR(gelu_erf(full({}, v)).item(), expected, 1e-5 * -expected);
  }
  for (double v : {-1000.0, -90.0}) EXPECT_NEAR(silu(full({}, v)).item(), 0, 1e-30);
  EXPECT_EQ(silu(full({}, 1000)).item(), 1000);
}

/// x^2 sin(kx), which the library does not have.
struct Wave {
  static constexpr const char* name = "wave";
  template <class T>
  T operator()(T x) const {
    using functions::sin;
    return x * x * sin(T(3) * x);
  }
};

TEST(Pointwise, TakesAFunctionOfAnotherProject) {
  const testing::Forward forward = [](const Tensors& x) { return pointwise(Wave{}, x[0]); };
  const testing::Pullback pullback = [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
    pullbacks::pointwise_pullback(Wave{}, x[0], std::move(d_y), d[0]);
  };
  const Tensors x = testing::normals({{3, 7}});
  EXPECT_TRUE(testing::gradients_match(forward, pullback, x));
  EXPECT_TRUE(testing::bfloat16_matches_float(forward, pullback, x));
}

}  // namespace
}  // namespace cladtorch
