// What a program may ask of clad::gradient and of the object it returns; a program written for Clad.
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include "clad/Differentiator/ArrayRef.h"
#include "clad/Differentiator/BuiltinDerivatives.h"
#include "clad/Differentiator/Differentiator.h"
#include "clad/Differentiator/Matrix.h"
#include "clad/Differentiator/NumericalDiff.h"
#include "clad/Differentiator/STLBuiltins.h"
#include "clad/Differentiator/Tape.h"
#include "clad/test/support/finite_difference.h"

namespace {

double f(double x, double y, int n) { return x * x * y * n; }
TEST(Requests, AllParametersWhenNoneIsNamed) {
  double d_x = 1, d_y = 2;
  auto g = clad::gradient(f);
  g.execute(2, 3, 4, &d_x, &d_y, nullptr);
  EXPECT_EQ(1 + 48, d_x);
  EXPECT_EQ(2 + 16, d_y);
}

double product(double p, double q, double r) { return p * q * q * r * r * r; }
TEST(Requests, AdjointsComeInTheOrderOfTheNames) {
  double d_p = 0, d_q = 0, d_r = 0;
  clad::gradient(product, "r,p").execute(1, 2, 3, &d_r, &d_p);
  EXPECT_EQ(108, d_r);
  EXPECT_EQ(108, d_p);
  clad::gradient(product, " q ").execute(1, 2, 3, &d_q);
  EXPECT_EQ(108, d_q);
}

TEST(Requests, ValueAndGradient) {
  double d_x = 0, d_y = 0;
  EXPECT_EQ(48, clad::value_and_gradient(f, "y, x").execute(2, 3, 4, &d_y, &d_x));
  EXPECT_EQ(48, d_x);
  EXPECT_EQ(16, d_y);
}

double some_of(const double* a, double x) { return a[0] * a[1] + a[2] * a[2] * a[3] * x; }
double some_of_array(const double (&a)[4], std::array<double, 4> b, const std::vector<double>& c, double x) {
  return some_of(a, x) + some_of(b.data(), x) + some_of(c.data(), x);
}
TEST(Requests, OnlyTheNamedElementsAreTouched) {
  double a[4] = {1, 2, 3, 4}, d[4] = {}, d_x = 0;
  clad::gradient(some_of, "a[2]").execute(a, 2, d);
  EXPECT_THAT(d, testing::ElementsAre(0, 0, 48, 0));
  std::vector<double> as_long_as_named = {1, 1, 1};
  EXPECT_EQ(74, clad::value_and_gradient(some_of, "x, a[1:2]").execute(a, 2, &d_x, as_long_as_named.data()));
  EXPECT_THAT(as_long_as_named, testing::ElementsAre(1, 2, 49));
  EXPECT_EQ(36, d_x);

  const std::array<double, 4> b = {1, 2, 3, 4};
  std::vector<double> c = {1, 2, 3, 4}, d_c;
  std::array<double, 4> d_b = {};
  double d_a[3] = {};
  clad::gradient(some_of_array, "b[2:3], a[0:1], c[1]").execute(a, b, c, 2, &d_b, d_a, &d_c);
  EXPECT_THAT(d_b, testing::ElementsAre(0, 0, 48, 18));
  EXPECT_THAT(d_a, testing::ElementsAre(2, 1, 0));
  EXPECT_THAT(d_c, testing::ElementsAre(0, 1, 0, 0));
  c.resize(1);
  EXPECT_THROW(clad::gradient(some_of_array, "c[1]").execute(a, b, c, 2, &d_c), std::out_of_range);

  double error = 0, d_e[4] = {};
  clad::estimate_error(some_of, "a[2]").execute(a, 2, d_e, error);
  EXPECT_THAT(d_e, testing::ElementsAre(0, 0, 48, 0));
  const std::vector<double> v = {1, 2, 3, 4};
  d_b = {9, 9, 9, 9};  // vector mode replaces
  clad::differentiate<clad::opts::vector_mode>(some_of_array, "c, b[1:2]").execute(a, b, v, 2, &d_c, &d_b);
  EXPECT_THAT(d_b, testing::ElementsAre(9, 1, 48, 9));
}
TEST(Requests, OnlyTheNamedElementsOfATangentCount) {
  const double a[4] = {1, 2, 3, 4};
  double direction[4] = {1, 1, 1, 1}, product[4] = {};
  EXPECT_EQ(48, clad::pushforward(some_of, "a[2]").execute(a, 2, direction).pushforward);
  clad::hessian_vector_product(some_of, "a[2:3]").execute(a, 2, direction, product);
  EXPECT_THAT(product, testing::ElementsAre(0, 0, 28, 12));
}

struct Parabola {
  double a;
  double at(double x) const { return a * x * x; }
  double shift(double by) {
    a += by;
    return a * a;
  }
  static double plain(double x) { return x * x; }
  double operator()(double x) { return a * x; }
};
TEST(Requests, MemberFunctionsTakeTheObjectFirst) {
  Parabola p{3}, d_p{1};
  double d_x = 0;
  EXPECT_EQ(12, clad::value_and_gradient(&Parabola::at).execute(p, 2.0, &d_x));
  EXPECT_EQ(12, d_x);
  clad::gradient(&Parabola::at, "x").execute(p, 2.0, &d_p, &d_x);
  EXPECT_EQ(1 + 4, d_p.a);
  EXPECT_EQ(24, d_x);
  Parabola d{0};
  EXPECT_EQ(25, clad::value_and_gradient(&Parabola::shift).execute(p, 2.0, &d, &d_x));
  EXPECT_EQ(10, d.a);
  EXPECT_EQ(24 + 10, d_x);
  EXPECT_EQ(3, p.a);
  double d_s = 0;
  clad::gradient(&Parabola::plain).execute(3.0, &d_s);
  EXPECT_EQ(6, d_s);
}

TEST(Requests, FunctionObjectsAndLambdas) {
  double d_x = 0;
  Parabola p{2};
  clad::gradient(p).execute(3.0, &d_x);
  EXPECT_EQ(2, d_x);
  auto l = [k = 2.0](double x) { return k * x; };
  EXPECT_EQ(6, clad::value_and_gradient(l).execute(3.0, &d_x));
  EXPECT_EQ(4, d_x);
}

void square_into(double x, double& y) { y = y * x * x; }
TEST(Requests, AVoidFunctionTakesTheCotangentOfItsOutput) {
  double y = 3, d_x = 0, d_y = 1;
  clad::gradient(square_into).execute(2.0, y, &d_x, &d_y);
  EXPECT_EQ(12, d_x);
  EXPECT_EQ(4, d_y);
  EXPECT_EQ(3, y);
}

double chosen(bool b, double x, double y) { return b ? x * y : x; }
double lettered(const char* s, const std::string& t, double x) {
  return s[0] * x * static_cast<double>(t.size());
}
struct Count {
  int n;
  double times(double x, int m) const { return n * m * x; }
};
TEST(Requests, ParametersWithoutDerivativeHavePlacesToo) {
  double d_x = 0, d_y = 0;
  bool d_b = true;
  clad::gradient(chosen).execute(true, 2, 3, nullptr, &d_x, &d_y);
  clad::gradient(chosen).execute(true, 2, 3, &d_b, &d_x, &d_y);
  EXPECT_EQ(d_x, 6);
  EXPECT_EQ(d_y, 4);
  EXPECT_TRUE(d_b);
  char d_s = 1;
  std::string d_t = "t";
  d_x = 0;
  clad::gradient(lettered).execute("a", "bc", 2, &d_s, &d_t, &d_x);
  EXPECT_EQ(d_x, 97 * 2);
  EXPECT_EQ(d_t, "t");
}
TEST(Requests, AdjointsOfThoseWithDerivativesAlone) {
  double d_x = 0, d_y = 0, error = 0;
  clad::gradient(chosen).execute(true, 2, 3, &d_x, &d_y);
  EXPECT_EQ(d_x, 3);
  EXPECT_EQ(d_y, 2);
  clad::estimate_error(chosen).execute(true, 2, 3, &d_x, nullptr, error);
  EXPECT_EQ(d_x, 6);
  clad::differentiate<clad::opts::vector_mode>(chosen).execute(true, 2, 3, &d_x, &d_y);
  EXPECT_EQ(d_x, 3);
  EXPECT_EQ(clad::pushforward(chosen).execute(true, 2, 3, &d_x, &d_y).pushforward, 3 * 3 + 2 * 2);
  double v_x = 1, v_y = 0;
  d_x = d_y = 0;
  clad::hessian_vector_product(chosen).execute(true, 2, 3, &v_x, &v_y, &d_x, &d_y);
  EXPECT_EQ(d_y, 1);
  d_x = 0;
  clad::gradient(lettered).execute("a", "bc", 2, &d_x);
  EXPECT_EQ(d_x, 97 * 2);
}
TEST(Requests, WhatIsNotMeantForAPlaceIsRefused) {
  double d_x = 0, d_y = 0;
  float wrong = 0;
  EXPECT_THROW(clad::gradient(chosen).execute(true, 2, 3, &d_x), std::invalid_argument);
  EXPECT_THROW(clad::gradient(chosen).execute(true, 2, 3, &wrong, &d_x, &d_y), std::invalid_argument);
  EXPECT_THROW(clad::gradient(chosen).execute(true, 2, 3, &wrong, &d_y), std::invalid_argument);
  EXPECT_THROW(clad::gradient(f).execute(2, 3, 4, &d_x, &d_y, &wrong), std::invalid_argument);
  const Count c{2};
  clad::gradient(&Count::times).execute(c, 3, 4, &d_x);
  EXPECT_EQ(d_x, 8);
  EXPECT_THROW(clad::gradient(&Count::times).execute(c, 3, 4, &d_y, &d_x, nullptr), std::invalid_argument);
  try {
    clad::gradient(lettered).execute("a", "bc", 2, &d_x, &d_y);
    ADD_FAILURE();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(),
                 "clad: the adjoint argument for parameter 's' points to a different type: the parameter "
                 "carries no derivative, so pass nullptr there, or name those that do, \"x\"");
  }
  EXPECT_EQ(d_x, 8);
  EXPECT_EQ(d_y, 0);
}

