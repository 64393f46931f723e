// `cladtorch bench` on a device: the same work as on the CPU, and what its answers say.
#include "cladtorch/train/bench.h"

#include <cmath>
#include <sstream>

#include "cladtorch/formats/hugging_face.h"
#include "io/temporary_folder.h"
#include "tests/cuda/compare.h"

namespace cladtorch::train {
namespace {

BenchOptions toy(const std::string& device, const std::string& dtype) {
  return {.model = "toy", .batch = 2, .seq = 16, .dtype = dtype, .device = device, .iters = 2};
}

std::vector<nlohmann::json> serve(const BenchOptions& options, const std::string& requests) {
  std::istringstream in(requests);
  std::ostringstream out;
  serve_bench(options, bench_model(options), in, out);
  std::vector<nlohmann::json> answers;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) answers.push_back(nlohmann::json::parse(line));
  return answers;
}

TEST(CudaBench, AWorkerTakesTheStepsOfTheCpu) {
  const std::string requests = "forward 2\nforward_backward 2\nstep 4\nforward 1\nstep 1\ngenerate 3\n";
  for (const char* dtype : {"fp32", "bf16", "fp8"}) {
    const auto there = serve(toy("cuda", dtype), requests), here = serve(toy("cpu", dtype), requests);
    ASSERT_EQ(there.size(), 7u);
    const size_t times[] = {0, 2, 2, 1, 1, 1, 3};
    for (size_t i = 0; i < there.size(); ++i) {
      const double expected = here[i]["loss"];
      EXPECT_NEAR(there[i]["loss"].get<double>(), expected, 0.01 * expected) << dtype << ' ' << i;
      if (i == 0) continue;
      EXPECT_EQ(there[i]["ms"].size(), times[i]) << dtype << ' ' << i;
      EXPECT_GT(there[i]["device_mb"].get<double>(), 0.1);
      EXPECT_FALSE(here[i].contains("device_mb"));
    }
  }
}

TEST(CudaBench, DumpsTheGradientOfTheCpu) {
  const io::TemporaryFolder folder;
  for (const char* device : {"cpu", "cuda"}) {
    const BenchOptions options = toy(device, "fp32");
    dump_bench(options, bench_model(options), folder / device);
  }
  const auto here = formats::load_model(folder / "cpu" / "gradient"),
             there = formats::load_model(folder / "cuda" / "gradient");
  for (size_t i = 0; i < here->parameters().size(); ++i) {
    const NamedTensor expected = here->parameters()[i], got = there->parameters()[i];
    EXPECT_LE(testing::relative_difference(got.tensor.to(DType::float64), expected.tensor.to(DType::float64)),
              1e-4)
        << got.name;
  }
}

TEST(CudaBench, TimesSteps) {
  const BenchOptions options = toy("cuda", "bf16");
  const BenchResult result = run_bench(options, bench_model(options));
  EXPECT_GT(result.step_ms, 0);
  EXPECT_GT(result.forward_ms, 0);
  EXPECT_GT(result.forward_backward_ms, 0);
  EXPECT_GT(result.device_mb, 0.1);
  EXPECT_NEAR(result.loss, std::log(65.0), 0.5);
}

}  // namespace
}  // namespace cladtorch::train
