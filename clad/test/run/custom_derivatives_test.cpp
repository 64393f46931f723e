// Pullbacks that the user writes: free functions, methods, operators, with and without state, in both forms.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace lib {

double cube(double x) { return x * x * x; }
double gather(double x, int n, const int* idx, double* w) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += w[idx[i]] * x;
  return s;
}
double scale(double x, int n) { return x * n; }
double quarter(double x) { return x / 4; }
namespace inner {
double shift(double x) { return x + 1; }
}  // namespace inner

}  // namespace lib

struct Value {
  double a;
  double square(double k) const { return a * a * k; }
  void multiply(double k) { a *= k; }
  double multiply_and_get(double k) {
    a *= k;
    return a * 2;
  }
  double operator()(double t) const { return t * a; }
  double operator[](int i) const { return a * i; }
  template <class V>
  void reals(V&& v) {
    v(a);
  }
};
Value operator+(const Value& a, const Value& b) { return {a.a + b.a}; }
Value operator-(const Value& a) { return {-a.a}; }
Value& operator+=(Value& a, const Value& b) {
  a.a += b.a;
  return a;
}

void normalize(double* v, int n, double k) {
  for (int i = 0; i < n; ++i) v[i] = v[i] * k + v[0];
}
double times(double& x, double y) {
  x = x * y;
  return x + y;
}
template <class T>
T twice(T x) {
  return 2 * x;
}
double defined_elsewhere(double x);

struct Point {
  Point(double px, double py) : x(px), y(py * py) {}
  double x, y;
};
struct Pair {  // built from the same arguments, with derivatives of the compiler's
  Pair(double pa, double pb) : a(pa * pb), b(pb) {}
  double a, b;
};

static int calls = 0;

namespace clad::custom_derivatives {

namespace lib {
void cube_pullback(double x, double d_y, double* d_x) {
  ++calls;
  *d_x += d_y * 3 * x * x;
}
// Clad's form: a pointer for every parameter.
void gather_pullback(double x, int n, const int* idx, double* w, double d_y, double* d_x, int*, int*,
                     double* d_w) {
  ++calls;
  for (int i = 0; i < n; ++i) {
    *d_x += d_y * w[idx[i]];
    d_w[idx[i]] += d_y * x;
  }
}
// The shorter one: pointers for what can have a derivative.
void scale_pullback(CLAD_UNUSED double x, int n, double d_y, double* d_x) {
  ++calls;
  *d_x += d_y * n;
}
namespace inner {
void shift_pullback(double, double d_y, double* d_x) {
  ++calls;
  *d_x += d_y;
}
}  // namespace inner
}  // namespace lib

namespace class_functions {
void square_pullback(const Value* self, double k, double d_y, Value* d_self, double* d_k) {
  ++calls;
  d_self->a += d_y * 2 * self->a * k;
  *d_k += d_y * self->a * self->a;
}
void multiply_pullback(Value* self, double k, Value* d_self, double* d_k) {
  ++calls;
  *d_k += d_self->a * self->a;
  d_self->a *= k;
}
struct Before {
  double a;
};
double multiply_and_get_reverse_forw(Value* self, double k, pullback_state<Before>& state) {
  state.data.a = self->a;
  return self->multiply_and_get(k);
}
void multiply_and_get_pullback(Value* self, double k, double d_y, Value* d_self, double* d_k,
                               pullback_state<Before>& state) {
  ++calls;
  self->a = state.data.a;
  double d = d_self->a + 2 * d_y;
  *d_k += d * self->a;
  d_self->a = d * k;
}
void operator_call_pullback(const Value* self, double t, double d_y, Value* d_self, double* d_t) {
  ++calls;
  d_self->a += d_y * t;
  *d_t += d_y * self->a;
}
void operator_subscript_pullback(const Value*, int i, double d_y, Value* d_self, int*) {
  ++calls;
  d_self->a += d_y * i;
}
}  // namespace class_functions

void operator_plus_pullback(const Value&, const Value&, Value d_y, Value* d_a, Value* d_b) {
  ++calls;
  d_a->a += d_y.a;
  d_b->a += d_y.a;
}
void operator_minus_pullback(const Value&, Value d_y, Value* d_a) {
  ++calls;
  d_a->a -= d_y.a;
}
void operator_plus_equal_pullback(Value&, const Value&, Value* d_a, Value* d_b) {
  ++calls;
  d_b->a += d_a->a;
}

struct Old {
  std::vector<double> v;
};
void normalize_reverse_forw(double* v, int n, double k, pullback_state<Old>& state) {
  state.data.v.assign(v, v + n);
  ::normalize(v, n, k);
}
void normalize_pullback(double* v, int n, double k, double* d_v, double* d_k, pullback_state<Old>& state) {
  ++calls;
  for (int i = n; i-- > 0;) {
    double d = d_v[i];
    d_v[i] = d * k;
    d_v[0] += d;
    *d_k += d * state.data.v[i];
    v[i] = state.data.v[i];
  }
}
void times_pullback(double& x, double y, double d_r, double* d_x, double* d_y) {
  ++calls;
  double d = *d_x + d_r;
  *d_y += d_r + d * x;
  *d_x = d * y;
}
template <class T>
void twice_pullback(T, T d_y, T* d_x) {
  ++calls;
  *d_x += 2 * d_y;
}
void defined_elsewhere_pullback(double x, double d_y, double* d_x) {
  ++calls;
  *d_x += d_y * 2 * x;
}

namespace class_functions {
void constructor_pullback(double, double py, Point* d_this, double* d_px, double* d_py) {
  ++calls;
  *d_px += d_this->x;
  *d_py += 2 * py * d_this->y;
}
clad::ValueAndPushforward<Point, Point> constructor_pushforward(clad::ConstructorPushforwardTag<Point>,
                                                                double px, double py, double d_px,
                                                                double d_py) {
  ++calls;
  Point tangent(d_px, 0);
  tangent.y = 2 * py * d_py;
  return {Point(px, py), tangent};
}
}  // namespace class_functions

}  // namespace clad::custom_derivatives