double declared_only(std::vector<void*>& v, double x);
template <class T>
T templated(T x) {
  return x * x * x;
}
template <class T>
T derivative_at(T x) {
  T d_x = 0;
  clad::gradient(templated<T>).execute(x, &d_x);
  return d_x;
}
template <class T>
const auto slope_of = clad::differentiate(templated<T>, "x");
template <class T>
auto slope_at = [](T x) { return clad::differentiate(templated<T>, "x").execute(x); };
template <class T>
struct Slopes {
  using Derivative = decltype(clad::differentiate(templated<T>, "x"));
  static inline const auto first = clad::differentiate(templated<T>, "x");
  static const Derivative second;
  Derivative third = clad::differentiate(templated<T>, "x");
};
template <class T>
const typename Slopes<T>::Derivative Slopes<T>::second = clad::differentiate(templated<T>, "x");
template <class T>
struct MoreSlopes : Slopes<T> {
  T at;
  explicit MoreSlopes(T x) : at(this->third.execute(x)) {}
};
double slope_again(double x) { return slope_of<double>.execute(x) * x; }
template <class T>
T never_used(T x) {
  return clad::differentiate(declared_only, "x").execute(std::declval<std::vector<void*>&>(), x);
}
TEST(Requests, InsideTemplates) {
  EXPECT_EQ(12, derivative_at(2.0));
  EXPECT_EQ(27, derivative_at(3.0f));
  EXPECT_EQ(12, slope_of<double>.execute(2));
  EXPECT_EQ(27, slope_of<float>.execute(3));
  EXPECT_EQ(12, slope_at<double>(2));
  EXPECT_EQ(12, Slopes<double>::first.execute(2));
  EXPECT_EQ(27, Slopes<float>::second.execute(3));
  EXPECT_EQ(27, Slopes<long double>().third.execute(3));
  EXPECT_EQ(12, MoreSlopes<double>(2).at);
  double d_x = 0;
  clad::gradient(slope_again).execute(2, &d_x);
  EXPECT_EQ(36, d_x);
}

