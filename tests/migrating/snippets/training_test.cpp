// The C++ of docs/migrating-from-pytorch.md about gradients, training and files, compiled and run.
// guide_test.cpp checks that none is missing in this folder.
#include <clad/Differentiator/Differentiator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cladtorch/cladtorch.h"
#include "cladtorch/data/batch.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/models/gpt2.h"
#include "io/temporary_folder.h"
#include "tests/migrating/snippets/values.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace fs = std::filesystem;
using testing::random_tokens;
using testing::values;

namespace own {

struct Classifier {
  nn::Linear in, out;

  explicit Classifier(Random& random) : in(2, 32, random), out(32, 3, random) {}
  Tensor forward(const Tensor& x) const { return out(relu(in(x))); }
  CLADTORCH_PARAMETERS(in, out)
};

double loss(const Classifier& model, const Tensor& x, const Tensor& labels) {
  return cross_entropy(model.forward(x), labels).item();
}

double loss_and_gradient(const Classifier& model, const Tensor& x, const Tensor& labels,
                         Classifier* gradient) {
  auto step = clad::value_and_gradient(loss, "model");
  return step.execute(model, x, labels, gradient);
}

}  // namespace own

/// Blocks that are computed again in the backward pass.
struct Deep {
  std::vector<nn::Block> h;

  Tensor forward(Tensor x) const {
    for (const nn::Block& block : h) x = clad::checkpoint(block.forward(x));
    return x;
  }
  CLADTORCH_PARAMETERS(h)
};

double deep_loss(const Deep& model, const Tensor& x) { return mean(model.forward(x)).item(); }

namespace {

TEST(Migrating, FilesAndChecks) {
  using own::Classifier;
  const io::TemporaryFolder folder;
  const fs::path path = folder / "model.safetensors";
  Random random(42);
  Classifier model(random), other(random);
  ASSERT_NE(values(model.in.weight), values(other.in.weight));
  {
    const Classifier& model = other;
    save(model, path);
  }
  load(path, model);
  EXPECT_EQ(values(model.in.weight), values(other.in.weight));
  EXPECT_EQ(with_dtype(model, DType::float64).in.weight.dtype(), DType::float64);

  const Tensor x = randn({12, 2}, random), labels = random_tokens({12}, 3, 1);
  const Classifier& net = model;
  const Tensor precise = x.to(DType::float64);
  const auto value = [&](const Classifier& net) { return loss(net, precise, labels); };
  const auto derivative = [&](const Classifier& net, Classifier* d_net) {
    loss_and_gradient(net, precise, labels, d_net);
  };
  EXPECT_TRUE(gradcheck(net, value, derivative));
}

TEST(Migrating, Checkpoints) {
  Random random(42);
  Deep model;
  std::vector<nn::Block> h;
  for (int i = 0; i < 2; ++i) h.emplace_back(nn::BlockConfig{.channels = 8, .heads = 2}, random);
  model.h = h;
  Deep gradient = like(model);
  clad::gradient(deep_loss, "model").execute(model, randn({1, 3, 8}, random), &gradient);
  EXPECT_GT(clip_grad_norm(gradient, 1.0), 0);
}

TEST(Migrating, Bfloat16) {
  GPT2 master(gpt2_preset("toy"));
  GPT2 rounded = master.to(DType::bfloat16);
  GPT2 gradient = like(rounded);
  const Tensor tokens = random_tokens({2, 9}, 65, 1), targets = random_tokens({2, 9}, 65, 2);
  AdamW optimizer(TensorList(rounded), TensorList(master), {.lr = 1e-2});
  const double before = loss_and_gradient(rounded, tokens, targets, &gradient);
  optimizer.step(gradient);
  EXPECT_LT(loss(rounded, tokens, targets), before);
}

TEST(Migrating, TrainingLoop) {
  const io::TemporaryFolder folder;
  const fs::path path = folder.write("input.txt", std::string(400, 'a') + "bcdefgh");
  const uint64_t seed = 1;
  data::Dataset text = data::open_dataset(path);
  data::Loader loader(text.train, {.batch = 4, .time = 64}, seed);
  data::Batch batch(loader.shape());
  const int64_t steps = 12, warmup = 2;
  const GPT2Config config = gpt2_preset("toy");
  std::vector<double> losses;
  {
    GPT2 model(config), gradient = like(model);
    AdamW optimizer(model, {.lr = 6e-4, .beta2 = 0.95, .weight_decay = 0.1});
    TensorList gradients(gradient);  // made once, so that a step allocates nothing
    const Schedule schedule{.kind = ScheduleKind::cosine, .peak = 6e-4, .minimum = 0, .warmup = warmup};
    Workspace workspace;  // memory for what a step computes
    for (int64_t step = 0; step < steps; ++step) {
      data::next(loader, batch);
      const Workspace::Step memory(workspace);
      const double loss = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
      clip_grad_norm(gradients, 1.0);
      optimizer.set_lr(schedule.at(step, steps));
      optimizer.step(gradients);  // and marks them zero
      losses.push_back(loss);
    }
  }
  EXPECT_LT(losses.back(), 0.9 * losses.front());
  GPT2 model(config), gradient = like(model), halves = like(model);
  const Tensor &tokens = batch.tokens, &targets = batch.targets;
  loss_and_gradient(model, tokens, targets, &gradient);
  zero_grad(gradient);
  const int n = 2;
  for (int i = 0; i < n; ++i) loss_and_gradient(model, tokens, targets, &gradient, 1.0 / n);
  loss_and_gradient(model, tokens, targets, &halves);
  EXPECT_NEAR(clip_grad_norm(gradient, 1e9), clip_grad_norm(halves, 1e9), 1e-5);
}

}  // namespace

