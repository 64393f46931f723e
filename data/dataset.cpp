#include "cladtorch/data/dataset.h"

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>
#include <vector>

#include "cladtorch/data/shard.h"
#include "cladtorch/data/stories.h"
#include "cladtorch/data/text_files.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "data/tokens/character_set.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* format_name = "cladtorch-dataset";
constexpr int format_version = 1;
constexpr const char* description_file = "dataset.json";
constexpr const char* tokenizer_file = "tokenizer.json";
constexpr const char* train_file = "train.tokens";
constexpr const char* validation_file = "validation.tokens";

uint64_t train_count(uint64_t count) { return count - count / validation_share; }

/// A text whose vocabulary and size are known: it can be encoded in one more pass.
struct CountedText {
  TextFiles files;
  TokenizerPtr tokenizer;
  uint64_t count = 0;

  void encode(const std::function<void(std::span<const int32_t>)>& visit) const {
    files.read(tokenizer->kind() == "char", [&](std::string_view piece) { visit(tokenizer->encode(piece)); });
  }
};

CountedText count_text(const fs::path& path, Vocabulary vocabulary) {
  CountedText text{TextFiles(path), nullptr, 0};
  if (vocabulary == Vocabulary::bytes) {
    text.files.read(false, [&](std::string_view piece) { text.count += piece.size(); });
    text.tokenizer = std::make_shared<ByteTokenizer>();
  } else {
    CharacterSet characters;
    text.files.read(true, [&](std::string_view piece) { characters.add(piece); });
    text.count = characters.count();
    text.tokenizer = std::make_shared<CharTokenizer>(characters.code_points());
  }
  return text;
}

/// Tokens in memory, as narrow as the vocabulary allows.
struct TokenStore {
  std::variant<std::vector<uint16_t>, std::vector<uint32_t>> tokens;

  TokenStore(TokenWidth width, uint64_t capacity) {
    if (width == TokenWidth::u32) tokens.emplace<1>();
    std::visit([&](auto& list) { list.reserve(capacity); }, tokens);
  }
  void append(std::span<const int32_t> more) {
    std::visit(
        [&](auto& list) {
          using Token = typename std::remove_reference_t<decltype(list)>::value_type;
          for (int32_t token : more) list.push_back(static_cast<Token>(token));
        },
        tokens);
  }
  TokenSpan span() const {
    return std::visit([](const auto& list) { return TokenSpan(std::span(list)); }, tokens);
  }
};

Dataset split(std::string name, TokenizerPtr tokenizer, std::shared_ptr<const TokenStore> store) {
  const TokenSpan all = store->span();
  const size_t train = train_count(all.size());
  return {std::move(name),       std::move(tokenizer),
          all.subspan(0, train), all.subspan(train, all.size() - train),
          std::nullopt,          std::move(store)};
}

void write_shard(const fs::path& path, TokenSpan tokens, const Tokenizer& tokenizer) {
  ShardWriter writer(path, width_for(tokenizer.vocab_size()), tokenizer.fingerprint());
  std::array<int32_t, 4096> part;
  for (size_t at = 0; at < tokens.size(); at += part.size()) {
    const std::span<int32_t> piece(part.data(), std::min(part.size(), tokens.size() - at));
    tokens.copy(at, piece);
    writer.append(piece);
  }
  writer.finish();
}

/// Makes `folder` ready for a new dataset; the description of an old one goes first.
void begin_dataset(const fs::path& folder, const Tokenizer& tokenizer) {
  io::create_writable_folder(folder);
  fs::remove(folder / description_file);
  tokenizer.save(folder / tokenizer_file);
}

