// Every operation of the catalogue (tests/ops/catalogue.h) at the largest of its tested shapes, in float32:
// what a change of something that all of them share costs.
#include "bench/ops/support.h"
#include "tests/ops/catalogue.h"

namespace cladtorch {
namespace {

using testing::Bound;
using testing::Operation;
using testing::Tensors;

/// Operands of the case with the most elements.
Tensors largest(const Operation& operation) {
  const auto elements = [](const std::vector<Shape>& shapes) {
    int64_t count = 0;
    for (const Shape& shape : shapes) count += shape.numel();
    return count;
  };
  return operation.draw(
      *std::max_element(operation.cases.begin(), operation.cases.end(),
                        [&](const auto& a, const auto& b) { return elements(a) < elements(b); }));
}

void run(benchmark::State& state, const Operation& operation, bool gradient) {
  const Tensors exact = largest(operation);
  Tensors x;
  for (const Tensor& one : exact) x.push_back(one.dtype() == DType::float64 ? one.to(DType::float32) : one);
  const Bound f = bound(operation, x), reference = bound(operation, exact);
  const Tensor y = f.forward(f.x), expected = reference.forward(reference.x);
  verify(agrees(y, expected, 1e-4), operation.name.c_str());
  const Tensor d_y = ones(y.shape(), y.dtype());
  Tensors d(f.x.size());
  std::vector<Tensor*> targets;
  for (Tensor& one : d) targets.push_back(&one);
  Workspace workspace;
  for (auto _ : state) {
    const Workspace::Step step(workspace);
    if (gradient) {
      f.pullback(f.x, d_y, targets);
      std::fill(d.begin(), d.end(), Tensor());
    } else {
      benchmark::DoNotOptimize(f.forward(f.x));
    }
  }
}

void add_benchmarks() {
  for (const Operation& operation : testing::catalogue()) {
    for (const bool gradient : {false, true})
      benchmark::RegisterBenchmark(
          (operation.name + (gradient ? "/gradient" : "/value")).c_str(),
          [&operation, gradient](benchmark::State& state) { run(state, operation, gradient); })
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace
}  // namespace cladtorch

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  cladtorch::add_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
}
