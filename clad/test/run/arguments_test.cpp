// After execute() every argument is what it was before the call, whatever the function did to it.
#include <string>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

int bump(int& i) { return ++i; }
void halve(int& i) { i /= 2; }
double counted(double x, int& n, std::string& log) {
  n += 2;
  double y = x;
  for (int i = 0; i < n; ++i) y *= x;
  y *= bump(n);
  halve(n);
  log += "done";
  return y;
}
double overwritten(double x, int& n) {
  n = 7;
  return x;
}
TEST(Arguments, IntegersAndStringsChangedThroughReferences) {
  int n = 2;
  std::string log = "log:";
  double d_x = 0;
  clad::gradient(counted, "x").execute(1.1, n, log, &d_x);
  EXPECT_NEAR(d_x, 5 * 5 * std::pow(1.1, 4), 1e-12);
  EXPECT_EQ(n, 2);
  EXPECT_EQ(log, "log:");
  d_x = 0;
  EXPECT_EQ(clad::value_and_gradient(overwritten, "x").execute(3, n, &d_x), 3);
  EXPECT_EQ(d_x, 1);
  EXPECT_EQ(n, 2);
}

struct Cursor {
  int* at;
  void advance() const { ++*at; }
};
void advance(Cursor c) { ++*c.at; }
double read_by(const double* a, int* index) {
  Cursor c{index};
  double s = a[*index];
  c.advance();
  s *= a[*index];
  advance(c);
  ++*c.at;
  return s * a[*index];
}
double local_index(const double* a) {
  int index[] = {0, 2};
  Cursor c{index}, d{&index[1]};
  double s = a[index[0]];
  c.advance();
  advance(d);
  return s * a[index[0]] * a[index[1]];
}
TEST(Arguments, IntegersChangedThroughPointersInObjects) {
  double a[] = {2, 3, 5, 7}, d_a[4] = {};
  int index = 0;
  clad::gradient(read_by, "a").execute(a, &index, d_a);
  EXPECT_EQ(index, 0);
  EXPECT_EQ((std::vector<double>(d_a, d_a + 4)), (std::vector<double>{21, 14, 0, 6}));
  EXPECT_GRADIENT(local_index, (clad::test::buffer<double>{2, 3, 5, 7}));
}

struct Counter {
  int calls = 0;
  double next(double x) { return x * ++calls; }
};
double called(double x, Counter& c, std::vector<int>& seen) {
  double y = c.next(x) * c.next(x);
  seen.push_back(c.calls);
  return y * seen.back();
}
TEST(Arguments, ObjectsWithoutRealNumbers) {
  Counter c;
  std::vector<int> seen{5};
  double d_x = 0;
  clad::gradient(called, "x").execute(3, c, seen, &d_x);
  EXPECT_EQ(d_x, 24);
  EXPECT_EQ(c.calls, 0);
  EXPECT_EQ(seen, std::vector<int>{5});
}

TEST(Arguments, CapturesOfAMutableLambda) {
  int by_reference = 1;
  auto f = [&by_reference, own = 2](double x) mutable { return x * ++by_reference * ++own; };
  double d_x = 0;
  auto g = clad::gradient(f);
  g.execute(3, &d_x);
  EXPECT_EQ(d_x, 6);
  g.execute(3, &d_x);
  EXPECT_EQ(d_x, 12);
  EXPECT_EQ(by_reference, 1);
}

}  // namespace
