// Classes and algorithms of the standard library that hold numbers in ways that are not followed.
#include <algorithm>
#include <any>
#include <bit>
#include <complex>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
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

double iterators_of_constants(double x) {
  std::string s = "abc";
  std::string t(s.begin(), s.end());
  // expected-error@-1 {{where the iterator that it returns points is not known; write the loop}}
  std::vector<int> v{3, 1, 2};
  v.erase(v.begin());
  std::vector<double> w(v.rbegin(), v.rend());
  // expected-error@-1 {{from reverse iterators of another type; use assign or insert}}
  return x * t.size() * v[0] * w[0];
}

double accumulates(const vec& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double inner_product(const vec& v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); }
double iterates(const vec& v) {
  double s = 0;
  for (auto it = v.begin(); it != v.end(); ++it) s += *it;
  return s;
}
double first(const vec& v) { return *v.begin(); }
double fills(double x) {
  vec v(3);
  std::fill(v.begin(), v.end(), x);
  return v[0];
}
double fills_memory(double x) {
  double v[3];
  std::fill(v, v + 3, x);
  return v[0];
}
double for_each(double x) {
  vec v{x};
  std::for_each(v.begin(), v.end(), [](double& e) { e *= e; });
  return v[0];
}
double transforms(vec v) {
  std::transform(v.begin(), v.end(), v.begin(), [](double e) { return e * e; });
  return v[0];
}
double sorts(vec v) {
  std::sort(v.begin(), v.end());
  return v[0];
}
double copies_a_range(const vec& v) {
  vec w(v.begin(), v.end());
  return w[0];
}
double inserts(vec v, double x) {
  v.insert(v.begin(), x);
  return v[0];
}
double emplaces_in_the_middle(vec v, double x) {
  v.emplace(v.begin(), x);
  v.emplace(v.begin());
  // expected-error@-1 {{cannot differentiate call to 'vector::emplace': no derivative of this library function is known; write the loop, with an index}}
  return v[0];
}
double erases(vec v) {
  v.erase(v.begin());
  return v[0];
}
struct NotCopyable {
  double a;
  NotCopyable(double x) : a(x) {}
  NotCopyable(NotCopyable&&) = default;
};
double emplaces_what_cannot_be_copied(double x) {
  std::vector<NotCopyable> v;
  v.emplace_back(x);
  // expected-error@-1 {{cannot differentiate 'emplace_back' of 'NotCopyable', which cannot be copied}}
  return v[0].a;
}
double deque(double x) {
  std::deque<double> d{x};
  double& first = d[0];
  // expected-error@-1 {{cannot differentiate a name for an element of a std::deque, where others may come or go before it; copy the element, or use its index}}
  d.push_front(x);
  return first;
}
struct ElementOfDeque {
  double& value;
};
double deque_behind_a_member(double x) {
  std::deque<double> d{x};
  ElementOfDeque e{d[0]};
  // expected-error@-1 {{cannot differentiate a name for an element of a std::deque, where others may come or go before it; copy the element, or use its index}}
  d.push_front(x);
  return e.value;
}
void shift(std::deque<double>& d, double& r) {
  d.push_front(1);
  r *= 2;
}
double deque_beside_an_element(double x) {
  std::deque<double> d{x};
  shift(d, d[0]);
  // expected-error@-1 {{cannot differentiate a call that gets an element of a std::deque beside what may change the deque; copy the element}}
  return d[1];
}
double deque_by_iterators(double x) {
  std::deque<double> d{x};
  return *d.begin();
  // expected-error@-1 {{cannot differentiate call to 'deque::begin'}}
}
double list(double x) {
  std::list<double> l{x};
  // expected-error@-1 {{cannot differentiate}}
  return l.front();
}
double map(double x) {
  std::map<int, double> m;
  m[1] = x;
  // expected-error@-1 {{cannot differentiate}}
  return m[1];
}
double map_parameter(const std::map<int, double>& m) { return m.at(1); }
// expected-error@-1 {{derivatives of that type are not supported; keep the numbers in members, a std::vector or a std::array, or name the other parameters in the request}}
double map_range(const std::map<int, double>& m, double x) {
  // expected-error@-1 {{cannot differentiate with respect to 'm' of type}}
  for (const auto& [k, v] : m) x += v;
  return x;
}
struct Kept {
  std::map<int, double> t;
  double k = 1;
  void set(double v) { t[1] = v; }
  // expected-error@-1 {{cannot differentiate what puts a number that depends on the parameters into a container}}
};
double map_in_class(double x) {
  Kept m;
  m.set(x);
  // expected-note@-1 {{in the derivative of this call}}
  return m.t.at(1) * m.k;
}
double list_of_vectors(double x) {
  std::list<std::vector<double>> l(1);
  l.front().push_back(x);
  // expected-error@-1 {{cannot differentiate what puts a number that depends on the parameters into a container}}
  return l.front()[0];
}
double distribution(double x) {
  std::mt19937 generator(1);
  std::normal_distribution<double> noise(x, 1);
  // expected-error@-1 {{cannot differentiate what puts a number that depends on the parameters into a container or a random distribution}}
  return noise(generator);
}
double parameters_of_a_distribution(double x) {
  std::mt19937 generator(1);
  std::normal_distribution<double> noise;
  return noise(generator, std::normal_distribution<double>::param_type(x, 1));
  // expected-error@-1 {{cannot differentiate what puts a number that depends on the parameters into a container or a random distribution}}
}
double any_value(double x) {
  const std::any a = x;
  // expected-error@-1 {{cannot differentiate what puts a number that depends on the parameters into a container}}
  return std::any_cast<double>(a);
}
double list_algorithm(double x) {
  std::list<double> l(2);
  std::fill(l.begin(), l.end(), x);
  // expected-error@-1 {{cannot differentiate 'fill' on a container of which no derivative is known}}
  return l.front();
}
double tuple(double x) {
  auto t = std::make_tuple(x, 2.0);
  return std::get<0>(t);
}
double tie(double x) {
  double a, b;
  std::tie(a, b) = std::pair<double, double>(x, x);
  return a * b;
}
double optional(double x) {
  std::optional<double> o = x;
  return *o;
}
double proxies(double x) {
  std::vector<bool> b(3);
  auto second = b[1];
  // expected-error@-1 {{cannot differentiate through 'second', a reference to an element of a std::vector<bool>; declare it bool, or use the index}}
  second = x > 1;
  return b[1] ? x : 0;
}
double changes_bits(double x) {
  std::vector<bool> b(3);
  for (auto&& bit : b) bit = x > 1;
  // expected-error@-1 {{cannot differentiate through 'bit', a reference to an element of a std::vector<bool>; declare it bool, or use the index}}
  return b[1] ? x : 0;
}
void set(std::vector<bool>::reference bit, double x) { bit = x > 1; }
// expected-error@-1 {{cannot differentiate through 'bit', a reference to an element of a std::vector<bool>; declare it bool, or use the index}}
double passes_a_bit(double x) {
  std::vector<bool> b(3);
  set(b[1], x);
  return b[1] ? x : 0;
}
std::vector<bool>::reference bit_of(std::vector<bool>& b, int i) { return b[i]; }
double assigns_what_is_returned(double x) {
  std::vector<bool> b(3);
  bit_of(b, 1) = x > 1;
  // expected-error@-1 {{cannot differentiate an assignment to an element of a std::vector<bool> through an iterator, or a reference that a call returned; use the index}}
  *b.begin() = x > 1;
  // expected-error@-1 {{cannot differentiate an assignment to an element of a std::vector<bool> through an iterator, or a reference that a call returned; use the index}}
  return b[1] ? x : 0;
}
struct Count {
  int n;
};
double asks_for_owners(double x) {
  const auto one = std::make_shared<Count>(Count{1});
  std::shared_ptr<Count> other;
  other = one;
  return x * other.use_count();
  // expected-error@-1 {{cannot differentiate 'use_count': derivatives keep objects for longer, so that others own them; keep a flag or a count}}
}
// Where an owner gets other objects, and where its object changes otherwise, nothing is handed a pointer to
// it.
struct Choice {
  virtual ~Choice() = default;
  int n = 1;
};
double by_pointer(const Count* c, double x) { return x * x * c->n; }
double by_pointer(const Choice* c, double x) { return x * x * c->n; }
double from_an_owner(double x) {
  std::shared_ptr<Count> owner = std::make_shared<Count>(Count{1});
  double y = by_pointer(owner.get(), x);
  // expected-error@-1 {{cannot differentiate what a pointer to 'Count' is given to here: its owner gets other objects, so that this one may be gone; pass a reference to a constant, or let one owner keep it}}
  owner = std::make_shared<Count>(Count{2});
  return y * owner->n;
}
double from_one_that_changes(double x) {
  const auto owner = std::make_unique<Choice>();
  double y = by_pointer(owner.get(), x);
  // expected-error@-1 {{cannot differentiate this call: what it is given a pointer to, an object of 'Choice', is changed elsewhere through a pointer that is not followed; pass a reference to a constant}}
  owner->n = 3;
  return y * owner->n;
}
double variant(double x) {
  std::variant<int, double> v = x;
  // expected-error@-1 {{cannot differentiate}}
  return std::get<double>(v);
}
double complex(double x) {
  std::complex<double> c(x, 1);
  return std::norm(c);
}
double valarray(double x) {
  std::valarray<double> c(x, 3);
  return c.sum();
}
double span(const vec& v) {
  std::span<const double> s(v);
  return s[0];
}
double reference_wrapper(double x) {
  std::reference_wrapper<double> r(x);
  r.get() *= 2;
  return x;
}
double minmax(double x, double y) {
  auto [lo, hi] = std::minmax(x, y);
  // expected-error@-1 {{cannot differentiate}}
  return lo * hi * hi;
}

