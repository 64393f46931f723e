// Functions of any type: member functions with qualifiers, C's ellipsis; and what execute() is given besides
// their arguments.
#include <stdexcept>

#include <gmock/gmock.h>
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Cubic {
  double k = 2;
  double of_volatile(double x) volatile { return k * x * x * x; }
  double of_both(double x) const volatile { return k * x * x * x; }
  double of_lvalue(double x) & { return k * x * x * x; }
  double of_constant(double x) const& { return k * x * x * x; }
  double of_rvalue(double x) && { return k * x * x * x; }
  double of_constant_rvalue(double x) const&& { return k * x * x * x; }
  double of_all(double x) const volatile&& { return k * x * x * x; }
  double of_volatile_silent(double x) volatile noexcept { return k * x * x * x; }
  double of_both_silent(double x) const volatile noexcept { return k * x * x * x; }
  double of_lvalue_silent(double x) & noexcept { return k * x * x * x; }
  double of_constant_silent(double x) const& noexcept { return k * x * x * x; }
  double of_rvalue_silent(double x) && noexcept { return k * x * x * x; }
  double of_constant_rvalue_silent(double x) const&& noexcept { return k * x * x * x; }
  double open(double x, ...) { return k * x * x * x; }
  double open_silent(double x, ...) const volatile& noexcept { return k * x * x * x; }
};
#define EXPECT_CUBIC(method)                                                                \
  do {                                                                                      \
    Cubic c, d_c{0};                                                                        \
    double d_x = 0, error = 0, direction = 1, product = 0, all = 0, matrix[1] = {};         \
    EXPECT_EQ(clad::differentiate(&Cubic::method, "x").execute(c, 3), 54);                  \
    clad::gradient(&Cubic::method).execute(c, 3, &d_c, &d_x);                               \
    EXPECT_EQ(d_c.k, 27);                                                                   \
    EXPECT_EQ(d_x, 54);                                                                     \
    EXPECT_EQ(clad::value_and_gradient(&Cubic::method).execute(c, 3, &d_x), 54);            \
    EXPECT_EQ(d_x, 108);                                                                    \
    clad::estimate_error(&Cubic::method).execute(c, 3, &d_x, error);                        \
    EXPECT_GT(error, 0);                                                                    \
    clad::hessian(&Cubic::method).execute(c, 3, matrix);                                    \
    EXPECT_EQ(matrix[0], 36);                                                               \
    clad::jacobian(&Cubic::method).execute(c, 3, matrix);                                   \
    EXPECT_EQ(matrix[0], 54);                                                               \
    EXPECT_EQ(clad::pushforward(&Cubic::method).execute(c, 3, &direction).pushforward, 54); \
    clad::hessian_vector_product(&Cubic::method).execute(c, 3, &direction, &product);       \
    EXPECT_EQ(product, 36);                                                                 \
    clad::differentiate<clad::opts::vector_mode>(&Cubic::method).execute(c, 3, &all);       \
    EXPECT_EQ(all, 54);                                                                     \
    auto of_that = clad::differentiate(&Cubic::method, 0);                                  \
    of_that.setObject(c);                                                                   \
    EXPECT_EQ(of_that.execute(3), 54);                                                      \
  } while (false)
TEST(Qualifiers, OfMemberFunctions) {
  EXPECT_CUBIC(of_volatile);
  EXPECT_CUBIC(of_both);
  EXPECT_CUBIC(of_lvalue);
  EXPECT_CUBIC(of_constant);
  EXPECT_CUBIC(of_rvalue);
  EXPECT_CUBIC(of_constant_rvalue);
  EXPECT_CUBIC(of_all);
}
TEST(Qualifiers, OfMemberFunctionsThatThrowNothing) {
  EXPECT_CUBIC(of_volatile_silent);
  EXPECT_CUBIC(of_both_silent);
  EXPECT_CUBIC(of_lvalue_silent);
  EXPECT_CUBIC(of_constant_silent);
  EXPECT_CUBIC(of_rvalue_silent);
  EXPECT_CUBIC(of_constant_rvalue_silent);
}
TEST(Qualifiers, OfMemberFunctionsWithAnEllipsis) {
  EXPECT_CUBIC(open);
  EXPECT_CUBIC(open_silent);
}
TEST(Qualifiers, OfTheObjectToo) {
  volatile Cubic v;
  const Cubic c;
  double d_x = 0;
  clad::gradient(&Cubic::of_volatile).execute(v, 3, &d_x);
  clad::gradient(&Cubic::of_both).execute(c, 3, &d_x);
  clad::gradient(&Cubic::of_constant_rvalue).execute(c, 3, &d_x);
  clad::gradient(&Cubic::open_silent).execute(v, 3, &d_x);
  EXPECT_EQ(d_x, 4 * 54);
}

