// References and pointers that a call returns from the middle of its body, and objects that are chosen at run
// time: they name what the caller's variables hold.
#include <gtest/gtest.h>

#include <cassert>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;

namespace {

// A body that computes, then returns once.
struct Matrix {
  int rows, columns;
  std::vector<double> data;
  Matrix(int r, int c) : rows(r), columns(c), data(r * c) {}
  double& operator()(int i, int j) {
    assert(i < rows && j < columns);
    if (i < 0 || j < 0) throw std::out_of_range("no such element");
    return data[i * columns + j];
  }
  const double& operator()(int i, int j) const {
    if (i >= rows) throw std::out_of_range("no such row");
    const int k = i * columns + j;
    return data[k];
  }
};
double checked_access(const double* x) {
  Matrix a(2, 2);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) a(i, j) = x[i] * x[j] + j;
  a(0, 1) *= x[2];
  const Matrix& c = a;
  return c(0, 1) * c(1, 0) + a(1, 1);
}
double& clamped(double* p, int n, int i) {
  int k = i;
  if (k < 0)
    k = 0;
  else if (k >= n)
    k = n - 1;
  return p[k];
}
double neighbours(double x, double y) {
  double p[5] = {x, y, x * y, x - y, 1};
  for (int t = 0; t < 3; ++t)
    for (int i = 0; i < 5; ++i)
      clamped(p, 5, i) = 0.5 * clamped(p, 5, i - 1) * clamped(p, 5, i + 1) + clamped(p, 5, i);
  return p[2] * p[0] + p[4];
}
double* end_of(double* p, int n) {
  while (n-- > 1) ++p;
  return p;
}
double moves_its_parameters(double x, double y) {
  double p[3] = {x, y, x * y};
  *end_of(p, 3) *= x;
  double* q = end_of(p, 2);
  q[1] += q[0];
  return p[0] * p[1] * p[2];
}

// Several returns.
double& larger(double& a, double& b) {
  if (a > b) return a;
  return b;
}
double one_of_two(double x, double y) {
  double& r = larger(x, y);
  r *= 2;
  larger(y, x) += x * y;
  return r * x + y;
}
double& larger_of(double& a, double& b) { return a > b ? a : b; }
double chosen_by_an_expression(double x, double y) {
  double& r = larger_of(x, y);
  r *= 2;
  return r * x + y;
}
double keeps_its_choice(double x, double y) {
  double& r = x > y ? x : y;
  x = x * -5;
  y = y * y;
  r *= 2;
  return r * x + y;
}
double& by_number(double* p, int i) {
  switch (i) {
    case 0:
      return p[2];
    case 1:
      return p[0];
    default:
      return p[1];
  }
}
double from_a_switch(double x, double y) {
  double p[3] = {x, y, x * y};
  by_number(p, 0) *= x;
  for (int i = 0; i < 3; ++i) by_number(p, i) += by_number(p, (i + 1) % 3);
  return p[0] * p[1] * p[2];
}
double* above(double* p, int n, double limit) {
  for (int i = 0; i < n; ++i)
    if (p[i] > limit) return &p[i];
  return p;
}
double from_a_loop(double x, double y) {
  double p[3] = {x, y, x * y};
  *above(p, 3, 1.0) *= x;
  double* q = above(p, 3, 0.9);
  *q += y;
  return p[0] * p[1] * p[2];
}
double& at(double* p, int i, int j) {
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b)
      if (a == i && b == j) return p[a * 3 + b];
    if (a > 5) break;
  }
  return p[0];
}
double from_nested_loops(double x, double y) {
  double p[9], s = 0;
  for (int i = 0; i < 9; ++i) p[i] = x * i + y;
  for (int i = 0; i < 3; ++i) at(p, i, 2 - i) *= at(p, i, 1);
  for (double v : p) s += v * v;
  return s;
}
struct Particle {
  double x, m;
  int id;
};
Particle& find(std::vector<Particle>& all, int id) {
  for (Particle& p : all)
    if (p.id == id) return p;
  throw std::out_of_range("no such particle");
}
double found_by_number(double x, double y) {
  std::vector<Particle> all{{x, y, 3}, {y, x * y, 7}, {x + y, 2, 4}};
  find(all, 7).x += find(all, 4).x * x;
  Particle& p = find(all, 3);
  p.m *= p.x;
  double s = 0;
  for (const Particle& q : all) s += q.x * q.x * q.m;
  return s;
}
struct Chain {
  double v;
  Chain& pick(Chain& other) {
    if (other.v > v) return other;
    return *this;
  }
};
double one_of_two_objects(double x, double y) {
  Chain a{x}, b{y};
  a.pick(b).v *= x;
  return a.v * b.v;
}

