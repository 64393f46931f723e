// Finds out which kind of tokenizer a path names.
#include <fstream>
#include <nlohmann/json.hpp>

#include "cladtorch/data/bpe_tokenizer.h"
#include "cladtorch/data/sentencepiece_tokenizer.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

json parse(const fs::path& path) {
  json value = json::parse(io::read_file(path), nullptr, false);
  require(!value.is_discarded(), "read '", path.string(),
          "': expected a tokenizer as JSON, and this is not JSON");
  return value;
}

/// What `read` returns; its errors name the file.
template <class F>
TokenizerPtr naming(const fs::path& path, F read) {
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

TokenizerPtr load_pair(const fs::path& vocabulary, const fs::path& merges) {
  const json numbers = parse(vocabulary);
  const std::string text = io::read_file(merges);
  return naming(vocabulary, [&] { return BpeTokenizer::from_vocabulary_and_merges(numbers, text); });
}

TokenizerPtr load_folder(const fs::path& folder) {
  if (const fs::path json = folder / "tokenizer.json"; is_file(json)) return load_tokenizer(json);
  const fs::path vocabulary = first_of(folder, vocabulary_names), merges = first_of(folder, merges_names);
  if (!vocabulary.empty() && !merges.empty()) return load_pair(vocabulary, merges);
  if (const fs::path model = folder / "tokenizer.model"; is_file(model)) return load_tokenizer(model);
  fail("read tokenizer: the folder '", folder.string(),
       "' has no tokenizer.json, no vocab.json with merges.txt (or encoder.json with vocab.bpe), and no "
       "tokenizer.model");
}

}  // namespace

TokenizerPtr load_tokenizer(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return load_folder(path);
  if (path.extension() == ".model") {
    return naming(path, [&] { return std::make_shared<SentencePieceTokenizer>(io::read_file(path)); });
  }
  const fs::path folder = path.parent_path();
  if (path.extension() == ".bpe" || path.extension() == ".txt") {
    const fs::path vocabulary = first_of(folder, vocabulary_names);
    require(!vocabulary.empty(), "read '", path.string(),
            "': merges need vocab.json or encoder.json beside them");
    return load_pair(vocabulary, path);
  }
  const json value = parse(path);
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