struct Weighted {
  double* w;
  std::shared_ptr<double> scale;
  double operator()(double x) const { return w[0] * w[0] * x * *scale; }
  double change(double x) { return w[0] *= x; }
};
double weigh(const Weighted& weighted, double x) { return weighted.w[0] * x; }
TEST(Requests, WithoutTheObjectAreWithoutWhatItPointsTo) {
  double w = 2, d_w = 0, d_x = 0;
  Weighted weighted{&w, std::make_shared<double>(5)}, d_weighted{&d_w, std::make_shared<double>(0)};
  clad::gradient(&Weighted::operator(), "x").execute(weighted, 3, &d_x);
  EXPECT_EQ(20, d_x);
  clad::gradient(weighted).execute(3, &d_x);
  EXPECT_EQ(40, d_x);
  EXPECT_EQ(20, clad::value_and_gradient(&Weighted::operator()).execute(weighted, 1, &d_x));
  EXPECT_EQ(60, d_x);
  clad::gradient(&Weighted::operator()).execute(weighted, 3, &d_weighted, &d_x);
  EXPECT_EQ(80, d_x);
  EXPECT_EQ(60, d_w);
  EXPECT_EQ(12, *d_weighted.scale);
  EXPECT_THROW(clad::gradient(weigh).execute(weighted, 3, nullptr, &d_x), std::invalid_argument);
  EXPECT_THROW(clad::gradient(&Weighted::change).execute(weighted, 3, &d_x), std::invalid_argument);
  EXPECT_EQ(2, w);
  EXPECT_EQ(5, *weighted.scale);
}

TEST(Requests, TheSameDerivativeMayBeAskedForAgain) {
  for (int i = 1; i < 4; ++i) {
    double d_x = 0;
    clad::gradient(f, "x").execute(i, 1, 1, &d_x);
    EXPECT_EQ(2 * i, d_x);
  }
}

