// Lambdas: captures of every kind, generic, mutable, nested, recursive, passed to functions.
#include <cmath>
#include <functional>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::buffer;

double apply(auto f, double x) { return f(x) * f(2 * x); }
template <class F>
double twice(F&& f, double x) {
  return f(f(x));
}
double captures(double x, double y) {
  double c = x * y;
  auto by_reference = [&](double t) { return t * c; };
  auto by_value = [=](double t) { return t * c * y; };
  c += by_reference(x);
  auto generic = [](auto p, auto q) { return p * q; };
  auto nested = [&](double t) {
    auto inner = [&, t](double u) { return u * t + c; };
    return inner(t) * by_reference(t);
  };
  auto changes = [&c](double t) { c *= t; };
  changes(x);
  changes(y);
  double d = [&] { return c * x; }();
  auto counts = [k = x * 2, i = 0](double t) mutable {
    k *= t;
    ++i;
    return k * i;
  };
  double e = counts(x) + counts(y);
  return apply(by_reference, x) + twice(by_value, y) * generic(x, c) + nested(x) + d * e + generic(2, x);
}
TEST(Lambdas, CapturesOfEveryKind) { EXPECT_GRADIENT(captures, 1.1, 0.7); }

double in_loops(const double* p, int n) {
  double s = 1;
  auto add = [&](int i, double k) {
    if (i % 2) return;
    s += p[i] * k * s;
  };
  for (int i = 0; i < n; ++i) {
    auto local = [&, i](double t) { return p[i] * t * s; };
    add(i, local(2.0));
    for (int j = 0; j < i; ++j) add(j, local(s) * 0.01);
  }
  return s;
}
TEST(Lambdas, MadeAndCalledInLoops) { EXPECT_GRADIENT(in_loops, (buffer<double>{0.5, 0.6, 0.7}), 3); }

double recursive(double x) {
  auto factorial = [&](auto&& self, int n) -> double {
    if (n <= 1) return x;
    return self(self, n - 1) * x + n;
  };
  return factorial(factorial, 4);
}
TEST(Lambdas, Recursive) { EXPECT_GRADIENT(recursive, 1.1); }

struct Object {
  double a;
  double run(double x) {
    auto read = [this](double y) { return a * y; };
    auto write = [this](double y) { a *= y; };
    double q = read(x);
    write(x);
    [&] { a += q; }();
    return read(q) * a;
  }
  template <class V>
  void reals(V&& v) {
    v(a);
  }
};
TEST(Lambdas, CaptureThis) { EXPECT_METHOD_GRADIENT_IN_PLACE(&Object::run, Object{1.3}, 0.7); }

double later_changes(double x) {
  double a = x * x;
  double& r = a;
  double b[2] = {x, x * x};
  auto by_value = [a, v = b[1]](double y) { return a * y + v; };
  auto by_reference = [&r, &b](double y) { return r * y + b[1]; };
  a = 5 * x;
  b[1] = 3;
  return by_value(x) * by_reference(x) * r;
}
TEST(Lambdas, SeeChangesOnlyOfWhatIsCapturedByReference) { EXPECT_GRADIENT(later_changes, 2.0); }

TEST(Lambdas, GradientsOfLambdas) {
  double c = 3;
  auto by_reference = [&](double x, double y) { return x * x * y * c; };
  EXPECT_GRADIENT(by_reference, 1.1, 2.0);
  auto by_value = [c](double x) { return x * c * std::sin(x); };
  c = 4;
  EXPECT_GRADIENT(by_value, 1.1);
  EXPECT_GRADIENT(by_reference, 1.1, 2.0);
  auto none = [](const double* p, int n) {
    double s = 0;
    for (int i = 0; i < n; ++i) s += p[i] * p[i];
    return s;
  };
  EXPECT_GRADIENT(none, (buffer<double>{1, 2}), 2);
}

