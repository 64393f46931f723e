// std::span, std::initializer_list, and ranges of pointers.
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;
using vec = std::vector<double>;

namespace {

double sum(std::span<const double> s) {
  double total = 0;
  for (double t : s) total += t * t;
  for (std::size_t i = 0; i < s.size(); ++i) total += s[i];
  return s.empty() ? total : total * s.front() * s.back();
}
double spans(const vec& v, double x) {
  const double a[2] = {x, x * x};
  std::array<double, 2> b{x, v[0]};
  return sum(v) + sum(a) * sum(b) + sum({v.data(), 2}) + sum(std::span(v).subspan(1));
}
void scale(std::span<double> s, double by) {
  for (double& e : s) e *= by;
  for (auto it = s.begin(); it != s.end(); ++it) *it += by;
}
double writes(vec v, double x) {
  std::span<double> all(v);
  scale(all.first(2), x);
  scale(all.last(2), v[0]);
  auto middle = all.subspan(1, 1);
  middle[0] *= x;
  return all[0] * v[1] + *(all.end() - 1) * static_cast<double>(middle.size());
}
double of_pointer(const double* p, int n) {
  std::span<const double> s(p, n);
  return s.size() > 1 ? s[0] * s[1] : s[0];
}
double largest(std::initializer_list<double> list) {
  double best = *list.begin();
  for (double t : list) best = t > best ? t : best;
  return best * static_cast<double>(list.size());
}
double lists(double x, double y) {
  auto l = {x, y, x * y};
  double s = 0;
  for (double t : l) s += t * t;
  return s * largest({x, y * y}) + largest(l);
}

struct Buffer {
  vec data;
  auto begin() const { return data.begin(); }
  auto end() const { return data.end(); }
  double* begin() { return data.data(); }
  double* end() { return data.data() + data.size(); }
};
double own_ranges(const vec& v) {
  Buffer b{v};
  for (double& e : b) e *= e;
  const Buffer& c = b;
  double s = 0;
  for (double e : c) s = s * 0.5 + e;
  return s;
}
double declared_in_the_condition(double x, int n) {
  double s = 0;
  while (int k = n--) {
    if (k == 2) continue;
    s += x * k * s + x;
  }
  return s;
}

TEST(Views, OfContainers) {
  EXPECT_GRADIENT(spans, vec{0.3, 1.2, 0.7}, 1.3);
  EXPECT_GRADIENT(writes, vec{0.3, 1.2, 0.7}, 1.3);
  EXPECT_GRADIENT(of_pointer, buffer{0.3, 1.2}, 2);
  EXPECT_GRADIENT(lists, 1.3, 0.7);
}
TEST(Views, Ranges) {
  EXPECT_GRADIENT(own_ranges, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(declared_in_the_condition, 1.3, 4);
  EXPECT_GRADIENT(declared_in_the_condition, 1.3, 0);
}

double fixed_parts(double x, double y) {
  std::array<double, 6> a{x, y, x * y, x - y, 2, 3 * x};
  const std::span<double> s(a);
  const auto last = s.last<2>();
  last[0] += s[1] * s.front();
  double t = 1;
  for (const double v : s.first<2>()) t += v * v;
  for (const double v : s.subspan<1>().subspan<1, 2>()) t *= v;
  return t * last[1] + last[0];
}
TEST(Views, PartsOfAFixedSize) { EXPECT_GRADIENT(fixed_parts, 1.3, 0.7); }

struct Arena {
  std::vector<double> memory;
  std::size_t used = 0;
  explicit Arena(std::size_t n) : memory(n) {}
  std::span<double> take(std::size_t n) {
    const std::span<double> taken(memory.data() + used, n);
    used += n;
    return taken;
  }
};
double of_an_arena(double x, double y) {
  Arena arena(16);
  double s = 0;
  for (int k = 0; k < 3; ++k) {
    const auto u = arena.take(2), v = arena.take(2);
    u[0] = x * k;
    u[1] = u[0] * y;
    v[0] = u[1] * x;
    s += u[0] * u[1] + v[0];
    if (k == 1) arena.used = 0;
  }
  return s + arena.memory[0];
}
struct Matrix {
  std::vector<double> a;
  std::size_t n;
  std::span<double> operator[](std::size_t i) { return {a.data() + i * n, n}; }
  std::span<const double> operator[](std::size_t i) const { return {a.data() + i * n, n}; }
  std::span<double> all() { return a; }
  std::span<double> row(std::size_t i) { return all().subspan(i * n, n); }
};
double trace(const Matrix& m) {
  double s = 0;
  for (std::size_t i = 0; i < m.n; ++i) s += m[i][i] * m[i][0];
  return s;
}
double of_rows(double x, double y) {
  Matrix m{std::vector<double>(9, 1.0), 3};
  m[0][1] = x;
  m[1][1] = y * x;
  for (double& e : m.row(2)) e += x;
  for (int i = 1; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m[i][j] -= m[i - 1][j] * y;
  return trace(m) * m[2][2];
}
std::span<const double> inner(std::span<const double> s) { return s.subspan(1, s.size() - 2); }
double norm2(std::span<const double> s) {
  double sum = 0;
  for (const double e : s) sum += e * e;
  return sum;
}
double of_functions(double x, double y) {
  double a[5] = {x, y, x * x, y * y, x * y};
  std::vector<double> v{x, y, x * y, 1};
  const auto half = [&](int i) { return std::span<double>(v).subspan(i * 2, 2); };
  half(0)[1] *= x;
  half(1)[1] += y;
  return norm2(inner(a)) * norm2(inner(inner(a))) + inner(a)[0] * norm2(half(1)) + half(0)[1];
}
TEST(Views, ThatFunctionsReturn) {
  EXPECT_DERIVATIVES(of_an_arena, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_rows, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_functions, 1.3, 0.7);
}

double chosen_ranges(double x, double y) {
  std::vector<double> v{x, y}, w{y, x * y};
  double s = x;
  for (double& e : v[0] > 1 ? w : w) {
    std::swap(v, v);
    v[0] *= e;
    e += v[1];
    s *= e;
  }
  return s * v[0];
}
TEST(Views, WhatChoosesARangeIsNotWalked) { EXPECT_GRADIENT(chosen_ranges, 1.3, 0.7); }

}  // namespace
