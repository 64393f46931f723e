// Functions that objects and containers hold: lambdas, function pointers, std::function.
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

namespace pointer {
struct RK {
  double t, *y;
  void (*rhs)(double, const double*, double*);
  void step() {
    double d[2];
    rhs(t, y, d);
    for (int k = 0; k < 2; ++k) y[k] += 0.1 * d[k];
    t += 0.1;
  }
};
void lv(double t, const double* y, double* d) {
  d[0] = y[0] - y[0] * y[1];
  d[1] = y[0] * y[1] - y[1] * t;
}
double value(double x, double y) {
  double u[2] = {x, y};
  RK s{0, u, lv};
  for (int i = 0; i < 3; ++i) s.step();
  return u[0] * u[1];
}
}  // namespace pointer

namespace lambda {
template <class F>
struct Holder {
  F fn;
  double gain;
  double operator()(double v) const { return gain * fn(v); }
};
double value(double x, double y) {
  auto l = [y](double v) { return v * v * y; };
  Holder<decltype(l)> h{l, x};
  Holder g{[&](double v) { return v + x; }, 2.0};
  return h(y) * g(x) + h(2);
}
}  // namespace lambda

namespace solver {
template <class Rhs>
class Solver {
  Rhs rhs_;
  double h_;
  int n_;

 public:
  Solver(Rhs r, double h, int n) : rhs_(r), h_(h), n_(n) {}
  double run(double u) const {
    for (int i = 0; i < n_; ++i) {
      double k1 = rhs_(u), k2 = rhs_(u + h_ * k1);
      u += 0.5 * h_ * (k1 + k2);
    }
    return u;
  }
};
double value(double x, double y) {
  Solver s([=](double u) { return y * u * (1 - u); }, 0.1, 5);
  return s.run(x * 0.5);
}
}  // namespace solver

namespace function {
struct Layer {
  double w;
  std::function<double(double)> act;
  double fwd(double v) const { return act(w * v); }
};
double value(double x, double y) {
  Layer a{x, [](double v) { return std::tanh(v); }}, b{y, [&](double v) { return v * v + x; }};
  return b.fwd(a.fwd(y));
}
}  // namespace function

namespace by_default {
struct Layer {
  double w;
  std::function<double(double)> act = [](double v) { return v > 0 ? v : 0.1 * v; };
  double fwd(double v) const { return act(w * v); }
};
double value(double x, double y) {
  Layer a{x}, b{y};
  return b.fwd(a.fwd(y));
}
}  // namespace by_default

namespace composed {
template <class F, class G>
struct Comp {
  F f_;
  G g_;
  double operator()(double v) const { return f_(g_(v)); }
};
template <class F, class G>
Comp<F, G> compose(F f, G g) {
  return {f, g};
}
double value(double x, double y) {
  auto h = compose([=](double v) { return v * x; },
                   compose([](double v) { return std::sin(v); }, [y](double v) { return v * v * y; }));
  return h(x) + h(y);
}
}  // namespace composed

namespace with_state {
template <class F>
struct Gen {
  F g;
  double operator()() { return g(); }
};
double value(double x, double y) {
  Gen n{[k = x, y]() mutable {
    k *= y;
    return k;
  }};
  double s = n();
  s += n() * n();
  auto m = n;
  return s * m() + n();
}
}  // namespace with_state

namespace passed {
struct Loss {
  std::function<double(double, double)> f;
};
double total(const Loss& l, const std::vector<double>& v) {
  double s = 0;
  for (double a : v) s += l.f(a, 1.0);
  return s;
}
double sq(double a, double b) { return (a - b) * (a - b); }
double value(double x, double y) {
  Loss l{sq};
  return total(l, {x, y, x * y});
}
}  // namespace passed

namespace set_later {
struct Opt {
  std::function<double(double)> g;
  double (*h)(double) = nullptr;
  double lr = 0.1;
  double run(double w) const {
    for (int i = 0; i < 3; ++i) w -= lr * g(w);
    return h ? h(w) : w;
  }
};
double sq(double v) { return v * v; }
double value(double x, double y) {
  Opt o;
  o.g = [&](double w) { return 2 * w * y; };
  o.lr = y * 0.2;
  double a = o.run(x);
  o.g = [](double w) { return w * w; };
  o.h = sq;
  return a * o.run(y);
}
}  // namespace set_later

namespace vector {
double value(double x, double y) {
  std::vector<std::function<double(double)>> fs{[&](double v) { return v * x; },
                                                [](double v) { return v * v; }};
  double s = y;
  for (auto& g : fs) s = g(s);
  return s;
}
}  // namespace vector

namespace objects {
struct Act {
  double w;
  std::function<double(double)> g;
};
double value(double x, double y) {
  std::vector<Act> l;
  l.push_back({x, [](double v) { return v * v; }});
  l.push_back({y, [](double v) { return std::sin(v); }});
  double s = y;
  for (const auto& a : l) s = a.g(a.w * s);
  return s;
}
}  // namespace objects

