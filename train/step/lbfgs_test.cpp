#include "cladtorch/train/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "io/temporary_folder.h"

namespace cladtorch {
namespace {

using io::error_of;

/// A vector and its gradient.
struct Problem {
  TensorList x, gradient;

  explicit Problem(const std::vector<double>& start, DType dtype = DType::float64)
      : x(std::vector<NamedTensor>{{"x", from_values<double>({std::ssize(start)}, start).to(dtype).clone()}}),
        gradient(std::vector<NamedTensor>{{"x", gradient_buffer_like(x[0].tensor)}}) {}

  std::vector<double> at() const {
    const Tensor dense = x[0].tensor.to(DType::float64);
    return {dense.data<double>(), dense.data<double>() + dense.numel()};
  }
  void add(const std::vector<double>& d) {
    gradient[0].tensor.accumulate(from_values<double>({std::ssize(d)}, d).to(x.dtype()));
  }
};

/// (1 - a)^2 + 100 (b - a^2)^2 of Rosenbrock.
double rosenbrock(Problem& problem) {
  const std::vector<double> x = problem.at();
  const double u = 1 - x[0], v = x[1] - x[0] * x[0];
  problem.add({-2 * u - 400 * x[0] * v, 200 * v});
  return u * u + 100 * v * v;
}

TEST(LBFGS, FindsTheMinimumOfRosenbrock) {
  for (const DType dtype : {DType::float64, DType::float32}) {
    Problem problem({-1.2, 1}, dtype);
    LBFGS optimizer(problem.x,
                    {.max_iter = 100, .tolerance_change = 1e-20, .line_search_fn = LineSearch::strong_wolfe});
    EXPECT_NEAR(optimizer.step(problem.gradient, [&] { return rosenbrock(problem); }), 24.2, 1e-4);
    EXPECT_NEAR(problem.at()[0], 1, dtype == DType::float64 ? 1e-8 : 1e-3);
    EXPECT_NEAR(problem.at()[1], 1, dtype == DType::float64 ? 1e-8 : 1e-3);
    EXPECT_LT(optimizer.evaluations(), 70);
  }
}

/// Exact line searches would take as many steps as there are dimensions.
TEST(LBFGS, SolvesAQuadraticProblemInFewSteps) {
  Problem problem(std::vector<double>(20, 1));
  LBFGS optimizer(problem.x, {.max_iter = 60, .line_search_fn = LineSearch::strong_wolfe});
  const auto closure = [&] {
    std::vector<double> x = problem.at();
    double loss = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const auto curvature = static_cast<double>(i + 1);
      loss += 0.5 * curvature * x[i] * x[i];
      x[i] *= curvature;
    }
    problem.add(x);
    return loss;
  };
  optimizer.step(problem.gradient, closure);
  for (const double value : problem.at()) EXPECT_NEAR(value, 0, 2e-5);
}

TEST(LBFGS, ContinuesOverSteps) {
  Problem one({-1.2, 1}), two({-1.2, 1});
  LBFGS once(
      one.x,
      {.max_iter = 40, .max_eval = 1000, .tolerance_change = 0, .line_search_fn = LineSearch::strong_wolfe});
  LBFGS many(
      two.x,
      {.max_iter = 1, .max_eval = 1000, .tolerance_change = 0, .line_search_fn = LineSearch::strong_wolfe});
  once.step(one.gradient, [&] { return rosenbrock(one); });
  for (int i = 0; i < 40; ++i) many.step(two.gradient, [&] { return rosenbrock(two); });
  EXPECT_NEAR(two.at()[0], one.at()[0], 1e-10);
  EXPECT_NEAR(two.at()[1], one.at()[1], 1e-10);
}

TEST(LBFGS, KeepsToItsLimits) {
  Problem problem({-1.2, 1});
  LBFGS optimizer(problem.x, {.lr = 1e-3, .max_iter = 4});
  optimizer.step(problem.gradient, [&] { return rosenbrock(problem); });
  EXPECT_EQ(optimizer.evaluations(), 4);  // the last direction is not evaluated
  Problem other({-1.2, 1});
  LBFGS limited(other.x, {.max_iter = 50, .max_eval = 7, .line_search_fn = LineSearch::strong_wolfe});
  limited.step(other.gradient, [&] { return rosenbrock(other); });
  EXPECT_GE(limited.evaluations(), 7);
  EXPECT_LT(limited.evaluations(), 7 + 26);
  Problem solved({1, 1});
  LBFGS idle(solved.x);
  idle.step(solved.gradient, [&] { return rosenbrock(solved); });
  EXPECT_EQ(idle.evaluations(), 1);
}

TEST(LBFGS, ErrorsSayWhatDoesNotFit) {
  Problem problem({1, 2}), other({1, 2, 3}), rounded({1, 2}, DType::bfloat16);
  EXPECT_EQ(error_of([&] { LBFGS(rounded.x); }),
            "LBFGS: expected parameters of float32 or float64, got bfloat16; train the float32 masters");
  EXPECT_EQ(error_of([&] { LBFGS(problem.x, {.max_iter = 0}); }),
            "LBFGS: expected max_iter and history_size above 0, got 0 and 100");
  LBFGS optimizer(problem.x);
  EXPECT_EQ(error_of([&] { optimizer.step(other.gradient, [] { return 0.0; }); }),
            "LBFGS: parameter 'x' is [2] float64, its gradient [3] float64");
  EXPECT_EQ(
      error_of([&] { optimizer.step(problem.gradient, [] { return double(INFINITY); }); }),
      "LBFGS: expected a finite loss and gradient where a step begins, got a loss of inf; restore earlier "
      "parameters and lower lr");
}

}  // namespace
}  // namespace cladtorch
