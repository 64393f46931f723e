#include "cladtorch/train/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cladtorch {

double StepLR::at(int64_t step) const { return lr * std::pow(gamma, static_cast<double>(step / step_size)); }

double ExponentialLR::at(int64_t step) const { return lr * std::pow(gamma, static_cast<double>(step)); }

double MultiStepLR::at(int64_t step) const {
  const auto passed = std::upper_bound(milestones.begin(), milestones.end(), step) - milestones.begin();
  return lr * std::pow(gamma, static_cast<double>(passed));
}

double CosineAnnealingWarmRestarts::at(int64_t step) const {
  int64_t length = T_0;
  if (T_mult == 1) {
    step %= length;
  } else {
    for (; step >= length; length *= T_mult) step -= length;
  }
  const double share = static_cast<double>(step) / static_cast<double>(length);
  return eta_min + (lr - eta_min) * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

double CyclicLR::at(int64_t step) const {
  const int64_t down = step_size_down > 0 ? step_size_down : step_size_up, cycle = step_size_up + down;
  const int64_t inside = step % cycle;
  const double height = inside <= step_size_up
                            ? static_cast<double>(inside) / static_cast<double>(step_size_up)
                            : static_cast<double>(cycle - inside) / static_cast<double>(down);
  double factor = 1;
  if (mode == CyclicMode::triangular2) factor = std::pow(0.5, static_cast<double>(step / cycle));
  if (mode == CyclicMode::exp_range) factor = std::pow(gamma, static_cast<double>(step));
  return base_lr + (max_lr - base_lr) * height * factor;
}

double OneCycleLR::at(int64_t step) const {
  const auto steps = static_cast<double>(total_steps);
  const double initial_lr = max_lr / div_factor, peak = pct_start * steps - 1, last = steps - 1;
  const double now = std::min(static_cast<double>(step), last);
  const auto anneal = [&](double from, double to, double begin, double end) {
    const double share = end > begin ? (now - begin) / (end - begin) : 1;
    if (anneal_strategy == AnnealStrategy::linear) return from + (to - from) * share;
    return to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * share));
  };
  return now <= peak ? anneal(initial_lr, max_lr, 0, peak)
                     : anneal(max_lr, initial_lr / final_div_factor, peak, last);
}

double ReduceLROnPlateau::update(double metric, double lr) {
  const bool is_max = mode == PlateauMode::max;
  if (is_max ? metric > best * (1 + threshold) : metric < best * (1 - threshold)) {
    best = metric;
    num_bad_epochs = 0;
  } else {
    ++num_bad_epochs;
  }
  if (cooldown_counter > 0) {
    --cooldown_counter;
    num_bad_epochs = 0;
  }
  if (num_bad_epochs <= patience) return lr;
  cooldown_counter = cooldown;
  num_bad_epochs = 0;
  const double reduced = std::max(lr * factor, min_lr);
  return lr - reduced > eps ? reduced : lr;
}

}  // namespace cladtorch
