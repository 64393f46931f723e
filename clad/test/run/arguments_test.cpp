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

class Square {
 public:
  explicit Square(int n) : n_(n), d_(n * n) {}
  double* operator[](int i) { return d_.data() + i * n_; }
  const double* operator[](int i) const { return &d_[i * n_]; }
  double* begin() { return d_.data(); }
  double* end() { return d_.data() + n_ * n_; }

 private:
  int n_;
  std::vector<double> d_;
};
double changes_a_row(Square a) {
  a[0][1] *= a[0][0];
  double* p = a[1];
  p[0] *= 3;
  *++p *= a[0][1];
  return a[1][0] * a[1][1] + a[0][1];
}
double changes_all(Square a) {
  for (double& e : a) e *= 2;
  return a[1][1] * a[0][1];
}
double passes_rows(double x, double y) {
  Square m(2);
  m[0][0] = x;
  m[0][1] = y;
  m[1][0] = x * y;
  m[1][1] = 2;
  return changes_a_row(m) + changes_all(m) + m[0][1] * m[1][1];
}
TEST(Arguments, AreCopiedWhereWhatTheirSubscriptPointsToChanges) { EXPECT_GRADIENT(passes_rows, 1.3, 0.7); }

double by_references(const double& x, const float& y) { return x * x * y; }
double repeated(const std::string& text, const double& x) { return static_cast<double>(text.size()) * x; }
struct Fixed {
  double value;
  Fixed(double v) : value(v) {}
  Fixed(const Fixed&) = delete;
};
double fixed_times(const Fixed& a, const double& x) { return a.value * a.value * x; }
struct Names {
  const double& value;
  operator const double&() const { return value; }
};
TEST(Arguments, ThatAreConvertedLiveAsLongAsTheDerivative) {
  double d_x = 0, v_x = 1, v = 0, matrix[4];
  float d_y = 0, v_y = 0;
  clad::gradient(by_references).execute(3, 4.0, &d_x, &d_y);
  EXPECT_EQ(d_x, 24);
  EXPECT_EQ(d_y, 9);
  EXPECT_EQ(clad::differentiate(by_references, "x").execute(3, 4), 24);
  EXPECT_EQ(clad::pushforward(by_references).execute(3, 4, &v_x, &v_y).pushforward, 24);
  clad::hessian(by_references).execute(3, 4, matrix);
  EXPECT_EQ(matrix[0], 8);
  EXPECT_EQ(matrix[1], 6);
  clad::jacobian(by_references).execute(3, 4, matrix);
  EXPECT_EQ(matrix[0], 24);
  clad::hessian_vector_product(by_references, "x").execute(3, 4, &v_x, &v);
  EXPECT_EQ(v, 8);
  clad::differentiate<clad::opts::vector_mode>(by_references, "x").execute(3, 4, &d_x);
  EXPECT_EQ(d_x, 24);
  double error = d_x = 0;
  clad::estimate_error(by_references, "x").execute(3, 4, &d_x, error);
  EXPECT_EQ(d_x, 24);

  const char* text = "a text of more letters than a string holds without memory";
  d_x = 0;
  clad::gradient(repeated, "x").execute(text, 1, &d_x);
  EXPECT_EQ(d_x, static_cast<double>(std::string(text).size()));
  d_x = 0;
  clad::gradient(fixed_times, "x").execute(3, 2, &d_x);
  const double three = 3;
  clad::gradient(fixed_times, "x").execute(Fixed(2), Names{three}, &d_x);
  EXPECT_EQ(d_x, 9 + 4);
}

// Fold expressions end at 256 operands.
#define TEN(what, i)                                                                              \
  what(i##0), what(i##1), what(i##2), what(i##3), what(i##4), what(i##5), what(i##6), what(i##7), \
      what(i##8), what(i##9)
#define ALL(what)                                                                                   \
  TEN(what, 1), TEN(what, 2), TEN(what, 3), TEN(what, 4), TEN(what, 5), TEN(what, 6), TEN(what, 7), \
      TEN(what, 8), TEN(what, 9), TEN(what, 10), TEN(what, 11), TEN(what, 12), TEN(what, 13)
#define PARAMETER(i) double p##i
#define WEIGHTED(i) i* p##i
#define VALUE(i) i * 0.5
#define ADJOINT(i) &d[i]
double of_many(ALL(PARAMETER)) {
  const double all[] = {ALL(WEIGHTED)};
  double sum = 0;
  for (double one : all) sum += one * one;
  return sum;
}
TEST(Arguments, ManyOfThem) {
  double d[140] = {};
  clad::gradient(of_many).execute(ALL(VALUE), ALL(ADJOINT));
  for (int i = 10; i < 140; ++i) EXPECT_DOUBLE_EQ(d[i], 1.0 * i * i * i);
}

}  // namespace
