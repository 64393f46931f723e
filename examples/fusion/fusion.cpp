// Times a training step of a naive GPT-2: as it is, fused by the compiler, and written with fused operations.
//
//   fusion [channels] [layers] [tokens] [repetitions]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cladtorch/tensor/workspace.h"
#include "steps.h"

namespace {

using naive::GPT2;
using naive::Tensor;

constexpr int64_t vocabulary = 4096, batch = 4;

struct Way {
  const char* name;
  decltype(fused_by_compiler)* step;
  double loss = 0;
  int64_t operations = 0;
  std::vector<double> seconds;
  cladtorch::Workspace workspace;
};

Tensor tokens(int64_t length, uint64_t seed) {
  cladtorch::Random random(seed);
  Tensor ids = cladtorch::zeros({batch, length}, cladtorch::DType::int32);
  for (int64_t i = 0; i < ids.numel(); ++i)
    ids.data<int32_t>()[i] = static_cast<int32_t>(random.uniform() * vocabulary);
  return ids;
}

void run(Way& way, const GPT2& model, const Tensor& ids, const Tensor& targets, GPT2& gradient) {
  cladtorch::zero_grad(gradient);
  const int64_t before = cladtorch::op_count();
  const auto start = std::chrono::steady_clock::now();
  {
    const cladtorch::Workspace::Step step(way.workspace);
    way.loss = way.step(model, ids, targets, &gradient);
  }
  way.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  way.operations = cladtorch::op_count() - before;
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) {
    return argc > i ? std::strtoll(argv[i], nullptr, 10) : otherwise;
  };
  const int64_t channels = argument(1, 384), layers = argument(2, 6), length = argument(3, 256);
  const GPT2 model = naive::make(vocabulary, length, channels, channels / 64, layers);
  const Tensor ids = tokens(length, 1), targets = tokens(length, 2);
  GPT2 gradient = cladtorch::like(model);
  Way ways[] = {{"naive", not_fused, {}, {}, {}, {}},
                {"naive, fused by the compiler", fused_by_compiler, {}, {}, {}, {}},
                {"written with fused operations", fused_by_hand, {}, {}, {}, {}}};
  // In turn, so that what slows the machine down slows all of them down; the first round does not count.
  for (int64_t i = 0; i <= argument(4, 9); ++i)
    for (int64_t k = 0; k < 3; ++k) {
      Way& way = ways[(i + k) % 3];
      run(way, model, ids, targets, gradient);
      if (i == 0) way.seconds.clear();
    }
  std::printf("%-30s %10s %12s %10s %8s\n", "", "operations", "milliseconds", "MiB", "loss");
  for (const Way& way : ways)
    std::printf("%-30s %10lld %12.1f %10.1f %8.5f\n", way.name, static_cast<long long>(way.operations),
                1e3 * median(way.seconds),
                static_cast<double>(way.workspace.statistics().planned_bytes) / (1 << 20), way.loss);
}
