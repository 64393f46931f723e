// Algorithms of the standard library.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

using clad::test::buffer;
using vec = std::vector<double>;

namespace {

double sums(const vec& v, double x) {
  return std::accumulate(v.begin(), v.end(), 0.0) * x + std::accumulate(v.rbegin(), v.rend() - 1, x) +
         std::accumulate(v.begin(), v.begin(), x * x);
}
double products(const vec& v, double x) {
  return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<double>()) +
         std::accumulate(v.begin(), v.end(), x, [&](double a, double b) { return a * x + b * b; }) +
         std::accumulate(v.cbegin(), v.cend(), 2.0, std::multiplies<>{});
}
double of_arrays(const double* p, int n) {
  double a[3] = {p[0], p[1] * p[0], 2};
  return std::accumulate(a, a + 3, 0.0) * std::accumulate(std::begin(a), std::end(a), p[0]) +
         std::accumulate(p, p + n, 1.0);
}
double inner_products(const vec& v, const vec& w) {
  return std::inner_product(v.begin(), v.end(), w.begin(), 0.0) *
             std::inner_product(v.begin(), v.end(), v.begin(), 1.0) +
         std::inner_product(v.begin(), v.end(), w.begin(), 0.0, std::plus<>(),
                            [](double a, double b) { return (a - b) * (a - b); });
}
double reductions(const std::array<double, 3>& v) {
  return std::reduce(v.begin(), v.end()) + std::reduce(v.begin(), v.end(), 2.0) +
         std::transform_reduce(v.begin(), v.end(), v.begin(), 0.0) +
         std::transform_reduce(v.begin(), v.end(), 0.0, std::plus<>(), [](double t) { return t * t * t; });
}
double transforms(const vec& v, double x) {
  vec w(v.size()), u(v.size());
  std::transform(v.begin(), v.end(), w.begin(), [&](double t) { return t * t * x; });
  auto end = std::transform(v.begin(), v.end(), w.begin(), u.begin(), std::multiplies<double>());
  return w[0] + w[1] * w[2] + u[0] * u[2] * *(end - 1);
}
double transforms_in_place(vec v, double x) {
  std::transform(v.begin(), v.end(), v.begin(), [x](double t) { return t * x; });
  std::transform(v.begin(), v.end() - 1, v.begin() + 1, v.begin(), [](double a, double b) { return a * b; });
  return v[0] * v[1] + v[2];
}
double for_each(vec v, double x) {
  double s = 0;
  std::for_each(v.begin(), v.end(), [&](double t) { s += t * t; });
  std::for_each(v.begin(), v.end(), [&](double& t) { t *= x; });
  return s * v[0] + v[1] * v[2];
}
double over_integers(double x, double y) {
  std::vector<int> k(3);
  std::iota(k.begin(), k.end(), 1);
  double s = 0;
  std::for_each(k.begin(), k.end(), [&](int i) { s += i * x * s + y; });
  return s;
}
double fills(double x, double y) {
  vec v(3), w(5);
  std::fill(v.begin(), v.end(), x * y);
  auto next = std::copy(v.begin(), v.end(), w.begin());
  next = std::fill_n(next, 1, y);
  *next = x;
  std::copy_n(w.begin() + 2, 2, v.begin());
  double a[3];
  std::fill(a, a + 3, x);
  std::fill(a + 1, a + 2, a[0] * y);
  return v[0] * v[1] + w[2] * w[3] * w[4] + a[0] * a[1];
}
double fills_with_an_element(vec v) {
  std::fill(v.begin(), v.end(), v[1]);
  return v[0] * v[2];
}
double counts(double x) {
  vec v(4);
  std::iota(v.begin(), v.end(), x);
  double k = 1;
  std::generate(v.begin(), v.begin() + 2, [&] { return k *= x; });
  return v[0] * v[1] + v[2] * v[3];
}
double running(const vec& v) {
  vec w(v.size()), u(v.size());
  std::partial_sum(v.begin(), v.end(), w.begin());
  std::partial_sum(v.begin(), v.end(), u.begin(), std::multiplies<double>());
  std::adjacent_difference(w.begin(), w.end(), w.begin());
  return w[0] * w[2] + u[2] * u[1];
}
double moves_around(vec v) {
  std::reverse(v.begin(), v.end());
  std::rotate(v.begin(), v.begin() + 1, v.end());
  std::swap_ranges(v.begin(), v.begin() + 1, v.end() - 1);
  std::copy_backward(v.begin(), v.begin() + 2, v.begin() + 3);
  return v[0] * 2 + v[1] * v[2] * v[2] + std::exchange(v[0], v[1] * 2) * v[0];
}
double sorts(vec v) {
  std::sort(v.begin(), v.end());
  double s = 0;
  for (std::size_t i = 0; i < v.size(); ++i) s += v[i] * v[i] * (i + 1);
  std::sort(v.begin(), v.end(), [](double a, double b) { return a > b; });
  std::sort(v.begin(), v.begin() + 2, std::less<>());
  return s * v[0] + v[1] * v[3];
}
double sorts_in_part(vec v) {
  vec w = v;
  std::partial_sort(v.begin(), v.begin() + 2, v.end(), [](double a, double b) { return a > b; });
  const std::size_t middle = w.size() / 2;
  std::nth_element(w.begin(), w.begin() + middle, w.end());
  return v[0] * v[1] * v[1] + w[middle] * v[0];
}
double divides(double x, double y) {
  vec v{x, -1, y, -x * y, 2 * x, -y, 3}, w = v, merged(7);
  const auto middle = std::partition(v.begin(), v.end(), [](double t) { return t > 0; });
  const auto larger = std::stable_partition(w.begin(), w.end(), [=](double t) { return t > x; });
  const double a[] = {0, x, 3}, b[] = {y * y, 1, 2 * x, 4};
  const auto end = std::merge(a, a + 3, b, b + 4, merged.begin());
  double s = static_cast<double>((middle - v.begin()) * (end - merged.begin())) * *larger;
  for (std::size_t i = 0; i < v.size(); ++i) s = s * 0.5 + v[i] * w[i] * merged[i] * (i + 1);
  std::merge(a + 1, a + 2, b, b + 1, merged.rbegin(), std::greater<>());
  return s + merged[6] * merged[6] * merged[5];
}
double extremes(const vec& v, double x) {
  auto it = std::max_element(v.begin(), v.end());
  return *it * x + *std::min_element(v.begin() + 1, v.end()) * (it - v.begin()) +
         *std::max_element(v.begin(), v.end(), [](double a, double b) { return a * a < b * b; });
}
double lists(double x, double y) {
  return std::min({x, y, x * y}) * std::max({x, y, 2.0}) + std::max({x * x, y});
}
double interpolates(const vec& x, const vec& y, double at) {
  auto upper = std::upper_bound(x.begin(), x.end(), at);
  const auto i = std::distance(x.begin(), upper) - 1;
  const double t = (at - x[i]) / (x[i + 1] - x[i]);
  return (1 - t) * y[i] + t * y[i + 1] * *std::lower_bound(y.begin(), y.end(), 1.0);
}
struct Node {
  double at, value;
};
bool before(int at, const Node& n) { return at < n.at; }
double looks_up(const Node* nodes, int n, double x) {
  const Node* upper =
      std::lower_bound(nodes, nodes + n, x, [](const Node& node, double at) { return node.at < at; });
  const Node& lower = upper[-1];
  return lower.value + (upper->value - lower.value) * (x - lower.at) / (upper->at - lower.at);
}
double searches_tables(double x, double y) {
  const std::vector<Node> nodes{{0, y}, {1, x}, {2, x * y}};
  const Node local[] = {{0, 1}, {1, y}, {2 * y, 3 * y}};
  const std::vector<int> levels{1, 3, 5};
  const auto less = [](double at, const Node& node) { return at < node.at; };
  const auto level = std::upper_bound(levels.begin(), levels.end(), 3, std::less<>()) - levels.begin();
  const vec falling{3, 2, y};
  return std::upper_bound(nodes.begin(), nodes.end(), x, less)->value * looks_up(local, 3, x) +
         std::upper_bound(nodes.begin(), nodes.end(), 0, before)->value * static_cast<double>(level) +
         *std::lower_bound(falling.begin(), falling.end(), x, std::greater<double>()) * x;
}
double searches(const vec& v, double x) {
  const bool any = std::any_of(v.begin(), v.end(), [&](double t) { return t > x; });
  const auto n = std::count_if(v.begin(), v.end(), [](double t) { return t > 1; });
  auto found = std::find_if(v.begin(), v.end(), [](double t) { return t > 1; });
  return (any ? x : 1) * static_cast<double>(n) * *found;
}
double copies_bytes(const double* p, double x) {
  double a[3], b[3];
  std::memcpy(a, p, sizeof a);
  memcpy(b, a, 3 * sizeof(double));
  b[0] *= x;
  std::memset(a, 0, 2 * sizeof(double));
  return a[0] + a[2] * b[0] * b[1];
}
struct Cell {
  double m[2][2], rest = 3;
  int n = 4;
};
void clear_rows(double (*rows)[3], int n) { std::memset(rows, 0, n * sizeof *rows); }
double copies_objects(double x, double y) {
  double a[3][3], b[3][3], c[2][2][2] = {{{x, y}, {y, 3}}, {{x, 1}, {y, x}}}, d[2][2];
  std::memset(a, 0, sizeof a);
  a[1][2] = x;
  a[0][1] = y;
  a[0][2] = x * y;
  std::memcpy(b, a, sizeof a);
  std::memset(b, 0, 2 * sizeof(double));
  std::memmove(a + 1, a, 6 * sizeof(double));
  std::memcpy(d, c[1], sizeof d);
  clear_rows(b + 2, 1);
  Cell cells[3], one;
  one.rest *= x;
  std::memset(cells, 0, sizeof cells);
  cells[1].m[1][0] = y;
  std::memcpy(&cells[2], &cells[1], sizeof(Cell));
  cells[2].rest += x + cells[0].n;
  std::memset(&one, 0, sizeof one);
  one.rest += y;
  return b[1][2] * b[0][2] + b[0][1] + a[2][2] * a[1][1] + d[0][0] * d[1][0] * d[1][1] +
         cells[2].m[1][0] * cells[2].rest * cells[1].m[1][0] + cells[1].rest + one.rest * x;
}
double square(double t) { return t * t; }
double with_functions(const vec& v) {
  vec w(v.size());
  std::transform(v.begin(), v.end(), w.begin(), square);
  std::transform(w.begin(), w.end(), w.begin(), static_cast<double (*)(double)>(std::sin));
  return w[0] * w[1];
}

