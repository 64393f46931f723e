// Data without derivatives that is reached by iterators, pointers and views: what lies there in the forward
// sweep is gone, or changed, when the reverse sweep runs.
#include <algorithm>
#include <bitset>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double powers(double x, double y, int k) {
  const double v[6] = {x, y, x * x, y * y, x * y * y, 1};
  return v[k];
}

double found(double x, double y) {
  std::map<int, int> m = {{1, 4}};
  auto it = m.find(1);
  const double v[6] = {x, y, x * x, y * y, x * y * y, 1};
  double s = v[it->second] * x;
  it->second = 0;
  s = s * y + v[m[1]] * s;
  m.find(1)->second = 2;
  return s * v[m.at(1)];
}
double walked(double x, double y) {
  std::map<int, int> m = {{0, 3}, {1, 1}, {2, 2}};
  std::multimap<int, int> all = {{1, 2}, {1, 3}, {2, 0}};
  const double v[6] = {x, y, x * x, y * y, x * y * y, 1};
  double s = 1;
  for (auto it = m.begin(); it != m.end(); ++it) {
    s += v[it->second] * s;
    it->second = 5 - it->second;
  }
  for (const auto& [key, value] : m) s += key * v[value] * s;
  const auto [first, last] = all.equal_range(1);
  for (auto it = first; it != last; ++it) s *= 1 + v[it->second];
  const auto [place, inserted] = m.try_emplace(7, 4);
  if (inserted) s += v[place->second] * s;
  m.erase(place);
  return s * static_cast<double>(m.size());
}
double in_sets(double x, double y) {
  std::set<int> l = {0, 1, 3};
  const double v[4] = {x, y, x * x, x + y};
  double s = 1;
  auto it = l.lower_bound(1);
  s += v[*it] * s;
  it = l.erase(it);
  s *= v[*it];
  const auto p = l.insert(2);
  s *= v[*p.first] + static_cast<double>(p.second);
  return s * v[*l.rbegin()] * v[*l.begin()];
}
double first_place(double x, double y) {
  std::map<std::string, int> m;
  m["x"] = 2;
  int& n = m.begin()->second;
  const double s = x * n;
  n = 7;
  return s * s * y * m["x"];
}
TEST(Handles, IteratorsOfLibraryContainers) {
  EXPECT_GRADIENT(found, 1.3, 0.7);
  EXPECT_GRADIENT(walked, 1.3, 0.7);
  EXPECT_GRADIENT(in_sets, 1.3, 0.7);
  EXPECT_GRADIENT(first_place, 1.3, 0.7);
}

struct Entry {
  int k = 0;
  void tick() { ++k; }
};
double into_vectors(double x, double y) {
  std::vector<Entry> m{{1}, {0}, {3}};
  std::vector<std::pair<int, int>> pairs{{2, 1}, {0, 3}};
  double s = 1;
  for (auto it = m.begin(); it != m.end(); ++it) {
    s += powers(x, y, it->k) * s;
    it->k = 2;
  }
  for (auto it = pairs.begin(); it != pairs.end(); ++it) {
    s += powers(x, y, it->first) * s;
    it->first = it->second;
  }
  return s * powers(x, y, m[1].k) * powers(x, y, pairs[0].first);
}
Entry* find(Entry* p, int n, int k) {
  for (int i = 0; i < n; ++i)
    if (p[i].k == k) return p + i;
  return nullptr;
}
double by_pointers(double x, double y) {
  Entry m[3] = {{1}, {0}, {2}};
  double s = 1;
  for (Entry* p = m; p != m + 3; ++p) {
    s += powers(x, y, p->k) * s;
    p->k += 1;
  }
  Entry* best = nullptr;
  for (Entry& e : m)
    if (!best || e.k > best->k) best = &e;
  s *= powers(x, y, best->k);
  best->k = 0;
  Entry* const one = find(m, 3, 1);
  if (one) s += powers(x, y, one->k) * s;
  std::vector<Entry*> all{&m[0], &m[1]};
  for (Entry* e : all) s += powers(x, y, e->k) * s;
  return s;
}
struct Handle {
  Entry* p;
  Entry* operator->() const { return p; }
  Entry& get() const { return *p; }
};
double by_objects(double x, double y) {
  Entry e{2};
  const Handle h{&e};
  double s = x * h->k;
  h->k = 5;
  s = s * y + h.get().k * x;
  h.p->tick();
  return s * s * h.p->k;
}
double shared(double x, double y) {
  struct Settings {
    int n = 3;
  };
  const auto p = std::make_shared<Settings>();
  const auto q = p;
  double s = x * p->n;
  q->n = 5;
  s *= p->n + y;
  return s * s * y;
}
TEST(Handles, PointersToObjects) {
  EXPECT_GRADIENT(into_vectors, 1.3, 0.7);
  EXPECT_GRADIENT(by_pointers, 1.3, 0.7);
  EXPECT_GRADIENT(by_objects, 1.3, 0.7);
  EXPECT_GRADIENT(shared, 1.3, 0.7);
}

