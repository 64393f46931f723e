// A function as its user writes it, with two gradients: the plugin's and one written by hand.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cladtorch::bench {

struct Kernel {
  std::string name;
  std::vector<double> x;  ///< where the gradient is taken
  std::function<double(const double* x)> primal;
  std::function<void(const double* x, double* d_x)> by_hand, by_plugin;  ///< add to d_x
};

/// Numbers between `low` and `high`, the same in every run.
inline std::vector<double> numbers(int n, double low = 0.5, double high = 1.5) {
  std::vector<double> out;
  unsigned long long state = 88172645463325252ULL;
  for (int i = 0; i < n; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    out.push_back(low + (high - low) * static_cast<double>(state >> 11) * 0x1p-53);
  }
  return out;
}

/// Of functions that take the numbers and then sizes.
template <class Primal, class ByHand, class Gradient, class... Sizes>
Kernel kernel(std::string name, std::vector<double> x, Primal* primal, ByHand* by_hand,
              const Gradient& gradient, Sizes... sizes) {
  return {std::move(name), std::move(x), [=](const double* p) { return primal(p, sizes...); },
          [=](const double* p, double* d_p) { by_hand(p, sizes..., d_p); },
          [=](const double* p, double* d_p) { gradient.execute(p, sizes..., d_p); }};
}

// Each adds its kernels; `small` ones are for tests.
void add_series(std::vector<Kernel>& to, bool small);
void add_linear_algebra(std::vector<Kernel>& to, bool small);
void add_simulations(std::vector<Kernel>& to, bool small);
void add_models(std::vector<Kernel>& to, bool small);

}  // namespace cladtorch::bench
