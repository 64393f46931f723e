// Unions whose members are names of the same numbers, as the vectors of graphics libraries have them. Other
// unions hold constants.
#include <cstring>
#include <utility>
#include <vector>

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

union Vec2 {
  struct {
    double x, y;
  };
  double v[2];
};
union Vec3 {
  struct {
    double x, y, z;
  };
  struct {
    double r, g, b;
  };
  struct {
    Vec2 xy;
    double ignored;
  };
  double v[3];
  double& operator[](int i) { return v[i]; }
  const double& operator[](int i) const { return v[i]; }
};
union Vec4 {
  struct {
    union {
      Vec3 xyz;
      struct {
        double x, y, z;
      };
    };
    double w;
  };
  struct {
    Vec2 low, high;
  };
  double v[4];
};
union Mat2 {
  double v[2][2];
  Vec2 columns[2];
};
struct Pair {
  union {
    double v[2];
    struct {
      double first, second;
    };
  };
  int count = 0;
  Pair() {}
  Pair(double a, double b) : first(a), second(b) {}
  Pair& operator*=(double k) {
    for (double& one : v) one *= k;
    return *this;
  }
};
Vec3 cross(const Vec3& a, const Vec3& b) {
  Vec3 out;
  out.x = a.y * b.z - a.z * b.y;
  out.g = a.v[2] * b.v[0] - a.v[0] * b.v[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
  return out;
}
Vec2 product(const Mat2& m, Vec2 a) {
  Vec2 out;
  for (int i = 0; i < 2; ++i) out.v[i] = m.v[0][i] * a.x + m.columns[1].v[i] * a.y;
  return out;
}
double of_crosses(double x, double y) {
  const Vec3 a{{x, 1, 2}}, b = {y, x, x * y};
  Vec3 c = cross(a, b);
  c.x = c.v[0] * c.r;
  for (int i = 0; i < 3; ++i) c[i] = c[(i + 1) % 3] * a.v[i];
  c.xy.y += c.xy.v[0];
  return c.x * b.r + c.v[1] * b.y + c.z * b.b;
}
double of_nested(double x, double y) {
  Vec4 q = {{{{x, 2, x * y}}, 3 * x}};
  q.w *= q.x;
  q.low.y += q.v[0];
  q.xyz.z += q.high.x;
  q.xyz[0] *= y;
  return q.x * q.y + q.z * q.w + q.v[3] + q.high.y * q.low.v[1];
}
double of_columns(double x, double y) {
  Mat2 m;
  m.columns[0] = Vec2{{x, 1}};
  m.columns[1].x = x * y;
  m.v[1][1] = 2 * x;
  Vec2 a = {1, y};
  for (int i = 0; i < 3; ++i) {
    a = product(m, a);
    m.columns[0].x *= a.y;
  }
  return a.x * a.v[1];
}
double of_constructed(double x, double y) {
  Pair p(x, y);
  p *= x;
  Pair q = p, r = {};
  q.first = p.v[1];
  r.v[1] = 1;
  r.second += y;
  return p.v[0] * q.second + q.v[0] * p.first * r.v[1];
}
void fill(double* p, double x) {
  p[0] = x;
  p[1] *= x;
}
double of_places(double x, double y) {
  Vec2 a{{x, x * y}}, copy;
  fill(a.v, a.y);
  double* p = &a.x;
  *p += 2 * p[0];
  std::memcpy(&copy, &a, sizeof a);
  copy.v[0] += a.y;
  std::swap(a, copy);
  std::vector<Vec2> all(3, a);
  for (int i = 0; i < 2; ++i) all[i + 1].x += all[i].v[0] * copy.v[i];
  return all[2].v[0] * all[1].x + a.y * copy.x;
}
double of_names(const Vec3& v) { return v.x * v.v[1] * v.b * v.xy.x; }
TEST(Unions, HaveNamesOfTheSameNumbers) {
  EXPECT_DERIVATIVES(of_crosses, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_nested, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_columns, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_constructed, 1.3, 0.7);
  EXPECT_GRADIENT(of_places, 1.3, 0.7);
  const Vec3 at = {2, 3, 5};
  Vec3 d = {};
  clad::gradient(of_names).execute(at, &d);
  EXPECT_EQ(d.x, 60);
  EXPECT_EQ(d.v[1], 20);
  EXPECT_EQ(d.b, 12);
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
