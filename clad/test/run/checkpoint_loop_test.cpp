// clad::checkpoint_loop: the same gradients, with the iterations and the memory that it promises.
#include <cmath>
#include <memory>
#include <span>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::buffer;

int steps = 0;  // iterations that have run
double count(double x) {
  ++steps;
  return x;
}

/// Counts the copies of the object it is in.
struct Token {
  bool copy = false;
  static inline int live = 0, peak = 0;
  Token() = default;
  Token(const Token&) : copy(true) { peak = std::max(peak, ++live); }
  Token& operator=(const Token&) { return *this; }
  ~Token() { live -= copy; }
};
struct Counted {
  double x = 0;
  CLAD_CONSTANT Token token;  // which no number depends on
};

thread_local std::uint64_t drawn = 0;
const clad::replayed numbers([] { return drawn; }, [](std::uint64_t place) { drawn = place; });
double draw() { return std::sin(static_cast<double>(++drawn)); }

namespace marked {
#define CHECKPOINT(kind, ...) clad::checkpoint_##kind(__VA_ARGS__)
#include "clad/test/run/checkpoint_loops.h"
}  // namespace marked
namespace unmarked {
#undef CHECKPOINT
#define CHECKPOINT(kind, ...)
#include "clad/test/run/checkpoint_loops.h"
}  // namespace unmarked

/// What the gradient adds to adjoints that are zero.
template <class G, class... A>
std::vector<long double> adjoints_of(const G& gradient, const A&... args) {
  std::tuple<A...> primals(args...), adjoints(args...);
  const std::vector<long double> at = clad::test::flatten(adjoints);
  for (std::size_t i = 0; i < at.size(); ++i) clad::test::add_to(adjoints, i, -at[i]);
  std::apply(
      [&](auto&... p) {
        std::apply(
            [&](auto&... d) {
              gradient.execute(clad::test::as_argument(p)..., clad::test::as_adjoint(d)...);
            },
            adjoints);
      },
      primals);
  return clad::test::flatten(adjoints);
}

/// How far two gradients are apart, in units of the larger number.
long double distance(const std::vector<long double>& a, const std::vector<long double>& b) {
  long double most = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    most = std::max(most,
                    std::fabs(a[i] - b[i]) / std::max(1e-300L, std::max(std::fabs(a[i]), std::fabs(b[i]))));
  return most;
}

/// The gradient with the mark is that without, but for the order of sums.
#define EXPECT_SAME_GRADIENT(f, ...)                                         \
  EXPECT_LE(distance(adjoints_of(clad::gradient(marked::f), __VA_ARGS__),    \
                     adjoints_of(clad::gradient(unmarked::f), __VA_ARGS__)), \
            1e-13L)
/// And it agrees with finite differences.
#define EXPECT_LOOP_GRADIENT(f, ...)    \
  EXPECT_SAME_GRADIENT(f, __VA_ARGS__); \
  EXPECT_GRADIENT(marked::f, __VA_ARGS__)
#define EXPECT_LOOP_GRADIENT_IN_PLACE(f, ...) \
  EXPECT_SAME_GRADIENT(f, __VA_ARGS__);       \
  EXPECT_GRADIENT_IN_PLACE(marked::f, __VA_ARGS__)

double heat(const std::vector<double>& start, double k, int n) {
  std::vector<double> u = start, next = start;
#pragma clad checkpoint loop
  for (int t = 0; t < n; ++t) {
    for (std::size_t i = 1; i + 1 < u.size(); ++i)
      next[i] = u[i] + k * (u[i - 1] - 2 * u[i] * u[i] + u[i + 1]);
    std::swap(u, next);
  }
  double s = 0;
  for (double v : u) s += v * v;
  return s;
}

TEST(CheckpointLoop, TheGradientIsTheSameAndTheIterationsAreTheFewest) {
  const auto with = clad::gradient(marked::wave, "x");
  const auto without = clad::gradient(unmarked::wave, "x");
  for (const int n : {0, 1, 2, 3, 7, 20, 100})
    for (const int c : {1, 2, 3, 8, 200}) {
      double dx = 0, expected = 0;
      without.execute(0.7, n, c, &expected);
      steps = 0;
      with.execute(0.7, n, c, &dx);
      EXPECT_EQ(dx, expected) << n << " iterations, " << c << " snapshots";
      const auto repeated = clad::revolve::runs(static_cast<std::size_t>(n) + 1, static_cast<std::size_t>(c));
      EXPECT_EQ(static_cast<std::size_t>(steps), repeated + static_cast<std::size_t>(n));
      EXPECT_EQ(marked::wave(0.7, n, c), unmarked::wave(0.7, n, c));
    }
  EXPECT_GRADIENT(marked::wave, 0.7, 9, 3);
}

TEST(CheckpointLoop, NoMoreSnapshotsLiveThanAllowed) {
  for (const int n : {1, 4, 5, 6, 50, 300}) {
    Token::live = Token::peak = 0;
    double dx = 0;
    clad::gradient(marked::keeps, "x").execute(0.7, n, &dx);
    EXPECT_LE(Token::peak, 5 + 1) << "and one for the adjoint";
    EXPECT_GE(Token::peak, std::min(n, 5));
    EXPECT_EQ(Token::live, 0);
  }
  EXPECT_LOOP_GRADIENT(keeps, 0.7, 12);
}

