#include "tests/ops/pairwise.h"

#include <set>

#include "cladtorch/ops/pairwise_code.h"
#include "tests/support/bfloat16_check.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::PairwiseOperation;
using testing::relative_difference;
using testing::Tensors;

TEST(Catalogue, HasEveryFunctionOfTwo) {
  std::set<std::string> found;
  for (const PairwiseOperation& operation : testing::pairwise_operations()) found.insert(operation.function);
#define CLADTORCH_EXPECT(F) EXPECT_TRUE(found.contains(#F)) << #F;
  CLADTORCH_FUNCTIONS_OF_TWO(CLADTORCH_EXPECT)
#undef CLADTORCH_EXPECT
}

const std::vector<std::pair<Shape, Shape>> shapes = {{{}, {}},         {{0}, {0}},       {{17}, {17}},
                                                     {{2, 3, 5}, {5}}, {{5}, {2, 3, 5}}, {{5, 1}, {1, 7}},
                                                     {{}, {3, 4}},     {{3, 4}, {1}},    {{2, 1, 5}, {3, 1}}};

class Pairwise : public ::testing::TestWithParam<PairwiseOperation> {};

TEST_P(Pairwise, GradientsMatchDifferences) {
  const PairwiseOperation& f = GetParam();
  for (const auto& [a, b] : shapes)
    EXPECT_TRUE(testing::gradients_match(f.forward, f.pullback, {f.draw(0, a), f.draw(1, b)})) << a << b;
}

TEST_P(Pairwise, TangentAndItsGradientMatchDifferences) {
  const PairwiseOperation& f = GetParam();
  const Shape a{3, 1, 5}, b{4, 1};
  const Tensor u = f.draw(0, a), v = f.draw(1, b);
  const Tensors d = testing::normals({a, b}, 8);
  constexpr double h = 6e-6;
  const auto at = [&](double step) {
    return f.forward({testing::moved(u, step, d[0]), testing::moved(v, step, d[1])});
  };
  EXPECT_LT(relative_difference(f.tangent({u, v, d[0], d[1]}), scale(sub(at(h), at(-h)), 0.5 / h)), 1e-8);
  EXPECT_TRUE(testing::gradients_match(f.tangent, f.tangent_pullback, {u, v, d[0], d[1]}));
}

TEST_P(Pairwise, FloatAgreesWithDouble) {
  const PairwiseOperation& f = GetParam();
  const Tensors wide = {f.draw(0, {3, 333}).to(DType::float32).to(DType::float64),
                        f.draw(1, {333}).to(DType::float32).to(DType::float64)};
  const Tensors narrow = {wide[0].to(DType::float32), wide[1].to(DType::float32)};
  const Tensor d_y = testing::normals({{3, 333}}, 6)[0];
  EXPECT_LT(relative_difference(f.forward(narrow), f.forward(wide)), 1e-6);
  Tensor d[2], d_narrow[2];
  f.pullback(wide, d_y, {&d[0], &d[1]});
  f.pullback(narrow, d_y.to(DType::float32), {&d_narrow[0], &d_narrow[1]});
  for (int i = 0; i < 2; ++i) EXPECT_LT(relative_difference(d_narrow[i], d[i]), 2e-6);
}

TEST_P(Pairwise, RoundsBfloat16Once) {
  const PairwiseOperation& f = GetParam();
  for (const auto& [a, b] : {std::pair<Shape, Shape>{{513}, {513}}, {{3, 700}, {700}}, {{3, 700}, {3, 1}}})
    EXPECT_TRUE(testing::bfloat16_matches_float(f.forward, f.pullback, {f.draw(0, a), f.draw(1, b)})) << a;
}

TEST_P(Pairwise, OfFrozenTensorsEndsTheBackwardPass) {
  Tensor a = GetParam().draw(0, {3, 9}), b = GetParam().draw(1, {9}), d_a, d_b;
  a.set_frozen(true);
  const Tensor y = GetParam().forward({a, b});
  EXPECT_FALSE(y.is_frozen());
  GetParam().pullback({a, b}, ones(y.shape(), y.dtype()), {&d_a, &d_b});
  EXPECT_FALSE(d_a.defined());
  EXPECT_TRUE(d_b.defined());
  b.set_frozen(true);
  EXPECT_TRUE(GetParam().forward({a, b}).is_frozen());
}

TEST_P(Pairwise, NamesShapesInErrors) {
  const Tensor a = zeros({2, 3}), b = zeros({4});
  const std::string name = GetParam().name;
  EXPECT_EQ(testing::error_of([&] { GetParam().forward({a, b}); }).substr(0, name.size() + 2), name + ": ");
  EXPECT_EQ(testing::error_of([&] { GetParam().forward({a, Tensor()}); }),
            name + ": an operand is undefined");
}

INSTANTIATE_TEST_SUITE_P(All, Pairwise, ::testing::ValuesIn(testing::pairwise_operations()),
                         [](const auto& info) { return info.param.name; });

TEST(Pairwise, ValuesAtKnownPoints) {
  const auto of = [](Tensor (*f)(const Tensor&, const Tensor&), double a, double b) {
    return f(full({}, a, DType::float64), full({}, b, DType::float64)).item();
  };
  EXPECT_EQ(of(maximum, 2, 3), 3);
  EXPECT_EQ(of(minimum, 2, 2), 2);
  EXPECT_TRUE(std::isnan(of(maximum, NAN, 2)) && std::isnan(of(minimum, 2, NAN)));
  EXPECT_EQ(of(maximum, INFINITY, INFINITY), INFINITY);
  EXPECT_EQ(of(logaddexp, 800, 800), 800 + std::log(2));
  EXPECT_EQ(of(logaddexp, -INFINITY, -INFINITY), -INFINITY);
  EXPECT_EQ(of(logaddexp, -INFINITY, 3), 3);
  EXPECT_EQ(of(xlogy, 0, INFINITY), 0);
  EXPECT_TRUE(std::isnan(of(xlogy, 0, NAN)));
  EXPECT_EQ(of(remainder, -7, 3), 2);
  EXPECT_DOUBLE_EQ(of(hypot, 3e200, 4e200), 5e200);
  EXPECT_EQ(of(pow, 2, -1), 0.5);
}

TEST(Pairwise, EqualOperandsShareTheDerivative) {
  const Tensor x = full({2}, 1.5, DType::float64);
  Tensor d_a, d_b;
  pullbacks::pairwise_pullback(functions::Maximum{}, x, x, ones({2}, DType::float64), &d_a, &d_b);
  EXPECT_EQ(d_a.select(0, 0).item(), 0.5);
  EXPECT_EQ(d_b.select(0, 0).item(), 0.5);
}

/// a sin(b), which the library does not have.
struct Turn {
  static constexpr const char* name = "turn";
  template <class T>
  T operator()(T a, T b) const {
    using functions::sin;
    return a * sin(b);
  }
};

TEST(Pairwise, TakesAFunctionOfAnotherProject) {
  EXPECT_TRUE(testing::gradients_match([](const Tensors& x) { return pairwise(Turn{}, x[0], x[1]); },
                                       [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                         pullbacks::pairwise_pullback(Turn{}, x[0], x[1], std::move(d_y),
                                                                      d[0], d[1]);
                                       },
                                       testing::normals({{3, 7}, {7}})));
}

}  // namespace
}  // namespace cladtorch