namespace own {

TEST(Migrating, Gradients) {
  Random random(42);
  Classifier model(random), gradient = like(model);
  const Tensor x = randn({64, 2}, random), labels = random_tokens({64}, 3, 1);
  auto step = clad::value_and_gradient(loss, "model");
  const double before = step.execute(model, x, labels, &gradient);
  EXPECT_EQ(before, loss(model, x, labels));
  const std::vector<float> once = values(gradient.out.bias);
  step.execute(model, x, labels, &gradient);  // adds
  EXPECT_NEAR(values(gradient.out.bias)[0], 2 * once[0], 1e-6);
  zero_grad(gradient);
  EXPECT_EQ(loss_and_gradient(model, x, labels, &gradient), before);
  EXPECT_EQ(values(gradient.out.bias), once);
  EXPECT_GT(clip_grad_norm(gradient, 1.0), 0);
  AdamW optimizer(model, {.lr = 1e-3});
  optimizer.step(gradient);
  EXPECT_TRUE(gradient.out.bias.is_marked_zero());
  EXPECT_LT(loss(model, x, labels), before);
  SGD sgd(model, {.lr = 0.1, .momentum = 0.9});
  Adam adam(model, {.lr = 1e-3});
  RMSprop rmsprop(model, {.momentum = 0.9, .centered = true});
  rmsprop.set_lr(1e-4);
  Adagrad adagrad(model, {.lr = 0.01});
  Lion lion(model, {.lr = 1e-4});
  Adamax adamax(model, {.lr = 2e-3});
  NAdam nadam(model, {.lr = 2e-3});
  RAdam radam(model, {.lr = 1e-3});
  Muon muon(model, {.lr = 1e-3});
  for (Optimizer* other : std::initializer_list<Optimizer*>{&sgd, &adam, &rmsprop, &adagrad, &lion, &adamax,
                                                            &nadam, &radam, &muon}) {
    const double earlier = loss_and_gradient(model, x, labels, &gradient);
    other->step(gradient);
    EXPECT_LT(loss(model, x, labels), earlier) << other->name();
  }
}

TEST(Migrating, ClosuresOfLBFGS) {
  Random random(42);
  Classifier model(random), gradient = like(model);
  const Tensor x = randn({64, 2}, random), labels = random_tokens({64}, 3, 1);
  const auto closure = [&] { return loss_and_gradient(model, x, labels, &gradient); };
  LBFGS lbfgs(model, {.line_search_fn = LineSearch::strong_wolfe});
  const double before = lbfgs.step(gradient, closure);
  EXPECT_LT(loss(model, x, labels), before);
}

TEST(Migrating, SchedulesAndAverages) {
  Random random(42);
  Classifier model(random), gradient = like(model);
  const Tensor x = randn({64, 2}, random), labels = random_tokens({64}, 3, 1);
  Adam optimizer(model, {.lr = 1e-3});
  const int64_t step = 31;
  {
    const StepLR rates{.lr = 1e-3, .step_size = 30, .gamma = 0.1};
    optimizer.set_lr(rates.at(step));
    EXPECT_DOUBLE_EQ(optimizer.lr(), 1e-4);
  }
  {
    const ExponentialLR rates{.lr = 1e-3, .gamma = 0.95};
    EXPECT_DOUBLE_EQ(rates.at(step), 1e-3 * std::pow(0.95, 31));
  }
  {
    const MultiStepLR rates{.lr = 1e-3, .milestones = {30, 80}, .gamma = 0.1};
    EXPECT_DOUBLE_EQ(rates.at(step), 1e-4);
  }
  {
    const auto factor = [](int64_t step) { return step < 10 ? 1.0 : 0.5; };
    const LambdaLR rates{.lr = 1e-3, .lr_lambda = factor};
    EXPECT_DOUBLE_EQ(rates.at(step), 5e-4);
  }
  {
    const CosineAnnealingWarmRestarts rates{.lr = 1e-3, .T_0 = 10, .T_mult = 2};
    EXPECT_DOUBLE_EQ(rates.at(30), 1e-3);
  }
  {
    const CyclicLR rates{.base_lr = 1e-4, .max_lr = 1e-3};
    EXPECT_DOUBLE_EQ(rates.at(2000), 1e-3);
  }
  const OneCycleLR rates{.max_lr = 0.01, .total_steps = 1000};
  EXPECT_DOUBLE_EQ(rates.at(299), 0.01);
  ReduceLROnPlateau plateau{.patience = 2};
  const double loss = 1;
  for (int evaluation = 0; evaluation < 4; ++evaluation)
    optimizer.set_lr(plateau.update(loss, optimizer.lr()));
  EXPECT_DOUBLE_EQ(optimizer.lr(), 1e-5);

  AveragedModel average(model, 0.99);
  const float before = values(model.out.weight)[0];
  loss_and_gradient(model, x, labels, &gradient);
  optimizer.step(gradient);
  average.update_parameters();
  EXPECT_NEAR(values(average.module().out.weight)[0], 0.99 * before + 0.01 * values(model.out.weight)[0],
              1e-7);
}

}  // namespace own
}  // namespace cladtorch
