// Fusion rules: chains of calls that match are replaced, what only looks like one is not, and the derivatives
// are right in either case.
#include "clad/test/run/fusion_support.h"

namespace {

double chain(double x, double w) { return lib::activate(lib::linear(x, w, 0.5)) * x; }
double through_variables(double x, double w) {
  const double s = w * 2;
  double t = lib::linear(x * x, s + 1, w);
  const double unrelated = std::exp(x);
  double y = lib::activate(t);
  y += unrelated;
  return y * y;
}
TEST(Fusion, ReplacesAChain) {
  double d[2] = {};
  EXPECT_GRADIENT(chain, 0.3, -1.2);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", chain, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(through_variables, 0.3, -0.7);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", through_variables, 0.3, -1.2, &d[0], &d[1]);
}

double same_argument(double x) { return lib::activate(lib::linear(x, x, x)); }
double nested(double x, double w) {
  return lib::activate(lib::linear(lib::activate(lib::linear(x, w, 1)), w, x));
}
double in_loop(double x, double w, int n) {
  for (int i = 0; i < n; ++i) x = lib::activate(lib::linear(x, w, 0.1 * i));
  return x;
}
double in_branch(double x, double w) {
  if (x < 0) return lib::activate(lib::linear(x, w, 0));
  const double t = lib::linear(x, w, 1);
  if (w > 0) return lib::activate(t);  // not where t is computed
  return t;
}
TEST(Fusion, WorksInsideStatements) {
  double d[2] = {};
  EXPECT_GRADIENT(same_argument, 0.4);
  EXPECT_GRADIENT(nested, 0.4, 0.9);
  EXPECT_PULLBACKS("linear_activate 2", "activate 2, linear 2", nested, 0.4, 0.9, &d[0], &d[1]);
  for (int n : {0, 1, 5}) EXPECT_GRADIENT(in_loop, 0.4, 0.9, n);
  EXPECT_PULLBACKS("linear_activate 3", "activate 3, linear 3", in_loop, 0.4, 0.9, 3, &d[0], &d[1]);
  for (double x : {-0.5, 0.5})
    for (double w : {-0.5, 0.5}) EXPECT_GRADIENT(in_branch, x, w);
  EXPECT_PULLBACKS("linear_activate 1", "activate 1, linear 1", in_branch, -0.4, 0.9, &d[0], &d[1]);
  EXPECT_PULLBACKS("activate 1, linear 1", "activate 1, linear 1", in_branch, 0.4, 0.9, &d[0], &d[1]);
}

double used_twice(double x, double w) {
  const double t = lib::linear(x, w, 1);
  return lib::activate(t) + t;
}
double bound_to_itself(double x, double w) {
  const double t = lib::plus(x, w);
  return lib::norm(t, t * t + 1);  // t is also an argument: as one of several results it may be
}
double changed_between(double x, double w) {
  const double t = lib::linear(x, w, 1);
  w *= 2;
  x = x * w;
  return lib::activate(t) * w + x;
}
void triple(double& x) { x *= 3; }
double changed_by_a_call(double x, double w) {
  const double t = lib::linear(x, w, 1);
  triple(w);
  return lib::activate(t) * w;
}
double changed_behind_a_pointer(double* p, double w) {
  const double t = lib::linear(p[0], w, 1);
  p[0] = 5 * w;
  return lib::activate(t) * p[0];
}
double overwritten(double x, double w) {
  double t = lib::linear(x, w, 1);
  t *= 2;
  return lib::activate(t);
}
double assigned_again(double x, double w) {
  x = lib::linear(x, w, 1);
  x = lib::activate(x);
  x = lib::linear(x, w, x);
  if (w > 0) return x * w;
  x = lib::activate(x);
  return x;
}
double assigned_in_loop(double x, double w, int n) {
  double h = x;
  for (int i = 0; i < n; ++i) {
    double t = h;
    t = lib::linear(t, w, 0.1 * i);
    t = lib::activate(t);
    h = t * h + t;
  }
  return h;
}
double assigned_in_branch(double x, double w) {
  double t = lib::linear(x, w, 1);
  if (w > 0) t = t * 2;
  t = lib::activate(t);
  return t;
}
double assigned_and_kept(double x, double w) {
  double t = lib::linear(x, w, 1);
  const double before = t;
  t = lib::activate(t);
  return t + before;
}
double assigned_element(double x, double w) {
  struct {
    double a, b;
  } p = {lib::linear(x, w, 1), x};
  p.a = lib::activate(p.a);
  return p.a * p.b;
}
double captured(double x, double w) {
  double t = lib::linear(x, w, 1);
  const double& u = t;
  return lib::activate(t) * u;
}
TEST(Fusion, FollowsVariablesThatAreAssignedAgain) {
  double d[2] = {};
  for (double w : {-1.2, 0.7}) {
    EXPECT_GRADIENT(assigned_again, 0.3, w);
    EXPECT_GRADIENT(changed_between, 0.3, w);
    EXPECT_GRADIENT(assigned_in_branch, 0.3, w);
    EXPECT_GRADIENT(assigned_and_kept, 0.3, w);
    EXPECT_GRADIENT(assigned_element, 0.3, w);
    for (int n : {0, 1, 4}) EXPECT_GRADIENT(assigned_in_loop, 0.3, w, n);
  }
  EXPECT_PULLBACKS("activate 1, linear 1, linear_activate 1", "activate 2, linear 2", assigned_again, 0.3,
                   -1.2, &d[0], &d[1]);
  EXPECT_PULLBACKS("linear_activate 3", "activate 3, linear 3", assigned_in_loop, 0.3, -1.2, 3, &d[0], &d[1]);
  const char* plain = "activate 1, linear 1";
  EXPECT_PULLBACKS(plain, plain, assigned_in_branch, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_PULLBACKS(plain, plain, assigned_and_kept, 0.3, -1.2, &d[0], &d[1]);
}

TEST(Fusion, LeavesWhatOnlyLooksLikeThePattern) {
  double d[2] = {};
  const char* plain = "activate 1, linear 1";
  EXPECT_GRADIENT(used_twice, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, used_twice, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(bound_to_itself, 0.3, -1.2);
  EXPECT_PULLBACKS("norm 1, plus 1", "norm 1, plus 1", bound_to_itself, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(changed_by_a_call, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, changed_by_a_call, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT_IN_PLACE(changed_behind_a_pointer, (clad::test::buffer{0.3}), -1.2);
  EXPECT_GRADIENT(overwritten, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, overwritten, 0.3, -1.2, &d[0], &d[1]);
  EXPECT_GRADIENT(captured, 0.3, -1.2);
  EXPECT_PULLBACKS(plain, plain, captured, 0.3, -1.2, &d[0], &d[1]);
}

}  // namespace
