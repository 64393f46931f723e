// Classes and algorithms of the standard library that hold numbers in ways that are not followed. How many
// errors one expression gives depends on the library's version.
#include <algorithm>
#include <complex>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <valarray>
#include <variant>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

using vec = std::vector<double>;

double inactive_library(double x) {
  std::vector<int> v{3, 1, 2};
  std::sort(v.begin(), v.end());
  std::map<int, int> m;
  std::string s = "a" + std::to_string(v[0]);
  return x * std::accumulate(v.begin(), v.end(), 0) * s.size() * m.size();
}

double accumulates(const vec& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
// expected-error@-1 1+ {{cannot differentiate}}
double inner_product(const vec& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); }
// expected-error@-1 1+ {{cannot differentiate}}
double iterates(const vec& v) {
  double s = 0;
  for (auto it = v.begin(); it != v.end(); ++it) s += *it;
  // expected-error@-1 1+ {{cannot differentiate}}
  return s;
}
double first(const vec& v) { return *v.begin(); }
// expected-error@-1 1+ {{cannot differentiate}}
double fills(double x) {
  vec v(3);
  std::fill(v.begin(), v.end(), x);
  // expected-error@-1 1+ {{cannot differentiate}}
  return v[0];
}
double fills_memory(double x) {
  double v[3];
  std::fill(v, v + 3, x);
  // expected-error@-1 1+ {{cannot differentiate}}
  return v[0];
}
double for_each(double x) {
  vec v{x};
  std::for_each(v.begin(), v.end(), [](double& e) { e *= e; });
  // expected-error@-1 1+ {{cannot differentiate}}
  return v[0];
}
double transforms(vec v) {
  std::transform(v.begin(), v.end(), v.begin(), [](double e) { return e * e; });
  // expected-error@-1 1+ {{cannot differentiate}}
  return v[0];
}
double sorts(vec v) {
  std::sort(v.begin(), v.end());
  // expected-error@-1 1+ {{cannot differentiate}}
  return v[0];
}
double copies_a_range(const vec& v) {
  vec w(v.begin(), v.end());
  // expected-error@-1 1+ {{cannot differentiate}}
  return w[0];
}
double inserts(vec v, double x) {
  v.insert(v.begin(), x);
  // expected-error@-1 1+ {{cannot differentiate}}
  return v[0];
}
double emplaces(double x) {
  vec v;
  v.emplace_back(x);
  // expected-error@-1 1+ {{cannot differentiate}}
  return v[0];
}
double deque(double x) {
  std::deque<double> d{x};
  // expected-error@-1 1+ {{cannot differentiate}}
  d.push_front(x);
  // expected-error@-1 1+ {{cannot differentiate}}
  return d[0];
  // expected-error@-1 1+ {{cannot differentiate}}
}
double list(double x) {
  std::list<double> l{x};
  // expected-error@-1 1+ {{cannot differentiate}}
  return l.front();
  // expected-error@-1 1+ {{cannot differentiate}}
}
double map(double x) {
  std::map<int, double> m;
  m[1] = x;
  // expected-error@-1 1+ {{cannot differentiate}}
  return m[1];
}
double map_parameter(const std::map<int, double>& m) { return m.at(1); }
// expected-error@-1 1+ {{cannot differentiate}}
double map_range(const std::map<int, double>& m, double x) {
  for (const auto& [k, v] : m) x += v;
  // expected-error@-1 1+ {{cannot differentiate}}
  return x;
}
double tuple(double x) {
  auto t = std::make_tuple(x, 2.0);
  // expected-error@-1 1+ {{cannot differentiate}}
  return std::get<0>(t);
  // expected-error@-1 1+ {{cannot differentiate}}
}
double tie(double x) {
  double a, b;
  std::tie(a, b) = std::pair<double, double>(x, x);
  // expected-error@-1 1+ {{cannot differentiate}}
  return a * b;
}
double optional(double x) {
  std::optional<double> o = x;
  // expected-error@-1 1+ {{cannot differentiate}}
  return *o;
  // expected-error@-1 1+ {{cannot differentiate}}
}
double variant(double x) {
  std::variant<int, double> v = x;
  // expected-error@-1 1+ {{cannot differentiate}}
  return std::get<double>(v);
  // expected-error@-1 1+ {{cannot differentiate}}
}
double complex(double x) {
  std::complex<double> c(x, 1);
  // expected-error@-1 1+ {{cannot differentiate}}
  return std::norm(c);
  // expected-error@-1 1+ {{cannot differentiate}}
}
double valarray(double x) {
  std::valarray<double> c(x, 3);
  // expected-error@-1 1+ {{cannot differentiate}}
  return c.sum();
  // expected-error@-1 1+ {{cannot differentiate}}
}
double span(const vec& v) {
  std::span<const double> s(v);
  // expected-error@-1 1+ {{cannot differentiate}}
  return s[0];
  // expected-error@-1 1+ {{cannot differentiate}}
}
double reference_wrapper(double x) {
  std::reference_wrapper<double> r(x);
  r.get() *= 2;
  // expected-error@-1 1+ {{cannot differentiate}}
  return x;
}
double minmax(double x, double y) {
  auto [lo, hi] = std::minmax(x, y);
  // expected-error@-1 1+ {{cannot differentiate}}
  return lo * hi * hi;
}

void use() {
  clad::gradient(inactive_library);
  clad::gradient(accumulates);
  clad::gradient(inner_product);
  clad::gradient(iterates);
  clad::gradient(first);
  clad::gradient(fills);
  clad::gradient(fills_memory);
  clad::gradient(for_each);
  clad::gradient(transforms);
  clad::gradient(sorts);
  clad::gradient(copies_a_range);
  clad::gradient(inserts);
  clad::gradient(emplaces);
  clad::gradient(deque);
  clad::gradient(list);
  clad::gradient(map);
  clad::gradient(map_parameter);
  clad::gradient(map_range);
  clad::gradient(tuple);
  clad::gradient(tie);
  clad::gradient(optional);
  clad::gradient(variant);
  clad::gradient(complex);
  clad::gradient(valarray);
  clad::gradient(span);
  clad::gradient(reference_wrapper);
  clad::gradient(minmax);
}