const vec kNumbers{0.3, 1.2, 0.7};

double larger_or_parameter(double x, const double& p, double q) {
  q = x > 1 ? std::max<double>(x * 2, std::sin(x)) : p;
  const double& r = x > 1 ? p : std::min(q, x + p);  // the temporary is the larger
  return q * x + r;
}
TEST(Library, ChoosesAmongReferencesToTemporaries) {
  for (double x : {0.5, 1.5}) EXPECT_GRADIENT(larger_or_parameter, x, 0.7, 0.3);
}
TEST(Library, Sums) {
  EXPECT_GRADIENT(sums, kNumbers, 1.3);
  EXPECT_GRADIENT(products, kNumbers, 1.3);
  EXPECT_GRADIENT(of_arrays, buffer{0.3, 1.2}, 2);
  EXPECT_GRADIENT(inner_products, kNumbers, vec{0.5, 2, 1.5});
  EXPECT_GRADIENT(reductions, std::array<double, 3>{0.3, 1.2, 0.7});
}
TEST(Library, WritesRanges) {
  EXPECT_GRADIENT(transforms, kNumbers, 1.3);
  EXPECT_GRADIENT(transforms_in_place, kNumbers, 1.3);
  EXPECT_GRADIENT(for_each, kNumbers, 1.3);
  EXPECT_GRADIENT(over_integers, 1.3, 0.7);
  EXPECT_GRADIENT(fills, 1.3, 0.7);
  EXPECT_GRADIENT(fills_with_an_element, kNumbers);
  EXPECT_GRADIENT(counts, 1.3);
  EXPECT_GRADIENT(running, kNumbers);
  EXPECT_GRADIENT(moves_around, kNumbers);
  EXPECT_GRADIENT(copies_bytes, buffer{0.3, 1.2, 0.7}, 1.3);
  EXPECT_GRADIENT(copies_objects, 1.3, 0.7);
  EXPECT_GRADIENT(with_functions, kNumbers);
}
TEST(Library, Orders) {
  EXPECT_GRADIENT(sorts, vec{0.3, 1.2, 0.7, 2.1, 0.1});
  EXPECT_GRADIENT(sorts_in_part, vec{0.3, 1.2, 0.7, 2.1, 0.1});
  EXPECT_GRADIENT(divides, 1.3, 0.7);
  EXPECT_GRADIENT(extremes, kNumbers, 1.3);
  EXPECT_GRADIENT(lists, 1.3, 0.7);
  EXPECT_GRADIENT(lists, 0.3, 1.7);
  EXPECT_GRADIENT(interpolates, vec{0, 1, 2, 4}, vec{0.5, 1.5, 2.5, 3}, 1.3);
  EXPECT_GRADIENT(searches_tables, 1.3, 0.7);
  EXPECT_GRADIENT(searches, kNumbers, 1.1);
}
TEST(Library, HasSecondDerivatives) {
  double m[4];
  auto h = clad::hessian(inner_products, "v[0:0], w[0:0]");
  h.execute(vec{0.3}, vec{0.5}, m);  // v w (1 + v v) + (v - w)^2
  EXPECT_NEAR(m[0], 6 * 0.3 * 0.5 + 2, 1e-12);
  EXPECT_NEAR(m[1], 1 + 3 * 0.3 * 0.3 - 2, 1e-12);
  EXPECT_NEAR(m[3], 2, 1e-12);
}

