// What the fuzzer (clad/test/fuzz) found, made small.
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double read_by_lambda(std::pair<double, double> p, std::vector<double> v, double q) {
  auto scale = [&] { q *= p.second + v[1]; };
  scale();
  auto inner = [=](double t) {
    auto read = [&] { return p.first * t + v[0]; };
    return read() * read();
  };
  return q + p.first * inner(q);
}
TEST(Fuzzed, ALambdaReadsAnObjectThatIsPassedByValue) {
  EXPECT_GRADIENT(read_by_lambda, std::pair<double, double>{0.7, 1.3}, std::vector<double>{0.4, 1.7}, 0.9);
}

double changed_by_lambda(std::pair<double, double> p, std::vector<double> v, bool which) {
  std::pair<double, double> q = p;
  auto generic = [&](auto by) {
    (which ? p : q).first *= by;
    v.push_back(by);
  };
  generic(p.second);
  generic(2);
  return p.first * q.first * v[v.size() - 2];
}
TEST(Fuzzed, ALambdaChangesAnObjectThatIsPassedByValue) {
  EXPECT_GRADIENT(changed_by_lambda, std::pair<double, double>{0.7, 1.3}, std::vector<double>{0.4}, true);
  EXPECT_GRADIENT(changed_by_lambda, std::pair<double, double>{0.7, 1.3}, std::vector<double>{0.4}, false);
}

struct Table {
  double a[3];
  template <class V>
  void reals(V&& visit) {
    for (double& x : a) visit(x);
  }
};
double twist(double* p) {
  p[1] *= p[0];
  return p[1];
}
double decayed(Table t, double x) {
  const Table before = t;
  auto kept = [=] { return t.a[1]; };
  double* last = t.a + 2;
  *last *= x;
  return twist(t.a) * x + t.a[1] * kept() + before.a[2] * *(t.a + 2);
}
TEST(Fuzzed, AnArrayInAnObjectIsChangedThroughAPointer) {
  EXPECT_GRADIENT(decayed, Table{{0.7, 1.3, 0.4}}, 0.9);
}

double product(const double& a) { return a * a; }
double copied_temporary(double x) {
  const double& t = product(x);
  double copy = t;
  copy *= x;
  return copy + t * t;
}
TEST(Fuzzed, AResultIsCopiedThroughAReferenceToIt) { EXPECT_GRADIENT(copied_temporary, 1.7); }

double changing(double t, const double& x) {
  for (int i = 0; i < 3; ++i) {
    auto change = [&](double& y) {
      y *= t;
      y = 1 + std::sin(y);
      return y * t;
    };
    t += 0.05 * change(t);
  }
  return t * x;
}
double with_a_constant(double x) { return changing(2, x) * changing(x, x); }
TEST(Fuzzed, ALambdaThatCarriesNoTangentChangesItsArguments) {
  EXPECT_GRADIENT(with_a_constant, 0.7);
  double h = 0;
  clad::hessian(with_a_constant).execute(0.7, &h);
  const auto g = [](double x) {
    double d = 0;
    clad::gradient(with_a_constant).execute(x, &d);
    return d;
  };
  EXPECT_NEAR(h, (g(0.7 + 1e-5) - g(0.7 - 1e-5)) / 2e-5, 1e-4);
}

double divides(double y, double p) {
  double sum = 0;
  auto change = [&](double a) {
    y = 1.5 * a;
    sum += y / p;
    return y / p;
  };
  return change(y) * change(2) + sum;
}
double with_a_constant_divisor(double x) { return divides(x, 2); }
TEST(Fuzzed, ALambdaOnlyReadsAConstant) {
  EXPECT_GRADIENT(with_a_constant_divisor, 0.7);
  EXPECT_GRADIENT(divides, 0.7, 1.3);
}

template <class F>
double applied(F h, double x) {
  return h(x) * x;
}
double applied_to_any(auto&& h, double x) { return h(x) + x; }
double temporary_lambdas(double x) {
  double s = applied([&](double e) { return e * x; }, x);
  for (int i = 0; i < 2; ++i) {
    s += applied([&](double e) { return e * e; }, 2.2);
    s *= applied_to_any([](double e) { return e; }, 0.7);
  }
  return s;
}
TEST(Fuzzed, ALambdaIsPassedToACallWithoutADerivative) { EXPECT_GRADIENT(temporary_lambdas, 0.7); }

int twice(int n) { return 2 * n; }
double beside_a_function_pointer(double x) {
  auto f = twice;
  auto g = &f;
  return x * x * (*g)(3);
}
TEST(Fuzzed, APointerToAFunctionPointerIsNoNumber) { EXPECT_GRADIENT(beside_a_function_pointer, 0.7); }

