// std::vector, std::array, std::pair, range-for and structured bindings.
#include <algorithm>
#include <array>
#include <cctype>
#include <list>
#include <map>
#include <set>

#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double elements(const std::vector<double>& v, std::array<double, 3> a) {
  double s =
      v[0] * v.at(1) + v.front() * v.back() * a.front() + a.back() * a.at(1) + v.size() * a.size() * a[0];
  a[1] *= v.data()[1];
  a.back() += a[1];
  const double* p = v.data();
  for (std::size_t i = 0; i < v.size(); ++i) s += p[i] * v[i] * a[i % 3];
  if (!v.empty()) s *= a[2];
  return s;
}
TEST(Containers, EveryWayToReachAnElement) {
  EXPECT_GRADIENT(elements, (std::vector<double>{0.5, 0.6, 0.7, 0.8}), (std::array<double, 3>{1, 2, 3}));
}

double growing(double x) {
  std::vector<double> v;
  for (int i = 0; i < 4; ++i) {
    v.push_back(x * i);
    v.push_back(x);
  }
  double s = 0;
  for (double e : v) s += e * e * s + e;
  v.pop_back();
  v.resize(3);
  v.resize(6, x);
  v.push_back(v[1]);
  v.reserve(20);
  for (const double& e : v) s += e * e;
  s *= v.back() * v.front() + v.at(1) * v.size();
  v.assign(2, s);
  s += v[0] * v[1];
  v.clear();
  v.push_back(s * x);
  return v[0] + v.size();
}
TEST(Containers, VectorsThatGrowAndShrink) { EXPECT_GRADIENT(growing, 0.4); }

std::vector<double> listed(double x) { return {x, x * x, 3}; }
std::vector<double> filled(double x) {
  std::vector<double> r(3, x);
  r[1] = x * r[0];
  return r;
}
std::vector<double> scaled(std::vector<double> v, double k) {
  for (double& e : v) e *= k;
  return v;
}
void scale(std::vector<double>& v, double k) {
  for (double& e : v) e *= k;
}
double norm(const std::vector<double>& v) {
  double s = 0;
  for (double e : v) s += e * e;
  return s;
}
double passed_around(const std::vector<double>& h, double k) {
  std::vector<double> g = scaled(h, k);
  scale(g, k);
  std::vector<double> e = scaled(g, 2);
  g = scaled(e, k);
  std::vector<double> l = listed(g[0]), f = filled(l[1]);
  l = filled(f[2]);
  return norm(g) * norm(l) + f[1] * norm(scaled(std::move(e), k)) + norm(listed(k)) + norm({k, 2, k * k});
}
TEST(Containers, VectorsPassedAndReturned) {
  EXPECT_GRADIENT(passed_around, (std::vector<double>{0.5, 0.6}), 0.7);
}

double constructed(double k) {
  std::vector<double> none, zeros(2), copies(2, k), list{k, k * k, 2}, copy(list);
  std::vector<double> assigned = {k, 2, list[2]};
  zeros[0] = assigned[0] * copy[1];
  std::swap(assigned, copy);
  std::swap(assigned[0], copy[1]);
  std::vector<double> moved = std::move(list);
  std::array<double, 3> a{k, 1}, b = a;
  b[1] += a[0] * b[0];
  a = b;
  double s = none.size();
  for (int i = 0; i < 3; ++i) {
    std::vector<double> t(i, k * i), u = t;
    for (double x : t) s += x * x;
    t = moved;
    t[i] *= s;
    moved = t;
    moved[0] = a[1] * t[i];
    if (i == 1) u = t;
    for (double x : u) s += x;
  }
  return s + zeros[0] * copies[1] + assigned[0] * copy[1] * moved[2] + zeros[1] + a[1] * b[2];
}
TEST(Containers, EveryFormOfConstruction) { EXPECT_GRADIENT(constructed, 0.7); }

double sum_of_powers(const std::vector<double>& v) {
  double s = 0;
  for (double e : v) s = s * 0.5 + e * e;
  return s;
}
double reversed(double x, double y) {
  const std::vector<double> v{x, y, x * y};
  const std::array<double, 2> a{x, x * y};
  std::vector<double> w(v.rbegin(), v.rend()), u{a.crbegin(), std::prev(a.crend())};
  w[0] *= u[0];
  const std::vector<int> k{1, 2, 3}, back(k.rbegin(), k.rend() - 1);
  return w[0] + 2 * w[1] * w[2] * back[1] +
         sum_of_powers(std::vector<double>(w.rbegin() + 1, w.rend())) * back[0] +
         sum_of_powers({std::rbegin(a), std::rend(a)}) * static_cast<double>(u.size() + back.size());
}
TEST(Containers, VectorsMadeBackwards) { EXPECT_GRADIENT(reversed, 1.3, 0.7); }