double made_of_bits(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return std::bit_cast<double>(bits & 0x7fffffffffffffffULL);
  // expected-error@-1 {{cannot differentiate this number made of bits, where bits are taken of numbers as well; write the arithmetic, or give the function a derivative of its own}}
}
void set_to_three(int* p) { *p = 3; }
struct SetsToThree {
  void operator()(int* p) const { set_to_three(p); }
};
double deleter_of_a_type(double x) {
  int n = 1;
  {
    std::unique_ptr<int, SetsToThree> p(&n);
    // expected-error@-1 {{cannot differentiate through a 'unique_ptr' whose deleter changes what is read elsewhere; call a function that does so instead}}
  }
  return x * n;
}
double deleter_given(double x) {
  int n = 1;
  {
    std::shared_ptr<int> p(&n, [](int* q) { *q = 3; });
    // expected-error@-1 {{cannot differentiate through a 'shared_ptr' whose deleter changes what is read elsewhere; call a function that does so instead}}
    std::unique_ptr<int, void (*)(int*)> o(new int(2), [](int* q) { delete q; });
    x *= *o;
  }
  return x * n;
}

std::vector<double> made(double x) { return {x, 2 * x}; }
double largest_of_a_temporary(double x) {
  return std::ranges::max(made(x));
  // expected-error@-1 {{cannot differentiate 'std::ranges::max' of a range that is made there; give the range a name}}
}
struct Body {
  double mass, speed;
};
double projects_twice(double x) {
  std::vector<Body> a{{x, 1}, {2, x}}, b{{x, 3}, {4, x}};
  return std::ranges::equal(a, b, {}, &Body::mass, &Body::speed) ? x : x * x;
  // expected-error@-1 {{cannot differentiate 'std::ranges::equal' with this projection; put it into the function, or write the loop}}
}
double projects_what_is_sought(double x) {
  std::vector<Body> a{{x, 1}, {2, x}};
  return std::ranges::lower_bound(a, 1.5, {}, &Body::mass)->speed;
  // expected-error@-1 {{cannot differentiate 'std::ranges::lower_bound' with this projection; put it into the function, or write the loop}}
}
double counts_the_ranges(double x) {
  std::vector<double> v[2] = {{x, 1}, {2, x}};
  int k = 0;
  std::ranges::fill(v[k++], x);
  // expected-error@-1 {{cannot differentiate 'std::ranges::fill' of a range that is made there; give the range a name}}
  return v[0][1];
}
double greatest_by_an_order(double x) {
  return std::max({x, x * x}, [](double a, double b) { return a < b; });
  // expected-error@-1 {{cannot differentiate call to 'max' with this function: no derivative of the two is known}}
}
double keeps_the_result_of_a_range(double x) {
  std::vector<double> v{x, 2}, w(2);
  const auto copied = std::ranges::copy(v, w.begin());
  // expected-error@-1 {{cannot differentiate what 'std::ranges::copy' returns; use 'std::copy'}}
  return w[0] * x;
}
double view(double x) {
  std::vector<double> v{x, 2};
  double sum = 0;
  for (double y : v | std::views::take_while([](double a) { return a < 9; })) sum += y;
  // expected-error@-1 {{cannot differentiate this use of an object}}
  return sum;
}

