// Functions that say where something is, called where a loop starts, goes on and tests.
#include <array>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double* skip(double* at, int n) {
  while (n-- > 0) ++at;
  return at;
}
double* next_above(double* at, double* end, double least) {
  for (; at != end; ++at) {
    if (*at > least) return at;
    if (*at < -5) return end;
  }
  return end;
}
double& large(double* a, int n) {
  for (int i = 0; i < n; ++i)
    if (a[i] > 1) return a[i];
  return a[0];
}

double starts(double x, double y) {
  double a[3] = {x, x * y, 4}, s = 0;
  for (double* i = skip(a, 1); i != a + 3; ++i) s += *i * x;
  return s;
}
double goes_on(double x, double y) {
  double a[4] = {x, x * y, 4, y * y}, s = 0;
  for (double* i = a; i != a + 4; i = skip(i, 2)) s += *i * y;
  return s;
}
double leaves(double x, double y) {
  double a[5] = {x, x * y, 4, 5 * y, x * x}, s = 0;
  for (double* i = next_above(a, a + 5, 0.9); i != a + 5; i = next_above(i + 1, a + 5, 0.5)) {
    if (*i == 4) continue;
    s += *i * x;
    if (s > 5) break;
  }
  return s;
}
double within(double x, double y) {
  double a[3] = {x, 2 * y, 3 * x}, s = 0;
  for (int k = 0; k < 3; ++k)
    for (double* i = next_above(a, a + 3, 0.5 * k); i != a + 3; ++i) {
      if (s > 30) return s * x;
      s += *i * y + large(a, k + 1);
    }
  return s;
}
double of_numbers(double x, double y) {
  double a[3] = {x, 2 * y, 3}, s = 0;
  for (double t = large(a, 3); t < 20; t += large(a, 2)) {
    s += t * y;
    if (s > 100) break;
    t += x;
  }
  return s;
}
TEST(LoopHeaders, CallFunctionsThatNamePlaces) {
  EXPECT_GRADIENT(starts, 1.3, 0.7);
  EXPECT_GRADIENT(goes_on, 1.3, 0.7);
  EXPECT_GRADIENT(leaves, 1.3, 0.7);
  EXPECT_GRADIENT(within, 1.3, 0.7);
  EXPECT_GRADIENT(of_numbers, 1.3, 0.7);
}

using Iterator = std::vector<double>::iterator;
Iterator middle(std::vector<double>& c) {
  const auto k = static_cast<long>(c.size() / 2);
  return c.begin() + k;
}
template <class C>
typename C::iterator largest(C& c) {
  auto best = c.begin();
  for (auto i = c.begin(); i != c.end(); ++i)
    if (*i > *best) best = i;
  return best;
}
std::vector<double>::const_iterator chosen(const std::vector<double>& c, double t) {
  if (t > 1) return c.begin();
  if (t < 0) return c.end() - 1;
  return c.begin() + 1;
}
Iterator changed(std::vector<double>& c, double t) {
  c[0] = t * t;
  ++c[1];
  return c.begin();
}
Iterator skip(Iterator at, int n) {
  while (n-- > 0) ++at;
  return at;
}

double by_index(double x, double y) {
  std::vector<double> a{x, 2 * y, 3};
  *middle(a) *= x;
  return *middle(a) * y;
}
double by_value(double x, double y) {
  std::array<double, 3> a{x, x * y, 1};
  *largest(a) *= 3;
  return a[0] + a[1] * x + a[2] * y * y;
}
double by_choice(double x, double y) {
  const std::vector<double> a{x, x * y, y * y};
  return *chosen(a, x) * y + *chosen(a, y) * x + *chosen(a, -x);
}
double by_change(double x, double y) {
  std::vector<double> a{0, y};
  auto i = changed(a, x);
  *i += y;
  i[1] *= x;
  return a[0] * a[1];
}
double by_steps(double x, double y) {
  std::vector<double> a{x, x * y, 4};
  double s = 0;
  for (auto i = skip(a.begin(), 1); i != a.end(); i = skip(i, 1)) s += *i * x;
  return s;
}
TEST(LoopHeaders, IteratorsThatFunctionsReturn) {
  EXPECT_GRADIENT(by_index, 1.3, 0.7);
  EXPECT_GRADIENT(by_value, 1.3, 0.7);
  EXPECT_GRADIENT(by_choice, 1.3, 0.7);
  EXPECT_GRADIENT(by_change, 1.3, 0.7);
  EXPECT_GRADIENT(by_steps, 1.3, 0.7);
}

void in_halves(double* out, int n) {
  const int half = n / 2;
  double* o = out;
  do {
    *o *= 2;
  } while ((o += half) != out + n);
  for (int i = 0; i < half; ++i) out[i] += out[i + half];
}
double stepping(double x, double y) {
  double out[4] = {x, y, x * y, 2};
  in_halves(out, 4);
  return out[0] * out[1] + out[2] * x;
}
TEST(LoopHeaders, StepsOfPointersThatAreCounted) { EXPECT_GRADIENT(stepping, 1.3, 0.7); }

}  // namespace