TEST(CheckpointLoop, APragmaMarksALoopToo) {
  EXPECT_GRADIENT(heat, (std::vector<double>{0.1, 0.2, 0.7, 0.3, 0.5}), 0.1, 12);
  EXPECT_NE(clad::gradient(heat).getCode(), nullptr);
  EXPECT_NE(std::string(clad::gradient(heat).getCode()).find("clad::snapshots"), std::string::npos);
}

TEST(CheckpointLoop, ABudgetOfBytes) {
  EXPECT_LOOP_GRADIENT(bytes, (std::vector<double>{0.4, 0.2, 0.7}), 15);
  std::vector<double> d(3);
  steps = 0;
  clad::gradient(marked::bytes, "start").execute(std::vector<double>{0.4, 0.2, 0.7}, 40, &d);
  EXPECT_EQ(static_cast<std::size_t>(steps), clad::revolve::runs(41, 4) + 40);
}

TEST(CheckpointLoop, TheNumberOfIterationsMayBeUnknown) {
  EXPECT_LOOP_GRADIENT(newton, 7.0);
  for (const int n : {0, 1, 2, 5, 12, 40}) {
    EXPECT_LOOP_GRADIENT(breaks, 0.7, n);
    EXPECT_LOOP_GRADIENT(returns, 0.3, n);
    EXPECT_LOOP_GRADIENT(at_least_once, 0.7, n);
    EXPECT_SAME_GRADIENT(declared, 0.7, n);
  }
  EXPECT_LOOP_GRADIENT(forever, 0.9);
  EXPECT_GRADIENT(marked::declared, 0.7, 2);
}

TEST(CheckpointLoop, RangesAndCountersOfManyKinds) {
  EXPECT_LOOP_GRADIENT(weights, (std::vector<double>{0.4, 0.9, 0.7, 0.3, 0.5}), 0.6);
  EXPECT_LOOP_GRADIENT(weights, (std::vector<double>{}), 0.6);
  EXPECT_LOOP_GRADIENT(changes_range, (std::vector<double>{0.4, 0.9, 0.7}));
  EXPECT_SAME_GRADIENT(counters, 0.4, 17);
  EXPECT_LOOP_GRADIENT(counters, 0.4, 4);
  EXPECT_LOOP_GRADIENT(counters, 0.4, 0);
}

TEST(CheckpointLoop, ObjectsAndReferences) {
  const marked::Particle p{{0.3, 0.8}, {0.5, -0.2}, {0, 0}, {0.2, 0.4}};
  EXPECT_GRADIENT(marked::by_value, p, 0.1, 11);
  EXPECT_METHOD_GRADIENT_IN_PLACE(&marked::Particle::run, p, 0.1, 11);
  EXPECT_GRADIENT_IN_PLACE(marked::by_reference, p, 0.1, 11);
}

TEST(CheckpointLoop, ArraysAndPointers) {
  EXPECT_LOOP_GRADIENT(three, 0.4, 0.3, 0.7, 9);
  EXPECT_LOOP_GRADIENT_IN_PLACE(pointer, (buffer<double>{0.4, 0.3, 0.2}), (buffer<double>{0.7, 0.8, 0.9}), 8,
                                3);
  EXPECT_LOOP_GRADIENT_IN_PLACE(two_pointers, (buffer<double>{0.4, 0.3}), (buffer<double>{0.7, 0.8}), 7);
  EXPECT_LOOP_GRADIENT(heap, 0.4, 8);
}

TEST(CheckpointLoop, AliasesAndVariablesThatChangeElsewhere) {
  EXPECT_LOOP_GRADIENT(aliases, 0.4, 7);
  EXPECT_LOOP_GRADIENT(twice_the_same, 0.4, 5);
  EXPECT_LOOP_GRADIENT_IN_PLACE(same, 0.4, 0.6, 5);
  EXPECT_LOOP_GRADIENT(overwritten, 0.4, 5);
  EXPECT_LOOP_GRADIENT(grows, 0.4, 9);
}

TEST(CheckpointLoop, NestedAndConditional) {
  EXPECT_LOOP_GRADIENT(inner_only, 0.4, 4, 6);
  EXPECT_LOOP_GRADIENT(both, 0.4, 5, 6);
  EXPECT_LOOP_GRADIENT(both, 0.4, 5, 0);
  EXPECT_LOOP_GRADIENT(conditional, 0.4, 6);
  EXPECT_LOOP_GRADIENT(conditional, 0.05, 6);
}

TEST(CheckpointLoop, CallsInIt) {
  EXPECT_LOOP_GRADIENT(calls, 0.4, 0.8, 7);
  EXPECT_LOOP_GRADIENT(checkpointed, 0.4, 0.8, 7);
  EXPECT_LOOP_GRADIENT(recursive, 0.4, 5);
}