struct Changed {
  double k;
  volatile double last;
  double squared(double x) volatile {
    k = k * x;
    last = k;
    return last * this->k * x;
  }
};
double changes(double x, double y) {
  volatile Changed c{y, 0};
  volatile double product = c.squared(x);
  product *= x;
  return product + c.last;
}
TEST(Qualifiers, AVolatileObjectIsWhatItWasBefore) {
  Changed c{2, 1}, d_c{0, 0};
  double d_x = 0;
  clad::gradient(&Changed::squared).execute(c, 3, &d_c, &d_x);
  EXPECT_EQ(d_c.k, 2 * 2 * 27);
  EXPECT_EQ(d_x, 3 * 4 * 9);
  EXPECT_EQ(c.k, 2);
  EXPECT_EQ(c.last, 1);
  EXPECT_DERIVATIVES(changes, 1.3, 0.7);
}

struct Volatile {
  double k = 2;
  double operator()(double x) volatile { return k * x * x; }
};
struct Ended {
  double k = 2;
  double operator()(double x) && noexcept { return k * x * x; }
};
struct Open {
  double k = 2;
  double operator()(double x, ...) const volatile& { return k * x * x; }
};
template <class F>
void expect_square(F& f) {
  double d = 0;
  EXPECT_EQ(clad::differentiate(f, "x").execute(3), 12);
  clad::gradient(f).execute(3, &d);
  EXPECT_EQ(d, 12);
  EXPECT_EQ(clad::value_and_gradient(f).execute(3, &d), 18);
  clad::gradient(&f).execute(3, &d);
  EXPECT_EQ(d, 36);
}
TEST(Qualifiers, OfFunctionObjects) {
  Volatile v;
  volatile Volatile always;
  Ended e;
  Open o;
  auto lambda = [k = 2.](double x, ...) mutable noexcept { return k * x * x; };
  expect_square(v);
  expect_square(always);
  expect_square(e);
  expect_square(o);
  expect_square(lambda);
}

double open_product(double x, double y, ...) noexcept { return x * y * y; }
TEST(Qualifiers, FunctionsWithAnEllipsis) {
  double d_x = 0, d_y = 0;
  EXPECT_EQ(clad::value_and_gradient(open_product).execute(3, 4, &d_x, &d_y), 48);
  EXPECT_EQ(d_x, 16);
  EXPECT_EQ(d_y, 24);
  EXPECT_EQ(clad::differentiate<2>(open_product, "y").execute(3, 4), 6);
}

