// What algorithms are chosen by, for tests: none is timed unless a test asks for it, and nothing is left in
// the user's cache.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cladtorch {
namespace {

class CacheFolder : public ::testing::Environment {
 public:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "cladtorch_cuda_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    setenv("CLADTORCH_CUDA_TUNING", "off", 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_;
};

[[maybe_unused]] const auto* const cache =
    ::testing::AddGlobalTestEnvironment(new CacheFolder);  // GoogleTest owns it

}  // namespace
}  // namespace cladtorch
