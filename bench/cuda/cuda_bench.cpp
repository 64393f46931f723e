// Times every kernel of a training step on a GPU, beside what the card can do at best.
//
//   cuda_bench                 a table
//   cuda_bench --json          what `make bench-cuda` reads
//   cuda_bench --check         compares the results with the CPU's and times nothing
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/cuda/kernels.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/random.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/workspace.h"
#include "ops/float8/float8_on_device.h"
#include "tensor/device_graph.h"
#include "tensor/device_memory.h"

namespace cladtorch::bench {
namespace {

constexpr Device gpu{DeviceType::cuda};
constexpr int runs_per_graph = 5, graphs = 4, measurements = 5;

/// The same values wherever it lies; large ones repeat.
Tensor make(const Operand& operand, DType dtype, Device device) {
  constexpr int64_t most_drawn = 1 << 20;
  const int64_t n = operand.shape.numel(), drawn = std::min(n, most_drawn);
  Random random(static_cast<uint64_t>(n));
  Tensor values = Tensor::empty({drawn}, operand.below > 0 ? DType::int32 : dtype);
  if (operand.below > 0) {
    for (int64_t i = 0; i < drawn; ++i)
      values.data<int32_t>()[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(operand.below)));
  } else {
    values = normal({drawn}, random, 0, operand.deviation).to(dtype);
  }
  const Tensor there = values.to(device);
  Tensor all = Tensor::empty({n}, there.dtype(), device);
  for (int64_t begin = 0; begin < n; begin += drawn) {
    const int64_t length = std::min(drawn, n - begin);
    all.narrow(0, begin, length).copy_from(there.narrow(0, 0, length));
  }
  return all.reshape(operand.shape);
}

Tensors make_all(const Operands& operands, DType dtype, Device device) {
  Tensors made;
  for (const Operand& operand : operands) made.push_back(make(operand, dtype, device));
  return made;
}

/// The largest difference relative to the largest element; NaN if something is not finite.
double difference(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.to(Device{}).to(DType::float64).contiguous(),
               b = expected.to(DType::float64).contiguous();
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double distance = std::abs(a.data<double>()[i] - b.data<double>()[i]);
    if (!(distance <= worst)) worst = distance;
    largest = std::max(largest, std::abs(b.data<double>()[i]));
  }
  return worst / std::max(largest, 1e-30);
}

/// Throws Error where the device and the CPU differ: a wrong kernel is not worth timing.
void check(const Kernel& kernel) {
  const Operands operands = kernel.operands(kernel.rows_check);
  const Tensors expected = kernel.prepare(make_all(operands, DType::bfloat16, Device{}))(),
                got = kernel.prepare(make_all(operands, DType::bfloat16, gpu))();
  for (size_t i = 0; i < expected.size(); ++i) {
    require(got[i].shape() == expected[i].shape(), kernel.name, ": result ", i, " has shape ", got[i].shape(),
            ", expected ", expected[i].shape(), "; not timed");
    const double distance = difference(got[i], expected[i]);
    require(distance <= kernel.tolerance, kernel.name, ": result ", i, " is off by ", distance,
            " of the largest; not timed");
  }
}

/// Milliseconds of a run, the least of several measurements. Runs are launched as graphs, so that the host
/// keeps up with short ones.
template <class Run>
double time(Run run) {
  Workspace workspace;
  const auto several = [&] {
    const Workspace::Step step(workspace);
    for (int i = 0; i < runs_per_graph; ++i) run();
  };
  for (int i = 0; i < 3; ++i) several();  // memory is planned, and products are chosen
  const auto graph = detail::capture(gpu, several);
  double best = INFINITY;
  for (int i = 0; i <= measurements; ++i) {
    synchronize(gpu);
    const auto begin = std::chrono::steady_clock::now();
    for (int j = 0; j < graphs; ++j) graph->launch();
    synchronize(gpu);
    const std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, all.count() / (graphs * runs_per_graph));
  }
  return best;
}

struct Result {
  double milliseconds, bytes;
};

double bytes_of(const Tensors& tensors) {
  double bytes = 0;
  for (const Tensor& tensor : tensors)
    if (tensor.defined()) bytes += static_cast<double>(tensor.nbytes());
  return bytes;
}

Result measure(const Kernel& kernel) {
  const Tensors operands = make_all(kernel.operands(kernel.rows), DType::bfloat16, gpu);
  const auto run = kernel.prepare(operands);
  const double bytes = kernel.bytes > 0 ? kernel.bytes : bytes_of(operands) + bytes_of(run());
  return {time(run), bytes};
}

/// Nothing for one that may fail and does.
std::optional<Result> check_and_measure(const Kernel& kernel) {
  try {
    check(kernel);
    return measure(kernel);
  } catch (const Error& error) {
    if (!kernel.optional) throw;
    fmt::print(stderr, "cuda_bench: {} is left out: {}\n", kernel.name, error.what());
    return std::nullopt;
  }
}

