// What each style of writing a model costs: a step (forward and backward) of GPT-2 124M in the object style
// and in the arena style, beside a hand-ordered sequence of the same kernel calls, one after the other in
// every round. All three must give the same bits before anything is timed.
//
//   styles_bench [--threads N] [--rounds N]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>

#include "bench/styles/hand_ordered.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/workspace.h"

namespace cladtorch::bench {
namespace {

/// Milliseconds on the wall and of the process's threads. The second tell the truth on a machine that has
/// other work too, but only with --threads 1: threads that wait may spin.
struct Time {
  double wall, processor;
};
Time now() {
  using std::chrono::steady_clock;
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  const auto wall = steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double, std::milli>(wall).count(),
          1e3 * static_cast<double>(spent.tv_sec) + 1e-6 * static_cast<double>(spent.tv_nsec)};
}

Tensor random_tokens(int64_t batch, int64_t length, int64_t vocabulary, uint64_t seed) {
  Random random(seed);
  Tensor tokens = Tensor::empty({batch, length}, DType::int32);
  for (int64_t i = 0; i < tokens.numel(); ++i)
    tokens.data<int32_t>()[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary)));
  return tokens;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One model in both styles.
struct Model {
  GPT2Config config = gpt2_preset("gpt2");
  GPT2 object{config}, object_gradient{like(object)};
  gpt2_arena::PlacedParameters parameters = gpt2_arena::parameters_for(config);
  gpt2_arena::PlacedGradient gradient = gpt2_arena::gradient_for(config);

  Model() { gpt2_arena::copy_parameters(object, parameters); }

  /// Whether the arena's gradient has the bits of the object's.
  bool gradients_agree() {
    bool agree = true;
    size_t number = 0;
    for_each_parameter(object_gradient, [&](const std::string&, Tensor& d) {
      const Tensor& block = gradient.arena.tensor(number++);
      agree = agree && std::memcmp(d.data(), block.data(), d.nbytes()) == 0;
    });
    return agree;
  }
};

struct Style {
  const char* name;
  std::function<double()> step;
  std::vector<double> wall = {}, processor = {};
};

void run(Model& model, int64_t batch, int64_t length, int rounds) {
  const gpt2_arena::Size size = gpt2_arena::size_of(model.config, batch, length);
  auto activations = gpt2_arena::activations_for(size);
  auto cotangents = gpt2_arena::cotangents_for(size);
  const Tensor tokens = random_tokens(batch, length, size.V, 7),
               targets = random_tokens(batch, length, size.V, 8);
  const int32_t *const token = tokens.data<int32_t>(), *const target = targets.data<int32_t>();
  Workspace workspace;
  Style styles[] = {{"hand-ordered",
                     [&] {
                       model.gradient.arena.mark_zero();
                       cotangents.arena.mark_zero();
                       return hand_ordered_step(model.parameters.at, activations.at, token, target, size,
                                                model.gradient.at, cotangents.at);
                     }},
                    {"object",
                     [&] {
                       zero_grad(model.object_gradient);
                       const Workspace::Step step(workspace);
                       return loss_and_gradient(model.object, tokens, targets, &model.object_gradient);
                     }},
                    {"arena", [&] {
                       model.gradient.arena.mark_zero();
                       cotangents.arena.mark_zero();
                       return gpt2_arena::loss_and_gradient(model.parameters.at, activations.at, token,
                                                            target, size, &model.gradient.at, &cotangents.at);
                     }}};
  const auto fail_if = [](bool failed, const char* style) {
    if (!failed) return;
    std::fprintf(stderr, "%s: loss or gradient differ from those of the object style, not timed\n", style);
    std::exit(1);
  };
  const double expected = styles[1].step();
  fail_if(styles[2].step() != expected || !model.gradients_agree(), "arena");
  // Its kernels store without looking at marks: what is marked afterwards is none of its business.
  model.gradient.arena.write_zeros();
  model.gradient.arena.mark_zero();
  const double by_hand = styles[0].step();
  for (size_t i = 0; i < model.gradient.arena.layout().blocks().size(); ++i)
    kernels::contribute_to(model.gradient.arena.block(i), model.gradient.arena.layout().blocks()[i].count());
  fail_if(by_hand != expected || !model.gradients_agree(), "hand-ordered");

  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < 3; ++i) {
      Style& style = styles[(i + static_cast<size_t>(round)) % 3];
      const Time begin = now();
      style.step();
      const Time end = now();
      style.wall.push_back(end.wall - begin.wall);
      style.processor.push_back(end.processor - begin.processor);
    }
  }
  const auto ratio = [](const std::vector<double>& times, const std::vector<double>& of_hand) {
    std::vector<double> ratios;
    for (size_t i = 0; i < times.size(); ++i) ratios.push_back(times[i] / of_hand[i]);
    return median(ratios);
  };
  for (const Style& style : styles) {
    std::printf("| %ld,%ld | %-12s | %8.2f | %.3f | %8.2f | %.3f |\n", static_cast<long>(batch),
                static_cast<long>(length), style.name, median(style.wall), ratio(style.wall, styles[0].wall),
                median(style.processor), ratio(style.processor, styles[0].processor));
    std::fflush(stdout);
  }
}

int number(const char* text) {
  const int value = std::atoi(text);
  if (value > 0) return value;
  std::fprintf(stderr, "styles_bench: '%s' is no positive number\n", text);
  std::exit(2);
}

}  // namespace
}  // namespace cladtorch::bench

int main(int count, char** arguments) {
  using namespace cladtorch;
  int rounds = 31;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = arguments[i];
    if (option == "--threads") set_num_threads(bench::number(arguments[i + 1]));
    if (option == "--rounds") rounds = bench::number(arguments[i + 1]);
  }
  std::printf("%d threads, %d rounds\n\n", num_threads(), rounds);
  std::printf(
      "| B,T | style | ms | of hand-ordered | processor ms | of hand-ordered |\n|---|---|---|---|---|---|\n");
  bench::Model model;
  for (const auto& [batch, length] : {std::pair{1, 16}, {1, 64}, {4, 64}})
    bench::run(model, batch, length, rounds);
}