struct SumOfSquares {
  double sum = 0;
  int count = 0;
  void operator()(double v) {
    sum += v * v;
    ++count;
  }
};
double returned_function_object(double x, double y) {
  const std::vector<double> v{x, y, x * y};
  const SumOfSquares s = std::for_each(v.begin(), v.end(), SumOfSquares{x});
  return s.sum * s.count;
}
TEST(Library, ForEachReturnsItsFunctionObject) { EXPECT_GRADIENT(returned_function_object, 1.3, 0.7); }

double rising(double x, double y) {
  std::vector<double> v(3);
  std::iota(v.begin(), v.end(), x);
  return v[2] * y * y;
}
TEST(Library, CallsThatOneDirectionOfAHessianLeavesOut) {
  const auto h = clad::hessian(rising);
  double out[4] = {};
  h.execute(1.5, 0.5, out);
  EXPECT_DOUBLE_EQ(out[0], 0);
  EXPECT_DOUBLE_EQ(out[1], 1);
  EXPECT_DOUBLE_EQ(out[2], 1);
  EXPECT_DOUBLE_EQ(out[3], 7);
}

double parts_of_numbers(double x, double y) {
  double whole = 0;
  const double rest = std::modf(x * 3.3, &whole);
  int exponent = 0;
  const double mantissa = std::frexp(y, &exponent);
  return rest * whole * y + mantissa * exponent * x + mantissa * mantissa;
}
double remainders(double x, double y) {
  int quotient = 0;
  const double rest = std::remquo(x * 7, y, &quotient);
  return quotient % 2 ? rest * x : rest * rest - y;
}
TEST(Library, PartsOfNumbers) {
  EXPECT_GRADIENT(parts_of_numbers, 1.3, 0.7);
  EXPECT_GRADIENT(parts_of_numbers, -5.2, 9.0);
  EXPECT_GRADIENT(remainders, 1.3, 0.7);
  EXPECT_GRADIENT(remainders, -5.2, 9.0);
}

