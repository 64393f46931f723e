#include "cladtorch/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "cladtorch/train/lr_scheduler.h"

namespace cladtorch {

namespace {

/// In the order of ScheduleKind.
constexpr const char* names[] = {"constant", "linear", "cosine", "wsd", "step", "exponential", "one_cycle"};

}  // namespace

std::string to_string(ScheduleKind kind) { return names[static_cast<size_t>(kind)]; }

ScheduleKind schedule_kind_from_string(const std::string& name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == std::end(names))
    fail("schedule.kind: expected constant, linear, cosine, wsd, step, exponential or one_cycle, got ",
         in_quotes(name));
  return static_cast<ScheduleKind>(found - names);
}

double Schedule::at(int64_t step, int64_t steps) const {
  if (kind == ScheduleKind::one_cycle) {
    OneCycleLR cycle{.max_lr = peak, .total_steps = steps};
    cycle.pct_start = static_cast<double>(warmup) / static_cast<double>(steps);
    cycle.final_div_factor =
        minimum > 0 ? peak / cycle.div_factor / minimum : std::numeric_limits<double>::infinity();
    return cycle.at(step);
  }
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  const double end = static_cast<double>(steps);
  const double begin = kind == ScheduleKind::wsd
                           ? std::max(static_cast<double>(warmup), end * (1.0 - decay_fraction))
                           : static_cast<double>(warmup);
  const double length = end - begin;
  const double progress =
      length > 0 ? std::clamp((static_cast<double>(step) - begin) / length, 0.0, 1.0) : 1.0;
  switch (kind) {
    case ScheduleKind::constant:
    case ScheduleKind::one_cycle:
      return peak;
    case ScheduleKind::step:
      return std::max(minimum, StepLR{peak, step_size, gamma}.at(step - warmup));
    case ScheduleKind::exponential:
      return peak * std::pow(minimum / peak, progress);
    case ScheduleKind::linear:
    case ScheduleKind::wsd:
      return peak + (minimum - peak) * progress;
    case ScheduleKind::cosine:
      return minimum + (peak - minimum) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  }
  return peak;
}

}  // namespace cladtorch
