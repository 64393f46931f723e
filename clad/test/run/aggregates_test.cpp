// Aggregates: default member initializers that read other members, designated and parenthesized lists.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Derived {
  double a;
  double b = a * 2;
  double c = a * b + std::sin(b);
};
double from_members(double x) {
  Derived s{x}, t{x * x, s.c}, u{.a = x, .c = 3}, v = {x, 2, x};
  return s.a * s.b * s.c + t.a * t.b * t.c + u.b * u.c + v.a * v.c;
}
struct Owner {
  double k;
  double measure(double x) const {
    Derived s{k * x};  // its initializers' `this` is not ours
    Derived t{k, this->k};
    return s.b * s.c + t.c;
  }
};
struct Pair {
  double first, second;
};
struct Outer {
  double a;
  Pair p{a * a, 3};
  double b = p.first * p.second + this->a;
};
double nested(double x) {
  Owner o{x};
  Outer n{x}, m{x, {x, x}};
  return o.measure(x * 2) * n.b + m.b * m.p.second;
}
struct Scale {
  double k = 2;
  double z{k * 3};
};
struct Shifted : Scale {
  double m = k + z * this->k;
};
struct Third : Shifted, Pair {
  double t = m * second + k;
};
double from_bases(double x) {
  Shifted a{{.k = x}}, b{{x * x, x}}, c{{x, 2}, x}, d;
  Third t{{{x}}, {x, x * x}};
  return a.m * a.z + b.m * b.k + c.m * c.z + d.m * x + t.t * t.m;
}
TEST(Aggregates, DefaultMemberInitializersReadOtherMembers) {
  EXPECT_GRADIENT(from_members, 0.7);
  EXPECT_GRADIENT(nested, 0.7);
  EXPECT_GRADIENT(from_bases, 0.7);
}

double parenthesized(double x) {
  Pair p(x, x * x);
  Derived d(p.second);
  return p.first * p.second * d.c;
}
TEST(Aggregates, ListsInParentheses) { EXPECT_GRADIENT(parenthesized, 0.8); }

struct Vec3 : std::array<double, 3> {
  friend Vec3 operator*(double k, Vec3 v) {
    for (double& e : v) e *= k;
    return v;
  }
};
struct Samples : std::vector<double> {
  std::string name = "n";
};
double of_library_bases(double x, double y) {
  Vec3 a{{x, y, 1}};
  Vec3 b = x * a;
  a[2] *= y;
  b = y * b;
  Samples s{{x, x * y}};
  const Samples t = s;
  s[0] *= t[1];
  return a[2] * b[1] * b.front() + s[0] * t[0] * static_cast<double>(t.name.size());
}
TEST(Aggregates, ClassesThatDeriveFromTheLibrarys) { EXPECT_GRADIENT(of_library_bases, 1.3, 0.7); }

namespace shared_names {
struct grid {
  struct cell {
    double w;
  } cell;
  double h;
  std::vector<struct cell> all;
};
struct grid grid(double h) { return {{h}, h * h, {{2}, {h}}}; }
enum mode { one = 1, two };
int mode(double) { return two; }
double of_both(double x) {
  struct grid g = grid(x);
  std::vector<struct grid> gs{g, grid(2 * x)};
  enum mode m = two;
  return g.cell.w * gs[1].h * m + g.all[1].w * mode(x);
}
}  // namespace shared_names
TEST(Aggregates, ClassesThatShareTheirNamesWithFunctions) { EXPECT_GRADIENT(shared_names::of_both, 1.3); }

}  // namespace
