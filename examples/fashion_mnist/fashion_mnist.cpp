// Trains a classifier of clothes on Fashion-MNIST.
//
//     fashion_mnist [DATA [EPOCHS [IMAGES]]]
//
// DATA holds the four files (default: those of Debian's package dataset-fashion-mnist). Writes
// model.safetensors and confusion.svg into the current folder.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cladtorch/formats/state_dict.h"
#include "cladtorch/train/status_line.h"
#include "picture.h"

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(const std::string& folder, int64_t epochs, int64_t count) {
  using namespace fashion;
  Images images = read(folder, "train"), test_images = read(folder, "t10k");
  if (count > 0) {
    images = images.first(std::min(count, images.size()));
    test_images = test_images.first(std::min(count, test_images.size()));
  }
  Random random(1);
  Cnn model(random);
  std::printf("%lld images, %lld parameters\n", static_cast<long long>(images.size()),
              static_cast<long long>(cladtorch::parameter_count(model)));

  const auto start = std::chrono::steady_clock::now();
  cladtorch::train::StatusLine line(stdout);
  double average = 0;
  train(model, images, {.epochs = epochs}, [&](int64_t step, int64_t steps, double loss) {
    average = step == 0 ? loss : 0.98 * average + 0.02 * loss;
    const bool keep = (step + 1) % (steps / epochs) == 0;
    if (!keep && !(line.terminal() && line.due())) return;
    char text[120];
    std::snprintf(
        text, sizeof text, "%s  step %lld of %lld  loss %.3f  %.0f s",
        cladtorch::train::progress_bar(static_cast<double>(step + 1) / static_cast<double>(steps)).c_str(),
        static_cast<long long>(step + 1), static_cast<long long>(steps), average, seconds_since(start));
    line.show(text, keep);
  });
  const Confusion confusion = test(model, test_images);
  std::printf("accuracy on %lld images not trained on: %.2f %%\n", static_cast<long long>(test_images.size()),
              100 * confusion.accuracy());
  cladtorch::save(model, "model.safetensors");
  if (!write_picture("confusion.svg", confusion)) {
    std::fprintf(stderr, "fashion_mnist: cannot write confusion.svg\n");
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
  const int64_t epochs = argc > 2 ? std::atoll(argv[2]) : 8, count = argc > 3 ? std::atoll(argv[3]) : 0;
  if (argc > 4 || epochs < 1 || count < 0) {
    std::fprintf(stderr, "usage: fashion_mnist [DATA [EPOCHS [IMAGES]]]\n");
    return 2;
  }
  try {
    return run(folder, epochs, count);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
    if (!std::filesystem::exists(folder))
      std::fprintf(
          stderr,
          "fashion_mnist: install the package dataset-fashion-mnist, or name a folder with the files\n");
    return 1;
  }
}