struct Layer {
  std::vector<double> w;
  double b;
  double forward(const std::vector<double>& x) const {
    double s = b;
    for (std::size_t i = 0; i < w.size(); ++i) s += w[i] * x[i];
    return s;
  }
  template <class V>
  void reals(V&& v) {
    for (double& e : w) v(e);
    v(b);
  }
};
struct Net {
  std::vector<Layer> layers;
  std::array<Layer, 2> heads;
  template <class V>
  void reals(V&& v) {
    for (auto& e : layers) e.reals(v);
    for (auto& e : heads) e.reals(v);
  }
};
double forward(const Net& m, const std::vector<double>& x, double k) {
  std::vector<double> h(m.layers.size());
  for (std::size_t i = 0; i < m.layers.size(); ++i) h[i] = m.layers[i].forward(x);
  double s = 0;
  for (const Layer& l : m.heads) s += l.forward(h) * k;
  std::vector<Layer> copy = m.layers;
  copy[0].b *= s;
  copy[0].w[1] *= k;
  copy.at(1) = copy.front();
  copy.push_back(Layer{{k, s}, k});
  for (const Layer& l : copy) s += l.forward(x);
  return s;
}
TEST(Containers, VectorsOfStructsWithVectors) {
  Net net{{{{1, 2}, 3}, {{4, 5}, 6}}, {Layer{{1, 2}, 3}, Layer{{4, 5}, 6}}};
  EXPECT_GRADIENT(forward, net, (std::vector<double>{0.5, 0.6}), 0.7);
}

double nested(double x) {
  double s = 0;
  std::vector<std::vector<double>> vv{{x, 1}, {2, x, x * x}, {}};
  for (auto& r : vv)
    for (auto& e : r) e *= x;
  vv[2].push_back(x);
  vv.push_back({x, x});
  std::swap(vv[0], vv[2]);
  for (const auto& r : vv)
    for (double e : r) s += e * r.size();
  return s * vv[1][2];
}
TEST(Containers, VectorsOfVectors) { EXPECT_GRADIENT(nested, 1.3); }

double ranges(const std::vector<double>& v, std::array<double, 3> a) {
  double s = 0;
  for (double e : v) {
    e *= e;
    s += e;
  }
  for (const auto& e : v) s += e * s;
  for (auto& e : a) e *= s;
  for (auto e : a) s += e * e;
  double c[3] = {s, 1, 2};
  for (double& e : c) {
    e += a[0];
    if (e > 1e6) break;
  }
  for (double e : {s, a[1], c[2]}) {
    if (e < 0) continue;
    s += e * 0.1;
  }
  for (int i : {1, 2, 3}) s += i * a[2];
  return s;
}
TEST(Containers, RangeForByValueReferenceAndConstReference) {
  EXPECT_GRADIENT(ranges, (std::vector<double>{0.5, 0.6}), (std::array<double, 3>{1, 2, 3}));
  EXPECT_GRADIENT(ranges, (std::vector<double>{}), (std::array<double, 3>{1, 2, 3}));
}

struct Labelled {
  double a;
  int n;
  double b;
};
std::pair<double, double> pair_of(double x) { return {x * x, 2 * x}; }
Labelled labelled(double x) { return {x, 2, x * x}; }
double bindings(double x) {
  auto [u, v] = pair_of(x);
  u *= v;
  auto [a, n, b] = labelled(x);
  Labelled p = labelled(u);
  auto& [pa, pn, pb] = p;
  pa *= b;
  pn += 1;
  const auto& [ca, cn, cb] = p;
  double arr[2] = {x, v};
  auto& [e0, e1] = arr;
  e0 *= e1;
  std::array<double, 2> sa{x, 3};
  auto& [s0, s1] = sa;
  s1 *= s0 * x;
  std::vector<std::pair<double, double>> w{{x, v}, {u, 1}};
  double s = 0;
  for (auto& [m, k] : w) {
    m *= k;
    s += m;
  }
  for (const auto& [m, k] : w) s += m * k;
  for (auto [m, k] : w) {
    m += k;
    s *= m;
  }
  auto made = std::make_pair(x, s);
  return p.a * p.n * pb + ca * cn + arr[0] * sa[1] + s + a * n * b + w[0].first + made.first * made.second;
}
TEST(Containers, StructuredBindingsAndPairs) { EXPECT_GRADIENT(bindings, 1.1); }

