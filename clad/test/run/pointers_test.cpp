// Pointers and iterators that move.
#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;
using vec = std::vector<double>;

namespace {

double walks(const double* p, int n) {
  double s = 0;
  const double* end = p + n;
  while (p != end) s += *p * *p++ * p[-1];
  return s;
}
double counts_down(const double* p, int n) {
  double s = 0;
  for (const double* q = p + n; q-- != p;) s = s * 0.5 + *q * *q;
  return s;
}
double strides(const double* p, unsigned n, unsigned by) {
  double s = 0;
  for (const double* q = p; q < p + n; q += by) s += *q * q[1];
  const double* last = p + n;
  last -= by;
  return s * *last * static_cast<double>(last - p);
}
double writes(double* p, int n) {
  double* q = p;
  for (int i = 0; i < n; ++i) *q++ *= p[0] + i;
  return *--q * q[-1];
}
double copies(double* to, const double* from, int n) {
  double* start = to;
  while (n-- > 0) *to++ = *from * *from++;
  return start[0] * *start;
}
double two_into_one(double* p) {
  double *a = p, *b = p;
  ++b;
  *a++ *= *b;
  *a *= *b++;
  return *a * *b * p[0];
}
double chosen_later(double x, double y) {
  double a = x * y, b = y;
  double* p = &a;
  *p *= 2;
  p = &b;
  *p *= x;
  if (x > 1) p = &a;
  *p += y * *p;
  return a * b;
}
double buffers(double x, double y, int steps) {
  double u[3] = {x, y, x * y}, v[3] = {0, 0, 0};
  double *now = u, *next = v;
  for (int k = 0; k < steps; ++k) {
    for (int i = 0; i < 3; ++i) next[i] = now[i] * now[(i + 1) % 3] * 0.7;
    std::swap(now, next);
  }
  return now[0] + now[1] * *next;
}
double apply(double* to, const double* from, double by) {
  for (int i = 0; i < 3; ++i) to[i] = from[i] * from[2 - i] * by;
  return to[0] * from[1];
}
double buffers_of_calls(double x, double y, int steps) {
  double u[3] = {x, y, x * y}, v[3] = {0, 0, 0}, s = 0;
  double *now = u, *next = v;
  for (int k = 0; k < steps; ++k) {
    s += apply(next, now, 0.7 + k);
    std::swap(now, next);
  }
  return s * now[1] + *next;
}
double rotates(double x, double y) {
  vec a{x, y}, b{y * y, x}, c{x * x, x * y};
  double *p = a.data(), *q = b.data(), *r = c.data();
  for (int k = 0; k < 4; ++k) {
    r[0] += p[0] * q[1];
    double* t = p;
    p = q;
    q = r;
    r = t;
  }
  return a[0] * b[0] + p[1] * c[0];
}
double maybe_null(double x, int n) {
  double a[2] = {x, x * x};
  const double* best = nullptr;
  for (const double* p = a; p != a + n; ++p)
    if (!best || *p > *best) best = p;
  return best ? *best * x : 3 * x;
}
double chosen(const double* p, const double* q, int n) {
  const double* r = n > 1 ? p : q;
  return r[0] * r[0] * p[1] * q[1];
}

struct Point {
  double x, y;
};
double objects(double x, double y) {
  Point points[3] = {{x, y}, {y, 2}, {x * y, x}};
  double s = 0;
  for (Point* p = points; p != points + 3; ++p) {
    p->x *= p->y;
    s += p->x;
  }
  return s;
}

double iterates(const vec& v) {
  double s = 1;
  for (auto it = v.begin(); it != v.end(); ++it) s *= *it + 0.5 * it[0];
  return s;
}
double iterates_back(const vec& v) {
  double s = 0;
  for (auto it = v.rbegin(); it != v.rend(); ++it) s = s * 0.5 + *it * *it;
  return s;
}
double iterates_writing(vec v) {
  for (auto it = v.begin(); it != v.end() - 1; it++) *it *= *std::next(it);
  return v[0] * v[1];
}
double neighbours(const std::array<double, 4>& a) {
  double s = 0;
  auto before = a.cbegin();
  for (auto it = std::next(before); it < a.cend(); before = it++) s += (*it - *before) * (*it - *before);
  return s;
}
double positions(const vec& v) {
  auto it = std::begin(v);
  std::advance(it, 2);
  const auto n = std::distance(v.begin(), it) + (v.end() - it);
  return *it * *std::prev(it) * static_cast<double>(n);
}
template <class It>
double total(It from, It to) {
  double s = 0;
  while (from != to) s += *from * *from++;
  return s;
}
double passes_iterators(const vec& v) { return total(v.begin(), v.end()) * total(v.rbegin() + 1, v.rend()); }
template <class It>
void scale(It from, It to, double by) {
  for (; from != to; ++from) *from *= by;
}
double passes_writing(vec v, double x) {
  scale(v.begin() + 1, v.end(), x);
  scale(v.data(), v.data() + 2, v[1]);
  return v[0] + v[1] * v[2];
}
double copies_a_range(const vec& v) {
  vec w(v.begin() + 1, v.end());
  return w[0] * w[1] * v[0];
}
double first_and_last(vec v) {
  *v.begin() *= *(v.end() - 1);
  return *v.begin() * *v.rbegin();
}
double of_nothing(const vec& v) {
  double s = v[0];
  for (auto it = v.end(); it != v.end(); ++it) s += *it;
  return s;
}
double grows(const vec& v) {
  vec w;
  for (auto it = v.begin(); it != v.end(); ++it) w.push_back(*it * *it);
  double s = 0;
  for (auto it = w.rbegin(); it != w.rend(); ++it) s = s * 0.5 + *it;
  return s;
}
double captured(const vec& v) {
  double s = 0;
  for (const double* p = v.data(); p != v.data() + v.size(); ++p) {
    auto square = [&](double k) { return *p * *p * k; };
    s += square(*p);
  }
  return s;
}
double nested(const double* m, int rows, int columns) {
  double s = 0;
  for (const double* row = m; row != m + rows * columns; row += columns) {
    double t = 1;
    for (const double* p = row; p != row + columns; ++p) t *= *p;
    s += t * *row;
  }
  return s;
}

double of_integers(double x, int n) {
  int weights[4] = {1, 2, 3, 2};
  double s = 1;
  const int* p = weights;
  while (n-- > 0) s += x * *p++ * s;
  for (int* q = weights; q != weights + 4; ++q) *q *= 2;
  for (const int* q = weights + 4; q-- != weights;) s += x * s / *q;
  return s;
}
double iterators_over_integers(double x) {
  std::vector<int> k{3, 1, 2};
  std::sort(k.begin(), k.end());
  double s = 1;
  for (auto it = k.begin(); it != k.end(); ++it) s = s * x + *it;
  k.erase(k.begin());
  for (auto it = k.rbegin(); it != k.rend(); ++it) s = s * s / (*it + x);
  const auto found = std::find(k.begin(), k.end(), 3);
  std::iota(k.begin(), k.end(), 4);
  return s * *found * *std::max_element(k.begin(), k.end()) * std::accumulate(k.begin(), k.end(), 0);
}

TEST(Pointers, OfParametersAndLocalsMove) {
  EXPECT_GRADIENT(walks, buffer{0.3, 1.2, 0.7}, 3);
  EXPECT_GRADIENT(walks, buffer{0.3, 1.2, 0.7}, 0);
  EXPECT_GRADIENT(counts_down, buffer{0.3, 1.2, 0.7}, 3);
  EXPECT_GRADIENT(strides, buffer{0.3, 1.2, 0.7, 2.0, 1.1}, 4u, 2u);
  EXPECT_GRADIENT(nested, buffer{0.3, 1.2, 0.7, 2.0, 1.1, 0.6}, 2, 3);
}
TEST(Pointers, WriteWhatTheyPointTo) {
  EXPECT_GRADIENT_IN_PLACE(writes, buffer{0.3, 1.2, 0.7}, 3);
  EXPECT_GRADIENT_IN_PLACE(copies, buffer{0.3, 1.2, 0.7}, buffer{0.5, 0.6, 2.0}, 2);
  EXPECT_GRADIENT_IN_PLACE(two_into_one, buffer{0.3, 1.2, 0.7});
}
TEST(Pointers, PointToOneObjectAfterTheOther) {
  EXPECT_GRADIENT(chosen_later, 1.3, 0.7);
  EXPECT_GRADIENT(chosen_later, 0.3, 0.7);
  for (int n : {0, 1, 2, 5}) EXPECT_GRADIENT(buffers, 1.3, 0.7, n);
  for (int n : {0, 1, 2, 3}) EXPECT_GRADIENT(buffers_of_calls, 1.3, 0.7, n);
  EXPECT_GRADIENT(rotates, 1.3, 0.7);
  for (int n : {0, 1, 2}) EXPECT_GRADIENT(maybe_null, 1.3, n);
  EXPECT_GRADIENT(chosen, buffer{0.3, 1.2}, buffer{0.7, 1.4}, 1);
  EXPECT_GRADIENT(chosen, buffer{0.3, 1.2}, buffer{0.7, 1.4}, 2);
  EXPECT_GRADIENT(objects, 1.3, 0.7);
}
double exchanged_between(double x, double y) {
  vec u{x, x * x}, next{y, y * x};
  for (int t = 0; t < 3; ++t) {
    auto it = u.begin();
    for (int i = 0; i < 2; ++i) next[i] = *it++ * 0.5 + y * u[i];
    std::swap(u, next);
  }
  vec& last = u;
  const double* p = last.data();
  return p[0] + 2 * p[1] * next[0];
}
double captures_pointers(double x, double y) {
  double a[3] = {x, y, x * y};
  double* p = a;
  double* q = x > 1 ? a : a + 1;
  ++p;
  auto writes = [=](double& s) {
    s *= 2;
    return p[1] * s;
  };
  --p;
  auto reads = [=, r = &a[1]](double s) mutable { return (y += *r) * q[0] * s; };
  return writes(p[0]) * reads(p[1]) * y;
}
double captures_positions(double x, double y) {
  vec v{x, y};
  auto it = v.begin();
  auto at = [it](double s) { return it[1] * s + *it; };
  auto squares = [p = v.data(), n = v.size()](double s) {
    for (unsigned i = 0; i < n; ++i) s += p[i] * p[i];
    return s;
  };
  return at(y) * squares(x);
}
TEST(Pointers, AreCapturedByValue) {
  for (double x : {1.3, 0.4}) EXPECT_GRADIENT(captures_pointers, x, 0.7);
  EXPECT_GRADIENT(captures_positions, 1.3, 0.7);
}
TEST(Pointers, AreTakenAgainAfterAnExchange) { EXPECT_GRADIENT(exchanged_between, 1.3, 0.7); }
TEST(Pointers, AreIterators) {
  EXPECT_GRADIENT(iterates, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(iterates_back, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(iterates_writing, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(neighbours, std::array<double, 4>{0.3, 1.2, 0.7, 2});
  EXPECT_GRADIENT(positions, vec{0.3, 1.2, 0.7, 2});
  EXPECT_GRADIENT(passes_iterators, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(passes_writing, vec{0.3, 1.2, 0.7}, 1.1);
  EXPECT_GRADIENT(copies_a_range, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(first_and_last, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(of_nothing, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(grows, vec{0.3, 1.2, 0.7});
  EXPECT_GRADIENT(captured, vec{0.3, 1.2, 0.7});
}
TEST(Pointers, ToIntegersMove) {
  for (int n : {0, 1, 4}) EXPECT_GRADIENT(of_integers, 1.3, n);
  EXPECT_GRADIENT(iterators_over_integers, 1.3);
}
TEST(Pointers, MoveInSecondDerivatives) {
  auto h = clad::hessian(walks, "p[0:1]");
  double m[4], p[2] = {0.3, 1.2};
  h.execute(p, 2, m);
  // s = a * a * a + b * b * b
  EXPECT_NEAR(m[0], 6 * p[0], 1e-12);
  EXPECT_NEAR(m[1], 0, 1e-12);
  EXPECT_NEAR(m[3], 6 * p[1], 1e-12);
  auto twice = clad::hessian(iterates, "v[0:1]");
  twice.execute(vec{0.3, 1.2}, m);
  EXPECT_NEAR(m[0], 0, 1e-12);
  EXPECT_NEAR(m[1], 2.25, 1e-12);
}

struct Steps {
  struct End {
    int n;
  };
  struct Iterator {
    double from, step;
    int i;
    double operator*() const { return from + step * i; }
    Iterator& operator++() {
      ++i;
      return *this;
    }
    bool operator!=(End e) const { return i < e.n; }
  };
  double from, step;
  int n;
  Iterator begin() const { return {from, step, 0}; }
  End end() const { return {n}; }
};
double ranges_of_a_class(double x, double y, int n) {
  double s = 0;
  for (double t : Steps{x, y, n}) {
    if (t > 4) break;
    for (double u : Steps{y, t, 2}) s += t * u * u;
  }
  return s;
}
double moves_memory(const double* p, double x) {
  double q[4] = {p[0], p[1], p[2], x};
  for (int k = 0; k < 3; ++k) {
    std::memmove(q + 1, q, 3 * sizeof(double));
    q[0] = q[2] * x;
    std::memmove(q, q + 2, 2 * sizeof(double));
  }
  return q[0] * q[1] + q[2] * q[3];
}

TEST(Pointers, AreIteratorsOfAClass) {
  for (int n : {0, 1, 3, 9}) EXPECT_GRADIENT(ranges_of_a_class, 1.3, 0.7, n);
}
TEST(Pointers, MoveMemoryOverItself) { EXPECT_GRADIENT(moves_memory, buffer{0.3, 1.2, 0.7}, 1.1); }

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual void grow(double by) = 0;
};
struct Circle : Shape {
  double r;
  explicit Circle(double radius) : r(radius) {}
  double area() const override { return 3.14 * r * r; }
  void grow(double by) override { r *= by; }
};
struct Rectangle : Shape {
  double a, b;
  Rectangle(double width, double height) : a(width), b(height) {}
  double area() const override { return a * b; }
  void grow(double by) override { a *= by; }
};
double shapes(double x, double y) {
  Circle c(x);
  Rectangle r(x, y), q(y, y);
  Shape* all[3] = {&c, &r, &q};
  double s = 0;
  for (Shape* p : all) {
    p->grow(y);
    s += p->area();
  }
  const std::array<const Shape*, 2> some{&r, &c};
  for (const auto* p : some) s *= p->area();
  for (std::size_t i = 0; i < some.size(); ++i) s += some[i]->area();
  return s * r.a;
}
double product(const double* p, const double* q, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += p[i] * q[i];
  return s;
}
double rows(double x, double y) {
  double a[3] = {x, y, 1}, b[3] = {y, 2, x}, c[3] = {x * y, 1, y};
  double* m[] = {a, b, c};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) {
      const double k = product(m[i], m[j], 3) / 3;
      for (int l = 0; l < 3; ++l) m[i][l] -= k * m[j][l];
    }
  double s = 0;
  for (double* p : m) s += product(p, p, 3) + *p * p[1];
  double* p = m[1];
  *p++ += y;
  *p *= 2;
  return s * b[0] * b[1] + *m[0] + m[2][2];
}
double numbers(double x, double y) {
  double a = x, b = y, c = 3;
  double* p[3] = {&a, &b, &c};
  for (int i = 0; i < 3; ++i) *p[i] *= *p[(i + 1) % 3];
  double& r = *p[x > 1 ? 1 : 2];
  r += a;
  int k = 2;
  double* q = p[k];
  k = 0;
  *q *= *p[k];
  return a * b * c;
}
TEST(Pointers, AreKeptInArrays) {
  EXPECT_GRADIENT(shapes, 1.3, 0.7);
  EXPECT_GRADIENT(rows, 1.3, 0.7);
  EXPECT_GRADIENT(numbers, 1.3, 0.7);
  EXPECT_GRADIENT(numbers, 0.7, 1.3);
}

// As with interfaces in C, whose parameters are not const whatever they do.
double squares(double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += p[i] * p[i];
  return s;
}
double cubes(double* p, int n) { return n == 0 ? 0 : *p * *p * *p + cubes(p + 1, n - 1); }
double read_only(const double* p, int n) {
  const std::vector<double> v(p, p + n);
  return squares(const_cast<double*>(p), n) + cubes((double*)(p + 1), n - 1) * squares((double*)v.data(), n);
}
double read_only_here(double x, double y) {
  const double a[3] = {x, y, x * y};
  return squares(const_cast<double*>(a + 1), 2) * read_only(a, 3);
}
TEST(Pointers, ToConstantsAreHandedOnAsVariables) {
  EXPECT_GRADIENT(read_only_here, 1.3, 0.7);
  EXPECT_GRADIENT(read_only, buffer{1.3, 0.7}, 2);
}

// An output that is not asked for.
double square(double p, double* d = nullptr) {
  if (d) *d = 2 * p;
  return p * p;
}
double twice(double p, double* d) {
  const double r = square(p, d);
  if (!d) return r;
  *d += r;
  return r * 2;
}
double both(double p, double* d, double* e) { return twice(p, d) + (e ? *e : 1.0) * twice(p, e); }
struct Model {
  double k;
  double run(double p, double* d = 0) const {
    if (d && p > 0) *d = k * p;
    if (d == nullptr || p > 100) p *= 2;
    return p * k;
  }
};
template <class F>
double newton(F f, double x, int* iterations = nullptr, double* residual = nullptr) {
  for (int i = 0; i < 3; ++i) {
    const double h = f(x);
    x -= h / 3;
    if (iterations != nullptr) ++*iterations;
    if (residual != nullptr) *residual = h;
  }
  return x;
}
double without_outputs(double x, double y) {
  double e = y, r = 0;
  const Model m{y};
  const double a = both(x, nullptr, &e) + both(y, &r, 0) + both(x * y, NULL, nullptr);
  const auto f = [=](double t) { return t * t - x * y; };
  return a * e + m.run(x) * m.run(y, &r) * r + newton(f, x) * newton(f, y, nullptr, &e) * e;
}
TEST(Pointers, MayBeNull) { EXPECT_GRADIENT(without_outputs, 1.3, 0.7); }

// Addresses of elements that a loop chooses, and iterators in objects.
struct At {
  std::vector<int>::const_iterator where;
};
double at_elements(double x, double y) {
  int t[6] = {1, 2, 3, 4, 5, 6};
  std::vector<double> v{1, x, y, x * y};
  double s = x;
  const int* p;
  double* q = nullptr;
  for (int i = 0; i < 3; ++i) {
    p = &t[2 * i];
    q = &v[i + 1];
    *q += 1;
    s = s * y + p[0] * q[-1] + p[1] * *q;
  }
  const std::vector<int> k{2, 7};
  const At at{k.begin()};
  return s * *at.where;
}
TEST(Pointers, ToElementsOfALoop) { EXPECT_GRADIENT(at_elements, 1.3, 0.7); }

}  // namespace
