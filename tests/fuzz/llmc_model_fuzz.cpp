// A model file of llm.c: as it stands, and cut or filled to the length that its header describes, where that
// is short.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/formats/llmc.h"
#include "tests/fuzz/memory_file.h"

namespace {

void open(std::span<const uint8_t> content) {
  const cladtorch::fuzz::MemoryFile memory(content);
  try {
    cladtorch::formats::load_llmc(memory.path());
  } catch (const cladtorch::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  open({data, size});
  if (size < 32) return 0;
  int32_t header[8];
  std::memcpy(header, data, sizeof header);
  for (size_t i = 2; i < 8; ++i) header[i] = header[i] & 31;
  const auto numbers = (header[7] + header[2]) * header[6] +
                       header[4] * (12 * header[6] * header[6] + 13 * header[6]) + 2 * header[6];
  std::vector<uint8_t> mended(1024 + static_cast<size_t>(numbers) * (header[1] == 5 ? 2 : 4));
  std::copy_n(data, std::min(size, mended.size()), mended.begin());
  std::memcpy(mended.data(), header, sizeof header);
  open(mended);
  return 0;
}
