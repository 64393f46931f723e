#include "cladtorch/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"

namespace cladtorch {

std::string to_string(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::constant:
      return "constant";
    case ScheduleKind::linear:
      return "linear";
    case ScheduleKind::cosine:
      return "cosine";
    case ScheduleKind::wsd:
      return "wsd";
  }
  return "unknown";
}

ScheduleKind schedule_kind_from_string(const std::string& name) {
  for (const auto kind :
       {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd}) {
    if (to_string(kind) == name) return kind;
  }
  fail("schedule.kind: expected constant, linear, cosine or wsd, got ", in_quotes(name));
}

double Schedule::at(int64_t step, int64_t steps) const {
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
      return peak;
    case ScheduleKind::linear:
    case ScheduleKind::wsd:
      return peak + (minimum - peak) * progress;
    case ScheduleKind::cosine:
      return minimum + (peak - minimum) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  }
  return peak;
}

}  // namespace cladtorch