/// The description is written last: a folder without it is not a dataset.
void write_description(const fs::path& folder, const std::string& name, std::optional<double> floor) {
  nlohmann::json json = {{"format", format_name}, {"version", format_version}, {"name", name}};
  if (floor) json["entropy_floor"] = *floor;
  io::write_file(folder / description_file,
                 json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

/// Opens `file` and checks that its tokens belong to `tokenizer`.
TokenShard open_shard(const fs::path& file, const Tokenizer& tokenizer) {
  TokenShard shard = TokenShard::open(file);
  require(
      shard.vocabulary() == tokenizer.fingerprint(), "read shard '", file.string(),
      "': its tokens belong to another vocabulary than the tokenizer.json beside it; prepare the text again");
  const TokenSpan tokens = shard.tokens();
  for (size_t i = 0; i < tokens.size(); ++i) {
    require(tokens[i] >= 0 && tokens[i] < tokenizer.vocab_size(), "read shard '", file.string(), "': token ",
            i, " is ", tokens[i], ", outside the vocabulary of ", tokenizer.vocab_size());
  }
  return shard;
}

}  // namespace

std::string to_string(Vocabulary vocabulary) { return vocabulary == Vocabulary::bytes ? "byte" : "char"; }

Vocabulary vocabulary_from_string(const std::string& name) {
  if (name == "byte") return Vocabulary::bytes;
  if (name == "char") return Vocabulary::characters;
  fail("vocabulary: expected byte or char, got '", name, "'");
}

Dataset stories_dataset(size_t bytes, uint64_t seed, Vocabulary vocabulary) {
  require(bytes > 0, "stories: the number of bytes must be at least 1");
  const std::string text = generate_stories(bytes, seed);
  TokenizerPtr tokenizer = std::make_shared<ByteTokenizer>();
  // The characters of the grammar, not of this text: a short text has the same vocabulary as a long one.
  if (vocabulary == Vocabulary::characters) tokenizer = std::make_shared<CharTokenizer>(story_characters());
  auto store = std::make_shared<TokenStore>(TokenWidth::u16, text.size());
  store->append(tokenizer->encode(text));
  Dataset dataset = split("stories", tokenizer, std::move(store));
  dataset.entropy_floor = story_entropy();
  return dataset;
}

Dataset text_dataset(const fs::path& path, Vocabulary vocabulary) {
  const CountedText text = count_text(path, vocabulary);
  auto store = std::make_shared<TokenStore>(width_for(text.tokenizer->vocab_size()), text.count);
  text.encode([&](std::span<const int32_t> tokens) { store->append(tokens); });
  return split(path.string(), text.tokenizer, std::move(store));
}

void save_dataset(const Dataset& dataset, const fs::path& folder) {
  begin_dataset(folder, *dataset.tokenizer);
  write_shard(folder / train_file, dataset.train, *dataset.tokenizer);
  write_shard(folder / validation_file, dataset.validation, *dataset.tokenizer);
  write_description(folder, dataset.name, dataset.entropy_floor);
}

void prepare_text(const fs::path& path, const fs::path& folder, Vocabulary vocabulary) {
  require(!is_prepared(path), "prepare: '", path.string(), "' holds prepared tokens already, expected text");
  const fs::path inside = fs::weakly_canonical(folder).lexically_relative(fs::weakly_canonical(path));
  require(!fs::is_directory(path) || inside.empty() || *inside.begin() == "..", "prepare: '", folder.string(),
          "' lies in the text '", path.string(), "' and would become a part of it; choose another folder");
  const CountedText text = count_text(path, vocabulary);
  begin_dataset(folder, *text.tokenizer);
  const TokenWidth width = width_for(text.tokenizer->vocab_size());
  ShardWriter train(folder / train_file, width, text.tokenizer->fingerprint());
  ShardWriter validation(folder / validation_file, width, text.tokenizer->fingerprint());
  uint64_t left = train_count(text.count);
  text.encode([&](std::span<const int32_t> tokens) {
    const size_t to_train = std::min<uint64_t>(left, tokens.size());
    train.append(tokens.first(to_train));
    validation.append(tokens.subspan(to_train));
    left -= to_train;
  });
  train.finish();
  validation.finish();
  write_description(folder, path.string(), std::nullopt);
}

Dataset shard_dataset(const fs::path& folder) {
  const fs::path description = folder / description_file;
  const nlohmann::json json = nlohmann::json::parse(io::read_file(description), nullptr, false);
  require(json.is_object() && json.value("format", nlohmann::json()) == format_name &&
              json.value("version", nlohmann::json()) == format_version,
          "read '", description.string(), "': expected a dataset of version ", format_version);
  struct Shards {
    TokenShard train, validation;
  };
  Dataset dataset;
  const nlohmann::json name = json.value("name", nlohmann::json());
  dataset.name = name.is_string() ? name.get<std::string>() : folder.string();
  if (const auto floor = json.find("entropy_floor"); floor != json.end() && floor->is_number()) {
    dataset.entropy_floor = floor->get<double>();
  }
  dataset.tokenizer = load_tokenizer(folder / tokenizer_file);
  const auto shards =
      std::make_shared<Shards>(Shards{open_shard(folder / train_file, *dataset.tokenizer),
                                      open_shard(folder / validation_file, *dataset.tokenizer)});
  dataset.train = shards->train.tokens();
  dataset.validation = shards->validation.tokens();
  dataset.storage = shards;
  return dataset;
}

bool is_prepared(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / description_file, ignored);
}

Dataset open_dataset(const fs::path& path, Vocabulary vocabulary) {
  return is_prepared(path) ? shard_dataset(path) : text_dataset(path, vocabulary);
}

}  // namespace cladtorch::data
