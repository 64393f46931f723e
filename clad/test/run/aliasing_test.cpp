// Two names for one object: references, pointers, objects and their members, captures.
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct V {
  double a, b;
  V& operator+=(const V& o) {
    a += o.a * b;
    b += o.b * o.a;
    return *this;
  }
  V& operator*=(const V& o) {
    double t = a * o.a - b * o.b;
    b = a * o.b + b * o.a;
    a = t;
    return *this;
  }
  template <class W>
  void reals(W&& w) {
    w(a), w(b);
  }
};

double with_itself(V v) {
  v += v;
  v *= v;
  for (int i = 0; i < 2; ++i) v *= v;
  return v.a * v.b;
}
TEST(Aliasing, AnObjectCombinedWithItself) { EXPECT_GRADIENT(with_itself, V{0.6, 0.5}); }

double objects(V& p, const V& q) {
  p.a = q.a * q.b;
  p.b *= q.a;
  return p.a * q.b;
}
double object_and_member(const V& q, double& r) {
  r = q.a * q.a + q.b;
  r *= q.a;
  return q.b * r;
}
void scale(std::vector<double>& v, const double& k) {
  for (double& e : v) e *= k;
}
void reduce(double& k, const std::vector<double>& v) {
  k = v[0] * v[1];
  k *= v[0];
}
void three(double* p, const double* q, double& r) {
  p[0] = q[0] * r;
  r *= p[0];
  p[0] += q[0];
}
void pointers(V* v, double* p) {
  v->a *= *p;
  *p += v->b * v->a;
  v->b = *p * v->a;
}
double every_pair(double x, double y) {
  V v{x, y};
  double s = objects(v, v);
  s += object_and_member(v, v.a);
  s *= object_and_member(v, v.b);
  std::vector<double> w{x, y, s * 0.1};
  scale(w, w[1]);
  reduce(w[0], w);
  three(&w[1], w.data() + 1, w[1]);
  pointers(&v, &v.a);
  pointers(&v, &v.b);
  return s + w[0] * w[1] * w[2] + v.a * v.b;
}
TEST(Aliasing, ObjectsMembersElementsAndPointersToThem) { EXPECT_GRADIENT(every_pair, 0.7, 0.6); }

struct Model {
  std::vector<double> v;
  double k;
  void multiply(const double& x) {
    for (double& e : v) e *= x;
    k *= x;
  }
  void add(const Model& o) {
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += o.v[i] * o.k * k;
    k += o.k * o.v[0];
  }
};
double methods(double x) {
  Model m{{x, 2 * x}, 3};
  m.multiply(m.v[0]);
  m.multiply(m.k);
  m.add(m);
  auto change = [&](double& a) {
    a *= m.k;
    m.k += a;
  };
  change(m.k);
  change(m.v[0]);
  double& r = m.v[1];
  double& q = m.v[1];
  r = q * r;
  q += r * q;
  return m.v[0] * m.v[1] * 1e-3 + m.k * 1e-3;
}
TEST(Aliasing, AMethodGivenItsObjectsMembers) { EXPECT_GRADIENT(methods, 0.5); }

double captures(double x) {
  double a = x, b = 2;
  auto l = [&a](double& c) {
    c = a * c;
    a = c * a;
  };
  l(a);
  l(b);
  double& r = a;
  auto m = [&r, &a](double k) {
    r *= k;
    a *= r;
  };
  m(a);
  m(r);
  return a * b;
}
TEST(Aliasing, ACaptureAndAnArgument) { EXPECT_GRADIENT(captures, 0.8); }

// A reference means the element that its index named when it was bound.
double by_reference(double* v, int& i) {
  double& e = v[i];
  double s = e * e;
  ++i;
  return s * v[i] * e;
}
double by_pointer(double* v, int* i) {
  double* e = v + *i;
  double s = *e * *e;
  ++*i;
  return s * v[*i];
}
void advance(int* i) { ++*i; }
struct Index {
  int k;
};
double by_member(double* v, Index& i) {
  double& e = v[i.k];
  double s = e * e;
  ++i.k;
  return s * v[i.k];
}
struct Table {
  int at;
  double v[3];
  std::vector<double> w;
  void step() { ++at; }
  double walk(double x) {
    double s = 1;
    {
      double& e = v[at];
      s = e * x;
      ++at;
    }
    double& e = v[at];
    step();
    return s * v[at] * e;
  }
  double grow(double x) {
    w.reserve(9);
    double& last = w.back();
    double s = last * last * x;
    w.push_back(s);
    last *= x;
    return s * last * w.back();
  }
};
double indices(double x) {
  double v[] = {x, 2 * x, 3};
  int i = 0, j = 0, k[] = {0};
  Index m{0};
  double s = by_reference(v, i) * by_pointer(v, &j) * by_member(v, m);
  double& e = v[k[0]];
  advance(k);
  s *= e * e * v[k[0]];
  Table t{0, {x, 2 * x, x * x}, {x, 3 * x}};
  return s * t.walk(x) * t.grow(x);
}
TEST(Aliasing, AReferenceOutlivesItsIndex) { EXPECT_GRADIENT(indices, 0.7); }

// A copy is not what it is a copy of.
double changed_beside(V v, V& w) {
  w.a = w.a * v.b * 3;
  return v.a * w.a;
}
double changed_beside(const V& v, V& w, double k) {
  w.a = w.a * v.b * 3;
  return v.a * w.a * k;
}
double changed_beside(const double& a, double& b) {
  b *= 3;
  return a * b;
}
double first_changed(std::vector<double> v, std::vector<double>& w) {
  w[0] *= 3;
  return v[0] * w[0];
}
double of_parameters(V& v, V& w, const V& u) {
  return changed_beside(v, w) * changed_beside(V(u), w, 2) * changed_beside(double(u.b), w.b);
}
double copies(double x) {
  V v{x, 2}, w{x, 0.5};
  double s = changed_beside(v, v) * changed_beside(V(v), v, 2) * of_parameters(w, w, w);
  s *= changed_beside(double(x), x);
  std::vector<double> z{x};
  s *= first_changed(z, z);
  const double& c = double(x);
  const V& e = V(w);
  double&& d = double(v.b);
  x *= 3;
  w.a *= x;
  d *= x;
  return s * c * e.a * x * d * v.b * 1e-4;
}
TEST(Aliasing, ACopyAndWhatItIsACopyOf) { EXPECT_GRADIENT(copies, 0.7); }

}  // namespace
