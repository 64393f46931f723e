// Functions that are handed on by reference, that a caller may leave out, and that constant tables list.
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double square(double v) { return v * v; }
double cube(double v) { return v * v * v; }

namespace by_reference {
using State = std::vector<double>;
using Rhs = std::function<State(double, const State&)>;
template <class R>
State step(R&& rhs, double t, const State& y, double h) {
  const State slope = rhs(t, y);
  State middle = y;
  for (std::size_t i = 0; i < y.size(); ++i) middle[i] += 0.5 * h * slope[i];
  auto&& again = rhs;
  const State next = again(t + 0.5 * h, middle);
  State out = y;
  for (std::size_t i = 0; i < y.size(); ++i) out[i] += h * next[i];
  return out;
}
template <class R>
State integrate(R&& rhs, State y, int n) {
  for (int i = 0; i < n; ++i) y = step(std::forward<R>(rhs), 0.1 * i, y, 0.1);
  return y;
}
double value(double x, double y) {
  Rhs rhs = [x, y](double t, const State& s) { return State{x * s[1] - t, -y * s[0]}; };
  const State first = integrate(rhs, {1, 0.5}, 3), second = step(rhs, 0.3, first, 0.2);
  return first[0] * second[1];
}
template <class R>
double repeated(R& f, double v, int n) {
  return n == 0 ? v : repeated(f, f(v), n - 1);
}
double recursive(double x, double y) {
  std::function<double(double)> f = [&](double t) { return x * t * t; };
  double (*g)(double) = cube;
  return repeated(f, y, 3) * repeated(g, x, 2);
}
}  // namespace by_reference

namespace optional {
using Observer = std::function<void(double)>;
double run(double u, const Observer& observer = {}) {
  for (int i = 0; i < 3; ++i) {
    u = u * u;
    if (observer) observer(u);
  }
  return u;
}
double twice(double u, Observer observer = nullptr) {
  if (observer != nullptr && u > 0) observer(u);
  return run(u, observer) + run(0.5 * u, observer);
}
double left_out(double x, double y) {
  double s = 0;
  const double r = run(x * y, [&](double v) { s += v; });
  const double t = twice(x, [&](double v) { s += v * v; });
  Observer none;
  if (none) none(s);
  return (r + s) * run(x) * twice(y) * t;
}
struct Options {
  std::function<bool(double)> stop;
  std::function<double(double)> after = nullptr;
  int steps = 3;
};
double iterate(const Options& o, double u) {
  for (int i = 0; i < o.steps; ++i) {
    u = u * u;
    if (o.stop && o.stop(u)) break;
  }
  return o.after ? o.after(u) : u;
}
double members(double x, double y) {
  Options stops, goes;
  stops.stop = [](double v) { return v > 0.5; };
  goes.after = [y](double v) { return v * y; };
  return iterate(stops, x * y) * x + iterate(goes, x);
}
double pointer(double u, void (*observe)(double, double*), double* to) {
  u = u * u;
  if (observe) observe(u, to);
  return observe == nullptr ? u : 2 * u;
}
double pointers(double x, double y) {
  double s = 0;
  const double r = pointer(x * y, [](double v, double* to) { *to += v; }, &s);
  return r + s * pointer(x, nullptr, nullptr);
}
struct Entry {
  double (*f)(double);
  int n;
};
double chosen(double x, double y) {
  Entry none{nullptr, 3}, some{square, 2};
  const Entry& one = x > 1 ? none : some;
  double s = one.f ? one.f(x * y) : one.n * y;
  Entry table[] = {{cube, 1}, {nullptr, 2}, {square, 3}};
  for (int i = 0; i < 3; ++i) {
    if (table[i].f)
      s += table[i].f(s * y);
    else
      s *= x;
    const Entry copy = table[i];
    if (copy.f != nullptr && i > 0) s += copy.f(x) * copy.n;
  }
  double (*functions[])(double) = {nullptr, cube};
  for (auto* f : functions) s += f == nullptr ? x : f(y);
  return s;
}
struct Hook {
  std::function<double(double)> f;
  double k = 2;
  Hook() = default;
  explicit Hook(std::function<double(double)> g) : f(std::move(g)) {}
  void set(std::function<double(double)> g) { f = g; }
  double run(double v) const { return f ? f(v) * k : v; }
};
double set_later(double x, double y) {
  Hook a, none(nullptr);
  double s = a.run(x * y) + none.run(x);
  a.set([&](double v) { return v * v * y; });
  Hook b = a;
  s += b.run(x);
  b = none;
  s *= b.f ? 5 : y;
  std::swap(a, b);
  s += a.run(y) * b.run(0.5);
  b.f = nullptr;
  return s + b.run(x * x);
}
}  // namespace optional

