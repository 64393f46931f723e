// Virtual calls on objects of classes that another source file defines: an exception, not the derivative of
// what a base does. Classes that are seen and inherit a function have that function's derivative.
#include <gtest/gtest.h>

#include <stdexcept>

#include "clad/Differentiator/Differentiator.h"
#include "unseen_classes.h"

namespace {

struct Painted : Spring {
  int color = 1;
};
template <class T>
struct Scaled : Spring {
  T by = 2;
  double force(double x) const override { return by * x * x; }
};

double work(const Spring& s, double x) { return s.force(x) * x; }
double rod_work(const Rod& r, double x) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += r.force(x) * x;
  return sum;
}
double inner(const Rod& r, double x) { return r.force(x); }
double by_a_call(const Rod& r, double x) { return inner(r, x) * x; }
double stiffened(Rod& r, double x) {
  r.stiffness() *= x;
  return r.k * x;
}
double of_final(const Stiff& s, double x) { return s.force(x) * x; }
double of_local(double x) {
  struct Local : Spring {
    double force(double x) const override { return 7 * x; }
  } local;
  return work(local, x);
}

double gradient(const Spring& s) {
  double d = 0;
  clad::gradient(work, "x").execute(s, 2, &d);
  EXPECT_EQ(d, clad::differentiate(work, "x").execute(s, 2));
  return d;
}
double method(const Spring& s) {
  double d = 0;
  clad::gradient(&Spring::force, "x").execute(s, 2, &d);
  EXPECT_EQ(d, clad::differentiate(&Spring::force, "x").execute(s, 2));
  return d;
}

TEST(UnseenClasses, ThoseThatAreSeen) {
  struct Local : Spring {
    double force(double x) const override { return 7 * x; }
  };
  EXPECT_EQ(8, gradient(Spring()));
  EXPECT_EQ(8, gradient(Painted()));
  EXPECT_EQ(12, gradient(Hardening()));
  EXPECT_EQ(24, gradient(Scaled<double>()));
  EXPECT_EQ(28, gradient(Local()));
  EXPECT_EQ(28, clad::differentiate(of_local, "x").execute(2));
  EXPECT_EQ(2, method(Spring()));
  EXPECT_EQ(2, method(Painted()));
  EXPECT_EQ(4, method(Hardening()));
  EXPECT_EQ(8, method(Scaled<double>()));
  EXPECT_EQ(7, method(Local()));
}
TEST(UnseenClasses, Throw) {
  for (const Spring* s : {&cubic_spring(), &cubic_hardening()}) {
    double d = 0;
    EXPECT_THROW(clad::gradient(work, "x").execute(*s, 2, &d), std::logic_error);
    EXPECT_THROW(clad::differentiate(work, "x").execute(*s, 2), std::logic_error);
    EXPECT_THROW(clad::gradient(&Spring::force, "x").execute(*s, 2, &d), std::logic_error);
    EXPECT_THROW(clad::differentiate(&Spring::force, "x").execute(*s, 2), std::logic_error);
    EXPECT_EQ(0, d);
  }
}
TEST(UnseenClasses, OfFunctionsThatNothingSeenOverrides) {
  Rod rod;
  const Stiff stiff;
  double d = 0;
  clad::gradient(rod_work, "x").execute(rod, 2, &d);
  EXPECT_EQ(36, d);
  clad::gradient(by_a_call, "x").execute(rod, 2, &d);
  EXPECT_EQ(48, d);
  EXPECT_EQ(12, clad::differentiate(stiffened, "x").execute(rod, 2));
  EXPECT_EQ(12, clad::differentiate(of_final, "x").execute(stiff, 2));
  Rod& cubic = cubic_rod();
  EXPECT_THROW(clad::gradient(rod_work, "x").execute(cubic, 2, &d), std::logic_error);
  EXPECT_THROW(clad::gradient(by_a_call, "x").execute(cubic, 2, &d), std::logic_error);
  EXPECT_THROW(clad::gradient(stiffened, "x").execute(cubic, 2, &d), std::logic_error);
  EXPECT_THROW(clad::gradient(&Rod::force, "x").execute(cubic, 2, &d), std::logic_error);
  EXPECT_THROW(clad::differentiate(rod_work, "x").execute(cubic, 2), std::logic_error);
  EXPECT_EQ(48, d);
}

}  // namespace
