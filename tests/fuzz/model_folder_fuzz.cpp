// config.json of a model, beside the weights of one that is good.
#include <cstdint>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/formats/hugging_face.h"
#include "io/temporary_folder.h"

namespace {

using namespace cladtorch;

const io::TemporaryFolder& model_folder() {
  static const io::TemporaryFolder folder;
  static const bool written = [] {
    const GPT2Config config{.vocab_size = 7, .n_positions = 4, .n_layer = 1, .n_head = 2, .n_embd = 4};
    formats::save_model(*as_language_model(GPT2(config)), folder.path());
    return true;
  }();
  static_cast<void>(written);
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const io::TemporaryFolder& folder = model_folder();
  folder.write("config.json", std::string(reinterpret_cast<const char*>(data), size));
  try {
    formats::load_model(folder.path());
  } catch (const Error&) {
  }
  return 0;
}
