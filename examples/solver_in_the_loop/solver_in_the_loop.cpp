// Trains a network inside a solver of Burgers' equation, through 200 time steps, of which 8 are kept.
//
//     solver_in_the_loop [FOLDER [EPOCHS [SNAPSHOTS]]]
//
// Writes loss.csv, solution.csv and solver_in_the_loop.svg into the folder.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "examples/file.h"
#include "examples/plot.h"
#include "training.h"

namespace {

using solver::Field;

Field last(const Field& all, int cells) { return Field(all.end() - cells, all.end()); }

double distance(const Field& a, const Field& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  solver::Settings s;
  if (argc > 2) s.epochs = std::atoi(argv[2]);
  if (argc > 3) s.snapshots = std::atoi(argv[3]);
  if (argc > 4 || s.epochs < 1 || s.snapshots < 1) {
    std::fprintf(stderr, "usage: solver_in_the_loop [FOLDER [EPOCHS [SNAPSHOTS]]]\n");
    return 2;
  }
  examples::File losses(folder + "/loss.csv"), solution(folder + "/solution.csv");

  std::printf("%d cells, %d steps, %d snapshots\n", s.cells, s.steps, s.snapshots);
  solver::Network network(7);
  std::fprintf(losses.file, "epoch,loss\n");
  const std::vector<double> history = solver::train(network, s, [&](int epoch, double loss) {
    std::fprintf(losses.file, "%d,%.9g\n", epoch, loss);
    if (epoch % 10 == 0 || epoch + 1 == s.epochs) std::printf("epoch %4d  loss %.3e\n", epoch, loss);
  });

  // Starts that it was not trained on; the last one is plotted.
  Field start, end, without, with;
  double off_without = 0, off_with = 0;
  constexpr int tests = 5;
  for (int i = 0; i < tests; ++i) {
    const Field truth = solver::reference(100 + i, s.cells, s.steps, s.dt, s.finer);
    start.assign(truth.begin(), truth.begin() + s.cells);
    end = last(truth, s.cells);
    without = last(solver::run(solver::Network(0), start, s.steps, s.dt), s.cells);
    with = last(solver::run(network, start, s.steps, s.dt), s.cells);
    off_without += distance(without, end) / tests;
    off_with += distance(with, end) / tests;
  }
  std::printf(
      "distance to the fine solution, of %d starts not trained on: %.4f without the network, %.4f with it\n",
      tests, off_without, off_with);

  std::fprintf(solution.file, "x,start,fine,without,with\n");
  for (int i = 0; i < s.cells; ++i)
    std::fprintf(solution.file, "%.6f,%.9g,%.9g,%.9g,%.9g\n", solver::length * (i + 0.5) / s.cells, start[i],
                 end[i], without[i], with[i]);
  std::vector<double> logs;
  for (const double l : history) logs.push_back(std::log10(l));
  const std::string path = folder + "/solver_in_the_loop.svg";
  const bool written =
      plot::write(path, {plot::panel("solution after " + std::to_string(s.steps) + " steps",
                                     {{"start", "#bbb", start},
                                      {"fine grid", "#3066be", end},
                                      {"coarse", "#d1495b", without},
                                      {"coarse with network", "#0b6e4f", with}},
                                     0),
                         plot::panel("log10 of the loss, by epoch", {{"loss", "#0b6e4f", logs}}, 240)});
  if (!written) std::fprintf(stderr, "solver_in_the_loop: cannot write %s\n", path.c_str());
  return written ? 0 : 1;
}
