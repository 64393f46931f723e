// How fast a session trains.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cladtorch::train {

/// Seconds per step, evaluations included. Recent steps count most: a busy machine comes and goes.
class Pace {
 public:
  /// `elapsed` is the time of all steps so far.
  void add_step(double elapsed) {
    const double newest = std::max(1.0 / static_cast<double>(++steps_), newest_step_weight);
    per_step_ += newest * (elapsed - elapsed_ - per_step_);
    elapsed_ = elapsed;
  }
  int64_t steps() const { return steps_; }
  double elapsed() const { return elapsed_; }
  double per_step() const { return per_step_; }

 private:
  /// Of the newest step in the running mean.
  static constexpr double newest_step_weight = 0.01;

  int64_t steps_ = 0;
  double elapsed_ = 0, per_step_ = 0;
};

}  // namespace cladtorch::train
