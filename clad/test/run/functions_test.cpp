// Calls, recursion, templates, side effects of callees, names.
#include <algorithm>
#include <any>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

struct iteration {
  double b;
};
struct lambda {
  double c;
};

namespace {

struct t {
  double v;
};
struct self {
  double a;
  double square() const { return a * a; }
};
struct d_x {
  double v;
};
struct frame {
  double v;
};

using clad::test::buffer;

double odd(double x, int n);
double even(double x, int n) {
  if (n == 0) return 1;
  return x * odd(x * 0.9, n - 1);
}
double odd(double x, int n) {
  if (n == 0) return x;
  double y = x * x;
  return y + even(y, n - 1);
}
double fib(double x, int n) { return n < 2 ? x * n : fib(x * x, n - 1) + fib(x, n - 2); }
void sum(const double* p, int n, double& out) {
  if (n == 0) return;
  out = out * p[0] + p[0];
  sum(p + 1, n - 1, out);
}
double summed(const double* p, int n) {
  double s = 1;
  sum(p, n, s);
  return s;
}
double recursive(double x) { return even(x, 5) + fib(x, 5); }
TEST(Functions, RecursionAlsoMutual) {
  EXPECT_GRADIENT(recursive, 1.1);
  EXPECT_GRADIENT(summed, (buffer<double>{0.5, 0.6, 0.7, 0.8}), 4);
  EXPECT_GRADIENT(fib, 0.9, 6);
}

double g(double a, double b) { return a * a * b; }
double h(const double& a, double b) {
  double t = a;
  t *= b;
  return t;
}
double activities(double x) {
  return g(x, 2) + g(2, x) + g(x, x) + g(x * x, g(x, 3)) * h(x, x) + h(3, x) + h(x, 3) + h(x + 1, x) +
         g(2, 3);
}
TEST(Functions, OneFunctionCalledWithDifferentActiveArguments) { EXPECT_GRADIENT(activities, 1.3); }

double unnamed(double x, double, int = 3) { return x; }
double defaulted(double x, double k = 2, double m = 3 * 2) { return x * k + m; }
double default_arguments(double x) {
  return unnamed(x, x) * defaulted(x) + defaulted(x, x) * defaulted(2, x, x);
}
TEST(Functions, DefaultArgumentsAndUnnamedParameters) { EXPECT_GRADIENT(default_arguments, 1.3); }

void outputs(double x, double& square, double* cube, int& count) {
  square = x * x;
  *cube = square * x;
  ++count;
}
double several_results(double x) {
  double s, c[2] = {1, 2};
  int n = 0;
  outputs(x, s, c + 1, n);
  outputs(s * c[n], c[0], &s, n);
  return s * c[0] * c[1] * n;
}
TEST(Functions, ResultsThroughReferencesAndPointers) { EXPECT_GRADIENT(several_results, 0.8); }

double advance(double x, int& i) {
  i += 2;
  return x * 3;
}
double indices_changed_by_calls(double x, const double* a) {
  int i = 0;
  double y = a[i] * advance(x, i);
  double z = a[i] * x * x;
  y *= advance(z, i);
  return y * z * a[i];
}
TEST(Functions, AnIndexChangedByACalleeIsPutBack) {
  EXPECT_GRADIENT(indices_changed_by_calls, 2.0, (buffer<double>{1, 2, 3, 4, 5}));
}

void bump(int& i) { i += 1; }
double inactive_callee(double x, const double* a) {
  int i = 0;
  double y = a[i] * x;
  bump(i);
  y *= a[i] * x;
  for (int k = 0; k < 2; ++k) {
    y *= a[i] * x;
    bump(i);
  }
  return y;
}
TEST(Functions, AnIndexChangedByAFunctionWithoutDerivative) {
  EXPECT_GRADIENT(inactive_callee, 2.0, (buffer<double>{1, 2, 3, 4, 5}));
}

template <class T>
T square(T x) {
  return x * x;
}
template <int N, class T>
T power(T x) {
  if constexpr (N == 0)
    return T(1);
  else
    return x * power<N - 1>(x);
}
template <class... A>
auto add(A... a) {
  return (a + ...);
}
template <class... A>
double scale(double s, A... a) {
  ((s *= a), ...);
  return s;
}
template <class A, class... R>
double alternate(A a, R... r) {
  if constexpr (sizeof...(R) == 0)
    return a;
  else
    return a - alternate(r...);
}
template <class T, int N>
struct Vec {
  T v[N];
  T dot(const Vec& o) const {
    T s = 0;
    for (int i = 0; i < N; ++i) s += v[i] * o.v[i];
    return s;
  }
  template <class U>
  T at(U i) const {
    return v[i];
  }
  template <class W>
  void reals(W&& w) {
    for (T& e : v) w(e);
  }
};
template <class T>
struct Box {
  T t;
  T& get() { return t; }
  const T& get() const { return t; }
};
struct Count {
  int n;
  template <class U>
  U as() const {
    return U(n);
  }
  template <int K, class U = double, class... V>
  U times(V... v) const {
    return U(n * K + (v + ... + 0));
  }
  template <class U>
  static U two() {
    return 2;
  }
};
template <class C>
double written_arguments(double x, double y, const C& c) {
  std::any kept = 3.0;
  return x * y * c.template as<double>() + x * c.template times<2>() * C::template two<int>() +
         y * c.template times<3, float, long>(1, 2) * std::any_cast<double>(kept) *
             std::max<double>(c.n, 2.5);
}
struct Policy {
  static double apply(double x) { return x * x; }
  static constexpr double k = 3;
};
template <class P>
double with_policy(double x) {
  return P::apply(x) * P::k;
}
double templates(double x, double y) {
  Vec<double, 3> a{x, y, x * y}, b{1, x, 2};
  Box<Vec<double, 3>> box{a};
  box.get().v[1] *= x;
  return square(x) + power<4>(y) + add(x, y, x * y, 2) + scale(x, y, x, 2) + alternate(x, y, 3, x) +
         a.dot(b) * box.get().dot(a) + a.at(1u) + with_policy<Policy>(x);
}
TEST(Functions, TemplatesPacksFoldsAndIfConstexpr) {
  EXPECT_GRADIENT(templates, 1.1, 0.7);
  EXPECT_GRADIENT(written_arguments<Count>, 1.1, 0.7, Count{3});
  EXPECT_GRADIENT(square<double>, 2.0);
  EXPECT_METHOD_GRADIENT((&Vec<double, 3>::dot), (Vec<double, 3>{1, 2, 3}), (Vec<double, 3>{4, 5, 6}));
}

double generated_names(double s, double r, double d_x, double x) {
  double self = s * r, state = d_x * x, loop = 1, taken = x;
  for (int i = 0; i < 2; ++i) {
    double r = loop * x;
    if (r > 0) {
      double s = r * taken;
      loop += s * r;
    } else {
      loop = 2;
    }
    taken *= 0.5;
  }
  double t = self * state * loop, d = 3, d_result = x, result = d;
  t *= d_result;
  if (t > 1e9) return result;
  return t * result;
}
double names_of_functions(double x) {
  double g_rev = x * 2, g_fwd = x;
  double g_state = g(x, g_fwd);
  double g_grad = 1;
  for (int i = 0; i < 2; ++i) g_state *= g(g_rev, g_grad);
  return g_state * g_rev;
}
TEST(Functions, NamesThatTheGeneratedCodeUsesToo) {
  EXPECT_GRADIENT(generated_names, 1.0, 2.0, 0.5, 0.7);
  EXPECT_GRADIENT(names_of_functions, 0.7);
}

double names_of_the_library(double sqrt, double pow) {
  double exp = std::exp(sqrt), sin = 2;
  for (int i = 0; i < 2; ++i) {
    sin *= std::sin(exp * sin);
    exp += std::exp(sin) + std::sqrt(exp);
  }
  return exp * sin * std::sqrt(sqrt) * std::pow(pow, sqrt);
}
double names_of_types(double iteration, double lambda) {
  struct iteration it{iteration * lambda};
  double std = it.b;
  for (int i = 0; i < 2; ++i) {
    struct lambda l{std};
    std *= l.c + iteration;
  }
  return std;
}
// The generated code names variables and parameters as these types of an anonymous namespace.
double types_named_as_generated_variables(double x, frame f) {
  t a{x};
  double s = 1;
  for (int i = 0; i < 3; ++i) {
    struct d_x d{s + f.v};
    double frame = d.v;
    s += std::sin(s) * a.v * frame;
  }
  self o{x};
  return s * x * o.square();
}
double results(double result, double d_result) { return result * d_result; }
TEST(Functions, TypesNamedAsGeneratedVariables) {
  auto of_frame = [](double x, double v) { return types_named_as_generated_variables(x, frame{v}); };
  EXPECT_GRADIENT(of_frame, 0.7, 0.2);
  frame f{0.2}, d_f{};
  double d_v = 0;
  clad::gradient(types_named_as_generated_variables, "f").execute(0.7, f, &d_f);
  clad::gradient(of_frame, "v").execute(0.7, 0.2, &d_v);
  EXPECT_EQ(d_f.v, d_v);
  EXPECT_GRADIENT(results, 0.3, 0.7);
}
TEST(Functions, VariablesNamedAsFunctionsAndTypes) {
  EXPECT_GRADIENT(names_of_the_library, 0.3, 0.7);
  EXPECT_GRADIENT(names_of_types, 0.8, 0.7);
}

}  // namespace

