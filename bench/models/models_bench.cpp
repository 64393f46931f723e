// Training steps of twelve small models, for bench/models/compare.py.
//
//     models_bench FOLDER SECONDS [MODEL...]
//
// For each model: writes its parameters and its batch to FOLDER/MODEL.safetensors, trains three steps, whose
// losses are compared, then takes steps for SECONDS. Prints a line of JSON with the losses, the median of the
// steps in milliseconds, and how many allocations on the heap a step makes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "cladtorch/formats/state_dict.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/allocation_counter.h"
#include "examples/adam.h"
#include "examples/heat_network/heat.h"
#include "models.h"

namespace bench {
namespace {

using cladtorch::NamedTensor;
using cladtorch::randint;
using cladtorch::randn;
using Clock = std::chrono::steady_clock;

constexpr cladtorch::AdamWOptions options{.lr = 1e-3, .weight_decay = 0};

#define BENCH_STEP(Model, name)                                                                          \
  double name##_loss(const Model& model, const Tensor& x, const Tensor& y) { return loss(model, x, y); } \
  double value_and_gradient(const Model& model, const Tensor& x, const Tensor& y, Model* gradient) {     \
    auto step = clad::value_and_gradient(name##_loss, "model");                                          \
    return step.execute(model, x, y, gradient);                                                          \
  }
BENCH_STEP(Mlp, mlp)
BENCH_STEP(LeNet, lenet)
BENCH_STEP(ResNet20, resnet20)
BENCH_STEP(DepthwiseCnn, depthwise)
BENCH_STEP(UNet, unet)
BENCH_STEP(LstmModel, lstm)
BENCH_STEP(GruModel, gru)
BENCH_STEP(Vit, vit)
BENCH_STEP(Vae, vae)
BENCH_STEP(EncoderDecoder, translation)

double judge_loss(const Discriminator& model, const Tensor& real, const Tensor& made) {
  return loss(model, real, made);
}
double maker_loss(const Generator& model, const Discriminator& judge, const Tensor& noise) {
  return loss(model, judge, noise);
}

struct Timing {
  double seconds;
  std::vector<std::string> names;
  std::string folder;

  bool wants(const std::string& name) const {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }

  /// step() returns the loss.
  void run(const std::string& name, std::vector<NamedTensor> kept,
           const std::function<double()>& step) const {
    cladtorch::save(kept, folder + "/" + name + ".safetensors");
    double losses[3];
    for (double& loss : losses) loss = step();
    std::vector<double> times;
    const int64_t before = cladtorch::train::heap_allocations();
    const auto start = Clock::now();
    const auto since = [](Clock::time_point t) {
      return std::chrono::duration<double>(Clock::now() - t).count();
    };
    times.reserve(1 << 20);
    while (since(start) < seconds || times.size() < 5) {
      const auto t = Clock::now();
      step();
      times.push_back(since(t));
    }
    const double allocations = static_cast<double>(cladtorch::train::heap_allocations() - before - 1) /
                               static_cast<double>(times.size());
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    std::printf(
        "{\"model\": \"%s\", \"losses\": [%.9g, %.9g, %.9g], \"ms\": %.4f, \"steps\": %zu, \"allocations\": "
        "%.2f}\n",
        name.c_str(), losses[0], losses[1], losses[2], 1e3 * times[times.size() / 2], times.size(),
        allocations);
    std::fflush(stdout);
  }

  template <class Model>
  void train(const std::string& name, Model model, const Tensor& x, const Tensor& y) const {
    Model gradient = cladtorch::like(model);
    cladtorch::AdamW optimizer(model, options);
    cladtorch::TensorList gradients(gradient);
    cladtorch::Workspace workspace;
    std::vector<NamedTensor> kept = cladtorch::named_parameters(model);
    kept.push_back({"x", x});
    kept.push_back({"y", y});
    uint64_t number = 0;
    run(name, kept, [&] {
      const cladtorch::Workspace::Step memory(workspace);
      const cladtorch::TrainingScope training(1, number++);
      const double loss = value_and_gradient(model, x, y, &gradient);
      optimizer.step(gradients);
      return loss;
    });
  }

  void train_gan() const {
    Random random(3);
    Generator maker(random, 128);
    Discriminator judge(random, 64, /*dropout=*/0);
    Generator d_maker = cladtorch::like(maker);
    Discriminator d_judge = cladtorch::like(judge);
    cladtorch::AdamW maker_optimizer(maker, options), judge_optimizer(judge, options);
    cladtorch::TensorList maker_gradients(d_maker), judge_gradients(d_judge);
    const Tensor real = cladtorch::tanh(randn({64, 1, 28, 28}, random)), noise = randn({64, 64}, random);
    std::vector<NamedTensor> kept{{"x", real}, {"y", noise}};
    for (const NamedTensor& one : cladtorch::named_parameters(maker))
      kept.push_back({"maker." + one.name, one.tensor});
    for (const NamedTensor& one : cladtorch::named_parameters(judge))
      kept.push_back({"judge." + one.name, one.tensor});
    auto of_judge = clad::value_and_gradient(judge_loss, "model");
    auto of_maker = clad::value_and_gradient(maker_loss, "model");
    cladtorch::Workspace workspace;
    uint64_t number = 0;
    run("gan", kept, [&] {
      const cladtorch::Workspace::Step memory(workspace);
      const cladtorch::TrainingScope training(1, number++);
      const double first = of_judge.execute(judge, real, maker.forward(noise), &d_judge);
      judge_optimizer.step(judge_gradients);
      const double second = of_maker.execute(maker, judge, noise, &d_maker);
      maker_optimizer.step(maker_gradients);
      return first + second;
    });
  }

  void train_pinn() const {
    heat::Network network = heat::make_network(1);
    Tensor weights = cladtorch::empty({heat::Network::count}, cladtorch::DType::float64);
    std::copy(network.weights.begin(), network.weights.end(), weights.data<double>());
    examples::Adam adam(heat::Network::count);
    auto gradient = clad::value_and_gradient(heat::loss, "n");
    run("pinn", {{"weights", weights}}, [&] {
      heat::Network d{};
      const double loss = gradient.execute(network, 16, &d);
      adam.update(network.weights, d.weights, 1e-3);
      return loss;
    });
  }
};

template <class Model, class... Options>
Model made(uint64_t seed, Options... options) {
  Random random(seed);
  return Model(random, options...);
}

void run_all(const Timing& timing) {
  Random random(7);
  const Tensor digits = randn({128, 1, 28, 28}, random), labels = randint(0, 10, {128}, random);
  const Tensor pictures = randn({128, 3, 32, 32}, random);
  const Tensor ids = randint(0, 64, {64, 32}, random), next = randint(0, 64, {64, 32}, random);
  const Tensor sentences = randint(0, 64, {32, 32}, random), translations = randint(0, 64, {32, 32}, random);
  const Tensor noisy = randn({32, 1, 32, 32}, random), clean = randn({32, 1, 32, 32}, random);
  const Tensor bright = cladtorch::sigmoid(randn({128, 784}, random)), noise = randn({128, 20}, random);
  if (timing.wants("mlp")) timing.train("mlp", made<Mlp>(1), digits.reshape({128, 784}), labels);
  if (timing.wants("lenet")) timing.train("lenet", made<LeNet>(2), digits, labels);
  if (timing.wants("resnet20")) timing.train("resnet20", made<ResNet20>(3), pictures, labels);
  if (timing.wants("depthwise"))
    timing.train("depthwise", made<DepthwiseCnn>(4), pictures.narrow(0, 0, 64), labels.narrow(0, 0, 64));
  if (timing.wants("unet")) timing.train("unet", made<UNet>(5), noisy, clean);
  if (timing.wants("lstm")) timing.train("lstm", made<LstmModel>(6), ids, next);
  if (timing.wants("gru")) timing.train("gru", made<GruModel>(7), ids, next);
  if (timing.wants("vit")) timing.train("vit", made<Vit>(8, /*dropout=*/0), digits, labels);
  if (timing.wants("vae")) timing.train("vae", made<Vae>(9, /*hidden=*/400), bright, noise);
  if (timing.wants("gan")) timing.train_gan();
  if (timing.wants("translation"))
    timing.train("translation", made<EncoderDecoder>(10), sentences, translations);
  if (timing.wants("pinn")) timing.train_pinn();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: models_bench FOLDER SECONDS [MODEL...]\n");
    return 2;
  }
  try {
    bench::run_all({std::atof(argv[2]), {argv + 3, argv + argc}, argv[1]});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "models_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
