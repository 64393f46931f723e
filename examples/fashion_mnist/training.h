// Training and testing of a classifier of images.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "cladtorch/data/data_loader.h"
#include "cladtorch/data/idx.h"
#include "cladtorch/data/transforms.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/lr_scheduler.h"
#include "models.h"

namespace fashion {

/// Images [N, 1, 28, 28] in [0, 1] and their classes [N].
struct Images {
  Tensor images, labels;

  int64_t size() const { return labels.size(0); }
  Images first(int64_t count) const { return {images.narrow(0, 0, count), labels.narrow(0, 0, count)}; }
};

/// "train" or "t10k" of a folder with the four files of MNIST or Fashion-MNIST.
inline Images read(const std::filesystem::path& folder, const std::string& part) {
  const Tensor images = cladtorch::data::read_idx(folder / (part + "-images-idx3-ubyte.gz"));
  return {images.unsqueeze(1), cladtorch::data::read_idx(folder / (part + "-labels-idx1-ubyte.gz"))};
}

/// Images that are moved by up to two pixels and mirrored at random.
struct Augmented {
  Images of;

  int64_t size() const { return of.size(); }
  std::vector<Tensor> get(int64_t i, Random& random) const {
    const Tensor moved = cladtorch::data::random_crop(of.images.select(0, i), 28, 28, 2, random);
    return {cladtorch::data::random_horizontal_flip(moved, random), of.labels.select(0, i)};
  }
};

/// How many images of each class (row) were taken for which (column).
struct Confusion {
  std::vector<int64_t> counts = std::vector<int64_t>(classes * classes);

  int64_t& at(int64_t is, int64_t taken_for) { return counts[static_cast<size_t>(is * classes + taken_for)]; }
  int64_t at(int64_t is, int64_t taken_for) const {
    return counts[static_cast<size_t>(is * classes + taken_for)];
  }
  double accuracy() const {
    int64_t right = 0, all = 0;
    for (int64_t i = 0; i < classes; ++i) right += at(i, i);
    for (const int64_t n : counts) all += n;
    return all ? static_cast<double>(right) / static_cast<double>(all) : 0;
  }
};

template <class Model>
Confusion test(const Model& model, const Images& images) {
  Confusion confusion;
  cladtorch::Workspace workspace;
  constexpr int64_t batch = 250;
  for (int64_t i = 0; i < images.size(); i += batch) {
    const cladtorch::Workspace::Step memory(workspace);
    const int64_t n = std::min(batch, images.size() - i);
    const Tensor taken_for = argmax(model.forward(images.images.narrow(0, i, n)), 1);
    const Tensor labels = images.labels.narrow(0, i, n);
    for (int64_t k = 0; k < n; ++k) ++confusion.at(labels.data<int32_t>()[k], taken_for.data<int32_t>()[k]);
  }
  return confusion;
}

struct Settings {
  int64_t epochs = 8, batch = 128;
  double lr = 3e-3;
  uint64_t seed = 1;
};

/// Calls report(step, steps, loss) after each update.
template <class Model>
void train(Model& model, const Images& images, const Settings& settings,
           const std::function<void(int64_t, int64_t, double)>& report) {
  Model gradient = cladtorch::like(model);
  cladtorch::AdamW optimizer(model, {.lr = settings.lr, .weight_decay = 0.05});
  cladtorch::TensorList gradients(gradient);
  cladtorch::data::DataLoader loader(
      Augmented{images}, {.batch_size = settings.batch, .shuffle = true, .drop_last = true, .workers = 1},
      settings.seed);
  const int64_t steps = settings.epochs * loader.batches_per_epoch();
  const cladtorch::OneCycleLR schedule{.max_lr = settings.lr, .total_steps = steps};
  cladtorch::Workspace workspace;
  for (int64_t step = 0; step < steps; ++step) {
    const std::vector<Tensor>& batch = loader.next();
    const cladtorch::Workspace::Step memory(workspace);
    const cladtorch::TrainingScope training(settings.seed, static_cast<uint64_t>(step));
    const double loss = loss_and_gradient(model, batch[0], batch[1], &gradient);
    optimizer.set_lr(schedule.at(step));
    optimizer.step(gradients);
    report(step, steps, loss);
  }
}

}  // namespace fashion
