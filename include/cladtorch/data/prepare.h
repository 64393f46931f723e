// Text to token shards: `cladtorch data prepare`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cladtorch/data/text_files.h"
#include "cladtorch/data/vocabulary.h"

namespace cladtorch::data {

/// Which part of a text is for validation.
enum class Split {
  tail,       ///< the last tokens
  documents,  ///< documents chosen at random
};

/// "tail" or "documents", and back; throws Error on another name.
std::string to_string(Split split);
Split split_from_string(const std::string& name);

/// How far reading has come, in bytes on disk.
struct ReadProgress {
  bool counting = false;  ///< the first pass, which gathers the characters of a vocabulary
  uint64_t bytes = 0, total_bytes = 0;
  uint64_t documents = 0, tokens = 0;
};

/// How a text is prepared.
struct PrepareOptions {
  Vocabulary vocabulary = Vocabulary::characters;
  TextOptions text{};
  /// A separate text for validation; empty means a part of the text itself.
  std::filesystem::path validation{};
  /// From 0 to below 1.
  double validation_share = 0.1;
  /// The default is documents if a file is JSON Lines, and tail otherwise.
  std::optional<Split> split{};
  uint64_t seed = 1;                    ///< of Split::documents
  int threads = 1;                      ///< that encode; the result does not depend on it
  uint64_t shard_tokens = 100'000'000;  ///< most tokens of one shard
  /// Called now and then on the calling thread. It may throw, which ends the preparation.
  std::function<void(const ReadProgress&)> progress{};
};

/// What preparing a text found.
struct PrepareSummary {
  uint64_t documents = 0;
  uint64_t skipped = 0;  ///< lines that could not be used
  uint64_t train_tokens = 0, validation_tokens = 0;
  int64_t vocab_size = 0;
};

/// Encodes the text `path` and writes it to `folder` as token shards, in bounded memory whatever the size of
/// the text. An older dataset in `folder` stays complete until the new one is, and also if this throws. It
/// throws Error for a file or line that cannot be read, for a full disk, for a `path` that holds prepared
/// tokens, and for a `folder` inside `path`, where it would be read as text the next time.
PrepareSummary prepare_text(const std::filesystem::path& path, const std::filesystem::path& folder,
                            const PrepareOptions& options = {});

}  // namespace cladtorch::data
