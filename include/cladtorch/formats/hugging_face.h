// Models in Hugging Face folders, with config.json and model.safetensors.
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

/// Whether `folder` holds the files of a model, or of an adapter (peft.h), judged by their names.
bool holds_model(const std::filesystem::path& folder);

/// `folder`, or if it holds an adapter, the folder of the model on which this was trained. Throws Error if
/// there is no such folder.
std::filesystem::path base_folder(const std::filesystem::path& folder);

/// The model in `folder`, of the kind that config.json's model_type names: gpt2, llama or mistral. Takes the
/// names of a whole model and those of one saved without its head, and numbers in any floating type of the
/// format. A folder that holds an adapter stands for the model at base_folder() with that adapter, as in
/// transformers. Throws Error naming the file and the key or tensor that does not fit, or that this library
/// does not implement.
std::unique_ptr<LanguageModel> load_model(const std::filesystem::path& folder, DType dtype = DType::float32);

/// The model that config.json in `folder` describes, in float32: its weights are not read, and take no memory
/// before somebody writes them. Throws Error as load_model() does.
std::unique_ptr<LanguageModel> model_without_weights(const std::filesystem::path& folder);

/// How config.json in `folder` and `model` differ, as "n_embd is 8, but the model has 16"; empty if they
/// describe the same model. dtype and dropout are not compared.
std::string difference(const std::filesystem::path& folder, const LanguageModel& model);

/// Reads the parameters in `folder` into those that `model` has. Throws Error, and reads nothing, if
/// difference() finds one.
void load_parameters(const std::filesystem::path& folder, LanguageModel& model);

/// The other content of such a folder, which is copied unchanged when the model is written.
struct FolderExtras {
  /// The original config.json. Its keys are kept, except for those that describe the model that is written.
  io::Json config = io::Json::object();
  /// The content by name of the tokenizer's files, generation_config.json and chat_template.jinja.
  std::map<std::string, std::string> files = {};
};

/// Empty if the folder has none of these. Throws Error for a file that cannot be read.
FolderExtras read_extras(const std::filesystem::path& folder);

/// Tokens for generation, from generation_config.json or, if that does not name them, config.json.
struct GenerationTokens {
  std::optional<int32_t> begin = {};  ///< begins a text that has no prompt
  std::vector<int32_t> end = {};      ///< each of them ends a text
};

/// Throws Error naming the file and the key.
GenerationTokens read_generation_tokens(const std::filesystem::path& folder);

struct SaveOptions {
  /// f32, f16, bf16 or f64; the default is the model's type.
  std::optional<io::StoredType> type = {};
  /// Other types for single tensors, by their names in the file.
  std::map<std::string, io::StoredType> types = {};
  uint64_t shard_bytes = io::default_shard_bytes;  ///< see io::write_safetensors_folder
  const FolderExtras* extras = nullptr;            ///< other files to copy, or null
};

/// Writes config.json, the weights and the other files into `folder`, which must exist. Names and layouts are
/// those of transformers. Throws Error for a model that has adapters, which save_adapter() writes.
void save_model(const LanguageModel& model, const std::filesystem::path& folder,
                const SaveOptions& options = {});

/// Writes the file of save_model() without the config. It also writes a gradient, whose tensors then have the
/// names of their parameters, and adapters with the names of PEFT.
void save_parameters(const LanguageModel& model, const std::filesystem::path& file);

/// The name in such a folder of a model's parameter: "transformer.wte.weight" of "wte.weight".
std::string stored_name(const LanguageModel& model, const std::string& parameter);

/// The config.json that save_model() writes if there are no other files to copy.
io::Json config_json(const LanguageModel& model);

}  // namespace cladtorch::formats