double views(double x, double y) {
  std::string t(40, 'y');
  const std::string_view all(t);
  const auto head = all.substr(0, 3);
  double s = x * static_cast<double>(head.size()) * (head[0] - 'w');
  t = "q";
  std::optional<std::string> name = "xy";
  s *= static_cast<double>(name->size());
  return s * s * y;
}
TEST(Handles, Views) { EXPECT_GRADIENT(views, 1.3, 0.7); }

struct Named {
  std::string name;
  int k;
};
double searched(double x, double y) {
  std::vector<Entry> m{{1}, {0}, {2}};
  const std::vector<Named> named{{"a", 1}, {"b", 0}};
  const auto one = std::find_if(m.begin(), m.end(), [](const Entry& e) { return e.k == 1; });
  double s = powers(x, y, one->k) * x;
  one->k = 3;
  const auto b = std::find_if(named.begin(), named.end(), [](const Named& n) { return n.name == "b"; });
  if (b == named.end()) return 0;
  return s * powers(x, y, m[0].k) * powers(x, y, b->k);
}
double owned(double x, double y) {
  auto p = std::make_unique<Entry>();
  p->k += 2;
  const auto name = std::make_unique<std::string>("ab");
  double s = x * p->k;
  p->k = 4;
  return s * s * y * p->k * static_cast<double>(name->size());
}
double bits(double x, double y) {
  std::bitset<4> b(6);
  double s = 1;
  for (int i = 0; i < 4; ++i) {
    s = b[i] ? s * y : s + x;
    b[(i + 1) % 4] = b[i];
  }
  const auto last = b[3];
  return last ? s : s * x;
}
TEST(Handles, FoundAndOwned) {
  EXPECT_GRADIENT(searched, 1.3, 0.7);
  EXPECT_GRADIENT(owned, 1.3, 0.7);
  EXPECT_GRADIENT(bits, 1.3, 0.7);
}

// Containers of numbers of which no derivative is known hold constants.
const std::map<std::string, double> prices{{"a", 1.5}, {"b", 2.5}};
double of_table(const std::map<int, double>& m, double x) {
  double s = 0;
  for (const auto& [k, v] : m) s = s * x + v * k;
  return s;
}
struct Settings {
  std::map<int, double> of{{1, 1.5}, {2, 2.5}};
  double k = 1;
  double at(int i) const { return of.at(i) * k; }
};
double tables(double x, double y) {
  const std::map<int, double> m{{1, 1.5}, {2, 2.5}};
  const std::list<double> l{1.5, 2.5, 0.5};
  const std::deque<double> d{1.5, 2.5};
  double s = of_table(m, x) * y + m.find(1)->second * x;
  for (const auto& kv : m) s = s * x + kv.second * y;
  for (const double v : l) s = s * y + v * x;
  for (auto it = m.begin(); it != m.end(); ++it) s += it->second * std::max(it->second, 2.0) * x;
  for (const auto& [name, price] : prices) s += price * y * static_cast<double>(name.size());
  if (const auto it = m.find(2); it != m.end()) s *= it->second;
  Settings c;
  c.k = x;
  return s * m.at(2) * d[1] * d.front() * c.at(1);
}
double changed_tables(double x, double y) {
  std::map<int, double> m{{1, 1.5}};
  std::list<double> l;
  double s = 1;
  for (int i = 0; i < 4; ++i) {
    m[i % 2] += 0.5;
    l.push_back(i);
    s = s * x * m[0] + y * l.back() * m.at(0);
    for (auto& kv : m) s += kv.second * y;
    if (i == 2) m.clear();
  }
  return s;
}
struct Neighbours {
  std::set<int> of;
  int weight;
};
double graph(double x, double y) {
  std::map<int, std::set<int>> edges{{0, {2, 3}}, {1, {3}}};
  std::map<int, Neighbours> nodes{{1, {{2, 3}, 4}}, {2, {{1}, 5}}};
  double s = 0;
  for (auto& [from, all] : edges)
    for (int to : all) s += from * x + to * y * x;
  for (auto& one : edges) {
    auto& all = one.second;
    for (int to : all) s = s * 0.5 * y + to;
  }
  for (auto& [name, node] : nodes)
    for (auto it = node.of.begin(); it != node.of.end(); ++it) s += *it * node.weight * x * y;
  return s;
}
TEST(Handles, ContainersOfConstants) {
  EXPECT_DERIVATIVES(graph, 1.3, 0.7);
  EXPECT_GRADIENT(tables, 1.3, 0.7);
  EXPECT_DERIVATIVES(tables, 1.3, 0.7);
  EXPECT_DERIVATIVES(changed_tables, 1.3, 0.7);
}

