#include "data/tokens/tokenizer_settings.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "cladtorch/error.h"
#include "cladtorch/io/json.h"
#include "cladtorch/quote.h"
#include "data/tokens/bpe/fields.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

using bpe::field_or;
using bpe::Json;
using bpe::shown;

/// In the order in which transformers adds those that are missing.
constexpr const char* roles[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                 "pad_token", "cls_token", "mask_token"};
constexpr const char* role_lists[] = {"additional_special_tokens", "extra_special_tokens"};

/// The object in folder/name; empty where there is no such file.
Json read_object(const fs::path& folder, const char* name) {
  const fs::path path = folder / name;
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ? io::read_large_json(path) : Json::object();
}

/// An entry for added_tokens from a token as these files write one: its text, or an object.
Json entry_of(const Json& token, const std::string& key, bool special) {
  require(token.is_string() || token.is_object(), "tokenizer: ", in_quotes(key), " is ", shown(token),
          ", expected a token");
  Json entry = {{"content", token.is_string() ? token : token.value("content", Json())}};
  require(entry["content"].is_string() && !entry["content"].get_ref<const std::string&>().empty(),
          "tokenizer: ", in_quotes(key), " has no content");
  entry["special"] = special;
  if (token.is_string()) return entry;
  entry["special"] = field_or(token, "special", special);
  for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) {
    if (token.contains(flag)) entry[flag] = field_or(token, flag, false);
  }
  return entry;
}

int64_t number_of(const std::string& text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc{} && end == text.data() + text.size() && number >= 0 && number <= INT32_MAX,
          "tokenizer: ", in_quotes(text), " in added_tokens_decoder is not a token id");
  return number;
}

/// {"32000": {"content": "<pad>", ...}, ...}, in ascending order.
Json decoder_entries(const Json& decoder) {
  require(decoder.is_object(), "tokenizer: 'added_tokens_decoder' is ", shown(decoder),
          ", expected an object");
  Json entries = Json::array();
  for (const auto& [number, token] : decoder.items()) {
    Json entry = entry_of(token, "added_tokens_decoder", false);
    entry["id"] = number_of(number);
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// {"<pad>": 32000, ...}.
Json numbered_entries(const Json& numbers, const std::set<std::string>& special) {
  Json entries = Json::array();
  for (const auto& [content, number] : numbers.items()) {
    require(number.is_number_integer() && number >= 0 && number <= INT32_MAX, "tokenizer: the added token ",
            in_quotes(content), " has the number ", shown(number));
    Json entry = entry_of(content, "added_tokens.json", special.contains(content));
    entry["id"] = number;
    entries.push_back(std::move(entry));
  }
  return entries;
}

void sort_by_number(Json& entries) {
  std::sort(entries.begin(), entries.end(), [](const Json& a, const Json& b) {
    return std::pair(a["id"], a["content"]) < std::pair(b["id"], b["content"]);
  });
}

/// The tokens that have a role, in the order in which they are added.
Json role_entries(const Json& config) {
  Json entries = Json::array();
  for (const char* role : roles) {
    const auto found = config.find(role);
    if (found != config.end() && !found->is_null()) entries.push_back(entry_of(*found, role, true));
  }
  for (const char* list : role_lists) {
    const auto found = config.find(list);
    if (found == config.end() || !found->is_array()) continue;
    for (const Json& token : *found) entries.push_back(entry_of(token, list, true));
  }
  return entries;
}

std::string name_of(const Json& config, const char* role) {
  const auto found = config.find(role);
  if (found == config.end() || found->is_null()) return {};
  return entry_of(*found, role, true)["content"].get<std::string>();
}

std::optional<bool> choice(const Json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::nullopt;
  return field_or(config, key, false);
}

/// The names of roles, and what goes around a text.
void read_names(const Json& config, TokenizerSettings& settings) {
  settings.names = {name_of(config, "bos_token"), name_of(config, "eos_token"), name_of(config, "pad_token")};
  settings.add_begin = choice(config, "add_bos_token");
  settings.add_end = choice(config, "add_eos_token");
  settings.add_prefix_space = choice(config, "add_prefix_space");
}

TokenizerSettings settings_of(Json config, const Json& roles_file, const Json& numbers) {
  TokenizerSettings settings;
  if (config.contains("added_tokens_decoder")) {
    settings.added = decoder_entries(config["added_tokens_decoder"]);
  } else {
    config.update(roles_file);
    std::set<std::string> special;
    for (const Json& entry : role_entries(config)) special.insert(entry["content"].get<std::string>());
    settings.added = numbered_entries(numbers, special);
  }
  sort_by_number(settings.added);
  for (Json& entry : role_entries(config)) settings.added.push_back(std::move(entry));
  read_names(config, settings);
  return settings;
}

}  // namespace

TokenizerSettings read_tokenizer_settings(const fs::path& folder) {
  const Json config = read_object(folder, settings_file);
  const Json roles_file = read_object(folder, "special_tokens_map.json");
  const Json numbers = read_object(folder, "added_tokens.json");
  try {
    return settings_of(config, roles_file, numbers);
  } catch (const Error& error) {
    fail("read the settings of the tokenizer in '", folder.string(), "': ", error.what());
  }
}

TokenizerSettings settings_of_json(const Json& json) {
  TokenizerSettings settings;
  const auto added = json.find("added_tokens");
  if (added != json.end()) {
    require(added->is_array(), "tokenizer: 'added_tokens' is ", shown(*added), ", expected a list");
    for (const Json& token : *added) {
      Json entry = entry_of(token, "added_tokens", false);
      entry["id"] = bpe::field<int64_t>(token, "id");
      settings.added.push_back(std::move(entry));
    }
  }
  read_names(json, settings);
  return settings;
}

void add_missing(Json& tokens, const TokenizerSettings& settings, int64_t size,
                 const std::function<int64_t(const std::string&)>& find) {
  std::set<std::string> present;
  const auto keep_free = [&](const Json& number) {  // a number that is out of range is refused later
    if (number.is_number_integer() && number <= INT32_MAX) size = std::max(size, number.get<int64_t>() + 1);
  };
  for (const Json& token : tokens) {
    if (!token.is_object()) continue;
    const Json content = token.value("content", Json());
    keep_free(token.value("id", Json()));
    if (content.is_string()) present.insert(content.get<std::string>());
  }
  for (Json token : settings.added) {
    const auto content = token["content"].get<std::string>();
    if (!present.insert(content).second) continue;
    if (!token.contains("id")) {
      const int64_t known = find(content);
      token["id"] = known < 0 ? size : known;
    }
    keep_free(token["id"]);
    tokens.push_back(std::move(token));
  }
}

std::string settings_text(const Json& config) {
  return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cladtorch::data