double integers(const double* a) {
  std::vector<int> v;
  double s = 1;
  for (int i = 0; i < 3; ++i) {
    v.push_back(i);
    s *= a[v.back()] + a[v[v.size() - 1]];
  }
  v[0] = 2;
  s *= a[v[0]];
  v.clear();
  std::array<int, 2> k{1, 0};
  std::swap(k[0], k[1]);
  return s * (v.size() + 1) * a[k[0]];
}
TEST(Containers, VectorsOfIntegersAreIndices) {
  EXPECT_GRADIENT(integers, (clad::test::buffer<double>{0.5, 0.6, 0.7}));
}

std::pair<std::vector<double>, double> vector_and_number(double x) { return {{x, 2}, x}; }
struct Mixed {
  std::array<std::vector<double>, 2> a;
  std::pair<double, std::vector<double>> p;
};
double containers_in_containers(double x) {
  auto [v, d] = vector_and_number(x);
  v[1] *= d;
  double s = vector_and_number(v[1]).first[0] * vector_and_number(v[0]).second;
  for (int i = 0; i < 3; ++i) {
    std::array<std::vector<double>, 2> a;
    a[0] = {x, s};
    a[1].push_back(x);
    Mixed q{{a[0], {}}, {x, {s, x}}};
    Mixed r = q;
    r.a[1] = q.p.second;
    s += (a[0][0] * a[1][0] * a[0][1] + r.a[0][0] * r.a[1][1] + r.p.first * r.p.second[0]) * 0.1;
  }
  std::vector<std::pair<int, std::vector<double>>> w{{1, {x, s}}};
  w[0].second[1] *= v[0];
  return s * w[0].second[1] * w[0].first;
}
TEST(Containers, OfContainers) { EXPECT_GRADIENT(containers_in_containers, 0.9); }

std::vector<double> longer(const std::vector<double>& v, double k) {
  std::vector<double> out;
  for (double e : v) {
    if (e > k) out.push_back(e * k);
    out.push_back(e + k);
  }
  return out;
}
double reassigned(const std::vector<double>& start, double k) {
  std::vector<double> v = start;
  for (int i = 0; i < 3; ++i) {
    v = longer(v, k);
    std::vector<double> w = v;
    w[0] = v[1];
    v = w;
    if (i == 1) v.pop_back();
  }
  double s = 0;
  for (std::size_t i = 0; i < v.size(); ++i) s += v[i] * (i + 1);
  return s;
}
TEST(Containers, AVectorReplacedByOneOfAnotherLength) {
  EXPECT_GRADIENT(reassigned, (std::vector<double>{1, 0.2}), 0.6);
}

const std::vector<double>& same(const std::vector<double>& v) { return v; }
double returned_references(double x) {
  std::vector<double> v{x, x * x};
  auto copy = same(v);
  const auto& r = same(v);
  copy[0] *= 2;
  v[0] *= 3;
  return copy[0] * v[0] * r[1] * same(v)[0];
}
TEST(Containers, ReferencesReturnedByFunctions) { EXPECT_GRADIENT(returned_references, 1.2); }

double reads_itself(std::vector<double> v) {
  v = {v[0], v[1], v[0]};
  v = v;
  std::vector<double>& r = v;
  r.push_back(r[0]);
  r[0] = r[3] * r[2];
  r = std::vector<double>(2, r[0]);
  return v[0] * v[1];
}
TEST(Containers, AVectorAssignedFromItsOwnElements) {
  EXPECT_GRADIENT(reads_itself, (std::vector<double>{1.1, 0.7}));
}

double grows_its_argument(std::vector<double>& v, double k) {
  double s = 0;
  for (auto& e : v) {
    s += e * k;
    e = s;
  }
  v.push_back(s);
  return s;
}
TEST(Containers, AnArgumentThatGrows) {
  EXPECT_GRADIENT_IN_PLACE(grows_its_argument, (std::vector<double>{1.1, 0.7}), 2.0);
}

