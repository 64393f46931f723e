// Records a random graph of numbers, differentiates it, and prints times and gradients: see compare.py.
//
//   graph_bench GRAPH REPETITIONS
//
// The file GRAPH holds the number of inputs and the number of nodes, the inputs' values, and for each node a
// function and its two arguments, as numbers of inputs and nodes; the loss is the sum of the last 32. Prints
// one line of nanoseconds a repetition: to record the graph, to sort it, to sort it and find the gradient,
// and to do the same while that is recorded too. The last line has the gradient.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "cladtorch/graph/grad.h"

namespace cladtorch::graph {
namespace {

struct Step {
  int function;
  size_t a, b;
};

Var call(int function, const Var& a, const Var& b) {
  switch (function) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return sin(a);
    case 4:
      return tanh(a);
    default:
      return sigmoid(a);
  }
}

void measure(const std::vector<double>& inputs, const std::vector<Step>& steps, int repetitions) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> gradient(inputs.size());
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const Scope scope;
    std::vector<Var> v;
    v.reserve(inputs.size() + steps.size());
    const auto start = Clock::now();
    for (const double x : inputs) v.push_back(variable(x));
    for (const auto& [function, a, b] : steps) v.push_back(call(function, v[a], v[b]));
    Var loss = 0;
    for (size_t i = v.size() - 32; i < v.size(); ++i) loss += v[i];
    const auto recorded = Clock::now();
    if (topological_sort({&loss, 1}).size() < 2) std::exit(1);
    const auto sorted = Clock::now();
    {
      const Scope silent(false);
      const auto d = backward(loss);
      for (size_t i = 0; i < inputs.size(); ++i) gradient[i] = d[v[i]].value;
    }
    const auto differentiated = Clock::now();
    const auto d = backward(loss);
    const auto twice = Clock::now();
    for (const auto& [from, to] : {std::pair(start, recorded), std::pair(recorded, sorted),
                                   std::pair(sorted, differentiated), std::pair(differentiated, twice)})
      std::printf("%lld ", static_cast<long long>(std::chrono::nanoseconds(to - from).count()));
    std::printf("\n");
  }
  for (const double d : gradient) std::printf("%.17g ", d);
  std::printf("\n");
}

}  // namespace
}  // namespace cladtorch::graph

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: graph_bench GRAPH REPETITIONS\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  size_t inputs = 0, nodes = 0;
  file >> inputs >> nodes;
  std::vector<double> values(inputs);
  std::vector<cladtorch::graph::Step> steps(nodes);
  for (double& x : values) file >> x;
  for (auto& [function, a, b] : steps) file >> function >> a >> b;
  if (!file || nodes < 32) {
    std::cerr << "graph_bench: cannot read '" << argv[1] << "'\n";
    return 1;
  }
  cladtorch::graph::measure(values, steps, std::atoi(argv[2]));
}
