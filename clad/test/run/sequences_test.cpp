// std::deque, what is made of it, and what the program's own code does not know of the library's: objects
// that are made in memory, clocks, orders, permutations.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <compare>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <queue>
#include <random>
#include <stack>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double window(double x, double y) {
  std::deque<double> last;
  double sum = 0;
  for (int i = 0; i < 7; ++i) {
    last.push_back(std::sin(i * x) * y);
    if (last.size() > 3) last.pop_front();
    double mean = 0;
    for (double v : last) mean += v;
    sum += mean / last.size() * x;
  }
  return sum;
}
double both_ends(double x, double y) {
  std::deque<double> d;
  d.push_front(x);
  d.push_front(x * y);
  d.push_back(3);
  d.front() *= d.back();
  d[1] += d[0];
  for (double& v : d) v *= y;
  const double middle = d.at(1);
  d.pop_back();
  d.push_front(d.back());  // of its own elements
  d.push_back(d.front());
  return middle * d.front() * d[1] + d.back() * d.size();
}
double replaced(double x, double y) {
  std::deque<double> d{x, 1, y}, e = d;
  e[0] *= x;
  d = e;
  d.push_front(y);
  std::deque<double> moved = std::move(d);
  e.swap(moved);
  d.resize(2, x);
  d[1] *= y;
  d.resize(3);
  d.clear();
  d.assign(2, x * y);
  return e[0] * e[1] + moved[0] * d[1];
}
struct Particle {
  double position, speed;
};
struct Trail {
  std::deque<Particle> points;
  double decay;
  void add(double position, double speed) {
    points.push_front({position, speed});
    while (points.size() > 3) points.pop_back();
  }
  double weight() const {
    double sum = 0, w = 1;
    for (const Particle& p : points) {
      sum += w * p.position * p.speed;
      w *= decay;
    }
    return sum;
  }
};
double trail(double x, double y) {
  Trail t{{}, y};
  double sum = 0;
  for (int i = 0; i < 6; ++i) {
    t.add(std::sin(x * i) + 0.1 * sum, y);
    sum += t.weight();
  }
  return sum;
}
void appended(std::deque<double>& d, double v) { d.push_back(v * d.back()); }
double total(std::deque<double> d) {
  double sum = 0;
  while (!d.empty()) {
    const double v = d.front();
    d.pop_front();
    if (v > 50) return sum * v;
    sum += v * v;
  }
  return sum;
}
double passed(double x, double y) {
  std::deque<double> d(1, x);
  for (int i = 0; i < 3; ++i) appended(d, y + i);
  return total(d) * d.front();
}
double down(std::deque<double>& d, int n) {
  if (n == 0) return d.front() * d.back();
  d.push_front(d.back() * 2);
  const double inner = down(d, n - 1);
  d.pop_front();
  return inner + d.front();
}
double recursive(double x, double y) {
  std::deque<double> d{x, y};
  return down(d, 3);
}
double rows(double x, double y) {
  std::deque<std::vector<double>> d;
  for (int i = 0; i < 3; ++i) d.push_back({x * i, y});
  std::vector<double>& last = d.back();
  d.push_back({y, 1});
  last[1] *= x;
  return d[2][1] * d[1][0] + d[3][0];
}
TEST(Sequences, Deques) {
  EXPECT_DERIVATIVES(window, 0.7, 1.3);
  EXPECT_DERIVATIVES(both_ends, 0.7, 1.3);
  EXPECT_DERIVATIVES(replaced, 0.7, 1.3);
  EXPECT_DERIVATIVES(trail, 0.7, 1.3);
  EXPECT_DERIVATIVES(passed, 0.7, 1.3);
  EXPECT_DERIVATIVES(recursive, 0.7, 1.3);
  EXPECT_DERIVATIVES(rows, 0.7, 1.3);
}

double calculator(double x, double y) {
  std::stack<double> s;
  for (int operation : {0, 1, 2, 0, 3, 1, 2}) {
    if (operation < 2) {
      s.push(operation == 0 ? x : y);
      continue;
    }
    const double b = s.top();
    s.pop();
    const double a = s.top();
    s.pop();
    s.push(operation == 2 ? a * b : a + b);
  }
  s.top() *= s.top();
  std::stack<double, std::vector<double>> t;
  for (int i = 0; i < 3; ++i) t.push(x + i);
  return s.top() * t.top();
}
struct Job {
  int depth;
  double value;
};
double breadth_first(double x, double y) {
  std::queue<Job> q;
  q.push({0, x});
  double sum = 0;
  while (!q.empty()) {
    const Job job = q.front();
    q.pop();
    sum += job.value;
    if (job.depth < 3)
      for (int i = 1; i < 3; ++i) q.push(Job{job.depth + 1, job.value * y / i});
  }
  return sum;
}
double largest_first(double x, double y) {
  std::priority_queue<double> q;
  for (double v : {x, 2 * y, x * y}) q.push(v);
  double sum = 0, weight = 1;
  for (; !q.empty(); q.pop(), weight *= 3) sum += weight * q.top();
  std::priority_queue<double, std::vector<double>, std::greater<double>> r;
  r.push(x * 5);
  r.push(y);
  return sum * r.top();
}
TEST(Sequences, StacksAndQueues) {
  EXPECT_DERIVATIVES(calculator, 0.7, 1.3);
  EXPECT_DERIVATIVES(breadth_first, 0.7, 1.3);
  EXPECT_DERIVATIVES(largest_first, 0.7, 1.3);
}

