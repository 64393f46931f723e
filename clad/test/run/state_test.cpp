// Objects without derivatives that are changed through pointers, references and owners, and read by their
// names or by others: the reverse sweep sees each as it was.
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct N {
  int v;
  int w;
};

double a_pointer(double x, double y) {
  N a[2] = {{1, 2}, {3, 0}};
  N* p = a;
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s *= 0.1 * s * a[0].v + y;
    p[0].v++;
    p[1].v += a[0].v;
    s += 0.1 * a[1].v * s;
  }
  return s;
}
double one_that_moves(double x, double y) {
  N a[3] = {{1, 0}, {2, 0}, {3, 0}};
  double s = x;
  for (N* p = a; p != a + 3; ++p) {
    p->v++;
    s *= 0.1 * a[1].v * s + y;
  }
  N* later = nullptr;
  for (int k = 0; k < 3; ++k) {
    s *= 0.1 * s * a[0].v + y;
    if (later) later->v++;
    later = &a[0];
  }
  return s * a[1].v;
}
double two_that_change_places(double x, double y) {
  N a[2] = {{1, 2}, {2, 3}}, b[2] = {{3, 1}, {1, 1}};
  N *p = a, *q = b;
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s *= a[1].v * s * 0.1 + y * b[0].v;
    p[1].v++;
    q[0].v++;
    std::swap(p, q);
  }
  return s;
}
double an_array_of_them(double x, double y) {
  N a{1, 2}, b{2, 3};
  N* p[2] = {&a, &b};
  std::vector<N*> v{&a, &b};
  double s = x;
  for (int k = 0; k < 4; ++k) {
    s *= a.v * s * 0.1 + y * b.v * 0.1;
    p[k % 2]->v++;
    for (N* q : v) q->v++;
  }
  return s;
}
double the_largest(double x, double y) {
  std::array<N, 3> m{{{1, 0}, {5, 0}, {3, 0}}};
  std::vector<double> numbers{x, y, x * y};
  double s = x;
  for (int k = 0; k < 3; ++k) {
    N* best = nullptr;
    for (N& e : m)
      if (!best || e.v > best->v) best = &e;
    s *= 0.1 * s * m[1].v * m[2].v + y;
    best->v -= 3;
    double* number = nullptr;
    for (double& e : numbers)
      if (!number || e > *number) number = &e;
    s += s * *number * x;
    *number *= 0.3 * y;
  }
  return s;
}
double one_to_read_by(double x, double y) {
  struct Vertex {
    int id;
    std::vector<int> out;
  };
  const std::vector<Vertex> g{{0, {1, 2}}, {1, {2}}, {2, {}}};
  double s = x;
  const Vertex* at = &g[0];
  while (!at->out.empty()) {
    s = std::sin(s * (at->id + 1)) + y;
    at = &g[at->out[0]];
  }
  return s * at->id;
}
TEST(State, BehindPointers) {
  EXPECT_DERIVATIVES(a_pointer, 1.3, 0.7);
  EXPECT_DERIVATIVES(one_that_moves, 1.3, 0.7);
  EXPECT_DERIVATIVES(two_that_change_places, 0.9, 0.7);
  EXPECT_DERIVATIVES(an_array_of_them, 0.9, 0.7);
  EXPECT_DERIVATIVES(the_largest, 0.6, 0.7);
  EXPECT_DERIVATIVES(one_to_read_by, 1.3, 0.7);
}

