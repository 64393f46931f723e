// Fusion rules match operands that commute in either order, and no others: a rule that takes one for the
// other would give other values and gradients.
#include "clad/test/run/fusion_support.h"

namespace order {
using lib::pullbacks;

CLAD_COMMUTATIVE double sum(double a, double b);
double sum(double a, double b) { return a + b; }
CLAD_COMMUTATIVE double product(double a, double b) { return a * b; }
double join(double a, double b) { return a + 2 * b; }
double twist(double x) { return std::sin(x); }

double sum_twist(double a, double b) { return a + std::sin(b); }
CLAD_PATTERN(sum_twist) inline double sum_of_twist(double a, double b) { return sum(a, twist(b)); }
double join_twist(double a, double b) { return a + 2 * std::sin(b); }
CLAD_PATTERN(join_twist) inline double join_of_twist(double a, double b) { return join(a, twist(b)); }

// Which of the inner operands is `a` is known only outside.
double grown(double a, double b) { return a * a + a * b; }
CLAD_PATTERN(grown) inline double by_sum(double a, double b) { return product(sum(a, b), a); }

// The order decides which of the two is what the rule also gives.
struct TwistAndSum {
  double twist, sum;
};
double ramp(double x) { return x * std::exp(x); }
TwistAndSum both(double a, double b) { return {std::sin(a), std::sin(a) + b * std::exp(b)}; }
CLAD_PATTERN(both) inline TwistAndSum apart(double a, double b) {
  const double t = twist(a);
  return {t, sum(t, ramp(b))};
}
TwistAndSum twists(double a, double b) { return {std::sin(a), std::sin(a) + 3 * std::sin(b)}; }
double thrice(double x) { return 3 * x; }
CLAD_PATTERN(twists) inline TwistAndSum two_twists(double a, double b) {
  const double t = twist(a);
  return {t, sum(t, thrice(twist(b)))};
}

// A factor that is constant.
double damped(double x, double k) { return std::tanh(k * x); }
double flat(double x) { return std::tanh(x); }
CLAD_PATTERN(damped) inline double flat_product(double x, CLAD_CONSTANT double k) { return flat(k * x); }
}  // namespace order

namespace clad::custom_derivatives::order {
using ::lib::pullbacks;
void sum_pullback(double, double, double d, double* d_a, double* d_b) {
  ++pullbacks["sum"];
  *d_a += d;
  *d_b += d;
}
void product_pullback(double a, double b, double d, double* d_a, double* d_b) {
  ++pullbacks["product"];
  *d_a += d * b;
  *d_b += d * a;
}
void join_pullback(double, double, double d, double* d_a, double* d_b) {
  ++pullbacks["join"];
  *d_a += d;
  *d_b += 2 * d;
}
void twist_pullback(double x, double d, double* d_x) {
  ++pullbacks["twist"];
  *d_x += d * std::cos(x);
}
void ramp_pullback(double x, double d, double* d_x) {
  ++pullbacks["ramp"];
  *d_x += d * (1 + x) * std::exp(x);
}
void thrice_pullback(double, double d, double* d_x) { *d_x += 3 * d; }
void sum_twist_pullback(double, double b, double d, double* d_a, double* d_b) {
  ++pullbacks["sum_twist"];
  *d_a += d;
  *d_b += d * std::cos(b);
}
void join_twist_pullback(double, double b, double d, double* d_a, double* d_b) {
  ++pullbacks["join_twist"];
  *d_a += d;
  *d_b += 2 * d * std::cos(b);
}
void grown_pullback(double a, double b, double d, double* d_a, double* d_b) {
  ++pullbacks["grown"];
  *d_a += d * (2 * a + b);
  *d_b += d * a;
}
void both_pullback(double a, double b, ::order::TwistAndSum d, double* d_a, double* d_b) {
  ++pullbacks["both"];
  *d_a += (d.twist + d.sum) * std::cos(a);
  *d_b += d.sum * (1 + b) * std::exp(b);
}
void twists_pullback(double a, double b, ::order::TwistAndSum d, double* d_a, double* d_b) {
  ++pullbacks["twists"];
  *d_a += (d.twist + d.sum) * std::cos(a);
  *d_b += 3 * d.sum * std::cos(b);
}
void flat_pullback(double x, double d, double* d_x) {
  ++pullbacks["flat"];
  *d_x += d * (1 - std::tanh(x) * std::tanh(x));
}
void damped_pullback(double x, double k, double d, double* d_x, double*) {
  ++pullbacks["damped"];
  *d_x += d * k * (1 - std::tanh(k * x) * std::tanh(k * x));
}
}  // namespace clad::custom_derivatives::order

