// The folder of a prepared dataset: tokenizer.json, the shards, and dataset.json, which lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/data/dataset.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/io/folder_lock.h"
#include "data/tokens/shard_set.h"

namespace cladtorch::data {

/// Whether read_dataset_folder() has something to read, as far as names tell.
bool holds_dataset(const std::filesystem::path& folder);

/// The folders of a path that are missing when the object is made. Those that are empty when it ends go away.
class MissingFolders {
 public:
  explicit MissingFolders(const std::filesystem::path& path);
  ~MissingFolders();
  MissingFolders(const MissingFolders&) = delete;
  MissingFolders& operator=(const MissingFolders&) = delete;

 private:
  std::vector<std::filesystem::path> missing_;  // the innermost first
};

/// Writes a dataset in a folder of its own, below the one where it belongs, and moves it to its place when it
/// is complete: killed at any moment, it leaves the dataset that was there before, or this one.
class DatasetWriter {
 public:
  /// Throws Error when the folder cannot be written, or another process is preparing a text in it.
  DatasetWriter(std::filesystem::path folder, const Tokenizer& tokenizer, uint64_t shard_tokens);
  /// Removes what was written, also the folder if it is new, unless the dataset is complete.
  ~DatasetWriter();
  DatasetWriter(const DatasetWriter&) = delete;
  DatasetWriter& operator=(const DatasetWriter&) = delete;

  TokenSink& train() { return *train_; }
  TokenSink& validation() { return *validation_; }
  uint64_t train_tokens() const { return train_tokens_ ? *train_tokens_ : train_->tokens(); }
  uint64_t validation_tokens() const { return validation_->tokens(); }

  /// Completes the shards; then the last `count` tokens for training become the ones for validation, of which
  /// there must be none before.
  void finish(uint64_t count = 0);

  /// Makes this the dataset of the folder.
  void commit(const std::string& name, std::optional<double> entropy_floor);

 private:
  ShardSetWriter::Options options(const char* split, size_t first = 0) const;

  std::filesystem::path folder_, staging_;
  MissingFolders made_;
  const Tokenizer& tokenizer_;
  uint64_t shard_tokens_;
  std::optional<io::FolderLock> lock_;
  std::optional<ShardSetWriter> train_, validation_;
  std::vector<ShardEntry> train_shards_, validation_shards_;
  std::optional<uint64_t> train_tokens_;  // known once finished
};

/// Opens what DatasetWriter wrote, or its first version: one shard each, without documents. Throws Error
/// naming the file that is missing or damaged.
Dataset read_dataset_folder(const std::filesystem::path& folder);

}  // namespace cladtorch::data
