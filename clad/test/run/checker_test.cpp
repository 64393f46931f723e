// The checker itself: it must see what is wrong.
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

double slightly_wrong(double x) { return x * x; }
double wrong_in_one(double x, double y) { return x * y; }
namespace clad::custom_derivatives {
void slightly_wrong_pullback(double x, double d_y, double* d_x) { *d_x += d_y * 2.000001 * x; }
void wrong_in_one_pullback(double x, double y, double d_r, double* d_x, double* d_y) {
  *d_x += d_r * y;
  *d_y = d_r * x;  // assigns where it should add
}
}  // namespace clad::custom_derivatives

namespace {

using clad::test::Agreement;
using clad::test::gradient_error;

double right(double x) { return x * x; }
double off_by_a_millionth(double x) { return slightly_wrong(x); }
double forgets(double x, double y) { return wrong_in_one(x, y) + y; }

TEST(Checker, AcceptsARightGradient) {
  EXPECT_EQ("", gradient_error(clad::gradient(right), right, Agreement{}, 1.5));
}
TEST(Checker, RejectsARelativeErrorOfAMillionth) {
  EXPECT_NE("", gradient_error(clad::gradient(off_by_a_millionth), off_by_a_millionth, Agreement{}, 1.5));
}
TEST(Checker, RejectsAnAdjointThatIsAssignedAndNotAddedTo) {
  EXPECT_NE("", gradient_error(clad::gradient(forgets), forgets, Agreement{}, 1.5, 2.0));
}
TEST(Checker, RejectsTheGradientOfAnotherFunction) {
  EXPECT_NE("", gradient_error(clad::gradient(right), [](double x) { return x * x * x; }, Agreement{}, 1.5));
}

/// A stand-in for a derivative that leaves an argument changed, or grows.
struct Misbehaving {
  bool changes_argument;
  mutable int calls = 0;
  void execute(double& x, double* d_x) const {
    *d_x += ++calls * 2 * x;
    if (changes_argument) x += 1;
  }
};
TEST(Checker, RejectsChangedArgumentsAndASecondCallThatDiffers) {
  auto f = [](double x) { return x * x; };
  EXPECT_EQ("the arguments have changed", gradient_error(Misbehaving{true}, f, Agreement{}, 1.5));
  EXPECT_NE("", gradient_error(Misbehaving{false}, f, Agreement{}, 1.5));
}

}  // namespace
