#include "formats/gguf/vocabulary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/data/sentencepiece_tokenizer.h"
#include "cladtorch/error.h"
#include "cladtorch/io/json.h"
#include "cladtorch/quote.h"

namespace cladtorch::formats {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

enum TokenType : int32_t { normal = 1, unknown, control, user_defined, unused, byte };

/// Of a number that no token has, and of a token that no merge makes.
constexpr float unused_score = -10000, unmerged_score = -1000;

constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Tokens of other vocabularies are pieces of text, not of bytes.
bool is_byte_level(const json& tokenizer) {
  const json part = tokenizer.value("pre_tokenizer", json());
  if (!part.is_object()) return false;
  if (part.value("type", json()) == "ByteLevel") return true;
  for (const json& step : part.value("pretokenizers", json::array())) {
    if (step.is_object() && step.value("type", json()) == "ByteLevel") return true;
  }
  return false;
}

/// llama.cpp's name for the pre-tokenization, if it has one of those that are known here.
std::optional<std::string> pre_tokenizer_name(const json& tokenizer) {
  const json part = tokenizer.value("pre_tokenizer", json());
  if (!part.is_object()) return std::nullopt;
  if (part.value("type", json()) == "ByteLevel" && part.value("use_regex", json(true)) == true)
    return "gpt-2";
  const json steps = part.value("pretokenizers", json());
  if (part.value("type", json()) != "Sequence" || !steps.is_array() || steps.empty() ||
      !steps[0].is_object()) {
    return std::nullopt;
  }
  const json pattern = steps[0].value("pattern", json());
  if (pattern.is_object() && pattern.value("Regex", json()) == std::string(llama3_pattern))
    return "llama-bpe";
  return std::nullopt;
}

struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<int32_t> types;

  /// Those of no number are "[PAD7]".
  explicit Vocabulary(int64_t size) {
    for (int64_t i = 0; i < size; ++i) tokens.push_back(fmt::format("[PAD{}]", i));
    types.assign(tokens.size(), unused);
  }

  void set(const json& id, const std::string& text, TokenType type, const std::string& file) {
    const auto size = static_cast<int64_t>(tokens.size());
    if (!id.is_number_integer() || id < 0 || id >= size) {
      fail("read '", file, "': the token ", in_quotes(text), " has the number ",
           id.is_number() ? id.dump() : std::string(id.type_name()), ", but the model has ", size, " tokens");
    }
    tokens[id.get<size_t>()] = text;
    types[id.get<size_t>()] = type;
  }
};

Vocabulary read_vocabulary(const json& tokenizer, int64_t size, const std::string& file) {
  Vocabulary vocabulary(size);
  const json& words = tokenizer["model"]["vocab"];
  require(words.is_object(), "read '", file, "': model.vocab is ", words.type_name(), ", expected an object");
  for (const auto& [text, id] : words.items()) vocabulary.set(id, text, normal, file);
  for (const json& token : tokenizer.value("added_tokens", json::array())) {
    require(token.is_object() && token.contains("id") && token.value("content", json()).is_string(), "read '",
            file, "': added_tokens holds an entry without id or content");
    vocabulary.set(token["id"], token["content"],
                   token.value("special", json()) == true ? control : user_defined, file);
  }
  return vocabulary;
}

/// "a b", and where the two parts meet. Newer files have pairs, older ones such strings.
struct Merge {
  std::string text;
  size_t space;

  std::string joined() const { return std::string(text).erase(space, 1); }
};

std::vector<Merge> read_merges(const json& tokenizer, const std::string& file) {
  const json merges = tokenizer["model"].value("merges", json::array());
  std::vector<Merge> result;
  for (const json& merge : merges) {
    const bool pair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    require(pair || (merge.is_string() && merge.get_ref<const std::string&>().find(' ') != std::string::npos),
            "read '", file, "': model.merges holds ", merge.type_name(), ", expected two strings");
    const std::string first = pair ? merge[0].get<std::string>() : merge.get<std::string>();
    result.push_back(pair ? Merge{first + " " + merge[1].get<std::string>(), first.size()}
                          : Merge{first, first.find(' ')});
  }
  return result;
}

