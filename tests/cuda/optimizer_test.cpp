#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/ema.h"
#include "tests/cuda/compare.h"
#include "train/step/optimizer_on_device.h"

namespace cladtorch {
namespace {

using testing::gpu;
using testing::relative_difference;
using testing::same_bits;

const std::vector<Shape> shapes = {{3, 5}, {1}, {20000}, {64, 130}, {7}};

std::vector<NamedTensor> tensors(uint64_t seed, DType dtype, Device device) {
  Random random(seed);
  std::vector<NamedTensor> list;
  for (const Shape& shape : shapes)
    list.push_back(
        {"p" + std::to_string(list.size()), randn(shape, random, DType::float32).to(dtype).to(device)});
  return list;
}

std::vector<NamedTensor> buffers(const std::vector<NamedTensor>& parameters) {
  std::vector<NamedTensor> list;
  for (const NamedTensor& named : parameters)
    list.push_back({named.name, gradient_buffer_like(named.tensor)});
  return list;
}

/// Five updates; the last parameter never gets a gradient.
template <class Step>
std::vector<NamedTensor> train(DType dtype, Device device, AdamWOptions options, Step step) {
  const std::vector<NamedTensor> parameters = tensors(1, dtype, device);
  AdamW optimizer(TensorList(parameters), options);
  TensorList gradients(buffers(parameters));
  for (uint64_t i = 0; i < 5; ++i) {
    const std::vector<NamedTensor> contributions = tensors(10 + i, DType::float32, device);
    for (size_t j = 0; j + 1 < parameters.size(); ++j)
      gradients[j].tensor.accumulate(contributions[j].tensor.to(gradients.dtype()));
    step(optimizer, gradients);
  }
  std::vector<NamedTensor> results = parameters;
  for (const NamedTensor& master : optimizer.masters()) results.push_back(master);
  return results;
}

TEST(CudaOptimizer, UpdatesAsTheCpuDoes) {
  const AdamWOptions options{.lr = 0.01, .weight_decay = 0.1};
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    const auto step = [](AdamW& optimizer, TensorList& gradients) { optimizer.step(gradients, 0.5); };
    const auto here = train(dtype, {}, options, step), there = train(dtype, gpu, options, step);
    for (size_t i = 0; i < here.size(); ++i) {
      EXPECT_LE(relative_difference(there[i].tensor.to(Device{}), here[i].tensor),
                here[i].tensor.dtype() == DType::bfloat16 ? 0.01 : 1e-6)
          << dtype << ' ' << i;
    }
  }
}

TEST(CudaOptimizer, TakesTheNorm) {
  const TensorList here(tensors(3, DType::float32, {})), there(tensors(3, DType::float32, gpu));
  EXPECT_NEAR(there.norm(), here.norm(), 1e-6 * here.norm());
  TensorList scaled(tensors(3, DType::float32, gpu));
  EXPECT_NEAR(clip_grad_norm(scaled, 1.5), here.norm(), 1e-6 * here.norm());
  EXPECT_NEAR(scaled.norm(), 1.5, 1e-5);
}

TEST(CudaOptimizer, AveragesWeightsAsTheCpuDoes) {
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    const auto averaged = [&](Device device) {
      std::vector<NamedTensor> averages = tensors(1, DType::float32, device);
      WeightAverage(averages, tensors(2, dtype, device)).update(0.9);
      return averages;
    };
    const std::vector<NamedTensor> here = averaged({}), there = averaged(gpu);
    for (size_t i = 0; i < here.size(); ++i)
      EXPECT_LE(relative_difference(there[i].tensor.to(Device{}), here[i].tensor), 1e-6) << dtype << ' ' << i;
  }
}

/// What a training step does: the norm, the clipping and the update follow from numbers on the device.
struct LateStep {
  double clip, loss;
  train::StepOutput last{};
  Tensor output = train::to_device(train::StepOutput{0, 0, 1}, gpu);

  void operator()(AdamW& optimizer, TensorList& gradients) {
    train::OptimizerTables tables;
    tables.point_to(gradients);
    Tensor sums = empty({tables.piece_count}, DType::float64, gpu);
    train::squares_on_device(tables, sums);
    const Tensor input = train::to_device(optimizer.device_input(clip, 2), gpu);
    train::finish_step_on_device(input, full({}, loss, DType::float32, gpu), sums, output);
    optimizer.step_on_device(gradients, input, output);
    const Tensor read = output.to(Device{});
    last = {read.data<double>()[0], read.data<double>()[1], read.data<double>()[2]};
  }
};

TEST(CudaOptimizer, ClipsWithoutTheHost) {
  const AdamWOptions options{.lr = 0.01};
  for (double clip : {0.0, 1.0}) {
    LateStep late{clip, 6};
    double norm = 0;
    const auto there = train(DType::float32, gpu, options, [&](AdamW& o, TensorList& g) { late(o, g); });
    const auto here = train(DType::float32, {}, options, [&](AdamW& optimizer, TensorList& gradients) {
      norm = gradients.norm() / 2;
      optimizer.step(gradients, (clip > 0 && norm > clip ? clip / norm : 1) / 2);
    });
    EXPECT_EQ(late.last.loss, 3);
    EXPECT_NEAR(late.last.norm, norm, 1e-6 * norm);
    for (size_t i = 0; i < here.size(); ++i)
      EXPECT_LE(relative_difference(there[i].tensor.to(Device{}), here[i].tensor), 1e-6) << i;
  }
}

TEST(CudaOptimizer, StopsForGoodAtALossThatIsNoNumber) {
  LateStep late{1, 6};
  std::vector<NamedTensor> kept;
  int steps = 0;
  const auto there = train(DType::float32, gpu, {.lr = 0.01}, [&](AdamW& optimizer, TensorList& gradients) {
    late.loss = ++steps == 3 ? NAN : 6;
    if (steps == 3)
      for (const NamedTensor& p : optimizer.masters()) kept.push_back({p.name, p.tensor.clone()});
    late(optimizer, gradients);
    EXPECT_EQ(std::isnan(late.last.gradient_scale), steps >= 3);
  });
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(same_bits(there[i].tensor, kept[i].tensor));
}

TEST(CudaOptimizer, RoundsAtRandomToTheMasterOnAverage) {
  const AdamWOptions options{.lr = 1e-4, .weight_decay = 0, .stochastic_rounding = true};
  const auto there = train(DType::bfloat16, gpu, options, [](AdamW& o, TensorList& g) { o.step(g); });
  const size_t n = there.size() / 2;
  const Tensor rounded = there[2].tensor.to(Device{}).to(DType::float64),
               master = there[n + 2].tensor.to(Device{}).to(DType::float64);
  double error = 0, nearest = 0;
  for (int64_t i = 0; i < rounded.numel(); ++i) {
    const double x = master.data<double>()[i];
    error += (rounded.data<double>()[i] - x) / std::abs(x);
    nearest = std::max(nearest, std::abs(rounded.data<double>()[i] - x) / std::abs(x));
  }
  EXPECT_LT(std::abs(error / static_cast<double>(rounded.numel())), 1e-4);  // of steps of 2^-7
  EXPECT_GT(nearest, 0x1p-8);                                               // not the nearest each time
  EXPECT_LE(nearest, 0x1p-7);
}

}  // namespace
}  // namespace cladtorch
