// Solves the heat equation with a network that is given the equation alone.
//
//     heat_network [FOLDER [STEPS]]
//
// Writes loss.csv, solution.csv and heat_network.svg into the folder.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "examples/adam.h"
#include "examples/file.h"
#include "examples/plot.h"
#include "heat.h"

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 10000;
  if (argc > 3 || steps < 1) {
    std::fprintf(stderr, "usage: heat_network [FOLDER [STEPS]]\n");
    return 2;
  }
  constexpr int points = 16, places = 50;
  examples::File losses(folder + "/loss.csv"), solution(folder + "/solution.csv");
  std::printf("%d weights, %d x %d points\n", heat::Network::count, points, points);

  heat::Network network = heat::make_network(1);
  auto gradient = clad::value_and_gradient(heat::loss, "n");
  examples::Adam adam(heat::Network::count);
  std::vector<double> history;
  std::fprintf(losses.file, "step,loss\n");
  for (int step = 0; step < steps; ++step) {
    heat::Network d{};
    const double loss = gradient.execute(network, points, &d);
    const double rate = 0.01 * (1 + std::cos(heat::pi * step / steps));  // falls to zero
    adam.update(network.weights, d.weights, rate);
    std::fprintf(losses.file, "%d,%.9g\n", step, loss);
    if (step % (steps / 300 + 1) == 0) history.push_back(std::log10(loss));
    if (step % (steps / 20 + 1) == 0 || step + 1 == steps)
      std::printf("step %6d  loss %.3e  error %.4f\n", step, loss, heat::error(network));
  }

  std::fprintf(solution.file, "x,t,network,exact\n");
  const std::vector<double> times{0.0, 0.2, 1.0};
  const std::vector<std::string> colours{"#3066be", "#d1495b", "#0b6e4f"};
  std::vector<plot::Curve> found, off;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const std::string name = "t = " + std::to_string(times[k]).substr(0, 3);
    found.push_back({name, colours[k], {}});
    off.push_back({name, colours[k], {}});
    for (int i = 0; i <= places; ++i) {
      const double x = static_cast<double>(i) / places;
      const double value = heat::u(network, x, times[k]), exact = heat::exact(x, times[k]);
      found.back().y.push_back(value);
      off.back().y.push_back(value - exact);
      std::fprintf(solution.file, "%.3f,%.3f,%.9g,%.9g\n", x, times[k], value, exact);
    }
  }
  const std::string path = folder + "/heat_network.svg";
  const bool written =
      plot::write(path, {plot::panel("u(x) of the network", found, 0),
                         plot::panel("how far it is from the solution", off, 240),
                         plot::panel("log10 of the loss, by step", {{"loss", "#555", history}}, 480)});
  if (!written) std::fprintf(stderr, "heat_network: cannot write %s\n", path.c_str());
  return written ? 0 : 1;
}
