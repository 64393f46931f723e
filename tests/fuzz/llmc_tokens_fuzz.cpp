// A token file of llm.c: as it stands, and with the number of tokens that its size gives.
#include <cstdint>
#include <cstring>
#include <vector>

#include "cladtorch/data/llmc_tokens.h"
#include "cladtorch/error.h"
#include "tests/fuzz/memory_file.h"

namespace {

void open(std::span<const uint8_t> content) {
  const cladtorch::fuzz::MemoryFile memory(content);
  try {
    const auto file = cladtorch::data::LlmcTokens::open(memory.path());
    std::vector<int32_t> tokens(file.tokens().size());
    file.tokens().copy(0, tokens);
  } catch (const cladtorch::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  open({data, size});
  if (size < 1024) return 0;
  std::vector<uint8_t> mended(data, data + size);
  const auto count = static_cast<int32_t>((size - 1024) / 4);
  std::memcpy(mended.data() + 8, &count, sizeof count);
  open(mended);
  return 0;
}