/// Bytes per second that a copy reads and writes.
double copy_rate() {
  const Tensor from = zeros({1 << 28}, DType::float32, gpu);
  Tensor to = Tensor::empty(from.shape(), DType::float32, gpu);
  const double bytes = 2 * static_cast<double>(from.nbytes());
  return 1e3 * bytes / time([&] { to.copy_from(from); });
}

double product_rate(DType dtype) {
  constexpr int64_t n = 8192;
  const Tensor a = make({{n, n}}, dtype, gpu), b = make({{n, n}}, dtype, gpu);
  return 2e3 * std::pow(n, 3) / time([&] { linear(a, b); });
}

/// Of operands that have been rounded before; 0 where the device has no such products.
double float8_product_rate() {
  constexpr int64_t n = 8192;
  try {
    detail::require_float8_on_device(gpu);
  } catch (const Error&) {
    return 0;
  }
  using detail::Float8Role;
  const Float8Scaling scaling{zeros({3, Float8Scaling::steps}, DType::float32, gpu)};
  const Tensor x = make({{n, n}}, DType::bfloat16, gpu);
  const detail::Float8OnDevice a(x, scaling, Float8Role::input, detail::Float8Layouts::rows),
      b(x, scaling, Float8Role::weight, detail::Float8Layouts::rows);
  Tensor y = Tensor::empty({n, n}, DType::bfloat16, gpu), none;
  Tensor workspace = detail::product_workspace(n, n, gpu);
  return 2e3 * std::pow(n, 3) / time([&] {
           detail::linear_on_device(a.rows(), b.rows(), Tensor(), detail::LinearEnd::sum, none, y, workspace);
         });
}

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

nlohmann::ordered_json run_all(const std::vector<Kernel>& kernels, bool speak) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  nlohmann::ordered_json report = {{"gpu", device_name(gpu)},
                                   {"driver", "for CUDA " + version(driver)},
                                   {"cuda", version(runtime)},
                                   {"copy_bytes_per_s", copy_rate()},
                                   {"flops",
                                    {{"bf16", product_rate(DType::bfloat16)},
                                     {"fp32", product_rate(DType::float32)},
                                     {"fp8", float8_product_rate()}}},
                                   {"kernels", nlohmann::json::array()}};
  const double copy = report["copy_bytes_per_s"], peak = report["flops"]["bf16"];
  if (speak)
    fmt::print(
        "{}: a copy moves {:.0f} GB/s, products reach {:.0f} TFLOP/s in bf16, {:.0f} in fp32, {:.0f} in "
        "fp8\n\n"
        "{:<44}{:>20}{:>10}{:>14}{:>9}\n",
        device_name(gpu), copy / 1e9, peak / 1e12, report["flops"]["fp32"].get<double>() / 1e12,
        report["flops"]["fp8"].get<double>() / 1e12, "kernel", "shape", "ms", "rate", "of peak");
  for (const Kernel& kernel : kernels) {
    const std::optional<Result> measured = check_and_measure(kernel);
    if (!measured) continue;
    const Result& result = *measured;
    const Shape shape = kernel.operands(kernel.rows).front().shape;
    std::ostringstream text;
    text << shape;
    const double rate = 1e3 * (kernel.flops > 0 ? kernel.flops : result.bytes) / result.milliseconds;
    if (speak)
      fmt::print("{:<44}{:>20}{:>10.4f}{:>14}{:>7.0f} %\n", kernel.name, text.str(), result.milliseconds,
                 kernel.flops > 0 ? fmt::format("{:.0f} TFLOP/s", rate / 1e12)
                                  : fmt::format("{:.0f} GB/s", rate / 1e9),
                 100 * rate / (kernel.flops > 0 ? peak : copy));
    report["kernels"].push_back({{"name", kernel.name},
                                 {"shape", text.str()},
                                 {"dtype", "bf16"},
                                 {"ms", result.milliseconds},
                                 {"bytes", result.bytes},
                                 {"flops", kernel.flops}});
  }
  return report;
}

int main(int argc, char** argv) {
  CLI::App app("Times the kernels of a training step on a GPU");
  bool json = false, check_only = false;
  std::vector<int64_t> widths = {768, 1600};
  app.add_flag("--json", json, "one JSON object instead of a table");
  app.add_flag("--check", check_only, "compare results with the CPU's and time nothing");
  app.add_option("--widths", widths, "channels; GPT-2 124M and 1558M have")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(16, 1 << 14));
  CLI11_PARSE(app, argc, argv);
  try {
    require_available(gpu);
    const std::vector<Kernel> all = kernels(widths);
    if (check_only) {
      for (const Kernel& kernel : all) check(kernel);
      fmt::print("{} kernels agree with the CPU\n", all.size());
      return 0;
    }
    const nlohmann::ordered_json report = run_all(all, !json);
    if (json) fmt::print("{}\n", report.dump());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "cuda_bench: error: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace cladtorch::bench

int main(int argc, char** argv) { return cladtorch::bench::main(argc, argv); }