// Lambdas that return references.
double matrix_access(double x, double y) {
  std::vector<double> a(9);
  auto at = [&](int i, int j) -> double& { return a[i * 3 + j]; };
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) at(i, j) = x * i + y * j * j;
  for (int i = 1; i < 3; ++i) at(i, i) *= at(i - 1, i) + at(0, 0);
  double s = 0;
  for (double v : a) s += v * v;
  return s + at(1, 2);
}
double from_captured_pointer(double x, double y) {
  double p[4] = {x, y, x * y, 1};
  double* q = p;
  auto at = [q](int i) -> double& {
    if (i < 0) return q[3];
    return q[i];
  };
  at(0) *= at(1);
  at(-1) += at(2) * x;
  return p[0] * p[3] + at(2);
}
double one_of_two_captures(double x, double y) {
  auto get = [&](auto i) -> auto& { return i ? x : y; };
  get(0) *= x;
  get(1) += y;
  get(0) = get(0) * get(1);
  return x * y;
}
double nested_captures(double x, double y) {
  std::vector<std::vector<double>> m(2, std::vector<double>(2, x));
  auto row = [&](int i) -> std::vector<double>& { return m[i]; };
  auto element = [&](int i, int j) -> double& { return row(i)[j]; };
  element(0, 1) = y;
  row(1).push_back(x * y);
  element(1, 2) *= element(0, 1);
  double s = 0;
  for (auto& r : m)
    for (double v : r) s += v * v;
  return s;
}
double counts_its_calls(double x, double y) {
  double a[3] = {x, y, 0};
  int k = 0;
  auto next = [&]() -> double& { return a[k++ % 3]; };
  next() *= 2;
  next() += next();
  next() = next() * y;
  return a[0] * a[1] + a[2];
}

// Bodies that change what their arguments were made of: a parameter passed by value keeps its value.
double& rescaled(double* p, double limit) {
  p[0] = 5 * p[1];
  if (limit > 1) return p[0];
  p[1] *= limit;
  return p[1];
}
double passes_an_element(double x, double y) {
  double a[2] = {x, y};
  rescaled(a, a[0]) *= a[0];
  return a[0] * a[1];
}
double& grown(double& s, double by) {
  s += 1;
  s *= by;
  return s;
}
double passes_twice(double x, double y) {
  double s = x * y;
  grown(s, s) += s;
  return s;
}
double& counted_on(double* p, int i) { return p[i++]; }
double changes_its_copy(double x, double y) {
  double a[3] = {x, y, x * y};
  int i = 1;
  counted_on(a, i) *= x;
  counted_on(a, i) += counted_on(a, 2) * y;
  return a[i] * a[0] + a[2];
}
struct Weight {
  double w;
};
double& weighed(Weight& w, Weight before, double* p) {
  w.w = 3 * before.w;
  p[0] += before.w;
  if (before.w > 1) return p[0];
  return p[1];
}
double passes_an_object(double x, double y) {
  Weight w{x};
  double a[2] = {x, y};
  weighed(w, w, a) *= w.w;
  return a[0] * a[1] * w.w;
}
double changes_captures(double x, double y) {
  double a[4] = {x, y, x * y, 2};
  int k = 0;
  auto next = [&](int i) -> double& {
    ++k;
    return a[i];
  };
  auto other = [&](int i) -> double& { return a[k++ % 2 + i]; };
  next(k) *= next(k);
  next(k) += x;
  k = 0;
  other(k) *= x;
  other(k) += y;
  return a[0] * a[1] + a[2] * a[3];
}

