// What the machine can do at best, as one JSON object: per number of threads, operations and bytes per
// second.
//
//   ceilings 1 2
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>

#include "cladtorch/error.h"
#include "cladtorch/train/peak.h"
#include "cladtorch/train/system_info.h"

int main(int argc, char** argv) {
  using namespace cladtorch;
  try {
    nlohmann::ordered_json result = {{"cpu", train::cpu_name()}, {"features", train::cpu_features()}};
    for (int i = 1; i < argc; ++i) {
      const int threads = std::atoi(argv[i]);
      require(threads >= 1, "ceilings: '", argv[i], "' is no number of threads, expected 1 or more");
      const train::Bandwidth bandwidth = train::measure_bandwidth(threads);
      result["threads"][argv[i]] = {{"fp32", train::measure_peak_flops(threads)},
                                    {"bf16", train::measure_peak_bf16_flops(threads)},
                                    {"read", bandwidth.read},
                                    {"fill", bandwidth.fill},
                                    {"mixed", bandwidth.mixed}};
    }
    fmt::print("{}\n", result.dump());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ceilings: error: {}\n", error.what());
    return 1;
  }
}
