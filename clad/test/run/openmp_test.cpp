// Parallel loops: their derivatives are those of the same loops in turn, whatever the number of threads.
#include <gtest/gtest.h>
#include <malloc.h>
#include <omp.h>

#include "clad/test/run/openmp_kernels.h"
#include "clad/test/support/finite_difference.h"

namespace {

std::vector<double> numbers(int n) {
  std::vector<double> x(4 * n + 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + 1.7 * static_cast<double>(i)) + 0.1;
  return x;
}

std::vector<double> gradient(const Case& c, int n) {
  const std::vector<double> x = numbers(n);
  std::vector<double> d(x.size(), 0.25), before = x;
  c.gradient(before.data(), n, d.data());
  EXPECT_EQ(before, x);
  return d;
}

double pushforward(const Case& c, int n) {
  const std::vector<double> x = numbers(n);
  std::vector<double> direction(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) direction[i] = std::cos(static_cast<double>(i));
  return c.pushforward(x.data(), n, direction.data());
}

double close(double expected) { return 1e-12 * std::max(1.0, std::fabs(expected)); }

class OpenMP : public testing::TestWithParam<std::size_t> {};

TEST_P(OpenMP, EqualsTheLoopInTurn) {
  const Case parallel = all_cases()[GetParam()], in_turn = cases_in_turn()[GetParam()];
  for (const int n : {0, 1, 3, 1000}) {
    const std::vector<double> expected = gradient(in_turn, n);
    double largest = 1;
    for (const double d : expected) largest = std::max(largest, std::fabs(d));
    const double tangent = pushforward(in_turn, n), value = in_turn.f(numbers(n).data(), n);
    for (const int threads : {1, 2, 4}) {
      omp_set_num_threads(threads);
      SCOPED_TRACE(std::string(parallel.name) + ", n = " + std::to_string(n) +
                   ", threads = " + std::to_string(threads));
      const std::vector<double> actual = gradient(parallel, n);
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], 1e-12 * largest) << i;
      EXPECT_NEAR(pushforward(parallel, n), tangent, close(tangent) * 10);
      EXPECT_NEAR(parallel.f(numbers(n).data(), n), value, close(value));
    }
  }
}

TEST_P(OpenMP, AgreesWithFiniteDifferences) {
  const Case c = all_cases()[GetParam()];
  omp_set_num_threads(3);
  for (const int n : {0, 1, 5}) {
    const std::vector<double> x = numbers(n), actual = gradient(c, n);
    const auto f = [&](std::vector<double>& at) { return c.f(at.data(), n); };
    double along = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto expected = static_cast<double>(clad::test::difference(f, std::tuple(x), i, 5e-4L));
      EXPECT_NEAR(actual[i] - 0.25, expected, 1e-8 * std::max(1.0, std::fabs(expected)))
          << c.name << ' ' << i;
      along += expected * std::cos(static_cast<double>(i));
    }
    EXPECT_NEAR(pushforward(c, n), along, 1e-7 * std::max(1.0, std::fabs(along))) << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, OpenMP, testing::Range(std::size_t{0}, all_cases().size()),
                         [](const auto& info) { return std::string(all_cases()[info.param].name); });

/// Of all threads, in bytes; 0 under a sanitizer, which has its own malloc.
std::size_t in_use() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

/// One thread fills a tape and another one may empty it.
TEST(OpenMPMemory, DoesNotGrowFromCallToCall) {
  omp_set_num_threads(4);
  for (const char* name : {"inner_loops", "objects"}) {
    const std::vector<Case> cases = all_cases();
    const Case& c = *std::find_if(cases.begin(), cases.end(),
                                  [&](const Case& one) { return one.name == std::string(name); });
    for (int i = 0; i < 20; ++i) gradient(c, 1000);
    const std::size_t before = in_use();
    for (int i = 0; i < 200; ++i) gradient(c, 1000);
    EXPECT_LT(in_use(), before + (std::size_t{4} << 20)) << name;
  }
}

double curved(double a, double b) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 100; ++i) s += std::sin(a * i) * b * b;
  return s;
}