namespace constant {
struct Gate {
  const char* name;
  double (*f)(double);
  double weight;
  int k[2];
};
double (*const table[])(double) = {square, cube};
const Gate gates[] = {{"square", square, 0.5, {1, 2}},
                      {"none", nullptr, 1.5, {3, 4}},
                      {"sine", [](double v) { return std::sin(v); }, 2.5, {5, 6}}};
constexpr std::array<Gate, 2> both{{{"square", square, 0.5, {1, 2}}, {"cube", cube, 1.5, {3, 4}}}};
const std::vector<std::function<double(double)>> list{square, [](double v) { return 2 * v; }};
struct Traits {
  static constexpr double (*activation)(double) = cube;
  static const Gate gate;
};
const Gate Traits::gate = {"cube", cube, 3, {1, 1}};
double apply(const Gate& g, double v) { return g.f(v) * g.weight; }
double sum(const Gate* g, int n, double v) { return n == 0 ? v : g->weight + sum(g + 1, n - 1, v * g->k[0]); }
template <class T>
double activated(double v) {
  return T::activation(v) * apply(T::gate, v);
}
double elements(double x, double y) {
  double s = 0;
  for (int i = 0; i < 2; ++i) s += table[i](x * y + i) * both[i].f(s) * both[i].k[i];
  for (auto f : table) s += f(y);
  for (const auto& f : list) s = f(s) * 0.1;
  return s + list[1](x);
}
double objects(double x, double y) {
  double s = 0;
  for (const Gate& g : gates) {
    const auto& [name, f, weight, k] = g;
    if (g.f)
      s += apply(g, x * y) + f(s) * k[1];
    else
      s += weight * x;
    if (std::string(name) == "sine") s *= y;
  }
  for (Gate g : both) s += g.f(x) * (g.weight += y);
  for (auto [name, f, weight, k] : both) s += f(y) * weight;
  return s * activated<Traits>(y) + sum(gates, 2, x);
}
double in_a_function(double x, double y) {
  static const Gate own[] = {{"cube", cube, 3, {1, 1}}, {"square", square, 0.5, {1, 2}}};
  static constexpr Gate one = {"cube", cube, 3, {1, 1}};
  double s = one.f(x);
  for (int i = 0; i < 2; ++i) s += own[i].f(y) * own[i].weight;
  return s;
}
}  // namespace constant

TEST(Callbacks, ByReference) {
  EXPECT_DERIVATIVES(by_reference::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(by_reference::recursive, 1.3, 0.7);
}
TEST(Callbacks, LeftOut) {
  EXPECT_DERIVATIVES(optional::left_out, 1.1, 0.7);
  EXPECT_DERIVATIVES(optional::members, 1.1, 0.7);
  EXPECT_DERIVATIVES(optional::pointers, 1.3, 0.7);
  EXPECT_DERIVATIVES(optional::set_later, 1.3, 0.7);
  EXPECT_DERIVATIVES(optional::chosen, 1.3, 0.7);
  EXPECT_DERIVATIVES(optional::chosen, 0.7, 0.3);
}
TEST(Callbacks, InConstants) {
  EXPECT_DERIVATIVES(constant::elements, 1.3, 0.7);
  EXPECT_DERIVATIVES(constant::objects, 1.3, 0.7);
  EXPECT_DERIVATIVES(constant::in_a_function, 1.3, 0.7);
}

}  // namespace