double step(double s, N& n) {
  s = s * n.v * s * 0.1;
  n.v++;
  return s * n.v;
}
double passed_on(double x, double y) {
  struct H {
    N* n;
  };
  N a{2, 1};
  H h{&a};
  double s = x;
  for (int k = 0; k < 2; ++k) {
    s = step(s, *h.n) + y * a.v * s;
    s = step(s, a) * 0.1;
    h.n->v += 2;
  }
  return s;
}
double asked(double x, double y) {
  struct H {
    N* n;
    void tick() { n->v++; }
    int get() const { return n->v; }
    double run(double s) {
      s *= 0.1 * s * n->v;
      n->v++;
      return s * n->v;
    }
  };
  N a{2, 1};
  H h{&a};
  double s = x;
  for (int k = 0; k < 2; ++k) {
    s = s * s * 0.1 * a.v * h.get() + y;
    h.tick();
    s = h.run(s);
  }
  return s;
}
double of_another_class(double x, double y) {
  struct S {
    double z;
    N cfg{2, 1};
    N* p = nullptr;
    double go(double s) {
      for (int k = 0; k < 3; ++k) {
        s *= s * cfg.v * 0.1 * z;
        p->v++;
        z += 0.1 * s;
      }
      return s;
    }
  };
  S t;
  t.z = x;
  t.p = &t.cfg;
  return t.go(y) + t.go(x);
}
double by_reference(double x, double y) {
  struct S {
    N& n;
    S(N& m) : n(m) {}
    void go() { n.v++; }
  };
  N a{1, 2};
  S h(a);
  std::pair<N*, int> p{&a, 1};
  double s = x;
  for (int k = 0; k < 2; ++k) {
    s *= a.v * s * 0.1 + y;
    h.go();
    h.n.v++;
    p.first->v++;
  }
  return s;
}
double settings(double x, double y) {
  struct Settings {
    int n = 3, k = 2;
  };
  struct Model {
    const Settings* c;
    double w;
    double operator()(double x) const {
      double s = x;
      for (int i = 0; i < c->n; ++i) s = std::sin(s * w * c->k);
      return s;
    }
  };
  Settings c;
  Model m{&c, y};
  const double s = m(x) * m.w;
  c.n = 2;
  return s + m(s);
}
struct View {
  N* d;
  int n;
};
void shift(View v) {
  for (int i = 0; i + 1 < v.n; ++i) v.d[i].v = v.d[i + 1].v;
  v.d[v.n - 1].v++;
}
double by_value(double x, double y) {
  N a[3] = {{1}, {2}, {3}};
  double s = x;
  for (int k = 0; k < 3; ++k) {
    shift({a, 3});
    s *= 0.1 * s * a[0].v + y * a[2].v * 0.1;
    shift(View{a + 1, 2});
    s = std::sin(s * a[1].v * 0.2);
  }
  return s;
}
struct Base {
  int k = 1;
  virtual void go() { k++; }
  virtual ~Base() = default;
};
struct Derived : Base {
  void go() override { k += 2; }
};
double of_some_class(double x, double y) {
  Base a;
  Derived b;
  Base* p[2] = {&a, &b};
  const std::unique_ptr<Base> own = std::make_unique<Derived>();
  double s = x;
  for (int k = 0; k < 4; ++k) {
    s *= 0.1 * a.k * s + y * b.k * 0.1;
    p[k % 2]->go();
    s *= 0.1 * own->k;
    own->go();
  }
  return s;
}
TEST(State, OfObjectsThatPointToIt) {
  EXPECT_DERIVATIVES(passed_on, 0.9, 0.7);
  EXPECT_DERIVATIVES(asked, 0.9, 0.7);
  EXPECT_DERIVATIVES(of_another_class, 0.9, 0.7);
  EXPECT_DERIVATIVES(by_reference, 0.9, 0.7);
  EXPECT_DERIVATIVES(settings, 1.3, 0.7);
  EXPECT_DERIVATIVES(by_value, 0.9, 0.7);
  EXPECT_DERIVATIVES(of_some_class, 1.3, 0.7);
}

void add(std::vector<int>* v) {
  v->push_back(2);
  (*v)[0]++;
}
double in_containers(double x, double y) {
  struct S {
    std::vector<int>* n;
    void add(int k) {
      n->push_back(k);
      (*n)[0]++;
    }
  };
  std::vector<int> v{1, 2};
  S h{&v};
  double s = x;
  for (int k = 0; k < 2; ++k) {
    s *= 0.1 * v[1] * s * v[0] + y * v.size();
    h.add(k);
    (*h.n)[1]++;
    h.n->push_back(k);
    s *= 0.1;
    add(&v);
  }
  for (int i : v) s += 0.01 * i * s * s;
  return s * v[0];
}
double in_a_string(double x, double y) {
  struct Log {
    std::string& s;
    void operator()(int k) { s += std::to_string(k); }
  };
  std::string v = "ab";
  Log log{v};
  std::string* p = &v;
  double s = x;
  for (int k = 0; k < 2; ++k) {
    log(k);
    s *= 0.1 * s * v.size() + y;
    p->push_back('c');
    (*p)[0]++;
    s += 0.01 * v[0] * s;
  }
  return s;
}
double in_a_map(double x, double y) {
  struct W {
    std::map<int, int>* m;
    int get(int k) const { return (*m)[k]; }
    void set(int k, int v) { (*m)[k] = v; }
  };
  std::map<int, int> m{{1, 2}, {2, 3}};
  std::set<int> seen;
  std::set<int>* p = &seen;
  W w{&m};
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s *= 0.1 * s * w.get(1) + y * m[2] * 0.3 + seen.size();
    w.set(1, k);
    w.set(2, w.get(1) + 1);
    m[1] += 1;
    p->insert(k % 2);
  }
  return s;
}
double in_a_queue(double x, double y) {
  std::deque<int> q{1, 2, 3};
  std::deque<int>* p = &q;
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s *= 0.1 * s * q.front() + y;
    p->pop_front();
    p->push_back(k + 5);
  }
  return s * q.back();
}
TEST(State, InContainersBehindPointers) {
  EXPECT_DERIVATIVES(in_containers, 0.9, 0.7);
  EXPECT_DERIVATIVES(in_a_string, 0.9, 0.7);
  EXPECT_DERIVATIVES(in_a_map, 0.9, 0.7);
  EXPECT_DERIVATIVES(in_a_queue, 0.9, 0.7);
}