void use() {
  clad::gradient(inactive_library);
  clad::gradient(iterators_of_constants);
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
  clad::gradient(emplaces_in_the_middle);
  clad::gradient(erases);
  clad::gradient(emplaces_what_cannot_be_copied);
  clad::gradient(deque);
  clad::gradient(deque_behind_a_member);
  clad::gradient(deque_beside_an_element);
  clad::gradient(deque_by_iterators);
  clad::gradient(list);
  clad::gradient(map);
  clad::gradient(map_parameter);
  clad::gradient(map_range);
  clad::gradient(map_range, "x");
  clad::gradient(map_in_class);
  clad::gradient(list_of_vectors);
  clad::gradient(list_algorithm);
  clad::gradient(distribution);
  clad::gradient(parameters_of_a_distribution);
  clad::gradient(any_value);
  clad::gradient(tuple);
  clad::gradient(tie);
  clad::gradient(optional);
  clad::gradient(proxies);
  clad::gradient(changes_bits);
  clad::gradient(passes_a_bit);
  clad::gradient(variant);
  clad::gradient(assigns_what_is_returned);
  clad::gradient(asks_for_owners);
  clad::gradient(from_an_owner);
  clad::gradient(from_one_that_changes);
  clad::gradient(complex);
  clad::gradient(valarray);
  clad::gradient(span);
  clad::gradient(reference_wrapper);
  clad::gradient(minmax);
  clad::gradient(made_of_bits);
  clad::gradient(deleter_of_a_type);
  clad::gradient(deleter_given);
  clad::gradient(largest_of_a_temporary);
  clad::gradient(projects_twice);
  clad::gradient(projects_what_is_sought);
  clad::gradient(counts_the_ranges);
  clad::gradient(greatest_by_an_order);
  clad::gradient(keeps_the_result_of_a_range);
  clad::gradient(view);
}