TEST(Requests, AdjointsOfTheWrongTypeOrNumberAreRefused) {
  auto g = clad::gradient(f, "x");
  float wrong = 0;
  double d_x = 0, d_y = 0;
  EXPECT_THROW(g.execute(2, 3, 4, &wrong), std::invalid_argument);
  EXPECT_THROW(g.execute(2, 3, 4, &d_x, &d_y), std::invalid_argument);
  g.execute(2, 3, 4);
}

TEST(Requests, TheCodeIsReadable) {
  auto g = clad::gradient(f, "x");
  EXPECT_TRUE(g);
  std::string code = g.getCode();
  EXPECT_NE(std::string::npos, code.find("d_result"));
  EXPECT_NE(std::string::npos, code.find("return x * x * y * n"));
}

// A program as written for Clad.
double clad_f(double x, double y) { return x * y; }
double clad_dot(double* a, double* b, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += a[i] * b[i];
  return s;
}
TEST(Requests, AProgramWrittenForClad) {
  auto g = clad::gradient(clad_f, "x, y");
  double dx = 0, dy = 0;
  g.execute(3, 4, &dx, &dy);
  EXPECT_EQ(4, dx);
  EXPECT_EQ(3, dy);
  auto h = clad::gradient(clad_dot, "a, b");
  double a[2] = {1, 2}, b[2] = {3, 4}, da[2] = {}, db[2] = {};
  clad::array_ref<double> da_ref(da, 2), db_ref(db, 2);
  h.execute(a, b, 2, da_ref, db_ref);
  EXPECT_EQ(4, da[1]);
  EXPECT_EQ(1, db[0]);
  clad::tape<double> t;
  clad::push(t, 3.0);
  clad::push(t, 4.0);
  EXPECT_EQ(4, clad::back(t));
  EXPECT_EQ(4, clad::pop(t));
  EXPECT_EQ(3, clad::pop(t));
  EXPECT_TRUE(t.empty());
  double z = 3;
  clad::zero_init(z);
  EXPECT_EQ(0, z);
}

TEST(Requests, AParameterByItsIndex) {
  auto g = clad::gradient(clad_f, 1);
  double d = 0;
  g.execute(3, 4, &d);
  EXPECT_EQ(3, d);
  auto h = clad::hessian(clad_dot, "a[0:1]");
  auto column = clad::gradient(clad_dot, 0);
  double a[2] = {1, 2}, b[2] = {3, 4}, da[2] = {}, second[4];
  column.execute(a, b, 2, da);
  EXPECT_EQ(4, da[1]);
  h.execute(a, b, 2, second);
  EXPECT_EQ(0, second[1]);
}

struct Spring {
  double stiffness;
  double energy(double x) const { return stiffness * x * x / 2; }
  double operator()(double x) const { return energy(x); }
};
TEST(Requests, AnObjectThatIsSet) {
  Spring soft{2}, hard{10};
  auto g = clad::gradient(&Spring::energy);
  double d = 0;
  EXPECT_THROW(g.execute(3, &d), std::logic_error);
  g.setObject(&soft);
  g.execute(3, &d);
  EXPECT_EQ(6, d);
  g.setObject(hard);
  d = 0;
  g.execute(3, &d);
  EXPECT_EQ(30, d);
  d = 0;
  g.execute(soft, 3, &d);  // the one that is given
  EXPECT_EQ(6, d);
  Spring d_object{0};
  g.execute(std::ref(soft), 3, &d_object, &d);
  EXPECT_EQ(4.5, d_object.stiffness);
  auto functor = clad::gradient(soft);
  functor.setObject(&hard);
  d = 0;
  functor.execute(3, &d);
  EXPECT_EQ(30, d);
  d = 0;
  functor.execute(soft, 3, &d);  // the one that is given
  EXPECT_EQ(6, d);
  functor.clearObject();
  EXPECT_THROW(functor.execute(3, &d), std::logic_error);
  d = 0;
  functor.execute(soft, 3, &d);
  EXPECT_EQ(6, d);
}
double forces(double x) {
  const Spring soft{2}, hard{10};
  const auto force = clad::differentiate(soft, 0);
  return force.execute(x) * force.execute(hard, x);
}
TEST(Requests, AFunctionObjectIsWhatItIsThen) {
  Spring s{2};
  auto g = clad::gradient(s);
  auto of_copy = clad::gradient(Spring(s));
  s.stiffness = 10;
  double d = 0;
  g.execute(3, &d);
  EXPECT_EQ(30, d);
  d = 0;
  of_copy.execute(3, &d);
  EXPECT_EQ(6, d);
  EXPECT_GRADIENT(forces, 1.5);
}

struct Ratio {
  double value;
  double operator()(const Ratio& by) const { return value / by.value; }
};
TEST(Requests, AnArgumentOfTheObjectsOwnClass) {
  const Ratio r{6}, by{2};
  Ratio d{0};
  clad::gradient(r).execute(by, &d);
  EXPECT_EQ(-1.5, d.value);
}

