#include "apps/open_model.h"

#include "cladtorch/data/tokenizer.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {

void add_adapter(CLI::App* command, std::filesystem::path& adapter) {
  command->add_option("--adapter", adapter, "folder of a LoRA adapter for this model, in the format of PEFT")
      ->type_name("FOLDER")
      // A script's variable that was never set; the model without an adapter would be the worse answer.
      ->check([](const std::string& value) { return value.empty() ? "the value is empty" : ""; });
}

void add_model(CLI::App* command, ModelOptions& options) {
  command->add_option("--from", options.from, "folder of a run, a checkpoint, or a Hugging Face model")
      ->type_name("FOLDER")
      ->required();
  add_adapter(command, options.adapter);
}

void add_arithmetic(CLI::App* command, ModelOptions& options) {
  command->add_option("--dtype", options.dtype, "number format of the computation")
      ->type_name("fp32|bf16")
      ->capture_default_str();
  command->add_option("--device", options.device, "where to compute")
      ->type_name("cpu|cuda|cuda:N")
      ->capture_default_str();
}

void check(const ModelOptions& options, const std::string& command) {
  train::dtype_from_string(options.dtype, command + ": --dtype");
  train::device_from_name(options.device, command + ": --device");
}

OpenedModel open_model(const ModelOptions& options) {
  const std::filesystem::path checkpoint = train::find_checkpoint(options.from);
  OpenedModel opened{.model = formats::load_model(checkpoint, train::dtype_from_string(options.dtype)),
                     .folder = checkpoint};
  if (!options.adapter.empty()) formats::load_adapter(train::find_checkpoint(options.adapter), opened.model);
  if (!data::holds_tokenizer(checkpoint)) opened.folder = formats::base_folder(checkpoint);
  opened.model = opened.model->to(device_from_string(options.device));
  return opened;
}

}  // namespace cladtorch::apps
