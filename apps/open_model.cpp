#include "apps/open_model.h"

#include "cladtorch/data/tokenizer.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/train/checkpoint.h"

namespace cladtorch::apps {

OpenedModel open_model(const std::filesystem::path& from, const std::filesystem::path& adapter, DType dtype) {
  const std::filesystem::path checkpoint = train::find_checkpoint(from);
  OpenedModel opened{.model = formats::load_model(checkpoint, dtype), .folder = checkpoint};
  if (!adapter.empty()) formats::load_adapter(train::find_checkpoint(adapter), *opened.model);
  if (!data::holds_tokenizer(checkpoint)) opened.folder = formats::base_folder(checkpoint);
  return opened;
}

void add_adapter(CLI::App* command, std::filesystem::path& adapter) {
  command->add_option("--adapter", adapter, "folder of a LoRA adapter, as PEFT saves it, for this model")
      ->type_name("FOLDER")
      // A script's variable that was never set; the model without an adapter would be the worse answer.
      ->check([](const std::string& value) { return value.empty() ? "the value is empty" : ""; });
}

}  // namespace cladtorch::apps
