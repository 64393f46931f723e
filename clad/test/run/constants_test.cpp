// Members that carry no derivative.
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Settings {
  double factor = 3;
  std::vector<double> weights{1, 2};
};
struct Layer {
  double slope;
  CLAD_CONSTANT double epsilon = 0.5;
  CLAD_CONSTANT Settings settings;
  double operator()(double x) const { return slope * x / (x * x + epsilon) * settings.factor; }
};
struct Deep : Layer {
  double bias;
};

double through(const Deep& d, double x) {
  double y = d(x) + d.bias;
  const double& e = d.epsilon;
  for (const double w : d.settings.weights) y += w * e * d.slope;
  return y * d.epsilon;
}
TEST(Constants, TakeNoPartInTheGradient) {
  const Deep d{{2, 0.25, {}}, 1};
  Deep gradient{{0, 7, {}}, 0};
  double d_x = 0;
  clad::gradient(through).execute(d, 1.5, &gradient, &d_x);
  const auto at = [&](double slope, double bias, double x) { return through({{slope, 0.25, {}}, bias}, x); };
  EXPECT_NEAR(gradient.slope, (at(2 + 1e-6, 1, 1.5) - at(2 - 1e-6, 1, 1.5)) / 2e-6, 1e-8);
  EXPECT_NEAR(gradient.bias, 0.25, 1e-12);
  EXPECT_NEAR(d_x, (at(2, 1, 1.5 + 1e-6) - at(2, 1, 1.5 - 1e-6)) / 2e-6, 1e-8);
  EXPECT_EQ(gradient.epsilon, 7) << "the place of a constant was written";
}

TEST(Constants, OfADirectionMeanNothing) {
  const Deep d{{2, 0.25, {}}, 1}, direction{{0.5, 100, {}}, 0.25};
  double d_x = 0;
  const auto result = clad::pushforward(through, "d").execute(d, 1.5, &direction);
  Deep gradient{{0, 0, {}}, 0};
  clad::gradient(through).execute(d, 1.5, &gradient, &d_x);
  EXPECT_NEAR(result.pushforward, 0.5 * gradient.slope + 0.25 * gradient.bias, 1e-12);
  Deep product{{0, 0, {}}, 0};
  clad::hessian_vector_product(through, "d").execute(d, 1.5, &direction, &product);
  EXPECT_EQ(product.slope, 0);
  EXPECT_EQ(product.bias, 0);
}

double computed(double x) {
  Layer layer{x * x, x, {}};  // epsilon is x, and constant nevertheless
  layer.epsilon += x;
  layer.slope *= 2;
  layer.settings.factor = x;
  return layer(2.0) * layer.epsilon;
}
TEST(Constants, CutTheDerivativeOfWhatIsWrittenToThem) {
  const double x = 1.5;
  const auto expected = [&](double h) {
    const double slope = 2 * (x + h) * (x + h);
    return slope * 2 / (4 + 2 * x) * x * (2 * x);
  };
  double d = 0;
  clad::gradient(computed).execute(x, &d);
  EXPECT_NEAR(d, (expected(1e-6) - expected(-1e-6)) / 2e-6, 1e-7);
  EXPECT_NEAR(clad::differentiate(computed, "x").execute(x), d, 1e-12);
}

#define non_differentiable __attribute__((annotate("non_differentiable")))
struct Meter {
  double gain;
};
}  // namespace
namespace clad::custom_derivatives {
void nondifferentiable(clad::Tag<Meter>);
}
namespace {
struct CLAD_NONDIFFERENTIABLE Handle {
  double value;
};
struct Mixed {
  double x;
  CLAD_NONDIFFERENTIABLE double y;
  non_differentiable double twice(double a) const { return 2 * a * x; }
};
non_differentiable double identity(double x) { return x; }
double marked(double x) {
  const Meter meter{x};
  const Handle handle{x};
  const Mixed mixed{x * x, x};
  return mixed.x * mixed.y * meter.gain * handle.value + identity(x) * x + mixed.twice(x);
}
TEST(Constants, AreClassesMembersAndFunctionsMarkedAsInClad) {
  const double x = 1.5;
  double d = 0;
  clad::gradient(marked).execute(x, &d);
  EXPECT_DOUBLE_EQ(d, 2 * x * x * x * x + x);
  EXPECT_DOUBLE_EQ(clad::differentiate(marked, "x").execute(x), d);
}

// A class marked so, as a member, a base, an element and a part of a pair.
struct CLAD_NONDIFFERENTIABLE Record {
  double last = 0;
  void set(double v) { last = v; }
  double get() const { return last; }
};
struct Watched {
  Record log;
  Record both[2];
  double w;
  void note(double v) {
    log.set(v);
    log.last += v;
    both[1].last = w;
  }
};
struct Derived : Record {
  double w;
};
double watched(double x, double y) {
  Watched m{{7}, {}, y};
  m.note(x);
  Derived d{{x}, x * y};
  d.last += y;
  std::pair<Record, double> p{Record{x}, y};
  std::vector<Watched> v(1, m);
  v[0].log.last = x;
  return m.w * m.log.get() + m.w * m.both[1].last + d.w * d.last + p.first.last * p.second +
         v[0].log.last * v[0].w;
}
double of_watched(const Watched& m) { return m.w * m.log.last; }
TEST(Constants, AreMembersOfMarkedClasses) {
  const double x = 2, y = 3;
  // m.w: 2 x + y, d.w (x y): x + y, p.second: x, v[0].w: x
  const double gx = y * (x + y), gy = 2 * x + y + x * (x + y) + x + x;
  double dx = 0, dy = 0;
  clad::gradient(watched).execute(x, y, &dx, &dy);
  EXPECT_DOUBLE_EQ(dx, gx);
  EXPECT_DOUBLE_EQ(dy, gy);
  EXPECT_DOUBLE_EQ(clad::differentiate(watched, "x").execute(x, y), gx);
  EXPECT_DOUBLE_EQ(clad::differentiate(watched, "y").execute(x, y), gy);
  const Watched m{{2}, {}, 3};
  Watched d{{0}, {}, 0}, along{{1}, {}, 0};
  clad::gradient(of_watched).execute(m, &d);
  EXPECT_EQ(d.log.last, 0);
  EXPECT_EQ(d.w, 2);
  EXPECT_EQ(clad::pushforward(of_watched, "m").execute(m, &along).pushforward, 0);
}

double named_numbers(const double* p, int n) {
  constexpr int three = 3;
  const long two = three - 1;
  static constexpr unsigned char most = 200;
  constexpr unsigned far = 4000000000u;
  const int runtime = n - 1;
  const auto last = [=] { return three + two; };
  double s = 0, sum[three] = {};
  for (int i = 0; i < three; ++i) sum[i % two] += p[i] * p[i] * (i + two);
  for (unsigned char c = 198; c < most; ++c) s += p[c - 198] * (most - c);
  s += static_cast<double>(far) * 1e-9 * p[0] + p[runtime] * last() + (far + 400000000u) * 1e-9 * p[1];
  return s * sum[0] + sum[1];
}
TEST(Constants, NumbersThatAreKnownWhenCompiled) {
  EXPECT_GRADIENT(named_numbers, clad::test::buffer{0.5, 1.5, 0.75}, 3);
}

}  // namespace
