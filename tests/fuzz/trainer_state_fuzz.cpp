// trainer_state.json of a checkpoint.
#include <cstdint>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/train/checkpoint.h"
#include "io/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const cladtorch::io::TemporaryFolder folder;
  folder.write("trainer_state.json", std::string(reinterpret_cast<const char*>(data), size));
  try {
    cladtorch::train::load_trainer_state(folder.path());
  } catch (const cladtorch::Error&) {
  }
  return 0;
}
