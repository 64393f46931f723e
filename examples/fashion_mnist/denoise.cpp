// Trains a U-Net that takes noise from images; writes rows of noisy images, what it makes of them, and the
// originals.
#include "training.h"

int main(int argc, char** argv) {
  using namespace fashion;
  return run(argc, argv, "Trains a U-Net that takes noise from images of Fashion-MNIST.", {.epochs = 2},
             false, [](const Options& options) {
               const UNet model = train_unet(options, read(options.data, "train").first(options.images));
               const Images others = read(options.data, "t10k").first(1000);
               Random random(options.seed + 3);
               const Tensor noisy = with_noise(others.images, random), clean = model.forward(noisy);
               const auto error = [&](const Tensor& x) {
                 return std::sqrt(mse_loss(x, others.images).item());
               };
               std::printf("error of pixels not trained on: %.3f with noise, %.3f without\n", error(noisy),
                           error(clean));
               const auto first = [](const Tensor& x) { return x.narrow(0, 0, 15); };
               write_grid(fs::path(options.out) / "denoised.png",
                          cladtorch::cat({first(noisy), first(clean), first(others.images)}), 15);
               return 0;
             });
}
