// The images of Fashion-MNIST, progress, and pages of images.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cladtorch/cladtorch.h"
#include "cladtorch/data/data_loader.h"
#include "cladtorch/data/idx.h"
#include "cladtorch/data/image.h"
#include "cladtorch/data/transforms.h"
#include "cladtorch/train/status_line.h"

namespace fashion {

using cladtorch::Random;
using cladtorch::Tensor;
namespace data = cladtorch::data;
namespace fs = std::filesystem;

constexpr int64_t classes = 10;
constexpr const char* class_names[classes] = {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                              "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Boot"};

/// Images [N, 1, 28, 28] in [0, 1] and their classes [N].
struct Images {
  Tensor images, labels;

  int64_t size() const { return labels.size(0); }
  Images first(int64_t count) const {
    const int64_t n = std::min(count, size());
    return {images.narrow(0, 0, n), labels.narrow(0, 0, n)};
  }
  // As a data set for a DataLoader.
  std::vector<Tensor> get(int64_t i) const { return {images.select(0, i), labels.select(0, i)}; }
};

/// "train" or "t10k" of a folder with the four files of MNIST or Fashion-MNIST.
inline Images read(const fs::path& folder, const std::string& part) {
  const Tensor images = data::read_idx(folder / (part + "-images-idx3-ubyte.gz"));
  return {images.unsqueeze(1), data::read_idx(folder / (part + "-labels-idx1-ubyte.gz"))};
}

struct Options {
  std::string data = "/usr/share/datasets/fashion-mnist", out = ".", model = "cnn";
  int64_t epochs = 0, images = 60000, batch = 128;
  uint64_t seed = 1;
};

/// The line that shows how far training is.
class Progress {
 public:
  Progress(int64_t steps, int64_t epochs) : steps_(steps), epoch_(std::max<int64_t>(1, steps / epochs)) {}

  void show(int64_t step, double loss) {
    average_ = step == 0 ? loss : 0.98 * average_ + 0.02 * loss;
    const bool keep = (step + 1) % epoch_ == 0;
    if (!keep && !(line_.terminal() && line_.due())) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    char text[120];
    std::snprintf(
        text, sizeof text, "%s  step %lld of %lld  loss %.4g  %.0f s",
        cladtorch::train::progress_bar(static_cast<double>(step + 1) / static_cast<double>(steps_)).c_str(),
        static_cast<long long>(step + 1), static_cast<long long>(steps_), average_, seconds);
    line_.show(text, keep);
  }

 private:
  cladtorch::train::StatusLine line_{stdout};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int64_t steps_, epoch_;
  double average_ = 0;
};

/// Images [rows * columns, 1, 28, 28] side by side as a PNG.
inline void write_grid(const fs::path& path, const Tensor& images, int64_t columns) {
  const int64_t rows = images.size(0) / columns, side = images.size(2) + 2;
  Tensor page = cladtorch::ones({rows * side, columns * side});
  for (int64_t i = 0; i < rows * columns; ++i)
    page.narrow(0, i / columns * side + 1, side - 2)
        .narrow(1, i % columns * side + 1, side - 2)
        .copy_from(images.select(0, i).select(0, 0));
  data::write_png(path, page);
}

}  // namespace fashion
