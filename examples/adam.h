// The optimizer of the examples.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace examples {

/// Adam (Kingma and Ba, 2015).
class Adam {
 public:
  explicit Adam(std::size_t n) : mean_(n), square_(n) {}
  template <class Numbers>
  void update(Numbers& x, const Numbers& d, double rate) {
    const double one = 1 - std::pow(0.9, ++time_), two = 1 - std::pow(0.999, time_);
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean_[i] += 0.1 * (d[i] - mean_[i]);
      square_[i] += 0.001 * (d[i] * d[i] - square_[i]);
      x[i] -= rate * mean_[i] / one / (std::sqrt(square_[i] / two) + 1e-8);
    }
  }

 private:
  int time_ = 0;
  std::vector<double> mean_, square_;
};

}  // namespace examples