namespace {

using clad::test::buffer;

double free_functions(double x, double* w) {
  int idx[2] = {1, 0};
  return lib::cube(x) * lib::gather(x, 2, idx, w) + lib::scale(x * x, 3) +
         lib::inner::shift(x) * lib::cube(w[0]);
}
double of_constructors(double u, double v) {
  double s = 0;
  for (int i = 0; i < 2; ++i) {
    const Point p(u + i, v * u);
    const Pair q(v, p.x);
    s += p.x * p.y * q.a + Point(s, v).y;
  }
  return s;
}
TEST(CustomDerivatives, OfConstructors) {
  calls = 0;
  double d_u = 0, d_v = 0;
  clad::gradient(of_constructors).execute(1.3, 0.7, &d_u, &d_v);
  EXPECT_EQ(calls, 4);
  EXPECT_NEAR(clad::differentiate(of_constructors, "u").execute(1.3, 0.7), d_u, 1e-12);
  EXPECT_EQ(calls, 8);
  EXPECT_GRADIENT(of_constructors, 1.3, 0.7);
}

TEST(CustomDerivatives, OfFreeFunctionsInNamespaces) {
  calls = 0;
  EXPECT_REVERSE_GRADIENT(free_functions, 1.3, (buffer<double>{0.5, 0.6}));
  EXPECT_EQ(2 * 5, calls);
}

double methods(Value v, double k) {
  Value t = v;
  t.multiply(k);
  double q = t.multiply_and_get(k * 2);
  t.multiply(q);
  t += -v + t;
  return t.square(k) * q + v(k) * t[3];
}
TEST(CustomDerivatives, OfMethodsAndOperators) {
  calls = 0;
  EXPECT_GRADIENT(methods, Value{0.7}, 1.3);
  EXPECT_EQ(2 * 9, calls);
}

double with_state(double x, double k) {
  double v[3] = {x, 2, x * k};
  for (int i = 0; i < 3; ++i) normalize(v, 3, k);
  return v[0] * v[1] + v[2];
}
TEST(CustomDerivatives, WithStateAndPointersInALoop) {
  calls = 0;
  EXPECT_GRADIENT(with_state, 1.3, 0.7);
  EXPECT_EQ(2 * 3, calls);
}

double in_place(double x, double y) {
  double a = x;
  double b = times(a, y);
  a *= times(a, b);
  return a * b;
}
TEST(CustomDerivatives, OfFunctionsThatChangeAnArgument) { EXPECT_GRADIENT(in_place, 1.3, 0.7); }

double of_template(double x) { return twice(x) * twice(static_cast<float>(1)); }
TEST(CustomDerivatives, OfTemplates) {
  calls = 0;
  EXPECT_REVERSE_GRADIENT(of_template, 1.3);
  EXPECT_EQ(2, calls);
}

double without_definition(double x) { return defined_elsewhere(x) * x; }
TEST(CustomDerivatives, StandInForADefinitionThatIsNotVisible) { EXPECT_GRADIENT(without_definition, 1.3); }

double inactive(double x) { return lib::cube(2.0) * x + defined_elsewhere(3.0); }
TEST(CustomDerivatives, AreNotCalledForConstants) {
  calls = 0;
  EXPECT_GRADIENT(inactive, 1.3);
  EXPECT_EQ(0, calls);
}

}  // namespace