double assigned_pairs(std::pair<double, double> p, double x) {
  std::pair<double, double> q{x, 2};
  q = p;
  q = std::pair<double, double>{q.second, q.first * x};
  p = q;
  return p.first * p.second * q.first * x;
}
TEST(Containers, AssignedPairs) {
  EXPECT_GRADIENT(assigned_pairs, (std::pair<double, double>{1.3, 0.7}), 1.2);
}

struct Square {
  double y;
  Square(double x) : y(x * x) {}  // no default constructor
};
double parts_without_default(double x, double y) {
  std::pair<Square, double> p{Square(x), y};
  std::tuple<Square, double> t{Square(y), x};
  for (int i = 0; i < 2; ++i) {
    p.second *= p.first.y;
    std::get<1>(t) += p.second * std::get<0>(t).y;
  }
  return p.second * std::get<1>(t);
}
TEST(Containers, PairsOfClassesWithoutDefaultConstructor) {
  EXPECT_GRADIENT(parts_without_default, 1.3, 0.7);
}

using vec = std::vector<double>;
double inserts_and_erases(double x, double y) {
  vec a{x, y};
  auto it = a.insert(a.begin() + 1, x * y);
  *it *= y;
  a.insert(a.end(), 2, a[0]);
  it = a.erase(a.begin());
  *it += 1;
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * a[i] * (i + 1);
  return s;
}
double inserts_while_it_walks(double x, double y) {
  vec a{x, y, x * y, x + y};
  for (std::size_t i = 0; i < a.size();) {
    if (a[i] > 1) {
      a.erase(a.begin() + i);
    } else {
      a.insert(a.begin() + i, a[i] * x);
      i += 2;
    }
  }
  double s = 1;
  for (double e : a) s += e * e;
  return s * a.size() + x * y;
}
double inserts_ranges(double x, double y) {
  vec a(3), b{x, y};
  a.assign({x, y, x});
  a.insert(a.begin(), b.begin(), b.end());
  a.insert(a.begin() + 2, {x * x, 2, y});
  b.assign(a.rbegin(), a.rend());
  a.shrink_to_fit();
  std::array<double, 3> c;
  c.fill(b[1]);
  return b[0] * b[3] * b[4] + c[1] * c[2];
}
double inserts_rows(double x, double y) {
  std::vector<vec> a{{x}, {y, x}};
  a.insert(a.begin(), {x * y});
  a.erase(a.begin() + 1, a.end() - 1);
  a[1][0] *= x;
  double s = 0;
  for (auto& row : a)
    for (double e : row) s += e * e * x;
  return s;
}
double removes(double x, double y) {
  vec a{x, 2, y, 2, 2, x * y};
  auto end = std::remove(a.begin(), a.end(), 2.0);
  double s = x * (end - a.begin());
  for (auto it = a.begin(); it != end; ++it) s += *it * *it;
  vec b(6);
  *std::copy_if(a.begin(), end, b.begin(), [](double e) { return e > 1; }) = x;
  for (double e : b) s += e * s;
  a.erase(std::remove_if(a.begin(), a.end(), [](double e) { return e > 1.5; }), a.end());
  for (double e : a) s += e * e;
  return s + std::erase_if(b, [](double e) { return e > 1.5; }) * b.back() + b[0];
}
double keeps_one_of_equals(double x, double y) {
  vec a{x, x, y, y, x * y};
  a.resize(std::unique(a.begin(), a.end()) - a.begin());
  std::replace_if(a.begin(), a.end(), [](double e) { return e < 1; }, y * y);
  double s = 0;
  for (double e : a) s += e * e;
  return s * x;
}
TEST(Containers, ElementsAreInsertedAndErased) {
  for (double x : {1.7, 0.7}) {
    SCOPED_TRACE(x);
    EXPECT_GRADIENT(inserts_and_erases, x, 1.3);
    EXPECT_GRADIENT(inserts_while_it_walks, x, 1.3);
    EXPECT_GRADIENT(inserts_ranges, x, 1.3);
    EXPECT_GRADIENT(inserts_rows, x, 1.3);
    EXPECT_GRADIENT(removes, x, 1.3);
    EXPECT_GRADIENT(keeps_one_of_equals, x, 1.3);
  }
}