namespace outer {
double square(double x) { return x * x * x; }
inline namespace v1 {
double cube(double x) { return x * x * x; }
}  // namespace v1
double f(double x) {
  double square = outer::square(x);
  double d = ::square<double>(square);
  return d * square * cube(x);
}
TEST(Functions, NamespacesAndLocalNamesThatHideFunctions) { EXPECT_GRADIENT(outer::f, 1.2); }
double constant_of(double q) { return q * q; }
double starts_inactive(double x) {
  double v = constant_of(1.5);
  v += 0.5 * x;
  return v * v;
}
TEST(Functions, AVariableThatStartsAsTheResultOfAnInactiveCall) { EXPECT_GRADIENT(starts_inactive, 0.7); }

struct Scheme {
  int steps;
  double h;
};
template <Scheme S>
double logistic(double u, double k) {
  for (int i = 0; i < S.steps; ++i) u += S.h * k * u * (1 - u);
  return u;
}
template <double K>
double scaled(double v) {
  return K * v * v;
}
template <double A>
struct Gain {
  double w;
  double operator()(double v) const { return A * w * v; }
};
template <class T>
constexpr T third_v = T(1) / 3;
double constants_of_templates(double x, double y) {
  return logistic<Scheme{5, 1.0 / 7}>(x, y) + scaled<1.0 / 3>(x) * third_v<double> * Gain<1.0 / 9>{y}(x);
}

double& larger(double& u, double& v) { return u > v ? u : v; }
double* larger(double* u, double* v) {
  if (*u > *v) return u;
  return v;
}
double choose_among_chosen(double x, double y) {
  double a = x, b = y, c[2] = {x * y, x};
  int i = 0;
  double& r = larger(larger(a, b), c[i++]);
  r *= r;
  larger(c[i], larger(c[0], a)) *= y;
  double* p = larger(larger(&a, &b), &c[--i]);
  *p *= *larger(c, larger(&b, &a));
  return a + b * c[0] + c[1];
}
TEST(Functions, ChooseAmongWhatOthersChose) { EXPECT_GRADIENT(choose_among_chosen, 1.3, 0.7); }

template <std::size_t... I, class T>
double product_at(const T& t, std::index_sequence<I...>) {
  return (t.v[I] * ...);
}
struct Listed {
  double v[2];
};
double packs_before_others(double x, double y) {
  const double s = product_at(Listed{{x, y}}, std::make_index_sequence<2>{});
  return s * s * x;
}
TEST(Functions, HaveConstantsAsTemplateArguments) { EXPECT_GRADIENT(constants_of_templates, 0.3, 0.7); }

template <auto C>
double times(double x) {
  const int sign = x > 0 ? 1 : -1;  // what is less than int is one in arithmetic
  return x * (sizeof(C) < 4 ? C - 250 + sign : C) * C;
}
template <unsigned char C>
double times_byte(double x) {
  return x * C;
}
template <std::uint8_t C, short... S>
struct Fixed {
  double v;
  double get() const { return v * C * (x_ + ... + S); }
  struct Inner {
    double w;
  };
  static constexpr double x_ = 2;
};
template <class T>
double squared(const T& a) {
  return a.get() * a.get();
}
enum class Level : unsigned char { high = 200 };
struct Owner {
  enum Kind { a = -3 };
};
template <Level L, Owner::Kind K>
double enumerated(double x) {
  return x * static_cast<int>(L) * K;
}
struct Mixed {
  unsigned char c;
  short s;
  Level l;
};
template <Mixed M>
double structural(double x) {
  return x * M.c * M.s * static_cast<int>(M.l);
}
double bytes_and_shorts(double x, double y) {
  return 1e-4 * (times<static_cast<unsigned char>(200)>(x) * y + times<static_cast<short>(-3)>(y) * x +
                 times<static_cast<unsigned short>(300)>(x) * times<'a'>(y) + times<u'b'>(y) +
                 times<U'c'>(x) * times<L'd'>(y) + times<5ULL>(x) * y + times_byte<250>(x));
}
double least_of_all(double x, double y) {
  return times<std::numeric_limits<int>::min()>(x) * y * 1e-18 +
         times<std::numeric_limits<long>::min()>(x) * y * 1e-36;
}
double types_of_bytes(double x, double y) {
  Fixed<200, -3, 4> a{x};
  std::vector<Fixed<200>> all{{x}, {y}};
  Fixed<130>::Inner inner{x};
  inner.w *= y;
  const Fixed<130>::Inner copy = inner;
  double s = squared(a);
  for (const auto& f : all) s += squared(f) * copy.w;
  return 1e-4 * s;
}
double enumerations_of_bytes(double x, double y) {
  return 1e-6 * (enumerated<Level::high, Owner::a>(x) * y +
                 enumerated<static_cast<Level>(250), static_cast<Owner::Kind>(-2)>(y) +
                 structural<Mixed{200, -3, Level::high}>(x) * y);
}
constexpr std::uint8_t of_a_byte = 200;
constexpr unsigned short of_a_short = 3;
double constants_less_than_int(double x, double y) {
  const int n = y > 0 ? 2 : 1;
  return x * (of_a_byte - 250 + n) * y * (n - of_a_short) * x;
}
TEST(Functions, HaveConstantsOfEveryTypeAsTemplateArguments) {
  EXPECT_DERIVATIVES(bytes_and_shorts, 1.3, 0.7);
  EXPECT_DERIVATIVES(least_of_all, 1.3, 0.7);
  EXPECT_DERIVATIVES(types_of_bytes, 0.3, 0.7);
  EXPECT_DERIVATIVES(enumerations_of_bytes, 1.3, 0.7);
  EXPECT_DERIVATIVES(constants_less_than_int, 1.3, 0.7);
}

template <int N = 1>
double times_square(double x) {
  return N * x * x;
}
double overloaded(double x) { return x * x; }
double overloaded(double x, double y) { return x * y; }
template <double (*F)(double)>
double twice(double x) {
  return F(F(x));
}
template <auto F>
double once(double x) {
  return F(x) * 2;
}
template <auto& F>
double by_reference(double x) {
  return F(x) * 3;
}
template <unsigned char C>
struct Curves {
  template <short S>
  static double scaled(double x) {
    return S * x * C * 1e-2;
  }
};
template <auto F>
struct Holder {
  double v;
  double get() const { return F(v); }
};
struct Ray {
  double r;
  double at(double q) const { return q * r; }
  double at(double q) { return q * r * r; }
};
template <auto M>
double member_of(const Ray& v, double q) {
  return (v.*M)(q);
}
double functions_of_templates(double x, double y) {
  const Holder<times_square<2>> h{x};
  const Ray p{x};
  return twice<times_square<2>>(y) * x + twice<times_square<>>(x) + twice<std::sin>(x) * y + h.get() * y +
         twice<Curves<200>::scaled<-3>>(x) + by_reference<times_square<3>>(y) * x;
}
double overloads_of_templates(double x, double y) {
  const Ray p{x};
  return once<static_cast<double (*)(double)>(overloaded)>(x) * y + twice<overloaded>(y) * x +
         member_of<static_cast<double (Ray::*)(double) const>(&Ray::at)>(p, y);
}
TEST(Functions, HaveFunctionsAsTemplateArguments) {
  EXPECT_DERIVATIVES(functions_of_templates, 0.3, 0.7);
  EXPECT_DERIVATIVES(overloads_of_templates, 0.3, 0.7);
}

TEST(Functions, HavePacksBeforeOtherTemplateArguments) { EXPECT_GRADIENT(packs_before_others, 1.3, 0.7); }

}  // namespace outer
