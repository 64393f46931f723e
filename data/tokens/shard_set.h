// The shards of one split: `train-00000.tokens`, `train-00001.tokens`, ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/data/shard.h"
#include "cladtorch/data/token_sequence.h"

namespace cladtorch::data {

/// One shard of the list in dataset.json.
struct ShardEntry {
  std::string file{};  ///< beside dataset.json
  uint64_t tokens = 0, documents = 0;
};

/// Writes tokens to as many shards as they need. A document may go on in the next shard.
class ShardSetWriter final : public TokenSink {
 public:
  struct Options {
    std::filesystem::path folder;
    std::string split;  ///< "train" or "validation"
    TokenWidth width = TokenWidth::u16;
    uint64_t vocabulary = 0;    ///< Tokenizer::fingerprint()
    uint64_t shard_tokens = 0;  ///< most tokens of a shard
    size_t first = 0;           ///< number of the first shard
  };
  explicit ShardSetWriter(Options options) : options_(std::move(options)) {}

  void begin_document() override;
  void append(std::span<const int32_t> tokens, bool ignored) override;

  /// Completes the last shard; without any token there is none. Call once.
  std::vector<ShardEntry> finish();

  uint64_t tokens() const { return finished_tokens_ + (writer_ ? writer_->count() : 0); }

 private:
  void open_shard();
  void close_shard();

  Options options_;
  std::optional<ShardWriter> writer_;
  std::vector<ShardEntry> entries_;
  uint64_t finished_tokens_ = 0;
};

/// Several shards opened as one sequence.
struct ShardSet {
  std::vector<TokenShard> shards;
  TokenSequence tokens() const;
};

/// Opens the shards of `entries` in `folder` and checks that their tokens belong to a vocabulary of
/// `vocab_size` tokens with the fingerprint `vocabulary`. Throws Error naming the file.
ShardSet open_shards(const std::filesystem::path& folder, const std::vector<ShardEntry>& entries,
                     int64_t vocab_size, uint64_t vocabulary);

/// Throws Error naming `file`, and the first token outside of a vocabulary of `vocab_size` tokens.
void check_tokens(const std::filesystem::path& file, TokenSpan tokens, int64_t vocab_size);

/// Removes from `folder` every file that has the name of a shard, also one that was never finished, but
/// `kept`.
void remove_shards(const std::filesystem::path& folder, const std::vector<std::string>& kept);

}  // namespace cladtorch::data
