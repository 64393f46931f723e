#include "cladtorch/train/ema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cladtorch/nn/layers.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/allocation_counter.h"

namespace cladtorch {
namespace {

struct Model {
  nn::Linear linear;
  Tensor running_mean;

  explicit Model(Random& random) : linear(700, 200, random), running_mean(zeros({3})) {
    running_mean.set_frozen(true);
  }
  CLADTORCH_PARAMETERS(linear, running_mean)
};

std::vector<double> values_of(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::float64);
  return {wide.data<double>(), wide.data<double>() + wide.numel()};
}

/// As an optimizer and a layer with running means do.
void change(Model& model, Random& random) {
  model.linear.weight.copy_from(randn(model.linear.weight.shape(), random));
  model.linear.bias.fill_(random.uniform());
  model.running_mean.fill_(random.uniform());
}

TEST(AveragedModel, IsTheExponentialMovingAverageOfTheWeights) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    SCOPED_TRACE(dtype);
    Random random(1);
    Model model = with_dtype(Model(random), dtype);
    model.running_mean.set_frozen(true);
    AveragedModel average(model, 0.75);
    std::vector<double> weight = values_of(model.linear.weight), bias = values_of(model.linear.bias);
    for (int step = 0; step < 4; ++step) {
      change(model, random);
      average.update_parameters();
      const std::vector<double> w = values_of(model.linear.weight), b = values_of(model.linear.bias);
      for (size_t i = 0; i < w.size(); ++i) weight[i] = 0.75 * weight[i] + 0.25 * w[i];
      for (size_t i = 0; i < b.size(); ++i) bias[i] = 0.75 * bias[i] + 0.25 * b[i];
    }
    const double tolerance = dtype == DType::float64 ? 1e-14 : 1e-6;
    const auto near = [&](const std::vector<double>& expected) {
      return ::testing::Pointwise(::testing::DoubleNear(tolerance), expected);
    };
    EXPECT_THAT(values_of(average.module().linear.weight), near(weight));
    EXPECT_THAT(values_of(average.module().linear.bias), near(bias));
    EXPECT_EQ(values_of(average.module().running_mean), values_of(model.running_mean));
    EXPECT_TRUE(average.module().running_mean.is_frozen());
    EXPECT_EQ(average.module().linear.weight.dtype(), dtype == DType::bfloat16 ? DType::float32 : dtype);
  }
}

TEST(AveragedModel, LeavesTheModelAloneAndAllocatesNothing) {
  Random random(1);
  Model model(random);
  AveragedModel average(model);
  average.update_parameters();
  change(model, random);
  const std::vector<double> before = values_of(model.linear.weight);
  const int64_t allocations = train::heap_allocations();
  average.update_parameters();
  EXPECT_EQ(train::heap_allocations(), allocations);
  EXPECT_EQ(values_of(model.linear.weight), before);
}

TEST(AveragedModel, HasTheSameBitsOnAnyNumberOfThreads) {
  const int threads = num_threads();
  std::vector<std::vector<double>> results;
  for (const int count : {1, 2, 3}) {
    set_num_threads(count);
    Random random(1);
    Model model(random);
    AveragedModel average(model, 0.9);
    for (int step = 0; step < 3; ++step) {
      change(model, random);
      average.update_parameters();
    }
    results.push_back(values_of(average.module().linear.weight));
  }
  set_num_threads(threads);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace cladtorch
