#include "formats/hugging_face/extras.h"

#include "cladtorch/io/atomic_file.h"

namespace cladtorch::formats {
namespace fs = std::filesystem;
namespace {

constexpr const char* config_file = "config.json";
constexpr const char* generation_file = "generation_config.json";
/// What transformers and we keep beside the weights.
constexpr const char* companions[] = {"tokenizer.json",    "tokenizer_config.json",   "vocab.json",
                                      "merges.txt",        "special_tokens_map.json", "added_tokens.json",
                                      "tokenizer.model",   generation_file,           "chat_template.jinja",
                                      "chat_template.json"};

/// Files of the original GPT-2, which are the same as those that transformers has under other names.
constexpr std::pair<const char*, const char*> renamed[] = {{"encoder.json", "vocab.json"},
                                                           {"vocab.bpe", "merges.txt"}};

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

io::Json read_if_there(const fs::path& path) {
  return is_file(path) ? io::read_json(path) : io::Json::object();
}

/// One number or a list of them. Some configurations have -1 for none.
std::vector<int32_t> token_numbers(const io::Json& json, const char* key, const fs::path& where) {
  std::vector<int32_t> numbers;
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return numbers;
  for (const io::Json& number : found->is_array() ? *found : io::Json::array({*found})) {
    require(io::is_whole_number<int32_t>(number), "read '", where.string(), "': ", key, " is ",
            io::describe_json(number), ", expected a token id");
    if (number.get<int32_t>() >= 0) numbers.push_back(number.get<int32_t>());
  }
  return numbers;
}

}  // namespace

FolderExtras read_extras(const fs::path& folder) {
  FolderExtras extras;
  extras.config = read_if_there(folder / config_file);
  for (const char* name : companions) {
    if (is_file(folder / name)) extras.files[name] = io::read_file(folder / name);
  }
  for (const auto& [original, name] : renamed) {
    if (is_file(folder / original)) extras.files.try_emplace(name, io::read_file(folder / original));
  }
  return extras;
}

GenerationTokens read_generation_tokens(const fs::path& folder) {
  GenerationTokens tokens;
  for (const char* name : {generation_file, config_file}) {
    const io::Json json = read_if_there(folder / name);
    const std::vector<int32_t> begin = token_numbers(json, "bos_token_id", folder / name);
    const std::vector<int32_t> end = token_numbers(json, "eos_token_id", folder / name);
    if (!tokens.begin && !begin.empty()) tokens.begin = begin.front();
    if (tokens.end.empty()) tokens.end = end;
  }
  return tokens;
}

io::Json with_keys_of(const io::Json& source, const io::Json& ours) {
  io::Json config = source;
  for (const auto& [key, value] : ours.items()) {
    const bool unknown_here = value.is_null() || key == "attn_pdrop" || key == "attention_dropout";
    if (!unknown_here || !config.contains(key)) config[key] = value;
  }
  // The newer name of the same key.
  if (config.contains("dtype")) config["dtype"] = config["torch_dtype"];
  return config;
}

}  // namespace cladtorch::formats
