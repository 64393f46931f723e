#include "cladtorch/ops/pairwise.h"

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/pairwise_code.h"
#include "tests/ops/catalogue.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::Tensors;

class Pairwise : public ::testing::TestWithParam<testing::Operation> {};

TEST_P(Pairwise, NamesShapesInErrors) {
  const Tensor a = zeros({2, 3}), b = zeros({4});
  const std::string name = GetParam().name.substr(std::string("pairwise_").size());
  EXPECT_EQ(testing::error_of([&] { GetParam().forward({a, b}); }).substr(0, name.size() + 2), name + ": ");
  EXPECT_EQ(testing::error_of([&] { GetParam().forward({a, Tensor()}); }), name + ": b is undefined");
}

INSTANTIATE_TEST_SUITE_P(All, Pairwise, ::testing::ValuesIn(testing::functions_of_two()),
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
