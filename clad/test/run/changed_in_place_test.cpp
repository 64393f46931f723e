// Pullbacks of functions that change an array in place: behind a pointer they see it as the call left it,
// given by reference as it was before, and the statements before the call see it so in any case.
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/checkpoint.h"
#include "clad/test/support/finite_difference.h"

namespace lib {
void pair(double k, double* y) {
  y[0] *= k;
  y[1] *= k;
}
void number(double k, double* y) { *y *= k; }
void reference(double k, double (&y)[2]) {
  y[0] *= k;
  y[1] *= k;
}
void rows(double k, double (*y)[2]) {
  for (int i = 0; i < 4; ++i) y[i / 2][i % 2] *= k;
}
void span(double k, std::span<double> y) {
  for (double& e : y) e *= k;
}
void axpy(int n, double a, const double* x, double* y) {
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}
void exponentials(const double* x, double* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}
}  // namespace lib
namespace clad::custom_derivatives::lib {
void exponentials_pullback(const double*, double* y, int n, double* d_x, double* d_y) {
  for (int i = 0; i < n; ++i) {
    d_x[i] += d_y[i] * y[i];
    d_y[i] = 0;
  }
}
void number_pullback(double k, double* y, double* d_k, double* d_y) {
  *d_k += *d_y * *y / k;
  *d_y *= k;
}
void pair_pullback(double k, double* y, double* d_k, double* d_y) {
  for (int i = 0; i < 2; ++i) number_pullback(k, y + i, d_k, d_y + i);
}
void reference_pullback(double k, double (&y)[2], double* d_k, double* d_y) {
  for (int i = 0; i < 2; ++i) {
    *d_k += d_y[i] * y[i];
    d_y[i] *= k;
  }
}
void rows_pullback(double k, double (*y)[2], double* d_k, double (*d_y)[2]) {
  for (int i = 0; i < 2; ++i) pair_pullback(k, y[i], d_k, d_y[i]);
}
void span_pullback(double k, std::span<double> y, double* d_k, std::span<double>* d_y) {
  for (std::size_t i = 0; i < y.size(); ++i) number_pullback(k, &y[i], d_k, &(*d_y)[i]);
}
void axpy_pullback(int n, double a, const double* x, double*, double* d_a, double* d_x, double* d_y) {
  for (int i = 0; i < n; ++i) {
    *d_a += d_y[i] * x[i];
    d_x[i] += a * d_y[i];
  }
}
}  // namespace clad::custom_derivatives::lib

