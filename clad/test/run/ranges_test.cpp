// The algorithms of std::ranges, and those of <algorithm> that search, compare, copy and keep order.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Body {
  double mass, speed;
};

double sorted(double x, double y) {
  std::vector<double> v{x * y, x, y, 3};
  std::ranges::sort(v);
  double sum = v[0] + 2 * v[1] + 3 * v[2] + 4 * v[3];
  std::ranges::sort(v, std::ranges::greater{});
  return sum + v[0] * v[1] + v[2];
}
double sorted_by_projection(double x, double y) {
  std::vector<Body> bodies{{x, y}, {y, x * x}, {3, x + y}};
  std::ranges::sort(bodies, {}, &Body::mass);
  double sum = bodies[0].speed + 2 * bodies[1].speed;
  std::ranges::sort(bodies, std::greater<>{}, [](const Body& b) { return b.mass * b.speed; });
  return sum + bodies[0].mass * bodies[1].speed;
}
double largest(double x, double y) {
  const std::array<double, 3> a{x, x * y, y};
  const std::vector<Body> bodies{{x, y}, {y, x * x}};
  return std::ranges::max(a) * std::ranges::min(a) + *std::ranges::max_element(a) +
         std::ranges::max_element(bodies, {}, &Body::speed)->mass + std::ranges::max(x, y * y) +
         std::ranges::min({x, y, x * y});
}
double copied(double x, double y) {
  const double a[3] = {x, y, x * y};
  std::vector<double> b(3), c;
  std::ranges::copy(a, b.begin());
  std::ranges::copy_if(b, std::back_inserter(c), [](double t) { return t > 0; });
  std::ranges::transform(b, b.begin(), [x](double t) { return t * x; });
  std::ranges::transform(b, c, c.begin(), [](double s, double t) { return s * t; });
  std::ranges::reverse(c);
  return c[0] + 2 * c[1] + 3 * c[2] + b[1];
}
double visited(double x, double y) {
  std::vector<double> v(4);
  std::ranges::fill(v, x);
  std::ranges::fill_n(v.begin() + 1, 2, y);
  double sum = 0;
  std::ranges::for_each(v, [&](double& t) { sum += t *= x; });
  std::span<double> part(v.data() + 1, 2);
  std::ranges::for_each(part, [&](double t) { sum += t * t; });
  const std::vector<Body> bodies{{x, y}, {y, x * x}};
  std::ranges::for_each(bodies, [&](double mass) { sum += mass * x; }, &Body::mass);
  return sum + v[3];
}
double asked(double x, double y) {
  const std::vector<double> v{x, y, x * y};
  double out = x;
  if (std::ranges::any_of(v, [](double t) { return t < 0; })) out *= y;
  if (std::ranges::all_of(v, [y](double t) { return t < 10 + y; })) out *= x;
  if (std::ranges::is_sorted(v)) out += y;
  out *= static_cast<double>(std::ranges::count_if(v, [](double t) { return t > 1; }));
  out += y * static_cast<double>(std::ranges::count(v, x)) + *std::ranges::find(v, y);
  const auto found = std::ranges::find_if(v, [](double t) { return t > 2; });
  return found == v.end() ? out : out * *found;
}
double bounded(double x, double y) {
  std::vector<double> v{x, 2 * x, 4 * x, 8 * x};
  std::ranges::rotate(v, v.begin() + 1);
  std::ranges::swap_ranges(std::span<double>(v.data(), 1), std::span<double>(v.data() + 1, 1));
  std::ranges::sort(v);
  return *std::ranges::lower_bound(v, y) + std::ranges::clamp(x * y, 0., 3.) * *std::ranges::next(v.begin()) +
         std::ranges::begin(v)[2] * y;
}
double whole_numbers(double x, double y) {
  std::vector<int> order{2, 0, 1};
  const double keys[3] = {y, x, x * y};
  std::ranges::sort(order, [&](int a, int b) { return keys[a] < keys[b]; });
  std::ranges::reverse(order);
  return keys[order[0]] * x + keys[order[1]] + 3 * keys[order[2]];
}

