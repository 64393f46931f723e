// Functions that std::bind, std::bind_front and std::mem_fn make of others.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using namespace std::placeholders;

double product(double a, double b) { return a * a * b; }
void store(double a, double& to) { to = a * a; }

double integral(std::function<double(double)> f, double from, double to) {
  const int n = 6;
  const double h = (to - from) / n;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += f(from + (i + 0.5) * h) * h;
  return sum;
}

double variable(double x, double y) {
  auto f = std::bind(product, _1, y);
  return f(x) * f(2.) + y;
}
double swapped(double x, double y) { return std::bind(product, _2, _1)(x, y); }
double twice_the_same(double x, double y) { return std::bind(product, _1, _1)(x) * y; }
double as_function(double x, double y) { return integral(std::bind(product, _1, x), 0, y); }
double bound_value(double x, double y) {
  auto f = std::bind(product, x, _1);
  x = y * y;  // the function has a copy
  return f(y) + x;
}
double bound_reference(double x, double y) {
  auto f = std::bind(product, std::cref(x), _1);
  const double before = f(y);
  x = y * y;
  return f(y) + before;
}
double output(double x, double y) {
  double t = 0;
  auto f = std::bind(store, _1, std::ref(t));
  f(x);
  const double first = t;
  f(y);
  return first * t;
}
double nested(double x, double y) {
  auto f = std::bind(product, std::bind(product, _1, y), _2);
  return f(x, 2.);
}
double of_lambda(double x, double y) {
  auto f = std::bind([y](double a, double b) { return a * b + y; }, _1, x);
  return f(3.) * f(x);
}
double front(double x, double y) {
  auto f = std::bind_front(product, x);
  return f(y) + std::bind_front(product, x, y)();
}

struct Model {
  double scale, power;
  double density(double t) const { return scale * std::pow(t, power); }
  double total(double to) const { return integral(std::bind(&Model::density, this, _1), 0.1, to); }
  void grow(double by) { scale *= by; }
};
double of_this(double x, double y) { return Model{x, y}.total(2); }
double of_method(double x, double y) {
  Model m{x, y};
  auto f = std::bind(&Model::density, &m, _1);
  const double before = f(1.5);
  m.scale = y;
  return before * f(x);
}
double of_copy(double x, double y) {
  Model m{x, y};
  auto f = std::bind(&Model::density, m, _1);
  m.scale = y;  // not that of the copy
  return f(2.) + m.scale;
}
double changing(double x, double y) {
  Model m{x, y};
  auto grow = std::bind(&Model::grow, &m, _1);
  grow(y);
  grow(x);
  return m.density(1.5);
}
double of_member(double x, double y) {
  Model m{x, y};
  auto scale = std::mem_fn(&Model::scale);
  auto density = std::mem_fn(&Model::density);
  return scale(m) * density(&m, 2.);
}
double of_data(double x, double y) {
  Model m{x, y};
  return std::bind(&Model::scale, _1)(m) * std::bind(&Model::power, m)();
}

double by_owner(double x, double y) {
  auto m = std::make_shared<Model>(Model{x, y});
  return std::bind(&Model::density, m, _1)(2.) * std::bind(&Model::density, m, _1)(y);
}
double of_function(double x, double y) {
  std::function<double(double, double)> g = [x](double a, double b) { return a * x + b; };
  return integral(std::bind(g, _1, y), 0, 1);
}

double of_elements(double x, double y) {
  std::vector<double> v{x, y, x * y};
  std::transform(v.begin(), v.end(), v.begin(), std::bind(product, _1, y));
  std::for_each(v.begin(), v.end(), std::bind(store, x, _1));
  return std::accumulate(v.begin(), v.end(), 0., std::bind(std::plus<double>(), _1, _2)) + v[1];
}
double sum_of_scales(double x, double y) {
  std::vector<Model> v{{x, 1}, {y, 2}, {x * y, 3}};
  std::vector<double> scales(3);
  std::transform(v.begin(), v.end(), scales.begin(), std::mem_fn(&Model::scale));
  return std::accumulate(scales.begin(), scales.end(), 0.);
}

// A class that is given a function, as solvers are.
class Solver {
 public:
  explicit Solver(std::function<double(double, double)> slope) : slope_(slope) {}
  double solve(double y, double to, int steps) const {
    const double h = to / steps;
    for (int i = 0; i < steps; ++i) y += h * slope_(i * h, y);
    return y;
  }

 private:
  std::function<double(double, double)> slope_;
};
struct Decay {
  double rate;
  double slope(double t, double y) const { return -rate * y + t; }
  double at(double start, double t) const {
    return Solver(std::bind(&Decay::slope, this, _1, _2)).solve(start, t, 5);
  }
};
double of_solver(double x, double y) { return Decay{y}.at(x, 2); }

// A function that a lambda captures, and of which only the call says which it is.
double captured(double (*f)(double, double), double x, double y) {
  auto g = [f, y](double t) { return f(t, y) * t; };
  return integral([f, g](double t) { return g(t) + f(t, t); }, 0, x) * g(x);
}
double of_captured(double x, double y) { return captured(product, x, y); }

double generic(double x, double y) {
  std::function<double(double)> f = [y](auto t) { return t * t * y; };
  return integral(f, 0, x);
}

#define CHECK(f)                                                                   \
  TEST(Binders, f) {                                                               \
    EXPECT_GRADIENT(f, 1.3, 0.7);                                                  \
    const auto by_x = clad::differentiate(f, 0), by_y = clad::differentiate(f, 1); \
    double dx = 0, dy = 0;                                                         \
    clad::gradient(f).execute(1.3, 0.7, &dx, &dy);                                 \
    EXPECT_NEAR(by_x.execute(1.3, 0.7), dx, 1e-12);                                \
    EXPECT_NEAR(by_y.execute(1.3, 0.7), dy, 1e-12);                                \
  }
CHECK(variable)
CHECK(swapped)
CHECK(twice_the_same)
CHECK(as_function)
CHECK(bound_value)
CHECK(bound_reference)
CHECK(output)
CHECK(nested)
CHECK(of_lambda)
CHECK(front)
CHECK(of_this)
CHECK(of_method)
CHECK(of_copy)
CHECK(changing)
CHECK(of_member)
CHECK(of_data)
CHECK(by_owner)
CHECK(of_function)
CHECK(of_elements)
CHECK(sum_of_scales)
CHECK(of_solver)
CHECK(of_captured)
CHECK(generic)

}  // namespace
