// Models of convolutions whose backward pass the compiler writes: gradients against differences, buffers,
// names.
#include <clad/Differentiator/Differentiator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/nn/nn.h"
#include "cladtorch/testing/gradcheck.h"

namespace {

using namespace cladtorch;

/// Every kind of layer for images once.
struct Net {
  nn::Conv2d stem;
  nn::BatchNorm2d norm;
  nn::Conv2d depthwise;
  nn::GroupNorm groups;
  nn::ConvTranspose2d up;
  nn::InstanceNorm2d instances;
  nn::Linear out;
  nn::MaxPool2d pool;
  nn::Upsample larger;

  explicit Net(Random& random)
      : stem(2, 4, 3, random, {.padding = 1}, false),
        norm(4),
        depthwise(4, 8, 3, random, {.stride = 2, .padding = 1, .groups = 4}),
        groups(2, 8),
        up(8, 3, 2, random, {.stride = 2}),
        instances(3),
        out(3, 5, random, true, 0.5) {}

  Tensor forward(const Tensor& x) const {
    const Tensor a = pool(silu(norm(stem(x))));
    const Tensor b = cladtorch::tanh(groups(depthwise(larger(a))));
    const Tensor c = instances(up(b));
    return out(adaptive_avg_pool2d(mul(c, c), 1).reshape({x.size(0), -1}));
  }
  CLADTORCH_PARAMETERS(stem, norm, depthwise, groups, up, instances, out)
};

double loss(const Net& net, const Tensor& x, const Tensor& labels) {
  return cross_entropy(net.forward(x), labels).item();
}

using Lenet = nn::Sequential<nn::Conv2d, nn::Tanh, nn::AvgPool2d, nn::BatchNorm2d, nn::Flatten, nn::Linear>;
double lenet_loss(const Lenet& net, const Tensor& x, const Tensor& labels) {
  return cross_entropy(net.forward(x), labels).item();
}

class ImageModels : public ::testing::Test {
 protected:
  Random random_{3};
  Net net_{random_};
  Tensor x_ = randn({3, 2, 8, 6}, random_, DType::float64);
  Tensor labels_ = from_values<int32_t>({3}, {4, 0, 2});
};

TEST_F(ImageModels, GradientsMatchDifferences) {
  auto step = clad::gradient(loss, "net");
  EXPECT_TRUE(gradcheck(
      net_, [&](const Net& net) { return loss(net, x_, labels_); },
      [&](const Net& net, Net* d) { step.execute(net, x_, labels_, d); }));
  EXPECT_TRUE(gradcheck(
      net_,
      [&](const Net& net) {
        const TrainingScope training(1, 0);
        return loss(net, x_, labels_);
      },
      [&](const Net& net, Net* d) {
        const TrainingScope training(1, 0);
        step.execute(net, x_, labels_, d);
      }));
}

TEST_F(ImageModels, RunningStatisticsMoveWhileTrainingAndAreNotTrained) {
  Net net = with_dtype(net_, DType::float64), gradient = like(net);
  auto step = clad::gradient(loss, "net");
  step.execute(net, x_, labels_, &gradient);
  EXPECT_EQ(net.norm.running_mean.select(0, 0).item(), 0);
  {
    const TrainingScope training(1, 0);
    step.execute(net, x_, labels_, &gradient);
  }
  const Tensor y = net.stem(x_);
  EXPECT_NEAR(net.norm.running_mean.select(0, 1).item(), 0.1 * mean(y.select(1, 1)).item(), 1e-12);
  EXPECT_NEAR(net.norm.running_var.select(0, 1).item(), 0.9 + 0.1 * var(y.select(1, 1).flatten(), 0).item(),
              1e-12);
  EXPECT_TRUE(gradient.norm.running_mean.is_gradient_sink());
}

TEST_F(ImageModels, SequentialNamesItsLayersByNumber) {
  Lenet net(nn::Conv2d(2, 4, 3, random_), nn::Tanh(), nn::AvgPool2d(), nn::BatchNorm2d(4), nn::Flatten(),
            nn::Linear(4 * 3 * 2, 5, random_, true, 0.5));
  std::vector<std::string> names;
  for (const NamedTensor& parameter : named_parameters(net)) names.push_back(parameter.name);
  EXPECT_THAT(names, ::testing::ElementsAre("0.weight", "0.bias", "3.weight", "3.bias", "3.running_mean",
                                            "3.running_var", "5.weight", "5.bias"));
  EXPECT_EQ(net.get<5>().weight.shape(), (Shape{5, 24}));
  auto step = clad::gradient(lenet_loss, "net");
  EXPECT_TRUE(gradcheck(
      net, [&](const Lenet& n) { return lenet_loss(n, x_, labels_); },
      [&](const Lenet& n, Lenet* d) { step.execute(n, x_, labels_, d); }));
}

/// A block that runs again in the backward pass.
double checkpointed_loss(const Net& net, const Tensor& x) {
  const Tensor y = clad::checkpoint(net.norm.forward(net.stem.forward(x)));
  return mean(mul(y, y)).item();
}

TEST_F(ImageModels, APartThatRunsAgainMovesRunningStatisticsOnce) {
  Net net = with_dtype(net_, DType::float64), gradient = like(net);
  auto step = clad::gradient(checkpointed_loss, "net");
  const TrainingScope training(1, 0);
  step.execute(net, x_, &gradient);
  EXPECT_NEAR(net.norm.running_mean.select(0, 1).item(), 0.1 * mean(net.stem(x_).select(1, 1)).item(), 1e-12);
}

TEST(Init, FillsByTheFans) {
  Random random(5);
  Tensor weight = empty({40, 30, 3, 3});
  nn::init::kaiming_normal_(weight, random);
  EXPECT_NEAR(cladtorch::std(weight.flatten(), 0).item(), std::sqrt(2 / 270.0), 2e-3);
  nn::init::xavier_uniform_(weight, random);
  const double bound = std::sqrt(6.0 / (270 + 360));
  EXPECT_LE(amax(abs(weight).flatten(), 0).item(), bound);
  EXPECT_GT(amax(weight.flatten(), 0).item(), 0.99 * bound);
  nn::init::trunc_normal_(weight, random, 1, 0.5, 0.2, 1.5);
  EXPECT_GE(amin(weight.flatten(), 0).item(), 0.2f);
  EXPECT_LE(amax(weight.flatten(), 0).item(), 1.5f);

  Tensor rows = empty({4, 7}, DType::float64);
  nn::init::orthogonal_(rows, random, 2);
  const Tensor off = sub(matmul(rows, rows.transpose(0, 1)), eye(4, DType::float64) * 4);
  EXPECT_LT(norm(off).item(), 1e-12);
  Tensor vector = empty({3});
  EXPECT_THROW(nn::init::xavier_normal_(vector, random), Error);
}

}  // namespace
