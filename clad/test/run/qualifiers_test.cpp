// Functions of any type: member functions with qualifiers, C's ellipsis; and what execute() is given besides
// their arguments.
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

}  // namespace
