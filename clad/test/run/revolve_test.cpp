// The schedule of binomial checkpointing by itself: as short as can be, within its memory, and in order.
#include "clad/Differentiator/Revolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace {

using clad::revolve::unknown;

/// A variable whose copies are counted.
struct Counted {
  std::size_t value = 0;
  bool copy = false;
  static inline int live = 0, peak = 0;
  Counted() = default;
  Counted(const Counted& other) : value(other.value), copy(true) { peak = std::max(peak, ++live); }
  Counted& operator=(const Counted& other) {
    value = other.value;
    return *this;
  }
  ~Counted() { live -= copy; }
};

struct Measured {
  std::size_t forward = 0;   ///< iterations run before the reversal starts
  std::size_t advanced = 0;  ///< and during it
  std::size_t reversed = 0;
  int peak = 0;
  bool in_order = true;
  bool restored = false;
};

/// Reverses a loop of n iterations, which carry how many of them have run.
Measured measure(clad::checkpoint_budget budget, std::size_t n, bool known) {
  Measured m;
  Counted at;
  Counted::peak = Counted::live = 0;
  {
    clad::snapshots<Counted> loop;
    const auto state = clad::carried(at);
    std::size_t* runs = &m.forward;
    const auto step = [&] { ++at.value, ++*runs; };
    loop.forward(budget, known ? n : unknown, state, n > 0, [&] { return at.value < n; }, step);
    m.in_order = at.value == n;
    at.value = 12345;  // the rest of the program
    runs = &m.advanced;
    loop.reverse(state, step, [&] {
      m.in_order &= at.value == n - 1 - m.reversed;
      ++m.reversed;
      at.value = 54321;
    });
    m.restored = n == 0 || at.value == 0;
  }
  m.peak = Counted::peak;
  EXPECT_EQ(Counted::live, 0);
  return m;
}

/// The fewest runs, by trying every place for the next snapshot.
std::size_t fewest(std::size_t n, std::size_t snapshots) {
  static std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  if (n <= 1) return 0;
  if (snapshots == 1) return n * (n - 1) / 2;
  if (auto it = known.find({n, snapshots}); it != known.end()) return it->second;
  std::size_t best = unknown;
  for (std::size_t m = 1; m < n; ++m)
    best = std::min(best, m + fewest(m, snapshots) + fewest(n - m, snapshots - 1));
  return known[{n, snapshots}] = best;
}

/// The same where all iterations have run before: how many are run again.
std::size_t fewest_again(std::size_t n, std::size_t snapshots) {
  static std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  if (n <= 1) return 0;
  if (snapshots == 1) return n * (n - 1) / 2;
  if (auto it = known.find({n, snapshots}); it != known.end()) return it->second;
  std::size_t best = unknown;
  for (std::size_t m = 1; m < n; ++m)
    best = std::min(best, fewest(m, snapshots) + fewest_again(n - m, snapshots - 1));
  return known[{n, snapshots}] = best;
}

TEST(Revolve, TheClosedFormIsTheFewestRuns) {
  for (std::size_t c = 1; c <= 20; ++c)
    for (std::size_t n = 1; n <= 200; ++n)
      ASSERT_EQ(clad::revolve::runs(n, c), fewest(n, c)) << n << " iterations, " << c << " snapshots";
}

TEST(Revolve, OfAKnownNumberOfIterationsTheScheduleIsTheBest) {
  for (std::size_t c = 1; c <= 20; ++c)
    for (std::size_t n = 0; n <= 200; ++n) {
      const Measured m = measure(clad::at_most(c), n, true);
      SCOPED_TRACE(std::to_string(n) + " iterations, " + std::to_string(c) + " snapshots");
      ASSERT_EQ(m.forward, n);
      ASSERT_EQ(m.reversed, n);
      ASSERT_TRUE(m.in_order);
      ASSERT_TRUE(m.restored);
      ASSERT_LE(m.peak, static_cast<int>(c));
      ASSERT_EQ(m.forward + m.advanced, clad::revolve::runs(n + 1, c));
      ASSERT_EQ(m.advanced, fewest_again(n, c));
    }
}

TEST(Revolve, OfAnUnknownNumberEveryIterationIsReversedInOrder) {
  for (std::size_t c = 1; c <= 20; ++c)
    for (std::size_t n = 0; n <= 200; ++n) {
      const Measured m = measure(clad::at_most(c), n, false);
      SCOPED_TRACE(std::to_string(n) + " iterations, " + std::to_string(c) + " snapshots");
      ASSERT_EQ(m.forward, n);
      ASSERT_EQ(m.reversed, n);
      ASSERT_TRUE(m.in_order);
      ASSERT_TRUE(m.restored);
      ASSERT_LE(m.peak, static_cast<int>(c));
      ASSERT_LE(m.forward + m.advanced, clad::revolve::runs(n + 1, c) * (c > 6 ? 1.5 : 2.5));
    }
}

TEST(Revolve, WithoutABudgetNoIterationRunsMoreThanThreeTimesAgain) {
  for (const std::size_t n : {0, 1, 2, 10, 200, 1000, 12345})
    for (const bool known : {true, false}) {
      const Measured m = measure({}, n, known);
      ASSERT_TRUE(m.in_order && m.restored && m.reversed == n);
      ASSERT_LE(m.peak, static_cast<int>(clad::revolve::three_repeats(n)));
      ASSERT_LE(m.forward + m.advanced, (known ? 3 : 4) * n + 3) << n << known;
    }
  EXPECT_EQ(clad::revolve::three_repeats(200), 9u);
  EXPECT_EQ(clad::revolve::three_repeats(1000000), 180u);
}

TEST(Revolve, ABudgetInBytesIsDividedByTheSizeOfTheState) {
  for (const std::size_t n : {10, 100}) {
    double x = 0;
    std::vector<double> v(16, 1.0);
    std::vector<std::vector<float>> rows(3, std::vector<float>(5));
    int i = 0;
    const std::size_t size = 8 + (24 + 16 * 8) + (24 + 3 * (24 + 5 * 4)) + 4;
    std::size_t advanced = 0;
    clad::snapshots<double, std::vector<double>, std::vector<std::vector<float>>, int> loop;
    const auto state = clad::carried(x, v, rows, i);
    const auto step = [&] { ++i, ++advanced; };
    loop.forward(
        clad::at_most_bytes(5 * size + 10), n, state, true, [&] { return i < static_cast<int>(n); }, step);
    loop.reverse(state, step, [&] { ++i; });
    EXPECT_EQ(advanced, clad::revolve::runs(n + 1, 5));
  }
}

TEST(Revolve, TripsCountTheIterationsOfALoop) {
  EXPECT_EQ(clad::trips<int>(0, 10, 1), 10u);
  EXPECT_EQ(clad::trips<int>(0, 10, 3), 4u);
  EXPECT_EQ(clad::trips<int>(3, 3, 1), 0u);
  EXPECT_EQ(clad::trips<int>(5, 3, 1), 0u);
  EXPECT_EQ(clad::trips<int>(10, 0, -3), 4u);
  EXPECT_EQ(clad::trips<unsigned>(2, 9, 7), 1u);
  EXPECT_EQ(clad::trips<std::size_t>(0, 1000000, 1), 1000000u);
}

TEST(Revolve, ReachSaturates) {
  EXPECT_EQ(clad::revolve::reach(8, 4), 495u);
  EXPECT_EQ(clad::revolve::reach(3, 0), 1u);
  EXPECT_EQ(clad::revolve::reach(1000, 1000), unknown);
  EXPECT_LE(clad::revolve::repeats(unknown - 1, 20), 1000u);
}

}  // namespace