double calls_of_arguments(double x, double y) {
  const auto t = std::make_tuple(x * y, y, 2);
  const std::pair<double, double> p{x, y};
  const auto doubled = [](double& v) {
    v *= 2;
    return v * v;
  };
  return std::apply([](double a, double b, int n) { return a * b + n * a; }, t) +
         std::apply([&](auto... all) { return (all * ...) * x; }, p) +
         std::invoke([y](double a, double b) { return a * b * y; }, x, y) * std::invoke(doubled, x) * x *
             std::invoke(parts_of_numbers, x, y);
}
double of_joined_tuples(double x, double y) {
  const std::tuple<double, int> a{x, 2};
  const auto joined = std::tuple_cat(a, std::pair(y, x), std::array<double, 2>{x * y, y}, std::tuple<>());
  const auto [p, n, q, r, s, t] = joined;
  return p * q * r * n + s * t * t + std::get<0>(std::tuple_cat(a)) * x;
}
TEST(Library, TuplesInARow) { EXPECT_GRADIENT(of_joined_tuples, 1.3, 0.7); }

double swapped_elements(double x, double y) {
  std::vector<double> v{x, y, x * y};
  double a[2] = {x, y * y};
  std::iter_swap(v.begin(), v.end() - 1);
  std::iter_swap(a, v.begin() + 1);
  return v[0] * v[0] * v[1] + a[0] * a[1] * v[2];
}
TEST(Library, ElementsThatChangePlaces) { EXPECT_GRADIENT(swapped_elements, 1.3, 0.7); }