/// Numbers of tokens with a role.
struct Roles {
  std::optional<int32_t> begin, end, padding, unknown;
};

/// What config.json says of the roles goes before what the vocabulary does.
void append_roles(io::GgufMetadata& metadata, const fs::path& folder, int64_t vocab_size,
                  const Roles& own = {}) {
  const io::Json config = io::read_json(folder / "config.json");
  const auto append = [&](const char* name, const std::string& key, std::optional<int32_t> number) {
    if (const auto found = config.find(key); found != config.end()) {
      const io::Json& id = found->is_array() && !found->empty() ? found->front() : *found;
      if (io::is_whole_number<uint32_t>(id) && id < vocab_size) number = id.get<int32_t>();
    }
    if (number) metadata.emplace_back(name, static_cast<uint32_t>(*number));
  };
  append("tokenizer.ggml.bos_token_id", "bos_token_id", own.begin);
  append("tokenizer.ggml.eos_token_id", "eos_token_id", own.end);
  append("tokenizer.ggml.padding_token_id", "pad_token_id", own.padding);
  append("tokenizer.ggml.unknown_token_id", "unk_token_id", own.unknown);
}

/// A tokenizer.json that holds a BPE; null for another one, or none.
json read_bpe(const std::string& file) {
  if (!fs::exists(file)) return nullptr;
  json tokenizer = io::read_large_json(file);
  const auto model = tokenizer.find("model");
  const bool bpe = model != tokenizer.end() && model->is_object() &&
                   model->value("type", json("BPE")) == "BPE" && model->contains("vocab");
  return bpe ? tokenizer : nullptr;
}

bool append_byte_level(io::GgufMetadata& metadata, const fs::path& folder, int64_t vocab_size) {
  const std::string file = (folder / "tokenizer.json").string();
  const json tokenizer = read_bpe(file);
  if (tokenizer.is_null() || !is_byte_level(tokenizer)) return false;
  const std::optional<std::string> name = pre_tokenizer_name(tokenizer);
  require(
      name.has_value(), "read '", file,
      "': llama.cpp's name for its pre_tokenizer is not known here; known are those of GPT-2 and Llama 3");
  Vocabulary vocabulary = read_vocabulary(tokenizer, vocab_size, file);
  metadata.emplace_back("tokenizer.ggml.model", std::string("gpt2"));
  metadata.emplace_back("tokenizer.ggml.pre", *name);
  metadata.emplace_back("tokenizer.ggml.tokens", std::move(vocabulary.tokens));
  metadata.emplace_back("tokenizer.ggml.token_type", std::move(vocabulary.types));
  std::vector<std::string> merges;
  for (Merge& merge : read_merges(tokenizer, file)) merges.push_back(std::move(merge.text));
  metadata.emplace_back("tokenizer.ggml.merges", std::move(merges));
  append_roles(metadata, folder, vocab_size);
  return true;
}

TokenType type_of(data::SentencePiece::Kind kind) {
  using Kind = data::SentencePiece::Kind;
  switch (kind) {
    case Kind::normal:
      return normal;
    case Kind::unknown:
      return unknown;
    case Kind::control:
      return control;
    case Kind::user_defined:
      return user_defined;
    case Kind::unused:
      return unused;
    case Kind::byte:
      return byte;
  }
  return normal;
}

/// A vocabulary whose pieces are joined by their scores.
void append_scored(io::GgufMetadata& metadata, Vocabulary vocabulary, std::vector<float> scores,
                   bool adds_space) {
  metadata.emplace_back("tokenizer.ggml.model", std::string("llama"));
  metadata.emplace_back("tokenizer.ggml.pre", std::string("default"));
  metadata.emplace_back("tokenizer.ggml.tokens", std::move(vocabulary.tokens));
  metadata.emplace_back("tokenizer.ggml.scores", std::move(scores));
  metadata.emplace_back("tokenizer.ggml.token_type", std::move(vocabulary.types));
  metadata.emplace_back("tokenizer.ggml.add_space_prefix", adds_space);
}