template <class T>
struct Scaled {
  T by;
  T operator()(T x, T y) { return by * x * x * y; }
};
TEST(Requests, AnObjectOfAClassTemplate) {
  Scaled<double> s{3};
  EXPECT_EQ(36, clad::differentiate(s, "x").execute(2, 3));
  EXPECT_EQ(12, clad::differentiate(Scaled<long double>{3}, "y").execute(2, 3));
}

struct Unused {
  virtual ~Unused() = default;
  double weight = 100;
};
struct Linear {
  double k = 3;
  double operator()(double x) const { return k * x; }
};
struct Named : Unused, Linear {  // Linear is not where the object begins
  double k = 20;
};
struct Used : Unused, private Linear {
  using Linear::operator();
};
template <class Own>
struct Evaluated {
  double operator()(double x) const { return static_cast<const Own*>(this)->at(x); }
};
struct Quadratic : Evaluated<Quadratic> {
  double a = 2;
  double at(double x) const { return a * x * x; }
};
double slopes(double x, double y) {
  Named n;
  n.Linear::k = y;
  Quadratic q;
  q.a = y;
  return clad::differentiate(n, "x").execute(x) * clad::differentiate(q, "x").execute(x);
}
TEST(Requests, AnInheritedCallOperator) {
  Named n;
  EXPECT_EQ(3, clad::differentiate(n, "x").execute(2));
  EXPECT_EQ(0, clad::differentiate(n, "k").execute(2));  // its own, not that of Linear
  n.Linear::k = 5;
  Named d_n;
  double dx = 0;
  clad::gradient(n).execute(2, &d_n, &dx);
  EXPECT_EQ(5, dx);
  EXPECT_EQ(3 + 2, d_n.Linear::k);
  EXPECT_EQ(20, d_n.k);
  EXPECT_EQ(10, clad::value_and_gradient(&n).execute(2));
  EXPECT_EQ(3, clad::differentiate(Used(), "x").execute(2));
  EXPECT_GRADIENT(slopes, 1.3, 0.7);
}
TEST(Requests, ACallOperatorOfADerivedClass) {
  Quadratic q, d_q;
  EXPECT_EQ(8, clad::differentiate(q, "x").execute(2));
  EXPECT_EQ(9, clad::differentiate(q, "a").execute(3));
  double dx = 0, second[1] = {}, by = 5, product = 0;
  clad::gradient(q).execute(3, &d_q, &dx);
  EXPECT_EQ(12, dx);
  EXPECT_EQ(2 + 9, d_q.a);
  clad::hessian(q).execute(3, second);
  EXPECT_EQ(4, second[0]);
  EXPECT_EQ(4, (clad::differentiate<2>(q, "x").execute(3)));
  clad::hessian<clad::opts::diagonal_only>(q).execute(3, second);
  EXPECT_EQ(4, second[0]);
  clad::hessian_vector_product(q).execute(3, &by, &product);
  EXPECT_EQ(20, product);
  clad::jacobian(q).execute(3, second);
  EXPECT_EQ(12, second[0]);
  EXPECT_EQ(60, clad::pushforward(q).execute(3, &by).pushforward);
}

struct Powers : Linear {
  double operator()(double x, int n) const { return n > 0 ? Linear::k * x * (*this)(x, n - 1) : 1; }
};
struct Deeper : Powers {};
struct Slanted {
  double k = 3;
  double operator()(double x) const {
    const auto by = [this](double t) { return k * t; };
    return by(x) * x;
  }
};
struct Inclined : Slanted {};
TEST(Requests, AnInheritedCallOperatorCallsAnything) {
  const Deeper p;
  Deeper d_p;
  double dx = 0;
  clad::gradient(p, "x").execute(2, 2, &d_p, &dx);
  EXPECT_EQ(36, dx);
  EXPECT_EQ(3 + 24, d_p.k);
  const Inclined i;
  dx = 0;
  clad::gradient(i).execute(2, &dx);
  EXPECT_EQ(12, dx);
}

struct Qualified {
  double k;
  double of_constant(double x) const& { return k * x * x; }
  double of_any(double x) & noexcept { return k * x * x * x; }
  double of_both(double x) const& noexcept { return k * x; }
  double operator()(double x) & { return k * x; }
};
TEST(Requests, FunctionsWithAReferenceQualifier) {
  Qualified q{2}, d_q{0};
  double dx = 0;
  EXPECT_EQ(12, clad::differentiate(&Qualified::of_constant, "x").execute(q, 3));
  clad::gradient(&Qualified::of_any).execute(q, 2, &d_q, &dx);
  EXPECT_EQ(24, dx);
  EXPECT_EQ(8, d_q.k);
  EXPECT_EQ(6, clad::value_and_gradient(&Qualified::of_both).execute(q, 3));
  EXPECT_EQ(2, clad::differentiate(q, "x").execute(3));
}