struct Factor {
  double k;
  double of(double x) const { return k * x; }
  double grow(double by) { return k *= by; }
};
struct NamedFactor : Factor {
  int name = 1;
};
double calls_of_members(double x, double y) {
  Factor s{x};
  NamedFactor t{{y}};
  double Factor::* const member = &Factor::k;
  const double r = std::invoke(&Factor::grow, s, y) + std::invoke(&Factor::of, &t, x);
  std::invoke(&Factor::k, t) += std::invoke(&Factor::of, Factor{x}, y);
  return r * std::invoke(member, s) * std::invoke(&Factor::k, &t) * std::invoke(&NamedFactor::name, t);
}
double calls_that_change(double x, double y) {
  std::tuple<double, double> t(x, y);
  std::apply([](double& a, double& b) { a *= b; }, t);
  std::apply([&](auto&... all) { ((all *= x), ...); }, t);
  std::array<double, 3> a{x, y, 1};
  for (int i = 0; i < 2; ++i) std::apply([&](auto&... all) { ((all *= y), ...); }, a);
  std::tuple<Factor> of(Factor{x});
  const double s = std::apply([&](auto& f) { return f.grow(y); }, of);
  const double r = std::apply([](double&& u, double v) { return u *= v; }, std::make_tuple(x, y));
  return std::get<0>(t) * std::get<1>(t) + a[0] * a[1] * a[2] + s * std::get<0>(of).k * r;
}
struct Grown {
  double s = 1;
  double operator()(double v, double w) { return s *= v + w; }
};
double calls_that_change_what_is_called(double x, double y) {
  auto product = [s = 1.0](double v) mutable { return s *= v; };
  const double a = std::invoke(product, x);
  const double b = a + std::invoke(product, y) * product(x);
  Grown grown;
  const double c = std::apply(grown, std::make_tuple(x, y)) * std::invoke(grown, x, y);
  return b * c * grown.s + std::invoke(Grown{x}, x, y);
}
TEST(Library, InvokeAndApply) {
  EXPECT_GRADIENT(calls_that_change, 1.3, 0.7);
  EXPECT_GRADIENT(calls_that_change_what_is_called, 1.3, 0.7);
  EXPECT_GRADIENT(calls_of_arguments, 1.3, 0.7);
  EXPECT_GRADIENT(calls_of_members, 1.3, 0.7);
}

