#include "cladtorch/data/dataset.h"

#include <algorithm>
#include <thread>

#include "cladtorch/data/stories.h"
#include "cladtorch/error.h"
#include "data/dataset_folder.h"
#include "data/llmc_folder.h"
#include "data/prepare/encode.h"
#include "data/tokens/memory_tokens.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

/// Tokens of both splits in memory.
struct Memory {
  MemoryTokens train, validation;

  explicit Memory(const Tokenizer& tokenizer)
      : train(width_for(tokenizer.vocab_size())), validation(width_for(tokenizer.vocab_size())) {}
};

/// The last `tail` of `tokens` are for validation.
void split_tail(Dataset& dataset, TokenSequence tokens, uint64_t tail) {
  dataset.train = tokens.subsequence(0, tokens.size() - tail);
  dataset.validation = tokens.subsequence(tokens.size() - tail, tail);
}

PrepareOptions options_for(const Vocabulary& vocabulary) {
  PrepareOptions options;
  options.vocabulary = vocabulary;
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return options;
}

/// All of a text.
TokenSequence encode_all(const TextEncoder& text, Memory& memory) {
  text.encode(memory.train, memory.validation);
  const TokenSequence tokens = memory.train.finish();
  const std::optional<int32_t> end = text.tokenizer()->special_tokens().end_of_text;
  const bool ended = !text.has_json_lines() && end && !tokens.empty() && tokens[tokens.size() - 1] == *end;
  return ended ? tokens.subsequence(0, tokens.size() - 1) : tokens;
}

}  // namespace

Dataset stories_dataset(size_t bytes, uint64_t seed, const Vocabulary& vocabulary) {
  require(bytes > 0, "stories: the number of bytes must be at least 1");
  const std::string text = generate_stories(bytes, seed);
  // The characters of the grammar, not of this text: a short text has the same vocabulary as a long one.
  const bool characters = vocabulary.name() == Vocabulary::characters.name();
  const TokenizerPtr tokenizer =
      characters ? std::make_shared<CharTokenizer>(story_characters()) : vocabulary.tokenizer();
  const std::vector<int32_t> tokens = tokenizer->encode(text);
  const auto memory = std::make_shared<Memory>(*tokenizer);
  memory->train.append(tokens, false);
  Dataset dataset{.name = "stories", .tokenizer = tokenizer, .storage = memory};
  split_tail(dataset, memory->train.finish(), tokens.size() / 10);
  if (!vocabulary.is_file()) dataset.entropy_floor = story_entropy();
  return dataset;
}

Dataset text_dataset(const fs::path& path, const Vocabulary& vocabulary) {
  const PrepareOptions options = options_for(vocabulary);
  const TextEncoder text(path, options);
  const auto memory = std::make_shared<Memory>(*text.tokenizer());
  text.encode(memory->train, memory->validation);
  Dataset dataset{.name = path.string(), .tokenizer = text.tokenizer(), .storage = memory};
  dataset.train = memory->train.finish();
  if (text.splits_tail()) {
    split_tail(dataset, dataset.train, text.tail(dataset.train.size()));
  } else {
    dataset.validation = memory->validation.finish();
  }
  return dataset;
}

void save_dataset(const Dataset& dataset, const fs::path& folder) {
  DatasetWriter writer(folder, *dataset.tokenizer, PrepareOptions().shard_tokens);
  copy_tokens(dataset.train, writer.train());
  copy_tokens(dataset.validation, writer.validation());
  writer.finish();
  writer.commit(dataset.name, dataset.entropy_floor);
}

Dataset shard_dataset(const fs::path& folder) { return read_dataset_folder(folder); }

bool is_prepared(const fs::path& path) { return holds_dataset(path) || holds_llmc_tokens(path); }

Dataset open_dataset(const fs::path& path, const Vocabulary& vocabulary) {
  if (!is_prepared(path)) return text_dataset(path, vocabulary);
  if (!holds_dataset(path)) return read_llmc_folder(path, vocabulary);
  Dataset dataset = shard_dataset(path);
  if (vocabulary.is_file()) {
    require(vocabulary.tokenizer()->fingerprint() == dataset.tokenizer->fingerprint(), "open '",
            path.string(), "': its tokens were prepared with another vocabulary than '", vocabulary.name(),
            "'; leave the tokenizer out, or prepare the text again");
  }
  return dataset;
}

Dataset evaluation_dataset(const fs::path& path, const Vocabulary& vocabulary) {
  if (is_prepared(path)) return open_dataset(path, vocabulary);
  PrepareOptions options = options_for(vocabulary);
  options.split = Split::tail;  // of which nothing is cut off
  options.validation_share = 0;
  const TextEncoder text(path, options);
  const auto memory = std::make_shared<Memory>(*text.tokenizer());
  Dataset dataset{.name = path.string(), .tokenizer = text.tokenizer(), .storage = memory};
  dataset.validation = encode_all(text, *memory);
  return dataset;
}

}  // namespace cladtorch::data