// Wrong on purpose, so that one sees whose derivative it is.
namespace clad::custom_derivatives::std {
void lerp_pullback(double, double, double, double d, double* d_a, double* d_b, double*) {
  *d_a += 10 * d;
  *d_b += 20 * d;
}
void cbrt_pullback(double, double d, double* d_x) { *d_x += 30 * d; }
ValueAndPushforward<double, double> fmin_pushforward(double x, double y, double d_x, double d_y) {
  return {x < y ? x : y, 40 * d_x + 50 * d_y};
}
void accumulate_pullback(const double* first, const double* last, double, double d, double* d_first, double*,
                         double*) {
  for (; first != last; ++first) *d_first++ += 100 * d;
}
}  // namespace clad::custom_derivatives::std
namespace clad::custom_derivatives::overrides {
namespace std {
void expm1_pullback(double, double d, double* d_x) { *d_x += 60 * d; }
}  // namespace std
namespace lib {
void quarter_pullback(double, double d, double* d_x) { *d_x += 70 * d; }
}  // namespace lib
}  // namespace clad::custom_derivatives::overrides

namespace {

double of_library(double x, double y) { return std::lerp(x, y, 0.5) + std::cbrt(x) + std::fmin(x, y); }
double middle(double x, double y) { return std::lerp(x, y, 0.5); }
double lesser(double x, double y) {
  double least = std::fmin(x, 5);
  least = std::fmin(3, least * y);
  return least + 7 * std::fmin(5, x);
}
TEST(CustomDerivatives, OfLibraryFunctionsGoBeforeOurs) {
  double d_x = 0, d_y = 0, m[2] = {};
  clad::gradient(of_library).execute(1, 2, &d_x, &d_y);
  EXPECT_EQ(10 + 30 + 1, d_x);
  EXPECT_EQ(20, d_y);
  EXPECT_EQ(10 + 30 + 40, clad::differentiate(of_library, "x").execute(1, 2));
  EXPECT_EQ(20 + 50, clad::differentiate(of_library, "y").execute(1, 2));
  clad::jacobian(middle).execute(1, 2, m);
  EXPECT_EQ(10, m[0]);
  EXPECT_EQ(20, m[1]);
  clad::jacobian(of_library).execute(1, 2, m);  // of fmin there is a pushforward alone
  EXPECT_EQ(10 + 30 + 40, m[0]);
  EXPECT_EQ(20 + 50, m[1]);
  double of_x = 0, of_y = 0;
  clad::differentiate<clad::opts::vector_mode>(lesser).execute(1, 2, &of_x, &of_y);
  EXPECT_EQ(40 * 2 * 50 + 7 * 50, of_x);
  EXPECT_EQ(50, of_y);
}
double of_overridden(double x) { return std::expm1(x) + 2 * expm1(x) + lib::quarter(x); }
TEST(CustomDerivatives, CalledOverridesGoFirst) {
  double d_x = 0;
  clad::gradient(of_overridden).execute(1, &d_x);
  EXPECT_EQ(60 + 2 * 60 + 70, d_x);
  EXPECT_EQ(60 + 2 * 60 + 70, clad::differentiate(of_overridden, "x").execute(1));
}
double of_float(float x) { return std::cbrt(x); }
TEST(CustomDerivatives, OfOtherOverloadsAreOurs) {
  float d_x = 0;
  clad::gradient(of_float).execute(1, &d_x);
  EXPECT_FLOAT_EQ(1.0F / 3, d_x);
}

double sums(const double* p, const std::vector<double>& v) {
  return std::accumulate(p, p + 3, 0.0) * 2 + std::accumulate(v.begin(), v.end(), 0.0) +
         std::accumulate(v.rbegin(), v.rend(), 0.0);
}
TEST(CustomDerivatives, OfAlgorithmsTakePointers) {
  const double p[3] = {1, 2, 3};
  const std::vector<double> v = {1, 2};
  double d_p[3] = {};
  std::vector<double> d_v;
  clad::gradient(sums).execute(p, v, d_p, &d_v);
  EXPECT_EQ(200, d_p[2]);
  EXPECT_EQ(101, d_v[1]);
  EXPECT_EQ(2, clad::differentiate(sums, "p[1]").execute(p, v));
}

}  // namespace