double copied(double x) {
  auto l = [acc = x](double y) mutable {
    acc *= y;
    return acc;
  };
  auto m = l;
  double a = l(x) * m(x * 2);
  auto call = [](auto f, double y) { return f(y); };
  double b = call(l, x);
  return a * b * l(x * 3);
}
TEST(Lambdas, ACopyOfAMutableLambdaHasItsOwnState) { EXPECT_GRADIENT(copied, 0.8); }

double reference_by_value(double x) {
  double a = x * x;
  double& r = a;
  auto l = [r](double y) { return r * y; };
  a = 5 * x;
  return l(x) * r;
}
TEST(Lambdas, CapturingAReferenceByValueCopiesItsTarget) { EXPECT_GRADIENT(reference_by_value, 2.0); }

struct Copied {
  double k;
  double copies_itself(double x) {
    auto before = [*this](double y) { return k * y * k; };
    k *= x;
    auto own = [*this](double y) mutable {
      k *= y;
      return k;
    };
    auto copy = own;
    return before(x) * k + own(x) * own(x) * copy(x);
  }
  double beside_a_pointer(double x, const double* p) const {
    auto l = [this, p](double y) { return k * y * p[0]; };
    return l(x) * l(x);
  }
};
double captured_objects(double x) {
  Copied o{x};
  const double a[] = {x};
  return o.copies_itself(x * 2) * o.beside_a_pointer(x, a);
}
TEST(Lambdas, CapturingThisAndACopyOfIt) { EXPECT_GRADIENT(captured_objects, 0.7); }

template <class Op>
double fold(const std::vector<double>& v, double s, Op op) {
  for (double e : v) s = op(s, e);
  return s;
}
struct Product {
  double v;
  Product operator+(const Product& o) const { return {v * o.v + o.v}; }
};
double library_functors(double x) {
  std::vector<double> v{x, x * x, 2};
  const double a = std::plus<>{}(x, x * 2) * std::multiplies<double>()(x, 3);
  const Product p{x}, q{x * 2};
  return fold(v, 1, std::multiplies<>{}) * fold(v, 0, std::plus<double>()) * fold(v, x, std::divides<>()) *
         fold(v, a, std::minus<>{}) * std::negate<>{}(x)*std::plus<>{}(p, q).v;
}
TEST(Lambdas, FunctionObjectsOfTheLibrary) { EXPECT_GRADIENT(library_functors, 0.7); }

template <class F>
auto doubled(F f) {
  return [f](double t) { return f(f(t)); };
}
auto counting(double start) {
  return [start](double step) mutable {
    start += step;
    return start * start;
  };
}
std::function<double(double)> scaled(double k) {
  return [k](double t) { return k * t * t; };
}
double returned_by_calls(double x, double y) {
  const auto compose = [](auto f, auto g) { return [=](double t) { return f(g(t)); }; };
  const auto both = compose([y](double t) { return t * y; }, [](double t) { return t * t; });
  const auto curried = [](double a) {
    return [a](double b) { return [a, b](double c) { return a * b + c * a; }; };
  };
  const auto wave = doubled([y](double t) { return std::sin(t) * y; });
  const auto inner = [x](double t) { return x * t; };
  const auto outer = [kept = inner, k = y * x](double t) { return kept(t) * k; };
  auto counter = counting(x);
  const double first = counter(y);
  auto copy = counter;
  std::function<double(double)> h = scaled(y);
  return both(x) * both(y) + curried(x)(y)(x * y) + wave(x) * doubled(wave)(y) + outer(y) * inner(x) +
         first * copy(x) * counter(y) + h(x) * scaled(x * y)(x);
}
double returned_regardless(double x, double y) {
  const auto made = [&](double) { return [y](double v) { return v * v * y; }; };
  return made(x)(y) * x;
}
TEST(Lambdas, AreReturnedByFunctionsAndLambdas) {
  EXPECT_GRADIENT(returned_by_calls, 1.3, 0.7);
  EXPECT_GRADIENT(returned_regardless, 1.3, 0.7);
}

