// Trains a generator of images against a discriminator; writes images that it makes of noise.
#include "training.h"

int main(int argc, char** argv) {
  using namespace fashion;
  return run(argc, argv, "Trains a generative adversarial network on Fashion-MNIST.", {.epochs = 12}, false,
             [](const Options& options) {
               const Generator model = train_gan(options, read(options.data, "train").first(options.images));
               Random random(options.seed);
               const Tensor made = model.forward(randn({60, 64}, random));
               write_grid(fs::path(options.out) / "gan.png", made * 0.5 + 0.5, 15);
               return 0;
             });
}
