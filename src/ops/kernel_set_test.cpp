// The set of kernels that CLADTORCH_SIMD names, which not every processor runs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "simd/kernels.h"

namespace cladtorch {
namespace {

/// Without this, the tests would run once more with the set that is chosen in its place.
class NamedKernels : public testing::Environment {
  void SetUp() override {
    const char* wanted = std::getenv("CLADTORCH_SIMD");
    if (wanted != nullptr && *wanted != '\0' && wanted != std::string(simd::kernels().name))
      GTEST_SKIP() << "This processor does not run the kernels of " << wanted;
  }
};

[[maybe_unused]] const auto* const added = testing::AddGlobalTestEnvironment(new NamedKernels);

}  // namespace
}  // namespace cladtorch
