// A token shard.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cladtorch/data/shard.h"
#include "cladtorch/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const cladtorch::fuzz::MemoryFile memory({data, size});
  try {
    const auto shard = cladtorch::data::TokenShard::open(memory.path());
    std::vector<int32_t> tokens(shard.tokens().size());
    shard.tokens().copy(0, tokens);
  } catch (const cladtorch::Error&) {
  }
  return 0;
}
