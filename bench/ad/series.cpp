// Sums, products and iterations of numbers.
#include <algorithm>
#include <cmath>

#include "bench/ad/kernel.h"
#include "clad/Differentiator/Differentiator.h"

namespace cladtorch::bench {
namespace {

/// A polynomial at x[0], by Horner's rule; the other numbers are its coefficients.
double horner(const double* x, int n) {
  double p = 0;
  for (int i = n - 1; i > 0; --i) p = p * x[0] + x[i];
  return p;
}
void horner_by_hand(const double* x, int n, double* d_x) {
  std::vector<double> before(static_cast<std::size_t>(n));
  double p = 0;
  for (int i = n - 1; i > 0; --i) {
    before[i] = p;
    p = p * x[0] + x[i];
  }
  double d_p = 1, d_0 = 0;
  for (int i = 1; i < n; ++i) {
    d_x[i] += d_p;
    d_0 += d_p * before[i];
    d_p *= x[0];
  }
  d_x[0] += d_0;
}

double sum_of_products(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += x[i] * x[n + i];
  return s;
}
void sum_of_products_by_hand(const double* x, int n, double* d_x) {
  for (int i = 0; i < n; ++i) {
    d_x[i] += x[n + i];
    d_x[n + i] += x[i];
  }
}

double rosenbrock(const double* x, int n) {
  double s = 0;
  for (int i = 0; i + 1 < n; ++i) {
    double a = x[i + 1] - x[i] * x[i];
    double b = 1 - x[i];
    s += 100 * a * a + b * b;
  }
  return s;
}
void rosenbrock_by_hand(const double* x, int n, double* d_x) {
  for (int i = 0; i + 1 < n; ++i) {
    const double d_a = 200 * (x[i + 1] - x[i] * x[i]);
    d_x[i + 1] += d_a;
    d_x[i] -= 2 * x[i] * d_a + 2 * (1 - x[i]);
  }
}

double cumulative_product(const double* x, int n) {
  double p = 1, s = 0;
  for (int i = 0; i < n; ++i) {
    p *= x[i];
    s += p;
  }
  return s;
}
void cumulative_product_by_hand(const double* x, int n, double* d_x) {
  std::vector<double> before(static_cast<std::size_t>(n));
  double p = 1;
  for (int i = 0; i < n; ++i) {
    before[i] = p;
    p *= x[i];
  }
  double d_p = 0;
  for (int i = n - 1; i >= 0; --i) {
    d_p += 1;
    d_x[i] += d_p * before[i];
    d_p *= x[i];
  }
}

double log_sum_exp(const double* x, int n) {
  double largest = x[0];
  for (int i = 1; i < n; ++i) largest = std::max(largest, x[i]);
  double s = 0;
  for (int i = 0; i < n; ++i) s += std::exp(x[i] - largest);
  return largest + std::log(s);
}
void log_sum_exp_by_hand(const double* x, int n, double* d_x) {
  double largest = x[0];
  for (int i = 1; i < n; ++i) largest = std::max(largest, x[i]);
  std::vector<double> e(static_cast<std::size_t>(n));
  double s = 0;
  for (int i = 0; i < n; ++i) s += e[i] = std::exp(x[i] - largest);
  for (int i = 0; i < n; ++i) d_x[i] += e[i] / s;
}

double bump(double x) { return std::sin(x) * std::exp(-x * x) + x / (1 + x * x); }
/// Independent iterations.
double sum_of_calls(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += bump(x[i]);
  return s;
}
void sum_of_calls_by_hand(const double* x, int n, double* d_x) {
  for (int i = 0; i < n; ++i) {
    const double square = x[i] * x[i], q = 1 / (1 + square);
    d_x[i] += std::exp(-square) * (std::cos(x[i]) - 2 * x[i] * std::sin(x[i])) + (1 - square) * q * q;
  }
}

/// y with y^3 + y = a, by Newton's method.
double root(double a) {
  double y = a;
  double step = 1;
  while (std::fabs(step) > 1e-10) {
    step = (y * y * y + y - a) / (3 * y * y + 1);
    y -= step;
  }
  return y;
}
double newton(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += root(x[i]);
  return s;
}
/// The iteration itself is differentiated, as the plugin does, not the equation it solves.
double root_by_hand(double a) {
  double before[64];
  int steps = 0;
  double y = a, step = 1;
  while (std::fabs(step) > 1e-10) {
    before[steps++] = y;
    step = (y * y * y + y - a) / (3 * y * y + 1);
    y -= step;
  }
  double d_y = 1, d_a = 0;
  while (steps > 0) {
    y = before[--steps];
    const double below = 1 / (3 * y * y + 1), quotient = (y * y * y + y - a) * below;
    d_a += d_y * below;
    d_y *= 6 * y * quotient * below;
  }
  return d_a + d_y;
}
void newton_by_hand(const double* x, int n, double* d_x) {
  for (int i = 0; i < n; ++i) d_x[i] += root_by_hand(x[i]);
}

auto horner_gradient = clad::gradient(horner, "x");
auto sum_of_products_gradient = clad::gradient(sum_of_products, "x");
auto rosenbrock_gradient = clad::gradient(rosenbrock, "x");
auto cumulative_product_gradient = clad::gradient(cumulative_product, "x");
auto log_sum_exp_gradient = clad::gradient(log_sum_exp, "x");
auto sum_of_calls_gradient = clad::gradient(sum_of_calls, "x");
auto newton_gradient = clad::gradient(newton, "x");

}  // namespace

void add_series(std::vector<Kernel>& to, bool small) {
  const int n = small ? 7 : 1000;
  std::vector<double> near_one = numbers(n, 0.99, 1.01);
  to.push_back(kernel("Horner", near_one, horner, horner_by_hand, horner_gradient, n));
  to.push_back(kernel("sum of products", numbers(2 * n), sum_of_products, sum_of_products_by_hand,
                      sum_of_products_gradient, n));
  to.push_back(kernel("Rosenbrock", numbers(n), rosenbrock, rosenbrock_by_hand, rosenbrock_gradient, n));
  to.push_back(kernel("cumulative product", near_one, cumulative_product, cumulative_product_by_hand,
                      cumulative_product_gradient, n));
  to.push_back(
      kernel("log-sum-exp", numbers(n, -3, 3), log_sum_exp, log_sum_exp_by_hand, log_sum_exp_gradient, n));
  to.push_back(
      kernel("sum of calls", numbers(n), sum_of_calls, sum_of_calls_by_hand, sum_of_calls_gradient, n));
  to.push_back(kernel("Newton", numbers(n / 4 + 1), newton, newton_by_hand, newton_gradient, n / 4 + 1));
}

}  // namespace cladtorch::bench
