// Learning rates over the course of a training run.
#pragma once

#include <cstdint>
#include <string>

namespace cladtorch {

enum class ScheduleKind {
  constant,     ///< the peak after the warm-up
  linear,       ///< a straight line from the peak to the minimum
  cosine,       ///< half a cosine from the peak to the minimum
  wsd,          ///< warm-up, stable, decay: the peak, then a straight line to the minimum at the end
  step,         ///< times gamma after each step_size updates, down to the minimum: StepLR
  exponential,  ///< from the peak to the minimum, which is not 0, by the same factor in each update
  one_cycle,    ///< OneCycleLR: half a cosine up to the peak, over the warm-up, and half a cosine down
};

/// "constant", "linear", "cosine", "wsd", "step", "exponential" or "one_cycle", and back; throws Error on
/// another name.
std::string to_string(ScheduleKind kind);
ScheduleKind schedule_kind_from_string(const std::string& name);

/// A learning rate for each step of a run: a line from near 0 to `peak` over `warmup` steps, then by `kind`.
/// lr_scheduler.h has the schedules of PyTorch with all their numbers.
struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 1e-3;
  double minimum = 1e-4;
  int64_t warmup = 100;
  double decay_fraction = 0.2;  ///< wsd only: the part of the run, at its end, over which the rate falls
  int64_t step_size = 1000;     ///< step only
  double gamma = 0.1;           ///< step only

  /// The rate of the update `step` (0 <= step < steps). The first update already has peak / (warmup + 1); the
  /// minimum is reached at `steps`, one after the last update. one_cycle begins with peak / 25, has the peak
  /// at update warmup - 1 and the minimum at steps - 1.
  double at(int64_t step, int64_t steps) const;
};

}  // namespace cladtorch
