// A safetensors file: as it stands, and once more with the length of the header made right, so that mutations
// of the header's text are not all cut off.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/io/conversion.h"
#include "cladtorch/io/safetensors.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace cladtorch;

void check(bool condition) {
  if (!condition) std::abort();
}

/// What an accepted file promises.
void check_tensor(const io::StoredTensor& tensor) {
  const auto elements = static_cast<size_t>(io::element_count(tensor));
  check(elements * io::stored_bits(tensor.type) == tensor.data.size() * 8);
  if (!io::converts_to_float32(tensor.type)) return;
  std::vector<float> values(elements);
  io::to_float32(tensor, values);
}

void open(std::span<const unsigned char> content) {
  const fuzz::MemoryFile memory(content);
  try {
    const io::SafetensorsFile file(memory.path());
    for (const auto& [name, tensor] : file.tensors()) check_tensor(tensor);
  } catch (const Error& error) {
    check(std::strchr(error.what(), '/') != nullptr);  // it names the file
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  open({data, size});
  if (size < 8) return 0;
  std::vector<unsigned char> mended(data, data + size);
  const auto brace = std::find(mended.rbegin(), std::make_reverse_iterator(mended.begin() + 8), '}');
  const auto length = static_cast<uint64_t>(brace.base() - mended.begin()) - 8;
  std::memcpy(mended.data(), &length, sizeof length);
  open(mended);
  return 0;
}