// What these return is known only where they are called, as nothing else of the program returns it.
float cubed(float x) { return x * x * x; }
float fourth(float x) { return x * x * x * x; }
template <class T>
struct Scaled {
  T factor;
  T of(T x) const { return factor * x * x; }
};
template <class T, class U>
struct Couple {
  T a;
  U b;
};
template <class T, class U>
Couple<T, U> squared(const Couple<T, U>& c) {
  return {c.a * c.a, c.a * c.b};
}
namespace clad::custom_derivatives {
template <class T>
ValueAndPushforward<T, T> cubed_pushforward(T x, T d_x) {
  ++calls;
  return {x * x * x, 3 * x * x * d_x};
}
template <class T>
auto fourth_pushforward(T x, T d_x) {
  ++calls;
  return ValueAndPushforward<T, T>{x * x * x * x, 4 * x * x * x * d_x};
}
template <class T, class U>
ValueAndPushforward<Couple<T, U>, Couple<T, U>> squared_pushforward(const Couple<T, U>& c,
                                                                    const Couple<T, U>& d_c) {
  ++calls;
  return {squared(c), {2 * c.a * d_c.a, d_c.a * c.b + c.a * d_c.b}};
}
namespace class_functions {
template <class T>
ValueAndPushforward<T, T> of_pushforward(const Scaled<T>* s, T x, const Scaled<T>* d_s, T d_x) {
  ++calls;
  return {s->of(x), d_s->factor * x * x + 2 * s->factor * x * d_x};
}
}  // namespace class_functions
}  // namespace clad::custom_derivatives