constexpr const char* second_name = "y";
struct Names {
  static constexpr char both[] = "x, y";
};
double (*const kept_product)(double, double, double) = product;
TEST(Requests, ConstantsThatNameAParameterOrAFunction) {
  double dx = 0, dy = 0;
  EXPECT_EQ(8, clad::differentiate(f, second_name).execute(2, 3, 2));
  clad::gradient(f, Names::both).execute(2, 3, 2, &dx, &dy);
  EXPECT_EQ(24, dx);
  EXPECT_EQ(8, dy);
  EXPECT_EQ(32, clad::differentiate(kept_product, "p").execute(1, 2, 2));
  double (*const local)(double, double, double) = kept_product;
  double (&reference)(double, double, double) = product;
  constexpr auto member = &Qualified::of_constant;
  EXPECT_EQ(32, clad::differentiate(local, "p").execute(1, 2, 2));
  EXPECT_EQ(32, clad::differentiate(reference, 0).execute(1, 2, 2));
  EXPECT_EQ(12, clad::differentiate(member, 0).execute(Qualified{2}, 3));
}

TEST(Requests, WhatACladFunctionIsBesides) {
  auto call = clad::differentiate(clad_f, "x").getFunctionPtr();
  EXPECT_EQ(4, call(3, 4));
  clad::CladFunction g =
      clad::gradient<clad::opts::enable_tbr_analysis, clad::opts::disable_loop_analysis>(clad_f);
  double dx = 0, dy = 0;
  g.execute(3, 4, &dx, &dy);
  EXPECT_EQ(4, dx);
}

// Declared under the names that Clad gives to derivatives, and defined by nobody.
double cubic(double x) { return x * x * x; }
double cubic_darg0(double x);
double cubic_d2arg0(double x);
static float ramp(float x) { return x > 1 ? x * x : x; }
static float ramp_darg0(float x);
double weighted(const double* p, double w, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += w * p[i] * p[i];
  return s;
}
void weighted_grad(const double* p, double w, int n, double* d_p, double* d_w);
void weighted_grad_0(const double* p, double w, int n, clad::array_ref<double> d_p);
double own_darg0(double) { return 42; }
double own(double x) { return x * x; }
struct Solid {
  virtual ~Solid() = default;
  virtual double distance(double x, double) const { return x; }
  double distance_darg0(double x, double y) const;
  double distance_darg1(double x, double y) const;
};
struct Ball : Solid {
  double r = 2;
  double distance(double x, double y) const override { return std::sqrt(x * x + y * y) - r; }
};
struct Dented : Ball {
  double distance(double x, double y) const override { return Ball::distance(x, y) + x * y; }
};
TEST(Requests, FunctionsDeclaredByTheNamesOfDerivatives) {
  auto first = clad::differentiate(cubic, 0);
  auto second = clad::differentiate<2>(cubic, "x");
  EXPECT_EQ(27, cubic_darg0(3));
  EXPECT_EQ(18, cubic_d2arg0(3));
  auto of_ramp = clad::differentiate(ramp, 0);
  EXPECT_EQ(4, ramp_darg0(2));
  auto all = clad::gradient(weighted);
  auto one = clad::gradient(weighted, "p");
  const double p[2] = {1, 2};
  double d_p[2] = {}, d_w = 0;
  weighted_grad(p, 3, 2, d_p, &d_w);
  EXPECT_EQ(12, d_p[1]);
  EXPECT_EQ(5, d_w);
  weighted_grad_0(p, 3, 2, d_p);
  EXPECT_EQ(24, d_p[1]);
  EXPECT_EQ(6, clad::differentiate(own, 0).execute(3));
  EXPECT_EQ(42, own_darg0(3));
  auto by_x = clad::differentiate(&Solid::distance, 0);
  auto by_y = clad::differentiate(&Solid::distance, 1);
  const Solid& ball = Ball();
  EXPECT_DOUBLE_EQ(0.6, ball.distance_darg0(3, 4));
  EXPECT_DOUBLE_EQ(0.8, ball.distance_darg1(3, 4));
}
TEST(Requests, AVirtualFunctionIsThatOfTheObject) {
  auto g = clad::gradient(&Solid::distance);
  const Dented dented;
  double dx = 0, dy = 0;
  g.execute(dented, 3, 4, &dx, &dy);
  EXPECT_DOUBLE_EQ(4.6, dx);
  EXPECT_DOUBLE_EQ(3.8, dy);
  dx = dy = 0;
  g.execute(Ball(), 3, 4, &dx, &dy);
  EXPECT_DOUBLE_EQ(0.6, dx);
  dx = dy = 0;
  g.execute(Solid(), 3, 4, &dx, &dy);
  EXPECT_EQ(1, dx);
  EXPECT_DOUBLE_EQ(4.6, clad::differentiate(&Ball::distance, "x").execute(dented, 3, 4));
}