// Calls that change an object chosen at run time.
struct Sides {
  std::vector<double> left, right;
  double total = 0;
  double& element(int i) {
    if (i < 0) i += static_cast<int>(left.size());
    return i < static_cast<int>(left.size()) ? left[i] : right[i - left.size()];
  }
  std::vector<double>& side(bool is_left) {
    if (is_left) return left;
    return right;
  }
};
double changes_a_chosen_object(double x, double y) {
  Sides s;
  s.left = {x, y};
  s.right = {x * y, x + y};
  s.element(-1) *= x;
  s.element(2) += s.element(0) * s.element(3);
  s.side(true)[1] *= 3;
  s.side(x > y).push_back(x * x);
  double sum = 0;
  for (double v : s.left) sum += v * v;
  for (double v : s.right) sum += v * x;
  return sum;
}
double replace(double& target, double by) {
  const double before = target;
  target = by * before;
  return before;
}
double uses_the_result(double x, double y) {
  double a = x * y, b = y;
  const double before = replace(x > y ? a : b, x);
  return before * a + b * x;
}
double captures_a_chosen_object(double x, double y) {
  double a = x, b = y;
  auto set = [&r = x > y ? a : b](double z) { r = z; };
  set(x * x);
  return a * b;
}
double sum_of(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += p[i] * p[i];
  return s;
}
double chosen_pointers(double x, double y) {
  double a[3] = {x, y, x * y}, b[2] = {y * y, 2};
  const double* p = x > y ? a : b;
  const double* q = x > y ? b : a;
  return sum_of(p, 2) * sum_of(q + 1, 1) + sum_of(x < y ? p : q, 2);
}

#define EXPECT_BOTH(f)          \
  for (double x : {1.7, 0.7}) { \
    SCOPED_TRACE(x);            \
    EXPECT_GRADIENT(f, x, 1.3); \
  }

TEST(References, AreReturnedAfterStatements) {
  EXPECT_GRADIENT(checked_access, buffer{0.7, 1.3, 0.4});
  EXPECT_BOTH(neighbours);
  EXPECT_BOTH(moves_its_parameters);
}
TEST(References, AreReturnedInSeveralPlaces) {
  EXPECT_BOTH(one_of_two);
  EXPECT_BOTH(chosen_by_an_expression);
  EXPECT_BOTH(keeps_its_choice);
  EXPECT_BOTH(from_a_switch);
  EXPECT_BOTH(from_a_loop);
  EXPECT_BOTH(from_nested_loops);
  EXPECT_BOTH(found_by_number);
  EXPECT_BOTH(one_of_two_objects);
}
TEST(References, AreReturnedByLambdas) {
  EXPECT_BOTH(matrix_access);
  EXPECT_BOTH(from_captured_pointer);
  EXPECT_BOTH(one_of_two_captures);
  EXPECT_BOTH(nested_captures);
  EXPECT_BOTH(counts_its_calls);
}
double factor = 1;
double with_factor(const double& k) {
  factor = 5;
  return k * factor;
}
double with_copy(double k) { return with_factor(k); }
double passes_a_global(double x, double y) {
  factor = 2;
  return with_copy(factor) * x * y;
}
double first_by(std::vector<double>& v, const double& k) {
  v[0] *= v[1];
  return v[1] * k;
}
double first_by_copy(std::vector<double>& v, double k) { return first_by(v, k); }
double passes_a_copy_on(double x, double y) {
  std::vector<double> v{x, y};
  const double a = first_by_copy(v, v[0]);
  return a * v[0];
}
TEST(References, ArgumentsKeepTheirValues) {
  EXPECT_BOTH(passes_a_global);
  EXPECT_BOTH(passes_a_copy_on);
  EXPECT_BOTH(passes_an_element);
  EXPECT_BOTH(passes_twice);
  EXPECT_BOTH(changes_its_copy);
  EXPECT_BOTH(passes_an_object);
  EXPECT_BOTH(changes_captures);
}
TEST(References, ToAChosenObjectAreChangedByCalls) {
  EXPECT_BOTH(changes_a_chosen_object);
  EXPECT_BOTH(uses_the_result);
  EXPECT_BOTH(captures_a_chosen_object);
  EXPECT_BOTH(chosen_pointers);
}
TEST(References, HaveSecondDerivatives) {
  const auto hessian = clad::hessian(found_by_number);
  const auto gradient = clad::gradient(found_by_number);
  const double x = 1.7, y = 1.3, step = 1e-5;
  double h[4] = {};
  hessian.execute(x, y, h);
  for (int k = 0; k < 2; ++k) {
    double up[2] = {}, down[2] = {};
    gradient.execute(x + (k == 0) * step, y + (k == 1) * step, &up[0], &up[1]);
    gradient.execute(x - (k == 0) * step, y - (k == 1) * step, &down[0], &down[1]);
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(h[2 * i + k], (up[i] - down[i]) / (2 * step), 1e-6);
  }
}