// An object that stands for an element, as std::vector<bool> has them.
struct Place {
  std::vector<int>* v;
  int i;
  Place& operator=(int k) {
    (*v)[i] = k;
    return *this;
  }
};
struct Table {
  std::vector<int> d;
  Place operator[](int i) { return {&d, i}; }
};
double by_a_place(double x, double y) {
  Table t{{1, 2}};
  double s = x * t.d[1];
  for (int k = 0; k < 3; ++k) {
    t[1] = k + 5;
    s = 0.1 * s * s * t.d[1] + y;
    t[0] = t.d[1] + 1;
  }
  return s * t.d[0];
}
double flags(double x, double y) {
  std::map<int, std::vector<bool>> m;
  m[0].assign(3, true);
  std::deque<std::vector<bool>> q{{true, false}};
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s *= m[0][k] ? x * y : y;
    m[0][2] = false;
    s += m.at(0)[k] ? x : y * s;
    const auto it = q.begin();
    s *= (*it)[k % 2] ? y : x * x;
  }
  return s;
}
struct Job {
  int k = 1;
  std::vector<Job> after;
};
int length(const Job& job) {
  int n = job.k;
  for (const Job& next : job.after) n += length(next);
  return n;
}
double of_itself(double x, double y) {
  Job job;
  job.after.push_back(Job{2});
  job.after[0].after.push_back(Job{3});
  double s = x;
  for (int k = 0; k < 2; ++k) {
    s *= s * length(job) * 0.1 + y;
    job.after[0].k++;
  }
  return s;
}
TEST(State, OfElements) {
  EXPECT_DERIVATIVES(of_itself, 0.9, 0.7);
  EXPECT_DERIVATIVES(by_a_place, 0.9, 0.7);
  EXPECT_DERIVATIVES(flags, 0.9, 0.7);
}

// Sources of random numbers, and files: nothing of them is put back.
class Noise {
  std::mt19937* g_;
  std::uniform_real_distribution<double> d_;

 public:
  explicit Noise(std::mt19937& g) : g_(&g), d_(0, 1) {}
  double next() { return d_(*g_); }
};
double noisy(double x, Noise& r) { return x * r.next() + r.next(); }
class OwnNoise {
  std::mt19937 g_;
  std::normal_distribution<double> d_;

 public:
  explicit OwnNoise(int seed) : g_(seed), d_(0, 1) {}
  double next() { return d_(g_); }
};
double noisy(double x, OwnNoise& r) { return x * r.next() + r.next(); }
double random(double x, double y) {
  struct Uniform {
    std::mt19937& g;
    double operator()() { return std::uniform_real_distribution<double>(0, 1)(g); }
  };
  std::mt19937 g(3);
  Uniform u{g};
  Noise r(g);
  double s = x;
  OwnNoise own(5);
  for (int k = 0; k < 3; ++k) s = s * 0.5 * u() + noisy(y, r) * s + r.next() * noisy(s, own);
  return s;
}
double written(double x, double y) {
  FILE* f = std::fopen("/dev/null", "w");
  double s = x;
  for (int k = 0; k < 3; ++k) {
    std::fprintf(f, "%g", s);
    if (s > 1e9) fprintf(stderr, "%g", s);
    std::fputs("", stdout);
    s *= 0.3 * s * y;
    std::fflush(stdout);
  }
  std::fclose(f);
  return s;
}
std::atomic<int> counter{1};
double counted(double x, double y) {
  counter = 1;
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s *= 0.2 * s * counter.load() + y;
    counter.fetch_add(k);
    s = std::sin(s * counter) + s;
  }
  return s;
}
TEST(State, ThatIsNotPutBack) {
  EXPECT_DERIVATIVES(random, 0.9, 0.7);
  EXPECT_DERIVATIVES(written, 0.9, 0.7);
  EXPECT_DERIVATIVES(counted, 0.4, 0.7);
}

}  // namespace
