// What the reverse sweep puts back while references and pointers into it are alive.
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Noise {
  unsigned calls = 0;
  double operator()() { return std::sin(++calls); }
};
struct Filter {
  std::vector<double> particles;
  Noise noise;
  double gain;
  void step() {
    for (double& p : particles) p = gain * p * p + noise();
  }
};
double filtered(double x, double y) {
  Filter f{{0.3, 0.5}, {}, y};
  f.step();
  f.step();
  return x * f.particles[1];
}
double several_filters(double x, double y) {
  std::vector<Filter> filters;
  for (int i = 0; i < 2; ++i) filters.push_back({{x, 0.2}, {}, y});
  for (Filter& f : filters) {
    f.step();
    f.step();
  }
  return filters[0].particles[0] * filters[1].particles[1];
}
TEST(Restores, AGeneratorBesideAVectorThatIsWalked) {
  EXPECT_DERIVATIVES(filtered, 1.3, 0.7);
  EXPECT_DERIVATIVES(several_filters, 1.3, 0.7);
}

// Init() finds flags that have no value yet: what keeps them may not read them (-fsanitize=bool,enum).
enum Wave { kSine, kSquare };
struct Oscillator {
  Oscillator() {}
  void init(double rate) {
    phase = 0;
    step = rate;
    wave = kSine;
    ended = true;
    for (bool& v : voices) v = false;
  }
  double next() {
    phase += step;
    ended = phase > 1;
    if (ended) phase -= 1;
    voices[ended] = true;
    if (voices[0] && voices[1]) wave = kSquare;
    return wave == kSine ? std::sin(6 * phase) : phase < 0.5 ? step : -step * step;
  }
  double phase, step;
  Wave wave;
  bool ended;
  bool voices[2];
};
double sounded(double x, double y) {
  Oscillator o;
  double sum = 0;
  for (int k = 1; k < 3; ++k) {
    o.init(x / (2 * k));
    for (int i = 0; i < 5; ++i) sum += o.next() * y;
  }
  return sum;
}
TEST(Restores, FlagsWithoutAValue) { EXPECT_DERIVATIVES(sounded, 0.83, 0.7); }

struct Walk {
  std::vector<double> state;
  std::mt19937 generator{7};
};
void advance(Walk& w, double k) {
  std::uniform_real_distribution<double> noise(0, 1);
  for (double& e : w.state) {
    e = k * e + 0.1 * noise(w.generator);
    e *= e;
  }
}
double walked(double x, double y) {
  Walk w{{x, y, x * y}};
  advance(w, x);
  advance(w, y);
  return w.state[0] * w.state[1] * w.state[2];
}
TEST(Restores, AGeneratorOfTheLibrary) { EXPECT_DERIVATIVES(walked, 1.3, 0.7); }

struct Path {
  std::vector<double> at;
  std::mt19937 generator{7};
  std::normal_distribution<double> noise;
  std::uniform_real_distribution<> step{0.5, 1.5};
  void go(double k) {
    for (double& e : at) {
      e = k * e + 0.1 * noise(generator) * step(generator);
      e *= e;
    }
    noise.reset();
  }
};
double gone(double x, double y) {
  Path p{{x, y, x * y}};
  p.go(x);
  p.go(y);
  return p.at[0] * p.at[1] * p.at[2];
}
TEST(Restores, DistributionsBesideAVectorThatIsWalked) { EXPECT_DERIVATIVES(gone, 1.3, 0.7); }

struct Body {
  double x, v;
};
struct World {
  std::vector<Body> bodies;
  std::map<std::string, int> log;
  std::vector<int> order;
  double dt;
  void run() {
    for (Body& b : bodies) {
      log["kick"]++;
      b.v -= dt * b.x;
      order.push_back(log["kick"]);
      b.x += dt * b.v * b.v;
      log["drift"] += 2;
      b.v *= b.x;
    }
  }
};
double simulated(double x, double y) {
  World w{{{x, y}, {y, x}}, {}, {}, 0.1};
  w.run();
  w.run();
  return w.bodies[0].x * w.bodies[1].v * w.log["kick"] * w.order[3];
}
TEST(Restores, LogsBesideAVectorThatIsWalked) { EXPECT_DERIVATIVES(simulated, 1.3, 0.7); }