struct Plane {
  double a = 2;
  double at(double x, double y) const { return a * x * y; }
  double times(int n, double x, double y) const { return a * n * x * y; }
  double with(Plane other, double x) const { return a * other.a * x; }
  double with_later(double x, const Plane& other) const { return a * other.a * x; }
  double operator()(double x, double y) const { return a * x * y; }
};
TEST(Adjoints, ThatOfTheObjectAndSomeOthers) {
  const Plane p;
  Plane d_p{0};
  double d_x = 0, d_y = 0, error = 0;
  auto at = clad::gradient(&Plane::at);
  at.execute(p, 3, 4, &d_p);
  at.execute(p, 3, 4, &d_p, &d_x);
  at.execute(p, 3, 4, &d_p, &d_x, &d_y);
  at.execute(p, 3, 4, &d_x);
  at.execute(p, 3, 4, &d_x, &d_y);
  EXPECT_EQ(d_p.a, 3 * 12);
  EXPECT_EQ(d_x, 4 * 8);
  EXPECT_EQ(d_y, 2 * 6);
  at.setObject(const_cast<Plane&>(p));
  at.execute(3, 4, &d_p);
  EXPECT_EQ(d_p.a, 4 * 12);
  clad::gradient(&Plane::at, "y").execute(p, 3, 4, &d_p);
  EXPECT_EQ(d_p.a, 5 * 12);
  clad::estimate_error(&Plane::at).execute(p, 3, 4, &d_p, error);
  EXPECT_EQ(d_p.a, 6 * 12);
  clad::gradient(p).execute(3, 4, &d_p);
  EXPECT_EQ(d_p.a, 7 * 12);
  Plane direction{1};
  EXPECT_EQ(clad::pushforward(&Plane::at).execute(p, 3, 4, &direction).pushforward, 12);
  EXPECT_THROW(clad::gradient(&Plane::at).execute(p, 3, 4, &d_x, &d_p), std::invalid_argument);
}
TEST(Adjoints, ThatOfTheObjectAndThoseWithDerivatives) {
  const Plane p;
  Plane d_p{0};
  double d_x = 0, d_y = 0;
  int d_n = 5;
  const auto times = clad::gradient(&Plane::times);
  times.execute(p, 5, 3, 4, &d_p, &d_x, &d_y);
  times.execute(p, 5, 3, 4, &d_p, nullptr, &d_x);
  times.execute(p, 5, 3, 4, &d_p, &d_n);
  times.execute(p, 5, 3, 4, &d_p);
  EXPECT_EQ(d_p.a, 4 * 60);
  EXPECT_EQ(d_x, 2 * 40);
  EXPECT_EQ(d_y, 30);
  EXPECT_EQ(d_n, 5);
}
TEST(Adjoints, OfTheObjectsClassAreThoseOfParametersFirst) {
  const Plane p, other{3};
  Plane d_p{0}, d_other{0};
  double d_x = 0;
  clad::gradient(&Plane::with).execute(p, other, 4, &d_other);
  clad::gradient(&Plane::with, "other").execute(p, other, 4, &d_other);
  clad::gradient(&Plane::with_later, "other").execute(p, 4, other, &d_other);
  EXPECT_EQ(d_other.a, 3 * 8);
  clad::gradient(&Plane::with, "other").execute(p, other, 4, &d_p, &d_other);
  clad::gradient(&Plane::with_later).execute(p, 4, other, &d_p);
  clad::gradient(&Plane::with_later).execute(p, 4, other, &d_p, &d_x, &d_other);
  EXPECT_EQ(d_p.a, 3 * 12);
  EXPECT_EQ(d_other.a, 5 * 8);
  EXPECT_EQ(d_x, 6);
}
TEST(Adjoints, OfALambdaThereIsNone) {
  auto lambda = [k = 2.](double x, double y) { return k * x * y; };
  double d_x = 0;
  EXPECT_THROW(clad::gradient(lambda).execute(3, 4, &lambda, &d_x), std::invalid_argument);
}

double product(double x, double y) { return x * y * y; }
double call(double (*f)(double, double)) { return f(1, 1); }
TEST(Qualifiers, AFunctionByAVariableThatStaysTheSame) {
  auto f = &product;
  double (*g)(double, double) = product;
  auto at = &Plane::at;
  static auto kept = &product;
  double d_x = 0, d_y = 0;
  clad::gradient(f).execute(3, 4, &d_x, &d_y);
  EXPECT_EQ(d_y, 24);
  EXPECT_EQ(clad::differentiate(g, "y").execute(3, 4), 24);
  EXPECT_EQ(clad::differentiate(kept, "y").execute(3, 4), 24);
  EXPECT_EQ(clad::differentiate(at, "y").execute(Plane{}, 3, 4), 6);
  EXPECT_EQ(call(f), (*g)(1, 1));
  const auto later = [&] { return clad::differentiate(f, 1).execute(3, 4) + f(0, 0); };
  EXPECT_EQ(later(), 24);
}

}  // namespace
