// What the files beside a tokenizer say about it: tokens that were added, and which token has which role.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

struct TokenizerSettings {
  /// As in the "added_tokens" of a tokenizer.json, in the order in which they are added. Those that only
  /// have a role and may be in the vocabulary already are without "id".
  nlohmann::json added = nlohmann::json::array();
  SpecialNames names;
  /// Whether a text gets them, where no tokenizer.json says what goes around a text.
  std::optional<bool> add_begin, add_end;
  std::optional<bool> add_prefix_space;
};

/// Reads tokenizer_config.json, special_tokens_map.json and added_tokens.json in `folder`, as far as they are
/// there, with the precedence that transformers gives them. Throws Error naming the file and the key.
TokenizerSettings read_tokenizer_settings(const std::filesystem::path& folder);

/// Those that SentencePieceTokenizer::to_json() keeps. Throws Error naming the key.
TokenizerSettings settings_of_json(const nlohmann::json& json);

/// Appends to the list `tokens`, the "added_tokens" of a tokenizer, those of `settings` that it lacks.
/// `find(content)` gives a token's number in the vocabulary or -1, and `size` is one more than the largest
/// number there.
void add_missing(nlohmann::json& tokens, const TokenizerSettings& settings, int64_t size,
                 const std::function<int64_t(const std::string&)>& find);

inline constexpr const char* settings_file = "tokenizer_config.json";

/// The content of a tokenizer_config.json.
std::string settings_text(const nlohmann::json& config);

}  // namespace cladtorch::data