TEST(CheckpointLoop, DrawsTheSameNumbersAgain) {
  drawn = 0;
  double dx = 0;
  clad::gradient(marked::noise, "x").execute(0.5, 9, &dx);
  EXPECT_EQ(drawn, 9u);
  const auto at = [](double x) { return drawn = 0, marked::noise(x, 9); };
  EXPECT_NEAR(dx, (at(0.5 + 1e-6) - at(0.5 - 1e-6)) / 2e-6, 1e-8);
}

TEST(CheckpointLoop, SecondDerivatives) {
  double h[4] = {}, plain_h[4] = {};
  clad::hessian(marked::quartic, "x, y").execute(0.4, 0.7, 5, h);
  clad::hessian(unmarked::quartic, "x, y").execute(0.4, 0.7, 5, plain_h);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(h[i], plain_h[i]);
  EXPECT_NE(h[1], 0);
  double vx = 1, vy = 2, px = 0, py = 0;
  clad::hessian_vector_product(marked::quartic, "x, y").execute(0.4, 0.7, 5, &vx, &vy, &px, &py);
  EXPECT_NEAR(px, h[0] + 2 * h[1], 1e-13);
  EXPECT_NEAR(py, h[2] + 2 * h[3], 1e-13);
  const auto second = clad::differentiate<2>(marked::quartic, "x");
  EXPECT_NEAR(second.execute(0.4, 0.7, 5), h[0], 1e-13);
}

TEST(CheckpointLoop, ErrorEstimates) {
  double d = 0, e = 0, plain_d = 0, plain_e = 0;
  clad::estimate_error(marked::error_of, "x").execute(0.5, 6, &d, e);
  clad::estimate_error(unmarked::error_of, "x").execute(0.5, 6, &plain_d, plain_e);
  EXPECT_EQ(d, plain_d);
  EXPECT_EQ(e, plain_e);
  EXPECT_GT(e, 0);
}

TEST(CheckpointLoop, WhatTheResultDoesNotDependOn) { EXPECT_LOOP_GRADIENT(inactive, 0.5, 6); }

TEST(CheckpointLoop, AllKindsOfPrograms) {
  EXPECT_LOOP_GRADIENT(incremented, 0.7, 6);
  EXPECT_LOOP_GRADIENT(in_a_lambda, 0.7, 0.4, 5);
  EXPECT_LOOP_GRADIENT(without_default, 0.7, 0.1, 9);
  EXPECT_LOOP_GRADIENT(pairs, (std::vector<std::pair<double, double>>{{0.3, 0.5}, {0.6, 0.1}, {0.9, 0.2}}),
                       0.7);
  EXPECT_LOOP_GRADIENT(walk, (buffer<double>{0.4, 0.3, 0.2, 0.6}), 4, 0.8);
  EXPECT_LOOP_GRADIENT(swapped, 0.4, 5);
  EXPECT_LOOP_GRADIENT(spans, (std::vector<double>{0.4, 0.3, 0.2}), 5);
  for (const int n : {0, 1, 2, 5, 9}) {
    EXPECT_LOOP_GRADIENT(switches, 0.6, n);
  }
}

double records_nothing(double x, double y) {
  double last = 1.5;
  for (int i = 0; i < 3; ++i) {
    clad::checkpoint_loop(2);
    last = x;
    x = std::log(last + y);
  }
  return last * y + x;
}
double swaps_places(double x, double y) {
  double last = y, before = 1;
  for (int i = 0; i < 4; ++i) {
    clad::checkpoint_loop(2);
    before = last;
    last = x;
    x = std::sin(last) * before;
  }
  return x + last * before;
}
double second_of(double x, double* only_read) { return x * only_read[1]; }
double reads_an_array(double x, double y) {
  double a[2]{x, y};
  for (int i = 0; i < 4; ++i) {
    clad::checkpoint_loop(1);
    x = std::sin(second_of(x + a[0], a));
  }
  return x;
}
double assigns_inside(double x) {
  double last = 1.5;
  for (int i = 0; i < 2; ++i) {
    clad::checkpoint_loop(3);
    x = std::log2((last = x) + 1);
  }
  return last;
}
void relax(double* u, int n, double k) {
  for (int t = 0; t < 3; ++t) {
    clad::checkpoint_loop(2, std::span(u, n));
    for (int i = 0; i < n; ++i) u[i] += k * u[i] * u[i];
  }
}
double relaxed(double x, double y) {
  double u[2] = {x, y};
  relax(u, 2, y);
  return u[0] * u[1];
}
TEST(CheckpointLoop, KeepsTheTangentsOfASpan) { EXPECT_DERIVATIVES(relaxed, 0.3, 0.7); }

TEST(CheckpointLoop, RunsAnIterationAgainThatNeedsNoRecord) {
  EXPECT_GRADIENT(records_nothing, 1.3, 0.7);
  EXPECT_GRADIENT(swaps_places, 1.3, 0.7);
  EXPECT_GRADIENT(reads_an_array, 1.3, 0.7);
  EXPECT_GRADIENT(assigns_inside, 0.7);
}

}  // namespace
