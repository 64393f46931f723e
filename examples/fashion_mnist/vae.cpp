// Trains a variational autoencoder; writes images that it makes of random codes.
#include "training.h"

int main(int argc, char** argv) {
  using namespace fashion;
  return run(argc, argv, "Trains a variational autoencoder on Fashion-MNIST.", {}, false,
             [](const Options& options) {
               const Vae model = train_vae(options, read(options.data, "train").first(options.images));
               Random random(options.seed);
               const Tensor made = sigmoid(model.decode(randn({60, 20}, random)));
               write_grid(fs::path(options.out) / "vae.png", made.reshape({60, 1, 28, 28}), 15);
               return 0;
             });
}
