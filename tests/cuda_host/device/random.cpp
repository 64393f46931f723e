#include "device/random.h"

#include <cstdlib>

namespace cuda_host::detail {

uint64_t seed() {
  const char* text = std::getenv("CLADTORCH_CUDA_HOST_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace cuda_host::detail
