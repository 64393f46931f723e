// Training of the models of this folder.
#pragma once

#include "cladtorch/train/adamw.h"
#include "cladtorch/train/lr_scheduler.h"
#include "data.h"
#include "gradients.h"

namespace fashion {

/// A model with its gradient and its optimizer.
template <class Model>
class Learner {
 public:
  Model model;

  explicit Learner(uint64_t seed, double lr, double beta1 = 0.9)
      : model(made(seed)), optimizer_(model, {.lr = lr, .beta1 = beta1, .weight_decay = 0.05}) {}

  /// One update by the loss of these operands, which is returned.
  template <class... Operands>
  double step(double lr, const Operands&... operands) {
    const double loss = loss_and_gradient(model, operands..., &gradient_);
    optimizer_.set_lr(lr);
    optimizer_.step(gradients_);
    return loss;
  }

 private:
  static Model made(uint64_t seed) {
    Random random(seed);
    return Model(random);
  }
  Model gradient_ = cladtorch::like(model);
  cladtorch::TensorList gradients_{gradient_};
  cladtorch::AdamW optimizer_;
};

/// Goes over all images for so many epochs: body(step, steps, images, labels) returns the loss that is shown.
/// `dataset` is Images, or makes others of them.
template <class Dataset, class Body>
void train(const Options& options, Dataset dataset, Body body) {
  data::DataLoader loader(std::move(dataset),
                          {.batch_size = options.batch, .shuffle = true, .drop_last = true, .workers = 1},
                          options.seed);
  const int64_t steps = options.epochs * loader.batches_per_epoch();
  Progress progress(steps, options.epochs);
  cladtorch::Workspace workspace;
  for (int64_t step = 0; step < steps; ++step) {
    const std::vector<Tensor>& batch = loader.next();
    const cladtorch::Workspace::Step memory(workspace);
    const cladtorch::TrainingScope training(options.seed, static_cast<uint64_t>(step));
    progress.show(step, body(step, steps, batch[0], batch[1]));
  }
}

/// Images of which half are mirrored at random.
struct Augmented {
  Images of;

  int64_t size() const { return of.size(); }
  std::vector<Tensor> get(int64_t i, Random& random) const {
    return {data::random_horizontal_flip(of.images.select(0, i), random), of.labels.select(0, i)};
  }
};

template <class Model>
Model train_classifier(const Options& options, const Images& images, double lr) {
  Learner<Model> learner(options.seed, lr);
  train(options, Augmented{images}, [&](int64_t step, int64_t steps, const Tensor& x, const Tensor& labels) {
    return learner.step(cladtorch::OneCycleLR{.max_lr = lr, .total_steps = steps}.at(step), x, labels);
  });
  return learner.model;
}

inline Vae train_vae(const Options& options, const Images& images) {
  Learner<Vae> learner(options.seed, 1e-3);
  Random random(options.seed + 1);
  train(options, images, [&](int64_t, int64_t, const Tensor& x, const Tensor&) {
    return learner.step(1e-3, x, randn({x.size(0), 20}, random));
  });
  return learner.model;
}

/// Each batch first teaches the discriminator, then the generator.
inline Generator train_gan(const Options& options, const Images& images) {
  constexpr double lr = 2e-4, beta1 = 0.5;
  Learner<Generator> maker(options.seed, lr, beta1);
  Learner<Discriminator> judge(options.seed + 1, lr, beta1);
  Random random(options.seed + 2);
  train(options, images, [&](int64_t, int64_t, const Tensor& x, const Tensor&) {
    const Tensor noise = randn({x.size(0), 64}, random);
    const double of_judge = judge.step(lr, x * 2.0 - 1.0, maker.model.forward(noise));
    return of_judge + maker.step(lr, judge.model, noise);
  });
  return maker.model;
}

/// Noise of a deviation of 0.4 in images whose pixels are in [0, 1].
inline Tensor with_noise(const Tensor& images, Random& random) {
  return images + randn(images.shape(), random) * 0.4;
}

inline UNet train_unet(const Options& options, const Images& images) {
  Learner<UNet> learner(options.seed, 2e-3);
  Random random(options.seed + 1);
  train(options, images, [&](int64_t step, int64_t steps, const Tensor& x, const Tensor&) {
    return learner.step(cladtorch::OneCycleLR{.max_lr = 2e-3, .total_steps = steps}.at(step),
                        with_noise(x, random), x);
  });
  return learner.model;
}

}  // namespace fashion