struct Made {
  double a, b;
  Made(double x, double y) : a(x), b(y) {}
};
Made leaves_early(const Made& m, double x) {
  for (int i = 0; i < 2; ++i)
    if (m.a * x > 3) return m;
  if (m.b > 3) return Made(x, m.a);
  return Made(m.b, x * m.a);
}
double results_without_default(double x) {
  const Made one = leaves_early(Made(x, 2), x), two = leaves_early(Made(x, 5), x),
             three = leaves_early(Made(7, x), x);
  leaves_early(one, x);
  return one.a * one.b * two.a + two.b * three.a * three.b;
}
TEST(Fuzzed, AResultWithoutDefaultConstructorIsReturnedEarly) {
  EXPECT_GRADIENT(results_without_default, 0.7);
}

double in_span(std::span<double> v, std::span<const double> w, double x) {
  auto scale = [&](double by) { v[0] *= by * w[1]; };
  auto read = [=](int i) { return v[i] * w[i] + w.back(); };
  auto rest = [part = v.subspan(1)](double by) { return part[0] * by; };
  scale(x);
  auto again = [&] { return read(0) + v.size(); };
  return again() * read(1) * rest(x);
}
double captured_views(std::vector<double> v, double x) {
  const double s = in_span(v, v, x);
  return s * v[0];
}
TEST(Fuzzed, ALambdaCapturesAView) {
  EXPECT_GRADIENT(captured_views, std::vector<double>{0.7, 1.3, 0.4}, 0.9);
}

double copied_arrays(double x) {
  double a[2]{x, x * x}, b[2][2]{{x, 1}, {2, x * 3}};
  auto kept = [=](int i) { return a[i] * b[1][i]; };
  auto own = [=](double by) mutable {
    a[1] *= by;
    return a[1];
  };
  auto [first, second] = a;
  first *= x;
  a[0] = b[1][0] = 5 * x;
  for (double& e : a) e *= second;
  std::function<double(double)> copy = [=](double by) mutable { return (a[0] *= by) + own(by); };
  return copy(x) * copy(3) + kept(0) + kept(1) * own(x) * own(2) + first * second + a[0] * a[1] * b[1][0];
}
TEST(Fuzzed, AnArrayIsCapturedAndBoundByValue) { EXPECT_GRADIENT(copied_arrays, 0.7); }

double uses(const double& a, const double& b, double& c) {
  c -= 0.2 * c * a;
  return b;
}
double changes_the_next(double x, double y) {
  const double before = uses(x - 1.5, uses(1.5, y, x), y);
  return before * uses(x, uses(0.5, y, x), y) * x * y;
}
TEST(Fuzzed, AnArgumentIsComputedBeforeTheNextChangesWhatItReads) {
  EXPECT_GRADIENT(changes_the_next, 1.4, 0.9);
}

double array_of_vectors(double x, double y) {
  std::vector<double> v[2]{std::vector<double>{1.5, x}, std::vector<double>(3, 0.9)};
  v[0].at(1) += 0.05 * y;
  v[1][2] *= y;
  return v[0][1] * v[1][2];
}
double of_one(double x) { return array_of_vectors(0.6, x); }
TEST(Fuzzed, TheTangentOfAnArrayOfVectorsHasItsShape) {
  EXPECT_GRADIENT(of_one, 0.7);
  EXPECT_GRADIENT(array_of_vectors, 0.7, 1.3);
}

const double table[3] = {0.5, 1.5, 2.5};
double names_a_constant(double x) {
  const double& c = table[1];
  auto l = [=](double y) { return y * c; };
  auto m = [&](double y) { return l(y) / (c + x); };
  return m(x) * c;
}
TEST(Fuzzed, ALambdaNamesAReferenceToAConstant) { EXPECT_GRADIENT(names_a_constant, 0.7); }

void follows(double& to, const double& from) {
  for (int i = 0; i < 3; ++i) {
    clad::checkpoint_loop(2);
    to = from * 1.5;
  }
}
double follows_itself(double x) {
  follows(x, x);
  return x * x;
}
TEST(Fuzzed, ACheckpointedLoopReadsWhatItChangesUnderAnotherName) { EXPECT_GRADIENT(follows_itself, 0.7); }

double grows(double& r) {
  r *= 1.5;
  return r;
}
double pairs_of_references(double x, double y) {
  double c = x, b = 2;
  double& m = x > 1 ? c : b;
  std::pair<double, double> p{m, grows(c)};
  auto q = std::make_tuple(c, grows(c), c * 2, grows(c));
  std::pair<double, double> r{2 * c, grows(c)};
  return p.first * y + std::get<0>(q) * std::get<2>(q) + r.first * r.second;
}
TEST(Fuzzed, APairReadsItsArgumentsAfterAll) {
  EXPECT_GRADIENT(pairs_of_references, 1.3, 0.7);
  EXPECT_GRADIENT(pairs_of_references, 0.7, 1.3);
}

}  // namespace
