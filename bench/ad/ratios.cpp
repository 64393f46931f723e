// What a gradient costs: each kernel, its gradient written by hand and the plugin's, compiled alike and run
// in turns on one thread. The gradients are compared with each other and with differences of the kernel
// before anything is timed.
//
//   ad_ratios [--check] [--rounds N] [NAME...]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "bench/ad/kernel.h"

namespace cladtorch::bench {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The largest difference, relative to the largest element.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, size = 1e-300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) return HUGE_VAL;
    most = std::max(most, std::fabs(a[i] - b[i]));
    size = std::max(size, std::fabs(b[i]));
  }
  return most / size;
}

/// In a few directions, the derivative of each gradient against central differences.
double differences(const Kernel& k, const std::vector<double>& gradient) {
  double worst = 0;
  for (int trial = 0; trial < 4; ++trial) {
    std::vector<double> direction = numbers(static_cast<int>(k.x.size()) * (trial + 1), -1, 1);
    direction.erase(direction.begin(), direction.end() - static_cast<std::ptrdiff_t>(k.x.size()));
    const double h = 1e-6;
    std::vector<double> up = k.x, down = k.x;
    double expected = 0, size = 0;
    for (std::size_t i = 0; i < k.x.size(); ++i) {
      up[i] += h * direction[i];
      down[i] -= h * direction[i];
      expected += gradient[i] * direction[i];
      size += std::fabs(gradient[i] * direction[i]);
    }
    const double got = (k.primal(up.data()) - k.primal(down.data())) / (2 * h);
    worst = std::max(worst, std::fabs(got - expected) / std::max(size, 1e-300));
  }
  return worst;
}

bool correct(const Kernel& k) {
  std::vector<double> hand(k.x.size(), 0.25), ours(k.x.size(), 0.25), again = k.x;
  k.by_hand(k.x.data(), hand.data());
  k.by_plugin(again.data(), ours.data());
  const double apart = distance(ours, hand);
  for (double& d : ours) d -= 0.25;
  const double off = differences(k, ours);
  if (apart < 1e-10 && off < 1e-6 && again == k.x) return true;
  std::printf("%s: wrong: %.1e from the gradient by hand, %.1e from differences\n", k.name.c_str(), apart,
              off);
  return false;
}

/// Nanoseconds of this thread for a call of f, of as many calls as take a part of a millisecond.
template <class F>
double nanoseconds(F&& f, int calls) {
  auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  for (int i = 0; i < calls; ++i) f();
  return (now() - start) / calls;
}

/// Medians over the rounds: of each round's ratios, whose parts were measured one after the other.
struct Times {
  double primal, by_hand, by_plugin, ratio;
};
Times measure(const Kernel& k, int rounds) {
  std::vector<double> d_x(k.x.size());
  volatile double sink = 0;
  auto primal = [&] { sink = k.primal(k.x.data()); };
  auto by_hand = [&] { k.by_hand(k.x.data(), d_x.data()); };
  auto by_plugin = [&] { k.by_plugin(k.x.data(), d_x.data()); };
  int calls = 1;
  while (nanoseconds(by_hand, calls) * calls < 3e5) calls *= 2;
  std::vector<double> p, h, g, ratios;
  for (int r = 0; r < rounds; ++r) {
    const double value = nanoseconds(primal, calls), hand = nanoseconds(by_hand, calls),
                 ours = nanoseconds(by_plugin, calls);
    p.push_back(value);
    h.push_back(hand / value);
    g.push_back(ours / value);
    ratios.push_back(ours / hand);
  }
  return {median(p), median(h), median(g), median(ratios)};
}

int run(int argc, char** argv) {
  bool check = false;
  int rounds = 41;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--check"))
      check = true;
    else if (!std::strcmp(argv[i], "--rounds") && i + 1 < argc)
      rounds = std::max(1, std::atoi(argv[++i]));
    else
      wanted.emplace_back(argv[i]);
  }
  std::vector<Kernel> all;
  for (const bool small : {true, false}) {
    all.clear();
    add_series(all, small);
    add_linear_algebra(all, small);
    add_simulations(all, small);
    add_models(all, small);
    std::erase_if(all, [&](const Kernel& k) {
      return !wanted.empty() && std::find(wanted.begin(), wanted.end(), k.name) == wanted.end();
    });
    if (!std::all_of(all.begin(), all.end(), correct)) return 1;
    if (check) return 0;
  }
  std::printf(
      "| kernel | primal, ns | by hand / primal | plugin / primal | plugin / by hand |\n"
      "| --- | --- | --- | --- | --- |\n");
  std::vector<double> ratios;
  for (const Kernel& k : all) {
    const Times t = measure(k, rounds);
    ratios.push_back(t.ratio);
    std::printf("| %s | %.0f | %.2f | %.2f | %.2f |\n", k.name.c_str(), t.primal, t.by_hand, t.by_plugin,
                t.ratio);
    std::fflush(stdout);
  }
  if (!ratios.empty())
    std::printf("\nMedian of plugin / by hand: %.2f; largest: %.2f. One thread, medians of %d rounds.\n",
                median(ratios), *std::max_element(ratios.begin(), ratios.end()), rounds);
  return 0;
}

}  // namespace
}  // namespace cladtorch::bench

int main(int argc, char** argv) { return cladtorch::bench::run(argc, argv); }