namespace pipeline {
struct Pipe {
  std::vector<std::function<double(double)>> st;
  Pipe& then(std::function<double(double)> g) {
    st.push_back(g);
    return *this;
  }
  double run(double v) const {
    for (const auto& s : st) v = s(v);
    return v;
  }
};
double value(double x, double y) {
  Pipe p;
  p.then([=](double v) { return v * x; }).then([](double v) { return std::exp(v); }).then([y](double v) {
    return v + y;
  });
  return p.run(y) * p.run(0.1);
}
}  // namespace pipeline
namespace members {
struct V {
  double r, y;
  void add() { r += y; }
  void mul() { r *= y; }
  double times(double q) const { return r * y * q; }
  double plus(double q) const { return r + y * q; }
};
double chosen(double x, double y) {
  V v{x, y};
  V* p = &v;
  void (V::*t)() = x > 1 ? &V::add : &V::mul;
  double (V::* const of)(double) const = y > 1 ? &V::plus : &V::times;
  (v.*t)();
  (p->*t)();
  std::invoke(t, v);
  return v.r * (p->*of)(x)*std::invoke(of, v, y);
}
double listed(double x, double y) {
  V v{x, y};
  void (V::* changes[])() = {&V::add, &V::mul};
  const std::array<double (V::*)(double) const, 2> of{&V::plus, &V::times};
  for (int i = 0; i < 3; ++i) (v.*changes[i % 2])();
  double s = 1;
  for (const auto m : of) s *= (v.*m)(s);
  return s * v.r;
}
}  // namespace members

/// A copy of a function has a state of its own.
namespace copied {
using Function = std::function<double(double)>;
double descends(Function f, int n) { return n == 0 ? f(1) : f(2) + descends(f, n - 1) * f(1); }
double twice(Function f) { return f(1) + f(2); }
double passed(double x, double y) {
  const Function f = [a = x](double v) mutable { return a = 1.1 * a + v; };
  return twice(f) * descends(f, 2) + f(y);
}
double captured(double x, double y) {
  Function f = [a = x](double v) mutable { return a = 1.1 * a + v; };
  const auto own = [f](double v) { return f(v) + f(2 * v); };
  const auto other = own;
  const auto shared = [&f, n = 1](double v) mutable { return f(v) * ++n; };
  auto again = shared;
  return own(y) * other(1) + own(2) * f(y) + again(1) * again(y) * f(2);
}
double iterated(double x, double y) {
  Function f = [a = x](double v) mutable { return a = 1.1 * a + v; };
  std::vector<Function> all{f, f};
  const auto copies = all;
  double sum = copies[0](y) * copies[0](1);
  for (auto g : all) sum += g(y) * g(2);
  for (auto& g : all) sum += g(y) * g(3);
  return sum * all[0](1) * copies[1](2) + f(y);
}
double chosen(double x, double y) {
  Function f = [a = x](double v) mutable { return a = 1.1 * a + v; };
  Function g = [a = y](double v) mutable { return a = a * v; };
  const auto one = x > y ? f : g;
  double sum = one(x) * one(y) * f(1);
  const Function all[] = {f, g};
  for (int i = 0; i < 4; ++i) {
    const auto own = all[i % 2];
    sum += own(y) * own(2) + all[i % 2](1.5);
  }
  return sum;
}
/// But another name is none.
struct Names {
  Function& f;
};
double named(double x, double y) {
  Function f = [a = x](double v) mutable { return a = 1.1 * a + v; };
  const Names one{f}, other = one;
  return one.f(1) * other.f(y) * f(2);
}
double referred(double x, double y) {
  auto f = [a = x](double v) mutable { return a = 1.1 * a + v; };
  return twice(std::ref(f)) * f(y);
}
}  // namespace copied

TEST(HeldFunctions, Copies) {
  EXPECT_DERIVATIVES(copied::passed, 1.3, 0.7);
  EXPECT_DERIVATIVES(copied::captured, 1.3, 0.7);
  EXPECT_DERIVATIVES(copied::iterated, 1.3, 0.7);
  EXPECT_DERIVATIVES(copied::chosen, 1.3, 0.7);
  EXPECT_DERIVATIVES(copied::chosen, 0.7, 1.3);
  EXPECT_DERIVATIVES(copied::named, 1.3, 0.7);
  EXPECT_DERIVATIVES(copied::referred, 1.3, 0.7);
}
TEST(HeldFunctions, Members) {
  EXPECT_DERIVATIVES(pointer::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(lambda::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(solver::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(function::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(by_default::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(composed::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(with_state::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(passed::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(set_later::value, 1.3, 0.7);
}
TEST(HeldFunctions, Elements) {
  EXPECT_DERIVATIVES(vector::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(objects::value, 1.3, 0.7);
  EXPECT_DERIVATIVES(pipeline::value, 1.3, 0.7);
}
TEST(HeldFunctions, PointersToMembers) {
  EXPECT_DERIVATIVES(members::chosen, 1.3, 0.7);
  EXPECT_DERIVATIVES(members::chosen, 0.7, 1.3);
  EXPECT_DERIVATIVES(members::listed, 1.3, 0.7);
}

}  // namespace
