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
#include "cladtorch/data/token_stream.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

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

using TokenSink = std::function<void(std::span<const int32_t>)>;

void encode_files(const TextFiles& files, const Tokenizer& tokenizer, const TokenSink& visit) {
  TokenStream stream(tokenizer);
  files.read(tokenizer.needs_utf8(), [&](std::string_view piece) { visit(stream.append(piece)); });
  visit(stream.finish());
}

/// Tokens in memory, as narrow as the vocabulary allows.
struct TokenStore {
  std::variant<std::vector<uint16_t>, std::vector<uint32_t>> tokens;

  explicit TokenStore(TokenWidth width) {
    if (width == TokenWidth::u32) tokens.emplace<1>();
  }
  void append(std::span<const int32_t> more) {
    std::visit(
        [&](auto& list) {
          using Token = typename std::remove_reference_t<decltype(list)>::value_type;
          for (int32_t token : more) list.push_back(static_cast<Token>(token));
        },
        tokens);
  }
  TokenSpan span() {
    std::visit([](auto& list) { list.shrink_to_fit(); }, tokens);
    return std::visit([](const auto& list) { return TokenSpan(std::span(list)); }, tokens);
  }
};

Dataset split(std::string name, TokenizerPtr tokenizer, const std::shared_ptr<TokenStore>& store) {
  const TokenSpan all = store->span();
  const size_t train = train_count(all.size());
  return {std::move(name),       std::move(tokenizer),
          all.subspan(0, train), all.subspan(train, all.size() - train),
          std::nullopt,          store};
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

Dataset stories_dataset(size_t bytes, uint64_t seed, const Vocabulary& vocabulary) {
  require(bytes > 0, "stories: the number of bytes must be at least 1");
  const std::string text = generate_stories(bytes, seed);
  // The characters of the grammar, not of this text: a short text has the same vocabulary as a long one.
  const bool characters = vocabulary.name() == Vocabulary::characters.name();
  const TokenizerPtr tokenizer =
      characters ? std::make_shared<CharTokenizer>(story_characters()) : vocabulary.tokenizer();
  const auto store = std::make_shared<TokenStore>(width_for(tokenizer->vocab_size()));
  store->append(tokenizer->encode(text));
  Dataset dataset = split("stories", tokenizer, store);
  if (!vocabulary.is_file()) dataset.entropy_floor = story_entropy();
  return dataset;
}

Dataset text_dataset(const fs::path& path, const Vocabulary& vocabulary) {
  const TextFiles files(path);
  const TokenizerPtr tokenizer = vocabulary.tokenizer(files);
  const auto store = std::make_shared<TokenStore>(width_for(tokenizer->vocab_size()));
  encode_files(files, *tokenizer, [&](std::span<const int32_t> tokens) { store->append(tokens); });
  return split(path.string(), tokenizer, store);
}

void save_dataset(const Dataset& dataset, const fs::path& folder) {
  begin_dataset(folder, *dataset.tokenizer);
  write_shard(folder / train_file, dataset.train, *dataset.tokenizer);
  write_shard(folder / validation_file, dataset.validation, *dataset.tokenizer);
  write_description(folder, dataset.name, dataset.entropy_floor);
}

void prepare_text(const fs::path& path, const fs::path& folder, const Vocabulary& vocabulary) {
  require(!is_prepared(path), "prepare: '", path.string(), "' holds prepared tokens already, expected text");
  const fs::path inside = fs::weakly_canonical(folder).lexically_relative(fs::weakly_canonical(path));
  require(!fs::is_directory(path) || inside.empty() || *inside.begin() == "..", "prepare: '", folder.string(),
          "' lies in the text '", path.string(), "' and would become a part of it; choose another folder");
  const TextFiles files(path);
  const TokenizerPtr tokenizer = vocabulary.tokenizer(files);
  uint64_t count = 0;
  encode_files(files, *tokenizer, [&](std::span<const int32_t> tokens) { count += tokens.size(); });
  begin_dataset(folder, *tokenizer);
  const TokenWidth width = width_for(tokenizer->vocab_size());
  ShardWriter train(folder / train_file, width, tokenizer->fingerprint());
  ShardWriter validation(folder / validation_file, width, tokenizer->fingerprint());
  uint64_t left = train_count(count);
  encode_files(files, *tokenizer, [&](std::span<const int32_t> tokens) {
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

Dataset open_dataset(const fs::path& path, const Vocabulary& vocabulary) {
  if (!is_prepared(path)) return text_dataset(path, vocabulary);
  Dataset dataset = shard_dataset(path);
  if (vocabulary.is_file()) {
    require(vocabulary.tokenizer()->fingerprint() == dataset.tokenizer->fingerprint(), "open '",
            path.string(), "': its tokens were prepared with another vocabulary than '", vocabulary.name(),
            "'; leave the tokenizer out, or prepare the text again");
  }
  return dataset;
}

}  // namespace cladtorch::data