/// What runs in the gradient with and without fusion, and that it is right.
#define EXPECT_RUNS(with, without, f)                         \
  do {                                                        \
    double d_a = 0, d_b = 0;                                  \
    EXPECT_GRADIENT(f, 0.4, 0.3);                             \
    EXPECT_PULLBACKS(with, without, f, 0.4, 0.3, &d_a, &d_b); \
  } while (false)

namespace {
using namespace order;

double as_written(double a, double b) { return sum(a * b, twist(b)) * b; }
double exchanged(double a, double b) { return sum(twist(b), a * b) * b; }
double of_two(double a, double b) { return sum(twist(a), twist(a * b)) * b; }
double nested(double a, double b) { return sum(twist(sum(twist(a), b)), b * b); }
double joined(double a, double b) { return join(a * b, twist(b)) * b; }
double joined_exchanged(double a, double b) { return join(twist(b), a * b) * b; }
TEST(FusionOrder, ExchangesArgumentsOfMarkedFunctionsAlone) {
  EXPECT_RUNS("sum_twist 1", "sum 1, twist 1", as_written);
  EXPECT_RUNS("sum_twist 1", "sum 1, twist 1", exchanged);
  EXPECT_RUNS("sum_twist 1, twist 1", "sum 1, twist 2", of_two);
  EXPECT_RUNS("sum_twist 2", "sum 2, twist 2", nested);
  EXPECT_RUNS("join_twist 1", "join 1, twist 1", joined);
  EXPECT_RUNS("join 1, twist 1", "join 1, twist 1", joined_exchanged);
}

double grown_0(double a, double b) { return product(sum(a, b), a); }
double grown_1(double a, double b) { return product(sum(b, a), a); }
double grown_2(double a, double b) { return product(a, sum(a, b)); }
double grown_3(double a, double b) { return product(a, sum(b, a)); }
double not_grown(double a, double b) { return product(sum(a, b), a * b); }
double grown_by_a_copy(double a, double b) {
  const double x = a * b, y = b * a;
  return product(y, sum(b, x));
}
double changed_between(double a, double b) {
  const double s = sum(b, a);
  a *= 2;
  return product(a, s);
}
TEST(FusionOrder, DecidesInnerOrdersByWhatIsOutside) {
  for (auto* f : {grown_0, grown_1, grown_2, grown_3}) EXPECT_EQ(f(0.4, 0.3), grown_0(0.4, 0.3));
  EXPECT_RUNS("grown 1", "product 1, sum 1", grown_0);
  EXPECT_RUNS("grown 1", "product 1, sum 1", grown_1);
  EXPECT_RUNS("grown 1", "product 1, sum 1", grown_2);
  EXPECT_RUNS("grown 1", "product 1, sum 1", grown_3);
  EXPECT_RUNS("grown 1", "product 1, sum 1", grown_by_a_copy);
  EXPECT_RUNS("product 1, sum 1", "product 1, sum 1", not_grown);
  EXPECT_RUNS("product 1, sum 1", "product 1, sum 1", changed_between);
}

double results(double a, double b) {
  const double t = twist(a), r = ramp(b);
  return sum(r, t) * t;
}
double twist_used(double a, double b) {
  const double t = twist(a), u = twist(b);
  return sum(thrice(t), u) * u;
}
double other_twist_used(double a, double b) {
  const double t = twist(a), u = twist(b);
  return sum(thrice(t), u) * t;
}
TEST(FusionOrder, GivesEachResultItsName) {
  EXPECT_RUNS("both 1", "ramp 1, sum 1, twist 1", results);
  EXPECT_RUNS("twists 1", "sum 1, twist 2", twist_used);
  EXPECT_GRADIENT(other_twist_used, 0.4, 0.3);
}

double constant_first(double x) { return flat(3 * x) * x; }
double constant_last(double x) { return flat(x * 3) * x; }
double constant_by_name(double x, double k) { return flat(x * k) * k; }
double none_constant(double x, double y) { return flat(x * y) * y; }
TEST(FusionOrder, FindsTheOperandThatIsConstant) {
  double d[2] = {};
  EXPECT_GRADIENT(constant_first, 0.4);
  EXPECT_PULLBACKS("damped 1", "flat 1", constant_first, 0.4, &d[0]);
  EXPECT_GRADIENT(constant_last, 0.4);
  EXPECT_PULLBACKS("damped 1", "flat 1", constant_last, 0.4, &d[0]);
  EXPECT_RUNS("flat 1", "flat 1", none_constant);
#ifndef CLAD_TEST_NO_FUSION
  EXPECT_EQ(pullbacks_of(clad::gradient(constant_by_name, "x"), 0.4, 0.3, &d[0]), "damped 1");
  d[0] = 0;
  EXPECT_EQ(pullbacks_of(clad::gradient(constant_by_name, "k"), 0.4, 0.3, &d[0]), "damped 1");
  EXPECT_NEAR(d[0], std::tanh(0.12) + 0.12 * (1 - std::tanh(0.12) * std::tanh(0.12)), 1e-15);
#endif
}
}  // namespace

