// A classifier learns to tell two spirals apart, is saved, and is loaded again.
#include <cladtorch/cladtorch.h>

#include <cmath>
#include <cstdio>

#include "swish.h"

using namespace cladtorch;

struct Classifier {
  nn::Linear in, hidden, out;

  explicit Classifier(Random& random)
      : in(2, 32, random, true, 1.0), hidden(32, 32, random, true, 0.2), out(32, 2, random, true, 0.2) {}
  Tensor forward(const Tensor& x) const { return out(spiral::swish(hidden(spiral::swish(in(x))))); }
  CLADTORCH_PARAMETERS(in, hidden, out)
};

double loss(const Classifier& model, const Tensor& points, const Tensor& labels) {
  return cross_entropy(model.forward(points), labels).item();
}

int main() try {
  constexpr int64_t n = 400, steps = 1000;
  Tensor points = empty({n, 2}), labels = empty({n}, DType::int32);
  for (int64_t i = 0; i < n; ++i) {
    const float turn = 6.0f * static_cast<float>(i / 2) / (n / 2), sign = i % 2 ? 1.0f : -1.0f;
    points.data<float>()[2 * i] = sign * turn * std::cos(turn) / 6;
    points.data<float>()[2 * i + 1] = sign * turn * std::sin(turn) / 6;
    labels.data<int32_t>()[i] = static_cast<int32_t>(i % 2);
  }

  Random random(1);
  Classifier model(random), gradient = like(model);
  auto step = clad::value_and_gradient(loss, "model");

  const Tensor precise = points.to(DType::float64);
  gradcheck(
      model, [&](const Classifier& m) { return loss(m, precise, labels); },
      [&](const Classifier& m, Classifier* d_m) { step.execute(m, precise, labels, d_m); });

  AdamW optimizer(model, {.lr = 1e-2, .weight_decay = 0.01});
  const Schedule schedule{.kind = ScheduleKind::cosine, .peak = 1e-2, .minimum = 1e-4, .warmup = 50};
  data::TensorLoader loader({points, labels}, 50, /*seed=*/1);
  TensorList gradients(gradient);  // made once, so that a step allocates nothing
  Workspace workspace;             // memory for what a step computes
  for (int64_t i = 0; i < steps; ++i) {
    const std::vector<Tensor>& batch = loader.next();
    const Workspace::Step memory(workspace);
    const double value = step.execute(model, batch[0], batch[1], &gradient);
    clip_grad_norm(gradients, 1.0);
    optimizer.set_lr(schedule.at(i, steps));
    optimizer.step(gradients);  // and marks the gradients as zero
    if (i % 200 == 0) std::printf("step %4d  loss %.3f\n", static_cast<int>(i), value);
  }

  save(model, "spiral.safetensors");
  Classifier loaded(random);
  load("spiral.safetensors", loaded);
  const double trained = loss(model, points, labels), reloaded = loss(loaded, points, labels);
  std::printf("cross-entropy %.4f after training, %.4f loaded again\n", trained, reloaded);
  return trained < 0.05 && reloaded == trained ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "spiral: %s\n", error.what());
  return 1;
}
