// Training steps of GPT-2 whose gradients come through the recorded computation graph, beside those that the
// compiler wrote. Both take turns, and must have the same gradients to the last bit.
//
//     gpt2_graph [MODEL [BATCH [LENGTH [PAIRS]]]]      gpt2 1 64 15
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cladtorch/graph/tensors.h"
#include "cladtorch/models/gpt2.h"
#include "cladtorch/models/loss.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/workspace.h"

namespace {

using namespace cladtorch;
using Clock = std::chrono::steady_clock;

struct Way {
  const char* name;
  double (*add_gradient)(const GPT2& model, const Tensor& tokens, const Tensor& targets, GPT2* gradient);
  GPT2 gradient;
  Workspace workspace;
  std::vector<double> times;

  Way(const char* name, decltype(add_gradient) f, const GPT2& model)
      : name(name), add_gradient(f), gradient(like(model)) {}
  double step(const GPT2& model, const Tensor& tokens, const Tensor& targets) {
    const auto start = Clock::now();
    const Workspace::Step memory(workspace);
    zero_grad(gradient);
    const double loss = add_gradient(model, tokens, targets, &gradient);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    return loss;
  }
  double median() {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
};

void require_same(const GPT2& a, const GPT2& b) {
  const auto left = named_parameters(a), right = named_parameters(b);
  for (size_t i = 0; i < left.size(); ++i) {
    const Tensor &x = left[i].tensor, &y = right[i].tensor;
    require(std::memcmp(x.data(), y.data(), x.nbytes()) == 0, "the gradients of ", left[i].name, " differ");
  }
}

void compare(const std::string& preset, int64_t batch, int64_t length, int64_t pairs) {
  const GPT2 model(gpt2_preset(preset));
  Random random(1);
  const auto tokens = [&] { return randint(0, model.config.vocab_size, {batch, length}, random); };
  const Tensor inputs = tokens(), targets = tokens();
  Way compiled(
      "compiled",
      [](const GPT2& m, const Tensor& x, const Tensor& y, GPT2* d) { return loss_and_gradient(m, x, y, d); },
      model);
  Way graph(
      "graph",
      [](const GPT2& m, const Tensor& x, const Tensor& y, GPT2* d) {
        const auto loss = [](const GPT2& net, const Tensor& a, const Tensor& b) {
          return mean_loss(net, a, b);
        };
        return graph::value_and_grad(loss, m, d, x, y).item();
      },
      model);
  for (int64_t i = -3; i < pairs; ++i) {
    if (i == 0) compiled.times.clear(), graph.times.clear();
    const double losses[] = {compiled.step(model, inputs, targets), graph.step(model, inputs, targets)};
    require(losses[0] == losses[1], "the losses differ: ", losses[0], " and ", losses[1]);
    if (i < 0) require_same(compiled.gradient, graph.gradient);
  }
  std::printf("%s, batch %lld, length %lld, %d threads, %lld steps each, equal gradients\n", preset.c_str(),
              static_cast<long long>(batch), static_cast<long long>(length), num_threads(),
              static_cast<long long>(pairs));
  for (Way* way : {&compiled, &graph})
    std::printf("%-10s %8.2f ms   %7.1f MiB of activations\n", way->name, way->median(),
                static_cast<double>(way->workspace.statistics().planned_bytes) / (1 << 20));
  std::printf("graph / compiled: %.3f\n", graph.median() / compiled.median());
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int64_t usual) { return argc > i ? std::atoll(argv[i]) : usual; };
  try {
    compare(argc > 1 ? argv[1] : "gpt2", number(2, 1), number(3, 64), number(4, 15));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpt2_graph: %s\n", error.what());
    return 1;
  }
  return 0;
}