struct Surface {
  virtual ~Surface() = default;
  virtual double area(double s, double t) const = 0;
  virtual double operator()(double s) const = 0;
  double slope(double s, double t) const {
    return clad::differentiate(&Surface::area, "s").execute(*this, s, t);
  }
};
struct Rectangle : Surface {
  double k = 2;
  double area(double s, double t) const override { return k * s * s * t; }
  double operator()(double s) const override { return k * s * s; }
};
struct Hollow : Rectangle {
  double area(double s, double t) const override { return Rectangle::area(s, t) - s; }
};
struct Halves : Unused, Surface {
  double area(double s, double t) const override { return s * t / 2; }
  double operator()(double s) const override { return s / 2; }
};
TEST(Requests, APureVirtualFunctionIsThatOfTheObject) {
  const Rectangle whole;
  const Hollow hollow;
  const Halves halves;
  const Surface& first = whole;
  const auto by_s = clad::differentiate(&Surface::area, "s");
  EXPECT_EQ(60, by_s.execute(first, 3, 5));
  EXPECT_EQ(59, by_s.execute(hollow, 3, 5));
  EXPECT_EQ(2.5, by_s.execute(halves, 3, 5));
  EXPECT_THAT(by_s.getCode(), testing::HasSubstr("Halves"));
  EXPECT_EQ(60, whole.slope(3, 5));
  EXPECT_EQ(59, hollow.slope(3, 5));
  double ds = 0, dt = 0, second[4] = {};
  Hollow d_hollow;
  clad::gradient(&Surface::area).execute(hollow, 3, 5, &d_hollow, &ds, &dt);
  EXPECT_EQ(59, ds);
  EXPECT_EQ(18, dt);
  EXPECT_EQ(2 + 45, d_hollow.k);
  EXPECT_EQ(30, clad::value_and_gradient(&Surface::area, "t").execute(whole, 3, 5.0 / 3, &dt));
  EXPECT_EQ(18 + 18, dt);
  clad::hessian(&Surface::area).execute(hollow, 3, 5, second);
  EXPECT_EQ(20, second[0]);
  EXPECT_EQ(12, second[1]);
  EXPECT_EQ(12, clad::differentiate(whole, "s").execute(3));
  EXPECT_EQ(12, clad::differentiate(first, "s").execute(3));
  EXPECT_EQ(0.5, clad::differentiate(first, "s").execute(halves, 3));
  EXPECT_EQ(12, clad::differentiate(hollow, "s").execute(3));
  ds = 0;
  clad::gradient(static_cast<const Surface&>(halves)).execute(3, &ds);
  EXPECT_EQ(0.5, ds);
}

// Parameters that a function could change, and does not.
double linear_layer(double* x, double* w, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += x[i] * *(w + i);
  return s;
}
double layers(double* x, double w[2]) {
  double h[2] = {linear_layer(x, w, 2), linear_layer(x + 2, w, 2)};
  return std::tanh(h[0]) * h[1];
}
double touched_layer(double* x, double w) {
  x[0] *= w;
  return x[0];
}
double touching(double x, double w) {
  double own[1] = {x};
  return touched_layer(own, w) * own[0];
}
TEST(Requests, PointersThatAreOnlyReadNeedNoAdjoint) {
  double x[4] = {0.3, 0.5, 1.2, 2}, w[2] = {0.7, 0.4}, d_w[2] = {};
  clad::gradient(layers, "w").execute(x, w, d_w);
  const double h = 0.3 * 0.7 + 0.5 * 0.4, t = std::tanh(h), k = 1.2 * 0.7 + 2 * 0.4;
  EXPECT_DOUBLE_EQ((1 - t * t) * 0.3 * k + t * 1.2, d_w[0]);
  EXPECT_GRADIENT(touching, 1.5, 0.7);
}

TEST(Requests, ArithmeticOnArrays) {
  clad::array<double> a{1, 2, 3};
  double raw[3] = {3, 2, 1};
  const clad::array_ref<double> r(raw);
  clad::array<double> b = -(a * 2.0 + r / 4) - 1;
  EXPECT_EQ(-1 - (2 * 2.0 + 2 / 4.0), b[1]);
  b += a;
  b *= r;
  EXPECT_EQ((-1 - (2 * 2.0 + 2 / 4.0) + 2) * 2, b[1]);
  clad::array_ref<double> part = r.slice(1, 2);
  part -= 5;
  EXPECT_EQ(-3, raw[1]);
  EXPECT_EQ(3, raw[0]);
  const clad::array_ref<double> number = &raw[2];
  EXPECT_EQ(1u, number.size());
  EXPECT_EQ(-4, *number);
  EXPECT_THROW(a + part, std::invalid_argument);
  EXPECT_THROW(a /= part, std::invalid_argument);
}