double searched(double x, double y) {
  const std::vector<double> v{x, y, x * y, y, y, 3}, w{x * y, y};
  double out = *std::find_if_not(v.begin(), v.end(), [](double t) { return t < 1; });
  out += *std::search(v.begin(), v.end(), w.begin(), w.end()) * x;
  out += *std::find_end(v.begin(), v.end(), w.begin() + 1, w.end()) * y;
  out += *std::find_first_of(v.begin(), v.end(), w.begin(), w.end());
  out += *std::search_n(v.begin(), v.end(), 2, y) * x;
  out += *std::adjacent_find(v.begin(), v.end());
  return out;
}
double pairs_of_iterators(double x, double y) {
  const std::vector<double> v{x, 2 * x, 2 * x, 4 * x}, w{x, 2 * x, y, x};
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  const auto [first, last] = std::equal_range(v.begin(), v.end(), 2 * x);
  const auto differ = std::mismatch(v.begin(), v.end(), w.begin());
  return *low * *high + *first * *last + *differ.first * *differ.second +
         static_cast<double>(last - first) * y;
}
double compared(double x, double y) {
  const std::vector<double> v{x, y}, w{x, y, x * y}, u{y, x};
  double out = x * y;
  if (std::equal(v.begin(), v.end(), w.begin())) out *= x;
  if (std::equal(v.begin(), v.end(), w.begin(), w.end())) out *= 7;
  if (std::equal(v.begin(), v.end(), w.begin(), w.begin() + 2, [](double a, double b) { return a == b; }))
    out += x;
  if (std::lexicographical_compare(v.begin(), v.end(), w.begin(), w.end())) out *= y;
  if (std::is_permutation(v.begin(), v.end(), u.begin())) out += y * y;
  if (std::is_sorted(v.begin(), v.end(), std::greater<>{})) out *= x + 1;
  if (std::binary_search(w.begin(), w.begin() + 1, x)) out += x;
  if (std::includes(w.begin(), w.begin() + 1, v.begin(), v.begin() + 1)) out += 3 * x;
  if (std::is_partitioned(w.begin(), w.end(), [](double t) { return t < 100; })) out += 5 * x;
  return out * static_cast<double>(std::count(w.begin(), w.end(), x));
}
double replaced(double x, double y) {
  std::vector<double> v{7, x, 7, y}, w(4), u;
  std::replace(v.begin(), v.end(), 7., x * y);
  std::replace_copy(v.begin(), v.end(), w.begin(), x, y * y);
  std::remove_copy_if(w.begin(), w.end(), std::back_inserter(u), [](double t) { return t > 1e6; });
  std::remove_copy(v.begin(), v.end(), w.begin(), 7.);
  std::unique_copy(v.begin(), v.end(), std::back_inserter(u));
  std::shift_left(u.begin(), u.end(), 1);
  std::shift_right(w.begin(), w.end(), 2);
  double sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += static_cast<double>(i + 1) * u[i];
  return sum + w[2] * w[3] + w[0];
}
double moved(double x, double y) {
  std::vector<double> v{x, y, x * y}, w(3), small(2), large(2);
  std::move(v.begin(), v.end(), w.begin());
  std::move_backward(w.begin(), w.begin() + 2, w.end());
  const auto ends =
      std::partition_copy(v.begin(), v.end(), small.begin(), large.begin(), [y](double t) { return t <= y; });
  return w[0] * w[1] + w[2] + small[0] * static_cast<double>(ends.first - small.begin()) + large[0] * y;
}
double scanned(double x, double y) {
  const std::vector<double> v{x, y, x * y};
  std::vector<double> a(3), b(3), c;
  const auto square = [](double t) { return t * t; };
  std::transform_inclusive_scan(v.begin(), v.end(), a.begin(), std::plus<>(), square);
  std::transform_exclusive_scan(v.begin(), v.end(), b.begin(), x, std::multiplies<>(), square);
  std::transform_inclusive_scan(v.begin(), v.end(), std::back_inserter(c), std::plus<>(), square, y);
  return a[1] * a[2] + b[2] + c[0] * c[2];
}
double united(double x, double y) {
  const std::vector<double> v{x, x + 2, x + 4}, w{x + 1, x + 2, x + 5};
  std::vector<double> all, both, only, either(4);
  std::set_union(v.begin(), v.end(), w.begin(), w.end(), std::back_inserter(all));
  std::set_intersection(v.begin(), v.end(), w.begin(), w.end(), std::back_inserter(both));
  std::set_difference(v.begin(), v.end(), w.begin(), w.end(), std::back_inserter(only), std::less<>{});
  std::ranges::set_symmetric_difference(v, w, either.begin());
  double sum = both[0] * only[1] + only[0] * y;
  for (std::size_t i = 0; i < all.size(); ++i) sum += static_cast<double>(i) * all[i] * all[i];
  for (double t : either) sum = sum * y + t;
  std::vector<double> parts{x, x + 3, x + 1, x + 2};
  std::inplace_merge(parts.begin(), parts.begin() + 2, parts.end());
  return sum + parts[1] * parts[2] + static_cast<double>(all.size() + both.size() + only.size());
}
double heaped(double x, double y) {
  std::vector<double> v{x, y, x * y, 3.5, x + y, x * x, y + 1, 5 * x};
  std::make_heap(v.begin(), v.end());
  double sum = v[0] * v[1] + v[2] * v[5];
  std::pop_heap(v.begin(), v.end());
  sum += v.back() * v.front();
  v.back() = x * x * y;
  std::push_heap(v.begin(), v.end());
  for (std::size_t i = 0; i < v.size(); ++i) sum += static_cast<double>(i) * v[i];
  std::ranges::make_heap(v, std::greater<>{});
  std::ranges::sort_heap(v, std::greater<>{});
  for (std::size_t i = 0; i < v.size(); ++i) sum += static_cast<double>(i) * v[i] * x;
  return sum + (std::is_heap(v.begin(), v.end()) ? x : 0);
}
double permuted(double x, double y) {
  std::vector<double> v{x, y, x * y};
  std::ranges::sort(v);
  double sum = 0;
  do sum = sum * x + v[0] + 2 * v[1];
  while (std::next_permutation(v.begin(), v.end()));
  std::prev_permutation(v.begin(), v.end());
  return sum + v[0] * y;
}
double partly_sorted(double x, double y) {
  const std::vector<double> v{y, x * y, x, 3};
  std::vector<double> w(2);
  const auto end = std::partial_sort_copy(v.begin(), v.end(), w.begin(), w.end());
  return w[0] * w[1] + static_cast<double>(end - w.begin());
}
struct Item {
  int key;
  double value;
};
/// Elements that are equivalent, of which std::sort leaves the order open.
double sorted_ties(double x, double y) {
  std::vector<Item> items;
  for (int i = 0; i < 40; ++i) items.push_back({i * 7 % 5, x * i + y * (i % 3)});
  std::ranges::sort(items, {}, &Item::key);
  double sum = items[3].value * items[11].value + items[25].value * x;
  std::partial_sort(items.begin(), items.begin() + 5, items.end(),
                    [](const Item& a, const Item& b) { return a.key > b.key; });
  sum += items[2].value * items[30].value;
  std::ranges::nth_element(items, items.begin() + 20, std::less<>{},
                           [](const Item& i) { return i.key * 3 % 4; });
  return sum + items[7].value * items[33].value;
}
double compared_aloud(double x, double y) {
  std::vector<double> v{x, y, x * y, 2 * x, y * y, 3 * x};
  double compared = 0;
  std::sort(v.begin(), v.end(), [&](double a, double b) {
    compared += a * b;
    return a < b;
  });
  return compared * v[0];
}
double with_middles(double x, double y) {
  std::vector<double> v{x, y, x * y, 3.5, x * x}, w(5);
  std::ranges::rotate(v, v.begin() + 2);
  double sum = v[0] * v[1] + v[4];
  std::ranges::rotate_copy(v, v.begin() + 1, w.begin());
  sum += w[0] * v[0] * 2;
  std::ranges::partial_sort(v, v.begin() + 2);
  sum += v[0] * v[1];
  const auto end = std::ranges::nth_element(v.begin(), v.begin() + 1, v.end());
  sum += v[1] * *(end - 1);
  std::ranges::sort(v.begin(), v.begin() + 2);
  std::ranges::sort(v.begin() + 2, v.end());
  std::ranges::inplace_merge(v, v.begin() + 2);
  return sum + v[2] * v[3] * x;
}
double of_elements_of_the_range(double x, double y) {
  std::vector<double> v{0, 0, x, y};
  std::replace(v.begin(), v.end(), v[0], y);
  return v[0] * 3 + v[1] * x + v[2];
}
double changing_functions(double x, double y) {
  std::vector<Body> bodies{{x, y}, {2 * x, y * y}};
  double sum = 0, product = 1;
  std::ranges::for_each(bodies, [k = 1.0, &sum](double a) mutable { sum += (k *= 2) * a * a; }, &Body::speed);
  std::vector<double> v(3);
  std::ranges::generate(v, [&] { return product *= x; });
  v.erase(std::unique(v.begin(), v.end(), [](double a, double b) { return a * b < 2; }), v.end());
  return sum + v[0] * v.back();
}

