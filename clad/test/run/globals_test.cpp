// Variables with static storage that change while the function runs: the reverse sweep sees each as it was.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

double declared_gain = 1.5;
int declared_steps = 3;
double declared_weights[] = {2, 3};
double declared_inside(double x, double y) {
  extern double declared_gain;
  extern int declared_steps;
  extern double declared_weights[];
  double s = x;
  for (int i = 0; i < declared_steps; ++i) s *= declared_gain * y;
  return s * declared_weights[1];
}

namespace {

#define EXPECT_BOTH(f)          \
  EXPECT_GRADIENT(f, 1.3, 0.7); \
  EXPECT_GRADIENT(f, 0.7, 1.9)

// Assigned, counted, in loops, conditions and indices.

double rate = 1;
int count = 0, mode = 0, position = 0;
double assigned(double x, double y) {
  rate = 2;
  double s = x * rate;
  rate = 3;
  s += x * y * rate;
  rate = 1;
  return s;
}
double in_a_loop(double x, double y) {
  count = 0;
  double s = 0;
  for (int i = 0; i < 4; ++i) {
    count++;
    s += std::pow(x, count) * y * count;
  }
  return s;
}
double as_the_counter(double x, double y) {
  double s = x;
  for (count = 0; count < 4; ++count) s = std::sin(s) * y + count;
  count = 77;
  return s;
}
double in_conditions(double x, double y) {
  mode = 0;
  double s = x;
  for (int i = 0; i < 5; ++i) switch (mode) {
      case 0:
        s *= y;
        mode = 1;
        break;
      case 1:
        s += x;
        mode = 2;
        break;
      default:
        s = std::sin(s);
        mode = 0;
    }
  return s;
}
double as_an_index(double x, double y) {
  double v[3] = {x, y, x * y};
  position = 1;
  double s = v[position] * v[position];
  position = 2;
  s += v[position] * x;
  v[position] = s * x;
  position = 0;
  return s + v[2];
}
int next() { return ++count; }
double in_order(double x, double y) {
  count = 0;
  const double r = count * x + next() * y * x + count * next() * y;
  return r + count * x * y;
}
TEST(Globals, AreWhatTheyWereWhenTheyWereRead) {
  EXPECT_BOTH(assigned);
  EXPECT_BOTH(in_a_loop);
  EXPECT_BOTH(as_the_counter);
  EXPECT_BOTH(in_conditions);
  EXPECT_BOTH(as_an_index);
  EXPECT_BOTH(in_order);
}

// Of all kinds.

struct Config {
  int order = 2;
  double scale = 1;
  std::vector<double> weights{1, 2, 3};
  static inline double level = 1;
} config;
double coefficients[2] = {1, 2};
double* behind = coefficients;
std::vector<double> history;
std::array<double, 2> pair{1, 2};
template <class T>
T of_type = T(1);
namespace solver {
thread_local double dt = 0.1;
}
void set_up(int order) {
  config.order = order;
  config.scale = 0.5 * order;
  config.weights[0] = order;
}
double polynomial(double a) {
  double s = 0;
  for (int i = 0; i < config.order; ++i)
    s += config.weights[static_cast<std::size_t>(i)] * std::pow(a, i + 1) * config.scale;
  return s;
}
double of_a_class(double x, double y) {
  set_up(2);
  const double a = polynomial(x);
  set_up(3);
  const double b = polynomial(y);
  set_up(1);
  return a * b;
}
double static_members(double x, double y) {
  Config::level = 2;
  double s = x * Config::level * y;
  Config::level = 1;
  return s * (Config::level == 1 ? x : y);
}
double arrays(double x, double y) {
  coefficients[0] = 3;
  const double r = coefficients[0] * x * x + coefficients[1] * y * x;
  coefficients[0] = 1;
  std::memset(coefficients, 0, sizeof coefficients);
  coefficients[1] = 2;
  return r + coefficients[1] * x;
}
double behind_a_pointer(double x, double y) {
  behind[0] = 2;
  const double a = behind[0] * x;
  behind[0] = 5;
  const double b = a * behind[0] * y;
  behind[0] = 1;
  return b + behind[1] * x;
}
double vectors(double x, double y) {
  history.clear();
  history.push_back(2);
  const double a = history[0] * x;
  history.push_back(3);
  history[0] = 7;
  const double b = history[0] * history[1] * y * x;
  history.clear();
  return a + b + static_cast<double>(history.size()) * x;
}
double library_arrays(double x, double y) {
  for (double& a : pair) a = 3;
  const double s = pair[0] * x;
  std::swap(pair[0], pair[1]);
  pair.fill(1);
  return s * y * pair[1];
}
double variable_templates(double x, double y) {
  of_type<double> = 2;
  const double s = x * of_type<double>;
  of_type<double> = 1;
  return s * y * of_type<double>;
}
double one_per_thread(double x, double y) {
  solver::dt = 3;
  double r = x * solver::dt;
  solver::dt = 4;
  r *= y * solver::dt;
  solver::dt = 0;
  return r;
}
TEST(Globals, AreOfAllKinds) {
  EXPECT_BOTH(of_a_class);
  EXPECT_BOTH(static_members);
  EXPECT_BOTH(arrays);
  EXPECT_BOTH(behind_a_pointer);
  EXPECT_BOTH(vectors);
  EXPECT_BOTH(library_arrays);
  EXPECT_BOTH(variable_templates);
  EXPECT_BOTH(one_per_thread);
}

// By other names, and by functions that are called.

void set(double& to, double value) { to = value; }
double by_reference(double x, double y) {
  double& r = rate;
  r = 3;
  double s = x * rate;
  set(rate, 2);
  s *= y * rate;
  double* p = &rate;
  *p = 1;
  return s * rate;
}
double chosen(double x, double y) {
  double& r = x > 1 ? rate : coefficients[0];
  r = 5;
  const double s = r * x;
  r = 1;
  return s * y * (rate + coefficients[0]);
}
double& level() {
  static double k = 1;
  return k;
}
double by_what_a_call_returns(double x, double y) {
  level() = 3;
  const double s = level() * x;
  level() = 1;
  return s * y * level();
}
double grows(double a) {
  rate *= 1.1;
  return std::sin(a * rate);
}
double by_a_callee(double x, double y) {
  rate = 1;
  double s = 0;
  for (int i = 0; i < 4; ++i) s += grows(x * y + s * rate) * rate;
  grows(3);
  return s * rate;
}
double by_a_constant_call(double x, double y) {
  rate = 1;
  const double a = grows(0.5) * x * rate;
  return a * y + rate * grows(0.25) * x * x + rate * y;
}
double recursive(double a, int n) {
  if (n == 0) return a;
  ++count;
  const double r = recursive(a * a * 0.5 + count, n - 1) * count;
  --count;
  return r;
}
double scaled(double a, double by = rate) { return a * by; }
struct Scaled {
  double a;
  double by = rate;
};
double by_default(double x, double y) {
  rate = 2;
  const double a = scaled(x);
  const Scaled made{y};
  rate = 5;
  const double s = a * scaled(y) + made.a * made.by;
  rate = 1;
  return s;
}
double by_recursion(double x, double y) {
  count = 0;
  return recursive(x, 3) * y;
}
double by_a_lambda(double x, double y) {
  count = 0;
  auto g = [&](double a) {
    ++count;
    return a * count * y;
  };
  return g(x) + g(x * x) * count;
}
double by_an_algorithm(double x, double y) {
  rate = 0;
  std::vector<double> v{x, y, x * y};
  double s = 0;
  std::for_each(v.begin(), v.end(), [&](double a) {
    rate += 1;
    s += a * a * rate;
  });
  rate = 100;
  return s;
}
double by_a_function_object(double x, double y) {
  rate = 0;
  std::function<double(double)> g = [](double a) {
    rate += 1;
    return a * rate;
  };
  const double r = g(x) * g(y);
  rate = 50;
  return r;
}
struct Shape {
  virtual double area(double a) const = 0;
  virtual ~Shape() = default;
};
struct Square : Shape {
  double area(double a) const override {
    rate += 2;
    return a * rate;
  }
};
struct Disc : Shape {
  double area(double a) const override { return a * a * rate; }
};
double use(const Shape& s, double a) { return s.area(a) + rate * a; }
double by_a_virtual_call(double x, double y) {
  rate = 1;
  const Square square;
  const Disc disc;
  const double r = use(square, x) * use(disc, y);
  rate = 9;
  return r;
}
double cubed(double a, double b) {
  rate += 1;
  return a * a * b * rate;
}
double by_a_derivative(double x, double y) {
  rate = 0;
  auto d = clad::differentiate(cubed, "a");
  const double r = d.execute(x, y) * rate;
  rate = 5;
  return r + rate * x;
}
TEST(Globals, AreChangedByOtherNamesAndInCalls) {
  EXPECT_BOTH(by_reference);
  EXPECT_BOTH(chosen);
  EXPECT_BOTH(by_what_a_call_returns);
  EXPECT_BOTH(by_a_callee);
  EXPECT_BOTH(by_a_constant_call);
  EXPECT_BOTH(by_default);
  EXPECT_BOTH(by_recursion);
  EXPECT_BOTH(by_a_lambda);
  EXPECT_BOTH(by_an_algorithm);
  EXPECT_BOTH(by_a_function_object);
  EXPECT_BOTH(by_a_virtual_call);
  EXPECT_BOTH(by_a_derivative);
}

double step(double u, double p) {
  ++count;
  rate *= 1.05;
  return u + 0.1 * rate * p * u * count;
}
double in_a_checkpoint(double x, double y) {
  rate = 1;
  count = 0;
  double u = x;
  for (int i = 0; i < 5; ++i) u = clad::checkpoint(step(u, y));
  rate = 0.5;
  return u * rate;
}
double in_a_checkpointed_loop(double x, double y) {
  rate = 1;
  count = 0;
  double u = x;
  for (int i = 0; i < 10; ++i) {
    clad::checkpoint_loop(3);
    u = step(u, y);
    rate *= 0.9;
  }
  rate = 0.5;
  return u * rate;
}
TEST(Globals, UnderCheckpoints) {
  EXPECT_BOTH(in_a_checkpoint);
  EXPECT_BOTH(in_a_checkpointed_loop);
}

// A derivative leaves globals as the function does.

int calls = 0;
double last = 0, table[2];
std::vector<double> seen;
double changes_all(double x, double y) {
  ++calls;
  last = calls * 2;
  table[1] += 1;
  seen.push_back(calls);
  return x * y * calls + last * x + table[1] * y + seen.back();
}
TEST(Globals, EndAsTheFunctionLeavesThem) {
  double dx = 0, dy = 0;
  clad::gradient(changes_all).execute(1.5, 2.0, &dx, &dy);
  EXPECT_EQ(dx, 4);
  EXPECT_EQ(dy, 2.5);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(last, 2);
  EXPECT_EQ(table[1], 1);
  EXPECT_EQ(seen, std::vector<double>{1});
  dx = dy = 0;
  EXPECT_EQ(clad::value_and_gradient(changes_all).execute(1.5, 2.0, &dx, &dy), 18);
  EXPECT_EQ(dx, 8);
  EXPECT_EQ(dy, 5);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(seen, (std::vector<double>{1, 2}));
  double hessian[4];
  clad::hessian(changes_all).execute(1.5, 2.0, hessian);
  EXPECT_EQ(hessian[1], 3);
  EXPECT_EQ(calls, 2);
}
std::mt19937 generator(7);
double noisy(double x) {
  std::uniform_real_distribution<double> u(0, 1);
  return x * u(generator);
}
TEST(Globals, RandomNumbersGoOn) {
  auto gradient = clad::gradient(noisy);
  double first = 0, second = 0;
  gradient.execute(1.0, &first);
  gradient.execute(1.0, &second);
  generator.seed(7);
  EXPECT_EQ(noisy(1), first);
  EXPECT_EQ(noisy(1), second);
}

// What a function makes of constants is constant, whoever else calls it.
double squared(double x) { return x * x; }
const double nine = squared(3);
double with_constants(double x, double y) {
  static const double large = 1 / squared(1e-3);
  return std::fabs(x) > 5 ? std::copysign(large, x) * y : squared(x) * y * nine;
}
TEST(Globals, ComputedFromConstants) {
  EXPECT_GRADIENT(with_constants, 1.3, 0.7);
  EXPECT_GRADIENT(with_constants, -6, 0.7);
}

// Functions of a class template that nobody calls are not there, and change none.
template <class T>
struct Either {
  T a, b;
  T& operator[](int i) { return i == 0 ? a : b; }
};
double changes_none(double x, double y) {
  ++calls;
  const std::pair<Either<double>, double> pair{Either<double>{x, y}, x};
  return pair.first.a * pair.first.b * pair.second;
}
TEST(Globals, InFunctionsThatAreNotThere) { EXPECT_GRADIENT(changes_none, 1.3, 0.7); }

TEST(Globals, DeclaredInAFunction) { EXPECT_DERIVATIVES(declared_inside, 1.3, 0.7); }

}  // namespace
