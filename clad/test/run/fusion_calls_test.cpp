// Fusion rules through calls of functions without a derivative of their own, and with several results.
#include "clad/test/run/fusion_support.h"

namespace {

struct Linear {
  double w, b;
  double forward(double x) const { return lib::linear(x, w, b); }
  double operator()(double x) const { return forward(x); }
  template <class V>
  void reals(V&& v) {
    v(w);
    v(b);
  }
};
struct Activation {
  double factor;
  double operator()(double x) const {
    const double scaled = x * factor;
    return lib::activate(scaled);
  }
  template <class V>
  void reals(V&& v) {
    v(factor);
  }
};
double plain_activation(double x) { return lib::activate(x); }
double layer(const Linear& l, double x) {
  const double h = lib::activate(l(x));
  return h * l(h);
}
double both_inside(const Linear& l, double x) { return plain_activation(l(2 * x)) + x; }
double inner_value_reused(const Linear& l, double x) {
  const double t = l(x);
  return lib::activate(t) * t;
}
double other_function(const Linear& l, const Activation& a, double x) { return a(l(x)); }
double int_argument(int n, double x) {
  const Linear l{x, 0.5};
  return lib::activate(l(n)) / 3;
}
TEST(Fusion, SeesThroughCalls) {
  double d = 0;
  Linear d_l{};
  const Linear l{0.7, -0.2};
  EXPECT_GRADIENT(layer, l, 0.4);
  EXPECT_PULLBACKS("linear 1, linear_activate 1", "activate 1, linear 2", layer, l, 0.4, &d_l, &d);
  EXPECT_GRADIENT(both_inside, l, 0.4);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", both_inside, l, 0.4, &d_l, &d);
  EXPECT_GRADIENT(inner_value_reused, l, 0.4);
  EXPECT_PULLBACKS("activate 1, linear 1", "activate 1, linear 1", inner_value_reused, l, 0.4, &d_l, &d);
  EXPECT_GRADIENT(other_function, l, (Activation{1.5}), 0.4);
  EXPECT_GRADIENT(int_argument, 2, 0.3);
}

struct Block {
  Linear attention, mlp;
  double epsilon;
  double norm(double x) const { return lib::norm(x, epsilon); }
  double forward(double x) const {
    const double y = lib::plus(x, attention(norm(x)));
    return lib::plus(y, lib::activate(mlp(norm(y))));
  }
  template <class V>
  void reals(V&& v) {
    attention.reals(v);
    mlp.reals(v);
    v(epsilon);
  }
};
double run_block(const Block& b, double x) { return b.forward(x) * 2; }
double sum_used_before(double x, double y, double e) {
  const double s = lib::plus(x, y);
  const double z = s * s;
  return lib::norm(s, e) * z + s;
}
double argument_not_there_yet(double x, double y) {
  const double s = lib::plus(x, y);
  const double z = s * s;
  return lib::norm(s, z + x * x);
}
double sum_used_in_loop(double x, double y, double e) {
  const double s = lib::plus(x, y);
  double r = lib::norm(s, e);
  for (int i = 0; i < 3; ++i) r = r * s + i;
  return r;
}
TEST(Fusion, GivesSeveralResults) {
  double d[3] = {};
  const Block b{{0.7, -0.2}, {1.2, 0.1}, 0.3};
  Block d_b{};
  EXPECT_GRADIENT(run_block, b, 0.4);
  EXPECT_PULLBACKS("linear 1, linear_activate 1, norm 1, plus 1, plus_norm 1",
                   "activate 1, linear 2, norm 2, plus 2", run_block, b, 0.4, &d_b, &d[0]);
  EXPECT_GRADIENT(sum_used_before, 0.4, 0.3, 0.2);
  EXPECT_PULLBACKS("plus_norm 1", "norm 1, plus 1", sum_used_before, 0.4, 0.3, 0.2, &d[0], &d[1], &d[2]);
  EXPECT_GRADIENT(argument_not_there_yet, 0.4, 0.3);
  EXPECT_PULLBACKS("norm 1, plus 1", "norm 1, plus 1", argument_not_there_yet, 0.4, 0.3, &d[0], &d[1]);
  EXPECT_GRADIENT(sum_used_in_loop, 0.4, 0.3, 0.2);
  EXPECT_PULLBACKS("plus_norm 1", "norm 1, plus 1", sum_used_in_loop, 0.4, 0.3, 0.2, &d[0], &d[1], &d[2]);
}

}  // namespace