/// What has a role, and what goes around a text.
void append_surroundings(io::GgufMetadata& metadata, const fs::path& folder, int64_t vocab_size,
                         const data::Tokenizer& tokenizer, std::optional<int32_t> unknown) {
  const data::SpecialTokens& special = tokenizer.special_tokens();
  append_roles(metadata, folder, vocab_size,
               {special.begin_of_text, special.end_of_text, special.padding, unknown});
  metadata.emplace_back("tokenizer.ggml.add_bos_token", !special.before.empty());
  metadata.emplace_back("tokenizer.ggml.add_eos_token", !special.after.empty());
}

bool append_sentencepiece(io::GgufMetadata& metadata, const fs::path& folder, int64_t vocab_size) {
  const auto tokenizer = data::load_sentencepiece(folder);
  if (!tokenizer || !tokenizer->joins_pairs()) return false;
  require(tokenizer->vocab_size() <= vocab_size, "read '", (folder / "tokenizer.model").string(),
          "': it has ", tokenizer->vocab_size(), " tokens, but the model has ", vocab_size);
  Vocabulary vocabulary(vocab_size);
  std::vector<float> scores(vocabulary.tokens.size(), unused_score);
  const std::vector<data::SentencePiece> pieces = tokenizer->pieces();
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].text.empty()) continue;
    vocabulary.tokens[i] = pieces[i].text;
    vocabulary.types[i] = type_of(pieces[i].kind);
    scores[i] = pieces[i].score;
  }
  append_scored(metadata, std::move(vocabulary), std::move(scores), tokenizer->adds_space());
  append_surroundings(metadata, folder, vocab_size, *tokenizer, tokenizer->unknown());
  return true;
}

bool is_byte_token(const std::string& text) {
  return text.size() == 6 && text.starts_with("<0x") && text.back() == '>';
}

/// A SentencePiece model that became a tokenizer.json: pieces as there, but merges instead of scores.
/// llama.cpp joins first what was merged first, when the score of a piece is the rank of the merge that makes
/// it.
bool append_byte_fallback(io::GgufMetadata& metadata, const fs::path& folder, int64_t vocab_size) {
  const std::string file = (folder / "tokenizer.json").string();
  const json json_file = read_bpe(file);
  if (json_file.is_null() || json_file["model"].value("byte_fallback", json()) != true) return false;
  const data::TokenizerPtr tokenizer = data::load_tokenizer(folder);
  Vocabulary vocabulary = read_vocabulary(json_file, vocab_size, file);
  std::vector<float> scores(vocabulary.tokens.size(), unmerged_score);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (vocabulary.types[i] == unused) scores[i] = unused_score;
    if (vocabulary.types[i] == normal && is_byte_token(vocabulary.tokens[i])) vocabulary.types[i] = byte;
  }
  const json& numbers = json_file["model"]["vocab"];
  const std::vector<Merge> merges = read_merges(json_file, file);
  for (size_t rank = merges.size(); rank-- > 0;) {
    if (const auto id = numbers.find(merges[rank].joined()); id != numbers.end())
      scores[id->get<size_t>()] = -static_cast<float>(rank);
  }
  const json name = json_file["model"].value("unk_token", json());
  const auto unknown = name.is_string() ? numbers.find(name.get_ref<const std::string&>()) : numbers.end();
  const std::vector<int32_t> letter = tokenizer->encode("a");
  const bool adds_space = !letter.empty() && tokenizer->token_bytes(letter.front()).starts_with(' ');
  append_scored(metadata, std::move(vocabulary), std::move(scores), adds_space);
  append_surroundings(metadata, folder, vocab_size, *tokenizer,
                      unknown == numbers.end() ? std::nullopt : std::optional(unknown->get<int32_t>()));
  return true;
}

}  // namespace

bool append_vocabulary(io::GgufMetadata& metadata, const fs::path& folder, int64_t vocab_size) {
  return append_byte_level(metadata, folder, vocab_size) ||
         append_sentencepiece(metadata, folder, vocab_size) ||
         append_byte_fallback(metadata, folder, vocab_size);
}

}  // namespace cladtorch::formats