template <auto Fn = +[](double v) { return v * v; }>
double twice_of(double v) {
  return Fn(v) * 2;
}
template <class F = decltype([](double v) { return v * v; })>
double of_default(double v, F f = {}) {
  return f(v) * F{}(v);
}
template <class Greater = decltype([](double a, double b) { return a > b; })>
struct Greatest {
  double best;
  Greater greater{};
  void add(double v) {
    if (greater(v, best)) best = v;
  }
};
template <double (*Fn)(double)>
struct Times {
  double k;
  double run(double v) const { return Fn(v) * k; }
  static double squared(double v) { return Fn(v) * Fn(v); }
};
double of_templates(double x, double y) {
  using Best = Greatest<>;
  Best t{x};
  t.add(y);
  t.add(x * 2);
  Best u = t;
  u.best *= y;
  std::vector<Best> both{t, u};
  both[1].add(x * 9);
  Times<+[](double v) { return v * v * v; }> times{y};
  using Wave = Times<[](double v) { return std::sin(v); }>;
  return twice_of<>(x) * twice_of<[](double v) { return v * v * v; }>(y) + of_default(x) * t.best +
         both[1].best + times.run(x) * Wave::squared(y);
}
TEST(Lambdas, AreArgumentsOfTemplates) { EXPECT_GRADIENT(of_templates, 1.3, 0.7); }

double through_pointers(double x, double y) {
  auto ratio = +[](double a, double b) { return a / b; };
  double (*const product)(double, double) = +[](double a, double b) { return a * b; };
  return ratio(x, y) * product(x, x);
}
TEST(Lambdas, AreFunctionPointers) { EXPECT_GRADIENT(through_pointers, 1.3, 0.7); }

// Pointers captured by reference.
double moves_a_pointer(double x, double y) {
  int values[4] = {1, 2, 3, 4};
  const int* p = values;
  auto next = [&p] { return *p++; };
  [&] { p += 1; }();
  double s = x * next();
  return s * y + x * next();
}
double writes_along(double x, double y) {
  int values[4] = {1, 2, 3, 4};
  int* p = values;
  auto push = [&](int v) { *p++ = v; };
  push(5);
  push(6);
  return x * values[0] * y + x * values[1] * (p - values);
}
double reads_what_moves(double x, double y) {
  const int counts[6] = {1, 2, 3, 4, 5, 6};
  double values[4] = {x, 2, y, 4};
  const int* row = counts;
  double* v = values;
  auto of = [&](int j) { return row[j] * v[j]; };
  double s = of(1);
  row += 3;
  v += 2;
  return s * y + of(0) * of(1);
}
const int one[2] = {1, 2}, other[2] = {5, 7};
double chooses_a_table(double x, double y) {
  const int* t = one;
  auto set = [&](bool b) { t = b ? other : one; };
  double s = x * t[0];
  set(true);
  return s * y + x * t[1];
}
double parses(double x, double y) {
  const char* p = "a*b+b";
  auto eat = [&](char c) { return *p == c && ++p; };
  auto atom = [&]() -> double { return *p++ == 'a' ? x : y; };
  double sum = atom();
  while (*p) {
    if (eat('*')) sum *= atom();
    if (eat('+')) sum += atom();
  }
  return sum * x;
}
struct Link {
  int v;
  const Link* next;
};
double walks(double x, double y) {
  static const Link last{3, nullptr}, middle{2, &last}, start{1, &middle};
  const Link* p = &start;
  auto pop = [&] {
    int v = p->v;
    p = p->next;
    return v;
  };
  double s = x * pop();
  s *= y * pop();
  return s + x * pop();
}
TEST(Lambdas, MovePointersTheyCapture) {
  EXPECT_GRADIENT(moves_a_pointer, 1.3, 0.7);
  EXPECT_GRADIENT(writes_along, 1.3, 0.7);
  EXPECT_GRADIENT(reads_what_moves, 1.3, 0.7);
  EXPECT_GRADIENT(chooses_a_table, 1.3, 0.7);
  EXPECT_GRADIENT(parses, 1.3, 0.7);
  EXPECT_GRADIENT(walks, 1.3, 0.7);
}

}  // namespace
