// Trains models of images on Fashion-MNIST.
//
//     fashion_mnist classify|vae|gan|denoise [options]
#include "CLI/CLI.hpp"
#include "cladtorch/formats/state_dict.h"
#include "confusion.h"
#include "training.h"

namespace {

using namespace fashion;

template <class Model>
void classify(const Options& options, double lr) {
  const Images others = read(options.data, "t10k").first(options.images);
  const Model model = train_classifier<Model>(options, read(options.data, "train").first(options.images), lr);
  const Confusion confusion = test(model, others);
  std::printf("accuracy on %lld images not trained on: %.2f %%\n", static_cast<long long>(others.size()),
              100 * confusion.accuracy());
  cladtorch::save(model, fs::path(options.out) / (options.model + ".safetensors"));
  write_picture(fs::path(options.out) / (options.model + "-confusion.svg"), confusion);
}

/// Writes images that a variational autoencoder makes of random codes.
void make_by_vae(const Options& options) {
  const Vae model = train_vae(options, read(options.data, "train").first(options.images));
  Random random(options.seed);
  const Tensor made = sigmoid(model.decode(randn({60, 20}, random)));
  write_grid(fs::path(options.out) / "vae.png", made.reshape({60, 1, 28, 28}), 15);
}

/// Writes images that a generator makes of noise.
void make_by_gan(const Options& options) {
  const Generator model = train_gan(options, read(options.data, "train").first(options.images));
  Random random(options.seed);
  write_grid(fs::path(options.out) / "gan.png", model.forward(randn({60, 64}, random)) * 0.5 + 0.5, 15);
}

/// Writes rows of noisy images, what a U-Net makes of them, and the originals.
void denoise(const Options& options) {
  const UNet model = train_unet(options, read(options.data, "train").first(options.images));
  const Images others = read(options.data, "t10k").first(1000);
  Random random(options.seed + 3);
  const Tensor noisy = with_noise(others.images, random), clean = model.forward(noisy);
  const auto error = [&](const Tensor& x) { return std::sqrt(mse_loss(x, others.images).item()); };
  std::printf("error of pixels not trained on: %.3f with noise, %.3f without\n", error(noisy), error(clean));
  const auto first = [](const Tensor& x) { return x.narrow(0, 0, 15); };
  write_grid(fs::path(options.out) / "denoised.png",
             cladtorch::cat({first(noisy), first(clean), first(others.images)}), 15);
}

struct Task {
  const char *name, *what;
  int64_t epochs;
  void (*run)(const Options&);
};
const Task tasks[] = {
    {"classify", "a classifier; writes the model, and a picture of what it confuses", 8,
     [](const Options& options) {
       if (options.model == "vit") return classify<Vit>(options, 2e-3);
       classify<Cnn>(options, 3e-3);
     }},
    {"vae", "a variational autoencoder; writes images that it makes of random codes", 8, make_by_vae},
    {"gan", "a generator against a discriminator; writes images that it makes of noise", 8, make_by_gan},
    {"denoise", "a U-Net that takes noise from images; writes what it makes of some", 2, denoise},
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains models of images on Fashion-MNIST.");
  app.require_subcommand(1);
  Options options;
  const Task* chosen = nullptr;
  for (const Task& task : tasks) {
    CLI::App* command = app.add_subcommand(task.name, task.what);
    command->add_option("--data", options.data, "folder with the files of the data set")
        ->capture_default_str();
    command->add_option("--out", options.out, "folder for what is written")->capture_default_str();
    command->add_option("--epochs", options.epochs, "times that all images are seen")
        ->default_str(std::to_string(task.epochs));
    command->add_option("--images", options.images, "images that are used, of 60000")->capture_default_str();
    command->add_option("--seed", options.seed)->capture_default_str();
    if (task.run == tasks[0].run)
      command->add_option("--model", options.model)
          ->capture_default_str()
          ->check(CLI::IsMember({"cnn", "vit"}));
    command->callback([&chosen, &task] { chosen = &task; });
  }
  CLI11_PARSE(app, argc, argv);
  if (options.epochs == 0) options.epochs = chosen->epochs;
  try {
    if (!fs::exists(options.data))
      cladtorch::fail("there is no folder ", options.data,
                      "; install the package dataset-fashion-mnist, or name a folder with --data");
    cladtorch::require(options.epochs > 0 && options.images >= options.batch,
                       "expected at least one epoch and ", options.batch, " images");
    fs::create_directories(options.out);
    chosen->run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
    return 1;
  }
  return 0;
}
