// Unnamed unions whose members have one type: names of one number. Other unions hold constants.
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Vec {
  union {
    double x, r, s;
  };
  union {
    double y, g, t;
  };
  Vec(double a, double b) : x(a), g(b) {}
  Vec& operator*=(double k) {
    r *= k;
    t *= k;
    return *this;
  }
  template <class V>
  void reals(V&& visit) {
    visit(x);
    visit(y);
  }
};
double names(double x, double y) {
  Vec v(x, 2 * y), w = v;
  w *= x;
  v.s += w.y;
  return v.x * w.g + w.r * v.t;
}
double of_parameter(const Vec& v) { return v.r * v.r * v.y; }

struct Plain {
  struct {
    double a, b;
  };
  union {
    double c, d;
  };
};
double of_list(double x, double y) {
  Plain p{{x, 2}, {x * y}};
  p.b *= p.d;
  return p.a * p.b + p.c;
}

/// What is in the other union is a constant.
struct Tagged {
  int kind;
  union {
    int count;
    double number;
  };
  double factor;
};
double beside_a_union(double x, double y) {
  Tagged t;
  t.kind = 0;
  t.count = 3;
  t.factor = x * y;
  Tagged copy = t;
  copy.factor *= copy.count;
  return copy.factor * t.factor;
}

TEST(Unions, HaveNamesOfOneNumber) {
  EXPECT_GRADIENT(names, 1.3, 0.7);
  EXPECT_GRADIENT(of_parameter, Vec(1.3, 0.7));
  EXPECT_GRADIENT(of_list, 1.3, 0.7);
  EXPECT_NEAR(clad::differentiate(names, "x").execute(1.3, 0.7),
              (names(1.3 + 1e-5, 0.7) - names(1.3 - 1e-5, 0.7)) / 2e-5, 1e-7);
}
TEST(Unions, OfOtherTypesAreConstants) { EXPECT_GRADIENT(beside_a_union, 1.3, 0.7); }

}  // namespace
