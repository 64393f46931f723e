// Finds out which kind of tokenizer a path names.
#include <fstream>
#include <nlohmann/json.hpp>

#include "cladtorch/data/bpe_tokenizer.h"
#include "cladtorch/data/sentencepiece_tokenizer.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/json.h"
#include "data/tokens/bpe/gpt2_files.h"
#include "data/tokens/tokenizer_settings.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Whether it is a tokenizer.json of Hugging Face's, not one of ours.
bool is_hugging_face(const Json& json) {
  return json.is_object() && json.contains("model") && !json.contains("format");
}

/// What `read` returns; its errors name the file.
template <class F>
auto naming(const fs::path& path, F read) {
  try {
    return read();
  } catch (const Error& error) {
    fail("read '", path.string(), "': ", error.what());
  }
}

/// The first of `names` that stands in `folder`; empty without one.
fs::path first_of(const fs::path& folder, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (is_file(folder / name)) return folder / name;
  }
  return {};
}

constexpr std::initializer_list<const char*> vocabulary_names = {"vocab.json", "encoder.json"};
constexpr std::initializer_list<const char*> merges_names = {"merges.txt", "vocab.bpe"};

/// The files of a folder that hold a vocabulary; empty where they are not there.
struct FolderFiles {
  fs::path json, vocabulary, merges, model;

  explicit FolderFiles(const fs::path& folder)
      : json(first_of(folder, {"tokenizer.json"})),
        vocabulary(first_of(folder, vocabulary_names)),
        merges(first_of(folder, merges_names)),
        model(first_of(folder, {"tokenizer.model"})) {}
  bool pair() const { return !vocabulary.empty() && !merges.empty(); }
  bool none() const { return json.empty() && !pair() && model.empty(); }
};

Json special_token(const std::string& name) { return {{"SpecialToken", {{"id", name}, {"type_id", 0}}}}; }

/// Puts what `settings` say around a text.
Json template_of(const TokenizerSettings& settings, const Json& added) {
  Json single = Json::array(), tokens = Json::object();
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    single.push_back(special_token(name));
    for (const Json& token : added) {
      if (token["content"] == name) tokens[name] = {{"id", name}, {"ids", {token["id"]}}, {"tokens", {name}}};
    }
  };
  if (settings.add_begin.value_or(false)) add(settings.names.begin);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (settings.add_end.value_or(false)) add(settings.names.end);
  if (tokens.empty()) return nullptr;
  Json pair = single;
  for (Json part : single) {
    part.begin().value()["type_id"] = 1;
    if (part.contains("Sequence")) part["Sequence"]["id"] = "B";
    pair.push_back(std::move(part));
  }
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", tokens}};
}

/// Adds the tokens of `settings` to a tokenizer of Hugging Face's.
void add_tokens(Json& tokenizer, const TokenizerSettings& settings) {
  const Json none = Json::object();
  const auto part = [&none](const Json& object, const char* key) -> const Json& {
    const auto found = object.find(key);
    return found != object.end() && found->is_object() ? *found : none;
  };
  const Json& vocabulary = part(part(tokenizer, "model"), "vocab");
  int64_t size = 0;
  for (const Json& number : vocabulary) {
    if (number.is_number_integer()) size = std::max(size, number.get<int64_t>() + 1);
  }
  Json& tokens = tokenizer["added_tokens"];
  if (tokens.is_null()) tokens = Json::array();
  if (!tokens.is_array()) return;  // refused later, with a message
  add_missing(tokens, settings, size, [&](const std::string& content) {
    const auto found = vocabulary.find(content);
    return found != vocabulary.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
  });
}

TokenizerPtr load_pair(const fs::path& vocabulary, const fs::path& merges, TokenizerSettings settings = {}) {
  const Json numbers = io::read_large_json(vocabulary);
  const std::string text = io::read_file(merges);
  // In such a vocabulary one token begins and ends a text, where nothing else is said.
  if (numbers.is_object() && numbers.contains(bpe::gpt2_end_of_text)) {
    for (std::string* name : {&settings.names.begin, &settings.names.end}) {
      if (name->empty()) *name = bpe::gpt2_end_of_text;
    }
  }
  return naming(vocabulary, [&] {
    Json json = bpe::gpt2_tokenizer(numbers, text, settings.add_prefix_space.value_or(false));
    add_tokens(json, settings);
    json["post_processor"] = template_of(settings, json["added_tokens"]);
    return BpeTokenizer::from_json(json, settings.names);
  });
}

TokenizerPtr load_json(const fs::path& path, const TokenizerSettings& settings) {
  Json json = io::read_large_json(path);
  return naming(path, [&]() -> TokenizerPtr {
    if (!is_hugging_face(json)) return tokenizer_from_json(json);
    add_tokens(json, settings);
    return BpeTokenizer::from_json(json, settings.names);
  });
}

std::shared_ptr<const SentencePieceTokenizer> load_model(const fs::path& path,
                                                         const TokenizerSettings& settings = {}) {
  return naming(
      path, [&] { return std::make_shared<const SentencePieceTokenizer>(io::read_file(path), settings); });
}

TokenizerPtr load_folder(const fs::path& folder) {
  const FolderFiles files(folder);
  require(!files.none(), "read tokenizer: the folder '", folder.string(),
          "' has no tokenizer.json, no vocab.json with merges.txt (or encoder.json with vocab.bpe), and no "
          "tokenizer.model");
  const TokenizerSettings settings = read_tokenizer_settings(folder);
  if (!files.json.empty()) return load_json(files.json, settings);
  if (files.pair()) return load_pair(files.vocabulary, files.merges, settings);
  return load_model(files.model, settings);
}

}  // namespace

std::shared_ptr<const SentencePieceTokenizer> load_sentencepiece(const fs::path& folder) {
  const fs::path model = FolderFiles(folder).model;
  return model.empty() ? nullptr : load_model(model, read_tokenizer_settings(folder));
}

bool holds_tokenizer(const fs::path& folder) { return !FolderFiles(folder).none(); }

TokenizerPtr load_tokenizer(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return load_folder(path);
  if (path.extension() == ".model") return load_model(path);
  const fs::path folder = path.parent_path();
  if (path.extension() == ".bpe" || path.extension() == ".txt") {
    const fs::path vocabulary = first_of(folder, vocabulary_names);
    require(!vocabulary.empty(), "read '", path.string(),
            "': merges need vocab.json or encoder.json beside them");
    return load_pair(vocabulary, path);
  }
  const Json value = io::read_large_json(path);
  const bool is_vocabulary = value.is_object() && !value.empty() && !value.contains("model") &&
                             !value.contains("format") && value.begin()->is_number();
  if (is_vocabulary) {
    const fs::path merges = first_of(folder, merges_names);
    require(!merges.empty(), "read '", path.string(),
            "': a vocabulary needs merges.txt or vocab.bpe beside it");
    return load_pair(path, merges);
  }
  return naming(path, [&] { return tokenizer_from_json(value); });
}

}  // namespace cladtorch::data
