// What C's callbacks work on: a pointer that is passed as `void*` and cast back to what it was.
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double scaled(double t, void* p) { return t * *static_cast<double*>(p); }
double passed_on(void* p) { return scaled(2, p); }
double direct(double x) { return scaled(x, &x); }
double by_way_of_another(double x) { return passed_on(&x) * x; }

using Integrand = double (*)(double, void*);

double integral(Integrand f, double from, double to, void* context) {
  const int n = 8;
  const double h = (to - from) / n;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += f(from + (i + 0.5) * h, context) * h;
  return sum;
}

struct Oscillator {
  double frequency, damping;
  int calls = 0;
};

double decaying(double t, void* p) {
  auto* o = static_cast<Oscillator*>(p);
  ++o->calls;
  return std::exp(-o->damping * t) * std::cos(o->frequency * t);
}

double of_object(double x, double y) {
  Oscillator o{x, y};
  return integral(decaying, 0, 1, &o) + o.calls;
}

double of_lambda(double x, double y) {
  double both[2] = {x, y};
  return integral(
      [](double t, void* p) {
        const double* v = (const double*)p;
        return v[0] * t + v[1] * t * t;
      },
      x, 2, both);
}

double of_vector(double x, double y) {
  std::vector<double> v{x, x * y, y};
  return integral(
      [](double t, void* p) {
        double sum = 0;
        for (double a : *static_cast<std::vector<double>*>(p)) sum = sum * t + a;
        return sum;
      },
      0, 1, &v);
}

// A lambda's captures, by a function that calls it.
template <class Call>
double call(double t, void* lambda) {
  return (*static_cast<Call*>(lambda))(t);
}
double of_captures(double x, double y) {
  const auto f = [&x, y](double t) { return t * x * x + y; };
  return integral(call<const decltype(f)>, 0, y, const_cast<void*>(static_cast<const void*>(&f)));
}

// Results by way of it, as of a visitor.
void add_square(double value, void* sum) { *(double*)sum += value * value; }
void visit(const double* values, int n, void (*f)(double, void*), void* context) {
  for (int i = 0; i < n; ++i) f(values[i], context);
}
double visited(double x, double y) {
  const double values[3] = {x, y, x * y};
  double sum = 0;
  visit(values, 3, add_square, &sum);
  return sum;
}

// Read only, as of a comparison.
double read_of(const void* a, const void* b) { return *(const double*)a * 2 - *(const double*)b; }
double compared(double x, double y) { return read_of(&x, &y) * read_of(&y, &x); }

// Several returns.
double chosen_context(double x, void* p) {
  if (!p) return x;
  if (x < 0) return -*(double*)p;
  return x * *(double*)p;
}
double chosen(double x, double y) { return chosen_context(x, &y) + chosen_context(-x, &y); }

TEST(Contexts, OneNumber) {
  for (double x : {0.7, -1.3}) {
    double d = 0;
    clad::gradient(direct).execute(x, &d);
    EXPECT_NEAR(d, 2 * x, 1e-12);
    d = 0;
    clad::gradient(by_way_of_another).execute(x, &d);
    EXPECT_NEAR(d, 4 * x, 1e-12);
    EXPECT_NEAR(clad::differentiate(by_way_of_another, "x").execute(x), 4 * x, 1e-12);
  }
}

template <class Gradient, class Forward>
void check(double (*f)(double, double), const Gradient& gradient, const Forward& forward) {
  for (const auto& [x, y] : {std::pair{0.7, 1.2}, {1.6, 0.4}}) {
    const double h = 1e-6;
    const double by_x = (f(x + h, y) - f(x - h, y)) / (2 * h), by_y = (f(x, y + h) - f(x, y - h)) / (2 * h);
    double dx = 0, dy = 0;
    gradient(x, y, &dx, &dy);
    EXPECT_NEAR(dx, by_x, 1e-7);
    EXPECT_NEAR(dy, by_y, 1e-7);
    EXPECT_NEAR(forward(x, y), by_x, 1e-7);
  }
}

#define CHECK(f)                                                   \
  check(                                                           \
      f, [](auto... args) { clad::gradient(f).execute(args...); }, \
      [](double x, double y) { return clad::differentiate(f, "x").execute(x, y); })

TEST(Contexts, Object) { CHECK(of_object); }
TEST(Contexts, ArrayOfALambda) { CHECK(of_lambda); }
TEST(Contexts, CapturesOfALambda) { CHECK(of_captures); }
TEST(Contexts, Vector) { CHECK(of_vector); }
TEST(Contexts, ResultsByWayOfIt) { CHECK(visited); }
TEST(Contexts, Constant) { CHECK(compared); }
TEST(Contexts, SeveralReturns) { CHECK(chosen); }

TEST(Contexts, Hessian) {
  double h[4] = {};
  clad::hessian(visited).execute(0.7, 1.2, h);
  EXPECT_NEAR(h[0], 2 + 2 * 1.2 * 1.2, 1e-9);
  EXPECT_NEAR(h[1], 4 * 0.7 * 1.2, 1e-9);
}

}  // namespace
