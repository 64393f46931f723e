// Small whole programs: numerics as people write it.
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::buffer;

double log_sum_exp(const double* p, int n) {
  double best = p[0];
  int where = 0;
  for (int i = 1; i < n; ++i)
    if (p[i] > best) {
      best = p[i];
      where = i;
    }
  double e = 0;
  for (int i = 0; i < n; ++i) e += std::exp(p[i] - best);
  return std::log(e) + best + p[where] * p[(where + 1) % n];
}
TEST(Algorithms, LogSumExpWithTheIndexOfTheMaximum) {
  EXPECT_GRADIENT(log_sum_exp, (buffer<double>{0.5, 1.6, 0.7}), 3);
}

double runge_kutta(double y, double k) {
  auto rhs = [k](double t, double y) { return -k * y + std::sin(t); };
  double t = 0, h = 0.1;
  for (int i = 0; i < 20; ++i) {
    double k1 = rhs(t, y), k2 = rhs(t + h / 2, y + h / 2 * k1), k3 = rhs(t + h / 2, y + h / 2 * k2),
           k4 = rhs(t + h, y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    t += h;
  }
  return y;
}
TEST(Algorithms, RungeKutta) { EXPECT_GRADIENT(runge_kutta, 1.2, 0.7); }

std::vector<double> matmul(const std::vector<double>& a, const std::vector<double>& b, int n) {
  std::vector<double> c(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
  return c;
}
double network(std::vector<double> a, const std::vector<double>& b) {
  for (int i = 0; i < 3; ++i) {
    a = matmul(a, b, 2);
    for (auto& e : a) e = std::tanh(e);
  }
  double s = 0;
  for (double e : a) s += e * e;
  return s;
}
TEST(Algorithms, ARecurrentNetworkOnPlainVectors) {
  EXPECT_GRADIENT(network, (std::vector<double>{.1, .2, .3, .4}), (std::vector<double>{.5, .6, .7, .8}));
}

struct Tree {
  double v;
  std::vector<Tree> children;
  double sum() const {
    double s = v * v;
    for (const Tree& c : children) s += c.sum() * v;
    return s;
  }
  template <class V>
  void reals(V&& r) {
    r(v);
    for (auto& c : children) c.reals(r);
  }
};
double tree(const Tree& t) { return t.sum(); }
double grown_tree(double x) {
  Tree t{x, {}};
  t.children.push_back(Tree{x * x, {}});
  t.children[0].children.push_back(t.children[0]);
  t.children.push_back(t);
  return t.sum();
}
TEST(Algorithms, TreesOfStructs) {
  EXPECT_GRADIENT(tree, (Tree{1, {{2, {{3, {}}}}, {4, {}}}}));
  EXPECT_GRADIENT(grown_tree, 0.8);
}

class Stack {
 public:
  void push(double x) {
    if (n_ == static_cast<int>(data_.size())) data_.resize(n_ ? 2 * n_ : 1);
    data_[n_++] = x;
  }
  double pop() { return data_[--n_]; }
  bool empty() const { return n_ == 0; }

 private:
  std::vector<double> data_;
  int n_ = 0;
};
double stack_machine(double x, const int* program, int n) {
  Stack s;
  s.push(x);
  for (int i = 0; i < n; ++i) {
    switch (program[i]) {
      case 0:
        s.push(x * x);
        break;
      case 1:
        s.push(s.pop() * s.pop());
        break;
      case 2: {
        double a = s.pop();
        s.push(a);
        s.push(a + 1);
        break;
      }
      default:
        s.push(-s.pop());
    }
  }
  double r = 0;
  while (!s.empty()) r += s.pop() * (r + 1);
  return r;
}
TEST(Algorithms, AStackMachine) {
  EXPECT_GRADIENT(stack_machine, 1.2, (buffer<int>{0, 2, 1, 0, 3, 1, 2}), 7);
}

double long_loop(double x, int n) {
  double s = x;
  for (int i = 0; i < n; ++i) {
    s = s * 0.999 + x * 0.001;
    if (i % 1000 == 0) s += std::sin(s) * 1e-3;
  }
  return s;
}
TEST(Algorithms, ALoopOfManyIterations) { EXPECT_GRADIENT(long_loop, 1.2, 100000); }

double deep_recursion(double x, int n) {
  if (n == 0) return x;
  return deep_recursion(x * 0.9999 + 0.0001, n - 1) * 1.0000001;
}
TEST(Algorithms, ADeepRecursion) { EXPECT_GRADIENT(deep_recursion, 1.2, 5000); }

}  // namespace
