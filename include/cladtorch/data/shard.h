// Token shards: the binary file of tokens that training maps into memory. The format is in docs/data.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "cladtorch/data/token_sequence.h"

namespace cladtorch::data {

/// A shard mapped read-only into memory. Moves are cheap; copies share the mapping.
class TokenShard {
 public:
  /// Maps `path` after checking all of it: magic, version, header, length and checksum. Throws Error with one
  /// line that names the file and what is wrong.
  static TokenShard open(const std::filesystem::path& path);

  /// The tokens with their documents and marks, valid as long as any copy of this shard lives.
  TokenSpan tokens() const { return part_.tokens; }
  const TokenSequence::Part& part() const { return part_; }
  /// Tokenizer::fingerprint() of the vocabulary that the tokens belong to.
  uint64_t vocabulary() const { return vocabulary_; }

 private:
  std::shared_ptr<const void> mapping_;
  TokenSequence::Part part_;
  uint64_t vocabulary_ = 0;
};

/// Writes one shard from parts of any size, in bounded memory (8 bytes per document, and a bit per token once
/// one is ignored). The file appears under its name only in `finish`, complete and synced to the disk; a
/// writer that is destroyed before leaves nothing behind.
class ShardWriter {
 public:
  /// `vocabulary` is Tokenizer::fingerprint(). Throws Error when the file cannot be created.
  ShardWriter(const std::filesystem::path& path, TokenWidth width, uint64_t vocabulary);
  ~ShardWriter();
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  /// The next token begins a document.
  void begin_document();
  /// Appends tokens, each of which must fit the width. `ignored`: they are never targets.
  void append(std::span<const int32_t> tokens, bool ignored = false);

  /// Numbers of tokens and documents so far.
  uint64_t count() const;
  uint64_t documents() const;

  /// Completes the header, syncs and renames. Throws Error if the disk refuses, for example because it is
  /// full.
  void finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace cladtorch::data