TEST(Requests, TapesGrowAndShrinkAcrossChunks) {
  clad::tape<int> t;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100000; ++i) t.push(i);
    EXPECT_EQ(100000u, t.size());
    for (int i = 0; i < 100000; ++i) ASSERT_EQ(i, t[i]);
    for (int i = 100000; i-- > 0; t.pop()) ASSERT_EQ(i, t.back());
  }
}

// Numbers to four places, as whole numbers.
class Fixed {
 public:
  explicit Fixed(long ticks) : ticks_(ticks) {}
  double value() const { return static_cast<double>(ticks_) / 10000; }
  friend Fixed updateIndexParamValue(Fixed arg, std::size_t index, std::size_t moved, int multiplier,
                                     numerical_diff::precision& step, std::size_t = 0, std::size_t = 0) {
    if (index != moved) return arg;
    step = 0.0001;
    return Fixed(arg.ticks_ + multiplier);
  }

 private:
  long ticks_;
};
double area(Fixed width, Fixed height) { return width.value() * height.value(); }
double of_array(double* p, int n, double w) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += std::sin(p[i]) * w;
  return s;
}
TEST(NumericalDiff, OfOneArgument) {
  using numerical_diff::forward_central_difference;
  EXPECT_NEAR(2 * 3, forward_central_difference(clad_f, 2.0, 0, false, 2.0, 6.0), 1e-9);
  EXPECT_NEAR(2, forward_central_difference(clad_f, 6.0, 1, false, 2.0, 6.0), 1e-9);
  EXPECT_NEAR(3, forward_central_difference(area, Fixed(1), 0, false, Fixed(20000), Fixed(30000)), 1e-9);
  EXPECT_EQ(0, forward_central_difference(f, 4, 2, false, 2.0, 3.0, 4));
  EXPECT_THROW(forward_central_difference(clad_f, 6.0, 2, false, 2.0, 6.0), std::invalid_argument);
  struct Unknown {};
  const auto of_unknown = [](Unknown, double x) { return x * x; };
  EXPECT_THROW(forward_central_difference(of_unknown, Unknown(), 0, false, Unknown(), 1.0),
               std::invalid_argument);
  EXPECT_NEAR(2, forward_central_difference(of_unknown, 1.0, 1, false, Unknown(), 1.0), 1e-9);
}
TEST(NumericalDiff, OfAllArguments) {
  double d_p[2] = {}, d_n = 1, d_w = 0, p[2] = {0.5, 1.5};
  clad::tape<clad::array_ref<double>> gradient = {};
  gradient.emplace_back(d_p, 2);
  gradient.emplace_back(&d_n);
  gradient.emplace_back(&d_w);
  testing::internal::CaptureStdout();
  numerical_diff::central_difference(of_array, gradient, false, p, 2, 3.0);
  EXPECT_EQ("", testing::internal::GetCapturedStdout());
  EXPECT_NEAR(3 * std::cos(0.5), d_p[0], 1e-9);
  EXPECT_NEAR(3 * std::cos(1.5), d_p[1], 1e-9);
  EXPECT_EQ(0, d_n);
  EXPECT_NEAR(std::sin(0.5) + std::sin(1.5), d_w, 1e-9);
  EXPECT_EQ(1.5, p[1]);
  double both[2];
  testing::internal::CaptureStdout();
  numerical_diff::central_difference(area, both, true, Fixed(20000), Fixed(30000));
  EXPECT_NE(std::string::npos, testing::internal::GetCapturedStdout().find("argument 1, element 0: "));
  EXPECT_NEAR(3, both[0], 1e-9);
  EXPECT_NEAR(2, both[1], 1e-9);
}

double cube_times(double x, double y) { return x * x * x * y; }
TEST(Requests, VectorModeChangesNoMatrix) {
  double h[4] = {}, j[2] = {}, d_x = 0, d_y = 0;
  clad::hessian<clad::opts::vector_mode>(cube_times).execute(2, 3, h);
  EXPECT_EQ(36, h[0]);
  EXPECT_EQ(12, h[1]);
  clad::jacobian<clad::opts::vector_mode>(cube_times).execute(2, 3, j);
  EXPECT_EQ(36, j[0]);
  EXPECT_EQ(8, j[1]);
  clad::gradient<clad::opts::vector_mode>(cube_times).execute(2, 3, &d_x, &d_y);
  EXPECT_EQ(36, d_x);
  EXPECT_EQ(8, d_y);
}

}  // namespace
