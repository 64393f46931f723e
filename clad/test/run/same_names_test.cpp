// Two translation units that differentiate functions of the same name in namespaces of their own. What the
// plugin writes for one must never be taken for the other's.
#include "clad/Differentiator/Differentiator.h"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <vector>

#include "clad/test/support/finite_difference.h"
#include "same_names.h"

namespace first {

struct Model {
  std::vector<double> weights;
};

double term(double weight, double x) { return weight * weight * x; }

double loss(const Model& model, double x) {
  double sum = 0;
  for (std::size_t i = 0; i < model.weights.size(); ++i) sum += term(model.weights[i], x);
  return sum * sum;
}

}  // namespace first

TEST(SameNames, OfTwoTranslationUnitsAreTwoFunctions) {
  const first::Model model{{1, 2, 3}};
  first::Model d_first{{0, 0, 0}};
  clad::gradient(first::loss, "model").execute(model, 2, &d_first);
  // (sum w^2 x)^2, with x = 2 and the sum 28: 2 * 28 * 2 w x
  EXPECT_EQ(d_first.weights, (std::vector<double>{224, 448, 672}));

  // sum of sin(w x) cos(w x) (w + 1), by hand.
  const std::vector<double> d_second = second_gradient(model.weights, 2);
  ASSERT_EQ(d_second.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const double w = model.weights[i];
    EXPECT_NEAR(d_second[i], 2 * std::cos(4 * w) * (w + 1) + std::sin(4 * w) / 2, 1e-12) << i;
  }
}

// Names of anonymous namespaces that mean something else outside of them.
namespace {

double read(double x) { return x * x; }
template <class T>
T select(T x) {
  return x * 2;
}
double time = 1.5;
double access[2] = {2, 3};
struct timeval {
  double h;
  struct tm {
    double w;
  } inner;
};
std::vector<timeval> index(double x) { return {{x, {x * x}}, {2, {3}}}; }
double hidden_names(double x, double y) {
  std::vector<timeval> v = index(x);
  v[1].h = read(y) * time * access[1];
  return select(v[0].inner.w) * v[1].h * v[0].h;
}

}  // namespace

TEST(SameNames, OfTheCLibrary) { EXPECT_DERIVATIVES(hidden_names, 1.3, 0.7); }