// Objects without numbers that carry derivatives, by pointers that cannot be copied.
struct Law {
  virtual double at(double x) const = 0;
  virtual ~Law() = default;
};
struct Power : Law {
  int n;
  explicit Power(int k) : n(k) {}
  double at(double x) const override { return std::pow(x, n); }
};
struct Square : Law {
  double at(double x) const override { return x * x; }
};
std::unique_ptr<Law> power(int n) { return std::make_unique<Power>(n); }
double owned_laws(double x, double y) {
  std::unique_ptr<Law> square = std::make_unique<Square>();
  std::unique_ptr<Law> made = power(4);
  double s = square->at(x) * y + made->at(y);
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<Law> law;
    if (i == 1)
      law = std::make_unique<Power>(i + 2);
    else
      law = std::make_unique<Square>();
    s += law->at(x * y) * x;
  }
  return s;
}
TEST(Handles, OwnersOfObjectsWithoutNumbers) { EXPECT_DERIVATIVES(owned_laws, 1.3, 0.7); }

// Objects that a parameter owns: their adjoints are where the caller has them.
struct Layer {
  virtual double forward(double x) const = 0;
  virtual ~Layer() = default;
};
struct Gain : Layer {
  double w;
  explicit Gain(double v) : w(v) {}
  double forward(double x) const override { return w * x; }
};
struct Bend : Layer {
  double forward(double x) const override { return x * x; }
};
template <template <class...> class Pointer>
struct Stack {
  std::vector<Pointer<Layer>> layers;
  Stack() = default;
  Stack(double a, double b) {
    layers.emplace_back(new Gain(a));
    layers.emplace_back(new Bend);
    layers.emplace_back(new Gain(b));
  }
  double w(int i) const { return static_cast<const Gain&>(*layers[i]).w; }
};
template <class S>
double through_stack(const S& s, double x) {
  for (const auto& layer : s.layers) x = layer->forward(x);
  return x * x;
}
template <class S>
void check_stack() {
  const S s(3, 5);
  S d(0, 0);
  double dx = 0;
  clad::gradient(through_stack<S>).execute(s, 2, &d, &dx);
  EXPECT_DOUBLE_EQ(d.w(0), 2 * 180.0 * 5 * 12 * 2);
  EXPECT_DOUBLE_EQ(d.w(2), 2 * 180.0 * 36);
  EXPECT_DOUBLE_EQ(dx, 2 * 180.0 * 5 * 12 * 3);
  S none, other;
  other.layers.resize(3);
  EXPECT_THROW(clad::gradient(through_stack<S>).execute(s, 2, &none, &dx), std::invalid_argument);
  EXPECT_THROW(clad::gradient(through_stack<S>).execute(s, 2, &other, &dx), std::invalid_argument);
  for (auto& layer : other.layers) layer.reset(new Bend);
  EXPECT_THROW(clad::gradient(through_stack<S>).execute(s, 2, &other, &dx), std::invalid_argument);
  EXPECT_EQ(s.w(0), 3);
}
TEST(Handles, VectorsOfOwnersAsParameters) {
  check_stack<Stack<std::unique_ptr>>();
  check_stack<Stack<std::shared_ptr>>();
}

}  // namespace
