#include "tests/ops/pointwise.h"

#include <set>

#include "cladtorch/ops/pointwise_code.h"
#include "cladtorch/ops/reduce.h"
#include "tests/support/bfloat16_check.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::PointwiseOperation;
using testing::relative_difference;
using testing::Tensors;

TEST(Catalogue, HasEveryPointwiseFunction) {
  std::set<int> found;
  for (const PointwiseOperation& operation : testing::pointwise_operations()) found.insert(operation.index);
#define CLADTORCH_EXPECT(F) EXPECT_TRUE(found.contains(functions::index_of<functions::F>)) << #F;
  CLADTORCH_FUNCTIONS(CLADTORCH_EXPECT)
#undef CLADTORCH_EXPECT
}

class Pointwise : public ::testing::TestWithParam<PointwiseOperation> {};

TEST_P(Pointwise, GradientMatchesDifferences) {
  for (const Shape& shape : {Shape{}, {0}, {1}, {15}, {16}, {17}, {2, 3, 5}})
    EXPECT_TRUE(testing::gradients_match(GetParam().forward, GetParam().pullback, {GetParam().draw(shape)}));
}

TEST_P(Pointwise, TangentAndItsGradientMatchDifferences) {
  const PointwiseOperation& f = GetParam();
  const Tensor x = f.draw({2, 17}), d_x = testing::normals({{2, 17}}, 8)[0];
  constexpr double h = 6e-6;
  const Tensor up = f.forward({testing::moved(x, h, d_x)}), down = f.forward({testing::moved(x, -h, d_x)});
  EXPECT_LT(relative_difference(f.tangent({x, d_x}), scale(sub(up, down), 0.5 / h)), 1e-8);
  EXPECT_TRUE(testing::gradients_match(f.tangent, f.tangent_pullback, {x, d_x}));
}

TEST_P(Pointwise, FloatAgreesWithDouble) {
  const PointwiseOperation& f = GetParam();
  const Tensor x = f.draw({1003}).to(DType::float32), wide = x.to(DType::float64);
  const Tensor d_y = testing::normals({{1003}}, 6)[0].to(DType::float32);
  EXPECT_LT(relative_difference(f.forward({x}), f.forward({wide})), 1e-6);
  Tensor d_x, d_wide;
  f.pullback({x}, d_y, {&d_x});
  f.pullback({wide}, d_y.to(DType::float64), {&d_wide});
  EXPECT_LT(relative_difference(d_x, d_wide), 2e-6);
}

TEST_P(Pointwise, RoundsBfloat16Once) {
  const PointwiseOperation& f = GetParam();
  for (const Shape& shape : {Shape{0}, {1}, {511}, {512}, {513}, {3, 20000}}) {
    const Tensor x = f.draw(shape);
    // The result that is kept has 8 bits; a slope of it loses that much of what it multiplies.
    const double slack = f.keeps_result ? 0.03 * testing::largest(f.forward({x})) : 0;
    EXPECT_TRUE(testing::bfloat16_matches_float(f.forward, f.pullback, {x}, slack)) << shape;
  }
}

TEST_P(Pointwise, OfAFrozenTensorIsFrozenAndEndsTheBackwardPass) {
  Tensor x = GetParam().draw({3, 9}), d_x;
  EXPECT_FALSE(GetParam().forward({x}).is_frozen());
  x.set_frozen(true);
  const Tensor y = GetParam().forward({x});
  EXPECT_TRUE(y.is_frozen());
  GetParam().pullback({x}, ones(y.shape(), y.dtype()), {&d_x});
  EXPECT_FALSE(d_x.defined());
}

TEST_P(Pointwise, NamesItselfInErrors) {
  const std::string name = GetParam().name;
  EXPECT_EQ(testing::error_of([] { GetParam().forward({Tensor()}); }), name + ": the tensor is undefined");
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

INSTANTIATE_TEST_SUITE_P(All, Pointwise, ::testing::ValuesIn(testing::pointwise_operations()),
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
