// Trains a classifier of clothes; writes the model and a picture of what it confuses.
#include "cladtorch/formats/state_dict.h"
#include "confusion.h"
#include "training.h"

namespace {

using namespace fashion;

template <class Model>
int classify(const Options& options, double lr) {
  const Images images = read(options.data, "train").first(options.images);
  const Images others = read(options.data, "t10k").first(options.images);
  const Model model = train_classifier<Model>(options, images, lr);
  const Confusion confusion = test(model, others);
  std::printf("accuracy on %lld images not trained on: %.2f %%\n", static_cast<long long>(others.size()),
              100 * confusion.accuracy());
  cladtorch::save(model, fs::path(options.out) / (options.model + ".safetensors"));
  write_picture(fs::path(options.out) / (options.model + "-confusion.svg"), confusion);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Trains a classifier on Fashion-MNIST.", {}, true, [](const Options& options) {
    return options.model == "vit" ? classify<Vit>(options, 2e-3) : classify<Cnn>(options, 3e-3);
  });
}
