// adapter_config.json of a LoRA adapter, beside the tensors of one that is good.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/formats/peft.h"
#include "io/temporary_folder.h"

namespace {

using namespace cladtorch;

std::unique_ptr<LanguageModel> small_model() {
  const nn::SkipInitialization weights_do_not_matter;
  const GPT2Config config{.vocab_size = 7, .n_positions = 4, .n_layer = 1, .n_head = 2, .n_embd = 4};
  return as_language_model(GPT2(config));
}

const io::TemporaryFolder& adapter_folder() {
  static const io::TemporaryFolder folder;
  static const bool written = [] {
    auto model = small_model();
    const LoRAConfig config{.rank = 2};
    add_lora(model, config, 1);
    formats::save_adapter(*model, config, "", folder.path());
    return true;
  }();
  static_cast<void>(written);
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const io::TemporaryFolder& folder = adapter_folder();
  folder.write("adapter_config.json", std::string(reinterpret_cast<const char*>(data), size));
  auto model = small_model();
  try {
    formats::load_adapter(folder.path(), model);
  } catch (const Error&) {
    if (has_lora(*model)) std::abort();  // the model stays as it was
  }
  return 0;
}
