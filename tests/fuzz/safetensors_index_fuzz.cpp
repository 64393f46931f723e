// The index of two shards.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/io/safetensors_folder.h"
#include "io/temporary_folder.h"

namespace {

using namespace cladtorch;

/// With the shards that the corpus names.
const io::TemporaryFolder& shards() {
  static const io::TemporaryFolder folder;
  static const bool written = [] {
    const std::byte bytes[4]{};
    const io::StoredTensor tensor{io::StoredType::u8, {4}, bytes};
    io::write_safetensors(folder / "model-00001-of-00002.safetensors", {{"a", tensor}, {"b", tensor}});
    io::write_safetensors(folder / "model-00002-of-00002.safetensors", {{"c", tensor}});
    return true;
  }();
  if (!written) std::abort();
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  shards().write("model.safetensors.index.json", std::string(reinterpret_cast<const char*>(data), size));
  try {
    const io::SafetensorsFolder folder(shards().path());
    for (const auto& [name, tensor] : folder.tensors()) {
      if (tensor.data.size() != 4) std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