namespace geometry {
struct Point {
  double a, b;
};
template <class... A>
struct Parts {
  std::tuple<A...> parts;
  double factor;
};
}  // namespace geometry
double classes_of_namespaces(double x, double y) {
  std::tuple<geometry::Point, vec> t{geometry::Point{x, y}, vec{x * y}};
  auto& [p, q] = t;
  p.a *= q[0];
  geometry::Parts<geometry::Point, double> all{{geometry::Point{x, y}, y}, x};
  std::get<0>(all.parts).a *= all.factor;
  return std::get<0>(t).a * p.b + std::get<0>(all.parts).a * std::get<1>(all.parts);
}
TEST(Containers, TuplesOfClassesInNamespaces) { EXPECT_GRADIENT(classes_of_namespaces, 1.3, 0.7); }

double bits(double x, double y) {
  std::vector<bool> b(3);
  const double v[3] = {x, y, x * y};
  double s = 0;
  for (int i = 0; i < 3; ++i) b[i] = v[i] > 1;
  b[0] = !b[1];
  b[2].flip();
  b.flip();
  b.at(1) = x > y;
  for (int i = 0; i < 3; ++i) {
    const bool here = b[i];
    if (here || b[(i + 1) % 3]) s += v[i] * v[i];
    b[i] = here && s > 2;
    if (b[i]) s *= x;
  }
  swap(b[0], b[2]);
  for (auto bit : b)
    if (bit) s += x;
  std::vector<std::vector<bool>> rows(2, std::vector<bool>(2));
  for (int i = 0; i < 2; ++i) rows[i][1 - i] = true;
  for (int i = 0; i < 4; ++i)
    if (rows[i / 2][i % 2]) s += x * y * i;
  return s;
}
TEST(Containers, BitsOfAVector) {
  for (double x : {1.7, 0.7}) EXPECT_GRADIENT(bits, x, 1.3);
}

struct Label {
  std::string text;
  int number;
};
double named_numbers(double x, double y) {
  std::vector<std::pair<std::string, double>> all{{"x", x}, {"y", y}};
  all.push_back({"product", x * y});
  for (auto& [name, value] : all)
    if (name.size() > 1) value *= x;
  std::tuple<double, Label, std::vector<std::string>, std::pair<Label, int>> t{
      y, Label{"a", 1}, {"b", "c"}, {}};
  std::get<0>(t) *= x;
  auto u = t;
  return all[2].second * all[0].second + std::get<0>(u) * std::get<2>(u).size();
}
TEST(Containers, NumbersBesideTexts) { EXPECT_GRADIENT(named_numbers, 1.3, 0.7); }

double over_constants(double x, double y) {
  double s = x;
  std::list<int> list{1, 2};
  list.push_back(3);
  const std::map<std::string, int> counts{{"a", 2}, {"bc", 3}};
  const std::set<int> set{2, 4};
  std::string digits = "abc";
  for (char& c : digits) c = static_cast<char>(c - 'a' + '1');
  for (const auto& [name, n] : counts) s = s * name.size() * x + n * y;
  for (const auto entry : counts) {
    if (entry.second == 2) continue;
    s += x * entry.second;
  }
  for (const int k : set)
    for (const int& l : list) {
      if (l > k) break;
      s = s * x + k * l * y;
    }
  for (const char c : std::string("s2") + digits) s = std::isdigit(c) ? s + (c - '0') * x * y : 0.01 * s * s;
  for (const char c : std::string_view("xyx")) s *= c == 'x' ? x : y;
  return s;
}
TEST(Containers, RangesOfConstants) { EXPECT_GRADIENT(over_constants, 1.3, 0.7); }

double parts_of_arrays(double x, double y) {
  std::vector<std::array<double, 2>> t = {{x, 1}, {1, y}};
  const std::vector<std::array<int, 2>> pairs = {{0, 1}, {1, 0}};
  double rows[2][2] = {{x, 1}, {1, y}};
  double s = 0;
  for (auto [a, b] : t) s += a * a * b * x;
  for (auto& [a, b] : t) a *= b;
  for (const auto& [a, b] : t) s += b * a;
  for (auto [i, k] : pairs) s += t[i][0] * t[k][1] * x;
  for (auto& [a, b] : rows) {
    a *= b;
    s += a * y;
  }
  return s * rows[0][0];
}
TEST(Containers, PartsOfArraysInALoop) { EXPECT_GRADIENT(parts_of_arrays, 1.3, 0.7); }

}  // namespace