#define CHECK(f)                                                                   \
  TEST(Ranges, f) {                                                                \
    EXPECT_GRADIENT(f, 1.3, 1.7);                                                  \
    const auto by_x = clad::differentiate(f, 0), by_y = clad::differentiate(f, 1); \
    double dx = 0, dy = 0;                                                         \
    clad::gradient(f).execute(1.3, 1.7, &dx, &dy);                                 \
    EXPECT_NEAR(by_x.execute(1.3, 1.7), dx, 1e-11);                                \
    EXPECT_NEAR(by_y.execute(1.3, 1.7), dy, 1e-11);                                \
  }
CHECK(sorted)
CHECK(sorted_by_projection)
CHECK(largest)
CHECK(copied)
CHECK(visited)
CHECK(asked)
CHECK(bounded)
CHECK(whole_numbers)
CHECK(searched)
CHECK(pairs_of_iterators)
CHECK(compared)
CHECK(replaced)
CHECK(moved)
CHECK(scanned)
CHECK(united)
CHECK(heaped)
CHECK(permuted)
CHECK(partly_sorted)
CHECK(sorted_ties)
CHECK(compared_aloud)
CHECK(with_middles)
CHECK(of_elements_of_the_range)
CHECK(changing_functions)

// One that is called without an order, and one with: they are two functions of the same name.
double greatest_by_orders(double x, double y) {
  const auto more = [](double a, double b) { return a > b; };
  double greatest = std::max(x, y);
  greatest *= std::max(x * x, y, more) + std::min(x, y, std::greater<>());
  const double top = 2;
  return greatest + std::clamp(x * y, -top, top, [](double a, double b) { return a < b; });
}
double in_a_constant_table(double x, double y) {
  static const std::vector<Body> table{{0, 1}, {1, 0.5}, {2, -0.4}};
  const auto high =
      std::lower_bound(table.begin(), table.end(), x, [](const Body& b, double at) { return b.mass < at; });
  const auto low = high - 1;
  return low->speed + (x - low->mass) * (high->speed - low->speed) * y;
}
class Nothing {
 public:
  const double* begin() const { return nullptr; }
  const double* end() const { return nullptr; }
};
double over_nothing(double x, double y) {
  double sum = x * y;
  for (const double one : Nothing()) sum += one;
  return sum;
}
TEST(Ranges, Orders) {
  EXPECT_GRADIENT(greatest_by_orders, 1.2, 0.7);
  EXPECT_GRADIENT(greatest_by_orders, 0.7, 1.2);
  EXPECT_GRADIENT(in_a_constant_table, 0.7, 1.2);
  EXPECT_GRADIENT(over_nothing, 0.7, 1.2);
}

// What a method returns is called.
template <class F>
class Kept {
 public:
  explicit Kept(F function) : function_(std::move(function)) {}
  const F& operator*() const { return function_; }

 private:
  F function_;
};
template <class F>
class Applied {
 public:
  explicit Applied(F function) : kept_(std::move(function)) {}
  double at(double x) const { return (*kept_)(x); }

 private:
  Kept<F> kept_;
};
double by_a_kept_function(double x, double y) {
  const Applied applied([y](double z) { return z * z * y; });
  return applied.at(x) * x;
}
constexpr double squared(double x) {
  if (std::is_constant_evaluated()) return x * x;
  return x * x + 0 * x;
}
template <int N>
double power(double x) {
  if constexpr (N == 0)
    return 1;
  else if constexpr (N % 2 == 1)
    return x * power<N - 1>(x);
  else
    return squared(power<N / 2>(x));
}
double powers(double x, double y) { return power<5>(x) * power<2>(y); }
TEST(Ranges, FunctionsOfClassTemplates) {
  EXPECT_GRADIENT(by_a_kept_function, 1.2, 0.7);
  EXPECT_GRADIENT(powers, 1.2, 0.7);
}

}  // namespace
