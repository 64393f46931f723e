// Optimizers and schedules against PyTorch's.
#include <cmath>

#include "cladtorch/train/adagrad.h"
#include "cladtorch/train/adamax.h"
#include "cladtorch/train/lbfgs.h"
#include "cladtorch/train/lr_scheduler.h"
#include "cladtorch/train/nadam.h"
#include "cladtorch/train/radam.h"
#include "cladtorch/train/rmsprop.h"
#include "tests/parity/reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::relative_difference;

template <class Kind, class Options>
void check(const std::string& name, const Options& options) {
  const testing::Reference reference;
  const std::string prefix = "optimizer_" + name + "/";
  const Tensor p = reference[prefix + "start"], g = reference[prefix + "gradients"];
  Kind optimizer(TensorList(std::vector<NamedTensor>{{"p", p}}), options);
  TensorList gradients(std::vector<NamedTensor>{{"p", gradient_buffer_like(p)}});
  for (int64_t step = 0; step < g.size(0); ++step) {
    gradients[0].tensor.accumulate(g.select(0, step));
    optimizer.step(gradients);
  }
  EXPECT_LT(relative_difference(p, reference[prefix + "end"]), 1e-6) << name;
}

TEST(OptimizersParity, EndWherePyTorchEnds) {
  check<Adamax>("Adamax", AdamaxOptions{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.5});
  check<NAdam>("NAdam", NAdamOptions{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.5});
  check<RAdam>("RAdam", RAdamOptions{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.5});
  check<Adagrad>("Adagrad", AdagradOptions{.lr = 0.1, .lr_decay = 0.2, .initial_accumulator_value = 0.3});
  check<RMSprop>(
      "RMSprop",
      RMSpropOptions{.lr = 0.01, .alpha = 0.9, .weight_decay = 0.5, .momentum = 0.7, .centered = true});
}

TEST(OptimizersParity, LBFGSHasThePathOfPyTorch) {
  const testing::Reference reference;
  for (const LineSearch search : {LineSearch::strong_wolfe, LineSearch::none}) {
    const bool wolfe = search == LineSearch::strong_wolfe;
    const Tensor x = from_values<double>({2}, {-1.2, 1});
    TensorList gradient(std::vector<NamedTensor>{{"x", gradient_buffer_like(x)}});
    LBFGS optimizer(TensorList(std::vector<NamedTensor>{{"x", x}}),
                    {.lr = wolfe ? 1 : 0.002, .max_iter = 4, .history_size = 3, .line_search_fn = search});
    const auto closure = [&] {
      const double a = x.select(0, 0).item(), b = x.select(0, 1).item(), u = 1 - a, v = b - a * a;
      gradient[0].tensor.accumulate(from_values<double>({2}, {-2 * u - 400 * a * v, 200 * v}));
      return u * u + 100 * v * v;
    };
    Tensor losses = zeros({8}, DType::float64);
    for (int64_t step = 0; step < 8; ++step) losses.data<double>()[step] = optimizer.step(gradient, closure);
    const Tensor expected =
        reference[std::string("optimizer_LBFGS_") + (wolfe ? "strong_wolfe" : "none") + "/losses"];
    EXPECT_LT(relative_difference(losses, expected), 1e-6);
    EXPECT_LT(losses.select(0, 7).item(), losses.select(0, 0).item());
    // The last ones too, which are small.
    EXPECT_NEAR(losses.select(0, 7).item(), expected.select(0, 7).item(),
                1e-4 * expected.select(0, 7).item());
  }
}

template <class Schedule>
void check_rates(const std::string& name, const Schedule& schedule) {
  const Tensor expected = testing::Reference()["scheduler_" + name + "/rates"];
  for (int64_t step = 0; step < expected.numel(); ++step)
    EXPECT_NEAR(schedule.at(step), expected.data<float>()[step], 1e-6) << name << " " << step;
}

TEST(OptimizersParity, SchedulesHaveTheRatesOfPyTorch) {
  check_rates("MultiStepLR", MultiStepLR{.lr = 1, .milestones = {2, 5, 11}, .gamma = 0.3});
  check_rates("CosineAnnealingWarmRestarts",
              CosineAnnealingWarmRestarts{.lr = 1, .T_0 = 3, .T_mult = 2, .eta_min = 0.1});
  check_rates("CyclicLR", CyclicLR{.base_lr = 0.1,
                                   .max_lr = 1,
                                   .step_size_up = 4,
                                   .step_size_down = 3,
                                   .mode = CyclicMode::triangular2});
  check_rates(
      "CyclicLR_exp",
      CyclicLR{.base_lr = 0.1, .max_lr = 1, .step_size_up = 4, .mode = CyclicMode::exp_range, .gamma = 0.9});
}

}  // namespace
}  // namespace cladtorch
