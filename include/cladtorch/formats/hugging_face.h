// Models as Hugging Face's transformers keeps them: a folder with config.json and model.safetensors.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/io/json.h"
#include "cladtorch/io/safetensors_folder.h"
#include "cladtorch/models/language_model.h"

namespace cladtorch::formats {

/// Whether `folder` holds the files of a model, or of an adapter (peft.h), as far as their names tell.
bool holds_model(const std::filesystem::path& folder);

/// `folder`, or where it holds an adapter the folder of the model that this was trained on. Throws Error if
/// there is no such folder.
std::filesystem::path base_folder(const std::filesystem::path& folder);

/// The model in `folder`, of the kind that config.json's model_type names: gpt2, llama or mistral. Takes the
/// names of a whole model and those of one saved without its head, and numbers in any floating type of the
/// format. A folder that holds an adapter stands for the model at base_folder() with that adapter, as in
/// transformers. Throws Error naming the file and the key or tensor that does not fit, or that this library
/// does not implement.
std::unique_ptr<LanguageModel> load_model(const std::filesystem::path& folder, DType dtype = DType::float32);

/// How config.json in `folder` and `model` differ, as "n_embd is 8, but the model has 16"; empty where they
/// describe the same model. dtype and dropout do not count.
std::string difference(const std::filesystem::path& folder, const LanguageModel& model);

/// Reads the parameters in `folder` into those that `model` has. Throws Error, and reads nothing, if
/// difference() finds one.
void load_parameters(const std::filesystem::path& folder, LanguageModel& model);

/// What such a folder holds beside the model: it goes along unchanged wherever the model is written.
struct FolderExtras {
  /// config.json as it was: its keys stay, but for those that describe the model that is written.
  io::Json config = io::Json::object();
  /// Content by name: the files of the tokenizer, generation_config.json, chat_template.jinja.
  std::map<std::string, std::string> files = {};
};

/// Empty for a folder that has none of it. Throws Error for a file that cannot be read.
FolderExtras read_extras(const std::filesystem::path& folder);

/// Tokens that generating needs, by generation_config.json or, where that does not name them, config.json.
struct GenerationTokens {
  std::optional<int32_t> begin = {};  ///< before a text from nothing
  std::vector<int32_t> end = {};      ///< each of them ends a text
};

/// Throws Error naming the file and the key.
GenerationTokens read_generation_tokens(const std::filesystem::path& folder);

struct SaveOptions {
  /// f32, f16, bf16 or f64; by default that of the model.
  std::optional<io::StoredType> type = {};
  /// Tensors, by their names in the file, that are stored otherwise.
  std::map<std::string, io::StoredType> types = {};
  uint64_t shard_bytes = io::default_shard_bytes;  ///< see io::write_safetensors_folder
  const FolderExtras* extras = nullptr;            ///< what goes along, if anything
};

/// Writes config.json, the weights and what goes along into `folder`, which must exist: names and layouts are
/// those that transformers writes. Throws Error for a model that has adapters, which save_adapter() writes
/// alone.
void save_model(const LanguageModel& model, const std::filesystem::path& folder,
                const SaveOptions& options = {});

/// The file of save_model() without the config: also for a gradient, whose tensors then carry the names of
/// their parameters, adapters those of PEFT.
void save_parameters(const LanguageModel& model, const std::filesystem::path& file);

/// The name in such a folder of a model's parameter: "transformer.wte.weight" of "wte.weight".
std::string stored_name(const LanguageModel& model, const std::string& parameter);

/// What save_model() writes into config.json where nothing goes along.
io::Json config_json(const LanguageModel& model);

}  // namespace cladtorch::formats
