#include <algorithm>
#include <cmath>

#include "cladtorch/error.h"
#include "cladtorch/train/tensorboard.h"
#include "tensor/dispatch.h"

namespace cladtorch::train {
namespace {

constexpr double smallest = 1e-12, largest = 1e20, growth = 1.1;

/// Where buckets begin and end, ascending and symmetric about a zero.
const std::vector<double>& edges() {
  static const std::vector<double> result = [] {
    std::vector<double> positive;
    for (double limit = smallest; limit < largest; limit *= growth) positive.push_back(limit);
    std::vector<double> all;
    for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) all.push_back(-*limit);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return result;
}

/// The bucket [edges[i], edges[i + 1]) with `value`; what lies beyond the ends goes into the last ones.
size_t bucket_of(double value) {
  static const double per_e = 1.0 / std::log(growth), log_smallest = std::log(smallest);
  const std::vector<double>& edge = edges();
  const auto last = static_cast<int64_t>(edge.size()) - 2, zero = static_cast<int64_t>(edge.size() / 2);
  const double size = std::abs(value);
  // The logarithm finds the place up to rounding; the edges decide.
  const auto away =
      size < smallest ? int64_t{0} : static_cast<int64_t>((std::log(size) - log_smallest) * per_e) + 1;
  int64_t i = std::clamp(value < 0 ? zero - 1 - away : zero + away, int64_t{0}, last);
  while (i < last && value >= edge[static_cast<size_t>(i) + 1]) ++i;
  while (i > 0 && value < edge[static_cast<size_t>(i)]) --i;
  return static_cast<size_t>(i);
}

}  // namespace

Histogram::Histogram() : counts_(edges().size() - 1) {}

void Histogram::add(double value) {
  if (!std::isfinite(value)) return;
  ++counts_[bucket_of(value)];
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  sum_ += value;
  sum_of_squares_ += value * value;
}

void Histogram::add(const Tensor& values, double scale) {
  require(values.is_contiguous(), "histogram: the tensor is a strided view, expected dense storage");
  const bool zero = values.is_marked_zero();
  detail::dispatch_real("histogram", values.dtype(), [&]<class T>(T) {
    const T* data = values.data<T>();
    for (int64_t i = 0; i < values.numel(); ++i) add(zero ? 0.0 : scale * detail::convert<double>(data[i]));
  });
}

std::vector<std::pair<double, int64_t>> Histogram::buckets() const {
  const auto filled = [](int64_t count) { return count > 0; };
  const auto first = std::find_if(counts_.begin(), counts_.end(), filled);
  const auto last = std::find_if(counts_.rbegin(), counts_.rend(), filled).base();
  std::vector<std::pair<double, int64_t>> result;
  for (auto count = first; count < last; ++count) {
    result.emplace_back(edges()[static_cast<size_t>(count - counts_.begin()) + 1], *count);
  }
  return result;
}

}  // namespace cladtorch::train