double halves(double x, double y, double low, double high) {
  double m = 0.5 * (low + high);
  for (int i = 0; i < 6; ++i) {
    const double v = m * m * x - y;
    (v > 0 ? high : low) = m;
    m = 0.5 * (low + high) - 0.01 * v;
  }
  return m;
}
double between_constants(double x, double y) { return halves(x, y, 0, 2); }
double chooses_an_index(double x, double y) {
  int i = 1, j = 2;
  const double a[5] = {x, y, x * y, 1, x + y};
  double s = a[i];
  ++(x > y ? i : j);
  s += a[i] * a[j];
  (s += 1, y) *= x;
  return s * x + y;
}

TEST(References, ChosenOnTheLeftOfAnAssignment) {
  EXPECT_GRADIENT(between_constants, 1.3, 0.7);
  EXPECT_GRADIENT(chooses_an_index, 1.3, 0.7);
  EXPECT_GRADIENT(chooses_an_index, 0.7, 1.3);
}

struct Sized {
  int n = 1;
  const int& size() const { return n; }
  const int& either(bool first) const {
    if (first) return n;
    return n;
  }
};
const int& larger(const int& a, const int& b) { return a < b ? b : a; }
const int& entry(const std::vector<int>& v, int i) { return v[i]; }
double of_constants(double x, double y) {
  Sized c;
  std::vector<int> v{1, 2};
  int i = 2, j = 3;
  const auto pick = [&](bool first) -> const int& { return first ? i : j; };
  const int& m = c.size();
  const auto& k = c.either(x > 0);
  const int &l = larger(i, j), &e = entry(v, 1), &p = pick(true);
  double s = x;
  for (int n = 0; n < c.size() && n < 3; ++n) {
    s = s * m * 0.1 + y * k + x * l * e + p * s;
    c.n += 2;
    j += 1;
    v[1] -= 1;
    i += n;
  }
  return s * m * l * p + k * e * y;
}
const int* chosen(const int* a, const int* b, bool first) { return first ? a : b; }
struct Counted {
  int n = 1;
  const int* read() const { return &n; }
  int* change() { return &n; }
};
double of_pointers(double x, double y) {
  Counted c;
  int i = 2, j = 3;
  const int *p = c.read(), *q = chosen(&i, &j, x > 0);
  int* r = c.change();
  double s = x * *q;
  s *= s * *p + y;
  *r += 3;
  i += 2;
  s *= s + y * *p * *q;
  c.n = 5;
  return s * *r;
}
TEST(References, ToIntegersThatCallsReturn) {
  EXPECT_DERIVATIVES(of_constants, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_pointers, 1.3, 0.7);
}

double of_strings(double x, double y) {
  double s = x;
  for (const char c : "ab") s = s * y + 0.01 * c * x;
  const char(&r)[3] = "cd";
  const auto& name = __func__;
  const auto& [p, end] = "e";
  return s * r[1] + x * name[0] + y * p * y;
}
TEST(References, ToStrings) { EXPECT_DERIVATIVES(of_strings, 1.3, 0.7); }

}  // namespace