namespace {

double arrays(double x, double y) {
  double u[2] = {x, y};
  lib::reference(y, u);
  double t = u[0] * u[1];
  for (int i = 0; i < 2; ++i) lib::pair(x, u);
  return u[0] * u[1] * u[1] + t;
}
double of_two_dimensions(double x, double y) {
  double u[2][2] = {{x, y}, {y, x}};
  for (int i = 0; i < 2; ++i) {
    lib::pair(y, u[i]);
    u[1][0] *= u[0][1];
  }
  lib::rows(x, u);
  return u[0][0] * u[1][1] + u[0][1] * u[1][0];
}
double elements(double x, double y) {
  double u[4] = {x, y, x, y}, w[2] = {1, 2};
  lib::axpy(2, x, w, u + 2);
  lib::axpy(2, y, &u[2], w);
  for (int i = 0; i < 2; ++i) {
    double* p = u + i;
    lib::pair(y, p);
    ++p;
    lib::number(x, p);
  }
  return w[0] * u[3] + u[0] * u[1] * u[2];
}
double library_arrays(double x, double y) {
  std::vector<double> v{x, y}, w(2);
  lib::axpy(2, y, v.data(), w.data());
  lib::axpy(2, x, w.data(), v.data());
  lib::axpy(2, y, v.data(), w.data());
  std::array<double, 2> a{x, y};
  lib::pair(y, a.data());
  const double t = a[0] * a[1];
  lib::pair(x, &a[0]);
  auto held = std::make_unique<double[]>(2);
  held[0] = w[0];
  lib::number(x, held.get());
  lib::span(y, v);
  const double s = held[0] * v[0];
  lib::number(s, held.get());
  lib::span(x, v);
  return held[0] * v[1] + a[0] * a[1] * t + w[1];
}
TEST(ChangedInPlace, ArraysAreAsBeforeTheCall) {
  EXPECT_GRADIENT(arrays, 1.3, 0.7);
  EXPECT_GRADIENT(of_two_dimensions, 1.3, 0.7);
  EXPECT_GRADIENT(elements, 1.3, 0.7);
  EXPECT_GRADIENT(library_arrays, 1.3, 0.7);
}

struct Body {
  double a, b, c[2];
  std::vector<double> v;
};
double members(double x, double y) {
  Body p{x, y, {y, x}, {x, y}};
  const double t = p.b * p.c[0];
  lib::pair(y, &p.a);
  lib::pair(x, p.c);
  lib::pair(t, p.v.data());
  std::vector<Body> all{p, p};
  for (int i = 0; i < 2; ++i) {
    lib::pair(p.c[i], all[1].v.data());
    lib::number(x, &all[0].b);
  }
  return p.a * p.b * p.v[0] + all[1].v[0] * all[1].v[1] + all[0].b * p.c[1];
}
double arrays_in_a_vector(double x, double y) {
  std::vector<std::array<double, 2>> v{{x, y}, {y, x}};
  for (std::size_t i = 0; i < v.size(); ++i) {
    lib::pair(x, v[i].data());
    lib::pair(y, &v.at(i)[0]);
    std::array<double, 2>* p = &v[i];
    lib::pair(v[0][1], p->data());
  }
  return v[0][0] * v[1][1] + v[0][1] * v[1][0];
}
double one_of_two(double x, double y) {
  double u[2] = {x, y}, v[2] = {y, x};
  double* p = x > 1 ? u : v;
  for (int i = 0; i < 2; ++i) {
    lib::pair(y, p);
    lib::pair(x, i ? u : v);
  }
  return u[0] * u[1] + v[0] * v[1] * v[1];
}
TEST(ChangedInPlace, MembersAndOneOfSeveral) {
  EXPECT_GRADIENT(members, 1.3, 0.7);
  EXPECT_GRADIENT(arrays_in_a_vector, 1.3, 0.7);
  EXPECT_GRADIENT(one_of_two, 1.3, 0.7);
  EXPECT_GRADIENT(one_of_two, 0.8, 0.7);
}

void hand_on(double* u, int n, double k) {
  if (k < 0) return;
  for (int t = 0; t < n; ++t) {
    lib::pair(k, u + 1);
    if (t == 1) u[0] *= u[2];
  }
}
double hand_on_further(double* u, double k) {
  hand_on(u, 2, k);
  return u[0] * u[2];
}
double handed_on(double x, double y) {
  double u[3] = {x, y, x * y};
  double t = u[0] * u[0] * u[1];
  t += hand_on_further(u, y) * hand_on_further(u, x);
  hand_on(u, 3, -y);
  return u[0] * u[1] + t;
}
TEST(ChangedInPlace, ThroughFunctionsThatHandAPointerOn) { EXPECT_GRADIENT(handed_on, 1.3, 0.7); }

double checkpointed(double x, double y) {
  double u[2] = {x, y};
  for (int t = 0; t < 6; ++t) {
    clad::checkpoint_loop(2);
    lib::pair(y, u);
    u[0] += u[1] * u[1];
  }
  return u[0] * u[1];
}
TEST(ChangedInPlace, InACheckpointedLoop) { EXPECT_GRADIENT(checkpointed, 1.3, 0.7); }

double outputs(double x, double y) {
  double u[2] = {x, y};
  std::vector<double> v{y, x};
  double s = v[0] * v[1];
  for (int i = 0; i < 2; ++i) {
    lib::exponentials(u, v.data(), 2);
    s += v[0] * v[1];
    lib::exponentials(v.data(), u, i + 1);
    s += u[0] * u[1];
    v[1] = 0.1 * s;
    v[0] *= 0.1;
    lib::pair(x, u);
  }
  return s;
}
TEST(ChangedInPlace, OutputsAreWhatTheCallWrote) { EXPECT_GRADIENT(outputs, 0.3, 0.2); }

// How much a pointer of the caller's points to is not known: what its elements were is not read here.
double of_the_caller(double* u, double k) {
  u[0] = k * k;
  u[1] = k;
  const double w[2] = {k, 1};
  lib::axpy(2, k, w, u);
  return u[0] * u[1];
}
TEST(ChangedInPlace, MemoryOfTheCaller) {
  double u[2] = {}, d_u[2] = {}, d_k = 0;
  clad::gradient(of_the_caller).execute(u, 1.5, d_u, &d_k);
  EXPECT_NEAR(d_k, 12 * 1.5 * 1.5, 1e-12);  // of 2 k^2 * 2 k
}

}  // namespace