namespace {

float of_cubed(float x, float y) { return cubed(x) * y; }
float of_fourth(float x, float y) { return fourth(x) * y; }
float of_scaled(float x, float y) { return Scaled<float>{x * y}.of(x); }
float of_couple(float x, float y) {
  const Couple<float, double> t = squared(Couple<float, double>{x, y});
  return t.a * static_cast<float>(t.b);
}
float slope_of_cubed(float x, float y) { return clad::differentiate(of_cubed, "x").execute(x, y); }
TEST(CustomDerivatives, ThatAreTemplatesAreDifferentiatedAgain) {
  calls = 0;
  float h[4] = {}, d_x = 0, d_y = 0;
  clad::hessian(of_cubed).execute(2, 3, h);
  EXPECT_THAT(h, testing::ElementsAre(36, 12, 12, 0));
  std::fill_n(h, 4, 0.0F);
  clad::hessian(of_fourth).execute(2, 3, h);
  EXPECT_THAT(h, testing::ElementsAre(144, 32, 32, 0));
  std::fill_n(h, 4, 0.0F);
  clad::hessian(of_scaled).execute(2, 3, h);
  EXPECT_THAT(h, testing::ElementsAre(36, 12, 12, 0));
  std::fill_n(h, 4, 0.0F);
  clad::hessian(of_couple).execute(2, 3, h);
  EXPECT_THAT(h, testing::ElementsAre(36, 12, 12, 0));
  EXPECT_EQ(clad::differentiate<2>(of_cubed, "x").execute(2, 3), 36);
  clad::gradient(slope_of_cubed).execute(2, 3, &d_x, &d_y);
  EXPECT_EQ(d_x, 36);
  EXPECT_EQ(d_y, 12);
  EXPECT_GT(calls, 0);
}

}  // namespace

double tripled(double x, double y);
double defined_later(double, double);
namespace shapes {
double area(const std::vector<double>& sides, double scale) { return sides[0] * sides[1] * scale; }
}  // namespace shapes
struct Library {
  static double constant(double T, double E);
};
namespace clad::custom_derivatives {
void tripled_pullback(double, double, double d, double* d_x, double* d_y) {
  *d_x += 3 * d;
  *d_y += 5 * d;
}
ValueAndPushforward<double, double> defined_later_pushforward(double x, double y, double d_x, double d_y) {
  return {x + y, 7 * d_x + 9 * d_y};
}
namespace shapes {
void area_pullback(const ::std::vector<double>& sides, double, double d, ::std::vector<double>* d_sides,
                   double* d_scale) {
  (*d_sides)[0] += 11 * d * sides[1];
  *d_scale += 13 * d;
}
}  // namespace shapes
namespace class_functions {
void constant_pullback(double, double, double d, double* d_T, double* d_E) {
  *d_T += 17 * d;
  *d_E += 19 * d;
}
}  // namespace class_functions
}  // namespace clad::custom_derivatives
double tripled(double x, double y) {
  throw std::logic_error("the body of a function that has a pullback");
  return x * y;
}
double defined_later(double x, double y) { return x + y; }
double Library::constant(double T, double E) { return T + E; }

namespace {

TEST(CustomDerivatives, OfTheFunctionThatIsAskedAbout) {
  double d_x = 0, d_y = 0, d_s = 0;
  clad::gradient(tripled).execute(1, 2, &d_x, &d_y);
  EXPECT_EQ(d_x, 3);
  EXPECT_EQ(d_y, 5);
  clad::gradient(tripled, "y").execute(1, 2, &d_y);
  EXPECT_EQ(d_y, 10);
  EXPECT_EQ(clad::differentiate(defined_later, "y").execute(1, 2), 9);
  EXPECT_EQ(clad::differentiate<2>(defined_later, "x").execute(1, 2), 0);
  d_x = d_y = 0;
  clad::gradient(defined_later).execute(1, 2, &d_x, &d_y);  // which has no pullback
  EXPECT_EQ(d_x, 1);
  std::vector<double> d_sides;
  const std::vector<double> sides{2, 3};
  EXPECT_EQ(clad::value_and_gradient(shapes::area).execute(sides, 1, &d_sides, &d_s), 6);
  EXPECT_EQ(d_sides[0], 33);
  EXPECT_EQ(d_s, 13);
  d_x = d_y = 0;
  clad::gradient(&Library::constant).execute(1, 2, &d_x, &d_y);
  EXPECT_EQ(d_x, 17);
  EXPECT_EQ(d_y, 19);
}

}  // namespace

double defined_elsewhere(double x) { return x * x; }