struct Scaled {
  double a, b;
};
double appends(double x, double y) {
  const double t[2] = {x, y};
  std::vector<double> a{x, y, 3 * x}, z, w{1};
  std::vector<Scaled> p;
  std::copy(a.begin(), a.end(), std::back_inserter(z));
  std::copy(t, t + 2, std::back_inserter(z));
  std::transform(a.begin(), a.end(), std::back_inserter(w), [&](double e) { return e * y; });
  std::transform(a.cbegin(), a.cend(), w.begin(), std::back_inserter(z), std::plus<>());
  std::transform(a.begin(), a.end(), std::back_inserter(p), [&](double e) { return Scaled{e, e * y}; });
  std::copy_if(a.begin(), a.end(), std::back_inserter(z), [](double e) { return e > 1; });
  std::copy_n(w.begin(), 2, std::back_inserter(z));
  std::fill_n(std::back_inserter(z), 2, x);
  std::generate_n(std::back_inserter(z), 3, [&, i = 0]() mutable { return std::sin(x * ++i); });
  std::partial_sum(a.begin(), a.end(), std::back_inserter(z));
  double s = p[1].b;
  for (std::size_t i = 0; i < z.size(); ++i) s += z[i] * (i + 1) * z[i];
  return s;
}
TEST(Library, AppendThroughBackInserter) { EXPECT_GRADIENT(appends, 1.3, 0.7); }

struct Version {
  int major, minor;
  friend std::ostream& operator<<(std::ostream& o, const Version& v) {
    return o << v.major << "." << v.minor;
  }
};
std::vector<double> parsed(std::istream& in) {
  std::vector<double> v;
  for (double d; in >> d;) v.push_back(d);
  return v;
}
double through_streams(double x, double y) {
  double first;
  std::string rest;
  std::istringstream in("2 3.5 and more");
  in >> first >> std::ws;
  std::getline(in, rest, 'a');
  std::stringstream out;
  out << Version{1, 23} << ' ' << std::setw(4) << 7 << std::endl;
  out.put('8').write("90", 1);
  const std::vector<double> v = parsed(out);  // 1.23, 7, 89
  if (y > 100) std::cerr << "warning: " << y << std::endl;
  return first * x * y + v[0] * x * x + v[2] * static_cast<double>(rest.size() + v.size()) * y;
}
double of_variants(double x, double y) {
  std::variant<int, double> k = 3;
  if (std::holds_alternative<int>(k)) x *= std::get<0>(k);
  k = 2.5;
  return std::get<double>(k) * x * y;
}
double with_atomics(double x, double y) {
  std::atomic<int> n{0};
  std::atomic<bool> more{true};
  double s = 1;
  while (more.load()) {
    s *= x * ++n + n.load() * y;
    n.fetch_add(1);
    more.store(n < 5);
  }
  return s * n;
}
TEST(Library, ObjectsWithoutDerivatives) {
  EXPECT_GRADIENT(through_streams, 1.3, 0.7);
  EXPECT_GRADIENT(of_variants, 1.3, 0.7);
  EXPECT_GRADIENT(with_atomics, 1.3, 0.7);
}