TEST(OpenMPOrders, SecondDerivatives) {
  omp_set_num_threads(3);
  double matrix[4] = {};
  clad::hessian(curved).execute(0.3, 0.7, matrix);
  double aa = 0, ab = 0, bb = 0;
  for (int i = 0; i < 100; ++i) {
    aa -= i * i * std::sin(0.3 * i) * 0.49;
    ab += i * std::cos(0.3 * i) * 1.4;
    bb += 2 * std::sin(0.3 * i);
  }
  EXPECT_NEAR(matrix[0], aa, 1e-9);
  EXPECT_NEAR(matrix[1], ab, 1e-9);
  EXPECT_NEAR(matrix[2], ab, 1e-9);
  EXPECT_NEAR(matrix[3], bb, 1e-9);
  double d_a = 0, d_b = 0;
  clad::differentiate<clad::opts::vector_mode>(curved).execute(0.3, 0.7, &d_a, &d_b);
  double g_a = 0, g_b = 0;
  clad::gradient(curved).execute(0.3, 0.7, &g_a, &g_b);
  EXPECT_NEAR(d_a, g_a, 1e-9);
  EXPECT_NEAR(d_b, g_b, 1e-9);
}

struct Series {
  std::vector<double> weights;
  int size() const { return weights.empty() ? 0 : static_cast<int>(weights.size()); }
  int first() const { return 1; }
  double at(int i) const { return weights[i]; }
};
double bound_by_methods(double x, double y) {
  const Series series{{x, y, x * y, 2}};
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = series.first(); i < series.size(); ++i) s += series.at(i) * std::sin(i * y);
#pragma omp parallel for reduction(+ : s)
  for (std::size_t i = 0; i < series.weights.size(); ++i) s += series.at(i) * x;
  return s;
}
TEST(OpenMPOrders, BoundsThatAreCalls) { EXPECT_DERIVATIVES(bound_by_methods, 1.3, 0.7); }

}  // namespace
namespace lib {
void pair(double k, double* y) {
  y[0] *= k;
  y[1] *= k;
}
}  // namespace lib
namespace clad::custom_derivatives::lib {
void pair_pullback(double k, double* y, double* d_k, double* d_y) {
  for (int i = 0; i < 2; ++i) {
    *d_k += d_y[i] * y[i] / k;
    d_y[i] *= k;
  }
}
}  // namespace clad::custom_derivatives::lib
namespace {
double changed_in_place(double x, double y) {
  std::vector<std::array<double, 2>> v(20, {x, y});
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 20; ++i) {
    double own[2] = {x * i, y};
    lib::pair(v[i][1], own);
    lib::pair(1 + i * 0.01, v[i].data());
    s += own[0] * own[1] + v[i][0] * v[i][1];
  }
  return s;
}
TEST(OpenMPOrders, ArraysThatPullbacksSeeAsTheyWereLeft) { EXPECT_GRADIENT(changed_in_place, 1.3, 0.7); }

double added_up(double x, double y) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 4; ++i) s += x * i * y;
  return s;
}
TEST(OpenMPOrders, ErrorsOfASum) {
  double d_x = 0, d_y = 0, error = 0;
  clad::estimate_error(added_up).execute(1.3, 0.7, &d_x, &d_y, error);
  EXPECT_NEAR(d_x, 6 * 0.7, 1e-12);
  EXPECT_NEAR(d_y, 6 * 1.3, 1e-12);
  EXPECT_GT(error, 0);
}

double past_zero(double x, double y) {
  double s = 0, most = x, last = y;
#pragma omp parallel for reduction(+ : s) lastprivate(last)
  for (unsigned i = 4; i != -1U; --i) {
    s += std::sin(x * y * i);
    last = x * y * (i + 3);
  }
#pragma omp parallel for reduction(max : most)
  for (unsigned i = 4294967294U; i != 5; ++i) most = std::max(most, std::cos(x * y * (i % 10)));
  return s * most * last;
}
TEST(OpenMPOrders, CountersThatWrapAround) { EXPECT_DERIVATIVES(past_zero, 1.3, 0.7); }

}  // namespace
