// Learning rates with the names and formulas of torch.optim.lr_scheduler. Schedule, in schedule.h, has those
// of training runs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace cladtorch {

/// lr gamma^k after k times `step_size` steps. A step is whatever the caller counts, an update or an epoch.
///
///     optimizer.set_lr(StepLR{.lr = 0.1, .step_size = 30}.at(epoch));
struct StepLR {
  double lr = 1e-3;
  int64_t step_size = 1;
  double gamma = 0.1;

  double at(int64_t step) const;
};

/// lr gamma^step.
struct ExponentialLR {
  double lr = 1e-3;
  double gamma = 0.1;

  double at(int64_t step) const;
};

/// lr gamma^k after k of the milestones, in ascending order.
struct MultiStepLR {
  double lr = 1e-3;
  std::vector<int64_t> milestones{};
  double gamma = 0.1;

  double at(int64_t step) const;
};

/// lr times what a function says.
struct LambdaLR {
  double lr = 1e-3;
  std::function<double(int64_t)> lr_lambda{};

  double at(int64_t step) const { return lr * lr_lambda(step); }
};

/// Half a cosine from lr to eta_min in T_0 steps, then again from the start in T_mult times as many, and so
/// on. Source: Loshchilov and Hutter, "SGDR: Stochastic gradient descent with warm restarts", 2017.
struct CosineAnnealingWarmRestarts {
  double lr = 1e-3;
  int64_t T_0 = 1;
  int64_t T_mult = 1;
  double eta_min = 0;

  double at(int64_t step) const;
};

enum class CyclicMode {
  triangular,   ///< the same triangle each time
  triangular2,  ///< half as high each time
  exp_range,    ///< gamma^step as high
};

/// Straight lines from base_lr up to max_lr in step_size_up steps and down again in step_size_down, or as
/// many if that is 0, over and over. The momentum of the optimizer does not change, as with
/// cycle_momentum=False in PyTorch. Source: Smith, "Cyclical learning rates for training neural networks",
/// 2017.
struct CyclicLR {
  double base_lr = 1e-4;
  double max_lr = 1e-3;
  int64_t step_size_up = 2000;
  int64_t step_size_down = 0;
  CyclicMode mode = CyclicMode::triangular;
  double gamma = 1;

  double at(int64_t step) const;
};

enum class AnnealStrategy {
  cos,     ///< half a cosine
  linear,  ///< a straight line
};

/// Rises from max_lr / div_factor to max_lr at step pct_start * total_steps - 1, then falls to
/// max_lr / div_factor / final_div_factor at step total_steps - 1, where it stays. The momentum of the
/// optimizer does not change, as with cycle_momentum=False in PyTorch. Source: Smith and Topin,
/// "Super-convergence: Very fast training of neural networks using large learning rates", 2018.
struct OneCycleLR {
  double max_lr = 1e-3;
  int64_t total_steps = 1;
  double pct_start = 0.3;
  AnnealStrategy anneal_strategy = AnnealStrategy::cos;
  double div_factor = 25;
  double final_div_factor = 1e4;

  double at(int64_t step) const;
};

enum class PlateauMode {
  min,  ///< a lower metric is better, as of a loss
  max,  ///< a higher one, as of an accuracy
};

/// Multiplies the learning rate by `factor` when the metric has not been better than before, by `threshold`
/// of its size, for more than `patience` updates in a row.
///
///     ReduceLROnPlateau plateau{.patience = 2};
///     optimizer.set_lr(plateau.update(validation_loss, optimizer.lr()));  // after each evaluation
struct ReduceLROnPlateau {
  PlateauMode mode = PlateauMode::min;
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  int64_t cooldown = 0;  ///< updates after a reduction that do not count
  double min_lr = 0;
  double eps = 1e-8;  ///< a smaller change of the learning rate is left out

  /// What it remembers; the same numbers continue where others stopped.
  double best = mode == PlateauMode::min ? std::numeric_limits<double>::infinity()
                                         : -std::numeric_limits<double>::infinity();
  int64_t num_bad_epochs = 0;
  int64_t cooldown_counter = 0;

  /// Takes the next metric and the learning rate, and returns the new one.
  double update(double metric, double lr);
};

}  // namespace cladtorch