struct Counter {
  int n = 0;
  void tick() { ++n; }
};
struct Model {
  std::vector<double> w;
  std::vector<int> index;
  Counter counter;
};
double by_pointer(double x, double y) {
  Model m{{x, y}, {0, 1}, {}};
  double* a = m.w.data();
  for (int i = 0; i < 2; ++i) {
    m.counter.tick();
    a[1 - i] += a[i] * x;
    m.index[i] += 1;
    a[0] *= y * m.counter.n;
  }
  return a[0] * a[1] * m.index[1];
}
double nested(double x, double y) {
  struct {
    std::vector<std::vector<double>> rows;
    std::vector<int> times;
  } n{{{x, y}, {y, x}}, {}};
  for (std::vector<double>& row : n.rows)
    for (double& e : row) {
      n.times.push_back(1);
      e *= e * x;
      n.times.push_back(2);
      e += y * n.times.size();
    }
  return n.rows[0][0] * n.rows[1][1] + n.rows[0][1];
}
TEST(Restores, PointersAndNestedLoops) {
  EXPECT_DERIVATIVES(by_pointer, 1.3, 0.7);
  EXPECT_DERIVATIVES(nested, 1.3, 0.7);
}

struct Sized {
  std::vector<double> a;
  int n;
};
double assigned(double x, double y) {
  Sized t{{x, y}, 1};
  double& q = t.a[1];
  double* p = t.a.data();
  for (int i = 0; i < 3; ++i) {
    q *= x * p[0];
    const Sized u{{y * q, x}, 2};
    t = u;
    p[0] *= q * q;
    q += t.n * y;
  }
  return t.a[0] * t.a[1];
}
double grown(double x, double y) {
  std::vector<double> v{x, y};
  double& q = v[1];
  q *= x * q;
  const double s = v[0] * v[1];
  v.clear();
  v.push_back(y * s);
  v.push_back(x);
  double& r = v[0];
  r *= r;
  v.resize(1);
  v.push_back(x * r);
  return v[0] * v[1];
}
TEST(Restores, ObjectsAssignedAndVectorsGrown) {
  EXPECT_DERIVATIVES(assigned, 1.1, 0.7);
  EXPECT_DERIVATIVES(grown, 1.3, 0.7);
}

double of_a_map(double x, double y) {
  std::map<int, int> m{{1, 2}, {2, 3}};
  int& c = m[2];
  double s = x;
  for (int i = 0; i < 3; ++i) {
    m[i + 5]++;
    s *= y * c;
    c += i;
    m.erase(1);
  }
  return s * x;
}
TEST(Restores, AReferenceIntoAMap) { EXPECT_DERIVATIVES(of_a_map, 1.3, 0.7); }

struct Tree {
  std::vector<Tree> children;
  double value;
  int visits = 0;
  void visit() { ++visits; }
};
double of_trees(double x, double y) {
  Tree root{{{{}, x}, {{}, y}}, 1};
  for (Tree& t : root.children) {
    t.visit();
    t.value *= t.value * x;
    root.visit();
    t.value += y * root.visits;
  }
  return root.children[0].value * root.children[1].value;
}
TEST(Restores, ClassesThatHoldThemselves) { EXPECT_DERIVATIVES(of_trees, 1.3, 0.7); }

TEST(Restores, ElementsStayWhereTheyAre) {
  std::vector<double> v{1, 2, 3}, kept{4, 5};
  const double* second = &v[1];
  clad::put_back(v, kept);
  EXPECT_EQ(5, *second);
  std::map<int, int> m{{1, 10}, {2, 20}, {3, 30}}, before{{2, 21}, {4, 40}};
  const int* two = &m[2];
  clad::put_back(m, before);
  EXPECT_EQ(21, *two);
  EXPECT_EQ(before, m);
}

}  // namespace