using Seconds = std::chrono::duration<double>;
using Minutes = std::chrono::duration<double, std::ratio<60>>;
double path(Seconds t, double speed) { return speed * t.count() * t.count(); }
double durations(double x, double y) {
  Seconds t(x);
  t += Minutes(y) / 10;
  t = 2 * t - Seconds(1);
  const Minutes m = t;
  const std::chrono::time_point<std::chrono::system_clock, Seconds> start(t), end = start + Seconds(x * y);
  return path(m, y) + (end - start).count() * (t > Seconds(3) ? x : y);
}
/// 2s is a call of a template of which the characters are the arguments.
double literals(double x, double y) {
  using namespace std::chrono_literals;
  Seconds t(x);
  double sum = 0;
  while (t < 2s) {
    t += Seconds(0.3 * y);
    if (t > 1s) t *= 1.1;
    sum += t.count() * (3s).count();
  }
  return sum * x * (90min).count() + y * y * Seconds(1.5min).count();
}
TEST(Sequences, Durations) {
  EXPECT_DERIVATIVES(durations, 0.7, 1.3);
  EXPECT_DERIVATIVES(literals, 0.7, 1.3);
}

double in_memory(double x, double y) {
  double a[3] = {x, y, x * y}, b[3], c[3];
  std::uninitialized_copy(a, a + 3, b);
  std::uninitialized_fill_n(c, 2, b[2]);
  std::construct_at(c + 2, y * b[0]);
  std::uninitialized_value_construct(a, a + 1);
  double sum = a[0] + a[1];
  for (int i = 0; i < 3; ++i) sum += b[i] * c[i];
  std::destroy(b, b + 3);
  const std::vector<double> v{x, y};
  return sum * *std::to_address(v.begin()) * *std::make_move_iterator(v.begin() + 1) * *std::launder(&c[2]);
}
double permuted(double x, double y) {
  std::vector<double> v{x, y, x * y, 2}, w;
  std::mt19937 generator(3);
  std::shuffle(v.begin(), v.end(), generator);
  std::sample(v.begin(), v.end(), std::back_inserter(w), 3, generator);
  double sum = 0, weight = 1;
  for (double e : v) sum += (weight *= 3) * e;
  for (double e : w) sum += (weight *= 2) * e * e;
  return sum;
}
double by_shuffled_numbers(const double* a, int* number, int n, std::minstd_rand generator) {
  const double first = a[number[0]];
  std::shuffle(number, number + n, generator);
  return first * a[number[0]] * a[number[1]];
}
TEST(Sequences, NumbersBehindAPointerAreShuffledAndPutBack) {
  const double a[] = {2, 3, 5, 7};
  int number[] = {0, 1, 2, 3}, shuffled[] = {0, 1, 2, 3};
  double d_a[4] = {}, expected[4] = {};
  by_shuffled_numbers(a, shuffled, 4, std::minstd_rand(5));
  expected[0] = a[shuffled[0]] * a[shuffled[1]];
  for (int i = 0; i < 2; ++i) expected[shuffled[i]] += a[0] * a[shuffled[1 - i]];
  clad::gradient(by_shuffled_numbers, "a").execute(a, number, 4, std::minstd_rand(5), d_a);
  for (int i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(d_a[i], expected[i]);
    EXPECT_EQ(number[i], i);
  }
}
double compared(double x, double y) {
  const auto [low, high] = std::minmax({x, y, x * y});
  std::vector<double> v{x, 7, y};
  std::erase(v, 7.0);
  const bool first = std::strong_order(x, y) < 0 || std::logical_not<>()(x);
  return first ? low * v[1] : high * v[0];
}
#define SQUARED(e)        \
  ({                      \
    const auto once_ = e; \
    once_* once_;         \
  })
double extensions_of_c(double x, double y) {
  const Particle p = (Particle){x, x * y};
  return SQUARED(p.position + y) * SQUARED(SQUARED(p.speed));
}
TEST(Sequences, MemoryOrdersAndExtensionsOfC) {
  EXPECT_DERIVATIVES(in_memory, 0.7, 1.3);
  EXPECT_DERIVATIVES(permuted, 0.7, 1.3);
  EXPECT_DERIVATIVES(compared, 0.7, 1.3);
  EXPECT_DERIVATIVES(extensions_of_c, 0.7, 1.3);
}

}  // namespace