double differences_with(double x, double y) {
  std::vector<double> v{x, y, x * y, 2};
  double d[4];
  std::adjacent_difference(v.begin(), v.end(), d, std::plus<>{});
  const auto end = std::adjacent_difference(v.begin(), v.end(), v.begin(),
                                            [&](double now, double before) { return now * x + before; });
  return d[1] * d[2] + v[0] * v[1] * v[2] * v[3] * (end - v.begin());
}
double generated(double x, double y) {
  double w[4];
  std::generate_n(w, 4, [&, k = 0]() mutable { return x * ++k + y; });
  std::array<double, 5> a{};
  double s = x;
  *std::generate_n(a.begin(), 3, [&] { return s *= y; }) = y;
  return w[1] * w[2] + a[1] * a[2] * a[3] + a[4] + s;
}
double merged_at_the_end(double x, double y) {
  std::vector<double> a{x, 2 * x}, b{y, 3 * y}, c{x}, d;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(c));
  std::merge(c.begin() + 1, c.end(), b.begin(), b.end(), std::back_inserter(d), std::less<>{});
  return c[0] * c[2] * c[4] + d[3] * d[1];
}
double copies_in_other_orders(double x, double y) {
  double c[4] = {x, y, x * y, 2}, d[4], e[4], g[4];
  std::reverse_copy(c, c + 4, d);
  const double* end = std::rotate_copy(c, c + 1, c + 4, e);
  std::replace_copy_if(c, c + 4, g, [](double v) { return v < 1; }, x * 3);
  return d[1] * e[0] * g[1] + d[0] * end[-1] * g[0];
}
double scans(double x, double y) {
  std::vector<double> v{x, y, x * y, 2}, w(4), z(4), q(4);
  std::inclusive_scan(v.begin(), v.end(), w.begin());
  std::exclusive_scan(v.begin(), v.end(), z.begin(), x);
  std::inclusive_scan(v.begin(), v.end(), q.begin(), std::multiplies<>{}, y);
  std::exclusive_scan(v.begin(), v.end(), v.begin(), x, std::multiplies<>());
  const auto end = std::inclusive_scan(v.begin(), v.end(), v.begin(), std::plus<>{});
  return w[3] * z[2] + q[3] * w[1] + v[3] * v[1] * (end - v.begin());
}
TEST(Library, DifferencesAndScans) {
  EXPECT_GRADIENT(differences_with, 1.3, 0.7);
  EXPECT_GRADIENT(scans, 1.3, 0.7);
}
TEST(Library, GeneratedAndCopied) {
  EXPECT_GRADIENT(generated, 1.3, 0.7);
  EXPECT_GRADIENT(merged_at_the_end, 1.3, 0.7);
  EXPECT_GRADIENT(copies_in_other_orders, 1.3, 0.7);
}

double with_places(double x, double y) {
  const std::vector<int> place{0, 1};
  const std::vector<double> v{x, 2 * y};
  return std::make_pair(v[1], place[1]) < std::make_pair(v[0], place[0]) ? x * y : x * x;
}
std::tuple<std::vector<double>, std::vector<int>> sorted(double x, double y) {
  std::vector<double> v{x, 2 * y * x};
  std::vector<int> order(2);
  for (int i = 0; i < 2; ++i) order[static_cast<std::size_t>(i)] = 1 - i;
  return std::tuple<std::vector<double>, std::vector<int>>(v, order);
}
double of_sorted(double x, double y) {
  const auto t = sorted(x, y);
  return std::get<0>(t)[static_cast<std::size_t>(std::get<1>(t)[0])] * y;
}
TEST(Library, NumbersBesideTheirPlaces) {
  EXPECT_GRADIENT(with_places, 1.3, 0.7);
  EXPECT_GRADIENT(with_places, 1.3, 0.2);
  EXPECT_GRADIENT(of_sorted, 1.3, 0.7);
}

}  // namespace