// Numbers: + and * of any depth; - and / keep their order.
namespace numbers {
using lib::pullbacks;
double offset(double x, double y) { return x - y * y; }
CLAD_PATTERN(offset) inline double difference(double x, double y) { return x - y * y; }
double share(double x) { return x / (x + 1); }
CLAD_PATTERN(share) inline double quotient(double x) { return x / (x + 1); }
}  // namespace numbers
namespace clad::custom_derivatives::numbers {
using ::lib::pullbacks;
void offset_pullback(double, double y, double d, double* d_x, double* d_y) {
  ++pullbacks["offset"];
  *d_x += d;
  *d_y -= 2 * d * y;
}
void share_pullback(double x, double d, double* d_x) {
  ++pullbacks["share"];
  *d_x += d / ((x + 1) * (x + 1));
}
}  // namespace clad::custom_derivatives::numbers
namespace {
double offsets(double a, double b) { return a - b * b; }
double square_first(double a, double b) { return b * b - a; }
double two_squares(double a, double b) { return b * b - a * a; }
double shares(double a) { return a / (1 + a); }
double inverse_share(double a) { return (1 + a) / a; }
double other_share(double a) { return a / (a + 2); }
TEST(FusionOrder, ExchangesNumbersThatAreAddedOrMultiplied) {
  double d[2] = {};
  EXPECT_RUNS("offset 1", "", offsets);
  EXPECT_RUNS("", "", square_first);
  EXPECT_RUNS("offset 1", "", two_squares);
  EXPECT_GRADIENT(shares, 0.4);
  EXPECT_PULLBACKS("share 1", "", shares, 0.4, &d[0]);
  EXPECT_GRADIENT(inverse_share, 0.4);
  EXPECT_PULLBACKS("", "", inverse_share, 0.4, &d[0]);
  EXPECT_GRADIENT(other_share, 0.4);
  EXPECT_PULLBACKS("", "", other_share, 0.4, &d[0]);
}
}  // namespace
