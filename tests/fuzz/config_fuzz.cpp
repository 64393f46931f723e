// config.toml of a run: what is read is either refused or survives writing and reading again.
#include <cstdint>
#include <cstdlib>

#include "cladtorch/error.h"
#include "cladtorch/train/config.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace cladtorch::train;

TrainConfig read(std::span<const unsigned char> text) {
  TrainConfig config;
  read_config(config, cladtorch::fuzz::MemoryFile(text).path());
  check_config(config);
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TrainConfig config;
  try {
    config = read({data, size});
  } catch (const cladtorch::Error&) {
    return 0;
  }
  const std::string written = config_toml(config);
  const auto* bytes = reinterpret_cast<const unsigned char*>(written.data());
  if (config_toml(read({bytes, written.size()})) != written) std::abort();
  return 0;
}
